"""Arguments that the caller gives away, ``In(x, mutable=True)``, hold results afterwards."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.calls.call import Caller
from symc.calls.python_call import PythonCaller
from symc.errors import BadIndex

X, Y, I = T.vector("x"), T.vector("y"), T.lscalar("i")  # noqa: E741


def _loop(x: Any) -> Any:
    return symc.fori_loop(0, x.shape[0] - 1, lambda k, s: s[k + 1].set(s[k] + s[k + 1]), x)


OVERWRITING = {
    "an element": X[I].set(3.0),
    "elementwise": X * 2 + 1,
    "of two": X + Y,
    "a loop": _loop(X),
    "a part of itself": X[2:].inc(X[:-2]),
    "the argument": X,
    "a sum": X.sum() + X,
    "running": X[1:].sum() * T.cumsum(X)[::-1],
    "two writes": X[I].set(3.0)[1:].inc(Y[1:]),
}  # fmt: skip
READING = {
    "reversed": X[::-1] + 1,
    "neighbours": X[[1, 2, 3, 4, 5, 6, 7, 0]] + X,
}


@pytest.fixture(params=["C", "Python"])
def caller(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both callers."""
    chosen = Caller if request.param == "C" else PythonCaller
    monkeypatch.setattr("symc.calls.call.Caller", chosen)


def _given(result: Any) -> Any:
    return symc.function(
        [symc.In(X, mutable=True), Y, I], [Y * 1, result], on_unused_input="ignore"
    )


def _plain(result: Any) -> Any:
    return symc.function([X, Y, I], [Y * 1, result], on_unused_input="ignore")


@pytest.mark.usefixtures("caller")
@pytest.mark.parametrize("name", [*OVERWRITING, *READING])
def test_values(name: str) -> None:
    result = {**OVERWRITING, **READING}[name]
    given, plain = _given(result), _plain(result)
    a, b = np.arange(8.0) ** 1.5, np.arange(8.0) + 0.5
    wanted = plain(a.copy(), b, 2)
    array = a.copy()
    found = given(array, b, 2)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(b, np.arange(8.0) + 0.5)
    if symc.config.device == "cpu":
        assert (found[1] is array) == (name in OVERWRITING)
        assert ("given away: x" in given.explain()) == (name in OVERWRITING)


@pytest.mark.usefixtures("caller")
@pytest.mark.parametrize("name", OVERWRITING)
def test_arrays_that_must_stay(name: str) -> None:
    """One that is another argument, too, or a part of it; one to be read; one to be converted."""
    given, plain = _given(OVERWRITING[name]), _plain(OVERWRITING[name])
    a = np.arange(8.0) ** 1.5
    for x, y in [(a, a), (a[:6], a[2:]), (a[2:], a[:6]), (a, a[::-1]), (a[:4], a[::2])]:
        wanted = plain(x, y, 2)
        np.testing.assert_array_equal(given(x, y, 2), wanted)
        np.testing.assert_array_equal(a, np.arange(8.0) ** 1.5)
    fixed = a.copy()
    fixed.flags.writeable = False
    b = np.ones(8)
    others: list[Any] = [fixed, list(a), np.repeat(a, 2)[::2], a.astype(">f8")]
    for x in others:
        np.testing.assert_array_equal(given(x, b, 2), plain(x, b, 2))
    np.testing.assert_array_equal(fixed, a)


@pytest.mark.usefixtures("caller")
def test_nothing_is_changed_by_a_refused_call() -> None:
    given = _given(X[I].set(3.0))
    a = np.arange(4.0)
    with pytest.raises(BadIndex):
        given(a, np.ones(4), 4)
    assert a.tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("caller")
def test_errors_tell_what_was_given() -> None:
    """They were explained by arguments that had been overwritten by then: index 4, not 3."""
    changed = X[I].inc(1.0)
    given = symc.function(
        [symc.In(X, mutable=True), Y, I], [changed, Y[changed[0].astype("int64")]]
    )
    a = np.array([2.0, 0.0, 0.0])
    with pytest.raises(BadIndex, match="index 3 is out of bounds for axis 0 with length 3"):
        given(a, np.ones(3), 0)
    assert a.tolist() == [2, 0, 0]


@pytest.mark.usefixtures("caller")
def test_nothing_is_changed_by_a_loop_that_fails() -> None:
    at = T.lvector("at")
    counts = symc.fori_loop(0, at.shape[0], lambda k, s: s[at[k]].inc(1.0), X)
    given = symc.function([symc.In(X, mutable=True), at], counts)
    a = np.zeros(3)
    with pytest.raises(BadIndex, match="index 5"):
        given(a, [0, 1, 5, 2])
    assert a.tolist() == [0, 0, 0]
    assert given(a, [0, 1, 1]).tolist() == [1, 2, 0]


