"""Derivatives: reverse mode over the graph, forward mode as its transpose, Jacobians in one pass.

A gradient is a tensor like any other. Each op knows its reverse rule (`Op.grad`), which is linear
in the gradient that comes in; everything else here follows from that:

- `Lop` pulls vectors back; `grad` pulls back 1.
- `Rop` pushes vectors forward: the transpose of a linear map is the gradient of that map, so
  pulling `v` back through ``u -> Lop(f, x, u)`` gives the Jacobian times `v`
  (J. Townsend, "A new trick for calculating Jacobian vector products", 2017).
- `jacobian` pulls all unit vectors back at once, on a batch axis (`derivatives.batch`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, overload

from symc import tensor as T
from symc.codegen.dtypes import BOOL
from symc.codegen.record import record
from symc.config import config
from symc.derivatives.batch import batch
from symc.errors import DisconnectedInput, GradientError
from symc.graph.collector import without_collection
from symc.graph.inputs import Constant, Input, as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.passing import Passing
from symc.graph.provenance import NOWHERE, located_at, warn
from symc.graph.registry import SERVICES
from symc.graph.types import TensorType
from symc.graph.walks import substitute, walk
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to, masked, peel
from symc.tensor.unknown import UnknownDerivative

Disconnected: TypeAlias = Literal["raise", "zero", "warn", "ignore"]


@overload
def grad(
    cost: Tensor | None,
    wrt: Tensor,
    consider_constant: Iterable[Tensor] = (),
    known_grads: Mapping[Tensor, Tensor] | None = None,
    disconnected: Disconnected = "raise",
) -> Tensor: ...
@overload
def grad(
    cost: Tensor | None,
    wrt: Sequence[Tensor],
    consider_constant: Iterable[Tensor] = (),
    known_grads: Mapping[Tensor, Tensor] | None = None,
    disconnected: Disconnected = "raise",
) -> list[Tensor]: ...
def grad(
    cost: Tensor | None,
    wrt: Tensor | Sequence[Tensor],
    consider_constant: Iterable[Tensor] = (),
    known_grads: Mapping[Tensor, Tensor] | None = None,
    disconnected: Disconnected = "raise",
) -> Tensor | list[Tensor]:
    """The gradient of a scalar `cost` with respect to one tensor or several.

    Each gradient has its tensor's shape and dtype (see `tensor/complex_numbers.py` for its meaning
    for complex ones). `wrt` may hold intermediate results. Nothing flows through the tensors in
    `consider_constant`, nor through integers and bools. `known_grads` gives gradients of
    intermediate tensors; with it, `cost` may be None. Raises `GradientError` when the cost is no
    real scalar. When a tensor in `wrt` does not influence the cost, raises `DisconnectedInput`, and
    when it is of integers or bools, which have no derivative, `GradientError`; with
    ``disconnected="zero"`` these get zeros, integers those of `config.floatX`. A constant in `wrt`
    is refused by `GradientError`: equal constants are one tensor.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.grad((x ** 2).sum(), x).eval({x: [1.0, 2.0]})
    array([2., 4.])
    """
    if cost is not None:
        _check_tensors("grad", "cost", [cost])
    _check_wrt("grad", _listed(wrt))
    bars = dict(known_grads or {})
    given = not bars and not list(consider_constant := tuple(consider_constant))
    if cost is not None and given and all(not target.args for target in _listed(wrt)):
        cost = _stable(cost)
    if cost is not None:
        if cost.ndim:
            raise GradientError(
                f"grad needs a scalar cost, not {cost!r}; take .sum() or .mean(), or use jacobian\n"
                f"  cost   {describe(cost)}"
            )
        if cost.dtype.is_complex:
            raise GradientError(
                "grad needs a real cost, and this one is complex; take abs, .real or .imag of it\n"
                f"  cost   {describe(cost)}"
            )
        if cost.dtype.is_float:
            one = T.ones_like(cost)
            bars[cost] = bars[cost] + one if cost in bars else one
    elif not bars:
        raise GradientError("grad needs a cost, or known_grads")
    roots = [*bars] if cost is None else [cost, *bars]
    pulled: Tensor | list[Tensor] = _pull(roots, bars, wrt, consider_constant, disconnected)
    return pulled


def Lop(  # noqa: N802 -- Theano's name
    f: Tensor | Sequence[Tensor],
    wrt: Tensor | Sequence[Tensor],
    eval_points: Tensor | Sequence[Tensor],
    consider_constant: Iterable[Tensor] = (),
    disconnected: Disconnected = "raise",
) -> Any:
    """``eval_points`` times the Jacobian of `f`: vectors shaped like `f`, pulled back to `wrt`.

    >>> import symc, symc.tensor as T
    >>> x, v = T.vector("x"), T.vector("v")
    >>> symc.Lop(x ** 2, x, v).eval({x: [1.0, 2.0], v: [1.0, 10.0]})
    array([ 2., 40.])
    """
    outputs, points = _listed(f), _listed(eval_points)
    _check_tensors("Lop", "f", outputs)
    _check_tensors("Lop", "eval_points", points)
    _same_count("Lop", "f", outputs, "eval_points", points)
    bars: dict[Tensor, Tensor] = {}
    for output, point in zip(outputs, points, strict=True):
        _same_rank("Lop", output, point)
        bars[output] = bars[output] + point if output in bars else point
    return _pull(outputs, bars, wrt, consider_constant, disconnected)


def Rop(  # noqa: N802 -- Theano's name
    f: Tensor | Sequence[Tensor],
    wrt: Tensor | Sequence[Tensor],
    eval_points: Tensor | Sequence[Tensor],
    disconnected: Disconnected = "raise",
) -> Any:
    """The Jacobian of `f` times ``eval_points``: vectors shaped like `wrt`, pushed forward to `f`.

    >>> import symc, symc.tensor as T
    >>> x, v = T.vector("x"), T.vector("v")
    >>> symc.Rop(x ** 2, x, v).eval({x: [1.0, 2.0], v: [1.0, 10.0]})
    array([ 2., 40.])
    """
    outputs, inputs, points = _listed(f), _listed(wrt), _listed(eval_points)
    for what, given in (("f", outputs), ("wrt", inputs), ("eval_points", points)):
        _check_tensors("Rop", what, given)
    _same_count("Rop", "wrt", inputs, "eval_points", points)
    for x, point in zip(inputs, points, strict=True):
        _same_rank("Rop", x, point)
    pushed = [_push(output, inputs, points, disconnected) for output in outputs]
    return pushed[0] if isinstance(f, Tensor) else pushed


def _push(
    output: Tensor, inputs: list[Tensor], points: list[Tensor], disconnected: Disconnected
) -> Tensor:
    probe = placeholder(output.type)
    pulled = _pull([output], {output: probe}, inputs, (), disconnected)
    result = _pull(pulled, dict(_summed(zip(pulled, points, strict=True))), probe, (), "zero")
    # The result is constant in the probe, but may still mention it (for its shape).
    return substitute([result], {probe: output})[0]


def _summed(pairs: Iterable[tuple[Tensor, Tensor]]) -> Iterable[tuple[Tensor, Tensor]]:
    bars: dict[Tensor, Tensor] = {}
    for node, bar in pairs:
        bars[node] = bars[node] + bar if node in bars else bar
    return bars.items()


def jacobian(
    expression: Tensor,
    wrt: Tensor | Sequence[Tensor],
    consider_constant: Iterable[Tensor] = (),
    disconnected: Disconnected = "raise",
) -> Any:
    """The derivatives of every element of `expression`: shape ``expression.shape + wrt.shape``.

    One vectorised reverse pass computes all rows. For several `wrt`, a list.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.jacobian(x ** 2, x).eval({x: [1.0, 2.0]})
    array([[2., 0.],
           [0., 4.]])
    """
    _check_tensors("jacobian", "expression", [expression])
    if expression.dtype.is_complex:
        raise GradientError(
            "jacobian needs a real expression, not a complex one; take .real and .imag of it\n"
            f"  given  {describe(expression)}"
        )
    if expression.ndim == 0:
        return _pull(
            [expression], {expression: T.ones_like(expression)}, wrt, consider_constant,
            disconnected,
        )  # fmt: skip
    flat = expression if expression.ndim == 1 else T.ravel(expression)
    probe = placeholder(flat.type)
    pulled = _pull([flat], {flat: probe}, _listed(wrt), consider_constant, disconnected)
    basis = T.eye(flat.shape[0], dtype=flat.dtype)
    rows = batch(pulled, {probe: basis}, flat.shape[0])
    if expression.ndim != 1:
        rows = [T.reshape(row, (*expression.shape, *row.shape[1:])) for row in rows]
    rows = substitute(rows, {probe: flat})
    return rows[0] if isinstance(wrt, Tensor) else rows


def hessian(
    cost: Tensor,
    wrt: Tensor | Sequence[Tensor],
    consider_constant: Iterable[Tensor] = (),
    disconnected: Disconnected = "raise",
) -> Any:
    """The second derivatives of a scalar `cost`: shape ``wrt.shape + wrt.shape`` for each `wrt`.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.hessian((x ** 3).sum(), x).eval({x: [1.0, 2.0]})
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    constant = list(consider_constant)
    targets: list[Tensor] = _listed(wrt)
    results = [
        jacobian(grad(cost, x, constant, None, disconnected), x, constant, "zero") for x in targets
    ]
    return results[0] if isinstance(wrt, Tensor) else results


