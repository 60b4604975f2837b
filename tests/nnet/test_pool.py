"""Pooling against windows written out in NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.ir import Const, Loop
from symc.codegen.passes.walk import statements
from symc.errors import RankError, ShapeMismatch
from symc.tensor import nnet
from tests.fenced import fenced
from tests.nnet import oracle
from tests.ops.harness import check

CASES: list[dict[str, Any]] = [
    {"window": 2},
    {"window": (2, 3)},
    {"window": 3, "stride": 2},
    {"window": 2, "stride": 3},
    {"window": 3, "stride": 1, "padding": "same"},
    {"window": (3, 2), "stride": (2, 1), "padding": (1, 0)},
    {"window": 2, "ceil_mode": True},
    {"window": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    {"window": 2, "stride": 3, "padding": ((0, 1), 1), "ceil_mode": True},
]
KINDS: dict[str, Any] = {
    "max": (nnet.max_pool2d, partial(oracle.pool, np.max, fill=-np.inf)),
    "sum": (nnet.sum_pool2d, partial(oracle.pool, np.sum)),
    "avg": (nnet.avg_pool2d, partial(oracle.pool, np.nanmean, beyond=np.nan)),
    "inside": (
        partial(nnet.avg_pool2d, include_padding=False),
        partial(oracle.pool, np.nanmean, fill=np.nan),
    ),
}


def image(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape or (2, 2, 7, 5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values(kind: str, case: dict[str, Any]) -> None:
    build, expected = KINDS[kind]
    for static in (True, False):
        check(partial(build, **case), image(), oracle=partial(expected, **case), static=static,
              compiled=False, grad=False)  # fmt: skip


def test_what_the_end_cuts_off_does_not_count_in_a_mean() -> None:
    """As in PyTorch: neither with the padding nor without; windows begin in it at most."""
    x = T.constant(np.arange(1.0, 6)[None, None])
    for padding, include, expected in (
        (0, True, [1.5, 3.5, 5]), (1, True, [0.5, 2.5, 4.5]), (1, False, [1, 2.5, 4.5]),
    ):  # fmt: skip
        y = nnet.avg_pool1d(x, 2, padding=padding, ceil_mode=True, include_padding=include)
        np.testing.assert_array_equal(y.eval(), [[expected]])


@pytest.mark.parametrize("kind", ["max", "inside"])
@pytest.mark.parametrize("case", [CASES[0], CASES[2], CASES[3], CASES[7]], ids=str)
def test_derivatives(kind: str, case: dict[str, Any]) -> None:
    check(partial(KINDS[kind][0], **case), image(1, 2, 6, 5), compiled=False)


@pytest.mark.parametrize("case", [CASES[0], CASES[2]], ids=["apart", "overlapping"])
def test_compiled(case: dict[str, Any]) -> None:
    for kind in ("max", "avg"):
        check(partial(KINDS[kind][0], **case), image(2, 3, 8, 6), static=kind == "max")


def test_windows_that_cover_everything() -> None:
    """No zeros are needed then; where an element is left over, they are."""
    for lengths in ((4, 6), (5, 6)):
        check(partial(nnet.max_pool2d, window=2), image(1, 2, *lengths), static=True)


def test_other_dimensions() -> None:
    x, deep = image(2, 2, 9), image(1, 2, 4, 5, 4)
    for name in ("max", "sum", "avg"):
        reduce: Any = {"max": np.max, "sum": np.sum, "avg": np.mean}[name]
        expected = partial(oracle.pool, reduce, window=2, stride=3)
        for rank, array in ((1, x), (3, deep)):
            build = partial(getattr(nnet, f"{name}_pool{rank}d"), window=2, stride=3)
            check(build, array, oracle=expected, compiled=False, grad=rank == 1)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "bool"])
def test_dtypes(dtype: str) -> None:
    x = np.abs(image() * 10).astype(dtype)
    build = partial(nnet.max_pool2d, window=3, padding=1)
    expected = partial(oracle.pool, np.max, window=3, padding=1)
    check(build, x, oracle=lambda x: expected(x).astype(dtype), compiled=dtype == "int8")


def test_mean_of_integers_is_a_float() -> None:
    assert nnet.avg_pool2d(T.tensor("int64", (1, 1, 4, 4)), 2).dtype.name == "float64"


def test_ties_share_the_gradient() -> None:
    x = T.tensor4("x")
    y = nnet.max_pool2d(x, 2)
    grad = symc.grad(y.sum(), x).eval({x: np.array([[[[1.0, 1.0], [0.0, 1.0]]]])})
    np.testing.assert_allclose(grad, [[[[1 / 3, 1 / 3], [0, 1 / 3]]]])


def test_nan_is_passed_on() -> None:
    x = np.zeros((1, 1, 2, 4))
    x[0, 0, 1, 2] = np.nan
    np.testing.assert_array_equal(nnet.max_pool2d(x, 2).eval(), [[[[0, np.nan]]]])


def test_errors() -> None:
    x = T.tensor("float64", (1, 1, 4, 4), "x")
    with pytest.raises(ShapeMismatch, match=r"windows: axis 2 has 4 elements, .* reaches over 5"):
        nnet.max_pool2d(x, 5)
    with pytest.raises(RankError, match=r"max_pool1d: the first argument must have 3 axes, not 4"):
        nnet.max_pool1d(x, 2)
    with pytest.raises(ValueError, match=r"window must be an integer from 1 on, or 2 of them"):
        nnet.avg_pool2d(x, (2, 2, 2))
    y = T.tensor4("y")
    f = symc.function([y], nnet.sum_pool2d(y, 3), mode="python")
    with pytest.raises(ShapeMismatch, match=r"windows: axis 3 has 2 elements"):
        f(np.zeros((1, 1, 4, 2)))


@pytest.mark.parametrize(("window", "stride"), [(3, 2), (3, 1), (5, 3)])
def test_gradients_of_windows_that_overlap_are_loops_of_vectors(window: int, stride: int) -> None:
    """Quotients and remainders were taken for places far apart: vectors of two were filled."""
    x = T.ftensor4("x")
    y = T.nnet.max_pool2d(x, window, stride=stride, padding=1)
    gradient = symc.grad(T.sqr(y).sum(), x)
    f = symc.function([x], gradient)
    kernels = f.runner.compilation().optimised.kernels
    loops = [s for kernel in kernels for s in statements(kernel.body) if isinstance(s, Loop)]
    vectors = [loop.extent for loop in loops if loop.kind == "vector"]
    assert vectors
    assert not any(isinstance(extent, Const) and extent.value < 4 for extent in vectors)
    python = symc.function([x], gradient, mode="python")
    for lengths in ((window, window), (7, 9), (16, 33), (40, 21)):
        given = np.random.default_rng(1).standard_normal((2, 3, *lengths)).astype("float32")
        np.testing.assert_allclose(f(fenced(given)), python(given), rtol=1e-5, atol=1e-5)
