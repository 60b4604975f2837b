/* The call path: from Python arguments to a compiled function and back.
 *
 * `Caller` is the C twin of symc/calls/python_call.py, called by symc.function's objects; the same
 * tests run over both; symc/calls/call.py has the meaning of the arguments. Everything a call needs
 * stands on its stack, so that threads may call one Caller at the same time and a compiled function
 * may call back. The only state is one workspace, kept from call to call and taken away during a
 * call.
 *
 * _caller.c makes callers, _values.c reads arguments and makes results; this file runs the call.
 */
#define SYMC_HAS_NUMPY
#include "_call.h"

#include <pthread.h>
#include <stdlib.h>

#include "_kept.h"
#include "_stamps.h"
#include "_team.h"

/* LLVM's OpenMP gives out tickets for its locks: in the child of a fork, those of threads that it
 * does not have are waited for without end. So a fork waits until no other thread is in OpenMP, and
 * lets none in meanwhile. (Readers first, so that a call within a call gets in while a fork waits.)
 */
static pthread_rwlock_t openmp = PTHREAD_RWLOCK_INITIALIZER;
static _Thread_local int calls_in_openmp;
static _Thread_local int keeps_openmp;

static int64_t
run_in_openmp(Caller *self, symc_call *call)
{
    pthread_rwlock_rdlock(&openmp);
    calls_in_openmp++;
    int64_t code = self->run(call);
    calls_in_openmp--;
    pthread_rwlock_unlock(&openmp);
    return code;
}

static PyObject *
before_fork(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (calls_in_openmp > 0 || keeps_openmp) return symc_none(); /* a call has called back: a fork */
    Py_BEGIN_ALLOW_THREADS
    pthread_rwlock_wrlock(&openmp);
    Py_END_ALLOW_THREADS
    keeps_openmp = 1;
    return symc_none();
}

static PyObject *
after_fork_in_parent(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (keeps_openmp) pthread_rwlock_unlock(&openmp);
    keeps_openmp = 0;
    return symc_none();
}

/* OpenMP has no threads left in a child of fork, and would wait for them. */
static int forked = 0;

static void
after_fork(void)
{
    forked = 1;
    openmp = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    keeps_openmp = 0;
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
    return symc_none();
}

PyTypeObject *symc_lock_type; /* lives as long as the process */

/* ---- locks ---- */

static _Thread_local Frame *innermost;

static Lock *
lock_of(PyObject *locks, Py_ssize_t number, int *writes)
{
    PyObject *pair = PyTuple_GetItem(locks, number);
    *writes = PyTuple_GetItem(pair, 1) == Py_True;
    return (Lock *)PyTuple_GetItem(pair, 0);
}

/* How often calls on this thread, that wait for the present one, read a variable. */
static Py_ssize_t
own_readings(const Lock *lock)
{
    Py_ssize_t count = 0;
    for (Frame *frame = innermost; frame != NULL; frame = frame->outer)
        for (Py_ssize_t i = 0; i < PyTuple_Size(frame->locks); i++) {
            int writes;
            count += lock_of(frame->locks, i, &writes) == lock && !writes;
        }
    return count;
}

static void
release_locks(PyObject *locks, Py_ssize_t count)
{
    while (count-- > 0) {
        int writes;
        Lock *lock = lock_of(locks, count, &writes);
        if (writes) symc_unlock_write(lock);
        else symc_unlock_read(lock);
    }
}

static int
take_locks(PyObject *locks)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(locks); i++) {
        int writes;
        Lock *lock = lock_of(locks, i, &writes);
        int status = writes ? symc_lock_write(lock, lock->readers ? own_readings(lock) : 0)
                            : symc_lock_read(lock, i > 0 || innermost != NULL);
        if (status < 0) {
            release_locks(locks, i);
            return -1;
        }
    }
    return 0;
}

/* holding(locks, function, *args): a call of Python's that holds locks as those of callers do. */
static PyObject *
holding(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count < 2 || symc_check_locks(args[0]) < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "holding(locks, function, *args)");
        return NULL;
    }
    PyObject *locks = args[0], *result;
    if (take_locks(locks) < 0) return NULL;
    Frame frame = {.outer = innermost, .locks = locks};
    innermost = &frame;
    result = PyObject_Vectorcall(args[1], args + 2, (size_t)(count - 2), NULL);
    innermost = frame.outer;
    release_locks(locks, PyTuple_Size(locks));
    return result;
}

