"""Places that are clipped to bounds: one condition of lengths in place of one for each place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DivisionByZero
from symc.graph.node import Tensor

PLACES = np.array([0, 5, -3, 1])


def clipped(m: Any, t: Any, low: Any, high: Any) -> Any:
    return m.minimum(m.maximum(t, low), high)


def conditions(node: Tensor) -> list[int]:
    """The ranks of what a node asks to be true."""
    found = [requirement.holds for requirement in node.op.require(node)]
    return [holds.ndim for holds in found if isinstance(holds, Tensor)]


BY_LENGTHS: list[Callable[[Any, Any, Any, Any], Any]] = [
    lambda m, t, n, k: clipped(m, t, 0, n - 2),
    lambda m, t, n, k: clipped(m, t, 0, n - 3),
    lambda m, t, n, k: clipped(m, t, 0, n - 2) + 1,
    lambda m, t, n, k: 1 + clipped(m, t, 0, n - 2) - 1,
    lambda m, t, n, k: n - 1 - clipped(m, t, 0, n - 1),
    lambda m, t, n, k: -clipped(m, t, 1, n - 1),
    lambda m, t, n, k: m.maximum(m.minimum(t, n - 1), 0),
    lambda m, t, n, k: m.maximum(m.minimum(t, n - 1), 2),
    lambda m, t, n, k: clipped(m, t, k, n - 1),
    lambda m, t, n, k: clipped(m, t, 0, m.minimum(n, k) - 1),
    lambda m, t, n, k: clipped(m, t, 0, n - 1 - k)[:, None] + 0,
    lambda m, t, n, k: clipped(m, t, 0, n - 2).astype("int64")[None].reshape((-1,)),
    lambda m, t, n, k: m.minimum(clipped(m, t, 0, n - 2), k - 2),
]


def agree(f: Any, node: Tensor, given: tuple[Any, ...], places: Any) -> None:
    """The elements that NumPy takes, or an error that names the first place that is outside."""
    n = len(given[0])
    outside = places[(places < -n) | (places >= n)]
    if not outside.size:
        np.testing.assert_array_equal(f(*given), given[0][places])
        return
    with pytest.raises(BadIndex) as caught:
        f(*given)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"index {outside[0]} is out of bounds for axis 0 with length {n}"
    assert lines[-1] == f"  at     {node.where}"


@pytest.mark.parametrize("number", range(len(BY_LENGTHS)))
def test_clipped_places_are_in_range_if_lengths_are(number: int) -> None:
    x, t, y = T.vector("x"), T.lvector("t"), T.vector("y")

    node = x[BY_LENGTHS[number](T, t, x.shape[0], y.shape[0])]
    assert max(conditions(node), default=0) == 0
    f = symc.function([x, t, y], node, on_unused_input="ignore")
    for n in range(6):
        for k in range(4):
            for places in (PLACES, PLACES[:0], PLACES + 9, PLACES - 9):
                given = np.arange(float(n)), places, np.zeros(k)
                agree(f, node, given, BY_LENGTHS[number](np, places, n, k))


def test_places_that_lengths_do_not_decide_are_compared() -> None:
    x, t, k = T.vector("x"), T.lvector("t"), T.lscalar("k")
    n = x.shape[0]
    for places in (
        T.minimum(t, n - 1), T.maximum(t, 0), T.clip(t, 0, n), T.clip(t, 0, k),
        T.clip(t, 0, n - 1) + t, T.clip(t, 0, n - 1) * 2, T.where(t > 0, 0, n - 9),
        T.clip(t, 0, 2 - n), T.clip(t, -n - 1, n - 1),
        T.clip(t, 0, n - 9)[t], T.clip(t, -2**62, 2**62) + T.clip(t, -2**62, 2**62),
    ):  # fmt: skip
        assert max(conditions(x[places])) == 1


def test_choices_of_narrow_integers_have_the_bounds_of_their_arguments() -> None:
    x = T.tensor("float64", (9,))
    for dtype in ("int8", "uint16", "int32"):
        t = T.vector("t", dtype)
        assert conditions(x[T.clip(t, 0, 8)]) == []
        assert len(conditions(x[T.clip(t, 0, 9)])) == 1
        assert len(conditions(x[T.clip(t, 0, 8) + T.clip(t, 0, 8)])) == 1


def test_no_loop_compares_clipped_places() -> None:
    x, t = T.vector("x"), T.vector("t")
    at = T.clip(T.floor(t).astype("int64"), 0, x.shape[0] - 2)
    f = symc.function([x, t], x[at] + x[at + 1], device="cpu")
    kernels = f.source[f.source.index("---- kernels") : f.source.index("---- host")]
    assert sum("for (" in kernel for kernel in kernels.split("static ")) == 1


def test_a_condition_of_lengths_is_asked_where_places_are_used_alone() -> None:
    x, t, c = T.vector("x"), T.lmatrix("t"), T.lvector("c")

    def rows(row: Any, chosen: Any) -> Any:
        places = T.clip(row, 0, x.shape[0] - 3)
        return symc.ifelse(chosen > 0, x[places].sum(), T.zeros(()))

    f = symc.function([x, t, c], symc.map(rows, [t, c])[0])
    few, many = np.arange(1.0), np.arange(7.0)
    assert f(few, PLACES[None], [0]).tolist() == [0]
    assert f(few, np.zeros((0, 4), int), np.zeros(0, int)).tolist() == []
    assert f(few, np.zeros((2, 0), int), [1, 1]).tolist() == [0, 0]
    assert f(many, np.stack([PLACES, PLACES]), [0, 1]).tolist() == [0, 5]
    with pytest.raises(BadIndex, match="index -2 is out of bounds for axis 0 with length 1"):
        f(few, np.stack([PLACES, PLACES]), [0, 1])


def test_errors_come_in_the_order_in_which_they_were_written() -> None:
    x, t, d = T.vector("x"), T.lvector("t"), T.lvector("d")
    f = symc.function([x, t, d], x[T.clip(t // d, 0, x.shape[0] - 3)])
    with pytest.raises(DivisionByZero):
        f([1.0], PLACES, PLACES)
    with pytest.raises(BadIndex, match="index -2 is"):
        f([1.0], PLACES, [1, 1, 1, 1])


def test_clipped_places_that_are_written() -> None:
    x, t = T.vector("x"), T.lvector("t")
    f = symc.function([x, t], x[T.clip(t, 0, x.shape[0] - 3)].inc(1.0))
    assert f(np.zeros(5), PLACES).tolist() == [2, 1, 1, 0, 0]
    assert f(np.zeros(2), PLACES).tolist() == [0, 4]
    assert f(np.zeros(1), PLACES[:0]).tolist() == [0]
    with pytest.raises(BadIndex, match="index -2 is out of bounds for axis 0 with length 1"):
        f(np.zeros(1), PLACES)


def random_places(rng: Any, m: Any, given: tuple[Any, ...], depth: int) -> Any:
    t, n, k = given

    def leaf() -> Any:
        small = int(rng.integers(-3, 4))
        return [t, n, k, small, n - abs(small), 2 * n - k][rng.integers(6)]

    if depth == 0:
        return leaf()
    inner, other, kind = random_places(rng, m, given, depth - 1), leaf(), rng.integers(8)
    bounds = [(0, n - abs(int(rng.integers(-3, 4)))), (-n, n - 1), (other, n - 1), (k - n, n - 1)]
    low, high = bounds[rng.integers(4)]
    match kind:
        case 0 | 1:
            return clipped(m, inner, low, high)
        case 2:
            return m.maximum(m.minimum(inner, high), low)
        case 3:
            return inner + other
        case 4:
            return other - inner
        case 5:
            return m.minimum(inner, other)
        case 6:
            return m.maximum(other, inner)
        case _:
            return -inner


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(40))
def test_random_clipped_places(seed: int) -> None:
    x, t, y = T.vector("x"), T.lvector("t"), T.vector("y")
    ends, shift, depth = seed % 4, seed % 3 - 1, seed % 5

    def places(m: Any, t: Any, n: Any, k: Any) -> Any:
        found = random_places(np.random.default_rng(seed), m, (t, n, k), depth) + 0 * t
        return (clipped(m, found, 0, n - ends) if ends else found) + shift

    node = x[places(T, t, x.shape[0], y.shape[0])]
    f = symc.function([x, t, y], node, on_unused_input="ignore")
    rng = np.random.default_rng(seed)
    for n in range(5):
        for count in (0, 1, 6):
            given = np.arange(float(n)), rng.integers(-6, 7, count), np.zeros(rng.integers(4))
            wanted = places(np, given[1], n, len(given[2]))
            agree(f, node, given, wanted)


def test_the_only_place_there_is_is_not_read_for_nobody() -> None:
    """The first element of an array of none was read before a loop of no steps."""
    x, t = T.tensor("uint8", (0, None, 2), "x"), T.tensor("uint8", (None, 1, 1), "t")
    f = symc.function([x, t], T.take(x, t % 97, mode="wrap"))
    got = f(np.zeros((0, 5, 2), "uint8"), np.zeros((0, 1, 1), "uint8"))
    assert got.shape == (0, 1, 1)
    with pytest.raises(BadIndex):
        f(np.zeros((0, 5, 2), "uint8"), np.zeros((1, 1, 1), "uint8"))


PLACES_OF_NOBODY: list[Callable[[Tensor, Tensor], Tensor]] = [
    lambda k, t: T.zeros_like(t, dtype="int64") + k,
    lambda k, t: T.full(t.shape, 10**12),
    lambda k, t: T.maximum(T.zeros_like(t, dtype="int64"), k),
    lambda k, t: (T.zeros_like(t, dtype="int64") + k) * 2 - 5,
]


@pytest.mark.parametrize("places", PLACES_OF_NOBODY)
def test_a_place_that_is_the_same_for_all_is_not_read_for_none(places: Any) -> None:
    """The element was loaded before the loop over no elements, wherever that was: a crash."""
    x, k, t = T.vector("x"), T.lscalar("k"), T.vector("t")
    f = symc.function([x, k, t], x[places(k, t)] * t, on_unused_input="ignore")
    assert f(np.ones(3), 10**12, np.zeros(0)).shape == (0,)
    with pytest.raises(BadIndex):
        f(np.ones(3), 10**12, np.zeros(1))
