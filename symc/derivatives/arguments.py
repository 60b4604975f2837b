"""The gradients of an expression by the arguments of an op, each taken alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.derivatives.grad import Lop
from symc.derivatives.reverse import placeholder
from symc.graph.node import Tensor
from symc.graph.walks import substitute


def by_arguments(
    meaning: Callable[[Sequence[Tensor]], Tensor], args: Sequence[Tensor], bar: Tensor
) -> list[Tensor]:
    """What an op whose meaning is an expression passes back to each of its arguments.

    `Lop` by the arguments themselves would count twice where two are the same tensor, or one is
    computed from another: so it is taken by stand-ins of the same types.
    """
    slots = [placeholder(arg.type) for arg in args]
    found: list[Tensor] = Lop(meaning(slots), slots, bar, disconnected="zero")
    return substitute(found, dict(zip(slots, args, strict=True)))
