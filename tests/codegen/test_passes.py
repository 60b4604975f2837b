"""All passes: the same results on random programs, linear time, and their output for softmax."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType

import pytest

from symc.codegen.ir import Launch, Loop, Program, Stmt, Store, Var
from symc.codegen.meaning.interpret import Array
from symc.codegen.passes.order import PASSES
from symc.codegen.passes.vectors.distribute import distribute
from symc.codegen.text import text
from symc.codegen.verify.program import verify
from tests.codegen.programs import (
    C,
    N,
    Random,
    buffer,
    elementwise,
    load,
    loop,
    op,
    program,
    run,
    same,
    shown,
    softmax,
)

Pass = Callable[[Program], Program]
LENGTHS = [(0, 3), (3, 0), (1, 1), (2, 4)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs_mean_the_same_after_each_pass(seed: int) -> None:
    generator = Random(seed)
    before = generator.program()
    verify(before)
    cases = [generator.arrays(before, n, c) for n, c in LENGTHS]
    wanted = [run(before, arrays) for arrays in cases]
    for change in PASSES:
        after = change(before)
        verify(after)
        for arrays, result in zip(cases, wanted, strict=True):
            got = run(after, arrays, backwards=True)
            assert same(result, got), f"seed {seed}, {change.name}\n{text(before)}\n{text(after)}"
        before = after


@pytest.mark.parametrize("without_loops", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_passes_that_are_not_imported_would_change_nothing(seed: int, without_loops: bool) -> None:
    made = Random(seed).program()
    if without_loops:
        bodies = [tuple(s for s in k.body if not isinstance(s, Loop)) for k in made.kernels]
        kernels = [replace(k, body=b) for k, b in zip(made.kernels, bodies, strict=True)]
        made = replace(made, kernels=tuple(kernels))
    for change in PASSES:
        after = change.function(made)
        assert after == change(made), change.name
        made = after


def test_softmax_becomes_three_vector_loops() -> None:
    made = softmax()
    for change in PASSES:
        # which do the same for rows of few elements, or for what is left of rows
        if change.name not in ("short_rows", "few_terms", "ends"):
            made = change(made)
        verify(made)
    assert (
        shown(made)
        == """
for i in parallel(n):
  alloc m: float64[] = -inf
  for j in vector(c):
    m[0] max= x[i*c + j]
  alloc s: float64[] = 0.0
  for k in vector(c):
    let e_value: float64 = exp(x[i*c + k] - m[0])
    y[i*c + k] = e_value
    s[0] add= e_value
  for o in vector(c):
    y[i*c + o] = y[i*c + o]/s[0]
"""
    )


def test_programs_are_changed_the_same_way_every_time() -> None:
    for seed in range(5):
        first = second = Random(seed).program()
        for change in PASSES:
            first, second = change(first), change(second)
            assert text(first) == text(second)


def _chain(length: int) -> Program:
    """Loops that all merge: y and z take turns, each made from the other."""
    body: list[Stmt] = []
    source = "x"
    for number in range(length):
        target, var = "yz"[number % 2], f"i{number}"
        value = op("add", load(source, Var(var)), load("x", Var(var)))
        body.append(loop("parallel", var, N, Store(target, Var(var), value)))
        source = target
    buffers = [buffer("x", "input", N), buffer("y", "output", N), buffer("z", "output", N)]
    return program(buffers, *body, sizes=[N])


def _calls(function: Callable[[], object]) -> int:
    """How many Python functions are called."""
    count = 0

    def profile(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("make", [elementwise, _chain])
def test_passes_take_linear_time(make: Callable[[int], Program]) -> None:
    small, large = make(500), make(2000)
    always = partial(distribute, longest=0)
    for change in (always if change.name == "distribute" else change for change in PASSES):
        few, many = _calls(lambda: change(small)), _calls(lambda: change(large))  # noqa: B023
        assert many < 4.5 * few, str(change)
        small, large = change(small), change(large)


def test_verify_and_text_take_linear_time() -> None:
    for function in (verify, text):
        few, many = (_calls(lambda: function(elementwise(n))) for n in (500, 2000))  # noqa: B023
        assert many < 4.5 * few


def test_blocks_give_the_same_result_as_the_whole() -> None:
    """More elements than one block, so that the last block is shorter."""
    made = elementwise(3)
    x = {"x": Array([float(i % 7) for i in range(40_000)], (40_000,))}
    wanted = run(made, x)
    for change in PASSES:
        made = change(made)
    assert "strips(n, 16384)" in text(made)
    assert same(wanted, run(made, x))


def test_nothing_is_shared_between_kernels() -> None:
    """A program with two kernels is changed as two programs are."""
    rows = Random(1).rows()
    other = replace(softmax().kernels[0], name="softmax")
    launch = Launch("softmax", ("x", "y"), (N, C))
    both = replace(rows, kernels=(*rows.kernels, other), steps=(*rows.steps, launch))
    alone = softmax()
    for change in PASSES:
        both, rows, alone = change(both), change(rows), change(alone)
        verify(both)
    assert both.kernels[0] == rows.kernels[0]
    assert both.kernels[1].body == alone.kernels[0].body


def test_short_loops_inside_a_vector_loop_are_written_out() -> None:
    """gcc does not vectorise a loop around others at -O1: pooling took three times as long."""
    from symc import function
    from symc import tensor as T
    from symc.tensor import nnet

    x = T.tensor("float32", (8, 8, 56, 56), "x")
    f = function([x], nnet.max_pool2d(T.relu(x), 2))
    assert "#pragma GCC unroll" not in f.source
    assert f.source.count("symc_maximum_f32(acc, ") == 4
