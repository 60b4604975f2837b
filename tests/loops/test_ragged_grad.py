"""Gradients of loops whose steps read slices of other lengths: they are computed anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.graph.node import Tensor

Array: TypeAlias = np.ndarray[Any, Any]
Step: TypeAlias = Callable[[Any, Any], Any]


def _rows(i: Any, a: Any) -> tuple[Any, Any]:
    return (i, slice(i, None)), a[i, i:] ** 2


def _columns(i: Any, a: Any) -> tuple[Any, Any]:
    return (slice(i, None), i), a[i:, i] * a[i, i:]


def _window(i: Any, a: Any) -> tuple[Any, Any]:
    return (i, slice(i, i + 2)), np.sin(a[i, i : i + 2])


def _backwards(i: Any, a: Any) -> tuple[Any, Any]:
    return (i, slice(i, None, -1)), a[i, i::-1] * a[i::-1, i]


def _product(i: Any, a: Any) -> tuple[Any, Any]:
    return (slice(i, None), i), np.sin(a[i:, :] @ a[i, :])


@pytest.mark.parametrize("step", [_rows, _columns, _window, _backwards, _product])
def test_a_slice_as_long_as_a_step_says_is_read_anew(step: Step) -> None:
    """The loop was to collect it: "all steps must give the same" refused the gradient."""

    def body(i: Tensor, a: Tensor) -> Tensor:
        place, value = step(i, a)
        return a[place].set(value)

    def expected(a: Array) -> Any:
        for i in range(len(a)):
            place, value = step(i, a)
            a = a.copy()
            a[place] = value
        return (np.cos(np.arange(a.size)) * a.ravel()).sum()

    a, v = T.matrix("a"), T.matrix("v")
    last = symc.fori_loop(0, a.shape[0], body, a)
    cost = (T.cos(T.arange(last.size)) * last.ravel()).sum()
    f = symc.function([a, v], [symc.grad(cost, a), symc.Rop(cost, a, v)])
    rng = np.random.default_rng(0)
    for length in (0, 1, 2, 5):
        values, along = rng.normal(size=(2, length, length))
        slopes = np.zeros((length, length))
        for place in np.ndindex(*slopes.shape):
            moved = values.astype(complex)
            moved[place] += 1e-30j
            slopes[place] = expected(moved).imag / 1e-30
        gradient, pushed = f(values, along)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(pushed, (slopes * along).sum(), rtol=1e-10, atol=1e-12)
