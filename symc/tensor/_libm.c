/* Functions of the C library over arrays, for the interpreter: NumPy has no error functions.

   Short arrays get exactly what `math.erf` gives. For long ones glibc has functions of vectors,
   which differ from those by 2 units in the last place at most, and take a tenth of the time
   (tests/ops/test_reference_values.py). Without this extension `libm.py` calls `math.erf` for each
   number. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000 /* one binary for 3.11 and later */
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

#define LONG 4096 /* numbers */

#define FUNCTION(name)                                                                         \
    VECTORS(name)                                                                              \
    static double (*const volatile number_##name)(double) = name; /* never that of vectors */  \
    EACH static void long_##name(const double *from, double *to, Py_ssize_t length)            \
    {                                                                                          \
        for (Py_ssize_t i = 0; i < length; i++) to[i] = name(from[i]);                         \
    }                                                                                          \
    static void each_##name(const double *from, double *to, Py_ssize_t length)                 \
    {                                                                                          \
        if (length >= LONG) long_##name(from, to, length);                                     \
        else for (Py_ssize_t i = 0; i < length; i++) to[i] = number_##name(from[i]);           \
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
