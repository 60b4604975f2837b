"""short_rows: rows of few elements are computed side by side, with the values of rows alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Launch
from symc.codegen.passes.vectors.short_rows import LANES, LONGEST


def softmax(x: Any) -> Any:
    """Exponentials divided by their sum."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_sum(x: Any) -> Any:
    """The logarithm of the sum of exponentials."""
    return np.log(np.exp(x).sum(axis=-1))


def entropy(x: Any) -> Any:
    """Of the softmax."""
    p = softmax(x)
    return -(p * np.log(p)).sum(axis=-1)


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "softmax": (T.softmax, softmax),
    "logsumexp": (lambda x: T.logsumexp(x, axis=-1), log_sum),
    "entropy": (lambda x: -(T.softmax(x) * T.log(T.softmax(x))).sum(axis=-1), entropy),
    "a gradient": (
        lambda x: symc.grad(T.log(T.softmax(x))[:, 0].sum(), x),
        lambda x: (np.arange(x.shape[1]) == 0) - softmax(x),
    ),
    "scaled by a column": (
        lambda x: T.softmax(x) * x[:, -1][:, None],
        lambda x: softmax(x) * x[:, -1:],
    ),
}


def kernels_of_blocks(f: symc.Function) -> int:
    """How many kernels compute rows side by side."""
    program = f.runner.compilation().optimised
    launched = {step.kernel for step in program.steps if isinstance(step, Launch)}
    return sum(f"{LANES} rows at a time" in str(k.body) for k in program.kernels
               if k.name in launched)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_rows_side_by_side_are_right(name: str, dtype: str) -> None:
    build, numpy = CASES[name]
    x = T.tensor(dtype, (None, None), "x")
    f = symc.function([x], build(x))
    assert kernels_of_blocks(f) >= 1
    rng = np.random.default_rng(0)
    for rows in (1, LANES - 1, LANES, 3 * LANES + 5):
        for length in (1, 2, 5, LONGEST, LONGEST + 1):
            values = rng.normal(size=(rows, length)).astype(dtype)
            wanted = numpy(values.astype("float64"))
            tolerance = 2e-6 if dtype == "float32" else 1e-13
            np.testing.assert_allclose(f(values), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("length", [2, 4, 5, 8, 13, LONGEST])
def test_known_lengths(length: int) -> None:
    """Rows of 8 or 16 stay as they were: gcc shuffles them as wholes."""
    x = T.tensor("float32", (None, length), "x")
    f = symc.function([x], T.softmax(x))
    assert kernels_of_blocks(f) == (length in (5, 13))
    values = np.random.default_rng(1).normal(size=(100, length)).astype("float32")
    np.testing.assert_allclose(f(values), softmax(values), rtol=1e-6)


def test_infinities_and_nan_stay_in_their_rows() -> None:
    x = T.matrix("x")
    f = symc.function([x], [T.softmax(x), T.logsumexp(x, axis=1)])
    values = np.random.default_rng(2).normal(size=(2 * LANES + 3, 5))
    values[3, 2], values[LANES, 0], values[-1] = np.nan, np.inf, -np.inf
    probabilities, logs = f(values)
    wrong = np.isnan(probabilities).any(axis=1)
    assert set(np.flatnonzero(wrong)) == {3, LANES, 2 * LANES + 2}
    assert np.isnan(logs[3])
    assert logs[LANES] == np.inf
    assert logs[-1] == -np.inf
    good = ~wrong
    np.testing.assert_allclose(probabilities[good], softmax(values[good]), rtol=1e-13)


def nearness(x: Any, centres: Any, spread: Any, like: Any) -> list[Any]:
    """How much each row belongs to each centre, and how well it fits to all."""
    far = ((x[:, None, :] - centres) ** 2 / spread).sum(2)
    most = (-far).max(1, keepdims=True)
    parts = like.exp(-far - most)
    total = parts.sum(1, keepdims=True)
    return [parts / total, (most + like.log(total))[:, 0], parts.sum(0)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("centres", "axes"), [(1, 3), (4, 4), (7, 2), (3, 33), (9, 4), (4, 0)])
def test_rows_of_folds_of_rows(centres: int, axes: int, dtype: str) -> None:
    """Four numbers for each row, each a sum of four: a mixture of Gaussians took twice JAX's time,
    its exponentials four at a time and its sums one by one."""
    x, c, s = (T.matrix(name, dtype=dtype) for name in "xcs")
    f = symc.function([x, c, s], nearness(x, c, s, T))
    assert kernels_of_blocks(f) == 1
    rng = np.random.default_rng(7)
    given = (
        rng.normal(size=(77, axes)),
        rng.normal(size=(centres, axes)),
        rng.random((centres, axes)),
    )
    values = [each.astype(dtype) for each in given]
    values[2] += 1
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    known = symc.function([x], nearness(x, T.constant(values[1]), T.constant(values[2]), T))
    wanted = nearness(values[0], values[1], values[2], np)
    for found in (f(*values), known(values[0])):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_no_rows_and_no_columns() -> None:
    x = T.matrix("x")
    f = symc.function([x], T.exp(x - T.exp(x).sum(axis=1, keepdims=True)))
    assert f(np.empty((0, 5))).shape == (0, 5)
    assert f(np.empty((100, 0))).shape == (100, 0)


def test_a_shared_variable_is_overwritten_row_by_row() -> None:
    w = symc.shared(np.random.default_rng(3).normal(size=(77, 6)), name="w")
    step = symc.function([], w.sum(), updates=[(w, T.softmax(w))])
    now = w.get_value()
    for _ in range(3):
        np.testing.assert_allclose(step(), now.sum(), rtol=1e-12)
        now = softmax(now)
        np.testing.assert_allclose(w.get_value(), now, rtol=1e-13)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = T.fmatrix("x")
    f = symc.function([x], T.softmax(x))
    values = np.random.default_rng(4).normal(size=(30_000, 11)).astype("float32")
    results = []
    for threads in (1, 3):
        with symc.config.set(threads=threads):
            results.append(f(values))
    np.testing.assert_array_equal(results[0], results[1])


def test_rows_without_folds_or_functions_are_left_alone() -> None:
    x = T.matrix("x")
    assert kernels_of_blocks(symc.function([x], x - x.mean(axis=1, keepdims=True))) == 0
    assert kernels_of_blocks(symc.function([x], T.exp(x * x[0]))) == 0
