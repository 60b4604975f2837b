/* The call path: from Python arguments to a compiled function and back.
 *
 * `Caller` is what symc.function's objects call. It does what symc/calls/call.py does in Python, and the
 * same tests run over both; see there for what the arguments mean. Everything a call needs stands
 * on its stack, so that threads may call one Caller at the same time and a compiled function may
 * call back. The only state is one workspace, kept from call to call and taken away during a call.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <structmember.h>

#include <numpy/arrayobject.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "_lock.h"
#include "_team.h"

typedef struct symc_call {
    void **data;
    const int64_t *lengths;
    int64_t *shapes;
    int64_t *sizes;
    char *workspace;
    int64_t workspace_bytes;
    int64_t threads;
    void *(*allocate)(void *context, int64_t output);
    void *context;
    int64_t (*host)(void *context, int64_t number, const void *const *arrays,
                    const int64_t *lengths);
    int64_t (*ask)(void *context);
    int64_t stopped;
} symc_call;

typedef int64_t (*symc_function)(symc_call *call);

/* What is known about one array before a call. */
typedef struct {
    int type;
    int ndim;
    npy_intp *lengths; /* ndim of them, -1 where any will do; NULL where all will do */
} Array;

typedef enum { RETURN_NONE, RETURN_ONE, RETURN_LIST } Returns;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    symc_function prepare, run;
    int64_t counts[4];
    Py_ssize_t input_count, shared_count, constant_count, output_count, rebind_count;
    Array *arrays; /* of inputs, then shared variables, then outputs */
    PyObject *shared;    /* tuple of lists of one ndarray */
    PyObject *constants; /* tuple of ndarrays */
    PyObject *rebind;    /* tuple of (output, list) */
    PyObject *locks;     /* tuple of (lock, whether the call changes the variable) */
    PyObject *convert, *failed, *host, *keep;
    Py_ssize_t returned;
    Returns returns;
    char tiny, team;
    int64_t threads;
    char *workspace;
    int64_t workspace_bytes;
} Caller;

/* One call in progress: what the callbacks must reach, and what must be released. */
typedef struct Frame {
    struct Frame *outer; /* a call that this one was made from, on the same thread */
    Caller *caller;
    symc_call *call;
    PyObject **owned; /* inputs that were converted, shared variables, outputs; or NULL */
    PyThreadState *released;
    Asker asker;
} Frame;

typedef union {
    double number;
    int64_t integer;
} Slot;

/* OpenMP has no threads left in a child of fork, and would wait for them. */
static int forked = 0;

static void
after_fork(void)
{
    forked = 1;
    symc_lock_after_fork();
}

/* How many threads callers use that were given no number of their own. */
static int64_t threads_of_all = 1;

static PyObject *
use_threads(PyObject *module, PyObject *number)
{
    (void)module;
    int64_t count = PyLong_AsLongLong(number);
    if (count == -1 && PyErr_Occurred()) return NULL;
    threads_of_all = count > 1 ? count : 1;
    Py_RETURN_NONE;
}

/* ---- construction ---- */

