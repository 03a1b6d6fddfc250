/* Calls of a Python program that need no Python: both phases of operator calls that were seen before, destroying objects, and waiting for a
 * stream. A module of its own, since cffi would give Python's lock away and take it back at every call.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bridge.h"

#define MOST_ARGUMENTS 64

static const acl_emu_inside *inside;
static PyTypeObject *handle_type, *executor_type; /* numbers of which repr says what they are, and those of executors */

typedef struct {
    PyObject_HEAD
    uint64_t operator;
    PyObject *plan, *run; /* the long ways */
    PyObject *types; /* bytes: of each parameter of phase one its type, as struct spells it; P: a handle, s: a string */
} fast_path;

/* One phase, as a program calls it; its name, doc and signature are those of another object. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    fast_path *fast_path;
    PyObject *described;
} phase;

/* A number, or a handle: a class of those has nothing of its own but repr. */
static int is_number(PyObject *one)
{
    return PyLong_CheckExact(one) || (handle_type && Py_TYPE(one)->tp_base == handle_type);
}

/* An integer in the range of a C type; 0 where it is none. */
static int take_integer(PyObject *given, char type, acl_emu_arg *argument)
{
    int overflow = 0;
    int bits = type == 'b' || type == 'B' ? 8 : type == 'h' || type == 'H' ? 16 : type == 'i' || type == 'I' ? 32 : 64;
    if (!PyLong_CheckExact(given))
        return 0;
    long long value = PyLong_AsLongLongAndOverflow(given, &overflow);
    argument->i = value;
    if (overflow || (type < 'a' && value < 0))
        return 0;
    return bits == 64 || (type < 'a' ? value >> bits == 0 : value >> (bits - 1) == 0 || value >> (bits - 1) == -1);
}

static int take_float(PyObject *given, char type, acl_emu_arg *argument)
{
    if (!PyFloat_CheckExact(given) && !PyLong_CheckExact(given))
        return 0;
    double value = PyFloat_AsDouble(given);
    if (PyErr_Occurred()) { /* an integer that is too large */
        PyErr_Clear();
        return 0;
    }
    argument->d = type == 'f' ? (double)(float)value : value;
    return 1;
}

static int take_number(PyObject *given, uint64_t *number);

/* An argument of phase one as C has it; 0 where it is not quite what it should be: whoever looks closer says so. */
static int take_argument(PyObject *given, char type, acl_emu_arg *argument)
{
    switch (type) {
    case 'P':
        return take_number(given, &argument->u);
    case 's':
        argument->p = given == Py_None ? NULL : PyUnicode_CheckExact(given) ? PyUnicode_AsUTF8(given) : NULL;
        PyErr_Clear(); /* a text that is no UTF-8 */
        return argument->p || given == Py_None;
    case '?':
        argument->u = given == Py_True;
        return PyBool_Check(given);
    case 'f':
    case 'd':
        return take_float(given, type, argument);
    default:
        return take_integer(given, type, argument);
    }
}

/* A number as an executor's handle. */
static PyObject *handle_of(uint64_t number)
{
    static PyObject *arguments; /* used again: nothing else runs while an int is made of an int */
    PyObject *plain = PyLong_FromUnsignedLongLong(number), *made;
    if (!plain || (!arguments && !(arguments = PyTuple_New(1))))
        return plain;
    PyObject_GC_UnTrack(arguments); /* nobody else gets to see it */
    PyTuple_SET_ITEM(arguments, 0, plain);
    made = executor_type->tp_new(executor_type, arguments, NULL);
    PyTuple_SET_ITEM(arguments, 0, NULL);
    Py_DECREF(plain);
    return made;
}

/* What phase one returns where the plan is known: the size of the workspace, a new executor, success. NULL where it is not. */
static PyObject *plan_known(const fast_path *self, PyObject *const *given, Py_ssize_t count)
{
    acl_emu_arg arguments[MOST_ARGUMENTS];
    uint64_t hash, workspace, executor;
    if (count != PyBytes_GET_SIZE(self->types) || count > MOST_ARGUMENTS)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!take_argument(given[i], PyBytes_AS_STRING(self->types)[i], &arguments[i]))
            return NULL;
    }
    if (inside->plan_call(self->operator, arguments, &hash, &workspace, &executor) != 1)
        return NULL;
    PyObject *answer = PyTuple_New(3);
    if (answer) {
        PyTuple_SET_ITEM(answer, 0, PyLong_FromUnsignedLongLong(workspace));
        PyTuple_SET_ITEM(answer, 1, handle_of(executor));
        PyTuple_SET_ITEM(answer, 2, PyLong_FromLong(0));
    }
    return answer;
}

