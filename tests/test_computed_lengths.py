"""Arrays whose lengths are computed: by arithmetic of lengths, by numbers, by both."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch
from symc.graph.node import Tensor

LENGTHS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a square": lambda n, _: T.sqr(n),
    "a cube": lambda n, _: n**3,
    "a square of a number": lambda _, k: k * k,
    "both": lambda n, k: T.sqr(k) + n * n,
    "a choice": lambda n, k: T.where(k > 2, k, n),
    "a product of extremes": lambda n, k: T.maximum(k, n) * T.maximum(k, n),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_arrays_of_computed_lengths(name: str) -> None:
    v, k = T.vector("v"), T.scalar("k", dtype="int64")
    z = T.concatenate([T.zeros((LENGTHS[name](v.shape[0], k),)), v])[::-1].inc(1.0)
    z = z[1:].set(T.exp(z[1:]))
    total = T.sort(z).sum() + (z * T.arange(z.shape[0])).sum()
    outputs = [total, symc.grad(total, v), z.shape[0]]
    values = np.array([0.5, 1.5, -2.0]), 3
    wanted = symc.function([v, k], outputs, mode="python", on_unused_input="ignore")(*values)
    found = symc.function([v, k], outputs, on_unused_input="ignore")(*values)
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-13)


def test_a_diagonal_of_unknown_length_has_a_gradient() -> None:
    """Seed 5500018 of gradients: the square of a length, rewritten, was in no declaration."""
    v = T.vector("v")
    filled = T.nanquantile(T.fill_diagonal(T.diagflat(v, -1), 3), 0.3, axis=-2)
    cost = T.sum(T.repeat(filled, 2) * np.arange(6.0))
    outputs = [cost, symc.grad(cost, v)]
    for mode in ("python", "default"):
        found = symc.function([v], outputs, mode=mode)(np.ones(2))
        np.testing.assert_allclose(found[0], 0.6 * (0 + 1 + 2 + 3))
        np.testing.assert_allclose(found[1], 0.6 * np.array([0 + 1, 2 + 3]))


# Results whose lengths are computed from the very elements that they hold.
OWN_LENGTHS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "as it is": lambda m, _: m,
    "written into": lambda m, _: m[0].set(7),
    "added to": lambda m, _: m[:, 0].inc(7),
    "a loop's state": lambda m, _: symc.scan(lambda s: s * 2, outputs_info=m, n_steps=2)[0][-1],
    "in a third shape": lambda m, n: m[0].set(7).reshape((2, n)),
}


@pytest.mark.parametrize("name", OWN_LENGTHS)
def test_a_result_of_a_length_among_its_elements(name: str) -> None:
    """The elements were written before the caller had been asked for memory: a segmentation fault.

    The memory is of the lengths that the reshape has, which are known when the elements are.
    """
    v = T.vector("v", dtype="int64")
    row = T.cumsum(v)
    result = OWN_LENGTHS[name](row.reshape((row[-1], 2)), row[-1])
    f = symc.function([v], result)
    wanted = symc.function([v], result, mode="python")
    for values in ([1, 0], [1, 1, 1, 0, 0, 0]):
        np.testing.assert_array_equal(f(values), wanted(values))


def test_a_new_value_of_a_length_among_its_elements() -> None:
    v, w = T.vector("v"), symc.shared(np.zeros((1, 2)), name="w")
    row = T.sort(v)
    symc.function([v], [], updates={w: row.reshape((T.cast(row[0], "int64"), 2))})([2.0, 1.0])
    np.testing.assert_array_equal(w.get_value(), [[1.0, 2.0]])


def test_a_result_of_lengths_that_nothing_asks_for_beforehand() -> None:
    """Conditions ask for other lengths first: those of the result became known after its memory."""
    from symc.theano import function, scan
    from symc.theano import tensor as tt

    x, u = tt.dmatrix("x"), tt.dvector("u")
    spread = x.std(axis=0)
    rows = scan(lambda row, state: tt.tanh(row + state * 0.5), sequences=[x], outputs_info=[u])[0]
    tiles = tt.tile(tt.diag(rows, 1).sum() + spread, (3, 1))
    slope = tt.grad(tt.sqr(tt.tanh(tiles)).sum(), u)
    found = function([x, u], [tiles, slope])(np.eye(3), np.ones(3))
    assert [each.shape for each in found] == [(3, 3), (3,)]


def test_computed_lengths_that_a_check_found_equal_are_one() -> None:
    """Loops over even and odd elements were two, and what one made the other one read again."""
    x = T.dvector("x")
    even, odd = x[0::2], x[1::2]
    mean = 0.25 * even + 0.75 * odd
    f = symc.function([x], [mean, (odd - mean) * 0.5, (even - mean) * 2])
    assert len(f.runner.compilation().optimised.kernels) == 1, f.explain()
    given = np.random.default_rng(0).normal(size=10)
    found = f(given)
    wanted = 0.25 * given[0::2] + 0.75 * given[1::2]
    np.testing.assert_allclose(found[0], wanted)
    np.testing.assert_allclose(found[1], (given[1::2] - wanted) * 0.5)
    np.testing.assert_allclose(found[2], (given[0::2] - wanted) * 2)
    with pytest.raises(ShapeMismatch):
        f(given[:9])


def test_three_computed_lengths_are_one() -> None:
    x, y = T.dvector("x"), T.dvector("y")
    parts = [x[::3], y[1:], x[::2][: y.shape[0] // 2]]
    f = symc.function([x, y], [parts[0] + parts[1], parts[1] * parts[2], parts[2] - parts[0]])
    a, b = np.arange(5.0), np.arange(3.0)
    with pytest.raises(ShapeMismatch):
        f(a, b)
    a, b = np.arange(4.0), np.arange(2.0) + 1
    for found, wanted in zip(
        f(a[:1], b), [a[:1] + b[1:], b[1:] * a[:1], a[:1] - a[:1]], strict=True
    ):
        np.testing.assert_allclose(found, wanted)
