"""Branches between numbers of a few operations are computed as selections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DivisionByZero

MODES = ["default", "python", "debug", "fast", "compile"]


def _has_branch(function: Any) -> bool:
    return "branch(" in function.source


def test_bits_of_a_checksum_are_selected() -> None:
    """Of a cyclic redundancy check a bit at a time took six times as long as in C."""

    def byte(value: Any, crc: Any) -> Any:
        now = T.cast(value, "int64")
        for _ in range(8):
            crc = symc.ifelse(T.neq((crc & 1) ^ (now & 1), 0), (crc >> 1) ^ 0x8408, crc >> 1)
            now = now >> 1
        return crc

    data = T.vector("data", "uint8")
    sums, _ = symc.scan(byte, sequences=data, outputs_info=0xFFFF)
    f = symc.function([data], sums[-1])
    assert not _has_branch(f)
    crc = 0xFFFF
    given = np.random.default_rng(0).integers(0, 256, 200).astype(np.uint8)
    for one in given.tolist():
        for bit in range(8):
            crc = (crc >> 1) ^ (0x8408 if (crc ^ (one >> bit)) & 1 else 0)
    assert int(f(given)) == crc


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_taken_raises_nothing(mode: str) -> None:
    """Sides with checks stay branches; numbers that are not finite are not selected."""
    x, i, v = T.scalar("x"), T.lscalar("i"), T.vector("v")
    f = symc.function([x], symc.ifelse(x > 0, 1 / x, 0.0), mode=mode)
    assert [float(f(0.0)), float(f(2.0))] == [0.0, 0.5]
    quotient = symc.function([i], symc.ifelse(i > 0, 7 // i, 9 // (i + 1)), mode=mode)
    assert [int(quotient(0)), int(quotient(2))] == [9, 3]
    with pytest.raises(DivisionByZero):
        quotient(-1)
    taken = symc.function([v, i], symc.ifelse(i < v.shape[0], v[i], -1.0), mode=mode)
    assert [float(taken([5.0], 0)), float(taken([5.0], 1))] == [5.0, -1.0]
    with pytest.raises(BadIndex):
        taken([5.0], -2)


def test_long_sides_and_arrays_stay_branches() -> None:
    x, v = T.scalar("x"), T.vector("v")
    assert _has_branch(symc.function([x], symc.ifelse(x > 0, T.exp(x), T.log1p(-x))))
    assert _has_branch(symc.function([x, v], symc.ifelse(x > 0, v + 1, v - 1)))


def test_several_results_and_their_gradients() -> None:
    x = T.scalar("x")
    a, b = symc.ifelse(x > 0, [x + 1, x * 2], [x, x - 1])
    f = symc.function([x], [a, b, symc.grad(a * b, x)])
    assert [float(each) for each in f(3.0)] == [4.0, 6.0, 14.0]
    assert [float(each) for each in f(-3.0)] == [-3.0, -4.0, -7.0]


def test_selections_inside_of_branches_and_loops() -> None:
    x, v = T.scalar("x"), T.vector("v")
    inner = symc.ifelse(x > 2, x - 2, x)
    f = symc.function([x, v], symc.ifelse(x > 0, v + inner, v))
    for given, wanted in [(3.0, [2.0, 3.0]), (1.0, [2.0, 3.0]), (-1.0, [1.0, 2.0])]:
        np.testing.assert_array_equal(f(given, [1.0, 2.0]), wanted)
    last = symc.fori_loop(0, 10, lambda k, s: symc.ifelse(s > 3, s - 3, s + 2), x)
    want = 0.5
    for _ in range(10):
        want = want - 3 if want > 3 else want + 2
    assert float(symc.function([x], last)(0.5)) == want
