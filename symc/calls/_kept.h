/* Memory of results: that of dead ones is kept, and given to later ones. See _kept.c. */
#ifndef SYMC_KEPT_H
#define SYMC_KEPT_H

#define PY_SSIZE_T_CLEAN
#include "_stable.h"

#pragma GCC visibility push(hidden)

/* Results of fewer elements are NumPy's affair: the C library has memory of that size at hand. */
#define SYMC_KEPT_FROM 16384

/* NumPy's description of these functions, as a capsule; NULL with an error. Lives for ever. */
PyObject *symc_kept_handler(void);

/* Functions for Python: see symc/calls/kept.py. */
PyObject *symc_keep_at_most(PyObject *module, PyObject *bytes);
PyObject *symc_kept_bytes(PyObject *module, PyObject *unused);
PyObject *symc_free_kept(PyObject *module, PyObject *unused);

#pragma GCC visibility pop

#endif