def _stable(cost: Tensor) -> Tensor:
    """The cost with the logarithm of a sigmoid as one function.

    Else its gradient would be infinity times zero where the sigmoid underflows, and the rest
    of the two factors in a larger gradient is no pattern that a rewrite could find afterwards.
    """
    suspects = ("log", "sub", "log1p")
    if not any(
        node.op.label in suspects and any(arg.op.label == "sigmoid" for arg in node.args)
        for node in walk([cost])
    ):
        return cost
    with without_collection():
        stable: Tensor = SERVICES["stabilise"]([cost])[0]
    return stable


# --- the reverse pass -----------------------------------------------------------------------------


def _pull(
    roots: Sequence[Tensor],
    bars: dict[Tensor, Tensor],
    wrt: Tensor | Sequence[Tensor],
    consider_constant: Iterable[Tensor],
    disconnected: Disconnected,
) -> Any:
    if disconnected not in ("raise", "zero", "warn", "ignore"):
        raise ValueError(
            f'disconnected is "raise", "zero", "warn" or "ignore", not {disconnected!r}'
        )
    targets = _listed(wrt)
    _check_wrt("a derivative", targets)
    for target in targets:
        if not target.dtype.is_inexact and disconnected not in ("zero", "ignore"):
            _no_derivative(target, disconnected)
    bars, reach = _bars(roots, bars, targets, set(consider_constant) - set(targets))
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
    found, _ = _bars(roots, bars, targets, set(targets))
    return [found.get(target) for target in targets]


