"""The reverse pass: gradients of the roots pulled back over the graph, node by node.

`pull` is what all derivatives come down to; `reaching` is the same for ops that hold graphs of
their own (loops and branches) and differentiate these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

from symc import tensor as T
from symc.codegen.dtypes import BOOL
from symc.config import config
from symc.errors import DisconnectedInput, GradientError
from symc.graph.inputs import Constant, Input
from symc.graph.node import Tensor
from symc.graph.provenance import NOWHERE, located_at, warn
from symc.graph.registry import SERVICES
from symc.graph.types import TensorType
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to, masked, peel
from symc.tensor.unknown import UnknownDerivative

Disconnected: TypeAlias = Literal["raise", "zero", "warn", "ignore"]


def pull(
    roots: Sequence[Tensor],
    bars: dict[Tensor, Tensor],
    wrt: Tensor | Sequence[Tensor],
    consider_constant: Iterable[Tensor],
    disconnected: Disconnected,
) -> Any:
    """The gradients of `wrt`, one or a list as `wrt` is, given those of the roots in `bars`."""
    if disconnected not in ("raise", "zero", "warn", "ignore"):
        raise ValueError(
            f'disconnected is "raise", "zero", "warn" or "ignore", not {disconnected!r}'
        )
    targets = listed(wrt)
    check_wrt("a derivative", targets)
    for target in targets:
        if not target.dtype.is_inexact and disconnected not in ("zero", "ignore"):
            _no_derivative(target, disconnected)
    blocked = set(consider_constant) - set(targets)
    bars, reach = _bars(roots, bars, targets, blocked, loops=True)
    results = [_finish(target, bars, reach, disconnected) for target in targets]
    return results[0] if isinstance(wrt, Tensor) else results


def _no_derivative(target: Tensor, disconnected: Disconnected) -> None:
    """Raises `GradientError`, or warns, about a tensor of integers or bools."""
    name = target.name or target.op.label
    text = (
        f"{name} is of {target.dtype}, and by {'bools' if target.dtype is BOOL else 'integers'} "
        "there is no derivative\n"
        f"  wrt    {describe(target)}\n"
        f"  make {name} a float: declare it so, or cast it to one where the cost is built and "
        'differentiate by that; or pass disconnected="zero" to get zeros'
    )
    if disconnected == "raise":
        raise GradientError(text)
    import warnings

    warnings.warn(text, stacklevel=5)


def reaching(
    roots: Sequence[Tensor], bars: Mapping[Tensor, Tensor], targets: Sequence[Tensor]
) -> list[Tensor | None]:
    """Each target's gradient, given those of the roots, on ways through no other target."""
    found, _ = _bars(roots, bars, targets, set(targets), loops=False)
    return [found.get(target) for target in targets]


def _bars(
    roots: Sequence[Tensor],
    given: Mapping[Tensor, Tensor],
    targets: Sequence[Tensor],
    blocked: set[Tensor],
    *,
    loops: bool,
) -> tuple[dict[Tensor, Tensor], set[Tensor]]:
    """Every node's gradient, given those of the roots, and the nodes that depend on a target.

    With `loops`, loops that may do no steps are looked for: those in bodies have been.
    """
    if any(node.op.is_lazy for node in walk(roots)):
        return _bars_of_outlined(roots, given, targets, blocked, loops=loops)
    return _bars_of_all(roots, given, targets, blocked)


def _bars_of_all(
    roots: Sequence[Tensor],
    given: Mapping[Tensor, Tensor],
    targets: Sequence[Tensor],
    blocked: set[Tensor],
) -> tuple[dict[Tensor, Tensor], set[Tensor]]:
    """The same where all arguments of all nodes are computed."""
    order = walk(roots, stop=lambda node: node in blocked or node.op.is_constant_to_grad)
    reach = _reaching(order, set(targets), blocked)
    groups = _groups([node for node in order if node in reach and node not in blocked])
    bars = dict(given)
    for node in reversed(order):
        if node not in reach or not node.args or node in blocked:
            continue
        group = groups.get(node, (node,))
        reached = {other: bars[other] for other in group if other in bars}
        if not reached:
            continue
        with located_at(node.where):
            several = node in groups
            parts = node.op.grad_all(reached) if several else node.op.grad(node, reached[node])
            for arg, part in zip(node.args, parts, strict=True):
                if part is not None and arg in reach and arg.dtype.is_inexact:
                    if isinstance(part.op, UnknownDerivative):
                        raise part.op.error()
                    bars[arg] = accumulate(bars.get(arg), cast_to(part, arg.dtype))
    return bars, reach


