"""The functions of linear algebra, NumPy's counterparts, and the matrices that they are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from symc import tensor as T

L: Any = T.linalg
Shape = tuple[int, ...]

SQUARE: list[Shape] = [(0, 0), (1, 1), (2, 2), (5, 5)]
RECTANGULAR: list[Shape] = [(0, 0), (3, 0), (0, 3), (1, 1), (5, 2), (2, 5), (4, 4)]
STACKS: list[Shape] = [(3,), (2, 0)]  # leading axes


def normal(rng: np.random.Generator, shape: Shape, dtype: str) -> Any:
    """Normal random numbers."""
    x = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def regular(rng: np.random.Generator, shape: Shape, dtype: str) -> Any:
    """Square matrices that are not nearly singular."""
    return (normal(rng, shape, dtype) + 3 * np.eye(shape[-1])).astype(dtype)


def definite(rng: np.random.Generator, shape: Shape, dtype: str) -> Any:
    """Positive definite matrices."""
    a = normal(rng, shape, dtype)
    return (a @ a.mT.conj() + shape[-1] * np.eye(shape[-1])).astype(dtype)


def symmetric(rng: np.random.Generator, shape: Shape, dtype: str) -> Any:
    """Symmetric matrices whose eigenvalues are not nearly the same."""
    a = normal(rng, shape, dtype)
    return (a + a.mT.conj() + np.diag(4.0 * np.arange(shape[-1]))).astype(dtype)


def small(rng: np.random.Generator, shape: Shape, dtype: str) -> Any:
    """Matrices with small elements."""
    return normal(rng, shape, dtype) / 2


class Case(NamedTuple):
    """A function of one matrix, NumPy's, and the numbers to try it with.

    `grad` says whether there is a gradient.
    """

    build: Callable[[Any], Any]
    oracle: Callable[[Any], Any]
    numbers: Callable[[np.random.Generator, Shape, str], Any]
    grad: bool = True


# Vectors are determined up to a sign, or a phase: of each, the absolute values are compared, and a
# product that depends on no sign.


def by_eigh(linalg: Any, a: Any, which: str = "L") -> list[Any]:
    w, v = linalg.eigh(a, which)
    return [w, abs(v), (v * w[..., None, :]) @ v.conj().mT]


def by_eig(linalg: Any, a: Any) -> list[Any]:
    w, v = linalg.eig(a)
    return [w, abs(v), (v * (w * w)[..., None, :]) @ linalg.inv(v)]


def by_svd(linalg: Any, a: Any) -> list[Any]:
    u, s, vh = linalg.svd(a, full_matrices=False)
    return [abs(u), s, abs(vh), (u * (s * s)[..., None, :]) @ vh]


def by_full_svd(linalg: Any, a: Any) -> list[Any]:
    u, s, vh = linalg.svd(a)
    return [s, u @ u.conj().mT, vh @ vh.conj().mT, abs(u[..., : s.shape[-1]])]


def exponential(a: Any) -> Any:
    """By eigenvalues, in double precision."""
    w, v = np.linalg.eig(a.astype(complex))
    result = (v * np.exp(w)[..., None, :]) @ np.linalg.inv(v)
    return result.astype(a.dtype) if a.dtype.kind == "c" else result.real.astype(a.dtype)


def as_complex(a: Any, result: Any) -> Any:
    """NumPy's result is real where all eigenvalues are."""
    return np.asarray(result).astype(np.result_type(a.dtype, np.complex64))


def numpys_eig(a: Any) -> list[Any]:
    w, sizes, product = by_eig(np.linalg, a)
    return [as_complex(a, w), sizes, as_complex(a, product)]


CASES: dict[str, Case] = {
    "inv": Case(L.inv, np.linalg.inv, regular),
    "det": Case(L.det, np.linalg.det, regular),
    "slogdet": Case(lambda a: [*L.slogdet(a)], lambda a: [*np.linalg.slogdet(a)], regular),
    "expm": Case(L.expm, exponential, small),
    "eig": Case(lambda a: by_eig(L, a), numpys_eig, regular),
    "eigvals": Case(L.eigvals, lambda a: as_complex(a, np.linalg.eigvals(a)), regular),
    "matrix_power": Case(
        lambda a: [L.matrix_power(a, n) for n in (0, 1, -3)],
        lambda a: [np.linalg.matrix_power(a, n) for n in (0, 1, -3)], regular,
    ),
    "cholesky": Case(L.cholesky, np.linalg.cholesky, definite),
    "upper": Case(
        lambda a: L.cholesky(a, upper=True), lambda a: np.linalg.cholesky(a).mT.conj(), definite
    ),
    "eigh": Case(lambda a: by_eigh(L, a), lambda a: by_eigh(np.linalg, a), symmetric),
    "eigh of U": Case(
        lambda a: by_eigh(L, a, "U"), lambda a: by_eigh(np.linalg, a, "U"), symmetric
    ),
    "eigvalsh": Case(L.eigvalsh, np.linalg.eigvalsh, symmetric),
    "svd": Case(lambda a: by_svd(L, a), lambda a: by_svd(np.linalg, a), normal),
    "full svd": Case(
        lambda a: by_full_svd(L, a), lambda a: by_full_svd(np.linalg, a), normal, grad=False
    ),
    "svdvals": Case(
        lambda a: L.svd(a, compute_uv=False), lambda a: np.linalg.svd(a, compute_uv=False), normal
    ),
    "qr": Case(lambda a: [*L.qr(a)], lambda a: [*np.linalg.qr(a)], normal),
    "complete qr": Case(
        lambda a: [*L.qr(a, mode="complete")], lambda a: [*np.linalg.qr(a, "complete")], normal,
        grad=False,
    ),
    "r": Case(lambda a: L.qr(a, mode="r"), lambda a: np.linalg.qr(a, "r"), normal),
    "matrix_rank": Case(L.matrix_rank, np.linalg.matrix_rank, normal, grad=False),
    "trace": Case(L.trace, lambda a: np.trace(a, 0, -2, -1), normal),
}  # fmt: skip

GROUPS = {
    "regular": ("inv", "det", "slogdet", "expm", "eig", "eigvals", "matrix_power"),
    "symmetric": ("eigh", "eigh of U", "eigvalsh"),
    "definite": ("cholesky", "upper"),
    "normal": ("svd", "full svd", "svdvals", "qr", "complete qr", "r", "matrix_rank", "trace"),
}
"""The cases that are compiled into one function: those with the same numbers."""


def shapes_of(name: str) -> list[Shape]:
    """The shapes that a case is tried with, without leading axes."""
    return RECTANGULAR if CASES[name].numbers is normal else SQUARE


def several(results: Any) -> list[Any]:
    """Results as a list."""
    return list(results) if isinstance(results, list | tuple) else [results]
