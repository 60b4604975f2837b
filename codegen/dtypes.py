"""Element types: the dtypes of buffers, for every language symc emits."""

from __future__ import annotations

from typing import Literal, NoReturn, Self

Kind = Literal["bool", "int", "uint", "float", "complex"]


class DType(str):
    """An element type: its name as text, with its properties.

    There is one object for each type, to compare with ``is``. As text it also equals its name, and
    serves wherever NumPy takes a dtype: ``x.dtype == "float32"``, ``np.zeros(3, x.dtype)``.
    """

    __slots__ = ("bits", "kind", "name")
    name: str
    kind: Kind
    bits: int

    def __new__(cls, name: str, kind: Kind, bits: int) -> Self:
        """The type of a name, a kind and a number of bits."""
        made = super().__new__(cls, name)
        for field, value in (("name", name), ("kind", kind), ("bits", bits)):
            object.__setattr__(made, field, value)
        return made

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a dtype cannot be changed: {name}")

    @property
    def bytes(self) -> int:
        """How many bytes one element takes in memory."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether this is a floating-point type."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether this is a signed or unsigned integer type (bool is neither)."""
        return self.kind in ("int", "uint")

    @property
    def is_complex(self) -> bool:
        """Whether this is a type of complex numbers."""
        return self.kind == "complex"

    @property
    def is_inexact(self) -> bool:
        """Whether numbers of this type are rounded, and can be differentiated: float or complex."""
        return self.kind in ("float", "complex")

    @property
    def wide(self) -> DType:
        """The type in which numbers of this one are computed: float32 for those of 16 bits."""
        return FLOAT32 if self.is_only_stored else self

    @property
    def is_only_stored(self) -> bool:
        """Whether nothing is computed in this type: a float of 16 bits."""
        return self.bits == 16 and self.kind == "float"

    @property
    def in_kernels(self) -> DType:
        """The type of the elements that kernels see: of a complex number its parts, of bfloat16
        its bits. Any other type itself."""
        return _IN_KERNELS.get(self.name, self)

    def is_seen_as(self, dtype: DType) -> bool:
        """Whether elements of this type may be of another to kernels: that of `in_kernels`, and of
        float16 its bits, for languages that do not have it."""
        return dtype is self.in_kernels or (self is FLOAT16 and dtype is UINT16)

    @property
    def component(self) -> DType:
        """The type of a complex number's real and imaginary parts; any other type itself."""
        return _COMPONENTS.get(self.name, self)

    def __str__(self) -> str:  # a plain string, not this object
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name.upper()


BOOL = DType("bool", "bool", 1)
INT8 = DType("int8", "int", 8)
INT16 = DType("int16", "int", 16)
INT32 = DType("int32", "int", 32)
INT64 = DType("int64", "int", 64)
UINT8 = DType("uint8", "uint", 8)
UINT16 = DType("uint16", "uint", 16)
UINT32 = DType("uint32", "uint", 32)
UINT64 = DType("uint64", "uint", 64)
FLOAT16 = DType("float16", "float", 16)
BFLOAT16 = DType("bfloat16", "float", 16)
FLOAT32 = DType("float32", "float", 32)
FLOAT64 = DType("float64", "float", 64)
COMPLEX64 = DType("complex64", "complex", 64)
COMPLEX128 = DType("complex128", "complex", 128)
_COMPONENTS = {"complex64": FLOAT32, "complex128": FLOAT64}
_IN_KERNELS = {**_COMPONENTS, "bfloat16": UINT16}

# The dtypes of kernels. Complex numbers are pairs of these to them, bfloat16 is its bits: see
# `passes/expressions/pairs.py` and `passes/expressions/bits.py`.
REAL = (
    BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT16, FLOAT32, FLOAT64,
)  # fmt: skip
ALL = (*REAL, BFLOAT16, COMPLEX64, COMPLEX128)
BY_NAME = {dtype.name: dtype for dtype in ALL}

BLAS_KINDS = ("float32", "float64", "complex64", "complex128")
"""The dtypes of BLAS, LAPACK and Fourier transforms; `lapack.h` has these numbers."""
