"""Scalar ops that the table has no row for: Bessel functions of any order, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.scalar.dtypes import upcast
from symc.theano.scalar.meanings import converted
from symc.theano.scalar.ops import BinaryScalarOp, ScalarOp
from symc.theano.scalar.preferences import upcast_out, upgrade_to_float
from symc.theano.scalar.types import Scalar, get_scalar_type


class BesselOp(BinaryScalarOp):
    """A Bessel function of an order and a number, computed by SciPy one by one."""

    kind = "jv"
    sign = -1.0

    def impl(self, *inputs: Any) -> Any:
        try:
            special = import_module("scipy.special")
        except ImportError:
            raise NotImplementedError(f"theano.tensor.{self.kind} needs SciPy") from None
        v, x = inputs
        return getattr(special, self.kind)(v, x)

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        from symc.theano.gradient_types import grad_not_implemented

        (v, x), (gz,) = inputs, output_grads
        slope = (self(v - 1, x) + self.sign * self(v + 1, x)) / 2.0
        return [grad_not_implemented(self, 0, v), gz * slope]


class Jv(BesselOp):
    """The Bessel function of the first kind."""


class Iv(BesselOp):
    """The modified Bessel function of the first kind."""

    kind = "iv"
    sign = 1.0


class InRange(ScalarOp):
    """Whether a number lies between two others; each bound may belong to the range or not."""

    __props__ = ("openlow", "openhi")
    nin = 3
    operands = "upcast"

    def __init__(self, openlow: bool, openhi: bool) -> None:
        super().__init__(name=f"InRange{{{openlow},{openhi}}}")
        self.openlow, self.openhi = openlow, openhi

    def output_types(self, types: Sequence[Scalar]) -> Sequence[Scalar]:
        return [get_scalar_type("int8")]  # not bool: as in Theano

    def computed(self, dtypes: Sequence[str], operands: Sequence[Tensor]) -> list[Tensor]:
        joined = upcast(*dtypes)
        x, low, high = (converted(each, joined) for each in operands)
        above = T.gt(x, low) if self.openlow else T.ge(x, low)
        below = T.lt(x, high) if self.openhi else T.le(x, high)
        return [T.cast(T.logical_and(above, below), "int8")]

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return self.computed([each.type.dtype for each in node.inputs], inputs)

    def impl(self, *inputs: Any) -> Any:
        x, low, high = inputs
        above = x > low if self.openlow else x >= low
        return bool(above and (x < high if self.openhi else x <= high))

    @property
    def is_own(self) -> bool:
        return False

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        del output_grads
        return [x.zeros_like().astype(upgrade_to_float(x.type)[0].dtype) for x in inputs]


class MulWithoutZeros(BinaryScalarOp):
    """The product of two numbers, where a 0 is left out."""

    def impl(self, *inputs: Any) -> Any:
        x, y = inputs
        return y if x == 0 else x if y == 0 else x * y


mul_without_zeros = MulWithoutZeros(upcast_out, name="mul_without_zeros")
inopenrange, inclosedrange = InRange(True, True), InRange(False, False)
jv, iv = Jv(upgrade_to_float, name="jv"), Iv(upgrade_to_float, name="iv")
