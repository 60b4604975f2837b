"""Choosing elements by index, mask or number, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DTypeError, RankError, ShapeMismatch
from symc.graph.interpreter import evaluate
from tests.ops.harness import check, same
from tests.ops.index_cases import message, values_for
from tests.ops.lowering_check import check_lowering, enforce

Build = Callable[..., Any]
INDEX = np.array([[1, -1], [0, 1]])
ALONG = np.array([[1, 0, -1, 2], [0, 0, 1, 1]])
CHOICE = np.array([2, 0, 1])
MASK = np.array([True, False, True])

# name, symc's function, NumPy's function
MATRIX: list[tuple[str, Build, Build]] = [
    ("take all", lambda x: T.take(x, INDEX), lambda x: np.take(x, INDEX)),
    ("take 0", lambda x: T.take(x, INDEX, 0), lambda x: np.take(x, INDEX, 0)),
    ("take -1", lambda x: x.take(INDEX, axis=-1), lambda x: np.take(x, INDEX, -1)),
    ("take one", lambda x: T.take(x, 1, 1), lambda x: np.take(x, 1, 1)),
    ("take none", lambda x: T.take(x, [], 1), lambda x: np.take(x, np.zeros(0, int), 1)),
    (
        "take wrap",
        lambda x: T.take(x, [9, -7, 0], 0, mode="wrap"),
        lambda x: np.take(x, [9, -7, 0], 0, mode="wrap"),
    ),
    (
        "take clip",
        lambda x: T.take(x, [9, -7, 0], 1, mode="clip"),
        lambda x: np.take(x, [9, -7, 0], 1, mode="clip"),
    ),
    (
        "along 0",
        lambda x: T.take_along_axis(x, ALONG, 0),
        lambda x: np.take_along_axis(x, ALONG, 0),
    ),
    (
        "along 1",
        lambda x: T.take_along_axis(x, ALONG[[0, 1, 1], :2], axis=1),
        lambda x: np.take_along_axis(x, ALONG[[0, 1, 1], :2], axis=1),
    ),
    (
        "along all",
        lambda x: T.take_along_axis(x, CHOICE, None),
        lambda x: np.take_along_axis(x, CHOICE, None),
    ),
    (
        "along argmax",
        lambda x: T.take_along_axis(x, T.argmax(x, axis=1, keepdims=True), 1),
        lambda x: x.max(1, keepdims=True),
    ),
    ("compress", lambda x: T.compress(MASK, x, 0), lambda x: np.compress(MASK, x, 0)),
    ("compress 1", lambda x: x.compress(MASK, axis=1), lambda x: np.compress(MASK, x, 1)),
    ("compress all", lambda x: T.compress(MASK, x), lambda x: np.compress(MASK, x)),
    ("extract", lambda x: T.extract(x > 0, x), lambda x: np.extract(x > 0, x)),
    (
        "choose among",
        lambda x: T.choose(CHOICE[:, None], [x, 2.0, x[0]]),
        lambda x: np.choose(CHOICE[:, None], [x, 2.0, x[0]]),
    ),
    (
        "choose wrap",
        lambda x: T.choose([5, -1, 0], (x[:, 0], x[:, 1]), mode="wrap"),
        lambda x: np.choose([5, -1, 0], (x[:, 0], x[:, 1]), mode="wrap"),
    ),
    (
        "choose clip",
        lambda x: T.choose([5, -1, 0], (x[:, 0], x[:, 1]), mode="clip"),
        lambda x: np.choose([5, -1, 0], (x[:, 0], x[:, 1]), mode="clip"),
    ),
    (
        "select",
        lambda x: T.select([x > 1, x > 0], [x, x * 2], -1.0),
        lambda x: np.select([x > 1, x > 0], [x, x * 2], -1.0),
    ),
    ("nonzero", lambda x: T.nonzero(x > 0), lambda x: np.nonzero(x > 0)),
    ("flatnonzero", lambda x: T.flatnonzero(x > 0), lambda x: np.flatnonzero(x > 0)),
    ("argwhere", lambda x: T.argwhere(x > 0), lambda x: np.argwhere(x > 0)),
    ("no nonzero", lambda x: T.nonzero(x > 99), lambda x: np.nonzero(x > 99)),
    ("all nonzero", lambda x: x.nonzero(), lambda x: x.nonzero()),
]  # fmt: skip


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("name", "build", "oracle"), MATRIX, ids=[row[0] for row in MATRIX])
def test_against_numpy(name: str, build: Build, oracle: Build, static: bool) -> None:
    x = values_for((3, 4), 5)
    check(build, x, oracle=oracle, static=static)
    check_lowering(build, x, static=static)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(0,), (1,), (0, 3), (3, 0), (1, 1), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_nonzero(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    for build, oracle in ((T.nonzero, np.nonzero), (T.flatnonzero, np.flatnonzero)):
        check(build, x, oracle=oracle)
        check_lowering(build, x)
    check(lambda x: x[T.ne(x, 0)], x, oracle=lambda x: x[x != 0])


def _nonzero_both(x: Any) -> list[Any]:
    return [*x.nonzero(), *(~x).nonzero()]


def test_nonzero_of_many() -> None:
    x = np.random.default_rng(1).random((300, 70)) < 0.3
    check(_nonzero_both, x, oracle=_nonzero_both)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_one_hot(dtype: str) -> None:
    x = np.array([[0, 2], [1, 5]], dtype)
    wanted = (x[..., None] == np.arange(3)).astype(np.float64)
    check(lambda x: T.one_hot(x, 3), x, oracle=lambda x: wanted)
    check(lambda x: T.one_hot(x, 3, axis=0), x, oracle=lambda x: np.moveaxis(wanted, -1, 0))
    check(lambda x: T.to_one_hot(x, 3, "int8"), x, oracle=lambda x: wanted.astype("int8"))
    check(lambda x: T.one_hot(x[0, 1], 3), x, oracle=lambda x: wanted[0, 1])
    check_lowering(lambda x: T.one_hot(x, x.shape[0]), x)


def test_what_is_taken_can_be_written() -> None:
    x = T.matrix("x")
    a = values_for((2, 3))
    index = np.array([[2], [0]])
    along, column = T.take_along_axis(x, index, 1).set(0.0), T.take(x, [1], axis=1).inc(1.0)
    expected = [a.copy(), a.copy()]
    np.put_along_axis(expected[0], index, 0.0, 1)
    expected[1][:, 1] += 1
    for value, wanted in zip(evaluate([along, column], {x: a}), expected, strict=True):
        same(value, wanted, 0.0)


def test_choose_with_one_tensor() -> None:
    table, index = values_for((3, 4)), np.array([2, 0, 1, 2])
    check(lambda t: T.choose(index, t), table, oracle=lambda t: np.choose(index, t))
    check(lambda t: T.choose(1, t), table, oracle=lambda t: np.choose(1, t))


def test_a_choice_that_does_not_exist() -> None:
    x, i = T.matrix("x"), T.lvector("i")
    chosen = T.choose(i, [x[0], x[1]])
    function = symc.function([x, i], chosen)
    assert function(np.ones((2, 2)), [0, 1]).tolist() == [1, 1]
    for wrong in (2, -1):
        with pytest.raises(BadIndex, match="out of bounds for axis 0 with length 2"):
            function(np.ones((2, 2)), [0, wrong])


def test_messages() -> None:
    x, v = T.matrix("x"), T.vector("v")
    assert message(DTypeError, lambda: T.take(x, v)) == "take: indexes must be integers"
    assert message(BadIndex, lambda: T.take(x, [0], axis=2)).startswith("take: there is no axis 2")
    assert message(ValueError, lambda: T.take(x, [0], mode="no")) == (  # type: ignore[arg-type]
        "mode must be 'raise', 'wrap' or 'clip', not 'no'"
    )
    assert message(RankError, lambda: T.take_along_axis(x, [0, 1], 0)) == (
        "take_along_axis: the indexes must have as many axes as what they index"
    )
    assert message(RankError, lambda: T.nonzero(3)) == "nonzero needs at least one axis"
    assert (
        message(RankError, lambda: T.compress(x, x)) == "compress: the condition must be a vector"
    )
    assert message(ValueError, lambda: T.choose(0, [])) == "choose: there are no choices"
    assert message(RankError, lambda: T.choose(0, T.scalar())) == "choose: the choices need an axis"
    assert message(ShapeMismatch, lambda: T.select([x > 0], [])) == (
        "select: 1 conditions for 0 choices; both need the same number, at least one"
    )
    assert message(DTypeError, lambda: T.one_hot(v, 3)) == "one_hot: indexes must be integers"
    with pytest.raises(BadIndex, match="index 7 is out of bounds"):
        enforce([T.compress([0] * 7 + [1], x, 0)], {x: np.zeros((3, 2))})


def test_gradients_meet_masks() -> None:
    x = T.vector("x")
    root = T.sqrt(x)
    picked = T.take(root, [0, 2, 2])
    g = symc.grad(T.where(picked > 0, T.log(picked), 0.0).sum(), x)
    value = evaluate([g], {x: np.array([4.0, 1.0, 0.0])})[0]
    same(value, np.array([0.125, 0.0, 0.0]), 1e-15)


@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 1.0])
def test_positions_of_masks_of_many_lengths(part: float) -> None:
    """Eight bools are looked at together, and no position is written beyond the last."""
    mask = T.vector("mask", dtype="bool")
    f = symc.function([mask], T.flatnonzero(mask))
    if "flat_nonzero" in f.source:  # no routine of devices
        assert "cumsum_kernel" not in f.source, "nobody reads the ranks"
    for n in [*range(20), 1000, 4096, 5003]:  # from 4096 on by a table of patterns
        given = np.random.default_rng(n).random(n) < part
        np.testing.assert_array_equal(f(given), np.flatnonzero(given))


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("count", [1, 16, 17])
def test_the_top_of_long_rows(count: int, dtype: str) -> None:
    """Up to 16 are kept in order, more in a pile: of rows in any order, with ties and NaN."""
    x = T.matrix("x", dtype=dtype)
    f = symc.function([x], T.topk(x, count)[1])
    for n in (100, 129, 700):
        some = (np.random.default_rng(n).random((3, n)) * 200).astype(dtype)
        some[1:] = np.sort(some[1:], axis=1)
        some[2] = some[2, ::-1].copy()
        if dtype == "float32":
            some[0, ::50] = np.nan
        keys = np.nan_to_num(-some.astype(np.float64), nan=-np.inf)
        wanted = np.argsort(keys, axis=1, kind="stable")[:, :count]
        np.testing.assert_array_equal(f(some), wanted)


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (None, 0)])
@pytest.mark.parametrize("index", [5, [5], [[-1, 0]], []])
def test_clipped_indexes_take_nothing_where_there_is_nothing(shape: Any, index: Any) -> None:
    x = T.tensor("complex64", shape, "x")
    array = np.zeros(tuple(n or 0 for n in shape), "complex64")
    taken = T.take(x, index, axis=0, mode="clip")
    wanted = np.take(array, index, axis=0, mode="clip") if index != [] else array[:0]
    for mode in ("default", "python"):
        same(symc.function([x], taken, mode=mode)(array), wanted, 0.0)
    assert symc.grad(abs(taken).sum(), x).eval({x: array}).shape == array.shape