static int
read_array(PyObject *item, Array *array, int with_lengths)
{
    PyObject *lengths = NULL;
    if (!PyTuple_Check(item) ||
        !(with_lengths ? PyArg_ParseTuple(item, "iiO", &array->type, &array->ndim, &lengths)
                       : PyArg_ParseTuple(item, "ii", &array->type, &array->ndim))) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "an array is described by a tuple");
        return -1;
    }
    if (array->ndim < 0 || array->ndim > NPY_MAXDIMS) {
        PyErr_SetString(PyExc_ValueError, "an array has too many axes");
        return -1;
    }
    if (lengths == NULL || lengths == Py_None || array->ndim == 0) return 0;
    if (!PyTuple_Check(lengths) || PyTuple_GET_SIZE(lengths) != array->ndim) {
        PyErr_SetString(PyExc_ValueError, "fixed lengths: one for each axis");
        return -1;
    }
    array->lengths = PyMem_New(npy_intp, array->ndim);
    if (array->lengths == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int axis = 0; axis < array->ndim; axis++) {
        array->lengths[axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(lengths, axis));
        if (array->lengths[axis] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

static int
read_arrays(Caller *self, PyObject *inputs, PyObject *outputs)
{
    Py_ssize_t count = self->input_count + self->shared_count + self->output_count;
    self->arrays = PyMem_Calloc((size_t)count + 1, sizeof(Array));
    if (self->arrays == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    Array *array = self->arrays;
    for (Py_ssize_t i = 0; i < self->input_count; i++)
        if (read_array(PyTuple_GET_ITEM(inputs, i), array++, 1) < 0) return -1;
    for (Py_ssize_t i = 0; i < self->shared_count; i++, array++) {
        PyObject *list = PyTuple_GET_ITEM(self->shared, i);
        if (!PyList_CheckExact(list) || PyList_GET_SIZE(list) != 1 ||
            !PyArray_Check(PyList_GET_ITEM(list, 0))) {
            PyErr_SetString(PyExc_TypeError, "a shared variable is a list of one array");
            return -1;
        }
        array->type = PyArray_TYPE((PyArrayObject *)PyList_GET_ITEM(list, 0));
        array->ndim = PyArray_NDIM((PyArrayObject *)PyList_GET_ITEM(list, 0));
    }
    for (Py_ssize_t i = 0; i < self->output_count; i++)
        if (read_array(PyTuple_GET_ITEM(outputs, i), array++, 0) < 0) return -1;
    return 0;
}

/* The compiled function and the description must agree, or a call would leave its arrays. */
static int
check_counts(Caller *self)
{
    int64_t lengths = 0, shapes = 0;
    Py_ssize_t given = self->input_count + self->shared_count;
    for (Py_ssize_t i = 0; i < given; i++) lengths += self->arrays[i].ndim;
    for (Py_ssize_t i = 0; i < self->output_count; i++) shapes += self->arrays[given + i].ndim;
    if (self->counts[0] != given + self->constant_count + self->output_count ||
        self->counts[1] != lengths || self->counts[2] != shapes || self->counts[3] < 0) {
        PyErr_SetString(PyExc_ValueError, "the compiled function has other arrays");
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->constant_count; i++) {
        PyObject *constant = PyTuple_GET_ITEM(self->constants, i);
        if (!PyArray_Check(constant) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)constant)) {
            PyErr_SetString(PyExc_TypeError, "a constant is a C-contiguous array");
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < self->rebind_count; i++) {
        Py_ssize_t output;
        PyObject *list;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(self->rebind, i), "nO!", &output, &PyList_Type,
                              &list))
            return -1;
        if (output < 0 || output >= self->output_count || PyList_GET_SIZE(list) != 1) {
            PyErr_SetString(PyExc_ValueError, "rebind: (output, list of one array)");
            return -1;
        }
    }
    if (self->returned < 0 || self->returned > self->output_count ||
        (self->returns == RETURN_ONE && self->returned != 1)) {
        PyErr_SetString(PyExc_ValueError, "returns: more outputs than there are");
        return -1;
    }
    return 0;
}

static int
read_returns(Caller *self, PyObject *returns)
{
    const char *form;
    if (!PyArg_ParseTuple(returns, "ns", &self->returned, &form)) return -1;
    if (strcmp(form, "one") == 0)
        self->returns = RETURN_ONE;
    else if (strcmp(form, "list") == 0)
        self->returns = RETURN_LIST;
    else if (strcmp(form, "none") == 0)
        self->returns = RETURN_NONE;
    else {
        PyErr_SetString(PyExc_ValueError, "returns: (count, 'one', 'list' or 'none')");
        return -1;
    }
    return 0;
}

static PyTypeObject *lock_type; /* lives as long as the process */

static int
check_locks(Caller *self)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->locks); i++) {
        PyObject *lock;
        int writes;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(self->locks, i), "O!p", lock_type, &lock, &writes))
            return -1;
    }
    return 0;
}

static PyObject *caller_vectorcall(PyObject *, PyObject *const *, size_t, PyObject *);

