"""Memory of dead results is kept for later ones: whose it is, how much, and that NumPy notices
nothing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.calls import call
from symc.calls.python_call import PythonCaller

pytestmark = pytest.mark.skipif(
    call.Caller is PythonCaller, reason="the extension, which keeps memory, is not built"
)
LONG = 100_000
BYTES = 8 * LONG
handler_of: Any = np._core.multiarray.get_handler_name  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    gc.collect()
    symc.free_memory()
    with symc.config.set(kept_memory=1 << 26):
        yield
    symc.free_memory()


@pytest.fixture
def double() -> Any:
    x = T.vector("x")
    f = symc.function([x], x * 2)
    f(np.ones(3))
    return f


def kept() -> int:
    from symc.calls import _call

    return _call.kept_bytes()


def address(array: Any) -> int:
    return int(array.ctypes.data)


def test_a_dead_results_memory_is_the_next_ones(double: Any) -> None:
    given = np.arange(float(LONG))
    first = double(given)
    where = address(first)
    assert kept() == 0
    del first
    assert kept() == BYTES
    second = double(given + 1)
    assert address(second) == where
    assert kept() == 0
    np.testing.assert_array_equal(second, 2 * given + 2)


def test_results_that_live_are_nobody_elses(double: Any) -> None:
    results = [double(np.full(LONG, float(k))) for k in range(5)]
    assert [result[0] for result in results] == [0, 2, 4, 6, 8]
    view = results[0][10:20]
    del results
    assert kept() == 4 * BYTES  # the fifth has a view
    double(np.ones(LONG))
    assert view.tolist() == [0.0] * 10


def test_a_little_too_much_memory_will_do_and_much_will_not(double: Any) -> None:
    where = address(double(np.ones(LONG)))
    assert address(double(np.ones(LONG - LONG // 10))) == where
    small = double(np.ones(LONG // 2))
    assert address(small) != where


def test_small_results_are_numpys_affair(double: Any) -> None:
    assert handler_of(double(np.ones(100))) == "default_allocator"
    assert kept() == 0


def test_only_results_have_the_handler(double: Any) -> None:
    result = double(np.ones(LONG))
    assert handler_of(result) == "symc_kept"
    for array in (result + 1, result.copy(), np.empty(LONG), np.zeros(LONG)):
        assert handler_of(array) == "default_allocator"
    assert handler_of() == "default_allocator"


def test_after_a_result_that_cannot_be_made_the_handler_is_numpys() -> None:
    n = T.lscalar("n")
    f = symc.function([n], T.zeros((n,)))
    with pytest.raises(symc.errors.TooLarge):
        f(1 << 50)
    assert handler_of() == "default_allocator"
    assert handler_of(np.empty(LONG)) == "default_allocator"


def test_resize_copies_and_keeps_what_is_there(double: Any) -> None:
    result = double(np.arange(float(LONG)))
    result.resize(5 * LONG, refcheck=False)
    np.testing.assert_array_equal(result[:LONG], 2 * np.arange(float(LONG)))
    assert not result[LONG:].any()
    result.resize(7, refcheck=False)
    assert result.tolist() == [0, 2, 4, 6, 8, 10, 12]
    where = kept()
    del result
    assert kept() == where  # seven numbers are not worth keeping


def test_no_more_is_kept_than_the_setting_says(double: Any) -> None:
    with symc.config.set(kept_memory=5 * BYTES // 2):
        results = [double(np.ones(LONG)) for _ in range(6)]
        del results
        assert kept() == 2 * BYTES
        symc.config.kept_memory = BYTES
        assert kept() == BYTES
        symc.config.kept_memory = 0
        assert kept() == 0
        double(np.ones(LONG))
        assert kept() == 0


@pytest.mark.parametrize("value", [-1, 1.5, True, "1"])
def test_settings_that_are_no_number_of_bytes(value: Any) -> None:
    with pytest.raises(ValueError, match="a number of bytes"):
        symc.config.kept_memory = value


def test_the_variable_in_the_environment() -> None:
    asked = "import symc; print(symc.config.kept_memory)"
    for given, wanted in (("0", "0\n"), ("12345", "12345\n")):
        environment = {**os.environ, "SYMC_KEPT_MEMORY": given}
        found = subprocess.check_output([sys.executable, "-c", asked], env=environment, text=True)
        assert found == wanted


def test_freed_on_request(double: Any) -> None:
    double(np.ones(LONG))
    assert symc.free_memory() == BYTES
    assert symc.free_memory() == 0
    assert kept() == 0


def test_tracemalloc_sees_results_and_not_what_is_kept(double: Any) -> None:
    given = np.ones(LONG)
    double(given)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = double(given)
        assert tracemalloc.get_traced_memory()[0] - before > BYTES
        del result
        assert tracemalloc.get_traced_memory()[0] - before < BYTES // 10
    finally:
        tracemalloc.stop()


def test_new_values_of_shared_variables_take_turns() -> None:
    w = symc.shared(np.zeros(LONG), name="w", shape=(None,))
    f = symc.function([], updates=[(w, T.concatenate([w[1:], w[:1] + 1]))])
    f()
    places = set()
    for _ in range(6):
        f()
        places.add(address(w.get_value(borrow=True)))
    assert len(places) <= 2


def test_lengths_that_are_measured_on_the_way() -> None:
    x = T.vector("x")
    f = symc.function([x], x[x > 0])
    given = np.ones(LONG)
    where = address(f(given))
    assert address(f(given)) == where


def test_results_may_die_on_any_thread(double: Any) -> None:
    def work(number: float) -> None:
        for _ in range(50):
            result = double(np.full(LONG, number))
            assert result[0] == result[-1] == 2 * number

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept() <= 2 * 4 * BYTES


def test_a_child_of_fork_has_memory_of_its_own(double: Any) -> None:
    double(np.ones(LONG))
    child = os.fork()
    if child == 0:
        good = kept() == BYTES and double(np.full(LONG, 3.0))[5] == 6
        os._exit(0 if good and symc.free_memory() == BYTES else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert kept() == BYTES
    assert double(np.ones(LONG))[0] == 2
