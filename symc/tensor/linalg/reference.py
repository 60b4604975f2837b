"""Factorisations in NumPy: the meaning of ops for which NumPy has no function.

Nothing here raises: where a matrix has no result, the result is NaN, and a status says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symc.graph.node import Array


def one_by_one(function: Callable[[Array], Array], a: Array) -> Array:
    """A function of stacks of matrices; NaN for those matrices that it raises `LinAlgError` for."""
    try:
        return function(a)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            return np.full_like(a, np.nan)
    return np.array([one_by_one(function, matrix) for matrix in a])


def solve(a: Array, b: Array) -> Array:
    """``a^-1 b`` of matrices with the same leading axes, or one `a` for all of `b`."""
    if a.ndim < b.ndim:
        a = np.broadcast_to(a, (*b.shape[:-2], *a.shape))
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            return np.full_like(b, np.nan)
    return np.array([solve(one, other) for one, other in zip(a, b, strict=True)])


def triangle_of(a: Array, lower: bool, unit: bool) -> Array:
    """One triangle, with ones on the diagonal if it is said to have them."""
    t = np.tril(a) if lower else np.triu(a)
    if unit:
        n = range(a.shape[-1])
        t[..., n, n] = 1
    return t


def mirrored(a: Array) -> Array:
    """The symmetric (Hermitian) matrices with these lower triangles."""
    whole: Array = np.tril(a, -1) + np.tril(a, -1).mT.conj()
    n = range(a.shape[-1])
    whole[..., n, n] = np.real(a[..., n, n])
    return whole


def of_eigenvectors(a: Array, v: Array) -> Array:
    """What the eigenvectors of a matrix have in common: length 1, and what is beside ``a v``: 0."""
    back, turned = np.conj(v), a @ v
    sizes = np.sum(back * v, -2)
    beside = turned - v * (np.sum(back * turned, -2) / sizes)[..., None, :]
    return np.concatenate([sizes, np.reshape(beside, (*v.shape[:-2], -1))], -1)


def cholesky_status(a: Array) -> Array:
    """0 for each positive definite matrix; else the order of the first minor that is not."""
    status = np.zeros(a.shape[:-2], np.int64)
    for at in np.ndindex(status.shape):
        try:
            np.linalg.cholesky(a[at])
        except np.linalg.LinAlgError:
            status[at] = _failing_minor(a[at])
    return status


def _failing_minor(a: Array) -> int:
    work = np.array(a)
    for k in range(len(work)):
        pivot = work[k, k].real
        if not pivot > 0:
            return k + 1
        column = work[k + 1 :, k] / np.sqrt(pivot)
        work[k + 1 :, k + 1 :] -= np.outer(column, column.conj())
    return len(work)  # NumPy's arithmetic failed where this did not: at the very edge


def lu(a: Array) -> tuple[Array, Array, Array]:
    """``a = l u p`` as `symc_lu` has it: both factors in one, exchanges of columns, and status.

    u has ones on its diagonal; columns are exchanged so that pivots are the largest of their row.
    """
    work = np.array(a)
    n = a.shape[-1]
    pivots = np.zeros(a.shape[:-1], np.int64)
    status = np.zeros(a.shape[:-2], np.int64)
    for at in np.ndindex(status.shape):
        matrix: Any = work[at]
        for k in range(n):
            sizes = np.abs(matrix[k, k:].real) + np.abs(matrix[k, k:].imag)  # LAPACK's
            other = pivots[at][k] = k + int(np.argmax(sizes))
            if other != k:
                matrix[:, [k, other]] = matrix[:, [other, k]]
            if matrix[k, k] == 0:
                status[at] = status[at] or k + 1
                continue
            matrix[k, k + 1 :] /= matrix[k, k]
            matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
    return work, pivots, status


def lu_status(a: Array) -> Array:
    """The status of `lu`, quickly where all is well."""
    with np.errstate(all="ignore"):
        if np.all(np.linalg.slogdet(a)[0] != 0):
            return np.zeros(a.shape[:-2], np.int64)
    return lu(a)[2]


def exchanged(x: Array, pivots: Array, backwards: bool) -> Array:
    """The rows of matrices exchanged as `lu` exchanged columns, in order or backwards."""
    x = np.array(x)
    pivots = np.broadcast_to(pivots, (*x.shape[:-2], pivots.shape[-1]))
    for at in np.ndindex(x.shape[:-2]):
        steps = list(enumerate(pivots[at]))
        for i, j in reversed(steps) if backwards else steps:
            if i != j:
                x[at][[i, j]] = x[at][[j, i]]
    return x


# Higham 2005: the orders of Pade approximants, the norms up to which they serve, and coefficients.
_LIMITS = {
    8: {3: 1.495585217958292e-2, 5: 0.2539398330063230, 7: 0.9504178996162932,
        9: 2.097847961257068, 13: 5.371920351148152},
    4: {3: 0.4258730016922831, 5: 1.880152677804762, 7: 3.925724783138660},
}  # fmt: skip


def expm(a: Array) -> Array:
    """The exponentials of matrices."""
    result = np.empty_like(a)
    for at in np.ndindex(a.shape[:-2]):
        result[at] = _expm(a[at])
    return result


def _expm(a: Array) -> Array:
    limits = _LIMITS[a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)]
    norm = float(np.abs(a).sum(0).max(initial=0))
    if not norm < 1e300:
        return np.full_like(a, np.nan)
    highest = max(limits)
    order = next((m for m, limit in limits.items() if norm <= limit), highest)
    squarings = max(0, int(np.ceil(np.log2(norm / limits[highest])))) if norm else 0
    u, v = _pade(a / a.dtype.type(2.0**squarings), order)
    result = solve(v - u, v + u)
    for _ in range(squarings):
        result = result @ result
    return result


def _pade(a: Array, order: int) -> tuple[Array, Array]:
    """The odd and the even part of a numerator; the denominator is their difference."""
    from math import comb, factorial

    top = factorial(2 * order) // factorial(order)
    b = [
        a.dtype.type(top * comb(order, k) * factorial(2 * order - k) // factorial(2 * order))
        for k in range(order + 1)
    ]
    one, square = np.eye(len(a), dtype=a.dtype), a @ a
    odd, even, power = b[1] * one, b[0] * one, one
    for k in range(2, order, 2):
        power = power @ square
        even, odd = even + b[k] * power, odd + b[k + 1] * power
    return a @ odd, even