static PyObject *
caller_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"prepare", "run",     "counts", "inputs",  "shared",
                            "constants", "outputs", "convert", "failed", "rebind",
                            "returns", "threads", "tiny",   "team",    "locks",  "host",
                            "keep",      NULL};
    PyObject *prepare, *run, *inputs, *shared, *constants, *outputs, *convert, *failed, *rebind;
    PyObject *returns, *locks = NULL, *host = Py_None, *keep = Py_None;
    long long counts[4], threads = 0;
    int tiny = 0, team = 0;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O!O!(LLLL)O!O!O!O!OOO!O!|$LppO!OO:Caller", names, &PyLong_Type, &prepare,
            &PyLong_Type, &run, &counts[0], &counts[1], &counts[2], &counts[3], &PyTuple_Type,
            &inputs, &PyTuple_Type, &shared, &PyTuple_Type, &constants, &PyTuple_Type, &outputs,
            &convert, &failed, &PyTuple_Type, &rebind, &PyTuple_Type, &returns, &threads, &tiny,
            &team, &PyTuple_Type, &locks, &host, &keep))
        return NULL;
    Caller *self = (Caller *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->vectorcall = caller_vectorcall;
    self->prepare = (symc_function)(intptr_t)PyLong_AsVoidPtr(prepare);
    self->run = (symc_function)(intptr_t)PyLong_AsVoidPtr(run);
    for (int i = 0; i < 4; i++) self->counts[i] = counts[i];
    self->input_count = PyTuple_GET_SIZE(inputs);
    self->shared_count = PyTuple_GET_SIZE(shared);
    self->constant_count = PyTuple_GET_SIZE(constants);
    self->output_count = PyTuple_GET_SIZE(outputs);
    self->rebind_count = PyTuple_GET_SIZE(rebind);
    self->shared = Py_NewRef(shared);
    self->constants = Py_NewRef(constants);
    self->rebind = Py_NewRef(rebind);
    self->convert = Py_NewRef(convert);
    self->failed = Py_NewRef(failed);
    self->locks = locks != NULL ? Py_NewRef(locks) : PyTuple_New(0);
    self->host = Py_NewRef(host);
    self->keep = Py_NewRef(keep);
    self->threads = threads;
    self->tiny = (char)tiny;
    self->team = (char)team;
    if (PyErr_Occurred() || read_returns(self, returns) < 0 ||
        read_arrays(self, inputs, outputs) < 0 || check_counts(self) < 0 ||
        check_locks(self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
caller_traverse(Caller *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->shared);
    Py_VISIT(self->constants);
    Py_VISIT(self->rebind);
    Py_VISIT(self->locks);
    Py_VISIT(self->convert);
    Py_VISIT(self->failed);
    Py_VISIT(self->host);
    Py_VISIT(self->keep);
    return 0;
}

static int
caller_clear(Caller *self)
{
    Py_CLEAR(self->convert);
    Py_CLEAR(self->failed);
    Py_CLEAR(self->host);
    Py_CLEAR(self->keep);
    return 0; /* tuples cannot close a cycle without one of the above or a list: those are cleared */
}

static void
caller_dealloc(Caller *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    caller_clear(self);
    Py_CLEAR(self->shared);
    Py_CLEAR(self->constants);
    Py_CLEAR(self->rebind);
    Py_CLEAR(self->locks);
    if (self->arrays != NULL) {
        Py_ssize_t count = self->input_count + self->shared_count + self->output_count;
        for (Py_ssize_t i = 0; i < count; i++) PyMem_Free(self->arrays[i].lengths);
        PyMem_Free(self->arrays);
    }
    free(self->workspace);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- locks ---- */

static _Thread_local Frame *innermost;

static Lock *
lock_of(Caller *self, Py_ssize_t number, int *writes)
{
    PyObject *pair = PyTuple_GET_ITEM(self->locks, number);
    *writes = PyTuple_GET_ITEM(pair, 1) == Py_True;
    return (Lock *)PyTuple_GET_ITEM(pair, 0);
}

/* How often calls on this thread, that wait for the present one, read a variable. */
static Py_ssize_t
own_readings(const Lock *lock)
{
    Py_ssize_t count = 0;
    for (Frame *frame = innermost; frame != NULL; frame = frame->outer)
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(frame->caller->locks); i++) {
            int writes;
            count += lock_of(frame->caller, i, &writes) == lock && !writes;
        }
    return count;
}

static void
release_locks(Caller *self, Py_ssize_t count)
{
    while (count-- > 0) {
        int writes;
        Lock *lock = lock_of(self, count, &writes);
        if (writes) symc_unlock_write(lock);
        else symc_unlock_read(lock);
    }
}

static int
take_locks(Caller *self)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->locks); i++) {
        int writes;
        Lock *lock = lock_of(self, i, &writes);
        int status = writes ? symc_lock_write(lock, lock->readers ? own_readings(lock) : 0)
                            : symc_lock_read(lock, i > 0 || innermost != NULL);
        if (status < 0) {
            release_locks(self, i);
            return -1;
        }
    }
    return 0;
}

