"""Lengths that 64 bits cannot count, and arrays that no memory holds: refused, and nothing changed.

The cases are in `extreme_lengths.py`, which a process with little memory runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen import ir
from symc.codegen.meaning.interpret import HUGE, Array, interpret
from symc.codegen.runtime.load import FOLDER
from symc.errors import SymcError, TooLarge
from tests.codegen.compiled import NESTING, nesting

ROOT = Path(__file__).parent.parent
X = np.arange(3.0)


def run_cases(how: str, gigabytes: int) -> None:
    command = [sys.executable, "-m", "tests.extreme_lengths", how, str(gigabytes)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    wrong = [line for line in made.stdout.split("\n") if line.startswith("wrong: ")]
    assert not wrong, "\n".join(wrong)
    last = made.stdout.strip().rpartition("\n")[2]
    assert last == "done", f"status {made.returncode} at {last}\n{made.stderr[-2000:]}"


@pytest.mark.skipif(symc.config.device != "cpu", reason="test_on_the_simulator has those")
@pytest.mark.parametrize("how", ["default", "python", "ir"])
def test_every_op_that_derives_a_length(how: str) -> None:
    run_cases(how, 4)


def test_on_the_simulator() -> None:
    run_cases("cuda:sim", 6)


# --- errors as users see them ---
# ------------------------------------------------------------------------


def test_padding_by_more_than_can_be_counted() -> None:
    """It corrupted the heap: the length of the result wrapped to 3 - 8."""
    x, n = T.vector("x"), T.lscalar("n")
    f = symc.function([x, n], T.pad(x, (n, n)))
    with pytest.raises(TooLarge) as caught:
        f(X, 2**63 - 4)
    text = str(caught.value)
    assert "18446744073709551611" in text
    assert re.search(r"test_extreme_lengths\.py:\d+", text)
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, ValueError)
    np.testing.assert_array_equal(f(X, 1), [0, 0, 1, 2, 0])


@pytest.mark.parametrize("mode", ["default", "compile", "python"])
def test_no_memory_names_the_largest_array(mode: str) -> None:
    n, state = T.lscalar("n"), symc.shared(np.ones(2))
    big = T.sort(T.zeros(n))
    f = symc.function([n], big[:2] + state, updates=[(state, state * 2)], mode=mode)
    with pytest.raises(TooLarge) as caught:
        f(2**56)
    text = str(caught.value)
    assert f"{2**59:,} bytes" in text or str(2**56) in text, text
    assert re.search(r"test_extreme_lengths\.py:\d+", text)
    np.testing.assert_array_equal(state.get_value(), [1, 1])
    np.testing.assert_array_equal(f(2), [1, 1])
    np.testing.assert_array_equal(state.get_value(), [2, 2])


# Each gave a wrong number, or made a program that did not compile.
KNOWN: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda x: T.zeros((2**61, 3)) + x,
    "pad": lambda x: T.pad(x, (2**62, 2**62)),
    "tile": lambda x: T.tile(x, 2**62 + 1),
    "repeat": lambda x: T.repeat(x, 2**63 - 1),
    "repeat twice": lambda x: T.repeat(T.repeat(x, 2**40), 2**40),
    "factors": lambda x: T.tile(T.concatenate([x, x]), 2**62).ravel()[:1],
    "arange": lambda x: T.arange(0.0, 1e30),
    "arange without end": lambda x: T.arange(0.0, np.inf),
    "eye": lambda x: T.eye(2**32, 2**32),
    "kron": lambda x: T.kron(T.zeros(2**40), T.zeros(2**40)),
    "dilation": lambda x: T.nnet.conv1d(
        x[None, None], T.ones((1, 1, 3)), dilation=2**62 + 1, padding=1
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_lengths(name: str) -> None:
    x = T.vector("x")
    with pytest.raises(SymcError):
        symc.function([x], KNOWN[name](x))(X)


def test_known_bounds_of_slices() -> None:
    x = T.vector("x")
    bounds = (None, 2, -2, 2**62, 2**63 - 1, -(2**63), 2**64, -(2**70))
    cases = [(a, b, c) for a in bounds for b in bounds for c in (1, -1, 2**63 - 1, -(2**63))]
    chosen = cases[:: 1 + len(cases) // 48]
    f = symc.function([x], [x[a:b:c] for a, b, c in chosen])
    for found, (a, b, c) in zip(f(X), chosen, strict=True):
        np.testing.assert_array_equal(found, X[a:b:c], err_msg=f"{a}:{b}:{c}")


@pytest.mark.parametrize("stride", [2, 2**31, 2**63 - 1])
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_strides_of_windows(stride: int, ceil_mode: bool) -> None:
    x = T.vector("x")
    pooled = T.nnet.max_pool1d(x[None, None], 2, stride=stride, ceil_mode=ceil_mode)
    found = symc.function([x], pooled)(X)[0, 0]
    np.testing.assert_array_equal(found, [1, 2] if ceil_mode and stride == 2 else [1])


def test_float_counts() -> None:
    start, stop, step = T.dscalar("a"), T.dscalar("b"), T.dscalar("c")
    f = symc.function([start, stop, step], T.arange(start, stop, step))
    np.testing.assert_array_equal(f(0.0, 3.0, 1.5), np.arange(0.0, 3.0, 1.5))
    np.testing.assert_array_equal(f(0.0, -1e300, 1.0), [])
    for bad in ((0.0, 1e19, 1.0), (0.0, 1e300, 1e-300), (0.0, np.inf, 1.0), (np.nan, 3.0, 1.0)):
        with pytest.raises(TooLarge):
            f(*bad)


def test_loops_made_one_are_not_shorter() -> None:
    """``ones((2**32, 2**32)).sum()`` was 0: two loops had become one of 2**64 iterations."""
    n = T.lscalar("n")
    f = symc.function([n], T.ones((n, n)).sum())
    with pytest.raises(TooLarge):
        f(2**32)
    assert f(3) == 9


def test_lengths_in_loops_and_branches() -> None:
    n = T.lscalar("n")
    last = symc.fori_loop(0, 3, lambda i, x: x + T.ones(n * 4)[:2].sum(), 0.0)
    f = symc.function([n], last)
    assert f(1) == 6
    with pytest.raises(TooLarge):
        f(2**61 + 1)
    chosen = symc.ifelse(n > 5, T.ones(n * 4)[:2].sum(), T.ones(n)[:2].sum())
    g = symc.function([n], chosen)
    assert g(1) == 1
    with pytest.raises(TooLarge):
        g(2**61 + 1)


def test_an_index_that_wraps_is_out_of_range() -> None:
    """Proofs about indexes hold for exact numbers: those that wrap are still refused."""
    x, y = T.vector("x"), T.vector("y")
    index = T.minimum(x.shape[0] * 2**62, 2)
    f = symc.function([x, y], y[index] + y[1])
    with pytest.raises((TooLarge, IndexError)):
        f(np.ones(2), X[:2])


def test_arrays_of_no_elements_may_be_long() -> None:
    x = T.matrix("x")
    f = symc.function([x], [x + 1, x.sum(), x[:, 1:], T.concatenate([x, x], axis=1)])
    more, total, cut, twice = f(np.ones((0, 2**40)))
    assert [more.shape, cut.shape, twice.shape] == [(0, 2**40), (0, 2**40 - 1), (0, 2**41)]
    assert total == 0
    longest = np.ones((0, 2**59))
    with pytest.raises(TooLarge):  # NumPy: array is too big
        f(longest)


@pytest.mark.skipif(symc.config.device != "cpu", reason="launches of devices are not that long")
@pytest.mark.parametrize("shape", [(2**40, 0), (0, 2**40)])
def test_results_of_no_elements_take_no_loops(shape: tuple[int, int]) -> None:
    """A loop over an axis of 2**40 around one of length 0 takes a quarter of an hour."""
    x = T.matrix("x")
    moved = [x.T, x[::-1, ::-1] * 2, x.T.astype("float32"), x - x.sum(axis=1, keepdims=True)]
    moved += [T.softmax(x), T.cumsum(x, axis=0), T.sort(x, axis=1), T.tile(x, (2, 2))]
    function = symc.function([x], [*moved, T.repeat(x, 2, axis=0), x[:, ::2].set(1.0)])
    rows, columns = shape
    wanted = [shape[::-1], shape, shape[::-1], shape, shape, shape, shape]
    wanted += [(2 * rows, 2 * columns), (2 * rows, columns), shape]
    assert [made.shape for made in function(np.ones(shape))] == wanted


@pytest.mark.parametrize("mode", ["default", "compile", "python"])
def test_nothing_repeated_more_often_than_can_be_counted(mode: str) -> None:
    """A factor beyond 64 bits does not matter to an axis of length 0."""
    x = T.vector("x")
    steps = T.repeat(T.concatenate([x[:: -(2**63)], x[:: -(2**63)], x]), 2**63 - 4)
    often = T.repeat(T.tile(x, 2**40), 2**40)
    f = symc.function([x], [steps, often], mode=mode)
    assert [result.shape for result in f(X[:0])] == [(0,), (0,)]
    for made in (X[:1], X):
        with pytest.raises(TooLarge):
            f(made)
    with pytest.raises(TooLarge):
        T.pad(T.pad(x, (2**63 - 4, 0)), (2**63 - 4, 0))


N = T.lscalar("n")
VECTOR = T.vector("x")
LENGTHS: dict[str, tuple[Any, Callable[[int], int]]] = {  # an array, and its length if x has 3
    "repeat": (T.repeat(VECTOR, N), lambda n: 3 * n),
    "repeat by a number": (T.repeat(VECTOR, 2**40), lambda n: 3 * 2**40),
    "repeat twice": (T.repeat(T.repeat(VECTOR, N), N), lambda n: 3 * n * n),
    "tile": (T.tile(VECTOR, N), lambda n: 3 * n),
    "pad": (T.pad(VECTOR, (N, N)), lambda n: 3 + 2 * n),
    "concatenate": (T.concatenate([T.zeros(N), T.ones(N), VECTOR]), lambda n: 3 + 2 * n),
    "arange": (T.arange(-N, N), lambda n: 2 * n),
    "kron": (T.kron(VECTOR, T.ones(N)), lambda n: 3 * n),
    "ravel": (T.zeros((N, N)).ravel(), lambda n: n * n),
    "reshape": (T.broadcast_to(VECTOR, (N, 3)).reshape((-1,)), lambda n: 3 * n),
    "slice": (T.repeat(VECTOR, N)[1:], lambda n: 3 * n - 1),
}


@pytest.mark.parametrize("mode", ["default", "compile", "python"])
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_of_what_is_not_computed(name: str, mode: str) -> None:
    """``T.repeat(x, 2**62).shape[0]`` was -2**62: the products of lengths wrapped."""
    array, exact = LENGTHS[name]
    function = symc.function(
        [VECTOR, N], [array.shape[0], array.size, array.shape[0] - 1],
        mode=mode, on_unused_input="ignore",
    )  # fmt: skip
    for n in (1, 5, 2**20, 2**31, 2**62, 2**63 - 1):
        length = exact(n)
        if length < 2**63:
            assert list(map(int, function(X, n))) == [length, length, length - 1]
        else:
            with pytest.raises(TooLarge, match="64 bits"):
                function(X, n)


def test_lengths_of_what_is_not_computed_in_a_loop() -> None:
    """The number of the step is in the length."""
    steps = T.lscalar("steps")

    def more(i: Any, total: Any) -> Any:
        return total + T.repeat(VECTOR, i * 2**61).shape[0] // 2**50

    function = symc.function([VECTOR, steps], symc.fori_loop(0, steps, more, T.constant(0)))
    assert function(X[:1], 4) == 6 * 2**11
    with pytest.raises(TooLarge):
        function(X[:1], 5)


def test_lengths_of_many_terms() -> None:
    """Each a call that checks for overflow: their sums lie in one another."""
    vectors = [T.vector() for _ in range(300)]
    f = symc.function(vectors, T.ones(sum((x.shape[0] for x in vectors), start=T.constant(1))))
    assert nesting(f.source) < NESTING
    assert f(*[np.zeros(number % 3) for number in range(300)]).shape == (301,)


# --- the loop IR ----------------------------------------------------------------------------------


def test_numbers_of_the_runtime_are_the_interpreters() -> None:
    header = (FOLDER / "host" / "host.h").read_text(encoding="utf-8")
    shifts = dict(re.findall(r"#define SYMC_(\w+) \(\(int64_t\)1 << (\d+)\)", header))
    assert 1 << int(shifts["TOO_LARGE"]) == ir.TOO_LARGE
    assert 1 << int(shifts["HUGE"]) == HUGE


@pytest.mark.parametrize("op", ["add", "sub", "mul", "floordiv"])
def test_sizes_do_not_wrap(op: Any) -> None:
    least = -(2**63)
    numbers = {
        "add": (2**63 - 1, 1), "sub": (least, 1), "mul": (2**32, 2**31), "floordiv": (least, -1)
    }  # fmt: skip
    for value, status in ((numbers[op], ir.TOO_LARGE), ((6, 2), 0)):
        left, right = map(ir.const, value)
        size = ir.Size(ir.Var("n"), ir.binary(op, left, right))
        program = ir.Program("sizes", (size,), (), (), ())
        assert interpret(program, dict[str, Array]()).status == status
