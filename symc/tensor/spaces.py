"""Numbers at equal ratios, and polynomials by their roots."""

from __future__ import annotations

from typing import Any

from symc.errors import RankError
from symc.graph import dims
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.build import linspace, ones, zeros
from symc.tensor.diagonals import eye
from symc.tensor.elementwise import cast_to, common
from symc.tensor.exponentials import pow
from symc.tensor.lengths import public
from symc.tensor.logic import eq, where
from symc.tensor.math import as_float
from symc.tensor.polynomials import polymul
from symc.tensor.shape import concatenate
from symc.tensor.views import expand_dims

__all__ = ["geomspace", "logspace", "poly", "polydiv", "roots"]


def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int | Tensor = 50,
    endpoint: bool = True,
    base: TensorLike = 10.0,
    dtype: Any = None,
) -> Tensor:
    """`base` to the power of `num` numbers at equal distances from `start` to `stop`.

    ``endpoint=False`` leaves out the last. `start`, `stop` and `base` broadcast; the new axis comes
    first. Raises ValueError when `num` is negative.

    >>> import symc.tensor as T
    >>> T.logspace(0, 2, 3).eval()
    array([  1.,  10., 100.])
    """
    result = pow(as_float(base), linspace(start, stop, num, endpoint))
    return result if dtype is None else cast_to(result, dtype)


def geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: int | Tensor = 50,
    endpoint: bool = True,
    dtype: Any = None,
) -> Tensor:
    """`num` numbers from `start` to `stop` of which each is the same multiple of the one before.

    `start` and `stop` have one sign; where they have not, the numbers between are NaN. The new axis
    comes first. Raises ValueError when `num` is negative.

    >>> import symc.tensor as T
    >>> T.geomspace(1, 16, 5).eval()
    array([ 1.,  2.,  4.,  8., 16.])
    """
    first, last = common((start, stop), "divide", "geomspace")
    parts = cast_to(linspace(0.0, 1.0, num, endpoint), first.dtype)
    rank = max(first.ndim, last.ndim)
    parts = expand_dims(parts, tuple(range(1, 1 + rank)))
    result = where(eq(parts, 1), last, first * pow(last / first, parts))
    return result if dtype is None else cast_to(result, dtype)


def _vector(label: str, x: TensorLike) -> tuple[Tensor, int]:
    """A vector of known length, and that."""
    x = as_float(x)
    if x.ndim != 1:
        raise RankError(f"{label}: this is no vector\n  given  {describe(x)}")
    length = x.type.shape[0]
    if not isinstance(length, int):
        raise RankError(
            f"{label}: how many there are has to be known when the graph is built; "
            f"use T.specify_shape\n  given  {describe(x)}"
        )
    return x, length


def poly(seq_of_zeros: TensorLike) -> Tensor:
    """The coefficients of the polynomial with these roots, that of the highest power, 1, first.

    Raises `RankError` unless the argument is a vector whose length is known.

    >>> import symc.tensor as T
    >>> T.poly([1.0, 2.0]).eval()
    array([ 1., -3.,  2.])
    """
    zeros_, count = _vector("poly", seq_of_zeros)
    one = ones((1,), zeros_.dtype)
    result = one
    for k in range(count):
        result = polymul(result, concatenate([one, -zeros_[k : k + 1]]))
    return result


def roots(p: TensorLike) -> Tensor:
    """The complex roots of a polynomial with the coefficients `p`, the highest power's first.

    They are the eigenvalues of its companion matrix, as in NumPy; a leading coefficient of 0 gives
    NaN or infinities, since how many roots there are must not depend on values. Raises `RankError`
    unless `p` is a vector.

    >>> import numpy as np, symc.tensor as T
    >>> np.sort(T.roots([1.0, -3.0, 2.0]).eval())
    array([1.+0.j, 2.+0.j])
    """
    from symc.tensor.linalg.eigen import eigvals  # late: it is large

    p = as_float(p)
    if p.ndim != 1:
        raise RankError(f"roots: coefficients are a vector\n  given  {describe(p)}")
    count = dims.sub(p.type.shape[0], 1)
    top = expand_dims(-p[1:] / p[0], 0)
    return eigvals(concatenate([top, eye(public(count), dtype=p.dtype)[:-1]], 0))


def polydiv(u: TensorLike, v: TensorLike) -> tuple[Tensor, Tensor]:
    """Quotient and remainder of two polynomials; the highest power's coefficient comes first.

    The remainder has one coefficient less than `v`, but at least one: unlike NumPy's, its leading
    zeros stay. Raises `RankError` unless both are vectors of known length.

    >>> import symc.tensor as T
    >>> quotient, rest = T.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    >>> quotient.eval(), rest.eval()
    (array([1.5 , 1.75]), array([0.25]))
    """
    u, v = common((as_tensor(u), as_tensor(v)), "divide", "polydiv")
    (u, many), (v, few) = _vector("polydiv", u), _vector("polydiv", v)
    if few == 0:
        raise RankError(f"polydiv: the divisor has no coefficients\n  given  {describe(v)}")
    left, found = u, list[Tensor]()
    for _ in range(many - few + 1):
        factor = left[:1] / v[0]
        found.append(factor)
        left = concatenate([left[1:few] - factor * v[1:], left[few:]])
    none = zeros((1,), u.dtype)
    return concatenate(found) if found else none, left if left.type.shape[0] else none
