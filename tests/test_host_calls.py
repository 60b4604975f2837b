"""Calls back into Python: `HostCall` in the graph, `PythonCall` in the program."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.calls.python_call import PythonCaller
from symc.codegen.record import field, record
from symc.codegen.targets.cuda.target import CudaTarget
from symc.errors import ShapeMismatch
from symc.graph.locks import PythonLock
from symc.graph.lowering import HostCall, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import TensorType

CALLED: list[str] = []
"""The names of functions, as often as they were called."""


@record
class Apply(Op):
    """A function on one array that gives two of the same type."""

    name: str
    function: Callable[..., Any] = field(repr=False)
    part: int = 0

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return self.evaluate_all(*args)(self)

    def common(self) -> Any:
        return self.name, self.function

    def evaluate_all(self, *args: Array) -> Callable[[Any], Array]:
        CALLED.append(self.name)
        found = self.function(*args)
        return lambda op: found[op.part]

    def lower(self, node: Tensor, size: SizeOf) -> HostCall:
        return HostCall((Apply(self.name, self.function, 0), Apply(self.name, self.function, 1)))

    def key(self) -> str:
        return f"Apply({self.name}, {self.part})"

    @property
    def label(self) -> str:
        return self.name


def twice(x: Any, *more: Any) -> Any:
    return 2 * x, x + sum(more)


def fail(x: Any, *more: Any) -> Any:
    raise LookupError(f"no {x[0]}")


def apply(function: Callable[..., Any], *args: Any, part: int = 0) -> Tensor:
    return Apply(function.__name__, function, part)(*map(T.as_tensor, args))


@pytest.fixture(params=["extension", "python"])
def caller(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to call a compiled function."""
    if request.param == "python":
        monkeypatch.setattr("symc.calls.call.Caller", PythonCaller)
        monkeypatch.setattr("symc.calls.call.Lock", PythonLock)


@pytest.fixture(autouse=True)
def nothing_called() -> None:
    CALLED.clear()


def test_a_program_calls_python_between_kernels(caller: None) -> None:
    x, n = T.matrix("x"), T.iscalar("n")
    y = apply(twice, (x * 3).reshape((-1,)), 0.5, n).reshape(x.shape)
    f = symc.function([x, n], [y.sum(axis=0), y], mode="compile")
    values = np.arange(6.0).reshape(2, 3)
    total, whole = f(values, 3)
    np.testing.assert_array_equal(whole, 6 * values)
    np.testing.assert_array_equal(total, 6 * values.sum(axis=0))
    assert "python 0 twice(" in f.program
    assert "called in Python" in f.explain()
    assert f(np.ones((0, 3)), 3)[1].shape == (0, 3)


def test_one_call_computes_all_results(caller: None) -> None:
    x = T.vector("x")
    double, same = apply(twice, x), apply(twice, x, part=1)
    f = symc.function([x], [double + same, same], mode="compile")
    total, plain = f(np.arange(3.0))
    np.testing.assert_array_equal(total, 3 * np.arange(3.0))
    np.testing.assert_array_equal(plain, np.arange(3.0))
    assert CALLED == ["twice"]


def test_lengths_may_depend_on_values(caller: None) -> None:
    x = T.vector("x")
    y = apply(twice, x[x > 0])
    f = symc.function([x], [y, apply(twice, y).sum()], mode="compile")
    result, total = f(np.array([1.0, -2.0, 3.0]))
    np.testing.assert_array_equal(result, [2.0, 6.0])
    assert total == 16.0


def test_what_is_raised_reaches_the_caller_and_nothing_is_changed(caller: None) -> None:
    """Updates in place wait for all calls into Python."""
    w, v = symc.shared(np.zeros(3), name="w"), symc.shared(np.zeros(3), name="v")
    x = T.vector("x")
    bad = apply(fail, x)
    f = symc.function([x], bad, updates=[(w, w + x), (v, bad + v)], mode="compile")
    with pytest.raises(LookupError, match=r"no 7\.0") as caught:
        f(np.full(3, 7.0))
    assert caught.value.args == ("no 7.0",)
    assert caught.value.__notes__ == [f"  called for  fail(x)   {bad.where}"]
    assert w.get_value().tolist() == v.get_value().tolist() == [0.0] * 3
    assert f.runner.facts["host_calls"] == 1


def test_a_wrong_shape_is_reported(caller: None) -> None:
    def longer(x: Any) -> Any:
        return np.append(x, 1.0), x

    x = T.vector("x")
    f = symc.function([x], apply(longer, x), mode="compile")
    with pytest.raises(ShapeMismatch, match=r"longer gave an array of shape \(4,\), .*\(3,\)"):
        f(np.zeros(3))


