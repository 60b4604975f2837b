"""`Scalar`: the type of numbers, and their variables."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.type import Type
from symc.theano.scalar.dtypes import ALL_DTYPES, convert, upcast


class Scalar(Type):
    """Numbers of a dtype."""

    __props__ = ("dtype",)
    ndim = 0
    Variable: ClassVar[Any]
    Constant: ClassVar[Any]

    def __init__(self, dtype: str) -> None:
        self.dtype = config.floatX if dtype == "floatX" else str(dtype)
        if self.dtype not in ALL_DTYPES:
            raise TypeError(f"Unsupported dtype for {type(self).__name__}: {self.dtype}")

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """Numbers have no axes."""
        return ()

    def clone(self, dtype: str | None = None) -> Scalar:
        """The type with another dtype."""
        return type(self)(dtype or self.dtype)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        kind = np.dtype(self.dtype).type
        if strict and not isinstance(data, kind):
            raise TypeError(f"{self} expected a {kind}, got {data!r} of type {type(data)}")
        converted = kind(data)
        plain = allow_downcast is None and type(data) is float and self.dtype == config.floatX
        if allow_downcast or plain or self.dtype == upcast(self.dtype, np.asarray(data).dtype.name):
            return converted
        if converted != data:
            raise TypeError(f"Value cannot accurately be converted to dtype ({self.dtype})")
        return converted

    @classmethod
    def values_eq_approx(cls, a: Any, b: Any, tolerance: float = 1e-4) -> bool:
        return bool(abs(a - b) <= abs(a + b) * tolerance) if a != b else True

    def symbol(self, name: str | None) -> Tensor:
        return T.tensor(self.dtype, (), name)

    def encoded(self, value: Any) -> Any:
        return np.asarray(value, dtype=self.dtype)

    def decoded(self, array: Any) -> Any:
        return np.dtype(self.dtype).type(array)

    def dtype_specs(self) -> tuple[Any, str, str]:
        """The dtype as NumPy's class, in C, and as a member of NumPy's enumeration."""
        name = np.dtype(self.dtype)
        return name.type, f"npy_{self.dtype}", f"NPY_{self.dtype.upper()}"

    def upcast(self, *others: Scalar) -> str:
        """The dtype that can hold the numbers of all these types."""
        return upcast(self.dtype, *(each.dtype for each in others))

    def __str__(self) -> str:
        return self.dtype

    def __repr__(self) -> str:
        return f"Scalar({self.dtype})"


def _op(name: str) -> Any:
    from symc.theano.scalar import basic

    return getattr(basic, name)


class _scalar_py_operators:
    """Operators on variables that are numbers."""

    type: Any
    ndim = 0
    dtype = property(lambda self: self.type.dtype)
    broadcastable = ()

    def __abs__(self) -> Any:
        return _op("abs_")(self)

    def __neg__(self) -> Any:
        return _op("neg")(self)

    def __invert__(self) -> Any:
        return _op("invert")(self)

    def __and__(self, other: Any) -> Any:
        return _op("and_")(self, other)

    def __or__(self, other: Any) -> Any:
        return _op("or_")(self, other)

    def __xor__(self, other: Any) -> Any:
        return _op("xor")(self, other)

    def __lt__(self, other: Any) -> Any:
        return _op("lt")(self, other)

    def __le__(self, other: Any) -> Any:
        return _op("le")(self, other)

    def __gt__(self, other: Any) -> Any:
        return _op("gt")(self, other)

    def __ge__(self, other: Any) -> Any:
        return _op("ge")(self, other)

    def __add__(self, other: Any) -> Any:
        return _op("add")(self, other)

    def __sub__(self, other: Any) -> Any:
        return _op("sub")(self, other)

    def __mul__(self, other: Any) -> Any:
        return _op("mul")(self, other)

    def __truediv__(self, other: Any) -> Any:
        return _op("true_div")(self, other)

    def __floordiv__(self, other: Any) -> Any:
        return _op("int_div")(self, other)

    def __mod__(self, other: Any) -> Any:
        return _op("mod")(self, other)

    def __pow__(self, other: Any) -> Any:
        return _op("pow")(self, other)

    def __radd__(self, other: Any) -> Any:
        return _op("add")(other, self)

    def __rsub__(self, other: Any) -> Any:
        return _op("sub")(other, self)

    def __rmul__(self, other: Any) -> Any:
        return _op("mul")(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return _op("true_div")(other, self)

    def __rmod__(self, other: Any) -> Any:
        return _op("mod")(other, self)

    def __rpow__(self, other: Any) -> Any:
        return _op("pow")(other, self)

    def zeros_like(self, dtype: str | None = None) -> Any:
        """Zero."""
        return _op("second")(self, constant(0, dtype=dtype or self.type.dtype))

    def ones_like(self, dtype: str | None = None) -> Any:
        """One."""
        return _op("second")(self, constant(1, dtype=dtype or self.type.dtype))

    def astype(self, dtype: str) -> Any:
        """The number with another dtype."""
        return _op("cast")(self, dtype)


class ScalarVariable(_scalar_py_operators, Variable):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A number."""

    __hash__ = object.__hash__


class ScalarConstant(_scalar_py_operators, Constant):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A number that is known."""

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.name or f"Constant{{{self.data}}}"


Scalar.Variable, Scalar.Constant = ScalarVariable, ScalarConstant


def get_scalar_type(dtype: str) -> Scalar:
    """The type of numbers of a dtype."""
    return TYPES[dtype]


TYPES = {dtype: Scalar(dtype) for dtype in ALL_DTYPES}


def constant(x: Any, name: str | None = None, dtype: str | None = None) -> ScalarConstant:
    """A number that is known."""
    value = convert(x, dtype)
    assert value.ndim == 0, "a scalar constant is one number"
    return ScalarConstant(get_scalar_type(value.dtype.name), value[()], name=name)


def as_scalar(x: Any, name: str | None = None) -> Any:
    """A variable that is a number, for one, for a 0-d tensor or for a value."""
    if isinstance(x, Apply):
        if len(x.outputs) != 1:
            raise ValueError("It is ambiguous which output of a multi-output Op to use.", x)
        x = x.outputs[0]
    if not isinstance(x, Variable):
        return constant(x, name)
    if isinstance(x.type, Scalar):
        return x
    if getattr(x.type, "ndim", None) != 0:
        raise TypeError("Variable type field must be a Scalar.", x, x.type)
    from symc.theano.tensor.scalar_ops import scalar_from_tensor

    return scalar_from_tensor(x)
