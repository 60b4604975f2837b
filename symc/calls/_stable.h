/* CPython's stable ABI of 3.11: one binary for that version and all later ones.
 *
 * What calls of objects by vector need of CPython is in 3.11, too, but has belonged to the stable
 * ABI only since 3.12: its headers leave it out, so it is declared here. See PEP 590. */
#ifndef SYMC_STABLE_H
#define SYMC_STABLE_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif

#include <Python.h>

#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *callable, PyObject *tuple, PyObject *keywords);
PyAPI_FUNC(PyObject *)
    PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names);
typedef PyObject *(*vectorcallfunc)(PyObject *callable, PyObject *const *args, size_t flags,
                                    PyObject *names);
#endif

/* None, with a reference of the caller's. `Py_RETURN_NONE` takes none with headers of 3.12 and later,
 * where None lives forever; in 3.11 it ends with its last reference, and Python with it. */
static inline PyObject *symc_none(void)
{
    return Py_NewRef(Py_None);
}

/* How many arguments there are: the highest bit says that the callee may use the place before. */
static inline Py_ssize_t symc_count_of(size_t flags)
{
    return (Py_ssize_t)(flags & ~((size_t)1 << (8 * sizeof(size_t) - 1)));
}

#endif
