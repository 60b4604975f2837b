"""Which signs elements and zeros may have, as far as an expression tells, and rules that ask.

``-0.0 + 0`` is 0.0 and all else stays, so that ``x + 0`` is `x` where no element is -0.0. Answers
are for real floats, and hold for NaN, which has no sign that counts.
"""

from __future__ import annotations

import numpy as np

from symc.graph.inputs import constant_value
from symc.graph.node import Array, Tensor
from symc.rewrite.match import number_of
from symc.rewrite.rule import EXACT, ROUNDS, Rules
from symc.tensor.elementwise import ELEMENTWISE, Cast, Elementwise
from symc.tensor.exponentials import sqrt
from symc.tensor.fold import Reduce
from symc.tensor.gather import Gather
from symc.tensor.reshape import Reshape
from symc.tensor.shape import Concatenate
from symc.tensor.slices import Slice
from symc.tensor.softmaxes import LogSumExp, Softmax
from symc.tensor.views import BroadcastTo, DimShuffle

ZEROS = Rules("zeros")

_VIEWS = (DimShuffle, BroadcastTo, Reshape, Slice, Gather)
_DEPTH = 8  # of the expression that is looked at


def is_unsigned(node: Tensor, depth: int = _DEPTH) -> bool:
    """Whether no element has a sign bit: all are at least 0.0, or NaN."""
    op, args = node.op, node.args
    value = constant_value(node)
    if value is not None:
        return value.dtype.kind != "c" and not np.any(np.signbit(value.astype(float)))
    if node.dtype.is_complex or not depth:
        return False
    if isinstance(op, Elementwise):
        if op.sign_bit == "never":
            return True
        if op.name == "where":
            return all(is_unsigned(arg, depth - 1) for arg in args[1:])
        kept = op.sign_bit in ("kept", "chosen")
        return kept and all(is_unsigned(arg, depth - 1) for arg in args)
    if isinstance(op, Cast):
        return args[0].dtype.kind in ("bool", "uint") or is_unsigned(args[0], depth - 1)
    if isinstance(op, Reduce | Concatenate):
        return all(is_unsigned(arg, depth - 1) for arg in args)
    return isinstance(op, Softmax) or (isinstance(op, _VIEWS) and is_unsigned(args[0], depth - 1))


def has_no_negative_zero(node: Tensor, depth: int = _DEPTH) -> bool:
    """Whether no element is -0.0."""
    op, args = node.op, node.args
    if not node.dtype.is_inexact:
        return True
    value = constant_value(node)
    if value is not None:
        parts: list[Array] = [np.real(value), np.imag(value)]
        return not any(bool(np.any((part == 0) & np.signbit(part))) for part in parts)
    if not depth:
        return False

    def holds(args: tuple[Tensor, ...]) -> bool:
        return all(has_no_negative_zero(arg, depth - 1) for arg in args)

    match op:
        case Reduce(kind="add") | LogSumExp():
            return True  # sums start from 0.0
        case Reduce(kind="max" | "min") | Concatenate():
            return holds(args)
        case Cast() if not args[0].dtype.is_inexact:
            return True
        case Cast() if node.dtype.bits >= args[0].dtype.bits:
            return holds(args[:1])
        case Elementwise(name="where"):
            return holds(args[1:])
        case Elementwise(name="add"):  # only -0.0 + -0.0 is -0.0
            return any(has_no_negative_zero(arg, depth - 1) for arg in args)
        case Elementwise(name="sub"):  # only -0.0 - 0.0 is
            return holds(args[:1])
        case Elementwise(sign_bit="no zero"):
            # log(1) is 0.0, and a sum of two logarithms that is 0 has cancelled.
            return not node.dtype.is_complex
        case Elementwise(sign_bit="chosen") if holds(args):
            return not node.dtype.is_complex
        case _ if isinstance(op, _VIEWS):
            return holds(args[:1])
        case _:
            return is_unsigned(node, depth)


@ZEROS.structural("nothing added to what is never -0.0", ELEMENTWISE["add"], valid=EXACT)
def _plus_zero(node: Tensor) -> Tensor | None:
    if not node.dtype.is_inexact:
        return None
    for x, zero in (node.args, node.args[::-1]):
        value = constant_value(zero)
        if value is not None and not value.ndim and value == 0 and has_no_negative_zero(x):
            return x
    return None


_HALVES = (-1.5, -0.5, 1.5)


@ZEROS.structural("half powers of what is at least 0", ELEMENTWISE["pow"], valid=ROUNDS)
def _half_power(node: Tensor) -> Tensor | None:
    """By square roots, which round less than a pow that vectorises.

    Of what may be below zero they are NaN, where ``(-inf) ** 1.5`` is inf.
    """
    x, half = node.args[0], number_of(node.args[1])
    if half not in _HALVES or not node.dtype.is_float or x.type is not node.type:
        return None
    if not is_unsigned(x):
        return None
    if half == 1.5:
        return x * sqrt(x)
    if half == -0.5:
        return 1 / sqrt(x)
    return sqrt(1 / x) / x  # not 1 / (x * sqrt(x)), which is 0 or inf for some x too soon