def _bars(
    roots: Sequence[Tensor],
    given: Mapping[Tensor, Tensor],
    targets: Sequence[Tensor],
    blocked: set[Tensor],
) -> tuple[dict[Tensor, Tensor], set[Tensor]]:
    """Every node's gradient, given those of the roots, and the nodes that depend on a target."""
    if any(node.op.is_lazy for node in walk(roots)):
        return _bars_of_outlined(roots, given, targets, blocked)
    order = walk(roots, stop=lambda node: node in blocked or isinstance(node.op, DisconnectedGrad))
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
) -> tuple[dict[Tensor, Tensor], set[Tensor]]:
    """The same where only one side of a branch is computed, and so only its gradient."""
    held = list(blocked)
    new = SERVICES["outline"]([*roots, *targets, *held, *given])
    ours, rest = new[: len(roots)], new[len(roots) :]
    goals, rest = rest[: len(targets)], rest[len(targets) :]
    bars = {node: given[old] for node, old in zip(rest[len(held) :], given, strict=True)}
    bars, reach = _bars(ours, bars, goals, set(rest[: len(held)]))
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


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return list(cast("Sequence[Any]", value))
    raise TypeError(f"expected a symbolic tensor or a list of them, not {value!r}")


def _check_tensors(label: str, what: str, values: Sequence[object]) -> None:
    for value in values:
        if not isinstance(value, Tensor):
            hint = "; call it first, with tensors" if callable(value) else ""
            raise TypeError(f"{label} needs symbolic tensors as {what}, not {value!r}{hint}")


def _check_wrt(label: str, targets: Sequence[Tensor]) -> None:
    _check_tensors(label, "wrt", targets)
    for target in targets:
        if isinstance(target.op, Constant):
            raise GradientError(
                f"{label} by a constant is not defined: equal constants are one and the same "
                "tensor, and all their other uses would count as well\n"
                f"  wrt    {describe(target)}\n"
                "  make it an input, or symc.shared(...) of its value"
            )


def _same_count(what: str, name: str, left: list[Any], other: str, right: list[Any]) -> None:
    if len(left) != len(right):
        raise GradientError(f"{what}: {len(left)} {name} but {len(right)} {other}")


def _same_rank(what: str, x: Tensor, point: Tensor) -> None:
    if x.ndim != point.ndim:
        raise GradientError(
            f"{what}: an eval point has {point.ndim} axes and its tensor {x.ndim}\n"
            f"  tensor {describe(x)}\n  point  {describe(point)}"
        )


# --- changed gradients ----------------------------------------------------------------------------


@record
class ChangedGradient(Passing):
    """The argument, to which another gradient flows back than that of the result."""

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)


@record
class DisconnectedGrad(ChangedGradient):
    """Lets no gradient through."""


@record
class GradClip(ChangedGradient):
    """Limits each element of the gradient."""

    low: float
    high: float

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [T.clip(bar, self.low, self.high)]


@record
class GradScale(ChangedGradient):
    """Multiplies the gradient."""

    factor: float

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [bar * self.factor]


def disconnected_grad(x: TensorLike) -> Tensor:
    """`x`, but its gradient is zero: it counts as a constant to `grad`."""
    x = as_tensor(x)
    return x if isinstance(x.op, Constant) else DisconnectedGrad()(x)


def grad_clip(x: TensorLike, low: float, high: float) -> Tensor:
    """`x`, but each element of the gradient that flows back is limited to [low, high]."""
    if not low <= high:
        raise ValueError(f"grad_clip: low={low} is above high={high}")
    return GradClip(float(low), float(high))(as_tensor(x))


def grad_scale(x: TensorLike, factor: float) -> Tensor:
    """`x`, but the gradient that flows back is multiplied by `factor`."""
    return GradScale(float(factor))(as_tensor(x))
