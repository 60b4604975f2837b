/* Functions of the C library over arrays, for the interpreter: NumPy has no error functions.

   Short arrays get exactly what `math.erf` gives, rounded to their type. For long ones glibc has
   functions of vectors, which differ from those by 2 units in the last place at most, by 4 in
   float32, and take a tenth of the time (tests/ops/test_reference_values.py). Without this extension `libm.py` calls
   `math.erf` for each number. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000 /* one binary for 3.11 and later */
#include <Python.h>

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define VECTORS(type, name) __attribute__((simd("notinbranch"), const)) extern type name(type);
#define EACH                                                                                   \
    __attribute__((target_clones("avx512f", "avx2", "default"),                                \
                   optimize("O3,no-math-errno,no-trapping-math")))
#endif
#endif
#ifndef EACH
#define VECTORS(type, name)
#define EACH
#endif

#define LONG 4096 /* numbers */

#define FUNCTION(type, name, exact)                                                            \
    VECTORS(type, name)                                                                        \
    EACH static void long_##name(const type *from, type *to, Py_ssize_t length)                \
    {                                                                                          \
        for (Py_ssize_t i = 0; i < length; i++) to[i] = name(from[i]);                         \
    }                                                                                          \
    static void each_##name(const void *from, void *to, Py_ssize_t length)                     \
    {                                                                                          \
        const type *x = from;                                                                  \
        type *y = to;                                                                          \
        if (length >= LONG) long_##name(x, y, length);                                         \
        else for (Py_ssize_t i = 0; i < length; i++) y[i] = (type)exact(x[i]);                 \
    }

static double (*const volatile exact_erf)(double) = erf; /* never those of vectors */
static double (*const volatile exact_erfc)(double) = erfc;

FUNCTION(double, erf, exact_erf)
FUNCTION(double, erfc, exact_erfc)
FUNCTION(float, erff, exact_erf)
FUNCTION(float, erfcf, exact_erfc)

typedef void (*Function)(const void *, void *, Py_ssize_t);

static const struct {
    const char *name, *format;
    Function function;
} functions[] = {
    {"erf", "d", each_erf},
    {"erfc", "d", each_erfc},
    {"erf", "f", each_erff},
    {"erfc", "f", each_erfcf},
};

static Function
named(PyObject *name, const char *format)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (PyUnicode_CompareWithASCIIString(name, functions[i].name) == 0 &&
            strcmp(format, functions[i].format) == 0)
            return functions[i].function;
    PyErr_Format(PyExc_ValueError, "no function %R of numbers of the format %s", name, format);
    return NULL;
}

/* map(name, source, target): two C-contiguous arrays of one size, of float32 or of float64. */
static PyObject *
map(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "map takes a name and two arrays");
        return NULL;
    }
    Py_buffer source, target;
    if (PyObject_GetBuffer(args[1], &source, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return NULL;
    if (PyObject_GetBuffer(args[2], &target,
                           PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&source);
        return NULL;
    }
    Function function = NULL;
    if (strcmp(source.format, target.format) != 0 || source.len != target.len)
        PyErr_SetString(PyExc_TypeError, "map takes two arrays of one dtype and one size");
    else
        function = named(args[0], source.format);
    if (function != NULL) {
        Py_BEGIN_ALLOW_THREADS
        function(source.buf, target.buf, source.len / source.itemsize);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&source);
    PyBuffer_Release(&target);
    if (function == NULL) return NULL;
    return Py_NewRef(Py_None); /* see `_stable.h` */
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
