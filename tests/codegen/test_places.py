"""What one kernel would compute at several places is stored, if that takes less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T


def kernels_of(function: symc.Function) -> int:
    """How many kernels a function has."""
    return function.source.split("/* ---- host")[0].count("__attribute__((noinline, noipa)) void")


def smoothed(module: Any, x: Any) -> Any:
    return (x[:-2] + x[1:-1] + x[2:]) / 3


def curved(module: Any, x: Any) -> Any:
    sides = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return 4.0 * x[1:-1, 1:-1] - sides


def spread(module: Any, x: Any) -> Any:
    around = [module.roll(x, by, axis) for axis in (0, 1) for by in (1, -1)]
    return around[0] + around[1] + around[2] + around[3] - 4.0 * x


def lifted(module: Any, x: Any) -> Any:
    even, odd = x[::2], x[1::2]
    detail = odd - 0.5 * (even + module.roll(even, -1))
    return even + 0.25 * (detail + module.roll(detail, 1))


def differences(module: Any, x: Any) -> Any:
    return module.tanh(x[1:] - x[:-1])


STEPS: dict[Callable[..., Any], tuple[int, ...]] = {
    smoothed: (60,), curved: (16, 13), spread: (5, 7), lifted: (64,), differences: (40,),
}  # fmt: skip


def repeated(step: Callable[..., Any], module: Any, x: Any, times: int) -> Any:
    for _ in range(times):
        x = step(module, x)
    return x


@pytest.mark.parametrize("times", [1, 2, 3, 5])
@pytest.mark.parametrize("step", STEPS)
def test_a_bug_neighbours_of_neighbours_were_computed_at_each_place(
    step: Callable[..., Any], times: int
) -> None:
    """Three levels of a wavelet were 8.7 MB of C, three smoothings took three times as long."""
    shape = STEPS[step]
    x = T.tensor("float64", (None,) * len(shape), "x")
    end = repeated(step, T, x, times)
    f = symc.function([x], [end, symc.grad(T.sin(end).sum(), x)])
    given = np.random.default_rng(times).standard_normal(shape)
    got, slope = f(given)
    np.testing.assert_allclose(got, repeated(step, np, given, times), rtol=1e-9, atol=1e-9)
    way = np.random.default_rng(9).standard_normal(shape)
    ends = [np.sin(repeated(step, np, given + by * way, times)).sum() for by in (1e-6, -1e-6)]
    assert abs((ends[0] - ends[1]) / 2e-6 - (slope * way).sum()) < 1e-4 * (1 + abs(slope).sum())
    assert len(symc.function([x], end).source) < 11_000 + 4_000 * times


def test_functions_of_neighbours_are_stored_once() -> None:
    x = T.vector("x")
    f = symc.function([x], repeated(differences, T, x, 3))
    assert f.source.count("= tanh(") == 1  # in a kernel that is launched three times
    y = T.matrix("y")  # of cheap sums two levels are not worth a pass over memory
    assert kernels_of(symc.function([y], repeated(curved, T, y, 2))) == 1
    assert kernels_of(symc.function([y], repeated(curved, T, y, 3))) == 2


def test_a_bug_places_that_multiply_are_not_looked_at() -> None:
    """Six levels took minutes before anything was decided."""
    x = T.vector("x")
    total = x
    for _ in range(12):
        detail = total - 0.5 * (total + T.roll(total, -1))
        total = total + 0.25 * (detail + T.roll(detail, 1))
    f = symc.function([x], total)
    given: Any = np.random.default_rng(0).standard_normal(9)
    wanted = given
    for _ in range(12):
        detail = wanted - 0.5 * (wanted + np.roll(wanted, -1))
        wanted = wanted + 0.25 * (detail + np.roll(detail, 1))
    np.testing.assert_allclose(f(given), wanted, rtol=1e-9, atol=1e-9)
    assert len(f.source) < 40_000


def test_what_each_part_needs_once_is_not_stored() -> None:
    x = T.vector("x")
    y = T.exp(x)
    for joined, shift in ((T.roll(y, 1), 1), (T.concatenate([y[3:], y[:3]]), -3)):
        f = symc.function([x], joined)
        assert kernels_of(f) == 1
        given = np.arange(7.0)
        np.testing.assert_allclose(f(given), np.roll(np.exp(given), shift))


def test_a_small_table_is_computed_before_it_is_read() -> None:
    table, places = T.tensor("float64", (256,), "table"), T.lvector("places")
    of_any_length = T.vector("table")
    given, where = np.linspace(-1, 1, 256), np.arange(-256, 256)
    for values, count in ((T.exp(-(table**2)), 3), (table + 1, 2)):
        f = symc.function([table, places], values[places])
        assert kernels_of(f) == count  # of which one looks at the places
        want = np.exp(-(given**2)) if count == 3 else given + 1
        np.testing.assert_allclose(f(given, where), want[where])
        with pytest.raises(symc.errors.BadIndex):
            f(given, [256])
    f = symc.function([of_any_length, places], T.exp(of_any_length)[places])
    assert kernels_of(f) == 2
    assert kernels_of(symc.function([table], T.exp(table)[[3, 4]])) == 1
