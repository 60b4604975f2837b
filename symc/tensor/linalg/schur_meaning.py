"""What `schur` means, in NumPy: eigenvectors are split off one after the other."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from symc.graph.node import Array


def schur(a: Array) -> tuple[Array, Array, int]:
    """The form, the basis and the status of a matrix, with eigenvalues in NumPy's order."""
    n = len(a)
    t: Any = np.array(a, np.result_type(a, np.float64))
    z: Any = np.eye(n, dtype=t.dtype)
    try:
        order = cast("Array", np.linalg.eigvals(t))
    except np.linalg.LinAlgError:
        return np.full_like(t, np.nan), np.full_like(t, np.nan), 1
    start = 0
    while start < n:
        rest = t[start:, start:]
        found = cast("Array", np.linalg.eigvals(rest))
        value: Any = found[np.argmin(np.abs(found - order[start]))]
        columns = _invariant(rest, value)
        width = columns.shape[1]
        turn = np.eye(n, dtype=t.dtype)
        turn[start:, start:] = np.linalg.qr(columns, "complete").Q
        t, z = turn.conj().T @ t @ turn, z @ turn
        t[start + width :, start : start + width] = 0
        start += width
    return t, z, 0


def _invariant(a: Array, value: Any) -> Array:
    """Orthonormal columns that an eigenvalue's vectors span; two for a pair, in standard form.

    The last right singular vector of ``a - value`` is the eigenvector, however many are equal.
    """
    vector: Any = np.linalg.svd(a - value * np.eye(len(a)))[2][-1].conj()
    if np.iscomplexobj(a):
        return np.asarray(vector[:, None])
    if value.imag == 0:
        vector = np.linalg.svd(a - value.real * np.eye(len(a)))[2][-1]
        return np.asarray(vector[:, None])
    plane = np.linalg.svd(np.array([vector.real, vector.imag]).T, full_matrices=False)[0]
    block = plane.T @ a @ plane
    # The angle after which both diagonal elements are the same.
    angle = np.arctan2(block[0, 0] - block[1, 1], block[0, 1] + block[1, 0]) / 2
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray(plane @ turn)