/* ---- callbacks of the compiled function ---- */

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
    PyObject *array = symc_new_array(&self->arrays[given + output], shape);
    void *data = NULL;
    if (array != NULL) {
        PyObject *before = frame->owned[given + output];
        frame->owned[given + output] = array;
        Py_XDECREF(before);
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
    return symc_ask(&((Frame *)context)->asker);
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
        PyTuple_SetItem(arrays, i, Py_NewRef(owned[i] != NULL ? owned[i] : args[i]));
    PyObject *result = PyObject_CallFunction(self->failed, "LO", (long long)code, arrays);
    Py_DECREF(arrays);
    if (result != NULL) {
        Py_DECREF(result);
        PyErr_Format(PyExc_RuntimeError, "the compiled function failed with status %lld",
                     (long long)code);
    }
}

/* Whether all results are there and none has elements. */
static int
have_no_elements(Caller *self, PyObject **outputs)
{
    for (Py_ssize_t i = 0; i < self->output_count; i++)
        if (outputs[i] == NULL || PyArray_SIZE((PyArrayObject *)outputs[i]) != 0) return 0;
    return 1;
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
    if (symc_new_outputs(self, args, call->shapes, call->data, outputs, owned) < 0) return -1;
    if (self->pure && have_no_elements(self, owned + self->input_count + self->shared_count))
        return 0;
    char *workspace = NULL;
    int64_t bytes = 0;
    if (call->workspace_bytes > 0) {
        if (take_workspace(self, call->workspace_bytes, &workspace, &bytes) < 0) return -1;
        call->workspace = workspace;
    }
    if (self->tiny) {
        code = self->run(call);
    } else {
        Asker *outer = symc_use_asker(&frame->asker);
        frame->released = PyEval_SaveThread();
        code = self->team ? self->run(call) : run_in_openmp(self, call);
        PyEval_RestoreThread(frame->released);
        symc_use_asker(outer);
    }
    if (code == 0 && call->stopped) code = -1; /* at the very end: the outputs may be unfinished */
    if (workspace != NULL) keep_workspace(self, workspace, bytes);
    if (code != 0) {
        raise_failed(self, code, args, owned);
        return -1;
    }
    return 0;
}

#define SMALL 64

PyObject *
symc_call_caller(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Caller *self = (Caller *)callable;
    Py_ssize_t count = symc_count_of(flags);
    if ((keywords != NULL && PyTuple_Size(keywords) != 0) || count != self->input_count) {
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
    Py_INCREF((PyObject *)self); /* a callback may drop the last reference */
    Frame frame = {.outer = innermost, .locks = self->locks, .caller = self, .call = &call,
                   .owned = owned};
    Py_ssize_t locks = PyTuple_Size(self->locks);
    if (locks == 0 || take_locks(self->locks) == 0) {
        if (locks > 0) innermost = &frame;
        if (symc_read_inputs(self, args, data, lengths, slots, owned) == 0 &&
            run(&frame, args, outputs) == 0)
            result = symc_finish(self, owned + given);
        innermost = frame.outer;
        release_locks(self->locks, locks);
    }
    for (Py_ssize_t i = 0; i < owners; i++) Py_XDECREF(owned[i]);
    if (memory != small) PyMem_Free(memory);
    Py_DECREF(self);
    return result;
}

/* ---- the module ---- */

static int
execute(PyObject *module)
{
    static int registered = 0;
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    if (!registered && pthread_atfork(NULL, NULL, after_fork) == 0) registered = 1;
    if (symc_lock_type == NULL) symc_lock_type = (PyTypeObject *)PyType_FromSpec(&symc_lock_spec);
    if (PyModule_AddObjectRef(module, "Lock", (PyObject *)symc_lock_type) < 0) return -1;
    if (PyModule_AddStringConstant(module, "FIELDS", SYMC_FIELDS) < 0) return -1;
    PyObject *type = PyType_FromModuleAndSpec(module, &symc_caller_spec, NULL);
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
    {"holding", (PyCFunction)(void (*)(void))holding, METH_FASTCALL,
     "Call a function with arguments while locks are held."},
    {"before_fork", before_fork, METH_NOARGS, "Wait until no other thread is in OpenMP."},
    {"after_fork", after_fork_in_parent, METH_NOARGS, "Let threads into OpenMP again."},
    {"keep_at_most", symc_keep_at_most, METH_O, "How many bytes of dead results may be kept."},
    {"kept_bytes", symc_kept_bytes, METH_NOARGS, "How many bytes of dead results are kept."},
    {"free_kept", symc_free_kept, METH_NOARGS, "Free what is kept; returns how many bytes."},
    {"stamps", symc_stamps, METH_VARARGS, "Stamps of a folder's files, and its folders."},
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
