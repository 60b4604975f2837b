"""Updates: all at once, from the values before the call, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadUpdate, DTypeError, RankError, ShapeMismatch

MODES = ("default", "python")
pytestmark = pytest.mark.parametrize("mode", MODES)

A, B, C = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0]), np.array([5.0, 7.0, 9.0])
Updates = Callable[[Any, Any, Any, Any], Any]


# Each: updates of a, b, c from an input x; and NumPy's values of a, b, c after one call.
TABLE: dict[str, tuple[Updates, Callable[[Any, Any, Any, Any], Any]]] = {
    "one": (lambda a, b, c, x: [(a, a + x)], lambda a, b, c, x: (a + x, b, c)),
    "dict": (lambda a, b, c, x: {a: a * x, b: x}, lambda a, b, c, x: (a * x, x, c)),
    "lists": (lambda a, b, c, x: [[a, x], [b, a]], lambda a, b, c, x: (x, a, c)),
    "generator": (lambda a, b, c, x: ((s, x) for s in (a, b)), lambda a, b, c, x: (x, x, c)),
    "swap": (lambda a, b, c, x: [(a, b), (b, a)], lambda a, b, c, x: (b, a, c)),
    "rotate": (lambda a, b, c, x: [(a, b), (b, c), (c, a)], lambda a, b, c, x: (b, c, a)),
    "rotate back": (lambda a, b, c, x: [(b, a), (c, b), (a, c)], lambda a, b, c, x: (c, a, b)),
    "chain": (
        lambda a, b, c, x: [(a, a + x), (b, b + a), (c, c + b)],
        lambda a, b, c, x: (a + x, b + a, c + b),
    ),
    "chain, last first": (
        lambda a, b, c, x: [(c, c + b), (b, b + a), (a, a + x)],
        lambda a, b, c, x: (a + x, b + a, c + b),
    ),
    "same for two": (
        lambda a, b, c, x: [(a, x * 2), (b, x * 2)],
        lambda a, b, c, x: (x * 2, x * 2, c),
    ),
    "same for three, one's own": (
        lambda a, b, c, x: [(a, a), (b, a), (c, a)],
        lambda a, b, c, x: (a, a, a),
    ),
    "an input": (lambda a, b, c, x: [(a, x)], lambda a, b, c, x: (x, b, c)),
    "numbers": (lambda a, b, c, x: [(a, [1, 2, 3]), (b, np.zeros(3))],
                lambda a, b, c, x: (np.array([1.0, 2, 3]), np.zeros(3), c)),
    "reversed": (lambda a, b, c, x: [(a, a[::-1])], lambda a, b, c, x: (a[::-1], b, c)),
    "rolled": (lambda a, b, c, x: [(a, T.roll(a, 1))], lambda a, b, c, x: (np.roll(a, 1), b, c)),
    "shifted": (
        lambda a, b, c, x: [(a, a[1:].sum() + a)],
        lambda a, b, c, x: (a[1:].sum() + a, b, c),
    ),
    "normalised": (lambda a, b, c, x: [(a, a / a.sum())], lambda a, b, c, x: (a / a.sum(), b, c)),
    "softmax": (
        lambda a, b, c, x: [(a, T.softmax(a))],
        lambda a, b, c, x: (np.exp(a) / np.exp(a).sum(), b, c),
    ),
    "cumulated": (
        lambda a, b, c, x: [(a, T.cumsum(a)), (b, a + b)],
        lambda a, b, c, x: (np.cumsum(a), a + b, c),
    ),
    "gathered": (
        lambda a, b, c, x: [(a, a[np.array([2, 0, 1])])],
        lambda a, b, c, x: (a[[2, 0, 1]], b, c),
    ),
    "set": (
        lambda a, b, c, x: [(a, a[1].set(b[0])), (b, b[:2].inc(a[1:]))],
        lambda a, b, c, x: (
            np.array([a[0], b[0], a[2]]), np.array([b[0] + a[1], b[1] + a[2], b[2]]), c,
        ),
    ),
    "set from itself": (
        lambda a, b, c, x: [(a, a[1:].set(a[:-1]))],
        lambda a, b, c, x: (np.array([a[0], a[0], a[1]]), b, c),
    ),
    "inc twice the same": (
        lambda a, b, c, x: [(a, a[np.array([0, 0, 2])].inc(x))],
        lambda a, b, c, x: (np.array([a[0] + x[0] + x[1], a[1], a[2] + x[2]]), b, c),
    ),
    "read after": (
        lambda a, b, c, x: [(a, a[0].set(x[0])), (b, b + a.sum()), (c, c * a[0])],
        lambda a, b, c, x: (np.array([x[0], a[1], a[2]]), b + a.sum(), c * a[0]),
    ),
    "product": (
        lambda a, b, c, x: [(a, T.outer(a, b) @ c)],
        lambda a, b, c, x: (np.outer(a, b) @ c, b, c),
    ),
    "momentum": (
        lambda a, b, c, x: [(b, 0.9 * b - 0.1 * x * a), (a, a + 0.9 * b - 0.1 * x * a)],
        lambda a, b, c, x: (a + 0.9 * b - 0.1 * x * a, 0.9 * b - 0.1 * x * a, c),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_updates(case: str, mode: str) -> None:
    """New values as NumPy has them; outputs as before the call; and again."""
    build, oracle = TABLE[case]
    a, b, c = (symc.shared(value, name=n) for value, n in ((A, "a"), (B, "b"), (C, "c")))
    x = T.vector(
        "x",
    )
    outputs = [a, a + b, (a * c).sum(), b]
    f = symc.function([x], outputs, updates=build(a, b, c, x), mode=mode, on_unused_input="ignore")
    old = [A, B, C]
    value = np.array([0.5, 0.25, 2.0])
    for _ in range(3):
        kept = [s.get_value(borrow=True) for s in (a, b, c)]
        got = f(value)
        now = [s.get_value(borrow=True) for s in (a, b, c)]
        wanted = oracle(old[0], old[1], old[2], value)
        before = [old[0], old[0] + old[1], (old[0] * old[2]).sum(), old[1]]
        for result, expected in zip(got, before, strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-14)
            assert not any(np.shares_memory(result, array) for array in (*kept, *now))
        for result, expected in zip(now, wanted, strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-14)
            assert not np.shares_memory(result, value)
        assert not any(np.shares_memory(p, q) for p, q in ((now[0], now[1]), (now[1], now[2]),
                                                           (now[0], now[2])))  # fmt: skip
        old = [np.array(w) for w in wanted]


def test_lengths_that_change(mode: str) -> None:
    x = T.vector("x")
    grown = symc.shared(np.zeros(0), name="grown", shape=(None,))
    half = symc.shared(np.arange(16.0), name="half", shape=(None,))
    f = symc.function(
        [x], [grown.sum(), half.shape[0]],
        updates=[(grown, T.concatenate([grown, x])), (half, half[::2])], mode=mode,
    )  # fmt: skip
    sizes = [16, 8, 4, 2, 1]
    for step, size in enumerate(sizes):
        total, length = f([1.0, 2.0])
        assert (total, length) == (3.0 * step, size)
    assert grown.get_value().tolist() == [1.0, 2.0] * 5
    positive = symc.function([], [], updates=[(grown, grown[grown > 1])], mode=mode)
    positive()
    assert grown.get_value().tolist() == [2.0] * 5
    # Two grow into each other, and empty arrays are no exception.
    p, q = (symc.shared(np.zeros(n), shape=(None,)) for n in (2, 0))
    swap = symc.function([], updates=[(p, q), (q, T.concatenate([p, q]))], mode=mode)
    for lengths in ((0, 2), (2, 2), (2, 4), (4, 6)):
        swap()
        assert (p.get_value().size, q.get_value().size) == lengths


def test_a_changed_length_that_was_declared(mode: str) -> None:
    x = T.vector("x")
    w, n = symc.shared(A, name="w"), symc.shared(0)
    f = symc.function([x], x.sum(), updates=[(w, x), (n, n + 1)], mode=mode)
    f(B)
    with pytest.raises(ShapeMismatch, match=r"(?s)w .*test_updates.py:\d+"):
        f([1.0, 2.0])
    assert w.get_value().tolist() == B.tolist()
    assert n.get_value() == 1


def test_default_updates(mode: str) -> None:
    a, b, c = symc.shared(0, name="a"), symc.shared(0, name="b"), symc.shared(100, name="c")
    a.default_update = a + 1
    b.default_update = b + a * 0 + 10
    values: list[tuple[Any, dict[str, Any], tuple[int, int, int]]] = [
        (a, {}, (1, 0, 100)),
        (b, {}, (1, 10, 100)),  # a is reached by b's own default update
        (b, {"no_default_updates": True}, (0, 0, 100)),
        (b, {"no_default_updates": [b]}, (0, 0, 100)),
        (b, {"no_default_updates": [a]}, (0, 10, 100)),
        (b, {"updates": [(b, b + 1)]}, (0, 1, 100)),
        (b, {"updates": [(a, a + 5)]}, (5, 10, 100)),
        (c, {"updates": [(c, c + a)]}, (1, 0, 100)),
        (c, {"givens": {c: b}}, (1, 10, 100)),
        (c, {"updates": [(c, c + a)], "no_default_updates": True}, (0, 0, 100)),
    ]
    for output, arguments, wanted in values:
        for s, value in ((a, 0), (b, 0), (c, 100)):
            s.set_value(value)
        symc.function([], output, mode=mode, **arguments)()
        assert tuple(int(s.get_value()) for s in (a, b, c)) == wanted, arguments


def test_two_functions_share_a_variable(mode: str) -> None:
    w = symc.shared(A, name="w")
    grow = symc.function([], w.sum(), updates=[(w, w * 2)], mode=mode)
    shift = symc.function([], w, updates=[(w, w + 1)], mode=mode)
    look = symc.function([], w * 1, mode=mode)
    assert grow() == 6
    assert shift().tolist() == [2, 4, 6]
    assert grow() == 15
    assert look().tolist() == [6, 10, 14]
    w.set_value([0.0, 0.0, 1.0])
    assert shift().tolist() == [0, 0, 1]
    assert look().tolist() == [1, 1, 2]


def test_updates_that_do_not_fit(mode: str) -> None:
    x, m, i = T.vector("x"), T.matrix("m"), T.lvector("i")
    w, f32 = symc.shared(A, name="w"), symc.shared(A.astype(np.float32), name="f32")
    k = symc.shared(np.array([1, 2, 3]), name="k")
    row = symc.shared(np.zeros((1, 3)), name="row")
    cases: list[tuple[Any, str]] = [
        ([(w, m)], r"2 axes.*\n.*w .*test_updates.py:\d+\n.*m .*test_updates.py:\d+"),
        ([(w, 1.0)], "0 axes"),
        ([(f32, x)], "lose precision as float32"),
        ([(k, x)], "lose precision as int64"),
        ([(w, T.zeros(4))], "axis 0 of the new value is 4, of its variable 3"),
        ([(row, T.zeros((2, 3)))], "axis 0 of the new value is 2"),
        ([(x, w)], "only shared variables can be updated"),
        ([(w, x), (w, x)], "updated twice"),
        ([w], "pairs"),
        ([(w,)], "pairs"),
        ([w, x], "pairs"),
    ]
    for updates, message in cases:
        with pytest.raises(BadUpdate, match=message) as caught:
            symc.function([x, m, i], [], updates=updates, mode=mode, on_unused_input="ignore")
        assert isinstance(caught.value, ValueError)
    # Values that lose nothing are converted.
    symc.function([i], [], updates=[(w, i), (f32, f32 + 1)], mode=mode)([4, 5, 6])
    assert w.get_value().tolist() == [4, 5, 6]
    assert w.get_value().dtype == np.float64


def test_values_of_shared_variables(mode: str) -> None:
    start = A.copy()
    w = symc.shared(start, name="w")
    f = symc.function([], [], updates=[(w, w + 1)], mode=mode)
    f()
    assert start.tolist() == A.tolist()  # copied in
    value = w.get_value()
    f()
    assert value.tolist() == (A + 1).tolist()  # copied out
    w.set_value(start)
    f()
    assert start.tolist() == A.tolist()
    for wrong, error in ((np.zeros(4), ShapeMismatch), (np.zeros((1, 3)), RankError),
                         (np.zeros(3, complex), DTypeError), ("x", DTypeError)):  # fmt: skip
        with pytest.raises(error, match="w"):
            w.set_value(wrong)
    assert w.get_value().tolist() == (A + 1).tolist()
    # Arrays that cannot be written are not borrowed.
    fixed = A.copy()
    fixed.flags.writeable = False
    w.set_value(fixed, borrow=True)
    f()
    assert fixed.tolist() == A.tolist()
    assert w.get_value().tolist() == (A + 1).tolist()
    w.set_value(np.arange(6.0)[::2], borrow=True)
    f()
    assert w.get_value().tolist() == [1, 3, 5]


@pytest.mark.parametrize(
    "dtype",
    ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "uint64", "bool"],
)
def test_dtypes(mode: str, dtype: str) -> None:
    w = symc.shared(np.array([1, 0, 1], dtype), name="w")
    other = symc.shared(np.array([0, 0, 1], dtype))
    new = w | other if dtype == "bool" else w + other
    f = symc.function([], w, updates=[(w, new), (other, w)], mode=mode)
    assert f().dtype == dtype
    f()
    for s, expected in ((w, [1, 0, 1] if dtype == "bool" else [2, 0, 3]),
                        (other, [1, 0, 1] if dtype == "bool" else [1, 0, 2])):  # fmt: skip
        assert s.get_value().dtype == dtype
        assert s.get_value().tolist() == expected


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint8"])
def test_increments_of_any_dtype(mode: str, dtype: str) -> None:
    """A bug: float16 is only stored, and was incremented where it stood."""
    w, k = symc.shared(np.array([1, 2, 3], dtype), name="w"), T.lvector("k")
    one = np.ones((), dtype)
    f = symc.function([k], w[1:].inc(w[:-1]), updates=[(w, w[k].inc(one))], mode=mode)
    value = f([0, 0, -1])
    assert value.dtype == dtype
    assert value.tolist() == [1, 3, 5]
    assert w.get_value().tolist() == [3, 2, 4]


GRID = np.arange(6.0).reshape(2, 3)
WIDE = np.arange(60_000.0).reshape(200, 300)
REPEATED = np.array([-1, 0, -1])


def _added(a: Any, places: list[int], values: Any) -> Any:
    result = a.copy()
    np.add.at(result.reshape(-1), places, values)
    return result


# Each: the variables' values and declared shape; their updates; and NumPy's values after one call.
MOVED: dict[str, tuple[list[Any], Any, Any, Any]] = {
    "rolled": ([GRID], None, lambda a: [(a, T.roll(a, 1))], lambda a: [np.roll(a, 1)]),
    "rolled, of unknown lengths": (
        [GRID], (None, None), lambda a: [(a, T.roll(a, 2))], lambda a: [np.roll(a, 2)],
    ),
    "rolled by half": (
        [GRID], None,
        lambda a: [(a, T.concatenate([a.ravel()[3:], a.ravel()[:3]]).reshape((2, 3)))],
        lambda a: [np.roll(a, 3)],
    ),
    "transposed": (
        [WIDE], None, lambda a: [(a, a.T.reshape((200, 300)))], lambda a: [a.T.reshape(200, 300)],
    ),
    "reversed": (
        [GRID], None, lambda a: [(a, a.reshape((-1,))[::-1].reshape((2, 3)))],
        lambda a: [a.reshape(-1)[::-1].reshape(2, 3)],
    ),
    "dealt": (
        [GRID], None,
        lambda a: [(a, T.concatenate([a.ravel()[::2], a.ravel()[1::2]]).reshape(a.shape))],
        lambda a: [np.concatenate([a.ravel()[::2], a.ravel()[1::2]]).reshape(a.shape)],
    ),
    "product": (
        [GRID], None, lambda a: [(a, (a.T @ a.reshape((2, 3)))[:2])], lambda a: [(a.T @ a)[:2]],
    ),
    "one element, added repeatedly": (
        [np.array([-4.0])], None, lambda s: [(s, s[REPEATED].inc(s[REPEATED]))],
        lambda s: [s * 4],
    ),
    "two rows as one, added": (
        [GRID], None,
        lambda a: [(a, a.ravel()[np.array([0, 0, 5])].inc(a.ravel()[:3]).reshape((2, 3)))],
        lambda a: [_added(a, [0, 0, 5], a.ravel()[:3])],
    ),
    "read by others": (
        [GRID, GRID + 1, GRID], None, lambda a, b, c: [(a, T.roll(a, 1)), (b, a.sum() + b), (c, a)],
        lambda a, b, c: [np.roll(a, 1), a.sum() + b, a],
    ),
    "swapped by reshapes": (
        [GRID, GRID.T * 2], None, lambda a, b: [(a, b.reshape((2, 3))), (b, a.reshape((3, 2)))],
        lambda a, b: [b.reshape(2, 3), a.reshape(3, 2)],
    ),
    "rotated in loops": (
        [GRID], None,
        lambda a: [(a, symc.scan(lambda: {a: T.roll(a, 1)}, n_steps=2)[1][a])],
        lambda a: [np.roll(a, 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MOVED)
def test_a_bug_updates_that_overwrite_what_they_still_read(case: str, mode: str) -> None:
    """Reads of a variable through a reshape were overlooked, and of its only element."""
    values, shape, build, oracle = MOVED[case]
    for other in (mode, "fast", "compile") if mode == "default" else (mode,):
        variables = [symc.shared(value, shape=shape) for value in values]
        total = sum((v.sum() for v in variables), T.constant(0.0))
        f = symc.function([], [*variables, total], updates=build(*variables), mode=other)
        now = values
        for _ in range(3):
            *before, summed = f()
            assert summed == sum(float(np.sum(value)) for value in now)
            for got, expected in zip(before, now, strict=True):
                np.testing.assert_array_equal(got, expected)
            now = oracle(*now)
            for variable, expected in zip(variables, now, strict=True):
                np.testing.assert_array_equal(variable.get_value(), expected)
