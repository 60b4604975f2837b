/* Shared by the files of the call path: callers, and calls in progress. See _call.c. */
#ifndef SYMC_CALL_H
#define SYMC_CALL_H

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL symc_numpy
#ifndef SYMC_HAS_NUMPY /* the file that imports NumPy's table of functions for all */
#define NO_IMPORT_ARRAY
#endif
#include "_stable.h"
#include <structmember.h>

#include <numpy/arrayobject.h>
#include <stdint.h>

#include "_asker.h"
#include "_lock.h"
#include "call.h" /* of codegen/runtime */

#pragma GCC visibility push(hidden)

typedef int64_t (*symc_function)(symc_call *call);

/* The facts about one array that are fixed before a call. */
typedef struct {
    int type;
    int ndim;
    npy_intp *lengths; /* ndim of them, -1 where any will do; NULL where all will do */
    int argument;      /* of an output: whose memory it gets, or -1 */
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
    char tiny, pure, team;
    int64_t threads;
    char *workspace;
    int64_t workspace_bytes;
} Caller;

/* One call in progress: all that the callbacks need, and all that must be released. */
typedef struct Frame {
    struct Frame *outer; /* a call that this one was made from, on the same thread */
    PyObject *locks;     /* those that it holds */
    Caller *caller;      /* NULL, as all below, where Python computes it: see `holding` */
    symc_call *call;
    PyObject **owned; /* inputs that were converted, shared variables, outputs; or NULL */
    PyThreadState *released;
    Asker asker;
} Frame;

typedef union {
    double number;
    int64_t integer;
} Slot;

/* ---- _caller.c ---- */

/* The fields of a CallSpec (spec.py) in the order in which a Caller reads them. */
#define SYMC_FIELDS \
    "prepare run counts inputs shared constants outputs convert failed rebind returns"

extern PyType_Spec symc_caller_spec;
extern PyTypeObject *symc_lock_type;

/* Whether locks are a tuple of pairs (lock, whether it is to be changed); else an error is set. */
int symc_check_locks(PyObject *locks);

/* ---- _values.c ---- */

/* Fill in pointers and lengths of everything that goes in. `owned` receives references. */
int symc_read_inputs(Caller *self, PyObject *const *args, void **data, int64_t *lengths,
                     Slot *slots, PyObject **owned);

/* An array of a kind, uninitialised. */
PyObject *symc_new_array(const Array *wanted, const int64_t *shape);

/* Make the outputs whose lengths are known before the function runs. `inputs` has the pointers. */
int symc_new_outputs(Caller *self, PyObject *const *args, const int64_t *shapes, void **inputs,
                     void **data, PyObject **owned);

/* The result of the call. Rebinds shared variables to the arrays written for them. */
PyObject *symc_finish(Caller *self, PyObject **outputs);

/* ---- _call.c ---- */

PyObject *symc_call_caller(PyObject *callable, PyObject *const *args, size_t flags,
                           PyObject *keywords);

#pragma GCC visibility pop

#endif
