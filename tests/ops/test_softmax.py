"""Softmax and its kin: no overflow, exact infinities, identities kept for rewriting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex
from symc.graph.interpreter import evaluate
from symc.tensor.softmaxes import LogSoftmax, LogSumExp, Softmax
from tests.ops.harness import check
from tests.ops.lowering_check import check_lowering

RNG = np.random.default_rng(2)
INF = float("inf")


def softmax(x: Any, axis: Any) -> Any:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any) -> Any:
    return x - logsumexp(x, axis, True)


def logsumexp(x: Any, axis: Any, keepdims: bool = False) -> Any:
    top = x.max(axis=axis, keepdims=True)
    result = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return result if keepdims else result.squeeze(axis if axis is not None else None)


FUNCTIONS = {
    "softmax": (T.softmax, softmax),
    "log_softmax": (T.log_softmax, log_softmax),
    "logsumexp": (T.logsumexp, logsumexp),
}


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((4,), 0), ((3, 4), -1), ((3, 4), 0), ((3, 4), None), ((2, 3, 2), (0, 2)), ((2, 1), 1)],
)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("static", [False, True])
def test_values_and_derivatives(name: str, shape: tuple[int, ...], axis: Any, static: bool) -> None:
    build, oracle = FUNCTIONS[name]
    x = RNG.standard_normal(shape)
    check(
        lambda a: build(a, axis), x, oracle=lambda a: oracle(a, axis), static=static,
        compiled=not static,
    )  # fmt: skip
    check_lowering(lambda a: build(a, axis), x, static=static)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "int8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtypes(name: str, dtype: str) -> None:
    build, oracle = FUNCTIONS[name]
    x = (RNG.standard_normal((3, 4)) * 3).astype(dtype)
    result = {"int64": "float64", "int8": "float16"}.get(dtype, dtype)
    middle = "float64" if result == "float64" else "float32"
    check(
        lambda a: build(a, 1), x, grad=False,
        oracle=lambda a: oracle(a.astype(result).astype(middle), 1).astype(result),
    )  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_numbers_do_not_overflow(name: str) -> None:
    build, oracle = FUNCTIONS[name]
    x = np.array([[1000.0, 1001.0, 900.0], [-1000.0, -1001.0, -2000.0]])
    check(lambda a: build(a, -1), x, oracle=lambda a: oracle(a, -1))


def test_infinities() -> None:
    x = np.array([[-INF, -INF], [INF, 1.0], [-INF, 1.0], [INF, INF], [INF, -INF]])
    check(lambda a: T.logsumexp(a, 1), x, oracle=lambda a: np.array([-INF, INF, 1, INF, INF]),
          grad=False)  # fmt: skip
    check_lowering(lambda a: T.logsumexp(a, 1), x)
    check(lambda a: T.softmax(a), x[2], oracle=lambda a: np.array([0.0, 1.0]), grad=False)
    check(lambda a: T.log_softmax(a), x[2], oracle=lambda a: np.array([-INF, 0.0]), grad=False)


def test_nothing() -> None:
    check(lambda a: T.softmax(a), np.zeros((3, 0)), oracle=lambda a: a)
    check(lambda a: T.softmax(a), np.zeros((0, 3)), oracle=lambda a: a)
    check(lambda a: T.log_softmax(a), np.zeros((3, 0)), oracle=lambda a: a)
    check(lambda a: T.logsumexp(a, 1), np.zeros((2, 0)), oracle=lambda a: np.full(2, -INF))


def test_keepdims() -> None:
    x = RNG.standard_normal((3, 4))
    check(lambda a: T.logsumexp(a, 1, keepdims=True), x, oracle=lambda a: logsumexp(a, 1, True))


def test_a_row_that_is_masked_out_has_no_gradient_even_where_its_softmax_is_nan() -> None:
    x = T.matrix("x")
    array = np.array([[-INF, -INF], [0.0, 0.0]])
    for function in (T.softmax, T.log_softmax):
        rows = T.isfinite(x).any(1, keepdims=True)
        cost = (T.where(rows, function(x), 0.0) * np.array([1.0, 3.0])).sum()
        found = evaluate([symc.grad(cost, x)], {x: array})[0]
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found[0], 0)


def test_the_ops_keep_their_identity() -> None:
    x = T.tensor3("x")
    assert T.softmax(x).op == Softmax((2,))
    assert T.logsoftmax(x, (1, 0)).op == LogSoftmax((0, 1))
    assert x.logsumexp().op == LogSumExp((0, 1, 2))
    assert [T.softmax(x).op.label, T.log_softmax(x).op.label] == ["softmax", "log_softmax"]


def test_axes_are_checked() -> None:
    with pytest.raises(BadIndex, match="softmax: there is no axis -1; there are 0 axes"):
        T.softmax(T.scalar("x"))