/* ---- arguments ---- */

/* Whether the compiled function can use this array's memory as it is. */
static int
fits(PyArrayObject *array, const Array *wanted)
{
    int type = PyArray_TYPE(array);
    if (PyArray_NDIM(array) != wanted->ndim ||
        (type != wanted->type && !PyArray_EquivTypenums(type, wanted->type)) ||
        !PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) ||
        !PyArray_ISNOTSWAPPED(array))
        return 0;
    if (wanted->lengths != NULL)
        for (int axis = 0; axis < wanted->ndim; axis++)
            if (wanted->lengths[axis] >= 0 && wanted->lengths[axis] != PyArray_DIM(array, axis))
                return 0;
    return 1;
}

/* Up to here every integer is a double, and none that rounds to one of these is another. */
#define EXACT 9007199254740991.0

/* A Python number for a 0-d input goes to a slot on the stack; 0 where that is not possible. */
static int
fits_slot(PyObject *value, const Array *wanted, Slot *slot)
{
    if (wanted->ndim != 0) return 0;
    if (wanted->type == NPY_DOUBLE) {
        if (PyFloat_Check(value)) { /* np.float64 too */
            slot->number = PyFloat_AS_DOUBLE(value);
            return 1;
        }
        if (!PyLong_CheckExact(value)) return 0;
        slot->number = PyLong_AsDouble(value);
        if (slot->number >= -EXACT && slot->number <= EXACT &&
            (slot->number != -1.0 || !PyErr_Occurred()))
            return 1;
    } else if ((wanted->type == NPY_LONG && sizeof(long) == 8) || wanted->type == NPY_LONGLONG) {
        if (!PyLong_CheckExact(value)) return 0;
        slot->integer = PyLong_AsLongLong(value);
        if (slot->integer != -1 || !PyErr_Occurred()) return 1;
    } else {
        return 0;
    }
    PyErr_Clear(); /* too large: convert() decides, and says it better */
    return 0;
}

