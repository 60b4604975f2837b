"""The base of reductions: by a scalar op, with dtypes of the result and of the sum so far."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np

import symc
import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.scalar.basic import SCALAR_OPS
from symc.theano.scalar.dtypes import continuous_dtypes, discrete_dtypes, upcast
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


def axes_of(axis: Any, ndim: int) -> tuple[int, ...] | None:
    """The axes that are meant, None for all. Raises ValueError or TypeError for other values."""
    if axis is None:
        return None
    if isinstance(axis, Variable):
        if not isinstance(axis, Constant):
            raise TypeError(f"axis must be a constant. Got {axis}")
        axis = axis.data
        if axis is None:
            return None
    given: Any = [axis] if np.ndim(axis) == 0 else list(axis)
    found: list[int] = []
    for each in given:
        value = each.data if isinstance(each, Constant) else each
        if int(value) != value:
            raise TypeError(f"axis must be an integer, not {each!r}")
        position = int(value) + ndim if int(value) < 0 else int(value)
        if not 0 <= position < ndim:
            raise ValueError(f"Not enough dimensions: axis {each} of a tensor of {ndim} axes")
        if position not in found:
            found.append(position)
    return tuple(sorted(found))


def _kept(flags: Sequence[bool], axis: tuple[int, ...] | None) -> list[bool]:
    if axis is None:
        return []
    return [flag for position, flag in enumerate(flags) if position not in axis]


def _as_tuple(axis: Any) -> tuple[int, ...] | None:
    if isinstance(axis, int | np.integer):
        axis = (int(axis),)
    return None if axis is None else tuple(axis)


class CAReduce(Op):
    """A reduction along some axes (None: all) by an associative and commutative scalar op."""

    __props__: tuple[str, ...] = ("scalar_op", "axis")

    def __init__(self, scalar_op: Any, axis: Any = None, **_: Any) -> None:
        if scalar_op.nin not in (-1, 2) or scalar_op.nout != 1:
            raise NotImplementedError(
                "CAReduce only supports binary functions with a single output."
            )
        self.scalar_op, self.axis = scalar_op, _as_tuple(axis)

    def output_dtype(self, dtype: str) -> str:
        """The dtype of the result."""
        return str(self.scalar_op.output_dtypes([dtype, dtype])[0])

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        """The result as a symc expression."""
        whole = tuple(range(x.ndim)) if axis is None else axis
        if not whole:
            return x
        usual = _FOLDS.get(str(self.scalar_op))
        if usual is not None:
            return T.cast(usual(x, axis=whole), self.output_dtype(x.dtype.name))
        step = np.frompyfunc(self.scalar_op.impl, 2, 1)

        def fold(array: Any) -> Any:
            made = np.asarray(step.reduce(array, axis=whole))
            return made.astype(self.output_dtype(array.dtype.name))

        def alike(array: Tensor) -> Tensor:
            dtype = self.output_dtype(array.dtype.name)
            return T.cast(T.any(T.zeros_like(array, dtype="bool"), axis=whole), dtype)

        folded: Tensor = symc.op(fold, output=alike, name="CAReduce")(x)
        return folded

    def make_node(self, input: Any) -> Apply:
        x = as_tensor_variable(input)
        axis = axes_of(self.axis, x.ndim)
        made = TensorType(self.output_dtype(x.dtype), _kept(x.broadcastable, axis))
        return Apply(self, [x], [made()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x = inputs[0]
        axis = axes_of(self.axis, x.ndim)
        return [self.reduce(x, tuple(range(x.ndim)) if axis is None else axis)]


_FOLDS: dict[str, Any] = {
    "add": T.sum, "mul": T.prod, "maximum": T.max, "minimum": T.min,
}  # fmt: skip
_WIDE = {"float16": "float32", "float32": "float64", "complex64": "complex128"}
_INTEGERS = {
    "bool": "int64", "int8": "int64", "int16": "int64", "int32": "int64",
    "uint8": "uint64", "uint16": "uint64", "uint32": "uint64",
}  # fmt: skip


class CAReduceDtype(CAReduce):
    """A reduction with a dtype of its result and one to accumulate in."""

    __props__: tuple[str, ...] = ("scalar_op", "axis", "dtype", "acc_dtype")

    def __init__(
        self, scalar_op: Any, axis: Any = None, dtype: Any = None, acc_dtype: Any = None
    ) -> None:
        super().__init__(scalar_op, axis)
        self.dtype = dtype_name(dtype)
        self.acc_dtype = dtype_name(acc_dtype)

    def make_node(self, input: Any) -> Apply:
        x = as_tensor_variable(input)
        dtypes = self.output_dtype(x.dtype), self._accumulator(x.dtype)
        if dtypes == (self.dtype, self.acc_dtype):
            return super().make_node(x)
        op = copy(self)
        op.dtype, op.acc_dtype = dtypes
        return op.make_node(x)

    def __str__(self) -> str:
        axes = "" if self.axis is None else f"axis=[{', '.join(map(str, self.axis))}], "
        return f"{type(self).__name__}{{{axes}acc_dtype={self.acc_dtype}}}"

    def output_dtype(self, dtype: str) -> str:
        """The dtype of the result for operands of a dtype: rounded to, if it is narrower."""
        return self.dtype or _INTEGERS.get(dtype, dtype)

    def _accumulator(self, dtype: str) -> str:
        acc = self.acc_dtype
        if acc is None:
            return _WIDE.get(dtype, _INTEGERS.get(dtype, dtype))
        widens = acc in continuous_dtypes and dtype in discrete_dtypes
        if upcast(dtype, acc) != acc and not widens:
            raise TypeError(
                f"Cannot build {self} node with input dtype {dtype} and acc_dtype {acc}, as "
                "precision would be lost. To correct this error, you can:\n  - not specify "
                "acc_dtype, or\n  - use one that is at least as precise, or\n  - specify dtype "
                "instead"
            )
        return acc

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        dtype = x.dtype.name
        wanted, acc = self.output_dtype(dtype), self._accumulator(dtype)
        # symc's sums of float32 are as good as those in float64; products are not.
        usual = acc == _WIDE.get(dtype, dtype) and self.scalar_op.name != "mul"
        if not usual or x.dtype.is_integer or dtype == "bool":
            x = T.cast(x, acc)
        elif upcast(dtype, wanted) == wanted:
            x = T.cast(x, wanted)
        return T.cast(self.total(x, axis), wanted)

    def total(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        """The reduction itself."""
        return CAReduce.reduce(self, x, axis)


def dtype_name(dtype: Any) -> str | None:
    """The name of a dtype, floatX among them."""
    if dtype is None:
        return None
    return (
        str(config.floatX) if isinstance(dtype, str) and dtype == "floatX" else np.dtype(dtype).name
    )


class NamedReduction(CAReduce):
    """A reduction that its class names, with a scalar op of its own."""

    __props__: tuple[str, ...] = ("axis",)
    by: ClassVar[str] = ""

    def __init__(self, axis: Any = None, **_: Any) -> None:
        super().__init__(SCALAR_OPS[self.by], axis)