def test_arguments_can_be_kept(caller: None) -> None:
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        kept.append(x)
        return x, x

    x = T.vector("x")
    f = symc.function([x], apply(keep, T.exp(x)) + 1, mode="compile")
    f(np.zeros(1000))
    f(np.ones(1000))
    assert (kept[0] == 1.0).all()


def test_complex_numbers(caller: None) -> None:
    z = T.zvector("z")
    f = symc.function([z], apply(twice, z + 1, 1 + 2j, part=1) * 2, mode="compile")
    np.testing.assert_array_equal(f(np.array([1j, 2.0])), [4 + 6j, 8 + 4j])


def test_threads_call_at_the_same_time(caller: None) -> None:
    meet = threading.Barrier(2, timeout=30)

    def together(x: Any) -> Any:
        meet.wait()  # returns only if both threads are here
        return x * 2, x

    x = T.vector("x")
    f = symc.function([x], apply(together, x + 1) + 1, mode="compile")
    results: dict[int, Any] = {}

    def run(number: int) -> None:
        results[number] = f(np.full(100, float(number)))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[n].tolist() for n in range(2)] == [[3.0] * 100, [5.0] * 100]


def test_functions_may_call_themselves(caller: None) -> None:
    def down(x: Any) -> Any:
        return (f(x - 1) if x[0] > 0 else x) + 1, x

    x = T.vector("x")
    f: Any = symc.function([x], apply(down, x + 0.0), mode="compile")
    assert f(np.array([5.0]))[0] == 6.0


CHILD = """
import numpy as np, symc, symc.tensor as T
from tests.test_host_calls import apply, twice
x = T.vector("x")
f = symc.function([x], apply(twice, x) + 1, mode="compile")
print(f.hit, f(np.arange(3.0)).tolist())
"""


def test_a_function_from_the_cache_calls_the_function_of_this_process() -> None:
    lines = [
        subprocess.run(
            [sys.executable, "-c", CHILD], capture_output=True, text=True, check=True,
            cwd=Path(__file__).parents[1],
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert lines == ["False [1.0, 3.0, 5.0]\n", "True [1.0, 3.0, 5.0]\n"]


@record
class Named(Op):
    """A name for an op that is not in the graph before this one is expanded."""

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def expand(self, node: Tensor) -> Tensor:
        return apply(twice, node.args[0])


def test_ops_that_rewriting_brings_in_are_found() -> None:
    x = T.vector("x")
    first, second = (symc.function([x], Named()(x) + 3, mode="compile") for _ in range(2))
    assert second.hit
    assert first(np.ones(2)).tolist() == second(np.ones(2)).tolist() == [5.0, 5.0]


def test_python_is_called_in_loops_and_branches() -> None:
    """The cache's text on calls once knew only those of the outermost steps: IndexError."""
    x = T.vector("x")
    rows = symc.scan(lambda a: apply(twice, a) + 1, sequences=x)[0]
    chosen = symc.ifelse(x.sum() > 0, apply(twice, x), x)
    f = symc.function([x], [rows, chosen], mode="compile")
    for values in ([1.0, 2.0], [-1.0, -2.0]):
        one, other = f(values)
        assert one.tolist() == [2 * value + 1 for value in values]
        assert other.tolist() == [2 * v if values[0] > 0 else v for v in values]


def test_a_device_computes_on_the_host() -> None:
    x, n = T.matrix("x"), T.iscalar("n")
    y = apply(twice, (x * 3).reshape((-1,)), 0.5, n)
    f = symc.function([x, n], [y + 1, apply(twice, y, 1.0, n, part=1)], device="cuda:sim")
    values = np.arange(6.0).reshape(2, 3)
    for one, other in [f(values, 3) for _ in range(4)]:  # no graph is made of it
        np.testing.assert_array_equal(one, 6 * values.ravel() + 1)
        np.testing.assert_array_equal(other, 6 * values.ravel() + 4)
    with pytest.raises(LookupError, match="no 1"):
        symc.function([x], apply(fail, x.reshape((-1,))), device="cuda:sim")(np.ones((2, 2)))


def test_routines_that_a_device_lacks_are_computed_on_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CudaTarget, "has_routine", lambda self, name: not name.startswith("gemv"))
    a, b = T.matrix("without_gemv"), T.vector("b")
    f = symc.function([a, b], a @ b + 1, device="cuda:sim")
    assert "python 0 matvec(" in f.program
    np.testing.assert_array_equal(f(np.ones((2, 3)), np.arange(3.0)), [4.0, 4.0])
