/* Calls of a Python program that need no Python: both phases of an operator, for arguments that phase one was given before, and waiting
 * for a stream. A module of its own, since cffi would give Python's lock away and take it back at every call.
 *
 * Arguments are told apart by identity: handles stand for the same objects as long as nothing is destroyed or changed, which begins a
 * new epoch, and numbers do not change.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bridge.h"

#define CALLS 64 /* that a door remembers */

static const acl_emu_inside *inside;
static uint64_t objects_epoch = 1;
static PyTypeObject *handle_type, *executor_type; /* numbers of which repr says what they are, and those of executors */

typedef struct {
    PyObject *arguments; /* a tuple */
    uint64_t epoch;
    acl_emu_executor executor; /* what phase one makes of them; no plan: it is not known */
} call;

typedef struct {
    PyObject_HEAD
    uint64_t operator;
    PyObject *plan, *run; /* the long ways */
    call calls[CALLS];
} door;

/* One phase, as a program calls it; its name, doc and signature are those of another object. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    door *door;
    PyObject *described;
} phase;

/* A number, or a handle: a class of those has nothing of its own but repr. */
static int is_number(PyObject *one)
{
    return PyLong_CheckExact(one) || (handle_type && Py_TYPE(one)->tp_base == handle_type);
}

static call *place_of(door *self, PyObject *const *arguments, Py_ssize_t count)
{
    size_t hash = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        hash = (hash ^ (size_t)arguments[i] >> 4) * 0x9E3779B97F4A7C15u;
    return &self->calls[hash >> 32 & (CALLS - 1)];
}

/* Whether these are the arguments, and stand for what they stood for. */
static int is_known(const call *known, PyObject *const *arguments, Py_ssize_t count)
{
    if (known->epoch != objects_epoch || !known->arguments || PyTuple_GET_SIZE(known->arguments) != count)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyTuple_GET_ITEM(known->arguments, i) != arguments[i])
            return 0;
    }
    return 1;
}

/* Whether all of them are what they are for good. */
static int is_fixed(PyObject *const *arguments, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *one = arguments[i];
        if (one != Py_None && !is_number(one) && !PyFloat_CheckExact(one) && !PyBool_Check(one) && !PyUnicode_CheckExact(one))
            return 0;
    }
    return 1;
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

/* What phase one returns: the size of the workspace, a new executor, success. NULL where C has no room for it. */
static PyObject *make_executor(const acl_emu_executor *executor)
{
    uint64_t handle = 0;
    inside->lock();
    acl_emu_executor *made = inside->new_executor(&handle);
    if (made)
        *made = *executor;
    inside->unlock();
    PyObject *answer = made ? PyTuple_New(3) : NULL;
    if (answer) {
        PyTuple_SET_ITEM(answer, 0, PyLong_FromUnsignedLongLong(executor->plan->workspace));
        PyTuple_SET_ITEM(answer, 1, handle_of(handle));
        PyTuple_SET_ITEM(answer, 2, PyLong_FromLong(0));
    }
    return answer;
}

static PyObject *door_plan(door *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    if (inside && *inside->open && !names) {
        const call *known = place_of(self, arguments, count);
        PyObject *answer = is_known(known, arguments, count) && known->executor.plan ? make_executor(&known->executor) : NULL;
        if (answer || PyErr_Occurred())
            return answer;
    }
    return PyObject_Vectorcall(self->plan, arguments, (size_t)count, names);
}

static PyObject *door_seen(door *self, PyObject *arguments)
{
    if (!PyTuple_CheckExact(arguments)) {
        PyErr_SetString(PyExc_TypeError, "arguments must be a tuple");
        return NULL;
    }
    PyObject *const *items = &PyTuple_GET_ITEM(arguments, 0);
    const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
    call *known = place_of(self, items, count);
    if (is_known(known, items, count))
        Py_RETURN_TRUE;
    if (is_fixed(items, count)) {
        PyObject *before = known->arguments;
        Py_INCREF(arguments);
        known->arguments = arguments;
        known->epoch = objects_epoch;
        known->executor.plan = NULL;
        Py_XDECREF(before);
    }
    Py_RETURN_FALSE;
}

