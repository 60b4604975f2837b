/* Values of a call: Python's arguments to pointers and lengths, new arrays to returned objects. */
#include "_call.h"

#include <string.h>

#include "_kept.h"

/* ---- arguments ---- */

/* Whether the compiled function can use this array's memory as it is. */
static int
fits(PyArrayObject *array, const Array *wanted)
{
    int type = PyArray_TYPE(array);
    if (PyArray_NDIM(array) != wanted->ndim ||
        (type != wanted->type && !PyArray_EquivTypenums(type, wanted->type)) ||
        !PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) ||
        !PyArray_ISNOTSWAPPED(array))
        return 0;
    if (wanted->lengths != NULL)
        for (int axis = 0; axis < wanted->ndim; axis++)
            if (wanted->lengths[axis] >= 0 && wanted->lengths[axis] != PyArray_DIM(array, axis))
                return 0;
    return 1;
}

/* Up to here every integer is a double, and none that rounds to one of these is another. */
#define EXACT 9007199254740991.0

/* A Python number for a 0-d input goes to a slot on the stack; 0 where that is not possible. */
static int
fits_slot(PyObject *value, const Array *wanted, Slot *slot)
{
    if (wanted->ndim != 0) return 0;
    if (wanted->type == NPY_DOUBLE) {
        if (PyFloat_Check(value)) { /* np.float64 too */
            slot->number = PyFloat_AsDouble(value);
            return 1;
        }
        if (!PyLong_CheckExact(value)) return 0;
        slot->number = PyLong_AsDouble(value);
        if (slot->number >= -EXACT && slot->number <= EXACT &&
            (slot->number != -1.0 || !PyErr_Occurred()))
            return 1;
    } else if ((wanted->type == NPY_LONG && sizeof(long) == 8) || wanted->type == NPY_LONGLONG) {
        if (!PyLong_CheckExact(value)) return 0;
        slot->integer = PyLong_AsLongLong(value);
        if (slot->integer != -1 || !PyErr_Occurred()) return 1;
    } else {
        return 0;
    }
    PyErr_Clear(); /* too large: convert() decides, and says it better */
    return 0;
}

