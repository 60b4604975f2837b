"""Sets, as sorted vectors of distinct elements; and sorting by several keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from symc.errors import RankError
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.along import flip
from symc.tensor.broadcast import describe
from symc.tensor.build import full
from symc.tensor.elementwise import common
from symc.tensor.lengths import length
from symc.tensor.logic import eq, logical_and, logical_not
from symc.tensor.math import clip
from symc.tensor.reduce import any as some
from symc.tensor.reshape import ravel
from symc.tensor.shape import concatenate, stack
from symc.tensor.sorting.counting import unique
from symc.tensor.sorting.order import RowOrder, argsort, sort, sortable
from symc.tensor.sorting.search import FEW, searchsorted
from symc.tensor.views import expand_dims

__all__ = [
    "intersect1d", "isin", "lexsort", "setdiff1d", "setxor1d", "union1d", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip

# --- members --------------------------------------------------------------------------------------


def isin(
    element: TensorLike,
    test_elements: TensorLike,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Which elements of `element` are among `test_elements`; with `invert`, which are not: bool.

    NaN is not among them, as it equals nothing. `assume_unique` changes nothing here.

    >>> import symc.tensor as T
    >>> T.isin([[1, 2], [3, 4]], [2, 4, 8]).eval()
    array([[False,  True],
           [False,  True]])
    """
    x, tests = common((element, test_elements), "same", "isin")
    tests = ravel(tests)
    n = tests.type.shape[0]
    if n == 0:
        found = full(x.type.shape, False)
    elif (isinstance(n, int) and n <= FEW) or x.dtype.is_complex:
        found = some(eq(expand_dims(x, x.ndim), tests), x.ndim)
    else:
        ordered = sort(sortable("isin", tests))
        last = length(ordered, 0) - 1
        # Where nothing is tested against, there is no place to look at.
        padded = concatenate([ordered, full((1,), 0, ordered.dtype)])
        place = searchsorted(ordered, x)
        found = logical_and(eq(padded[clip(place, 0, last + 1)], x), OPERATORS["le"](place, last))
    return logical_not(found) if invert else found


# --- sets -----------------------------------------------------------------------------------------


def union1d(ar1: TensorLike, ar2: TensorLike) -> Tensor:
    """The distinct elements of both, sorted: a vector whose length is known at run time.

    >>> import symc.tensor as T
    >>> T.union1d([3, 1], [2, 1]).eval()
    array([1, 2, 3])
    """
    values: Tensor = unique(concatenate([ravel(as_tensor(ar1)), ravel(as_tensor(ar2))]))
    return values


def intersect1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Tensor:
    """The distinct elements that are in both, sorted.

    With `assume_unique`, the elements of each are distinct already.

    >>> import symc.tensor as T
    >>> T.intersect1d([3, 1, 1], [2, 1, 3]).eval()
    array([1, 3])
    """
    values = sort(concatenate(_distinct(ar1, ar2, assume_unique)))
    return values[:-1][eq(values[1:], values[:-1])]


def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Tensor:
    """The distinct elements of the first that are not in the second, sorted.

    With `assume_unique`, the elements of the first in their order.

    >>> import symc.tensor as T
    >>> T.setdiff1d([3, 1, 2], [2]).eval()
    array([1, 3])
    """
    first: Tensor = ravel(as_tensor(ar1)) if assume_unique else unique(ar1)
    return first[isin(first, ar2, invert=True)]


def setxor1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Tensor:
    """The distinct elements that are in one of both only, sorted.

    A vector whose length is known at run time.

    >>> import symc.tensor as T
    >>> T.setxor1d([3, 1], [2, 1]).eval()
    array([2, 3])
    """
    values = sort(concatenate(_distinct(ar1, ar2, assume_unique)))
    differs = OPERATORS["ne"](values[1:], values[:-1])
    end = full((1,), True)
    return values[
        logical_and(concatenate([end, differs]), concatenate([differs, end]))[: values.shape[0]]
    ]


def _distinct(ar1: TensorLike, ar2: TensorLike, assume_unique: bool) -> list[Tensor]:
    parts = (ravel(as_tensor(part)) for part in (ar1, ar2))
    return [part if assume_unique else unique(part) for part in parts]


# --- results of `unique`, by names ----------------------------------------------------------------
# -------------------------------------------------------------


class UniqueAll(NamedTuple):
    """Distinct elements, where each is first, which each element is, and how many of each."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Distinct elements, and how many there are of each."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Distinct elements, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: TensorLike) -> UniqueAll:
    """`unique` with all that it can give; every NaN is an element of its own.

    A name of the array API's standard.

    >>> import symc.tensor as T
    >>> found = T.unique_all([3, 1, 3])
    >>> found.values.eval(), found.indices.eval(), found.inverse_indices.eval(), found.counts.eval()
    (array([1, 3]), array([1, 0]), array([1, 0, 1]), array([1, 2]))
    """
    found = unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return UniqueAll(*found)


def unique_counts(x: TensorLike) -> UniqueCounts:
    """`unique` with how many there are of each; every NaN is an element of its own.

    A name of the array API's standard.

    >>> import symc.tensor as T
    >>> found = T.unique_counts([3, 1, 3])
    >>> found.values.eval(), found.counts.eval()
    (array([1, 3]), array([1, 2]))
    """
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: TensorLike) -> UniqueInverse:
    """`unique` with which of them each element is; every NaN is an element of its own.

    A name of the array API's standard.

    >>> import symc.tensor as T
    >>> found = T.unique_inverse([3, 1, 3])
    >>> found.values.eval(), found.inverse_indices.eval()
    (array([1, 3]), array([1, 0, 1]))
    """
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: TensorLike) -> Tensor:
    """The distinct elements, sorted, as `unique`; every NaN is an element of its own.

    >>> import symc.tensor as T
    >>> T.unique_values([3, 1, 3]).eval()
    array([1, 3])
    """
    values: Tensor = unique(x, equal_nan=False)
    return values


# --- several keys ---------------------------------------------------------------------------------


def lexsort(keys: TensorLike | Sequence[TensorLike], axis: int = -1) -> Tensor:
    """Where elements come from when they are sorted by the last key, then by the one before it ...

    `keys` are vectors of equal lengths, or the rows of a matrix. Equal elements keep their order.
    `axis` has one value only, that of vectors.

    >>> import symc.tensor as T
    >>> T.lexsort([[2, 1, 1], [0, 9, 0]]).eval()
    array([2, 0, 1])
    """
    if isinstance(keys, list | tuple) and not keys:
        raise TypeError("lexsort needs at least one key")
    if isinstance(keys, list | tuple) and not all(np.isscalar(key) for key in keys):
        keys = stack(list(cast("Sequence[TensorLike]", keys)))
    rows = sortable("lexsort", keys)
    if rows.ndim not in (1, 2) or axis not in (-1, 0):
        raise RankError(f"lexsort needs vectors as keys\n  given  {describe(rows)}")
    return argsort(rows) if rows.ndim == 1 else RowOrder()(flip(rows, 0).T)
