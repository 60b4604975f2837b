"""scatters: writes at computed places join the loops before them, and mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Accumulate, Launch, Loop, Select
from symc.codegen.passes.walk import nodes, statements

k = T.vector("k", dtype="int64")
x, y, a, b = T.vector("x"), T.vector("y"), T.vector("a"), T.vector("b")
GIVEN = [k, x, y, a, b]
residual = y - (a[k] + b[k] * x)
loss = T.sqr(residual).sum()


def added(base: Any, k: Any, values: Any) -> Any:
    """What ``base[k].inc(values)`` is."""
    base = np.array(base)
    np.add.at(base, k, values)
    return base


def last(base: Any, k: Any, values: Any) -> Any:
    """What ``base[k].set(values)`` is."""
    base = np.array(base)
    base[k] = values
    return base


def regression(k: Any, x: Any, y: Any, a: Any, b: Any) -> list[Any]:
    """The loss and both of its gradients."""
    r = y - (a[k] + b[k] * x)
    return [(r * r).sum(), added(0 * a, k, -2 * r), added(0 * b, k, -2 * r * x)]


# The outputs, what they are, and how many kernels scatter.
CASES: dict[str, tuple[list[Any], Callable[..., list[Any]], int]] = {
    "a regression": ([loss, *symc.grad(loss, [a, b])], regression, 1),
    "two scatters": (
        [a[k].inc(x), b[k].set(y)],
        lambda k, x, y, a, b: [added(a, k, x), last(b, k, y)], 1,
    ),
    "the map is a result as well": (
        [residual, a[k].inc(residual)],
        lambda k, x, y, a, b: [y - (a[k] + b[k] * x), added(a, k, y - (a[k] + b[k] * x))], 1,
    ),
    "a fold between needs nothing of it": (
        [T.exp(y).sum(), a[k].inc(x), b[k].inc(x)],
        lambda k, x, y, a, b: [np.exp(y).sum(), added(a, k, x), added(b, k, x)], 1,
    ),
    "one reads what the other wrote": (
        [b[k].inc(a[k].inc(x)[k])],
        lambda k, x, y, a, b: [added(b, k, added(a, k, x)[k])], 2,
    ),
    "the map reads what was written": (
        [a[k].inc(x), a[k].inc(x)[k] * y],
        lambda k, x, y, a, b: [added(a, k, x), added(a, k, x)[k] * y], 1,
    ),
    "of other lengths": (
        [a[k].inc(x), b[k[1:]].inc(x[1:])],
        lambda k, x, y, a, b: [added(a, k, x), added(b, k[1:], x[1:])], 2,
    ),
    "one after the other on one array": (
        [a[k].inc(x)[k].set(y)],
        lambda k, x, y, a, b: [last(added(a, k, x), k, y)], 2,
    ),
}  # fmt: skip


def given(n: int, seed: int) -> list[Any]:
    """Arguments, with indexes from either end that repeat."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-7, 7, n), *rng.normal(size=(2, n)), *rng.normal(size=(2, 7))]


def scattering(f: symc.Function) -> list[Loop]:
    """The loops that write at computed places."""
    program = f.runner.compilation().optimised
    launched = {step.kernel for step in program.steps if isinstance(step, Launch)}
    loops = [
        stmt
        for kernel in program.kernels
        if kernel.name in launched
        for stmt in statements(kernel.body)
        if isinstance(stmt, Loop) and not any(isinstance(inner, Loop) for inner in stmt.body)
    ]
    return [loop for loop in loops if any(map(_is_computed, loop.body))]


def _is_computed(stmt: Any) -> bool:
    index = getattr(stmt, "index", None)
    return index is not None and any(isinstance(node, Select) for node in nodes(index))


@pytest.mark.parametrize("n", [0, 1, 100, 40_000])
@pytest.mark.parametrize("name", CASES)
def test_scatters_together_mean_the_same(name: str, n: int) -> None:
    outputs, numpy, loops = CASES[name]
    f = symc.function(GIVEN, outputs, on_unused_input="ignore")
    arrays = given(n, seed=n)
    for got, wanted in zip(f(*arrays), numpy(*arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)
    assert len(scattering(f)) == loops


def test_a_regression_is_one_pass_that_stores_no_residuals() -> None:
    """Four passes, and residuals in memory between them, took twice the time of one."""
    f = symc.function(GIVEN, [loss, *symc.grad(loss, [a, b])])
    (loop,) = scattering(f)
    assert sum(isinstance(stmt, Accumulate) for stmt in loop.body) == 3
    program = f.runner.compilation().optimised
    large = [buffer for buffer in program.buffers if buffer.role == "temp" and buffer.shape]
    assert {buffer.name for buffer in large} == {"partial"}


def test_maps_with_functions_keep_their_vector_registers() -> None:
    f = symc.function(GIVEN, a[k].inc(T.exp(x) * T.sin(y)), on_unused_input="ignore")
    stored = symc.function(
        GIVEN, [T.exp(x) * T.sin(y), a[k].inc(T.exp(x) * T.sin(y))], on_unused_input="ignore"
    )
    arrays = given(1000, 5)
    wanted = added(arrays[3], arrays[0], np.exp(arrays[1]) * np.sin(arrays[2]))
    np.testing.assert_allclose(f(*arrays), wanted, rtol=1e-12)
    np.testing.assert_allclose(stored(*arrays)[1], wanted, rtol=1e-12)
    kernels = stored.runner.compilation().optimised.kernels
    loops = [stmt for kernel in kernels for stmt in statements(kernel.body)]
    assert any(isinstance(stmt, Loop) and stmt.kind == "vector" for stmt in loops)
    assert len(kernels) > 1


def test_shared_variables_are_added_to_in_one_loop() -> None:
    w, v = symc.shared(np.zeros(7), name="w"), symc.shared(np.ones(7), name="v")
    step = symc.function([k, x], [], updates=[(w, w[k].inc(x)), (v, v[k].inc(x * w[k]))])
    rng = np.random.default_rng(3)
    places, values = rng.integers(-7, 7, 500), rng.normal(size=500)
    now, then = np.zeros(7), np.ones(7)
    for _ in range(3):
        step(places, values)
        then = added(then, places, values * now[places])
        now = added(now, places, values)
    np.testing.assert_allclose(w.get_value(), now, rtol=1e-12)
    np.testing.assert_allclose(v.get_value(), then, rtol=1e-10)


def test_rows_at_indexes_that_are_out_of_range_are_refused_before_anything_is_written() -> None:
    w = symc.shared(np.zeros(7), name="w")
    step = symc.function([k, x], x.sum(), updates=[(w, w[k].inc(x))])
    with pytest.raises(IndexError):
        step(np.array([0, 7]), np.ones(2))
    assert not w.get_value().any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_values_of_half_precision_are_rounded_where_they_were_stored(dtype: str) -> None:
    """An element that two scatters add is rounded once, before both."""
    h, base = T.tensor(dtype, (None,), "h"), T.tensor(dtype, (7,), "base")
    given_twice = h * h + h
    outputs = [T.inc_subtensor(base[k], given_twice), given_twice.sum()]
    rng = np.random.default_rng(6)
    arguments = [rng.integers(-7, 7, 50), rng.normal(size=50), np.zeros(7)]
    results = [
        symc.function([k, h, base], outputs, mode=mode, allow_input_downcast=True)(*arguments)
        for mode in (None, "python")
    ]
    for got, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(
            np.asarray(got, "float64"), np.asarray(wanted, "float64"), rtol=0.02
        )
