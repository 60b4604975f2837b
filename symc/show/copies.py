"""Whole arrays that a function copies, or has twice in memory, in words: how large, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, assert_never

from symc.graph import dims
from symc.graph.conditions import Test
from symc.graph.inputs import Constant, Input, Shared
from symc.graph.node import Tensor
from symc.loops.body import Slot
from symc.schedule.plan import Inside, Plan
from symc.schedule.reasons import (
    Copied,
    MayFail,
    MustStay,
    OtherKind,
    ReadAfter,
    ReadWhileWritten,
)
from symc.tensor.notation import short

Sign: TypeAlias = "Callable[[Tensor | Test | str], str]"
"""Names what reads an old value."""


def copies(plan: Plan) -> Iterator[tuple[Tensor, str]]:
    """The copied arrays of a plan, and of the loops and branches in it, with what is said of each.

    >>> import symc, symc.tensor as T
    >>> f = symc.function([x := T.vector("x")], x[0].set(1.0))
    >>> [(node.name, text.split(":")[0]) for node, text in copies(f.runner.compilation().plan)]
    [('x', 'x is copied, 8*x.shape[0] bytes')]
    """
    for copied in plan.copied:
        yield copied.node, copied_text(copied, _short)
    for unit in plan.units:
        if isinstance(unit, Inside):
            for inner in unit.plans:
                yield from copies(inner)


def copied_text(copied: Copied, sign: Sign) -> str:
    """The copied array, its bytes, and why it is not written where it lies."""
    return f"{_copy_of(copied)}: {_why(copied, sign)}"


def _copy_of(copied: Copied) -> str:
    node = copied.node
    length = dims.mul(dims.product(node.type.shape), node.dtype.bytes)
    if isinstance(copied.reason, MustStay):
        return f"{short(node)} is copied, {length} bytes"
    match node.op:
        case Shared():
            return f"{short(node)} is not updated in place, {length} bytes"
        case Slot():
            return f"the state {short(node)} has memory for two values of {length} bytes"
        case Input():
            return f"{short(node)} is not overwritten, {length} bytes"
        case _:
            return f"{short(node)} is copied, {length} bytes"


def _why(copied: Copied, sign: Sign) -> str:
    match copied.reason:
        case MayFail():
            return "what needs its new value may fail, and then nothing must have changed"
        case OtherKind():
            return "its new value has other lengths or another dtype, or is not computed"
        case ReadWhileWritten():
            return "old elements are read that would be overwritten by then"
        case ReadAfter(reader):
            return f"{sign(reader)} reads the old value and comes later"
        case MustStay():
            return _why_kept(copied.node)
        case _:
            assert_never(copied.reason)


def _why_kept(node: Tensor) -> str:
    match node.op:
        case Input():
            return "the caller keeps its argument; symc.In(..., mutable=True) gives it away"
        case Shared():
            return "this shared variable keeps its value"
        case Constant():
            return "constants stay as they are"
        case Slot():
            return "other steps of the loop need it"
        case _:
            return "its elements are needed, too"


def _short(unit: Tensor | Test | str) -> str:
    match unit:
        case Tensor():
            return short(unit)
        case Test(node=node):
            return "a comparison of lengths" if node is None else f"check {short(node)}"
        case _:
            return f"the length {unit}"
