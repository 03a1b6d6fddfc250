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

typedef struct {
    PyObject *arguments; /* a tuple */
    uint64_t epoch;
    acl_emu_executor executor; /* what phase one makes of them; no plan: it is not known */
} call;

typedef struct {
    PyObject_HEAD
    uint64_t operator;
    call calls[CALLS];
} door;

static call *place_of(door *self, PyObject *arguments)
{
    size_t hash = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); i++)
        hash = (hash ^ (size_t)PyTuple_GET_ITEM(arguments, i) >> 4) * 0x9E3779B97F4A7C15u;
    return &self->calls[hash >> 32 & (CALLS - 1)];
}

static int is_same(PyObject *one, PyObject *other)
{
    Py_ssize_t count = PyTuple_GET_SIZE(one);
    if (count != PyTuple_GET_SIZE(other))
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyTuple_GET_ITEM(one, i) != PyTuple_GET_ITEM(other, i))
            return 0;
    }
    return 1;
}

/* Whether all of them are what they are for good. */
static int is_fixed(PyObject *arguments)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); i++) {
        PyObject *one = PyTuple_GET_ITEM(arguments, i);
        if (one != Py_None && !PyLong_CheckExact(one) && !PyFloat_CheckExact(one) && !PyBool_Check(one) && !PyUnicode_CheckExact(one))
            return 0;
    }
    return 1;
}

static PyObject *door_plan(door *self, PyObject *arguments)
{
    if (!PyTuple_CheckExact(arguments)) {
        PyErr_SetString(PyExc_TypeError, "arguments must be a tuple");
        return NULL;
    }
    if (!inside || !*inside->open)
        Py_RETURN_NONE;
    call *known = place_of(self, arguments);
    if (known->epoch != objects_epoch || !known->arguments || !is_same(known->arguments, arguments)) {
        if (is_fixed(arguments)) {
            Py_INCREF(arguments);
            Py_XSETREF(known->arguments, arguments);
            known->epoch = objects_epoch;
            known->executor.plan = NULL;
        }
        Py_RETURN_NONE;
    }
    if (!known->executor.plan)
        Py_RETURN_FALSE;
    uint64_t handle = 0;
    inside->lock();
    acl_emu_executor *made = inside->new_executor(&handle);
    if (made)
        *made = known->executor;
    inside->unlock();
    if (!made)
        Py_RETURN_NONE;
    return Py_BuildValue("KKi", (unsigned long long)known->executor.plan->workspace, (unsigned long long)handle, 0);
}

static PyObject *door_remember(door *self, PyObject *const *given, Py_ssize_t count)
{
    if (count != 2 || !PyTuple_CheckExact(given[0])) {
        PyErr_SetString(PyExc_TypeError, "remember(arguments, executor)");
        return NULL;
    }
    const acl_emu_executor *executor = PyLong_AsVoidPtr(given[1]);
    if (!executor)
        return NULL;
    call *known = place_of(self, given[0]);
    if (known->epoch == objects_epoch && known->arguments && is_same(known->arguments, given[0]))
        known->executor = *executor;
    Py_RETURN_NONE;
}

/* An address, a size or a handle; None is null. 0 where it is nothing of the kind: whoever looks closer says so. */
static int take_number(PyObject *given, uint64_t *number)
{
    if (given == Py_None) {
        *number = 0;
        return 1;
    }
    if (!PyLong_CheckExact(given))
        return 0;
    *number = PyLong_AsUnsignedLongLong(given);
    if (*number == (uint64_t)-1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

static PyObject *door_start(door *self, PyObject *const *given, Py_ssize_t count)
{
    uint64_t workspace, size, executor, stream;
    if (!inside || count != 4 || given[1] == Py_None || !take_number(given[0], &workspace) || !take_number(given[1], &size) ||
        !take_number(given[2], &executor) || !take_number(given[3], &stream))
        Py_RETURN_FALSE;
    return PyBool_FromLong(inside->start(self->operator, workspace, size, executor, stream));
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

static PyObject *door_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    unsigned long long operator;
    (void)named;
    if (!PyArg_ParseTuple(arguments, "K", &operator))
        return NULL;
    door *made = (door *)type->tp_alloc(type, 0);
    if (made)
        made->operator = operator;
    return (PyObject *)made;
}

static void door_end(door *self)
{
    for (int i = 0; i < CALLS; i++)
        Py_CLEAR(self->calls[i].arguments);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef door_methods[] = {
    {"plan", (PyCFunction)door_plan, METH_O,
     "Phase one: what it returns; None where that is not known, False where it is worth to be remembered."},
    {"remember", (PyCFunction)(void (*)(void))door_remember, METH_FASTCALL, "What phase one made of these arguments: the address of an executor."},
    {"start", (PyCFunction)(void (*)(void))door_start, METH_FASTCALL, "Phase two: whether it was carried out."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject door_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "acl_emu.cshim._door.Door",
    .tp_basicsize = sizeof(door),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The quick way into an operator.",
    .tp_new = door_new,
    .tp_dealloc = (destructor)door_end,
    .tp_methods = door_methods,
};

static PyMethodDef functions[] = {
    {"connect", connect, METH_O, "The address of what the bridge has."},
    {"destroy_executor", (PyCFunction)(void (*)(void))destroy_executor, METH_FASTCALL, "Whether it was one that C has."},
    {"forget", forget, METH_NOARGS, "What handles stand for may have changed."},
    {"synchronize", (PyCFunction)(void (*)(void))synchronize, METH_FASTCALL, "Wait for a stream: whether it was done, and successfully."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_door", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__door(void)
{
    if (PyType_Ready(&door_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddObjectRef(module, "Door", (PyObject *)&door_type) < 0)
        Py_CLEAR(module);
    return module;
}