static PyObject *door_remember(door *self, PyObject *const *given, Py_ssize_t count)
{
    if (count != 2 || !PyTuple_CheckExact(given[0])) {
        PyErr_SetString(PyExc_TypeError, "remember(arguments, executor)");
        return NULL;
    }
    PyObject *const *items = &PyTuple_GET_ITEM(given[0], 0);
    const acl_emu_executor *executor = PyLong_AsVoidPtr(given[1]);
    if (!executor)
        return NULL;
    call *known = place_of(self, items, PyTuple_GET_SIZE(given[0]));
    if (is_known(known, items, PyTuple_GET_SIZE(given[0])))
        known->executor = *executor;
    Py_RETURN_NONE;
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

static PyObject *door_run(door *self, PyObject *const *given, Py_ssize_t count, PyObject *names)
{
    uint64_t workspace, size, executor, stream;
    if (inside && !names && count == 4 && take_number(given[0], &workspace) && given[1] != Py_None && take_number(given[1], &size) &&
        take_number(given[2], &executor) && take_number(given[3], &stream) &&
        inside->start(self->operator, workspace, size, executor, stream))
        return PyLong_FromLong(0);
    return PyObject_Vectorcall(self->run, given, (size_t)count, names);
}

/* As the thread that runs the tasks: 0 where a signal was heard that is an error. */
static int run_until(acl_emu_lane *lane, int64_t place)
{
    int64_t ran = 1;
    while (lane->done < place && ran) {
        PyThreadState *others = inside->lane_is_short(lane, place) ? NULL : PyEval_SaveThread();
        ran = inside->lane_run(lane, place);
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
    acl_emu_lane *lane = *inside->open ? inside->lane_of(stream) : NULL;
    if (lane)
        lane->users++;
    inside->unlock();
    if (!lane)
        Py_RETURN_FALSE;
    const int64_t place = __atomic_load_n(&lane->bell.submitted, __ATOMIC_SEQ_CST);
    int heard = 0, done = 0;
    if (lane->waits && lane->done < place && inside->lane_begin(lane)) {
        __atomic_store_n(&lane->bell.taken, place, __ATOMIC_SEQ_CST);
        heard = !run_until(lane, place);
        inside->lane_end(lane);
    }
    done = lane->waits && lane->done >= place && lane->done == lane->bell.submitted && !lane->troubled && !lane->waiting && !lane->watchers;
    inside->lane_leave(lane);
    return heard ? NULL : PyBool_FromLong(done);
}

static PyObject *destroy_executor(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    acl_emu_arg handle, result;
    (void)module;
    if (!inside || count != 1 || !take_number(given[0], &handle.u))
        Py_RETURN_FALSE;
    return PyBool_FromLong(inside->destroy_executor(0, &handle, &result));
}

static PyObject *forget(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    objects_epoch++;
    Py_RETURN_NONE;
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

static PyObject *door_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    unsigned long long operator;
    PyObject *plan, *run;
    (void)named;
    if (!PyArg_ParseTuple(arguments, "KOO", &operator, &plan, &run))
        return NULL;
    door *made = (door *)type->tp_alloc(type, 0);
    if (made) {
        made->operator = operator;
        Py_INCREF(plan);
        Py_INCREF(run);
        made->plan = plan;
        made->run = run;
    }
    return (PyObject *)made;
}

static int door_visit(door *self, visitproc visit, void *arg)
{
    Py_VISIT(self->plan);
    Py_VISIT(self->run);
    return 0;
}

static int door_clear(door *self)
{
    Py_CLEAR(self->plan);
    Py_CLEAR(self->run);
    for (int i = 0; i < CALLS; i++)
        Py_CLEAR(self->calls[i].arguments);
    return 0;
}

static void door_end(door *self)
{
    PyObject_GC_UnTrack(self);
    door_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Phases */

static PyObject *phase_one_call(PyObject *self, PyObject *const *arguments, size_t count, PyObject *names)
{
    return door_plan(((phase *)self)->door, arguments, PyVectorcall_NARGS(count), names);
}

static PyObject *phase_two_call(PyObject *self, PyObject *const *arguments, size_t count, PyObject *names)
{
    return door_run(((phase *)self)->door, arguments, PyVectorcall_NARGS(count), names);
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
    Py_VISIT(self->door);
    Py_VISIT(self->described);
    return 0;
}

static int phase_clear(phase *self)
{
    Py_CLEAR(self->door);
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
    .tp_name = "acl_emu.core._door.Phase",
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

static PyObject *new_phase(door *self, PyObject *described, vectorcallfunc call)
{
    phase *made = (phase *)phase_type.tp_alloc(&phase_type, 0);
    if (made) {
        Py_INCREF(self);
        Py_INCREF(described);
        made->call = call;
        made->door = self;
        made->described = described;
    }
    return (PyObject *)made;
}

static PyObject *door_phase_one(door *self, PyObject *described)
{
    return new_phase(self, described, phase_one_call);
}

static PyObject *door_phase_two(door *self, PyObject *described)
{
    return new_phase(self, described, phase_two_call);
}

static PyMethodDef door_methods[] = {
    {"phase_one", METHOD(door_phase_one), METH_O, "Phase one, as a program calls it; the argument has its name, module, doc and signature."},
    {"phase_two", METHOD(door_phase_two), METH_O, "The same for phase two."},
    {"seen", METHOD(door_seen), METH_O, "Whether phase one was given these arguments before, and is worth to be remembered."},
    {"remember", METHOD(door_remember), METH_FASTCALL, "What phase one made of these arguments: the address of an executor."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject door_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "acl_emu.core._door.Door",
    .tp_basicsize = sizeof(door),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "The quick way into an operator: its number, and the long ways of both phases.",
    .tp_new = door_new,
    .tp_dealloc = (destructor)door_end,
    .tp_traverse = (traverseproc)door_visit,
    .tp_clear = (inquiry)door_clear,
    .tp_methods = door_methods,
};

static PyMethodDef functions[] = {
    {"connect", connect, METH_O, "The address of what the bridge has."},
    {"destroy_executor", METHOD(destroy_executor), METH_FASTCALL, "Whether it was one that C has."},
    {"forget", forget, METH_NOARGS, "What handles stand for may have changed."},
    {"use_handles", use_handles, METH_VARARGS, "The class of handles, and the one of those that are executors'."},
    {"synchronize", METHOD(synchronize), METH_FASTCALL, "Wait for a stream: whether it was done, and successfully."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_door", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__door(void)
{
    if (PyType_Ready(&door_type) < 0 || PyType_Ready(&phase_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddObjectRef(module, "Door", (PyObject *)&door_type) < 0)
        Py_CLEAR(module);
    return module;
}