static PyObject *fast_plan(fast_path *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    if (inside && *inside->open && !names) {
        PyObject *answer = plan_known(self, arguments, count);
        if (answer || PyErr_Occurred())
            return answer;
    }
    return PyObject_Vectorcall(self->plan, arguments, (size_t)count, names);
}

/* An address, a size or a handle; None is null. 0 where it is nothing of the kind: whoever looks closer says so. */
static int take_number(PyObject *given, uint64_t *number)
{
    int overflow = 0;
    if (given != Py_None && !is_number(given))
        return 0;
    long long value = given == Py_None ? 0 : PyLong_AsLongLongAndOverflow(given, &overflow);
    *number = (uint64_t)value;
    return !overflow && value >= 0;
}

static PyObject *fast_run(fast_path *self, PyObject *const *given, Py_ssize_t count, PyObject *names)
{
    uint64_t workspace, size, executor, stream;
    if (inside && !names && count == 4 && take_number(given[0], &workspace) && given[1] != Py_None && take_number(given[1], &size) &&
        take_number(given[2], &executor) && take_number(given[3], &stream) &&
        inside->start(self->operator, workspace, size, executor, stream))
        return PyLong_FromLong(0);
    return PyObject_Vectorcall(self->run, given, (size_t)count, names);
}

/* As the thread that runs the tasks: 0 where a signal was heard that is an error. */
static int run_until(acl_emu_queue *queue, int64_t place)
{
    int64_t ran = 1;
    while (queue->done < place && ran) {
        PyThreadState *others = inside->queue_is_short(queue, place) ? NULL : PyEval_SaveThread();
        ran = inside->queue_run(queue, place);
        if (others)
            PyEval_RestoreThread(others);
        if (PyErr_CheckSignals())
            return 0;
    }
    return 1;
}

static PyObject *synchronize(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    uint64_t stream;
    (void)module;
    if (!inside || count != 1 || !take_number(given[0], &stream))
        Py_RETURN_FALSE;
    inside->lock();
    acl_emu_queue *queue = *inside->open ? inside->queue_of(stream) : NULL;
    if (queue)
        queue->users++;
    inside->unlock();
    if (!queue)
        Py_RETURN_FALSE;
    const int64_t place = __atomic_load_n(&queue->wakeup.submitted, __ATOMIC_SEQ_CST);
    int heard = 0, done = 0;
    if (queue->waits && queue->done < place && inside->queue_begin(queue)) {
        __atomic_store_n(&queue->wakeup.taken, place, __ATOMIC_SEQ_CST);
        heard = !run_until(queue, place);
        inside->queue_end(queue);
    }
    done = queue->waits && queue->done >= place && queue->done == queue->wakeup.submitted && !queue->troubled && !queue->waiting && !queue->watchers;
    inside->queue_leave(queue);
    return heard ? NULL : PyBool_FromLong(done);
}

static PyObject *destroy(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    uint64_t kind, handle;
    (void)module;
    if (!inside || !*inside->open || count != 2 || !take_number(given[0], &kind) || !take_number(given[1], &handle))
        Py_RETURN_FALSE;
    return PyBool_FromLong(inside->destroy((uint32_t)kind, handle));
}

static PyObject *connect(PyObject *module, PyObject *table)
{
    (void)module;
    inside = PyLong_AsVoidPtr(table);
    if (!inside)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *use_handles(PyObject *module, PyObject *given)
{
    PyObject *base, *executor;
    (void)module;
    if (!PyArg_ParseTuple(given, "O!O!", &PyType_Type, &base, &PyType_Type, &executor))
        return NULL;
    if (((PyTypeObject *)base)->tp_base != &PyLong_Type || ((PyTypeObject *)executor)->tp_base != (PyTypeObject *)base) {
        PyErr_SetString(PyExc_TypeError, "use_handles(a class of int, a class of that)");
        return NULL;
    }
    Py_INCREF(base);
    Py_INCREF(executor);
    handle_type = (PyTypeObject *)base;
    executor_type = (PyTypeObject *)executor;
    Py_RETURN_NONE;
}

static PyObject *fast_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    unsigned long long operator;
    PyObject *plan, *run, *types;
    (void)named;
    if (!PyArg_ParseTuple(arguments, "KOOS", &operator, &plan, &run, &types))
        return NULL;
    fast_path *made = (fast_path *)type->tp_alloc(type, 0);
    if (made) {
        made->operator = operator;
        Py_INCREF(plan);
        Py_INCREF(run);
        Py_INCREF(types);
        made->plan = plan;
        made->run = run;
        made->types = types;
    }
    return (PyObject *)made;
}

static int fast_visit(fast_path *self, visitproc visit, void *arg)
{
    Py_VISIT(self->plan);
    Py_VISIT(self->run);
    return 0;
}

static int fast_clear(fast_path *self)
{
    Py_CLEAR(self->plan);
    Py_CLEAR(self->run);
    return 0;
}

