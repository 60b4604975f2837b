"""Random programs of any dtype mean the same to NumPy, to the loop IR's interpreter, and in C."""

from __future__ import annotations

import numpy as np
import pytest

import symc
from symc.codegen.verify import verify
from symc.graph import Array, Tensor, walk
from tests.fuzz.opinions import interpreted
from tests.fuzz.typed import Script
from tests.ops.harness import once

# How far apart results may be, relative to the largest: each of at most 40 steps may lose a few
# units of the dtype's precision.
TOLERANCE = {"float64": 1e-11, "float32": 2e-4, "float16": 5e-2}
QUICK = range(30 if symc.config.device == "cpu" else 6)  # compiling for a device takes longer


def agree(seed: int, steps: int, mode: str) -> None:
    script = Script(seed, steps)
    what = f"seed={seed} steps={steps} mode={mode}"
    try:
        check(script, mode)
    except Exception as error:
        error.add_note(f"{what}\n{script.reproducer(mode)}")
        raise


def check(script: Script, mode: str) -> None:
    wanted = [item.value for item in script.results()]
    arguments = [item.value for item in script.inputs]
    f = symc.function(
        [item.node for item in script.inputs],
        [script.item(name).node for name in script.outputs],
        updates=[(script.item(s).node, script.item(new).node) for s, new in script.updates],
        mode=mode, on_unused_input="ignore",
    )  # fmt: skip
    made = f.runner.stages()
    verify(made.program)
    verify(made.optimised)
    opinions = {
        "IR": interpreted(f, arguments, optimised=False),
        "IR after the passes": interpreted(f, arguments, optimised=True),
        "IR backwards": interpreted(f, arguments, optimised=True, backwards=True),
    }
    before = [s.node.get_value() for s in script.items[: script.given] if s.name.startswith("s")]
    outputs = once(f, arguments, backwards=len(script.items) % 2 == 0)
    news = [script.item(s).node.get_value() for s, _ in script.updates]
    opinions["C"] = [*outputs, *news]
    for who, got in opinions.items():
        assert len(got) == len(wanted)
        for item, value, expected in zip(script.results(), got, wanted, strict=True):
            same(value, expected, tolerance(item.node), f"{who}: {item.name}")
    kept = [s for s in script.items[: script.given] if s.name.startswith("s")]
    updated = {s for s, _ in script.updates}
    for item, old in zip(kept, before, strict=True):
        if item.name not in updated:
            assert np.array_equal(item.node.get_value(), old), f"{item.name} has changed"


def tolerance(node: Tensor) -> float:
    """What the least precise number on the way allows."""
    return max(TOLERANCE.get(part.dtype.name, 0.0) for part in walk([node]))


def same(value: Array, expected: Array, allowed: float, what: str) -> None:
    assert value.dtype == expected.dtype, what
    assert value.shape == expected.shape, what
    if expected.dtype.kind != "f":
        assert np.array_equal(value, expected), f"{what}\n{value}\n{expected}"
        return
    scale = float(np.abs(expected).max(initial=1.0))
    np.testing.assert_allclose(value, expected, rtol=allowed, atol=allowed * scale, err_msg=what)


@pytest.mark.parametrize("number", QUICK)
def test_all_agree(number: int, seed: int) -> None:
    agree(seed + number, 3 + number % 20, "compile" if number % 4 == 0 else "default")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1000, 1600))
def test_all_agree_on_many(number: int, seed: int) -> None:
    agree(seed + number, 5 + number % 40, ("default", "compile", "fast")[number % 3])
