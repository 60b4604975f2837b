"""`symc.benchmark`: its figures of compiling and of calls, with any clock."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.measure.benchmark import Benchmark, Compiling, Series
from symc.measure.timing import Timing, kept, peak_growth, timed
from symc.measure.words import duration


def made_up(steady: float, against: float | None) -> Benchmark:
    """Of a function that took one second to make and 10 ms from the cache."""
    other = None if against is None else Timing((against,), 1)
    return Benchmark(
        "f", "default", Compiling({"compile": 0.9}, 1.0), Compiling({"load": 0.01}, 0.01),
        steady, Timing((steady,), 1), 800, other, None,
    )  # fmt: skip


def test_compiling_pays_when_what_it_gains_is_what_it_cost() -> None:
    found = made_up(1e-3, 3e-3)
    assert found.break_even == 500
    assert found.warm_break_even == 5
    assert found.speedup == pytest.approx(3)
    assert "compiling pays after 500 calls, from the cache after 5" in str(found)


def test_compiling_what_is_slower_never_pays() -> None:
    found = made_up(3e-3, 1e-3)
    assert found.break_even is None
    assert "does not pay" in str(found)
    assert made_up(1e-3, None).speedup is None


def test_growth_is_the_power_of_the_size() -> None:
    cubic = Series("size", tuple((n, made_up(1e-9 * n**3, None)) for n in (10, 20, 40)))
    assert cubic.growth == pytest.approx(3)
    assert Series("mode", cubic.points).growth is None
    assert "size ** 3.00" in str(cubic)


def test_quartiles_enclose_the_median() -> None:
    timing = Timing((4.0, 1.0, 3.0, 2.0, 9.0), 1)
    assert (timing.best, timing.median, timing.quartiles) == (1.0, 3.0, (2.0, 4.0))
    assert Timing((2.0,), 1).quartiles == (2.0, 2.0)


def test_calls_take_turns() -> None:
    seen: list[str] = []
    found = timed({"a": lambda: seen.append("a"), "b": lambda: seen.append("b")}, 0.0)
    assert len(found["a"].samples) == len(found["b"].samples) >= 5
    tail = "".join(seen[-2 * found["b"].calls :])
    assert tail.endswith("b" * found["b"].calls)
    assert set(tail) == {"a", "b"} or found["a"].calls == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_at_the_peak_is_seen_though_it_is_given_back() -> None:
    growth = peak_growth(lambda: np.ones(1 << 22).sum())  # 32 MiB
    if growth is None:
        pytest.skip("this system does not let a process clear its peak")
    assert growth > 24 << 20


def test_shared_variables_are_as_they_were() -> None:
    w = symc.shared(np.ones(3))
    with kept(symc.function([], w * 2), ()) as reset:
        w.set_value(np.zeros(3))
        reset()
        assert w.get_value().tolist() == [1, 1, 1]
        w.set_value(np.zeros(3))
    assert w.get_value().tolist() == [1, 1, 1]


def test_a_function_with_state_is_measured(tmp_path: Path) -> None:
    w = symc.shared(np.array([1.0, 2.0]), name="w")
    x = T.vector("x")
    f = symc.function([x], (x * w).sum(), updates=[(w, w * 0.5)], name="step")
    found = symc.benchmark(f, np.ones(2), against=lambda x: x.sum(), seconds=0.01)
    assert w.get_value().tolist() == [1.0, 2.0]
    assert {"rewrite", "emit", "compile", "load"} <= found.cold.stages.keys()
    assert "compile" not in found.warm.stages
    assert found.cold.total >= sum(found.cold.stages.values()) > sum(found.warm.stages.values())
    kept = json.loads(found.json)
    assert kept["steady"]["median"] == found.steady.median
    assert kept["cold"]["stages"]["compile"] == found.cold.stages["compile"]
    for word in ("step, mode 'default'", "compile", "first call", "median", "quartiles"):
        assert word in str(found)
    check_plots(found, tmp_path)


def check_plots(found: Benchmark, folder: Path) -> None:
    """A picture where matplotlib is installed, else an error that names the package to install."""
    series = Series("size", ((10, found), (100, found)))
    plots: list[Benchmark | Series] = [found, series]
    for number, what in enumerate(plots):
        if importlib.util.find_spec("matplotlib") is None:
            with pytest.raises(ImportError, match="pip install"):
                what.plot(folder / f"{number}.png")
        else:
            path = what.plot(folder / f"{number}.png")
            assert path.read_bytes().startswith(b"\x89PNG")


def test_modes_and_sizes_of_what_needs_no_compiler() -> None:
    x = T.vector("x")
    f = symc.function([x], x + 1, mode="python", name="f")
    sizes = symc.benchmark.sizes(f, lambda n: [np.ones(n)], [2, 20], seconds=0.001)
    assert [n for n, _ in sizes.points] == [2, 20]
    modes = symc.benchmark.modes(f, np.ones(2), modes=["python", "nanguard"], seconds=0.001)
    assert [made.mode for _, made in modes.points] == ["python", "nanguard"]
    assert [point["mode"] for point in json.loads(modes.json)["points"]] == ["python", "nanguard"]


def test_what_cannot_be_measured() -> None:
    x = T.vector("x")
    f = symc.function([x], x + 1, mode="python", name="f")
    plain: Any = np.sum
    for measured in (symc.benchmark, symc.benchmark.modes, symc.profile):
        with pytest.raises(TypeError, match=r"needs a function that symc\.function has made"):
            measured(plain, np.ones(2))
    with pytest.raises(ValueError, match="no mode 'quick'; there are 'default'"):
        symc.benchmark.modes(f, np.ones(2), modes=["quick"])
    with pytest.raises(TypeError, match=r"arguments\(3\) must be a list of arguments"):
        symc.benchmark.sizes(f, lambda n: np.ones(n), [3], seconds=0.001)  # type: ignore[arg-type, return-value]


def test_a_first_call_that_was_quick_by_chance_pays_nothing_back() -> None:
    """It made "compiling pays after 11 calls, from the cache after 0"."""
    made = replace(made_up(1e-3, 3e-3), first_call=0.0, warm=Compiling({}, 1e-6))
    assert made.break_even == 500
    assert made.warm_break_even == 1


def test_durations_have_three_digits() -> None:
    assert [duration(s) for s in (1234.0, 12.3456, 0.0123, 1.5e-5, 2e-9)] == [
        "1234 s", "12.3 s", "12.3 ms", "15 us", "2 ns",
    ]  # fmt: skip
