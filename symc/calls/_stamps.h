/* Stamps of files, without reading them. See _stamps.c. */
#ifndef SYMC_STAMPS_H
#define SYMC_STAMPS_H

#define PY_SSIZE_T_CLEAN
#include "_stable.h"

/* stamps(folder, endings): see `codegen/targets/stamps.py`. */
__attribute__((visibility("hidden"))) PyObject *symc_stamps(PyObject *module, PyObject *args);

#endif
