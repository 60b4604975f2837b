"""Loops that read and write as it lies what is transposed before and after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

Array = np.ndarray[Any, Any]
X, Y = T.matrix("x"), T.matrix("y")
SHAPES = [(0, 5), (5, 0), (1, 9), (3, 2), (7, 4), (8, 8), (9, 12), (33, 12), (70, 40), (40, 70)]
RNG = np.random.default_rng(3)


def filtered(x: Any, **options: Any) -> Any:
    """A filter along the rows of a matrix, as a scan over its columns."""
    begin = T.zeros_like(x[:, 0])
    return symc.scan(lambda a, s: 0.7 * s + 0.3 * a, x.T, begin, **options)[0].T


def in_numpy(x: Array) -> Array:
    y = np.zeros_like(x)
    for k in range(x.shape[1]):
        y[:, k] = 0.3 * x[:, k] + (0.7 * y[:, k - 1] if k else 0)
    return y


def compiled(inputs: list[Any], outputs: Any, **options: Any) -> Any:
    f = symc.function(inputs, outputs, **options)
    verify(f.runner.compilation().optimised)
    return f


def is_transposed(f: Any) -> bool:
    return "dimshuffle" in "".join(k.name for k in f.runner.compilation().optimised.kernels)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_columns_are_read_and_written_where_they_lie(shape: tuple[int, int], dtype: str) -> None:
    x = T.tensor(dtype, (None, None), "x")

    def step(a: Any, s: Any) -> Any:
        return s * 2 + a

    f = compiled([x], symc.scan(step, x.T, T.zeros_like(x[:, 0]))[0].T)
    assert not is_transposed(f)
    assert "row_in_strip" in f.source
    value, wanted = RNG.integers(-9, 9, shape).astype(dtype), np.zeros(shape, dtype)
    for k in range(shape[1]):
        wanted[:, k] = value[:, k] + (2 * wanted[:, k - 1] if k else 0)
    np.testing.assert_allclose(f(value), wanted, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_from_the_right(shape: tuple[int, int]) -> None:
    f = compiled([X], filtered(X, go_backwards=True))
    assert not is_transposed(f)
    x = RNG.random(shape)
    np.testing.assert_allclose(f(x), in_numpy(x[:, ::-1]), rtol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients(shape: tuple[int, int]) -> None:
    f = compiled([X, Y], symc.grad((filtered(X) * Y).sum(), X))
    x, y = RNG.random(shape), RNG.random(shape)
    np.testing.assert_allclose(f(x, y), 0.3 / 0.3 * in_numpy(y[:, ::-1])[:, ::-1], rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_row_before_is_read_and_other_rows_lie_along_memory(shape: tuple[int, int]) -> None:
    def step(a: Any, b: Any, before: Any, s: Any) -> Any:
        return a * b + before + s

    rows = [{"input": X.T, "taps": [0]}, {"input": Y, "taps": [0]}]
    before = T.concatenate([T.zeros((1, X.shape[0])), X.T])[:-1]
    f = compiled([X, Y], symc.scan(step, [*rows, before], T.zeros_like(X[:, 0]))[0].T)
    x, y = RNG.random(shape), RNG.random(shape[::-1])
    wanted, state = np.zeros(shape), np.zeros(shape[0])
    for k in range(shape[1]):
        state = x[:, k] * y[k] + (x[:, k - 1] if k else 0) + state
        wanted[:, k] = state
    np.testing.assert_allclose(f(x, y), wanted, rtol=1e-13)


def test_two_rows_of_what_is_transposed() -> None:
    def step(before: Any, a: Any, s: Any) -> Any:
        return 0.5 * s + a - before

    rows = {"input": X.T, "taps": [-1, 0]}
    f = compiled([X], symc.scan(step, rows, T.zeros_like(X[:, 0]))[0].T)
    assert not is_transposed(f)
    for shape in SHAPES[2:]:
        x = RNG.random(shape)
        wanted = np.zeros((shape[0], shape[1] - 1))
        for k in range(1, shape[1]):
            wanted[:, k - 1] = x[:, k] - x[:, k - 1] + (0.5 * wanted[:, k - 2] if k > 1 else 0)
        np.testing.assert_allclose(f(x), wanted, rtol=1e-12, atol=1e-14)


OTHER_USES: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Any]]] = {
    "what is transposed": (lambda x: [filtered(x), x.T * 1], lambda x: [in_numpy(x), x.T]),
    "what is to be": (
        lambda x: [(y := filtered(x)), y.T.sum(axis=0) + y.T[0, 0]],
        lambda x: [in_numpy(x), in_numpy(x).sum(axis=1) + in_numpy(x)[0, 0]],
    ),
    "the result": (lambda x: (y := filtered(x)) + y[:1], lambda x: (y := in_numpy(x)) + y[:1]),
    "by two loops": (
        lambda x: [filtered(x), filtered(x, go_backwards=True)],
        lambda x: [in_numpy(x), in_numpy(x[:, ::-1])],
    ),
    "of the argument": (lambda x: [filtered(x), x * 2], lambda x: [in_numpy(x), x * 2]),
    "one after the other": (lambda x: filtered(filtered(x)), lambda x: in_numpy(in_numpy(x))),
    "both ways": (lambda x: filtered(filtered(x).T).T, lambda x: in_numpy(in_numpy(x).T).T),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("use", OTHER_USES)
@pytest.mark.parametrize("shape", SHAPES[2:])
def test_other_uses(use: str, shape: tuple[int, int]) -> None:
    made, oracle = OTHER_USES[use]
    x = RNG.random(shape)
    found, wanted = compiled([X], made(X))(x), oracle(x)
    for one, other in zip(
        found if isinstance(found, list) else [found],
        wanted if isinstance(wanted, list) else [wanted], strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_variable_that_changes_afterwards() -> None:
    x = RNG.random((9, 12))
    s = symc.shared(x, name="s")
    f = compiled([], filtered(s), updates=[(s, filtered(s) + 1)])
    np.testing.assert_allclose(f(), in_numpy(x), rtol=1e-13)
    np.testing.assert_allclose(s.get_value(), in_numpy(x) + 1, rtol=1e-13)


def test_complex_numbers() -> None:
    x = T.tensor("complex128", (None, None), "x")
    f = compiled([x], filtered(x))
    value = RNG.random((9, 5)) + 1j * RNG.random((9, 5))
    np.testing.assert_allclose(f(value), in_numpy(value), rtol=1e-13)


def test_only_rows_of_what_is_transposed_may_be_used() -> None:
    """A step that reads another row, too, finds the transposed array."""

    def step(k: Any, a: Any, s: Any, turned: Any) -> Any:
        return s + a * turned[k // 2]

    turned = X.T * 1
    steps = T.arange(X.shape[1])
    result, _ = symc.scan(step, [steps, turned], T.zeros_like(X[:, 0]), non_sequences=turned)
    x = RNG.random((9, 12))
    wanted = np.cumsum([x[:, k] * x[:, k // 2] for k in range(12)], axis=0)
    np.testing.assert_allclose(compiled([X], result)(x), wanted, rtol=1e-13)
