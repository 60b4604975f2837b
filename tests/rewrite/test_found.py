"""An extreme beside its place is the element there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.pipeline import rewrite
from symc.tensor.fold import Reduce

KINDS = ("min", "max")


def sought(*roots: Tensor) -> int:
    """How many reductions to extremes there are after rewriting, that may not be empty."""
    nodes = walk(rewrite(roots, []).outputs)
    return sum(isinstance(n.op, Reduce) and n.op.is_sought and not n.op.allow_empty for n in nodes)


def both(kind: str, x: Any, axis: int | None) -> tuple[Any, Any]:
    return getattr(x, kind)(axis=axis), getattr(x, f"arg{kind}")(axis=axis)


def agree(found: Any, wanted: Any) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, None])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint64", "bool"])
def test_an_extreme_and_its_place_are_found_in_one_pass(kind: str, axis: Any, dtype: str) -> None:
    x = T.tensor(dtype, (None, None, None), name="x")
    results = both(kind, x, axis)
    assert sought(*results) == (axis is None)
    f = symc.function([x], results)
    rng = np.random.default_rng(0)
    for shape in [(1, 1, 1), (2, 3, 4), (3, 1, 40), (40, 2, 1), (5, 700, 2), (3, 2, 700)]:
        given = rng.integers(0, 9, shape).astype(dtype)
        agree(f(given), both(kind, given, axis))
        if given.dtype.kind == "f":
            given[rng.random(shape) < 0.05] = np.nan
            given[rng.random(shape) < 0.05] = np.inf
            agree(f(given), both(kind, given, axis))
            agree(f(given * np.nan), both(kind, given * np.nan, axis))


@pytest.mark.parametrize("kind", KINDS)
def test_an_extreme_of_computed_rows_is_computed_again_at_its_place(kind: str) -> None:
    x = T.matrix("x")
    results = both(kind, T.cummax(x, axis=1) / (1 + x * x), 1)
    assert sought(*results) == 0
    f = symc.function([x], results)
    given = np.random.default_rng(1).standard_normal((30, 250))
    values = np.maximum.accumulate(given, axis=1) / (1 + given * given)
    (found, place), wanted = f(given), both(kind, values, 1)
    np.testing.assert_allclose(found, wanted[0], rtol=1e-14)
    np.testing.assert_array_equal(place, wanted[1])


@pytest.mark.parametrize("kind", KINDS)
def test_an_extreme_of_no_elements_beside_its_place_is_an_error(kind: str) -> None:
    x = T.matrix("x")
    f = symc.function([x], both(kind, x, 1))
    for found in f(np.zeros((0, 3))):
        assert found.shape == (0,)
    with pytest.raises(ValueError, match=kind):
        f(np.zeros((3, 0)))


@pytest.mark.parametrize("kind", KINDS)
def test_an_extreme_that_is_compared_with_its_elements_is_one_of_them(kind: str) -> None:
    x = T.matrix("x")
    y = T.exp(x) / (1 + x * x)
    extreme, place = both(kind, y, 1)
    results = [extreme, place, symc.grad(extreme.sum(), x), T.eq(y, extreme[:, None]).sum(axis=1)]
    f = symc.function([x], results)
    given = np.random.default_rng(2).standard_normal((30, 250))
    _, place, slope, count = f(given)
    assert count.tolist() == [1] * 30
    assert np.flatnonzero(slope).tolist() == (np.arange(30) * 250 + place).tolist()


def test_extremes_along_other_axes_or_of_the_other_kind_are_computed() -> None:
    x = T.matrix("x")
    assert sought(x.max(axis=0), x.argmax(axis=1)) == 1
    assert sought(x.max(axis=1), x.argmin(axis=1)) == 1
    assert sought(x.max(axis=1), x.min(axis=1), x.argmin(axis=1), x.argmax(axis=1)) == 0


def test_extremes_and_places_in_a_loop_are_found_in_one_pass() -> None:
    x = T.tensor3("x")
    f = symc.function([x], symc.map(lambda row: list(both("max", row, 0)), x)[0])
    given = np.random.default_rng(3).standard_normal((4, 5, 6))
    agree(f(given), both("max", given, 1))
