"""Results to whose arguments another gradient flows back than their own."""

from __future__ import annotations

from collections.abc import Sequence

from symc import tensor as T
from symc.codegen.record import record
from symc.graph.inputs import Constant, as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.passing import Passing


@record
class ChangedGradient(Passing):
    """The argument, to which another gradient flows back than that of the result."""

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)


@record
class DisconnectedGrad(ChangedGradient):
    """Lets no gradient through."""

    @property
    def is_constant_to_grad(self) -> bool:
        return True


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
    """`x`, the same tensor in value, but its gradient is zero: it counts as a constant to `grad`.

    >>> import symc, symc.tensor as T
    >>> x = T.scalar("x")
    >>> symc.grad(x * symc.disconnected_grad(x), x).eval({x: 3.0})
    array(3.)
    """
    x = as_tensor(x)
    return x if isinstance(x.op, Constant) else DisconnectedGrad()(x)


def grad_clip(x: TensorLike, low: float, high: float) -> Tensor:
    """`x`, but each element of the gradient that flows back is limited to [low, high].

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.grad((symc.grad_clip(x, -1, 1) ** 2).sum(), x).eval({x: [0.25, 9.0]})
    array([0.5, 1. ])
    """
    if not low <= high:
        raise ValueError(f"grad_clip: low={low} is above high={high}")
    return GradClip(float(low), float(high))(as_tensor(x))


def grad_scale(x: TensorLike, factor: float) -> Tensor:
    """`x`, the same tensor in value, but the gradient that flows back is multiplied by `factor`.

    >>> import symc, symc.tensor as T
    >>> x = T.scalar("x")
    >>> symc.grad(symc.grad_scale(x, -1.0) ** 2, x).eval({x: 3.0})
    array(-6.)
    """
    return GradScale(float(factor))(as_tensor(x))