def _bars_of_outlined(
    roots: Sequence[Tensor],
    given: Mapping[Tensor, Tensor],
    targets: Sequence[Tensor],
    blocked: set[Tensor],
    *,
    loops: bool,
) -> tuple[dict[Tensor, Tensor], set[Tensor]]:
    """The same where what a branch or loop does not need is not computed, nor its gradient."""
    held = list(blocked)
    new = SERVICES["outline"]([*roots, *targets, *held, *given], loops=loops)
    ours, rest = new[: len(roots)], new[len(roots) :]
    goals, rest = rest[: len(targets)], rest[len(targets) :]
    bars = {node: given[old] for node, old in zip(rest[len(held) :], given, strict=True)}
    bars, reach = _bars_of_all(ours, bars, goals, set(rest[: len(held)]))
    for old, goal in zip(targets, goals, strict=True):
        if goal in bars:
            bars[old] = bars[goal]
        if goal in reach:
            reach.add(old)
    return bars, reach


def _groups(order: Sequence[Tensor]) -> dict[Tensor, list[Tensor]]:
    """Nodes that are differentiated together, at the first of them: all that use them come later.

    The others have an empty group.
    """
    groups: dict[Any, list[Tensor]] = {}
    found: dict[Tensor, list[Tensor]] = {}
    for node in order:
        common = node.op.common()
        if common is not None:
            group = groups.setdefault((common, *node.args), [])
            found[node] = [] if group else group
            group.append(node)
    return found


def _reaching(order: list[Tensor], targets: set[Tensor], blocked: set[Tensor]) -> set[Tensor]:
    reach: set[Tensor] = set()
    for node in order:
        if node in targets or (node not in blocked and any(arg in reach for arg in node.args)):
            reach.add(node)
    return reach


def _finish(
    target: Tensor, bars: dict[Tensor, Tensor], reach: set[Tensor], disconnected: Disconnected
) -> Tensor:
    bar = bars.get(target) if target.dtype.is_inexact else None
    if bar is not None:
        return bar
    if target not in reach and disconnected not in ("zero", "ignore"):
        text = (
            f"{target.name or target.op.label} does not influence the cost, so it has no gradient\n"
            f"  wrt    {describe(target)}\n"
            '  take it out of wrt, or pass disconnected="zero" to get zeros'
        )
        if disconnected == "raise":
            raise DisconnectedInput(text)
        warn(text)
    return T.zeros_like(target, dtype=target.dtype if target.dtype.is_inexact else config.floatX)


def accumulate(total: Tensor | None, part: Tensor) -> Tensor:
    """``total + part``; where both are masked, so is the sum (see `elementwise.peel`)."""
    if total is None:
        return part
    mask1, _ = peel(total)
    mask2, _ = peel(part)
    if mask1 is None or mask2 is None:
        return total + part
    result = masked(T.logical_or(mask1, mask2), total + part)
    assert result is not None
    return result


def placeholder(type: TensorType) -> Tensor:
    """An input of this very type (its symbolic lengths included) that must be substituted later."""
    return Tensor(Input((None,) * type.ndim), (), type, NOWHERE)


def listed(value: Any) -> list[Any]:
    """One tensor or a list of them, as a list. Raises `TypeError` for anything else."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return list(cast("Sequence[Any]", value))
    raise TypeError(f"expected a symbolic tensor or a list of them, not {value!r}")


def check_tensors(label: str, what: str, values: Sequence[object]) -> None:
    """Raises `TypeError` for what is no symbolic tensor; `label` names the caller."""
    for value in values:
        if not isinstance(value, Tensor):
            hint = "; call it first, with tensors" if callable(value) else ""
            raise TypeError(f"{label} needs symbolic tensors as {what}, not {value!r}{hint}")


def check_wrt(label: str, targets: Sequence[Tensor]) -> None:
    """Raises `TypeError` for what is no symbolic tensor, `GradientError` for constants."""
    check_tensors(label, "wrt", targets)
    for target in targets:
        if isinstance(target.op, Constant):
            raise GradientError(
                f"{label} by a constant is not defined: equal constants are one and the same "
                "tensor, and all their other uses would count as well\n"
                f"  wrt    {describe(target)}\n"
                "  make it an input, or symc.shared(...) of its value"
            )
