"""Shared variables that several threads use: nobody sees a value that is half old and half new."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.calls.call import Lock
from symc.graph.locks import PythonLock
from tests.test_several_callers import at_once

SIZE = 400_000
LOCKS: list[Any] = list(dict.fromkeys([PythonLock, Lock]))


def while_it_runs(work: Callable[[], object], *looks: Callable[[], object]) -> None:
    """Repeats `work` on a thread of its own until every one of `looks` has been called 20 times."""
    stop = threading.Event()

    def repeat() -> None:
        while not stop.is_set():
            work()

    def see() -> None:
        try:
            for _ in range(20):
                for look in looks:
                    look()
        finally:
            stop.set()

    at_once(repeat, see)


def test_get_value_during_an_update_is_no_mixture() -> None:
    w = symc.shared(np.zeros(SIZE), name="w")
    f = symc.function([], updates=[(w, w + 1)])

    def look() -> None:
        value = w.get_value()
        assert (value == value[0]).all()

    while_it_runs(f, look)


def test_functions_that_read_during_an_update_see_no_mixture() -> None:
    w = symc.shared(np.zeros(SIZE), name="w")
    f = symc.function([], updates=[(w, w + 1)])
    g = symc.function([], [w.min(), w.max()])

    def look() -> None:
        least, most = g()
        assert least == most

    while_it_runs(f, look)


def test_functions_see_all_variables_of_an_update_or_none() -> None:
    a, b = (symc.shared(np.zeros(SIZE), name=name) for name in "ab")
    f = symc.function([], updates=[(a, a + 1), (b, b - 1)])
    g = symc.function([], abs(a + b).max())

    def look() -> None:
        assert g() == 0

    while_it_runs(f, look)


def test_updates_by_several_functions_are_all_counted() -> None:
    a, b = (symc.shared(np.zeros(1000), name=name) for name in "ab")
    one = symc.function([], updates=[(a, a + b * 0 + 1), (b, b + 1)])
    other = symc.function([], updates=[(b, b + a * 0 + 1), (a, a + 1)])
    third = symc.function([], a.sum(), updates=[(a, T.sort(a) + 1)])

    def repeated(f: Callable[[], object]) -> Callable[[], None]:
        return lambda: [f() for _ in range(200)].clear()

    at_once(*map(repeated, [one, other, third] * 2))
    assert (a.get_value() == 1200).all()
    assert (b.get_value() == 800).all()


def test_set_value_during_an_update_is_not_lost() -> None:
    w = symc.shared(np.zeros(SIZE), name="w")
    f = symc.function([], updates=[(w, w + 1)])
    for _ in range(20):
        w.set_value(np.zeros(SIZE))
        at_once(f, lambda: w.set_value(np.full(SIZE, 100.0)))
        value = w.get_value()
        assert (value == value[0]).all()
        assert value[0] in (100, 101)


def test_what_an_update_calls_back_may_use_its_variables() -> None:
    """The thread that has the locks does not wait for itself."""
    w, v = symc.shared(np.ones(3), name="w"), symc.shared(0.0, name="v")
    total = symc.function([], w.sum() + v)
    count = symc.function([], updates=[(v, v + 1)])

    @symc.op(inputs=["float64[n]"], output="float64[n]")
    def look(x: Any) -> Any:
        count()
        return x + w.get_value() + total()

    f = symc.function([], v, updates=[(w, look(w))])
    g = symc.function([], look(w) + v)
    f()
    assert v.get_value() == 1
    assert w.get_value().tolist() == [6, 6, 6]
    assert g().tolist() in ([32, 32, 32], [33, 33, 33], [34, 34, 34])


@pytest.mark.parametrize("kind", LOCKS, ids=lambda kind: kind.__name__)
def test_a_lock_lets_readers_in_together(kind: Any) -> None:
    lock = kind()
    inside = threading.Barrier(3)

    def read() -> None:
        with lock:
            inside.wait()

    at_once(read, read, read)


FORK = """
import os, threading
import numpy as np
import symc
import symc.tensor as T
w = symc.shared(np.zeros(200_000), name="w")
f = symc.function([], updates=[(w, w + 1)])
stop = []

def work():
    while not stop:
        f()

other = threading.Thread(target=work)
other.start()
statuses = []
for _ in range(10):  # while the lock is in use
    child = os.fork()
    if child == 0:
        w.set_value(np.ones(200_000))
        f()
        os._exit(0 if (w.get_value() == 2).all() else 1)
    statuses.append(os.waitpid(child, 0)[1])
stop.append(1)
other.join()
assert statuses == [0] * 10, statuses
"""


@pytest.mark.parametrize("extension", ["", "1"])
def test_locks_of_other_threads_are_gone_in_a_child_of_fork(extension: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK], cwd=Path(__file__).parents[1], capture_output=True, text=True,
        check=False, env={**os.environ, "SYMC_NO_EXTENSION": extension},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_extensions_keep_the_references_of_none() -> None:
    """Built with the headers of 3.12 or later, each call of a lock took one away: 3.11 ended.

    `Py_RETURN_NONE` gives no reference there, as None lives forever in those versions.
    """
    lock, before = Lock(), sys.getrefcount(None)
    for _ in range(1000):
        with lock:
            pass
    assert abs(sys.getrefcount(None) - before) < 500
    sources = [*Path(symc.__path__[0]).glob("*/*.c")]
    assert len(sources) > 5
    assert not [path.name for path in sources if "Py_RETURN_" in path.read_text()]
