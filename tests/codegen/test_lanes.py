"""lanes: narrow numbers get rows of their own beside long vector loops, with the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Accumulate, Loop, Program, Store
from symc.codegen.passes.vectors.lanes import RATIO, STRIP
from symc.codegen.passes.walk import loads_of, statements
from tests.codegen.arguments import arguments

x, y = T.vector("x"), T.vector("y")
small, mask = T.fvector("small"), T.vector("mask", dtype="bool")
counts, rows = T.vector("counts", dtype="uint8"), T.matrix("rows")
long = T.tanh(x) * T.exp(y)

CASES: dict[str, tuple[list[Any], Any, Callable[..., Any]]] = {
    "a bool written": ([x, y], long > 0.5, lambda x, y: np.tanh(x) * np.exp(y) > 0.5),
    "a bool read": (
        [x, y, mask], T.where(mask, long, T.exp(-x)),
        lambda x, y, m: np.where(m, np.tanh(x) * np.exp(y), np.exp(-x)),
    ),
    "a bool read in a sum": (
        [x, y, mask], T.where(mask, long, T.cos(x) * T.exp(-x)).sum(),
        lambda x, y, m: np.where(m, np.tanh(x) * np.exp(y), np.cos(x) * np.exp(-x)).sum(),
    ),
    "small integers read and written": (
        [x, y, counts], [T.cast(10 * long + counts, "int16"), long * counts],
        lambda x, y, c: [
            (10 * (np.tanh(x) * np.exp(y)) + c).astype(np.int16), np.tanh(x) * np.exp(y) * c,
        ],
    ),
    "floats of 32 bits": (
        [small], T.exp(T.tanh(small)) * T.cos(small) * T.sin(small) > 0.5,
        lambda s: np.exp(np.tanh(s)) * np.cos(s) * np.sin(s) > 0.5,
    ),
    "strided places": (
        [x, y, mask], T.where(mask[::-1], long, T.exp(-x))[::2] > 0.25,
        lambda x, y, m: np.where(m[::-1], np.tanh(x) * np.exp(y), np.exp(-x))[::2] > 0.25,
    ),
    "places that are read from memory": (
        [x, y, mask, counts], T.where(mask[T.cast(counts, "int64") % 5], long, T.exp(-x)),
        lambda x, y, m, c: np.where(m[c.astype(int) % 5], np.tanh(x) * np.exp(y), np.exp(-x)),
    ),
    "places that are computed": (
        [x, y, mask], T.where(mask[T.cast(T.floor(T.clip(long, 0, 4)), "int64")], long, T.exp(-x)),
        lambda x, y, m: np.where(
            m[np.floor(np.clip(np.tanh(x) * np.exp(y), 0, 4)).astype(int)],
            np.tanh(x) * np.exp(y), np.exp(-x),
        ),
    ),
    "rows": (
        [rows], T.exp(T.tanh(rows)) * T.cos(rows) > rows.mean(axis=1, keepdims=True),
        lambda r: np.exp(np.tanh(r)) * np.cos(r) > r.mean(axis=1, keepdims=True),
    ),
    "bools in and out": (
        [x, y, mask], [long > 0.5, T.where(mask, long, 0.0), mask & (long < T.exp(y))],
        lambda x, y, m: [
            np.tanh(x) * np.exp(y) > 0.5, np.where(m, np.tanh(x) * np.exp(y), 0.0),
            m & (np.tanh(x) * np.exp(y) < np.exp(y)),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("name", CASES)
def test_rows_of_wide_numbers_mean_the_same(name: str, mode: str) -> None:
    inputs, outputs, numpy = CASES[name]
    f = symc.function(inputs, outputs, mode=mode)
    for n in (5, STRIP, 2 * STRIP + 3) if mode == "default" else (7,):
        given = arguments(inputs, n)
        got, wanted = f(*given), numpy(*given)
        for one, other in zip(
            *((r if isinstance(r, list) else [r]) for r in (got, wanted)), strict=True
        ):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=2e-6 if small in inputs else 1e-12)


def mixed(program: Program) -> list[Loop]:
    """The vector loops that have numbers of more than one width, and are not short."""
    found: list[Loop] = []
    for kernel in program.kernels:
        for loop in statements(kernel.body):
            if isinstance(loop, Loop) and loop.kind == "vector":
                widths = {load.dtype.bytes for stmt in loop.body for load in loads_of(stmt)}
                stored = [s for s in loop.body if isinstance(s, Store | Accumulate)]
                widths |= {stmt.value.dtype.bytes for stmt in stored}
                if widths and max(widths) >= RATIO * min(widths) and len(loop.body) > 3:
                    found.append(loop)
    return found


def test_a_gradient_with_many_functions_and_choices_takes_gcc_no_minute() -> None:
    """250 operations and their gradient took gcc 66 s: bools that other loops need made it write
    each operation on doubles eight times.
    """
    rng = np.random.default_rng(0)
    nodes = [x, y]
    for k in range(60):
        a = nodes[rng.integers(len(nodes))]
        b = nodes[rng.integers(max(0, len(nodes) - 5), len(nodes))]
        nodes.append([T.tanh(a) + b, a * b, T.exp(-a * a) * b, T.where(a > b, a, b)][k % 4])
    cost = T.stack(nodes[-10:]).sum()
    program = symc.function([x, y], [cost, symc.grad(cost, x)]).runner.compilation().optimised
    stored = [b for b in program.buffers if b.dtype.name == "bool"]
    assert stored, "the example keeps no bool any more: find another one"
    assert not mixed(program)


def test_short_loops_stay_as_they_are() -> None:
    f = symc.function([x, y], x > 2 * y)
    assert "_wide" not in f.source


def test_places_that_follow_from_numbers_of_the_loop() -> None:
    """Of a derivative along a direction such a place was to be read before the number is there."""
    v, d = T.matrix("v"), T.matrix("d")
    cost = T.nanvar(T.nanquantile(v, 0.3, axis=-1))
    f = symc.function([v, d], symc.Rop(cost, v, d))
    x = np.array([[1.0, 2.0], [np.nan, 5.0], [3.0, 4.5]])
    along = np.array([[0.5, -1.0], [2.0, 0.25], [1.0, 3.0]])

    def value(x: Any) -> Any:
        return np.nanvar(np.nanquantile(x, 0.3, axis=-1))

    slope = (value(x + 1e-6 * along) - value(x - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(f(x, along), slope, rtol=1e-6)