static void fast_end(fast_path *self)
{
    PyObject_GC_UnTrack(self);
    fast_clear(self);
    Py_CLEAR(self->types);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Phases */

static PyObject *phase_one_call(PyObject *self, PyObject *const *arguments, size_t count, PyObject *names)
{
    return fast_plan(((phase *)self)->fast_path, arguments, PyVectorcall_NARGS(count), names);
}

static PyObject *phase_two_call(PyObject *self, PyObject *const *arguments, size_t count, PyObject *names)
{
    return fast_run(((phase *)self)->fast_path, arguments, PyVectorcall_NARGS(count), names);
}

static PyObject *phase_asked(phase *self, void *attribute)
{
    return PyObject_GetAttrString(self->described, attribute);
}

static PyObject *phase_repr(phase *self)
{
    PyObject *name = phase_asked(self, "name");
    PyObject *text = name ? PyUnicode_FromFormat("<function %S>", name) : NULL;
    Py_XDECREF(name);
    return text;
}

/* It binds to nothing; that there is __get__ is how help() knows a function. */
static PyObject *phase_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)object;
    (void)type;
    Py_INCREF(self);
    return self;
}

static PyObject *phase_reduce(phase *self, PyObject *unused)
{
    (void)unused;
    return phase_asked(self, "name");
}

static int phase_visit(phase *self, visitproc visit, void *arg)
{
    Py_VISIT(self->fast_path);
    Py_VISIT(self->described);
    return 0;
}

static int phase_clear(phase *self)
{
    Py_CLEAR(self->fast_path);
    Py_CLEAR(self->described);
    return 0;
}

static void phase_end(phase *self)
{
    PyObject_GC_UnTrack(self);
    phase_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

#define METHOD(function) (PyCFunction)(void (*)(void))function
#define ASKED(shown, name) {shown, (getter)phase_asked, NULL, NULL, name}

static PyGetSetDef phase_attributes[] = {
    ASKED("__name__", "name"),
    ASKED("__qualname__", "name"),
    ASKED("__module__", "module"),
    ASKED("__doc__", "doc"),
    ASKED("__signature__", "signature"),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef phase_methods[] = {
    {"__reduce__", METHOD(phase_reduce), METH_NOARGS, "Where it is found: by its name, in its module."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject phase_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "acl_emu.core._fast.Phase",
    .tp_basicsize = sizeof(phase),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(phase, call),
    .tp_call = PyVectorcall_Call,
    .tp_repr = (reprfunc)phase_repr,
    .tp_descr_get = phase_get,
    .tp_dealloc = (destructor)phase_end,
    .tp_traverse = (traverseproc)phase_visit,
    .tp_clear = (inquiry)phase_clear,
    .tp_getset = phase_attributes,
    .tp_methods = phase_methods,
};

static PyObject *new_phase(fast_path *self, PyObject *described, vectorcallfunc call)
{
    phase *made = (phase *)phase_type.tp_alloc(&phase_type, 0);
    if (made) {
        Py_INCREF(self);
        Py_INCREF(described);
        made->call = call;
        made->fast_path = self;
        made->described = described;
    }
    return (PyObject *)made;
}

static PyObject *fast_phase_one(fast_path *self, PyObject *described)
{
    return new_phase(self, described, phase_one_call);
}

static PyObject *fast_phase_two(fast_path *self, PyObject *described)
{
    return new_phase(self, described, phase_two_call);
}

static PyMethodDef fast_methods[] = {
    {"phase_one", METHOD(fast_phase_one), METH_O, "Phase one, as a program calls it; the argument has its name, module, doc and signature."},
    {"phase_two", METHOD(fast_phase_two), METH_O, "The same for phase two."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject fast_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "acl_emu.core._fast.FastPath",
    .tp_basicsize = sizeof(fast_path),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "The quick way into an operator: its number, and the long ways of both phases.",
    .tp_new = fast_new,
    .tp_dealloc = (destructor)fast_end,
    .tp_traverse = (traverseproc)fast_visit,
    .tp_clear = (inquiry)fast_clear,
    .tp_methods = fast_methods,
};

static PyMethodDef functions[] = {
    {"connect", connect, METH_O, "The address of what the bridge has."},
    {"destroy", METHOD(destroy), METH_FASTCALL, "Destroy an object of a kind: whether it was alive, or had gone with its list."},
    {"use_handles", use_handles, METH_VARARGS, "The class of handles, and the one of those that are executors'."},
    {"synchronize", METHOD(synchronize), METH_FASTCALL, "Wait for a stream: whether it was done, and successfully."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_fast", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__fast(void)
{
    if (PyType_Ready(&fast_type) < 0 || PyType_Ready(&phase_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddObjectRef(module, "FastPath", (PyObject *)&fast_type) < 0)
        Py_CLEAR(module);
    return module;
}
