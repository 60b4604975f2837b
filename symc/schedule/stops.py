"""What the condition under which a loop goes on says of how many steps there are.

Nobody knows how many steps a loop does that takes 1 from j and goes on while ``(j > 0) & ...``; but
there are no more than j is in the beginning. So ``x[j - 1]`` is in range in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from symc.codegen.ir import BinaryOp
from symc.graph import dims
from symc.graph.dims import Dim, Size, sizes
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.loops.comparisons import Comparison, comparisons
from symc.loops.scan import Scan
from symc.schedule.numbers import StepNumber
from symc.tensor.elementwise import Elementwise

_STEP = "the step before"  # no size of a program has this name

_OPPOSITE: dict[BinaryOp, BinaryOp] = {
    "eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"
}  # fmt: skip


def most_steps(op: Scan, numbers: Mapping[Tensor, Tensor], asked: Dim) -> Dim:
    """A length that a loop has no more steps than: those asked for, or what its condition says.

    `numbers` has those slots of its body that stand for numbers, as they are outside.
    """
    if not op.layout.stops or _are_known(asked):
        return asked
    before = StepNumber(_STEP)()
    condition = op.body.results[len(op.layout.states) + op.layout.collected]
    (ends,) = substitute([condition], {op.body.slots[0]: before, **numbers})
    for comparison in _goes_on(ends):
        most = _steps_until(comparison, Size(before, None))
        if most is not None:
            return most
    return asked


def _are_known(dim: Dim) -> bool:
    """Whether a length follows from lengths of arrays and numbers of steps."""
    return all(
        size.axis is not None or isinstance(size.source.op, StepNumber) for size in sizes(dim)
    )


def _goes_on(ends: Tensor) -> Iterator[Comparison]:
    """Comparisons that hold where a condition does not."""
    pending = [(ends, False)]
    while pending:
        part, holds = pending.pop()
        match part.op:
            case Elementwise(name="logical_not"):
                pending.append((part.args[0], not holds))
            case Elementwise(name="bitwise_and" | "logical_and") if holds:
                pending += [(arg, True) for arg in reversed(part.args)]
            case Elementwise(name="bitwise_or" | "logical_or") if not holds:
                pending += [(arg, False) for arg in reversed(part.args)]
            case _:
                for sign, left, right in comparisons(part, _are_known) or ():
                    yield sign if holds else _OPPOSITE[sign], left, right


def _steps_until(comparison: Comparison, step: Size) -> Dim | None:
    """How many steps a loop has at most that only goes on after those where a comparison holds.

    None unless it says that something is not negative which becomes less in each step.
    """
    sign, left, right = comparison
    match sign:
        case "lt" | "le":
            rest = dims.sub(right, left)
        case "gt" | "ge":
            rest = dims.sub(left, right)
        case _:
            return None
    if sign in ("lt", "gt"):
        rest = dims.sub(rest, 1)
    by = dims.symbolic(step)
    first = dims.add(rest, by)
    if step in set(sizes(first)):
        return None
    return dims.maximum(dims.add(first, 2), 1)
