"""What some steps of a loop need, may fail and takes long: one of them computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Const
from symc.errors import BadIndex
from symc.graph.walks import walk
from symc.loops.scan import ScanRun
from tests.loops.test_compiled import temporaries

X, PLACES, N = T.vector("x"), T.lvector("places"), T.lscalar("n")
MODES = ("default", "python")
Use = Callable[[Any, Any, Any, Any], Any]


def table() -> Any:
    """Exponentials of elements of x at places, each and all before it, in a loop."""

    def fill(k: Any, t: Any) -> Any:
        return t[k].set(T.exp(X[PLACES[k]]) + t[k - 1])

    return symc.fori_loop(0, PLACES.shape[0], fill, T.zeros((PLACES.shape[0],)))


def table_by_hand(x: Any, places: Any) -> Any:
    t = np.zeros(len(places))
    for k, place in enumerate(places):
        t[k] = np.exp(x[place]) + t[k - 1]
    return t


def while_loop(t: Any, k: Any, j: Any, a: Any) -> Any:
    return symc.while_loop(
        lambda a: a > 3.0, lambda a: a - t[j + T.cast(a > 6.0, "int64")] - 0.1, a + X[k]
    )


def while_loop_by_hand(t: Any, x: Any, k: int, j: int, a: float) -> Any:
    a += x[k]
    while a > 3.0:
        a -= t()[j + (a > 6.0)] + 0.1
    return a


def branch(t: Any, k: Any, j: Any, a: Any) -> Any:
    return symc.ifelse(a > 0.5, a - t[j], a + X[k])


def branch_by_hand(t: Any, x: Any, k: int, j: int, a: float) -> Any:
    return a - t()[j] if a > 0.5 else a + x[k]


USES: dict[str, tuple[Use, Callable[..., Any]]] = {
    "a while loop": (while_loop, while_loop_by_hand),
    "a branch": (branch, branch_by_hand),
}


def in_one_loop(use: Use, t: Any) -> Any:
    return symc.fori_loop(0, X.shape[0], lambda k, a: use(t, k, k % 2, a), 0.0)


def in_two_loops(use: Use, t: Any) -> Any:
    def row(k: Any, a: Any) -> Any:
        return symc.fori_loop(0, N, lambda j, a: use(t, k, j, a), a)

    return symc.fori_loop(0, X.shape[0], row, 0.0)


def on_two_sides(use: Use, t: Any) -> Any:
    """Two inner loops need it, one of them in some steps of the outer one."""

    def row(k: Any, a: Any) -> Any:
        one = symc.fori_loop(0, N, lambda j, a: use(t, k, j, a), a)
        two = symc.fori_loop(0, k, lambda j, a: use(t, k, j % 2, a) * 0.5, one)
        return symc.ifelse(T.eq(k % 3, 1), two, one)

    return symc.fori_loop(0, X.shape[0], row, 0.0)


def by_hand(form: Any, use: Callable[..., Any], x: Any, places: Any, n: int) -> tuple[float, bool]:
    """The result, and whether the table was needed."""
    needed: list[Any] = []

    def t() -> Any:
        if not needed:
            needed.append(table_by_hand(x, places))
        return needed[0]

    a = 0.0
    for k in range(len(x)):
        if form is in_one_loop:
            a = use(t, x, k, k % 2, a)
            continue
        for j in range(n):
            a = use(t, x, k, j, a)
        for j in range(k if form is on_two_sides and k % 3 == 1 else 0):
            a = use(t, x, k, j % 2, a) * 0.5
    return a, bool(needed)


FORMS = [in_one_loop, in_two_loops, on_two_sides]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("form", FORMS)
def test_it_fails_where_a_step_needs_it_alone(form: Any, name: str, mode: str) -> None:
    use, use_by_hand = USES[name]
    f = symc.function([X, PLACES, N], form(use, table()), mode=mode, on_unused_input="ignore")
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(25):
        x = rng.random(int(rng.integers(0, 7))) * rng.choice([0.1, 1.0, 3.0])
        places = rng.integers(-len(x), max(len(x), 1), 4) if len(x) else np.zeros(4, "int64")
        n = int(rng.integers(0, 4))
        if len(x):
            wanted, is_needed = by_hand(form, use_by_hand, x, places, n)
            seen.add(is_needed)
            np.testing.assert_allclose(f(x, places, n), wanted)
            places[rng.integers(4)] = len(x)
            if is_needed:
                with pytest.raises(BadIndex, match=f"index {len(x)} is out of bounds"):
                    f(x, places, n)
            else:
                np.testing.assert_allclose(f(x, places, n), wanted)
        else:
            assert f(x, places, n) == 0.0
    assert seen == {True, False}


@pytest.mark.parametrize("form", [in_one_loop, in_two_loops])
def test_a_bug_a_table_that_some_steps_need_was_computed_by_each_of_them(
    form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KMP took hundreds of times as long as in C. Counts how often its loop begins."""
    made: list[int] = []
    all_steps = ScanRun.all_steps

    def counted(run: ScanRun) -> None:
        made.extend([1] * any(node.op == T.exp(X).op for node in walk(run.op.body.results)))
        all_steps(run)

    monkeypatch.setattr(ScanRun, "all_steps", counted)
    out = form(while_loop, table())
    f = symc.function([X, PLACES, N], out, mode="python", on_unused_input="ignore")
    x, places = np.full(40, 0.7), np.array([0, 1, 2, 3])
    wanted, _ = by_hand(form, while_loop_by_hand, x, places, 3)
    np.testing.assert_allclose(f(x, places, 3), wanted)
    assert made == [1]
    f(x * 0, places, 3)  # nobody needs it
    assert made == [1]


def test_steps_that_do_not_compute_it_copy_nothing() -> None:
    f = symc.function([X, PLACES, N], in_two_loops(while_loop, table()))
    program = str(f.program)
    inside = program[program.index("  repeat ") :]
    assert inside.count(", 8*places_0)") == 1  # the zeros that the table begins as
    assert "copy_kernel" not in inside


def test_elements_are_read_again() -> None:
    """What is computed element by element is not in memory, nor are there more states."""

    def use(t: Any, k: Any, j: Any, a: Any) -> Any:
        return symc.while_loop(lambda a: a > 3.0, lambda a: a - t[j] - 0.1, a + X[k])

    f = symc.function([X, PLACES, N], in_two_loops(use, T.exp(X[PLACES])))
    lengths = [length for array in temporaries(f).values() for length in array.shape]
    assert all(isinstance(length, Const) for length in lengths)
