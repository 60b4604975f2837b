/* Callers: made from a description of the compiled function (see symc/calls/call.py), and freed. */
#include "_call.h"

#include <stdlib.h>
#include <string.h>

static int
read_array(PyObject *item, Array *array, int with_lengths)
{
    PyObject *lengths = NULL;
    if (!PyTuple_Check(item) ||
        !(with_lengths ? PyArg_ParseTuple(item, "iiO", &array->type, &array->ndim, &lengths)
                       : PyArg_ParseTuple(item, "iii", &array->type, &array->ndim,
                                          &array->argument))) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "an array is described by a tuple");
        return -1;
    }
    if (array->ndim < 0 || array->ndim > NPY_MAXDIMS) {
        PyErr_SetString(PyExc_ValueError, "an array has too many axes");
        return -1;
    }
    if (lengths == NULL || lengths == Py_None || array->ndim == 0) return 0;
    if (!PyTuple_Check(lengths) || PyTuple_Size(lengths) != array->ndim) {
        PyErr_SetString(PyExc_ValueError, "fixed lengths: one for each axis");
        return -1;
    }
    array->lengths = PyMem_New(npy_intp, array->ndim);
    if (array->lengths == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int axis = 0; axis < array->ndim; axis++) {
        array->lengths[axis] = PyLong_AsSsize_t(PyTuple_GetItem(lengths, axis));
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
        if (read_array(PyTuple_GetItem(inputs, i), array++, 1) < 0) return -1;
    for (Py_ssize_t i = 0; i < self->shared_count; i++, array++) {
        PyObject *list = PyTuple_GetItem(self->shared, i);
        if (!PyList_CheckExact(list) || PyList_Size(list) != 1 ||
            !PyArray_Check(PyList_GetItem(list, 0))) {
            PyErr_SetString(PyExc_TypeError, "a shared variable is a list of one array");
            return -1;
        }
        array->type = PyArray_TYPE((PyArrayObject *)PyList_GetItem(list, 0));
        array->ndim = PyArray_NDIM((PyArrayObject *)PyList_GetItem(list, 0));
    }
    for (Py_ssize_t i = 0; i < self->output_count; i++)
        if (read_array(PyTuple_GetItem(outputs, i), array++, 0) < 0) return -1;
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
    for (Py_ssize_t i = given; i < given + self->output_count; i++) {
        int argument = self->arrays[i].argument;
        if (argument >= 0 && (argument >= self->input_count ||
                              self->arrays[argument].ndim != self->arrays[i].ndim ||
                              self->arrays[argument].type != self->arrays[i].type)) {
            PyErr_SetString(PyExc_ValueError, "an output gets the memory of another kind of array");
            return -1;
        }
    }
    if (self->counts[0] != given + self->constant_count + self->output_count ||
        self->counts[1] != lengths || self->counts[2] != shapes || self->counts[3] < 0) {
        PyErr_SetString(PyExc_ValueError, "the compiled function has other arrays");
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->constant_count; i++) {
        PyObject *constant = PyTuple_GetItem(self->constants, i);
        if (!PyArray_Check(constant) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)constant)) {
            PyErr_SetString(PyExc_TypeError, "a constant is a C-contiguous array");
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < self->rebind_count; i++) {
        Py_ssize_t output;
        PyObject *list;
        if (!PyArg_ParseTuple(PyTuple_GetItem(self->rebind, i), "nO!", &output, &PyList_Type,
                              &list))
            return -1;
        if (output < 0 || output >= self->output_count || PyList_Size(list) != 1) {
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

int
symc_check_locks(PyObject *locks)
{
    if (!PyTuple_Check(locks)) {
        PyErr_SetString(PyExc_TypeError, "locks are a tuple");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(locks); i++) {
        PyObject *lock;
        int writes;
        if (!PyArg_ParseTuple(PyTuple_GetItem(locks, i), "O!p", symc_lock_type, &lock, &writes))
            return -1;
    }
    return 0;
}

static PyObject *
caller_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"spec", "threads", "tiny", "pure", "team", "locks", "host", "keep", NULL};
    PyObject *spec, *prepare, *run, *inputs, *shared, *constants, *outputs, *convert, *failed, *rebind;
    PyObject *returns, *locks = NULL, *host = Py_None, *keep = Py_None;
    long long counts[4], threads = 0;
    int tiny = 0, pure = 0, team = 0;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O|$LpppO!OO:Caller", names, &spec, &threads, &tiny, &pure, &team,
            &PyTuple_Type, &locks, &host, &keep))
        return NULL;
    PyObject *fields = PySequence_Tuple(spec); /* as SYMC_FIELDS has them */
    if (fields == NULL) return NULL;
    Caller *self = NULL;
    if (PyArg_ParseTuple(fields, "O!O!(LLLL)O!O!O!O!OOO!O!:CallSpec", &PyLong_Type, &prepare,
                         &PyLong_Type, &run, &counts[0], &counts[1], &counts[2], &counts[3],
                         &PyTuple_Type, &inputs, &PyTuple_Type, &shared, &PyTuple_Type, &constants,
                         &PyTuple_Type, &outputs, &convert, &failed, &PyTuple_Type, &rebind,
                         &PyTuple_Type, &returns))
        self = (Caller *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        Py_DECREF(fields);
        return NULL;
    }
    self->vectorcall = symc_call_caller;
    self->prepare = (symc_function)(intptr_t)PyLong_AsVoidPtr(prepare);
    self->run = (symc_function)(intptr_t)PyLong_AsVoidPtr(run);
    for (int i = 0; i < 4; i++) self->counts[i] = counts[i];
    self->input_count = PyTuple_Size(inputs);
    self->shared_count = PyTuple_Size(shared);
    self->constant_count = PyTuple_Size(constants);
    self->output_count = PyTuple_Size(outputs);
    self->rebind_count = PyTuple_Size(rebind);
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
    self->pure = (char)pure;
    self->team = (char)team;
    if (PyErr_Occurred() || read_returns(self, returns) < 0 ||
        read_arrays(self, inputs, outputs) < 0 || check_counts(self) < 0 ||
        symc_check_locks(self->locks) < 0)
        Py_CLEAR(self);
    Py_DECREF(fields);
    return (PyObject *)self;
}

static int
caller_traverse(Caller *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
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
    PyTypeObject *type = Py_TYPE((PyObject *)self);
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
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

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

PyType_Spec symc_caller_spec = {
    .name = "symc._call.Caller",
    .basicsize = sizeof(Caller),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = caller_slots,
};
