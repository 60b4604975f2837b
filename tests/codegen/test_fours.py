"""fours: sums of exponentials of float32 are exact to an ulp, and other sums are not touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.passes.vectors.fours import LANES

x = T.matrix("x", dtype="float32")

LENGTHS = [33, 47, 48, 63, 64, 65, 79, 80, 100, 127, 128, 130, 1000, 4099]


def shares(x: Any) -> Any:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def logarithms(x: Any) -> Any:
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "softmax": (lambda x: T.softmax(x, 1), shares),
    "log_softmax": (lambda x: T.log_softmax(x, 1), logarithms),
    "gradient": (
        lambda x: T.grad(-T.log_softmax(x, 1)[:, 0].sum(), x),
        lambda x: shares(x) - np.eye(1, x.shape[1]),
    ),
    "of two arguments": (
        lambda x: T.softmax(x * 2 + x[::-1], 1),
        lambda x: shares(x * 2 + x[::-1]),
    ),
}


def has_fours(f: symc.Function) -> bool:
    return f"double lanes[{LANES}]" in f.source


@pytest.mark.parametrize("name", CASES)
def test_sums_of_four_are_right(name: str) -> None:
    build, numpy = CASES[name]
    f = symc.function([x], build(x))
    assert has_fours(f)
    for length in LENGTHS:
        given = np.random.default_rng(length).normal(size=(3, length), scale=3).astype("float32")
        wanted = numpy(given.astype("float64"))
        np.testing.assert_allclose(f(given), wanted, rtol=3e-6, atol=1e-9)


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_that_are_known(length: int) -> None:
    row = T.tensor("float32", (None, length), "row")
    f = symc.function([row], T.softmax(row, 1))
    assert has_fours(f) == (length >= 4 * LANES)
    given = np.random.default_rng(length).normal(size=(3, length)).astype("float32")
    np.testing.assert_allclose(f(given), shares(given.astype("float64")), rtol=1e-6)


@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0, 30.0])
def test_the_sum_is_an_ulp_off_at_most(scale: float) -> None:
    """The largest share is the reciprocal of the sum: two more roundings, and the exponentials'."""
    f = symc.function([x], T.softmax(x, 1))
    for length in (64, 1000, 65536):
        given = np.random.default_rng(length).normal(size=(8, length)).astype("float32")
        given = (given * np.float32(scale)).astype("float32")
        for row, found in zip(given, f(given), strict=True):
            shifted = (row - row.max()).astype("float64")  # what the kernel rounds
            total = math.fsum(np.exp(shifted).tolist())
            assert abs(float(found.max()) * total - 1) < 3 * 2**-23


def test_nothing_infinite_or_nan_leaves_its_row() -> None:
    f = symc.function([x], [T.softmax(x, 1), T.log_softmax(x, 1)])
    given = np.random.default_rng(1).normal(size=(6, 100)).astype("float32")
    given[0, 70], given[1, 99], given[2], given[3, 3] = np.nan, np.inf, -np.inf, -np.inf
    found, logs = f(given)
    assert np.isnan(found[:3]).all()
    assert np.isnan(logs[:3]).all()
    assert found[3, 3] == 0
    assert logs[3, 3] == -np.inf
    np.testing.assert_allclose(found[3:].sum(1), 1, rtol=1e-6)


def test_rows_of_nothing_and_no_rows() -> None:
    f = symc.function([x], T.softmax(x, 1))
    for shape in ((3, 0), (0, 100), (0, 0)):
        assert f(np.ones(shape, "float32")).shape == shape


def test_lengths_below_zero_are_no_lengths() -> None:
    """Remainders are not negative, but what a slice leaves of nothing might be."""
    f = symc.function([x], T.softmax(x[:, 40:-40], 1))
    for length in (0, 39, 80, 81, 140, 180):
        given = np.random.default_rng(length).normal(size=(2, length)).astype("float32")
        cut = given[:, 40:-40]
        if cut.shape[1]:
            np.testing.assert_allclose(f(given), shares(cut.astype("float64")), rtol=1e-6)
        else:
            assert f(given).shape == (2, 0)


@pytest.mark.parametrize(
    "build",
    [lambda x: x.sum(1), lambda x: T.abs(x).sum(1), lambda x: T.sqr(x).sum(1),
     lambda x: (x * T.softmax(x, 1)).sum(1) - x.sum(1)],
    ids=["sum", "distances", "squares", "weighted"],
)  # fmt: skip
def test_sums_of_other_things_stay_in_float64(build: Callable[..., Any]) -> None:
    """Where terms have both signs, what cancels would leave the errors of sums in float32."""
    f = symc.function([x], build(x))
    given = np.random.default_rng(0).normal(size=(2, 4096)).astype("float32")
    given[1, 1::2] = -given[1, ::2] * np.float32(1 + 2**-20)
    np.testing.assert_allclose(
        f(given), symc.function([x], build(x), mode="python")(given), rtol=1e-4
    )
    assert f.source.count("double lanes[") == f.source.count("= symc_exp_nonpositive_f32(") // 6
