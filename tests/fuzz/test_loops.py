"""Random loops give what loops in Python give, and so do their gradients, of both orders."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph import Array, Tensor
from tests.fuzz.loops import Case, Scanned, Written
from tests.fuzz.opinions import interpreted
from tests.ops.harness import called

COMPILED = (0, 58, 97) if symc.config.device == "cpu" else (0,)


def agree(seed: int, mode: str, *, second: bool = False) -> None:
    """All that a loop gives, and the gradients of a cost made of it, against the loop in Python."""
    case, what = Case(seed), f"seed={seed} mode={mode}"
    counts: list[int] = []
    rows, after = Written(np, counts).run(case.loop, case.given)
    steps = len(rows[0])
    number = T.lscalar("steps") if case.symbolic_steps else None
    outputs, updated = Scanned().run(case.loop, case.args, number)
    written, written_after = Written(T, counts).run(case.loop, case.args)
    costs = [
        case.scanned_cost(outputs, updated, steps),
        T.constant(0.0) + case.cost(written, written_after, steps),
    ]
    found, wanted = (derived(cost, case, second=second) for cost in costs)
    results = [*outputs, *([] if updated is None else [updated]), *found]
    inputs = [*case.inputs, *([] if number is None else [number])]
    values = [*case.values, *([] if number is None else [np.array(case.loop.steps)])]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="a loop changes")  # it is an output here
        function = symc.function(inputs, results, mode=mode, on_unused_input="ignore")
    expected = [
        np.stack(own) if own else np.zeros((0, *shape))
        for own, shape in zip(rows, case.rows, strict=True)
    ]
    expected += [] if updated is None else [after]
    expected += symc.function(case.inputs, wanted, mode="python", on_unused_input="ignore")(
        *case.values
    )
    opinions = list(called(function, values))
    if mode != "python" and seed % 2:
        opinions.append(interpreted(function, values, optimised=seed % 4 == 1, backwards=True))
    for got in opinions:
        for position, (value, other) in enumerate(zip(got, expected, strict=True)):
            close(np.asarray(value), np.asarray(other), f"{what} result={position}")


def derived(cost: Tensor, case: Case, *, second: bool) -> list[Tensor]:
    """The gradients of a cost; also their product with a vector, and the gradients of that."""
    wrt = case.wrt
    gradients = symc.grad(cost, wrt, disconnected="zero")
    if not second:
        return gradients
    rng = np.random.default_rng(case.seed)
    values = [v for v, arg in zip(case.given, case.args, strict=True) if arg.dtype.is_float]
    vectors = [T.constant(rng.standard_normal(np.shape(value))) for value in values]
    product: Any = sum((g * v).sum() for g, v in zip(gradients, vectors, strict=True))
    forward = symc.Rop(cost, wrt, vectors, disconnected="zero")
    return [*gradients, forward, *symc.grad(product, wrt, disconnected="zero")]


def close(value: Array, expected: Array, what: str) -> None:
    assert value.shape == expected.shape, what
    scale = float(np.abs(expected).max(initial=1.0))
    np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-9 * scale, err_msg=what)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_interpreted(first: int) -> None:
    for seed in range(first, first + 10):
        agree(seed, "python", second=seed % 5 == 0)


@pytest.mark.parametrize("seed", COMPILED)
def test_compiled(seed: int) -> None:
    agree(seed, ("default", "fast", "compile")[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 10))
def test_many_interpreted(first: int) -> None:
    for seed in range(first, first + 10):
        agree(seed, "python", second=seed % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2300))
def test_many_compiled(seed: int) -> None:
    agree(seed, ("default", "fast", "compile")[seed % 3], second=seed % 4 == 0)
