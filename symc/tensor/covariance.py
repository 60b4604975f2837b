"""Covariances, and histograms of several variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from symc.codegen.dtypes import FLOAT64
from symc.errors import DTypeError, RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.types import as_dtype, promote
from symc.tensor.assign import inc_subtensor
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.complex_numbers import complex as complex_of
from symc.tensor.complex_numbers import conj, imag, real
from symc.tensor.diagonals import diagonal
from symc.tensor.elementwise import cast_to
from symc.tensor.exponentials import sqrt
from symc.tensor.lengths import public, tensor_of
from symc.tensor.logic import logical_and, where
from symc.tensor.math import clip, maximum
from symc.tensor.products import matmul
from symc.tensor.reduce import sum as total
from symc.tensor.reshape import ravel, reshape
from symc.tensor.shape import concatenate
from symc.tensor.sorting.counting import edges_of
from symc.tensor.sorting.order import sortable
from symc.tensor.sorting.search import bin_of
from symc.tensor.specify import specify_length
from symc.tensor.views import expand_dims

__all__ = ["corrcoef", "cov", "histogram2d", "histogram_bin_edges", "histogramdd"]

# --- covariances ----------------------------------------------------------------------------------


def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: TensorLike | None = None,
    aweights: TensorLike | None = None,
    dtype: Any = None,
) -> Tensor:
    """The covariances of the rows of a matrix, which are variables; its columns are observations.

    `y` has further variables. With ``rowvar=False``, columns are variables. The sums of products
    are divided by the number of observations minus `ddof`, which is 1, or 0 with `bias`.
    `fweights` says how often each observation was made, `aweights` how much it counts. One variable
    gives a scalar.

    >>> import symc.tensor as T
    >>> T.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).eval()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and int(ddof) != ddof:
        raise ValueError(f"cov: ddof must be an integer, not {ddof!r}")
    x = _variables("cov", m, rowvar)
    if y is not None:
        x = concatenate([x, _variables("cov", y, rowvar)])
    x = cast_to(x, promote(x.dtype, FLOAT64) if dtype is None else as_dtype(dtype))
    freedom = (0 if bias else 1) if ddof is None else int(ddof)
    count = x.type.shape[1]
    real_dtype = x.dtype.component
    weights = _weights(x, fweights, aweights)
    if weights is None:
        size: Tensor = cast_to(tensor_of(count), real_dtype)
        centred = x - expand_dims(total(x, 1) / size, 1)
        scaled, divisor = centred, size - freedom
    else:
        size = total(weights)
        centred = x - expand_dims(total(x * weights, 1) / size, 1)
        scaled, divisor = centred * weights, size - freedom
        if aweights is not None and freedom:
            divisor = size - freedom * total(weights * cast_to(aweights, real_dtype)) / size
    result = matmul(scaled, conj(centred).T) / cast_to(maximum(divisor, 0.0), x.dtype)
    return result[0, 0] if result.type.shape[0] == 1 else result


def _variables(label: str, m: TensorLike, rowvar: bool) -> Tensor:
    x = as_tensor(m)
    if x.ndim > 2:
        raise RankError(f"{label}: a vector or a matrix is needed\n  given  {describe(x)}")
    if x.ndim < 2:
        return expand_dims(x, tuple(range(2 - x.ndim)))
    return x if rowvar else x.T


def _weights(x: Tensor, fweights: TensorLike | None, aweights: TensorLike | None) -> Tensor | None:
    """The weight of each observation."""
    result: Tensor | None = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        w = as_tensor(given)
        if w.ndim != 1:
            raise RankError(f"cov: {name} must be a vector\n  given  {describe(w)}")
        if name == "fweights" and not w.dtype.is_integer:
            raise DTypeError(f"cov: fweights must be integers\n  given  {describe(w)}")
        w = cast_to(specify_length(w, 0, x.type.shape[1]), x.dtype.component)
        result = w if result is None else result * w
    return result


