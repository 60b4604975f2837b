"""Loops over columns and channels: their steps are done in the order of memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

X = np.arange(12.0).reshape(3, 4)


def columns(x: Any, column: Any) -> Any:
    """A matrix whose columns are set one by one."""
    return symc.fori_loop(
        0, x.shape[1], lambda j, out: out[:, j].set(column(j)), T.zeros_like(x)
    )  # fmt: skip


def kernels(f: Any) -> str:
    text: str = f.source
    return text[text.index("---- kernels") : text.index("---- host")]


def loops(f: Any) -> list[str]:
    """What the loops of kernels end at, from the outside in."""
    return re.findall(r"for \(int64_t \w+ = \w+; \w+ < (\w+)", kernels(f))


def test_columns_are_one_flat_loop() -> None:
    x = T.matrix("x")
    f = symc.function([x], columns(x, lambda j: T.exp(x[:, j]) * 2), device="cpu")
    np.testing.assert_allclose(f(X), np.exp(X) * 2)
    assert "out[i] = exp(x[i]) * 2.0" in kernels(f)
    assert "= 0.0" not in kernels(f)  # nothing is filled before


def test_rows_of_columns_with_something_of_each_column() -> None:
    x, scale = T.matrix("x"), T.vector("scale")
    f = symc.function([x, scale], columns(x, lambda j: x[:, j] * scale[j]), device="cpu")
    np.testing.assert_allclose(f(X, X[0] + 1), X * (X[0] + 1))
    assert loops(f)[-1] == "x_1"  # the columns are innermost


def test_what_columns_compute_once_is_not_computed_for_each_row() -> None:
    x, scale = T.matrix("x"), T.vector("scale")
    f = symc.function([x, scale], columns(x, lambda j: x[:, j] * T.exp(scale[j])), device="cpu")
    np.testing.assert_allclose(f(X, X[0]), X * np.exp(X[0]))
    text = kernels(f)
    assert text.count("exp(") >= 1
    exponential = next(line for line in text.splitlines() if "= exp(" in line or " exp(" in line)
    innermost = max(len(line) - len(line.lstrip()) for line in text.splitlines())
    assert len(exponential) - len(exponential.lstrip()) < innermost


def test_few_columns_stay_as_they_are() -> None:
    x = T.tensor("float64", (None, 3), "x")
    f = symc.function([x], columns(x, lambda j: x[:, j] * (1.0 + j)))
    given = X.reshape(4, 3)
    np.testing.assert_allclose(f(given), given * [1.0, 2.0, 3.0])


def test_windows_of_pictures_have_their_batch_outside() -> None:
    x = T.tensor4("x")
    b, h, w, c = x.shape

    def cell(i: Any, j: Any, out: Any) -> Any:
        window = x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :]
        return out[:, i, j, :].set(T.max(window, axis=(1, 2)))

    def row(i: Any, out: Any) -> Any:
        return symc.fori_loop(0, w // 2, lambda j, out: cell(i, j, out), out)

    f = symc.function(
        [x], symc.fori_loop(0, h // 2, row, T.zeros((b, h // 2, w // 2, c))), device="cpu"
    )
    given = np.random.default_rng(0).random((3, 6, 8, 5))
    expected = given.reshape(3, 3, 2, 4, 2, 5).max(axis=(2, 4))
    np.testing.assert_array_equal(f(given), expected)
    assert loops(f) == ["end", "x_0", "n_2", "x_3"]
    assert "= 0.0" not in kernels(f)


# --- random orders of random loops ----------------------------------------------------------------


def program(rng: np.random.Generator) -> tuple[Any, Any, list[Any]]:
    """An array computed by nested loops over some of its axes, the same in NumPy, and arguments."""
    rank = int(rng.integers(2, 5))
    looped = list(map(int, rng.permutation(rank)[: rng.integers(1, rank + 1)]))
    shape = tuple(map(int, rng.integers(0, 6, rank)))
    known = tuple([n if rng.random() < 0.3 else None for n in shape])
    x, scale = T.tensor("float64", known, "x"), T.tensor("float64", (None,), "scale")
    reads_turned, keeps = rng.random() < 0.3 and len(set(shape)) == 1, rng.random() < 0.3
    kind = int(rng.integers(4))
    number = int(rng.integers(len(looped)))

    def element(values: Any, factor: Any) -> Any:
        match kind:
            case 0:
                return values * 2 + 1
            case 1:
                return values * factor
            case 2:
                return values * factor * factor + values
            case _:
                return values + factor

    def body(steps: Sequence[Any], out: Any, source: Any, factors: Any, write: Any) -> Any:
        place: list[Any] = [slice(None)] * rank
        for axis, step in zip(looped, steps, strict=True):
            place[axis] = step
        at = tuple(place)
        read = tuple(reversed(at)) if reads_turned and len(looped) == rank else at
        values = element(source[read], factors(steps[number]))
        return write(out, at, values)

    def nested(depth: int, steps: tuple[Any, ...], out: Any) -> Any:
        if depth == len(looped):
            return body(
                steps, out, x, lambda j: T.exp(scale[j]),
                lambda out, at, v: out[at].inc(v) if keeps else out[at].set(v),
            )  # fmt: skip
        return symc.fori_loop(
            0, x.shape[looped[depth]], lambda j, out: nested(depth + 1, (*steps, j), out), out
        )

    result = nested(0, (), T.zeros_like(x))
    f = symc.function([x, scale], result, on_unused_input="ignore")
    given, factors = rng.random(shape), rng.random(6)
    expected = np.zeros(shape)

    def put(out: Any, at: Any, values: Any) -> Any:
        out[at] = out[at] + values if keeps else values

    for steps in np.ndindex(*[shape[axis] for axis in looped]):
        body(steps, expected, given, lambda j: np.exp(factors[j]), put)
    return f, expected, [given, factors]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(40))
def test_any_order_gives_the_same(seed: int) -> None:
    f, expected, given = program(np.random.default_rng(seed))
    np.testing.assert_allclose(f(*given), expected, rtol=1e-14)
