"""A target that knows only the protocol: its functions are found or built as those in C are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.errors import CompileFailed
from symc.codegen.status import Status
from symc.codegen.targets.base import Target
from symc.codegen.targets.named import target_named
from symc.errors import BadArgument, FunctionError, ShapeMismatch
from symc.graph.request import Request
from symc.pipeline.library import CompiledFunction, Read, compile_request, store_at, target
from tests.targets_toy.target import ToyTarget
from tests.test_host_calls import apply, twice


def request_of(inputs: Any, outputs: Any, updates: Any = ()) -> Request:
    return symc.function(inputs, outputs, updates=updates, mode="python").request


def compiled(request: Request, **options: Any) -> CompiledFunction:
    toy = target("toy", **options)
    return compile_request(request, mode="default", target=toy, use=lambda made, _: made)


def with_source(made: CompiledFunction, read: Read) -> tuple[CompiledFunction, bytes]:
    return made, read("function.c")


def test_it_is_a_target_and_found_by_name() -> None:
    found: Target = target_named("toy", most=7)
    assert isinstance(found, ToyTarget)
    assert found.most == 7
    with pytest.raises(KeyError):
        target_named("no such target")


def test_functions_are_built_once_and_found_again(tmp_path: Path) -> None:
    x, w = T.matrix("x"), T.vector("w")
    request = request_of([x, w], [T.softmax(x * w), (x * w).sum(axis=0)])
    given = np.arange(6.0).reshape(2, 3), np.array([0.5, 1.0, -1.0])
    with store_at(tmp_path / "cache"):
        first, second = compiled(request), compiled(request)
        in_c = compile_request(
            request,
            mode="default",
            target=target(),
            use=lambda made, read: (made, read("function.c")),
        )
    assert (first.hit, second.hit, in_c[0].hit) == (False, True, False)
    assert first.folder == second.folder != in_c[0].folder
    assert first.facts == second.facts
    assert first.facts["toy"]
    assert first.facts["kernels"] == in_c[0].facts["kernels"]
    assert "toy" not in in_c[0].facts
    assert b"symc_run" in in_c[1]
    product = given[0] * given[1]
    soft = np.exp(product) / np.exp(product).sum(axis=-1, keepdims=True)
    for made in (first, second):
        status, outputs = made.library(given)
        assert status == Status.DONE
        np.testing.assert_allclose(outputs[0], soft)
        np.testing.assert_allclose(outputs[1], product.sum(axis=0))


def test_constants_updates_and_failing_checks() -> None:
    x, y = T.vector("x"), T.vector("y")
    s = symc.shared(np.arange(3.0), name="s")
    request = request_of([x, y], x * y + np.array([1.0, 2.0, 4.0]), [(s, s + 1)])
    made = compiled(request)
    assert made.in_place == [True]
    assert len(made.constants) == 1
    held = np.arange(3.0)
    status, (output,) = made.library([np.ones(3), np.full(3, 2.0), held, *made.constants])
    assert status == Status.DONE
    np.testing.assert_array_equal(output, [3.0, 4.0, 6.0])
    np.testing.assert_array_equal(held, [1.0, 2.0, 3.0])
    assert made.library([np.ones(3), np.ones(4), held, *made.constants]) == (1, [])


def test_loops_branches_and_calls_into_python() -> None:
    x = T.vector("x")
    h, _ = symc.scan(lambda x, h: symc.ifelse(x > 0, h + x, h * 2), x, T.ones(()))
    _, (steps,) = compiled(request_of([x], h)).library([np.array([1.0, -1.0, 3.0])])
    np.testing.assert_array_equal(steps, [2.0, 4.0, 7.0])
    made = compiled(request_of([x], apply(twice, x) + 1))
    assert [call.nodes[0].op.label for call in made.host] == ["twice"]


def test_what_its_compiler_refuses_is_not_kept(tmp_path: Path) -> None:
    x = T.vector("x")
    request = request_of([x], T.exp(x))
    with store_at(tmp_path / "cache"):
        for _ in range(2):
            with pytest.raises(CompileFailed, match="too many"):
                compiled(request, most=2)
        assert not compiled(request).hit


# --- as a device ----------------------------------------------------------------------------------


def test_functions_run_on_a_device_that_only_a_target_knows() -> None:
    x, s = T.matrix("x"), symc.shared(np.arange(3.0), name="s")
    f = symc.function([x], [T.tanh(x) @ s, x.sum(axis=0)], updates=[(s, s * 2)], device="toy")
    assert f.device == "toy"
    assert f.runner.facts["toy"]
    value = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    for turn in range(3):
        product, total = f(value)
        np.testing.assert_allclose(product, np.tanh(value) @ (np.arange(3.0) * 2**turn))
        np.testing.assert_allclose(total, value.sum(axis=0))
    np.testing.assert_array_equal(s.get_value(), np.arange(3.0) * 8)
    np.testing.assert_allclose(f(x=[[1, 2, 3]])[1], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("mode", ["default", "fast", "compile", "debug"])
def test_failing_calls_change_nothing(mode: str) -> None:
    x, s = T.vector("x"), symc.shared(np.arange(3.0), name="s")
    f = symc.function([x], {"y": x + s}, updates=[(s, s + x)], device="toy", mode=mode)
    with pytest.raises(ShapeMismatch, match="x"):
        f(np.ones(4))
    with pytest.raises(BadArgument, match="x"):
        f("no array")
    np.testing.assert_array_equal(s.get_value(), np.arange(3.0))
    np.testing.assert_array_equal(f(np.ones(3))["y"], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(s.get_value(), [1.0, 2.0, 3.0])


def test_new_values_of_another_length() -> None:
    s = symc.shared(np.arange(2.0), name="s", shape=(None,))
    grow = symc.function([], s.sum(), updates=[(s, T.concatenate([s, s]))], device="toy")
    assert [float(grow()) for _ in range(3)] == [1.0, 2.0, 4.0]
    assert s.get_value().shape == (16,)


def test_what_a_toy_cannot_do() -> None:
    x = T.vector("x")
    with pytest.raises(FunctionError, match="calls Python"):
        symc.function([x], apply(twice, x), device="toy")
    f = symc.function([x], x + 1, device="toy")
    with pytest.raises(FunctionError, match="no timers"):
        symc.profile(f, np.ones(3))
    with pytest.raises(ValueError, match="no device 'toys'"):
        symc.function([x], x + 1, device="toys")
