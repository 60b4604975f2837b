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
from typing import Any, overload

from symc import tensor as T
from symc.derivatives.reverse import (
    Disconnected,
    check_tensors,
    check_wrt,
    listed,
    placeholder,
    pull,
)
from symc.errors import GradientError
from symc.graph.collector import without_collection
from symc.graph.node import Tensor
from symc.graph.registry import SERVICES
from symc.graph.walks import substitute, walk
from symc.tensor.broadcast import describe


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
        check_tensors("grad", "cost", [cost])
    check_wrt("grad", listed(wrt))
    bars = dict(known_grads or {})
    given = not bars and not list(consider_constant := tuple(consider_constant))
    if cost is not None and given and all(not target.args for target in listed(wrt)):
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
    pulled: Tensor | list[Tensor] = pull(roots, bars, wrt, consider_constant, disconnected)
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
    outputs, points = listed(f), listed(eval_points)
    check_tensors("Lop", "f", outputs)
    check_tensors("Lop", "eval_points", points)
    _same_count("Lop", "f", outputs, "eval_points", points)
    bars: dict[Tensor, Tensor] = {}
    for output, point in zip(outputs, points, strict=True):
        _same_rank("Lop", output, point)
        bars[output] = bars[output] + point if output in bars else point
    return pull(outputs, bars, wrt, consider_constant, disconnected)


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
    outputs, inputs, points = listed(f), listed(wrt), listed(eval_points)
    for what, given in (("f", outputs), ("wrt", inputs), ("eval_points", points)):
        check_tensors("Rop", what, given)
    _same_count("Rop", "wrt", inputs, "eval_points", points)
    for x, point in zip(inputs, points, strict=True):
        _same_rank("Rop", x, point)
    pushed = [_push(output, inputs, points, disconnected) for output in outputs]
    return pushed[0] if isinstance(f, Tensor) else pushed


def _push(
    output: Tensor, inputs: list[Tensor], points: list[Tensor], disconnected: Disconnected
) -> Tensor:
    probe = placeholder(output.type)
    pulled = pull([output], {output: probe}, inputs, (), disconnected)
    result = pull(pulled, dict(_summed(zip(pulled, points, strict=True))), probe, (), "zero")
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
    check_tensors("jacobian", "expression", [expression])
    if expression.dtype.is_complex:
        raise GradientError(
            "jacobian needs a real expression, not a complex one; take .real and .imag of it\n"
            f"  given  {describe(expression)}"
        )
    if expression.ndim == 0:
        return pull(
            [expression], {expression: T.ones_like(expression)}, wrt, consider_constant,
            disconnected,
        )  # fmt: skip
    from symc.derivatives.batch import batch  # late: gradients of costs need none

    flat = expression if expression.ndim == 1 else T.ravel(expression)
    probe = placeholder(flat.type)
    pulled = pull([flat], {flat: probe}, listed(wrt), consider_constant, disconnected)
    basis = T.eye(flat.shape[0], dtype=flat.dtype)
    rows = batch(pulled, {probe: basis}, flat.shape[0], in_turn=True)
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
    targets: list[Tensor] = listed(wrt)
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


def _same_count(what: str, name: str, left: list[Any], other: str, right: list[Any]) -> None:
    if len(left) != len(right):
        raise GradientError(f"{what}: {len(left)} {name} but {len(right)} {other}")


def _same_rank(what: str, x: Tensor, point: Tensor) -> None:
    if x.ndim != point.ndim:
        raise GradientError(
            f"{what}: an eval point has {point.ndim} axes and its tensor {x.ndim}\n"
            f"  tensor {describe(x)}\n  point  {describe(point)}"
        )
