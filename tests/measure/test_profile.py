"""`symc.profile`: every step with its calls and bytes, in loops and branches too."""

from __future__ import annotations

import json

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.targets import sim
from symc.errors import FunctionError
from symc.measure.profile import Profile, StepTimes
from symc.measure.timing import Timing


def test_a_product_moves_its_arrays_once() -> None:
    x, w = T.matrix("x"), symc.shared(np.ones((5, 3)), name="w")
    f = symc.function([x], T.tanh(x @ w), updates=[(w, w * 0.5)], name="layer")
    found = symc.profile(f, np.ones((4, 5)))
    product = next(step for step in found.steps if step.kind == "routine")
    assert product.name == "gemm_f64"
    assert product.bytes == 8 * (20 + 15 + 12)
    assert "x @ w" in product.note or "matmul(x, w)" in product.note
    assert all(step.calls == 1 and step.seconds > 0 for step in found.steps)
    assert w.get_value().tolist() == np.ones((5, 3)).tolist()
    assert "symc_profile" not in f.source, "the ordinary program has no timers"


def test_steps_in_a_loop_are_counted_for_each_round() -> None:
    x = T.vector("x")
    last, _ = symc.scan(lambda a, b: T.tanh(a + b), sequences=x, outputs_info=T.zeros(()))
    found = symc.profile(symc.function([x], last[-1], name="loop"), np.ones(7))
    loop = next(step for step in found.steps if step.kind == "loop")
    inside = [step for step in found.steps if step.depth == 1]
    assert (loop.calls, [step.calls for step in inside]) == (1, [7])
    assert sum(step.seconds for step in inside) <= loop.seconds
    assert json.loads(found.json)["steps"][0]["kind"]


def test_shares_are_of_the_whole_call() -> None:
    steps = (
        StepTimes("loop", "", "scan", 0, 1, 3.0, 0),
        StepTimes("kernel", "k", "x + 1\ny", 1, 9, 2.0, 80.0),
        StepTimes("kernel", "k", "x + 1", 0, 1, 1.0, 10.0),
    )  # fmt: skip
    found = Profile("f", Timing((5.0, 5.0), 1), steps)
    assert found.outside == 1.0
    assert found.share(found.outside) == 0.2
    assert found.kernels == {"k": 3.0}
    text = str(found)
    assert "60.0%" in text
    assert "4e-08" in text  # GB/s
    assert "outside of steps" in text


def test_operations_of_kernels_and_routines() -> None:
    x, n = T.matrix("x"), T.vector("n")
    f = symc.function([x, n], (T.tanh(x @ x) * 2).sum() + T.sort(n)[0], name="counted")
    found = symc.profile(f, np.ones((20, 20)), np.ones(8), repeat=1)
    counts = {step.name: step.operations for step in found.steps}
    assert counts["gemm_f64"] == 2 * 20**3
    assert counts["sort_f64"] == 8 * 3
    summed = next(count for name, count in counts.items() if name.startswith("sum"))
    assert summed == 2 * 400 + 1  # the factor moved after the sum
    product = next(step for step in found.steps if step.name == "gemm_f64")
    assert product.operations is not None
    assert product.rate == product.operations / product.seconds
    assert "Gop/s" in str(found)


@pytest.mark.skipif(not sim.available(), reason="no C++ compiler (c++, g++ or clang++)")
def test_a_device_has_a_profile_too() -> None:
    x, w = T.vector("x"), symc.shared(np.ones(4), name="w")
    doubled = symc.scan(lambda a, b: a + b, sequences=x, outputs_info=T.zeros(()))[0]
    f = symc.function([x], doubled[-1] * 2, updates=[(w, w * 0.5)], device="cuda:sim", name="f")
    found = symc.profile(f, np.ones(4), repeat=2)
    loop = next(step for step in found.steps if step.kind == "loop")
    inside = next(step for step in found.steps if step.depth == 1)
    assert (inside.calls, inside.bytes) == (4, 4 * 24)
    assert loop.seconds >= inside.seconds > 0
    assert w.get_value().tolist() == [1.0] * 4
    assert f(np.ones(4)) == 8
    assert "symc_profile" not in f.source


def test_what_is_not_compiled_has_no_profile() -> None:
    x = T.vector("x")
    f = symc.function([x], x + 1, mode="python", name="f")
    with pytest.raises(FunctionError, match="in mode 'python'"):
        symc.profile(f, [1.0])
    with pytest.raises(ValueError, match="at least 1, not 0"):
        symc.profile(symc.function([x], x + 1), [1.0], repeat=0)
