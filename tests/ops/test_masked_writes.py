"""Elements that a mask chooses, computed from others that it chooses, and written back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

POSITIONS = "symc_flat_nonzero"


def _mandelbrot_by_masks(c: Any, steps: int) -> tuple[Any, Any]:
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int64)
    for step in range(steps):
        inside = np.abs(z) < 2
        count[inside] = step
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def test_mandelbrot_by_masks() -> None:
    c = T.zmatrix("c")

    def step(i: Any, z: Any, count: Any) -> Any:
        inside = abs(z) < 2
        return z[inside].set(z[inside] ** 2 + c[inside]), count[inside].set(i)

    start = (T.zeros_like(c), T.zeros(c.shape, "int64"))
    f = symc.function([c], symc.fori_loop(0, 30, step, start))
    points = np.linspace(-2.25, 0.75, 33) + 1j * np.linspace(-1.25, 1.25, 21)[:, None]
    z, count = f(points)
    expected_z, expected_count = _mandelbrot_by_masks(points, 30)
    assert np.array_equal(count, expected_count)
    np.testing.assert_allclose(z, expected_z, rtol=1e-9)
    assert POSITIONS not in f.source


def _set(a: Any, b: Any, m: Any) -> None:
    a[m] = np.sqrt(a[m] + 9) - b[m] / 3


def _inc(a: Any, b: Any, m: Any) -> None:
    a[m] += 1 / b[m]


def _rows(a: Any, b: Any, m: Any) -> None:
    a[m[:, 0]] *= b[0]


@pytest.mark.parametrize(
    ("written", "build"),
    [
        (_set, lambda a, b, m: a[m].set(T.sqrt(a[m] + 9) - b[m] / 3)),
        (_inc, lambda a, b, m: a[m].inc(1 / b[m])),
        (_rows, lambda a, b, m: a[m[:, 0]].set(a[m[:, 0]] * b[0])),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_values_are_numpys(
    written: Callable[[Any, Any, Any], None], build: Callable[..., Any], dtype: str
) -> None:
    a, b, m = T.matrix("a", dtype), T.matrix("b", dtype), T.matrix("m", "bool")
    f = symc.function([a, b, m], build(a, b, m))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 40, 7)).astype(dtype)
    mask = rng.random((40, 7)) < 0.3
    y[~mask] = 0  # what is not chosen is not divided by
    expected = x.copy()
    written(expected, y, mask)
    np.testing.assert_allclose(f(x, y, mask), expected, rtol=1e-6 if dtype == "float32" else 1e-14)
    for misfit in [(x[1:], y, mask), (x, y[1:], mask), (x, y, mask[1:]), (x, y, mask[:, :1])]:
        if written is not _rows:
            with pytest.raises(BadIndex, match="a mask's axis"):
                f(*misfit)


def test_what_is_not_chosen_is_not_refused() -> None:
    i = T.lvector("i")
    f = symc.function([i], i[T.neq(i, 0)].set(12 // i[T.neq(i, 0)]))
    assert f([-3, -1, 0, 2, 5]).tolist() == [-4, -12, 0, 6, 2]


def test_a_mask_of_another_length_where_nothing_else_is_read() -> None:
    x, m = T.vector("x"), T.vector("m", "bool")
    f = symc.function([x, m], x[m].shape[0])
    assert f([1.0, 2.0, 3.0], [True, False, True]) == 2
    with pytest.raises(BadIndex, match="a mask's axis"):
        f([1.0, 2.0, 3.0], [True] * 4)


@pytest.mark.parametrize("lengths", [(3, 5), (5, 3), (3, 3000)])
def test_a_branch_that_is_not_taken_says_nothing_of_lengths(lengths: tuple[int, int]) -> None:
    """The result had the mask's length: it was read and written beyond the end of arrays."""
    y, m, c = T.vector("y"), T.vector("m", "bool"), T.lscalar("c")
    n, k = lengths
    for taken in (y[m].inc(y[m]), y[m].set(y[m] * 2), y[m].set(1.0), y * y[m].sum()):
        branch = symc.ifelse(T.gt(c, 0), taken, y * 2.0)
        for result in (branch, symc.grad(branch.sum(), y)):
            f = symc.function([y, m, c], result)
            assert f(np.ones(n), np.ones(k, bool), 0).tolist() == [2.0] * n
            if n != k:
                with pytest.raises(BadIndex, match="a mask's axis"):
                    f(np.ones(n), np.ones(k, bool), 1)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_gradients_of_loops_that_write_where_a_mask_is_true(steps: int) -> None:
    """Those of no steps raised."""
    x, y, m, n = T.vector("x"), T.vector("y"), T.vector("m", "bool"), T.lscalar("n")
    last = symc.fori_loop(0, n, lambda i, s: s[m].set(s[m] * 2 + y[m]), x)
    f = symc.function([x, y, m, n], symc.grad(last.sum(), [x, y]), on_unused_input="ignore")
    gx, gy = f(np.arange(4.0), np.ones(4), [True, False, True, False], steps)
    assert gx.tolist() == [2.0**steps, 1.0, 2.0**steps, 1.0]
    assert gy.tolist() == [2.0**steps - 1, 0.0, 2.0**steps - 1, 0.0]


def test_gradients() -> None:
    x, w = T.vector("x"), T.vector("w")
    y = x[x > 0].set(T.sqrt(x[x > 0]) * w[x > 0])
    f = symc.function([x, w], symc.grad(y.sum(), [x, w]))
    gx, gw = f([-1.0, 4.0, 0.0, 9.0], [1.0, 2.0, 3.0, 6.0])
    assert gx.tolist() == [1.0, 0.5, 1.0, 1.0]
    assert gw.tolist() == [0.0, 2.0, 0.0, 3.0]
    assert POSITIONS not in f.source


def test_in_place() -> None:
    x, state = T.vector("x", shape=(6,)), symc.shared(np.zeros(6))
    f = symc.function([x], [], updates={state: state[x > 0].inc(x[x > 0] * 2)})
    f(np.arange(-3.0, 3))
    assert state.get_value().tolist() == [0, 0, 0, 0, 2, 4]
    assert "sum_kernel" not in f.source  # nobody needs to know how many there are


def test_one_mask_of_two_tensors_has_its_positions_once() -> None:
    x, y, m = T.vector("x"), T.vector("y"), T.vector("m", "bool")
    f = symc.function([x, y, m], [x[m], T.cumsum(y[m])])
    assert f.source.count(f"{POSITIONS}(") == 2  # its definition, and a call
    assert [r.tolist() for r in f([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [True, False, True])] == [
        [1.0, 3.0], [4.0, 10.0],
    ]  # fmt: skip
    with pytest.raises(BadIndex, match="a mask's axis"):
        f([1.0, 2.0, 3.0], [4.0, 5.0], [True, False, True])
