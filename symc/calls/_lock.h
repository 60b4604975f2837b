/* Locks of shared variables. See _lock.c. */
#ifndef SYMC_LOCK_H
#define SYMC_LOCK_H

#include "_stable.h"

typedef struct {
    PyObject_HEAD
    Py_ssize_t readers; /* calls that read the variable */
    Py_ssize_t depth;   /* of calls of `writer` that change it, one in another */
    Py_ssize_t waiting; /* threads that want to change it */
    Py_ssize_t hungry;  /* threads that want to read it, */
    Py_ssize_t next;    /* and how many of them come before the next that changes it */
    unsigned long writer;
    long family; /* a child of fork has none of its parent's threads */
} Lock;

extern PyType_Spec symc_lock_spec;

/* All of these need the GIL. Taking a lock may release it; -1 if a signal's handler raised meanwhile.
 * `nested`: whether this thread has locks already. `own`: how often this thread reads by now. */
int symc_lock_read(Lock *lock, int nested);
int symc_lock_write(Lock *lock, Py_ssize_t own);
void symc_unlock_read(Lock *lock);
void symc_unlock_write(Lock *lock);
void symc_lock_after_fork(void);

#endif