def corrcoef(
    x: TensorLike, y: TensorLike | None = None, rowvar: bool = True, dtype: Any = None
) -> Tensor:
    """The correlation coefficients of variables, as `cov` has them: from -1 to 1.

    A matrix, or a scalar for one variable, of float64 unless given.

    >>> import symc.tensor as T
    >>> T.corrcoef([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]).eval()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = sqrt(real(diagonal(c)))
    c = c / expand_dims(spread, 1) / expand_dims(spread, 0)
    if c.dtype.is_complex:
        return complex_of(clip(real(c), -1, 1), clip(imag(c), -1, 1))
    return clip(c, -1, 1)


# --- histograms -----------------------------------------------------------------------------------


def histogram_bin_edges(
    a: TensorLike, bins: int | TensorLike = 10, range: tuple[Any, Any] | None = None
) -> Tensor:
    """The edges of equal bins over a range: a float64 vector, one longer than there are bins.

    >>> import symc.tensor as T
    >>> T.histogram_bin_edges([0.0, 3.0, 4.0], bins=2).eval()
    array([0., 2., 4.])
    """
    return edges_of(ravel(sortable("histogram_bin_edges", a)), bins, range)


def histogram2d(
    x: TensorLike,
    y: TensorLike,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    density: bool = False,
    weights: TensorLike | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """How many points are in each bin of x (rows) and of y (columns), as float64, and the edges.

    `bins` is a number of bins, or the edges, for both or a pair; `range` a pair of ranges. See
    `histogram` and `histogramdd`.

    >>> import symc.tensor as T
    >>> counts, _, _ = T.histogram2d([0.0, 1.0, 1.0], [0.0, 0.0, 2.0], bins=2)
    >>> counts.eval()
    array([[1., 0.],
           [1., 1.]])
    """
    both = not isinstance(bins, int | np.integer) and len(bins) not in (1, 2)
    counts, edges = histogramdd(
        [as_tensor(x), as_tensor(y)], [bins, bins] if both else bins, range, density, weights
    )
    return counts, edges[0], edges[1]


def histogramdd(
    sample: TensorLike | Sequence[TensorLike],
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    density: bool = False,
    weights: TensorLike | None = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """How many points are in each bin of several variables, as float64, and the edges of each.

    `sample` is a matrix whose columns are variables, or a list of vectors, one for each. `bins` is
    a number of bins for all, or a list of numbers or edges, one for each; `range` a list of ranges
    (or None). `density` divides by the total and by the sizes of the bins.

    >>> import symc.tensor as T
    >>> points = T.constant([[0.1, 0.1], [0.9, 0.2], [0.8, 0.9]])
    >>> counts, edges = T.histogramdd(points, bins=2, range=[(0, 1), (0, 1)])
    >>> counts.eval(), edges[0].eval()
    (array([[1., 0.],
           [1., 1.]]), array([0. , 0.5, 1. ]))
    """
    vectors = [sortable("histogramdd", v) for v in _columns(sample)]
    same = isinstance(bins, int | np.integer)
    given: list[Any] = [bins] * len(vectors) if same else list(bins)
    ranges = [None] * len(vectors) if range is None else list(range)
    if not len(vectors) == len(given) == len(ranges):
        raise ValueError(
            f"histogramdd: {len(given)} bins and {len(ranges)} ranges for {len(vectors)} variables"
        )
    edges = [edges_of(v, b, r) for v, b, r in zip(vectors, given, ranges, strict=True)]
    place: Tensor = as_tensor(0)
    inside: Tensor = as_tensor(True)
    shape: list[Dim] = []
    for v, e, b in zip(vectors, edges, given, strict=True):
        count = dims.sub(e.type.shape[0], 1)
        at, is_in = bin_of(v, e, uniform=isinstance(b, int | np.integer))
        place, inside = place * tensor_of(count) + at, logical_and(inside, is_in)
        shape.append(count)
    each: TensorLike = 1.0
    if weights is not None:
        each = specify_length(cast_to(weights, FLOAT64), 0, vectors[0].type.shape[0])
    flat = zeros((public(dims.product(shape)),), FLOAT64)
    counts = inc_subtensor(flat[where(inside, place, 0)], where(inside, each, 0.0))
    counts = reshape(counts, tuple(shape))
    if density:
        counts = counts / total(counts)
        for axis, e in enumerate(edges):
            others = tuple(other for other in np.arange(len(edges)).tolist() if other != axis)
            counts = counts / expand_dims(e[1:] - e[:-1], others)
    return counts, tuple(edges)


def _columns(sample: TensorLike | Sequence[TensorLike]) -> list[Tensor]:
    if isinstance(sample, list | tuple):
        return [as_tensor(v) for v in cast("Sequence[TensorLike]", sample)]
    x = as_tensor(cast("TensorLike", sample))
    if x.ndim == 1:
        return [x]
    if x.ndim != 2 or not isinstance(x.type.shape[1], int):
        raise ShapeMismatch(
            "histogramdd: a matrix with a known number of columns is needed\n"
            f"  given  {describe(x)}"
        )
    return list(x.T)
