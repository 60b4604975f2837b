"""Types of tensors, known before values are: dtype and shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self, cast

import numpy as np

from symc.codegen import dtypes
from symc.codegen.dtypes import DType
from symc.errors import DTypeError, TooLarge
from symc.graph.bfloat16 import is_bfloat16, numpy_bfloat16
from symc.graph.dims import MOST, Dim, Poly, constant_part, fits

# Without bfloat16, whose type in NumPy is of a package that not everybody has.
_TO_NUMPY = {dtype: np.dtype(dtype.name) for dtype in dtypes.ALL if dtype is not dtypes.BFLOAT16}
_FROM_NUMPY = {numpy_dtype: dtype for dtype, numpy_dtype in _TO_NUMPY.items()}


def to_numpy(dtype: DType) -> np.dtype[Any]:
    """NumPy's object for a dtype. Raises `DTypeError` for bfloat16 where ml_dtypes is missing."""
    found = _TO_NUMPY.get(dtype)
    return numpy_bfloat16() if found is None else found


def integer_range(dtype: DType) -> tuple[float, float]:
    """The least and the greatest integer of a dtype; infinite where there is none."""
    if dtype.kind not in ("int", "uint"):
        return -np.inf, np.inf
    known = np.iinfo(to_numpy(dtype))
    return known.min, known.max


def as_dtype(dtype: Any) -> DType:
    """The symc dtype for a name, a NumPy dtype, a NumPy scalar type or a Python type.

    Raises `DTypeError` for dtypes symc does not have (strings, objects, float128).

    >>> as_dtype("float32"), as_dtype(int)
    (float32, int64)
    """
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, str) and dtype == "bfloat16":  # a name that NumPy learns from ml_dtypes
        return dtypes.BFLOAT16
    try:
        return _from_numpy(np.dtype(dtype))
    except (KeyError, TypeError) as error:
        known = " ".join(d.name for d in dtypes.ALL)
        from symc.graph.other_libraries import meant

        near = meant(dtype, known.split())
        raise DTypeError(f"symc has no dtype {dtype!r}; it has {known}{near}") from error


def _from_numpy(dtype: np.dtype[Any]) -> DType:
    return dtypes.BFLOAT16 if is_bfloat16(dtype) else _FROM_NUMPY[dtype.newbyteorder("=")]


def is_known(dtype: np.dtype[Any]) -> bool:
    """Whether symc has a NumPy dtype, in any byte order."""
    return dtype.newbyteorder("=") in _FROM_NUMPY or is_bfloat16(dtype)


def bytes_of(dtype: DType, shape: Iterable[Dim]) -> int:
    """The bytes of an array, of which those axes count whose length is known and not 0.

    NumPy counts so, too: no memory can hold ``np.empty((0, 2**62))``.
    """
    count = dtype.bytes
    for dim in shape:
        if isinstance(dim, int) and dim > 0:
            count *= dim
    return count


def _check_countable(dtype: DType, shape: tuple[Dim, ...]) -> None:
    """Raises `TooLarge` for a shape that no array can have, whatever its unknown lengths are.

    (An unknown length may be 0, and then it does not matter how often it is repeated.)
    """
    known = [constant_part(dim) for dim in shape if isinstance(dim, Poly)]
    if bytes_of(dtype, shape) > MOST or not all(map(fits, known)):
        lengths = ", ".join(map(repr, shape))
        raise TooLarge(f"64 bits cannot count the bytes of {dtype} elements in shape ({lengths})")


class TensorType:
    """A dtype and a shape. Interned: equal types are the same object.

    `shape` has one `Dim` for each axis: an int, or an expression over sizes known at run time.
    """

    __slots__ = ("dtype", "shape")
    dtype: DType
    shape: tuple[Dim, ...]
    _table: ClassVar[dict[tuple[DType, tuple[Dim, ...]], Any]] = {}

    def __new__(cls, dtype: DType, shape: tuple[Dim, ...]) -> Self:
        key = (dtype, shape)
        found = cls._table.get(key)
        if found is None:
            _check_countable(dtype, shape)
            found = super().__new__(cls)
            found.dtype, found.shape = dtype, shape
            # Types with symbolic lengths would keep their inputs alive; those are not interned.
            if all(isinstance(dim, int) for dim in shape):
                cls._table[key] = found
        return cast("Self", found)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorType):
            return NotImplemented
        return self.dtype is other.dtype and self.shape == other.shape

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(repr, self.shape))}]"

    __repr__ = __str__


_KIND_FLOAT = {1: dtypes.FLOAT16, 8: dtypes.FLOAT16, 16: dtypes.FLOAT32, 32: dtypes.FLOAT64}


def promote(*types: DType) -> DType:
    """NumPy 2's result dtype for operands of these dtypes; beside bfloat16 it is JAX's.

    There integers and bool adapt, and every other float makes it float32 or wider.

    >>> promote(dtypes.INT32, dtypes.FLOAT32), promote(dtypes.INT32, dtypes.BFLOAT16)
    (float64, bfloat16)
    >>> promote(dtypes.FLOAT16, dtypes.BFLOAT16)
    float32
    """
    if len(set(types)) == 1:
        return types[0]
    if dtypes.BFLOAT16 in types:
        others = [t for t in types if t.is_inexact and t is not dtypes.BFLOAT16]
        return promote(dtypes.FLOAT32, *others) if others else dtypes.BFLOAT16
    return _FROM_NUMPY[np.result_type(*(_TO_NUMPY[t] for t in types))]


def float_for(dtype: DType) -> DType:
    """The float dtype NumPy computes ``exp`` and so on in: float16 for int8, float64 for int64."""
    return dtype if dtype.is_inexact else _KIND_FLOAT.get(dtype.bits, dtypes.FLOAT64)


def promote_as_floats(*types: DType) -> DType:
    """The dtype that a function of floats computes in, where its arguments have these dtypes.

    Each integer has its own float: int8 and uint8 float16, though together they are int16. Beside
    bfloat16 integers adapt.
    """
    if dtypes.BFLOAT16 in types:
        return promote(*types)
    return promote(*map(float_for, types))


def complex_for(dtype: DType) -> DType:
    """The complex dtype whose parts hold numbers of a dtype: complex64 for float32 and narrower.

    >>> complex_for(dtypes.FLOAT32), complex_for(dtypes.INT8)
    (complex64, complex128)
    """
    if dtype.is_complex:
        return dtype
    narrow = dtype.is_float and dtype.wide is dtypes.FLOAT32
    return dtypes.COMPLEX64 if narrow else dtypes.COMPLEX128


def weak_dtype(value: bool | complex, other: DType) -> DType:
    """The dtype a Python number takes beside a tensor of dtype `other` (NumPy 2, NEP 50)."""
    if isinstance(value, bool):
        return dtypes.BOOL if other is dtypes.BOOL else other
    if isinstance(value, int):
        return dtypes.INT64 if other is dtypes.BOOL else other
    if isinstance(value, complex):
        return complex_for(other)
    return other if other.is_inexact else dtypes.FLOAT64
