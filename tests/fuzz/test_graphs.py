"""Random graphs and their gradients mean the same in NumPy, in loops, and in C, in every mode."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest

import symc
from symc.evaluate import evaluate
from symc.graph import Array
from tests.fuzz.graphs import RandomGraph
from tests.fuzz.opinions import interpreted
from tests.ops.harness import called

QUICK = range(40 if symc.config.device == "cpu" else 6)  # compiling for a device takes longer


def agree(seed: int, mode: str, steps: int) -> None:
    graph = RandomGraph(seed, steps)
    cost = reduce(add, (output.sum() for output in graph.outputs))
    gradients = symc.grad(cost, graph.inputs, disconnected="zero")
    wanted = evaluate(
        [*graph.outputs, *gradients], dict(zip(graph.inputs, graph.values, strict=True))
    )
    function = symc.function(
        graph.inputs, [*graph.outputs, *gradients], mode=mode, on_unused_input="ignore"
    )
    opinions = [("C", results) for results in called(function, graph.values)]
    opinions.append(
        ("IR", interpreted(function, graph.values, optimised=seed % 2 == 0, backwards=True))
    )
    for who, got in opinions:
        for position, (value, expected) in enumerate(zip(got, wanted, strict=True)):
            what = f"{who}: seed={seed} steps={steps} mode={mode} result={position}"
            close(value, expected, what)


def close(value: Array, expected: Array, what: str) -> None:
    assert value.shape == expected.shape, what
    assert value.dtype == expected.dtype, what
    scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-10 * scale, err_msg=what)


@pytest.mark.parametrize("seed", QUICK)
def test_compiled_and_interpreted_agree(seed: int) -> None:
    agree(seed, "default" if seed % 3 else "compile", steps=6 + seed % 15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_compiled_and_interpreted_agree_on_many(seed: int) -> None:
    agree(seed, ("default", "compile", "fast")[seed % 3], steps=5 + seed % 40)