/* What `convert` makes of an argument that cannot be used directly: a new reference or NULL. */
static PyObject *
converted(Caller *self, Py_ssize_t index, PyObject *value)
{
    PyObject *number = PyLong_FromSsize_t(index);
    if (number == NULL) return NULL;
    PyObject *result = PyObject_CallFunctionObjArgs(self->convert, number, value, NULL);
    Py_DECREF(number);
    if (result == NULL) return NULL;
    if (!PyArray_Check(result) || !fits((PyArrayObject *)result, &self->arrays[index])) {
        PyErr_Format(PyExc_TypeError, "argument %zd was not converted to the right array", index);
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

/* Fill in pointers and lengths of everything that goes in. `owned` receives references. */
static int
read_inputs(Caller *self, PyObject *const *args, void **data, int64_t *lengths, Slot *slots,
            PyObject **owned)
{
    for (Py_ssize_t i = 0; i < self->input_count; i++) {
        PyObject *value = args[i];
        const Array *wanted = &self->arrays[i];
        if (!PyArray_CheckExact(value) || !fits((PyArrayObject *)value, wanted)) {
            if (fits_slot(value, wanted, &slots[i])) {
                *data++ = &slots[i];
                continue;
            }
            value = owned[i] = converted(self, i, value);
            if (value == NULL) return -1;
        }
        *data++ = PyArray_DATA((PyArrayObject *)value);
        for (int axis = 0; axis < wanted->ndim; axis++)
            *lengths++ = PyArray_DIM((PyArrayObject *)value, axis);
    }
    for (Py_ssize_t i = 0; i < self->shared_count; i++) {
        PyObject *list = PyTuple_GET_ITEM(self->shared, i);
        const Array *wanted = &self->arrays[self->input_count + i];
        PyObject *value = PyList_GET_SIZE(list) == 1 ? PyList_GET_ITEM(list, 0) : NULL;
        if (value == NULL || !PyArray_Check(value) || !fits((PyArrayObject *)value, wanted)) {
            PyErr_Format(PyExc_TypeError, "shared variable %zd holds another kind of array", i);
            return -1;
        }
        owned[self->input_count + i] = Py_NewRef(value); /* others may rebind it meanwhile */
        *data++ = PyArray_DATA((PyArrayObject *)value);
        for (int axis = 0; axis < wanted->ndim; axis++)
            *lengths++ = PyArray_DIM((PyArrayObject *)value, axis);
    }
    for (Py_ssize_t i = 0; i < self->constant_count; i++)
        *data++ = PyArray_DATA((PyArrayObject *)PyTuple_GET_ITEM(self->constants, i));
    return 0;
}

/* ---- outputs ---- */

static PyObject *
new_array(const Array *wanted, const int64_t *shape)
{
    npy_intp lengths[NPY_MAXDIMS];
    for (int axis = 0; axis < wanted->ndim; axis++) lengths[axis] = (npy_intp)shape[axis];
    return PyArray_EMPTY(wanted->ndim, lengths, wanted->type, 0);
}

/* `symc_call.allocate`: an output whose lengths were measured while the function ran. */
static void *
allocate(void *context, int64_t output)
{
    Frame *frame = context;
    Caller *self = frame->caller;
    Py_ssize_t given = self->input_count + self->shared_count;
    const int64_t *shape = frame->call->shapes;
    for (int64_t i = 0; i < output; i++) shape += self->arrays[given + i].ndim;
    if (frame->released != NULL) PyEval_RestoreThread(frame->released);
    PyObject *array = new_array(&self->arrays[given + output], shape);
    void *data = NULL;
    if (array != NULL) {
        Py_XSETREF(frame->owned[given + output], array);
        data = PyArray_DATA((PyArrayObject *)array);
    }
    if (frame->released != NULL) frame->released = PyEval_SaveThread();
    return data;
}

/* `symc_call.host`: a function in Python. The exception it may raise waits for `raise_failed`. */
static int64_t
call_host(void *context, int64_t number, const void *const *arrays, const int64_t *lengths)
{
    Frame *frame = context;
    if (frame->released != NULL) PyEval_RestoreThread(frame->released);
    PyObject *result = PyObject_CallFunction(frame->caller->host, "LLL", (long long)number,
                                             (long long)(intptr_t)arrays,
                                             (long long)(intptr_t)lengths);
    Py_XDECREF(result);
    if (frame->released != NULL) frame->released = PyEval_SaveThread();
    return result == NULL ? -1 : 0;
}

/* Whether a signal waits whose handler raises. That exception waits for `raise_failed`. Python runs
 * handlers on its main thread only; on others nothing ever waits. */
static int
signal_waits(void *context)
{
    Frame *frame = context;
    if (frame->call->ask == NULL) return 0; /* shared variables have begun to change */
    if (frame->released != NULL) PyEval_RestoreThread(frame->released);
    int raised = PyErr_CheckSignals() < 0;
    if (frame->released != NULL) frame->released = PyEval_SaveThread();
    if (raised) frame->call->stopped = 1;
    return raised;
}

/* `symc_call.ask` */
static int64_t
ask(void *context)
{
    return symc_team_ask(&((Frame *)context)->asker);
}

static int
new_outputs(Caller *self, const int64_t *shapes, void **data, PyObject **owned)
{
    Py_ssize_t given = self->input_count + self->shared_count;
    for (Py_ssize_t i = 0; i < self->output_count; i++) {
        const Array *wanted = &self->arrays[given + i];
        const int64_t *shape = shapes;
        shapes += wanted->ndim;
        int later = 0;
        for (int axis = 0; axis < wanted->ndim; axis++) later |= shape[axis] == -1;
        if (later) {
            data[i] = NULL;
            continue;
        }
        owned[given + i] = new_array(wanted, shape);
        if (owned[given + i] == NULL) return -1;
        data[i] = PyArray_DATA((PyArrayObject *)owned[given + i]);
    }
    return 0;
}

static int
check_outputs(Caller *self, PyObject **outputs)
{
    for (Py_ssize_t i = 0; i < self->output_count; i++)
        if (outputs[i] == NULL) {
            PyErr_Format(PyExc_RuntimeError, "output %zd was never measured", i);
            return -1;
        }
    return 0;
}

/* What the call returns. Rebinds shared variables to the arrays written for them. */
static PyObject *
finish(Caller *self, PyObject **outputs)
{
    if (check_outputs(self, outputs) < 0) return NULL;
    PyObject *result;
    if (self->returns == RETURN_ONE) {
        result = Py_NewRef(outputs[0]);
    } else if (self->returns == RETURN_NONE) {
        result = Py_NewRef(Py_None);
    } else {
        result = PyList_New(self->returned);
        if (result == NULL) return NULL;
        for (Py_ssize_t i = 0; i < self->returned; i++)
            PyList_SET_ITEM(result, i, Py_NewRef(outputs[i]));
    }
    for (Py_ssize_t i = 0; i < self->rebind_count; i++) {
        PyObject *pair = PyTuple_GET_ITEM(self->rebind, i);
        Py_ssize_t output = PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 0));
        PyObject *list = PyTuple_GET_ITEM(pair, 1);
        if (PyList_SetItem(list, 0, Py_NewRef(outputs[output])) < 0) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

/* ---- the call ---- */

/* Take the workspace kept from the last call, if nobody else has it and it is large enough. */
static int
take_workspace(Caller *self, int64_t bytes, char **workspace, int64_t *taken)
{
    *workspace = self->workspace;
    *taken = self->workspace_bytes;
    self->workspace = NULL;
    self->workspace_bytes = 0;
    if (*taken >= bytes) return 0;
    free(*workspace);
    *taken = bytes;
    if (bytes > PY_SSIZE_T_MAX / 2 || posix_memalign((void **)workspace, 64, (size_t)bytes) != 0) {
        *workspace = NULL;
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void
keep_workspace(Caller *self, char *workspace, int64_t bytes)
{
    if (bytes <= self->workspace_bytes) {
        free(workspace);
        return;
    }
    free(self->workspace);
    self->workspace = workspace;
    self->workspace_bytes = bytes;
}

/* Raise for a status that is not 0. */
static void
raise_failed(Caller *self, int64_t code, PyObject *const *args, PyObject **owned)
{
    if (PyErr_Occurred()) return; /* a callback failed */
    if (code < 0) {
        PyErr_NoMemory();
        return;
    }
    Py_ssize_t count = self->input_count + self->shared_count;
    PyObject *arrays = PyTuple_New(count);
    if (arrays == NULL) return;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(arrays, i, Py_NewRef(owned[i] != NULL ? owned[i] : args[i]));
    PyObject *result = PyObject_CallFunction(self->failed, "LO", (long long)code, arrays);
    Py_DECREF(arrays);
    if (result != NULL) {
        Py_DECREF(result);
        PyErr_Format(PyExc_RuntimeError, "the compiled function failed with status %lld",
                     (long long)code);
    }
}

/* prepare, allocate, run. Returns 0, or -1 with an exception set. */
static int
run(Frame *frame, PyObject *const *args, void **outputs)
{
    Caller *self = frame->caller;
    symc_call *call = frame->call;
    PyObject **owned = frame->owned;
    frame->asker = (Asker){signal_waits, frame, 0};
    call->threads = forked && !self->team ? 1 : self->threads > 0 ? self->threads : threads_of_all;
    call->ask = ask;
    call->allocate = allocate;
    call->context = frame;
    call->host = call_host;
    int64_t code = self->prepare(call);
    if (code != 0) {
        raise_failed(self, code, args, owned);
        return -1;
    }
    if (new_outputs(self, call->shapes, outputs, owned) < 0) return -1;
    char *workspace = NULL;
    int64_t bytes = 0;
    if (call->workspace_bytes > 0) {
        if (take_workspace(self, call->workspace_bytes, &workspace, &bytes) < 0) return -1;
        call->workspace = workspace;
    }
    if (self->tiny) {
        code = self->run(call);
    } else {
        Asker *outer = symc_team_asker(&frame->asker);
        frame->released = PyEval_SaveThread();
        code = self->run(call);
        PyEval_RestoreThread(frame->released);
        symc_team_asker(outer);
    }
    if (code == 0 && call->stopped) code = -1; /* at the very end: what it left may be unfinished */
    if (workspace != NULL) keep_workspace(self, workspace, bytes);
    if (code != 0) {
        raise_failed(self, code, args, owned);
        return -1;
    }
    return 0;
}

#define SMALL 64

static PyObject *
caller_vectorcall(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Caller *self = (Caller *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if ((keywords != NULL && PyTuple_GET_SIZE(keywords) != 0) || count != self->input_count) {
        PyErr_Format(PyExc_TypeError, "expected %zd positional arguments, got %zd%s",
                     self->input_count, count, keywords != NULL ? " and keywords" : "");
        return NULL;
    }
    Py_ssize_t given = self->input_count + self->shared_count;
    Py_ssize_t owners = given + self->output_count;
    size_t words = (size_t)(self->counts[0] + self->counts[1] + self->counts[2] + self->counts[3] +
                            self->input_count + owners);
    int64_t small[SMALL], *memory = small;
    if (words > SMALL) {
        memory = PyMem_New(int64_t, words);
        if (memory == NULL) return PyErr_NoMemory();
    }
    PyObject **owned = (PyObject **)memory;
    void **data = (void **)(owned + owners);
    Slot *slots = (Slot *)(data + self->counts[0]);
    int64_t *lengths = (int64_t *)(slots + self->input_count);
    int64_t *shapes = lengths + self->counts[1];
    symc_call call = {.data = data, .lengths = lengths, .shapes = shapes,
                      .sizes = shapes + self->counts[2]};
    for (Py_ssize_t i = 0; i < owners; i++) owned[i] = NULL;

    PyObject *result = NULL;
    void **outputs = data + given + self->constant_count;
    Py_INCREF(self); /* a callback may drop the last reference */
    Frame frame = {.outer = innermost, .caller = self, .call = &call, .owned = owned};
    Py_ssize_t locks = PyTuple_GET_SIZE(self->locks);
    if (locks == 0 || take_locks(self) == 0) {
        if (locks > 0) innermost = &frame;
        if (read_inputs(self, args, data, lengths, slots, owned) == 0 &&
            run(&frame, args, outputs) == 0)
            result = finish(self, owned + given);
        innermost = frame.outer;
        release_locks(self, locks);
    }
    for (Py_ssize_t i = 0; i < owners; i++) Py_XDECREF(owned[i]);
    if (memory != small) PyMem_Free(memory);
    Py_DECREF(self);
    return result;
}

/* ---- the module ---- */

static PyMemberDef caller_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Caller, vectorcall), READONLY, NULL},
    {"threads", T_LONGLONG, offsetof(Caller, threads), 0, "How many threads a call may use; 0: as all."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot caller_slots[] = {
    {Py_tp_doc, "A compiled function that can be called; see symc/calls/call.py."},
    {Py_tp_new, caller_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, caller_traverse},
    {Py_tp_clear, caller_clear},
    {Py_tp_dealloc, caller_dealloc},
    {Py_tp_members, caller_members},
    {0, NULL},
};

static PyType_Spec caller_spec = {
    .name = "symc._call.Caller",
    .basicsize = sizeof(Caller),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = caller_slots,
};

static int
execute(PyObject *module)
{
    static int registered = 0;
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    if (!registered && pthread_atfork(NULL, NULL, after_fork) == 0) registered = 1;
    if (lock_type == NULL) lock_type = (PyTypeObject *)PyType_FromSpec(&symc_lock_spec);
    if (PyModule_AddObjectRef(module, "Lock", (PyObject *)lock_type) < 0) return -1;
    PyObject *type = PyType_FromModuleAndSpec(module, &caller_spec, NULL);
    int status = PyModule_AddObjectRef(module, "Caller", type);
    Py_XDECREF(type);
    if (status < 0) return -1;
    PyObject *address = PyLong_FromVoidPtr((void *)symc_team);
    status = PyModule_AddObjectRef(module, "team", address);
    Py_XDECREF(address);
    return status;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static PyMethodDef module_methods[] = {
    {"use_threads", use_threads, METH_O, "How many threads callers use that were given no number."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, .m_name = "symc.calls._call", .m_doc = "The call path, in C.",
    .m_methods = module_methods, .m_slots = module_slots,
};

PyMODINIT_FUNC
PyInit__call(void)
{
    return PyModuleDef_Init(&module_definition);
}
