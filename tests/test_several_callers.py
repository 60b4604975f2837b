"""One function called by several threads, and by a forked child."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex
from symc.graph import conditions

V = np.array([1.0, 2.0, 3.0])


def at_once(*works: Callable[[], None]) -> None:
    """Runs everything in threads of its own; raises what any of them raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_two_threads_call_one_function() -> None:
    x = T.matrix("x")
    f = symc.function([x], [T.softmax(x).sum(axis=1), x.max(axis=0)])

    def work(seed: int) -> Callable[[], None]:
        def run() -> None:
            rng = np.random.default_rng(seed)
            for _ in range(100):
                value = rng.standard_normal((int(rng.integers(1, 60)), 7))
                rows, most = f(value)
                np.testing.assert_allclose(rows, np.ones(len(value)))
                assert np.array_equal(most, value.max(axis=0))

        return run

    at_once(*(work(seed) for seed in range(4)))


@pytest.mark.parametrize("mode", ["default", "python"])
def test_updates_from_two_threads_are_all_counted(mode: str) -> None:
    x = T.vector("x")
    count, grown = symc.shared(0), symc.shared(np.zeros(0), shape=(None,))
    f = symc.function(
        [x], count, updates=[(count, count + 1), (grown, T.concatenate([grown, x]))], mode=mode
    )
    seen: list[int] = []
    at_once(*[lambda: seen.extend(int(f([1.0])) for _ in range(60))] * 3)
    assert sorted(seen) == list(range(180))
    assert grown.get_value().tolist() == [1.0] * 180


def test_two_threads_compile_the_same_function() -> None:
    x = T.vector("x")
    results: list[Any] = []
    at_once(*[lambda: results.append(symc.function([x], T.cosh(x) * 7 + 1)(V))] * 3)
    for result in results:
        np.testing.assert_allclose(result, np.cosh(V) * 7 + 1)


def test_a_forked_child_calls_and_compiles() -> None:
    x = T.vector("x")
    f = symc.function([x], T.tanh(x).sum())
    large = np.linspace(0, 1, 300_000)
    wanted = float(f(large))  # with threads
    receive, send = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            again = symc.function([x], (x * 3).sum())
            send.send((float(f(large)), float(again(V))))
        except BaseException as error:
            send.send(repr(error))
        finally:
            os._exit(0)
    send.close()
    assert receive.poll(60)
    got = receive.recv()
    os.waitpid(child, 0)
    assert got == (wanted, 18.0)
    assert float(f(large)) == wanted


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = T.matrix("x")
    value = np.random.default_rng(0).standard_normal((500, 333))
    results = []
    for threads in (1, 2, 5):
        with symc.config.set(threads=threads):
            f = symc.function([x], [x.sum(), T.exp(x).mean(axis=0), T.softmax(x).sum(axis=0)])
            results.append(f(value))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("is_loop", [False, True])
def test_errors_are_explained_by_the_values_of_the_call(
    is_loop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread set a variable before: "a condition failed ..., and holds when ..."."""
    place, w = symc.shared(100, name="place"), symc.shared(np.zeros(3), name="w")
    n = T.lscalar("n")
    new = symc.fori_loop(0, n, lambda i, w: w[place + i].inc(1.0), w) if is_loop else w[place] + n
    f = symc.function([n], new, mode="compile")
    known = conditions.requirements

    def late(*args: Any) -> Any:
        place.set_value(0)
        return known(*args)

    monkeypatch.setattr(conditions, "requirements", late)
    with pytest.raises(BadIndex, match="index 100 is out of bounds"):
        f(2)
    monkeypatch.undo()
    assert f(2).sum() == 2
