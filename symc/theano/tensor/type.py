"""`TensorType`: a dtype and which axes broadcast; the gate that values go through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof.graph import Variable
from symc.theano.gof.type import Type
from symc.theano.scalar.dtypes import ALL_DTYPES, upcast

_NAMES: dict[tuple[bool, ...], str] = {
    (): "scalar", (False,): "vector", (False, True): "col", (True, False): "row",
    (False, False): "matrix",
}  # fmt: skip


class TensorType(Type):
    """Arrays of a dtype; axes whose flag in `broadcastable` is set have length 1."""

    context_name = "cpu"
    filter_checks_isfinite = False
    Variable: ClassVar[Any] = Variable

    def __init__(
        self, dtype: Any, broadcastable: Sequence[Any], name: str | None = None,
        sparse_grad: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(dtype, str) and dtype == "floatX":
            dtype = config.floatX
        self.dtype = str(dtype) if isinstance(dtype, str) else np.dtype(dtype).name
        if self.dtype not in ALL_DTYPES:
            raise TypeError(f"Unsupported dtype for {type(self).__name__}: {self.dtype}")
        self.broadcastable = tuple(bool(flag) for flag in broadcastable)
        self.numpy_dtype = np.dtype(self.dtype)
        self.name = name
        self.sparse_grad = sparse_grad

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.broadcastable)

    def clone(self, dtype: Any = None, broadcastable: Any = None) -> Any:
        """The type with another dtype or other flags."""
        flags = self.broadcastable if broadcastable is None else broadcastable
        return type(self)(self.dtype if dtype is None else dtype, flags, name=self.name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorType):
            return False
        return self.dtype == other.dtype and self.broadcastable == other.broadcastable

    def __hash__(self) -> int:
        return hash((TensorType, self.dtype, self.broadcastable))

    # --- values -----------------------------------------------------------------------------------

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, Variable):
            raise TypeError(
                "Expected an array-like object, but found a Variable: maybe you are trying to "
                "call a function on a (possibly shared) variable instead of a numeric array?"
            )
        if strict:
            if not isinstance(data, np.ndarray):
                raise TypeError(f"{self} expected a ndarray object.", data, type(data))
            if data.dtype != self.numpy_dtype:
                raise TypeError(
                    f"{self} expected a ndarray object with dtype = {self.numpy_dtype} "
                    f"(got {data.dtype})."
                )
        else:
            data = self._converted(data, allow_downcast)
        return self._with_shape(data)

    def _converted(self, data: Any, allow_downcast: bool | None) -> Any:
        """The value as an array of the type's dtype, if that loses nothing or is allowed."""
        if type(data) is np.ndarray and data.dtype == self.numpy_dtype:
            return data
        if allow_downcast or isinstance(data, np.memmap):
            return np.asarray(np.asarray(data), dtype=self.dtype)  # integers wrap
        if isinstance(data, np.ndarray | np.generic):
            if upcast(self.dtype, data.dtype.name) == self.dtype:
                return np.asarray(data, dtype=self.dtype)
            raise TypeError(
                f"{self} cannot store a value of dtype {data.dtype} without risking loss of "
                "precision. If you do not mind this loss, you can: 1) explicitly cast your data "
                f'to {self.dtype}, or 2) set "allow_input_downcast=True" when calling "function". '
                f"Value: {data!r}"
            )
        if allow_downcast is None and type(data) is float and self.dtype == config.floatX:
            return np.asarray(data, dtype=self.dtype)
        if self.dtype == "bool" and not isinstance(data, bool | list | tuple):
            raise TypeError(f"{self} cannot store the value {data!r}")
        up = np.asarray(data)
        converted = up.astype(self.dtype)
        same = (up == converted) | ((up != up) & (converted != converted))
        if up.size and not np.all(same):
            raise TypeError(
                f"{self} cannot store accurately value {data}, it would be represented as "
                f"{converted}. If you do not mind this precision loss, you can: 1) explicitly "
                "convert your data to a numpy array of dtype "
                f'{self.dtype}, or 2) set "allow_input_downcast=True" when calling "function".'
            )
        return converted

    def _with_shape(self, data: Any) -> Any:
        if data.ndim != self.ndim:
            raise TypeError(
                f"Wrong number of dimensions: expected {self.ndim}, got {data.ndim} with shape "
                f"{data.shape}."
            )
        if not data.flags.aligned:
            raise TypeError(
                "The numpy.ndarray object is not aligned. Theano C code does not support that."
            )
        for flag, length in zip(self.broadcastable, data.shape, strict=True):
            if flag and length != 1:
                raise TypeError(
                    "Non-unit value on shape on a broadcastable dimension.",
                    data.shape, self.broadcastable,
                )  # fmt: skip
        if self.filter_checks_isfinite and not np.all(np.isfinite(data)):
            raise ValueError("non-finite elements not allowed")
        return data

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Any:
        if not isinstance(other, Variable):
            other = type(self).Constant(type=self, data=other)
        if other.type == self:
            return other
        if allow_convert:
            converted = self.convert_variable(other)
            if converted is not None:
                return converted
        raise TypeError(
            f"Cannot convert Type {other.type} (of Variable {other}) into Type {self}. You can "
            f"try to manually convert {other} into a {self}."
        )

    def convert_variable(self, var: Any) -> Any:
        if not isinstance(var.type, TensorType):
            return None
        if var.type == self:
            return var
        flags = zip(self.broadcastable, var.broadcastable, strict=False)
        fits = var.dtype == self.dtype and var.ndim == self.ndim
        if fits and all(its or not own for own, its in flags):
            from symc.theano.tensor.shaping import patternbroadcast

            return patternbroadcast(var, self.broadcastable)
        return None

    def value_validity_msg(self, a: Any) -> str:
        try:
            self.filter(a, strict=True)
        except (TypeError, ValueError) as error:
            return str(error)
        return "value is valid"

    @classmethod
    def values_eq(cls, a: Any, b: Any, force_same_dtype: bool = True) -> bool:
        if a.shape != b.shape or (force_same_dtype and a.dtype != b.dtype):
            return False
        return bool(np.all((a == b) | ((a != a) & (b != b))))

    @classmethod
    def values_eq_approx(
        cls, a: Any, b: Any, allow_remove_inf: bool = False, allow_remove_nan: bool = False,
        rtol: float | None = None, atol: float | None = None,
    ) -> bool:  # fmt: skip
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind not in "fc":
            return bool(np.all(a == b))
        wide = a.dtype in (np.float64, np.complex128)
        rtol = rtol or (1e-5 if wide else 1e-3)
        atol = atol or (1e-8 if wide else 1e-5)
        ignore = (allow_remove_inf & np.isinf(a)) | (allow_remove_nan & np.isnan(a))
        return bool(np.all(ignore | np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)))

    def value_zeros(self, shape: Any) -> Any:
        """An array of zeros of this type."""
        return np.zeros(shape, dtype=self.dtype)

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Whether two values may lie in the same memory."""
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return False
        return bool(np.may_share_memory(a, b))

    # --- symc's view, and text --------------------------------------------------------------------

    def symbol(self, name: str | None) -> Tensor:
        return T.tensor(self.dtype, tuple(1 if flag else None for flag in self.broadcastable), name)

    def encoded(self, value: Any) -> Any:
        return np.asarray(value, dtype=self.dtype)

    def overwrite(self, argument: Any, new: Any) -> None:
        if argument.shape == new.shape and argument.flags.writeable:
            np.copyto(argument, new)

    def __str__(self) -> str:
        if self.name:
            return self.name
        flags = self.broadcastable
        known = _NAMES.get(flags)
        if known is None:
            shown = str(flags) if any(flags) else f"{len(flags)}D"
            known = shown if any(flags) else f"{len(flags)}D"
        return f"TensorType({self.dtype}, {known})"

    def __repr__(self) -> str:
        return str(self)
