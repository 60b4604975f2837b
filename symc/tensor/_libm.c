/* Functions of the C library over arrays, for the interpreter: NumPy has no error functions.

   glibc has them for vectors, too, which differ from those for numbers by 2 units in the last place
   at most (tests/ops/test_reference_values.py). Without this extension `reference_values.py` calls
   `math.erf` for each number, which takes 10 to 50 times as long. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define VECTORS(name) __attribute__((simd("notinbranch"), const)) extern double name(double);
#define EACH                                                                                   \
    __attribute__((target_clones("avx512f", "avx2", "default"),                                \
                   optimize("O3,no-math-errno,no-trapping-math")))
#endif
#endif
#ifndef EACH
#define VECTORS(name)
#define EACH
#endif

#define FUNCTION(name)                                                                         \
    VECTORS(name)                                                                              \
    EACH static void each_##name(const double *from, double *to, Py_ssize_t length)            \
    {                                                                                          \
        for (Py_ssize_t i = 0; i < length; i++) to[i] = name(from[i]);                         \
    }

FUNCTION(erf)
FUNCTION(erfc)

typedef void (*Function)(const double *, double *, Py_ssize_t);

static const struct {
    const char *name;
    Function function;
} functions[] = {{"erf", each_erf}, {"erfc", each_erfc}};

static Function
named(PyObject *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (PyUnicode_CompareWithASCIIString(name, functions[i].name) == 0)
            return functions[i].function;
    PyErr_Format(PyExc_ValueError, "no function %R", name);
    return NULL;
}

/* map(name, source, target): two C-contiguous float64 arrays of one size. */
static PyObject *
map(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "map takes a name and two arrays");
        return NULL;
    }
    Function function = named(args[0]);
    if (function == NULL) return NULL;
    Py_buffer source, target;
    if (PyObject_GetBuffer(args[1], &source, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return NULL;
    if (PyObject_GetBuffer(args[2], &target,
                           PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&source);
        return NULL;
    }
    int fits = strcmp(source.format, "d") == 0 && strcmp(target.format, "d") == 0 &&
               source.len == target.len;
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        function(source.buf, target.buf, source.len / (Py_ssize_t)sizeof(double));
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_TypeError, "map takes two float64 arrays of one size");
    }
    PyBuffer_Release(&source);
    PyBuffer_Release(&target);
    if (!fits) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"map", (PyCFunction)(void (*)(void))map, METH_FASTCALL, "A function of each number."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, .m_name = "symc.tensor._libm",
    .m_doc = "Functions of the C library over arrays.", .m_methods = module_methods,
};

PyMODINIT_FUNC
PyInit__libm(void)
{
    return PyModuleDef_Init(&module_definition);
}