@pytest.mark.usefixtures("caller")
def test_nothing_is_changed_by_a_loop_before_one_that_fails() -> None:
    """The loop that cannot fail had been done, and had written into the argument."""
    at = T.lvector("at")
    sums = symc.fori_loop(0, I, lambda k, s: T.cumsum(s), X)
    counts = symc.fori_loop(0, I, lambda k, s: s[at[k]].inc(1.0), Y)
    given = symc.function([symc.In(X, mutable=True), Y, I, at], [sums, counts])
    a = np.ones(3)
    with pytest.raises(BadIndex, match="index 5"):
        given(a, np.zeros(3), 1, [5])
    assert a.tolist() == [1, 1, 1]
    assert given(a, np.zeros(3), 1, [0])[0].tolist() == [1, 2, 3]


def test_a_shared_variable_that_lies_there() -> None:
    state = symc.shared(np.arange(4.0))
    given = symc.function([symc.In(X, mutable=True)], X * 2 + state)
    inside = state.get_value(borrow=True)
    assert given(inside).tolist() == [0, 3, 6, 9]
    assert state.get_value().tolist() == [0, 1, 2, 3]


def test_of_several_results_one_of_equal_lengths_gets_the_memory() -> None:
    given = symc.function([symc.In(X, mutable=True)], [X[:2], X * 2])
    a = np.arange(4.0)
    first, second = given(a)
    assert first.tolist() == [0, 1]
    assert second.tolist() == [0, 2, 4, 6]
    if symc.config.device == "cpu":
        assert second is a


def test_default_values_stay() -> None:
    """Each call that left the argument out changed it for the next one."""
    value = np.arange(3.0)
    given = symc.function([symc.In(X, value=value, mutable=True)], X * 3)
    for _ in range(2):
        assert given().tolist() == [0, 3, 6]
    assert value.tolist() == [0, 1, 2]


def test_subclasses_and_mapped_files_are_overwritten_too(tmp_path: Path) -> None:
    given = symc.function([symc.In(X, mutable=True)], X * 3)
    mapped = np.memmap(tmp_path / "numbers", dtype="float64", mode="w+", shape=(3,))
    mapped[:] = [0.0, 1.0, 2.0]
    assert given(mapped).tolist() == [0, 3, 6]
    assert given(np.zeros(0)).shape == (0,)


def test_repeated_calls_have_the_same_arguments(tmp_path: Path) -> None:
    """Each call went on with what the one before had made, and the example of an export, too."""
    x = T.vector("x")
    checked = symc.Assert("large")(x * 100, (x < 50).all())
    given = symc.function([symc.In(x, mutable=True)], checked, name="given")
    a = np.array([1.0, 2.0])
    if symc.config.device == "cpu":
        symc.profile(given, a)
    symc.benchmark(given, a, seconds=0.01)
    given.report(tmp_path / "page.html", example=[a])
    assert a.tolist() == [1, 2]
    halved = symc.function([symc.In(x, mutable=True)], [10 - x, x.sum()], name="halved")
    halved.export(tmp_path / "halved", example=[a])
    assert a.tolist() == [1, 2]
    kept = np.fromfile(tmp_path / "halved" / "data" / "example_x.bin")
    assert kept.tolist() == [1, 2]


def test_two_arguments_and_two_results() -> None:
    given = symc.function(
        [symc.In(X, mutable=True), symc.In(Y, mutable=True)], [X + Y, X[0].set(Y[0])]
    )
    a, b = np.arange(4.0), np.ones(4)
    total, changed = given(a, b)
    assert total.tolist() == [1, 2, 3, 4]
    assert changed.tolist() == [1, 1, 2, 3]


def test_copies_files_and_pickles_keep_it(tmp_path: Path) -> None:
    given = symc.function([symc.In(X, mutable=True), I], X[I].inc(1.0), name="given")
    symc.save(given, tmp_path / "given.symc")
    for function in (
        given.copy(),
        symc.load(tmp_path / "given.symc"),
        pickle.loads(pickle.dumps(given)),
    ):
        a = np.zeros(3)
        assert (function(a, 1) is a) == (symc.config.device == "cpu")
        assert a.tolist() == [0, 1, 0] or symc.config.device != "cpu"


@pytest.mark.parametrize("mode", ["python", "nanguard", "debug"])
def test_modes_that_check_overwrite_nothing(mode: str) -> None:
    given = symc.function([symc.In(X, mutable=True)], X * 2, mode=mode)
    a = np.arange(3.0)
    assert given(a).tolist() == [0, 2, 4]
    assert a.tolist() == [0, 1, 2]


def test_explain_says_what_is_copied() -> None:
    """Nothing was said of arguments and constants that a write may not change."""
    said = symc.function([X, I], X[I].set(3.0)).explain()
    assert "x is copied, 8*x.shape[0] bytes: the caller keeps its argument" in said
    table = T.constant(np.arange(6.0))
    said = symc.function([I], table[I].set(3.0)).explain()
    assert "is copied, 48 bytes: constants stay as they are" in said
    state = symc.shared(np.zeros(6), "state")
    said = symc.function([I], state[I].set(3.0)).explain()
    assert "state is copied, 48 bytes: this shared variable keeps its value" in said
    said = symc.function([X], _loop(X)).explain()
    assert "x is copied, 8*x.shape[0] bytes: the caller keeps its argument" in said
    for zeros in (T.zeros(6), T.zeros_like(X)):
        said = symc.function([X, I], zeros[I].set(X[I])).explain()
        assert "copied" not in said  # filled, and then written