/* The array that `convert` makes of an argument that cannot be used directly: new, or NULL. */
static PyObject *
converted(Caller *self, Py_ssize_t index, PyObject *value)
{
    PyObject *number = PyLong_FromSsize_t(index);
    if (number == NULL) return NULL;
    PyObject *result = PyObject_CallFunctionObjArgs(self->convert, number, value, NULL);
    Py_DECREF(number);
    if (result == NULL) return NULL;
    if (!PyArray_Check(result) || !fits((PyArrayObject *)result, &self->arrays[index])) {
        PyErr_Format(PyExc_TypeError, "argument %zd was not converted to the right array", index);
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

/* Copy arguments that lie in the memory of a shared variable: the function may write it before it
   has read them. Only views of a variable's own array are there. All of them are contiguous. */
static int
take_apart(Caller *self, PyObject *const *args, void **data, PyObject **owned)
{
    for (Py_ssize_t i = 0; i < self->input_count; i++) {
        PyObject *mine = owned[i] != NULL ? owned[i] : args[i];
        if (!PyArray_Check(mine)) continue; /* a number on the stack */
        const char *low = data[i], *high = low + PyArray_NBYTES((PyArrayObject *)mine);
        for (Py_ssize_t j = self->input_count; j < self->input_count + self->shared_count; j++) {
            const char *others = data[j];
            if (others >= high || others + PyArray_NBYTES((PyArrayObject *)owned[j]) <= low)
                continue;
            PyObject *copy = PyArray_NewCopy((PyArrayObject *)mine, NPY_CORDER);
            if (copy == NULL) return -1;
            Py_XDECREF(owned[i]);
            owned[i] = copy;
            data[i] = PyArray_DATA((PyArrayObject *)copy);
            break;
        }
    }
    return 0;
}

int
symc_read_inputs(Caller *self, PyObject *const *args, void **data, int64_t *lengths, Slot *slots,
                 PyObject **owned)
{
    void **pointers = data;
    for (Py_ssize_t i = 0; i < self->input_count; i++) {
        PyObject *value = args[i];
        const Array *wanted = &self->arrays[i];
        if (!PyArray_CheckExact(value) || !fits((PyArrayObject *)value, wanted)) {
            if (fits_slot(value, wanted, &slots[i])) {
                *data++ = &slots[i];
                continue;
            }
            value = owned[i] = converted(self, i, value);
            if (value == NULL) return -1;
        }
        *data++ = PyArray_DATA((PyArrayObject *)value);
        for (int axis = 0; axis < wanted->ndim; axis++)
            *lengths++ = PyArray_DIM((PyArrayObject *)value, axis);
    }
    for (Py_ssize_t i = 0; i < self->shared_count; i++) {
        PyObject *list = PyTuple_GetItem(self->shared, i);
        const Array *wanted = &self->arrays[self->input_count + i];
        PyObject *value = PyList_Size(list) == 1 ? PyList_GetItem(list, 0) : NULL;
        if (value == NULL || !PyArray_Check(value) || !fits((PyArrayObject *)value, wanted)) {
            PyErr_Format(PyExc_TypeError, "shared variable %zd holds another kind of array", i);
            return -1;
        }
        owned[self->input_count + i] = Py_NewRef(value); /* others may rebind it meanwhile */
        *data++ = PyArray_DATA((PyArrayObject *)value);
        for (int axis = 0; axis < wanted->ndim; axis++)
            *lengths++ = PyArray_DIM((PyArrayObject *)value, axis);
    }
    for (Py_ssize_t i = 0; i < self->constant_count; i++)
        *data++ = PyArray_DATA((PyArrayObject *)PyTuple_GetItem(self->constants, i));
    return self->pure ? 0 : take_apart(self, args, pointers, owned);
}

/* ---- outputs ---- */

/* An uninitialised array whose memory is that of a dead result, or will be kept for later ones. */
static PyObject *
new_kept_array(const Array *wanted, npy_intp *lengths)
{
    PyObject *own = symc_kept_handler();
    PyObject *usual = own == NULL ? NULL : PyDataMem_SetHandler(own);
    if (usual == NULL) return NULL;
    if (usual != PyDataMem_DefaultHandler) { /* the user has another one, who is to have it */
        Py_DECREF(own = PyDataMem_SetHandler(usual));
        PyObject *array = PyArray_EMPTY(wanted->ndim, lengths, wanted->type, 0);
        Py_DECREF(usual);
        return array;
    }
    PyObject *array = PyArray_EMPTY(wanted->ndim, lengths, wanted->type, 0);
    own = PyDataMem_SetHandler(usual);
    Py_DECREF(usual);
    Py_XDECREF(own);
    if (own == NULL) Py_CLEAR(array);
    return array;
}

PyObject *
symc_new_array(const Array *wanted, const int64_t *shape)
{
    npy_intp lengths[NPY_MAXDIMS];
    double count = 1;
    for (int axis = 0; axis < wanted->ndim; axis++) {
        lengths[axis] = (npy_intp)shape[axis];
        count *= (double)shape[axis];
    }
    if (count >= SYMC_KEPT_FROM) return new_kept_array(wanted, lengths);
    return PyArray_EMPTY(wanted->ndim, lengths, wanted->type, 0);
}

/* The first byte of an array's elements, and the first one after all of them. */
static void
find_bounds(PyArrayObject *array, const char **low, const char **high)
{
    *low = *high = PyArray_BYTES(array);
    if (PyArray_SIZE(array) == 0) return;
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        npy_intp reach = (PyArray_DIM(array, axis) - 1) * PyArray_STRIDE(array, axis);
        *(reach < 0 ? low : high) += reach;
    }
    *high += PyArray_ITEMSIZE(array);
}

/* Whether two arrays may have memory in common. */
static int
overlap(PyObject *one, PyObject *other)
{
    const char *low, *high, *others_low, *others_high;
    find_bounds((PyArrayObject *)one, &low, &high);
    find_bounds((PyArrayObject *)other, &others_low, &others_high);
    return low < others_high && others_low < high;
}

/* Whether an argument that was given away may be overwritten: not if another one lies there. */
static int
may_overwrite(Caller *self, PyObject *const *args, PyObject **owned, Py_ssize_t argument)
{
    PyObject *mine = owned[argument] != NULL ? owned[argument] : args[argument];
    if (!PyArray_ISWRITEABLE((PyArrayObject *)mine)) return 0;
    for (Py_ssize_t i = 0; i < self->input_count + self->shared_count; i++) {
        /* As the caller gave it: a view that is not contiguous was copied, and must stay, too. */
        PyObject *other = i < self->input_count ? args[i] : owned[i];
        if (i != argument && PyArray_Check(other) && overlap(mine, other)) return 0;
    }
    return 1;
}

/* An output that begins as an argument: the argument's array, or a new one with its elements. */
static PyObject *
begun_output(Caller *self, PyObject *const *args, const Array *wanted, const int64_t *shape,
             const void *elements, PyObject **owned)
{
    if (may_overwrite(self, args, owned, wanted->argument)) {
        PyObject *given = owned[wanted->argument];
        return Py_NewRef(given != NULL ? given : args[wanted->argument]);
    }
    PyObject *array = symc_new_array(wanted, shape);
    if (array != NULL)
        memcpy(PyArray_DATA((PyArrayObject *)array), elements,
               (size_t)PyArray_NBYTES((PyArrayObject *)array));
    return array;
}

int
symc_new_outputs(Caller *self, PyObject *const *args, const int64_t *shapes, void **inputs,
                 void **data, PyObject **owned)
{
    Py_ssize_t given = self->input_count + self->shared_count;
    for (Py_ssize_t i = 0; i < self->output_count; i++) {
        const Array *wanted = &self->arrays[given + i];
        const int64_t *shape = shapes;
        shapes += wanted->ndim;
        int later = 0;
        for (int axis = 0; axis < wanted->ndim; axis++) later |= shape[axis] == -1;
        if (later) {
            data[i] = NULL;
            continue;
        }
        owned[given + i] = wanted->argument < 0
                               ? symc_new_array(wanted, shape)
                               : begun_output(self, args, wanted, shape, inputs[wanted->argument],
                                              owned);
        if (owned[given + i] == NULL) return -1;
        data[i] = PyArray_DATA((PyArrayObject *)owned[given + i]);
    }
    return 0;
}

static int
check_outputs(Caller *self, PyObject **outputs)
{
    for (Py_ssize_t i = 0; i < self->output_count; i++)
        if (outputs[i] == NULL) {
            PyErr_Format(PyExc_RuntimeError, "output %zd was never measured", i);
            return -1;
        }
    return 0;
}

PyObject *
symc_finish(Caller *self, PyObject **outputs)
{
    if (check_outputs(self, outputs) < 0) return NULL;
    PyObject *result;
    if (self->returns == RETURN_ONE) {
        result = Py_NewRef(outputs[0]);
    } else if (self->returns == RETURN_NONE) {
        result = Py_NewRef(Py_None);
    } else {
        result = PyList_New(self->returned);
        if (result == NULL) return NULL;
        for (Py_ssize_t i = 0; i < self->returned; i++)
            PyList_SetItem(result, i, Py_NewRef(outputs[i]));
    }
    for (Py_ssize_t i = 0; i < self->rebind_count; i++) {
        PyObject *pair = PyTuple_GetItem(self->rebind, i);
        Py_ssize_t output = PyLong_AsSsize_t(PyTuple_GetItem(pair, 0));
        PyObject *list = PyTuple_GetItem(pair, 1);
        if (PyList_SetItem(list, 0, Py_NewRef(outputs[output])) < 0) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}
