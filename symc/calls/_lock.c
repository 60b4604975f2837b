/* Locks of shared variables: many calls may read a variable at a time, or one thread change it.
 *
 * Whoever takes or releases a lock has the GIL, so its state is plain numbers, and to take one that is
 * free costs some nanoseconds. Who has to wait releases the GIL and looks again, after 1 ms at most.
 */
#include "_lock.h"

#include <structmember.h>
#include <time.h>

static long family = 1;

void
symc_lock_after_fork(void)
{
    family++;
}

static void
refresh(Lock *lock)
{
    if (lock->family == family) return;
    lock->readers = lock->depth = lock->waiting = lock->hungry = lock->next = 0;
    lock->writer = 0;
    lock->family = family;
}

/* Wait a little, longer each time. */
static int
rest(long *nanoseconds)
{
    struct timespec time = {0, *nanoseconds};
    Py_BEGIN_ALLOW_THREADS
    nanosleep(&time, NULL);
    Py_END_ALLOW_THREADS
    if (*nanoseconds < 1000000) *nanoseconds *= 2;
    return PyErr_CheckSignals();
}

int
symc_lock_read(Lock *lock, int nested)
{
    refresh(lock);
    if (lock->depth != 0 || lock->waiting != 0) {
        unsigned long own = PyThread_get_thread_ident();
        long pause = 20000;
        int status = 0;
        lock->hungry++;
        /* Who has a lock must not wait for those that wait for it. */
        while (status == 0 && ((lock->depth != 0 && lock->writer != own) ||
                               (lock->waiting != 0 && lock->next == 0 && !nested)))
            status = rest(&pause);
        if (lock->next > 0) lock->next--;
        lock->hungry--;
        if (status < 0) return -1;
    }
    lock->readers++;
    return 0;
}

int
symc_lock_write(Lock *lock, Py_ssize_t own)
{
    unsigned long thread = PyThread_get_thread_ident();
    refresh(lock);
    if (lock->readers > own || lock->next > 0 || (lock->depth != 0 && lock->writer != thread)) {
        long pause = 20000;
        int status = 0;
        lock->waiting++;
        while (status == 0 && (lock->readers > own || lock->next > 0 ||
                               (lock->depth != 0 && lock->writer != thread)))
            status = rest(&pause);
        lock->waiting--;
        if (status < 0) return -1;
    }
    lock->writer = thread;
    lock->depth++;
    return 0;
}

void
symc_unlock_read(Lock *lock)
{
    if (lock->family == family && lock->readers > 0) lock->readers--;
}

void
symc_unlock_write(Lock *lock)
{
    if (lock->family != family || lock->depth == 0 || --lock->depth > 0) return;
    lock->next = lock->hungry; /* or a loop of updates would let nobody read */
}

/* ---- for Python: `with lock:` nobody changes the variable ---- */

static PyObject *
lock_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (symc_lock_read((Lock *)self, 1) < 0) return NULL;
    return symc_none();
}

static PyObject *
lock_exit(PyObject *self, PyObject *unused)
{
    (void)unused;
    symc_unlock_read((Lock *)self);
    return symc_none();
}

static void
lock_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef lock_methods[] = {
    {"__enter__", lock_enter, METH_NOARGS, "Wait until no other thread changes the variable."},
    {"__exit__", lock_exit, METH_VARARGS, "Let it change again."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot lock_slots[] = {
    {Py_tp_doc, "The lock of a shared variable; see symc/graph/locks.py."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, lock_dealloc},
    {Py_tp_methods, lock_methods},
    {0, NULL},
};

PyType_Spec symc_lock_spec = {
    .name = "symc._call.Lock",
    .basicsize = sizeof(Lock),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = lock_slots,
};
