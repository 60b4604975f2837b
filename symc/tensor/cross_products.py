"""Products of vectors in space: `cross`."""

from __future__ import annotations

from symc.errors import ShapeMismatch
from symc.graph.node import Tensor, TensorLike
from symc.tensor.along import roll
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import common
from symc.tensor.lengths import normal_axis
from symc.tensor.shape import stack
from symc.tensor.specify import specify_length
from symc.tensor.views import moveaxis

__all__ = ["cross"]


def cross(
    a: TensorLike, b: TensorLike, axisa: int = -1, axisb: int = -1, axisc: int = -1,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The cross product of vectors of length 3 along an axis; the other axes broadcast.

    `axisa`, `axisb` and `axisc` are that axis of `a`, of `b` and of the result, `axis` all of them.
    The third element of vectors that are known to have length 2 is 0; of two such vectors, the
    result is the third element only. Raises `ShapeMismatch`, when it runs if need be, for vectors
    of other lengths.

    >>> import symc.tensor as T
    >>> T.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).eval()
    array([0., 0., 1.])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = common((a, b), "number", "cross")
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    lengths = [v.type.shape[-1] for v in (x, y)]
    if lengths == [2, 2]:
        return _third(x, y)
    for v, n in zip((x, y), lengths, strict=True):
        if isinstance(n, int) and n not in (2, 3):
            raise ShapeMismatch(f"cross: a vector must have length 2 or 3\n  given  {describe(v)}")
    x, y = (v if v.type.shape[-1] == 2 else specify_length(v, v.ndim - 1, 3) for v in (x, y))
    if lengths[0] == 2:
        product = stack([x[..., 1] * y[..., 2], -(x[..., 0] * y[..., 2]), _third(x, y)], axis=-1)
    elif lengths[1] == 2:
        product = stack([-(x[..., 2] * y[..., 1]), x[..., 2] * y[..., 0], _third(x, y)], axis=-1)
    else:
        product = roll(x, -1, -1) * roll(y, -2, -1) - roll(x, -2, -1) * roll(y, -1, -1)
    return moveaxis(product, -1, normal_axis("cross", axisc, product.ndim, product))


def _third(x: Tensor, y: Tensor) -> Tensor:
    """The last element of a cross product; that of vectors in the plane."""
    return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
