"""Values and derivatives of the functions of one matrix, in NumPy and compiled."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from tests.linalg.cases import CASES, GROUPS, STACKS, Shape, regular, several, shapes_of, small
from tests.near import assert_near, size_of
from tests.ops.harness import check

TOLERANCE = {"float32": 2e-4, "float64": 1e-11, "complex64": 2e-4, "complex128": 1e-11}


def numbers(name: str, shape: Shape, dtype: str) -> Any:
    rng = np.random.default_rng(zlib.crc32(f"{name} {shape}".encode()))
    return CASES[name].numbers(rng, shape, dtype)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name: str, dtype: str) -> None:
    case = CASES[name]
    shapes = [shape for shape in shapes_of(name) if max(shape) < 5 or dtype == "float64"]
    for shape in [*shapes, (3, 2, 2), (2, 0, 2, 2)]:
        a = numbers(name, shape, dtype)
        check(case.build, a, oracle=case.oracle, grad=case.grad, compiled=False, rtol=1e-11)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (0, 2)])
def test_derivatives_of_a_complete_qr(shape: Shape) -> None:
    """Where it is no larger than the reduced one."""
    for dtype in ("float64", "complex128"):
        a = numbers("complete qr", shape, dtype)
        check(CASES["complete qr"].build, a, compiled=False, static=True)


@pytest.mark.parametrize(("rank", "dtype"), [(3, "float64"), (2, "float32"), (2, "complex64")])
@pytest.mark.parametrize("group", GROUPS)
def test_compiled(group: str, rank: int, dtype: str) -> None:
    """One function for all cases of a group, called with all shapes."""
    x = T.tensor(dtype, (None,) * rank, name="x")
    names = GROUPS[group]
    outputs = [output for name in names for output in several(CASES[name].build(x))]
    function = symc.function([x], outputs, mode="compile")
    for shape in shapes_of(names[0]):
        for lead in [()] if rank == 2 else [(3,), (0,)]:
            a = numbers(names[0], (*lead, *shape), dtype)
            with np.errstate(all="ignore"):
                wanted = [w for name in names for w in several(CASES[name].oracle(a))]
            for got, value in zip(function(a), wanted, strict=True):
                assert got.shape == np.shape(value), (names, shape)
                assert got.dtype == np.asarray(value).dtype
                limit = TOLERANCE[dtype] * size_of(value, 1.0)
                assert_near(got, value, TOLERANCE[dtype], limit)


def test_gradients_that_are_compiled() -> None:
    for name, shape in (("cholesky", (70, 70)), ("eigh", (3, 3)), ("expm", (2, 2, 2))):
        check(CASES[name].build, numbers(name, shape, "float64"), rtol=1e-10)


def test_more_axes_are_a_batch() -> None:
    for lead in STACKS:
        a = regular(np.random.default_rng(0), (*lead, 3, 3), "float64")
        check(CASES["inv"].build, a, oracle=np.linalg.inv, compiled=False)


@pytest.mark.parametrize("n", [64, 257, 400])
def test_large_matrices_are_factorised_in_blocks(n: int) -> None:
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n))
    a = a @ a.T / n + np.eye(n)
    bar = rng.standard_normal((n, n))
    for dtype, tolerance in (("float32", 1e-4), ("float64", 1e-12)):
        x, u = T.matrix("x", dtype), T.matrix("u", dtype)
        factor = T.linalg.cholesky(x)
        function = symc.function([x, u], [factor, symc.Lop(factor, x, u)])
        lower, pulled = function(a.astype(dtype), bar.astype(dtype))
        np.testing.assert_allclose(lower, np.linalg.cholesky(a), atol=tolerance)
        assert_pulled(pulled, np.linalg.cholesky(a), bar, tolerance)


def assert_pulled(pulled: Any, l: Any, bar: Any, tolerance: float) -> None:  # noqa: E741
    """By the definition: how ``(l * bar).sum()`` changes with symmetric changes of a."""
    inverse = np.linalg.inv(l)
    inner = np.tril(l.T @ np.tril(bar))
    inner[np.diag_indices(len(l))] /= 2
    whole = inverse.T @ inner @ inverse
    wanted = np.tril(whole + whole.T) - np.diag(np.diag(whole))
    np.testing.assert_allclose(pulled, wanted, atol=10 * tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("size", [1e-3, 0.1, 0.5, 2, 4, 40])
def test_expm_of_every_order(size: float) -> None:
    """Each Pade approximant, and squarings, against eigenvalues."""
    a = small(np.random.default_rng(5), (6, 6), "float64")
    a = (a - a.T) * (size / np.abs(a - a.T).sum(0).max())
    wanted = CASES["expm"].oracle(a)
    x = T.matrix("x")
    for mode in ("compile", "python"):
        got = symc.function([x], T.linalg.expm(x), mode=mode)(a)
        np.testing.assert_allclose(got, wanted, atol=1e-13 * max(1, size))
