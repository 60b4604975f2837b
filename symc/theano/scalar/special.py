"""Bessel functions of any order."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from symc.theano.scalar.ops import BinaryScalarOp
from symc.theano.scalar.preferences import upgrade_to_float


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


jv, iv = Jv(upgrade_to_float, name="jv"), Iv(upgrade_to_float, name="iv")
