"""Loops in generated programs: compiled, interpreted as IR, and in NumPy, they compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Branch, Buffer, Const, Program, Repeat, Routine
from symc.codegen.meaning.interpret import Array as Flat
from symc.codegen.meaning.interpret import interpret
from symc.codegen.verify.program import verify
from symc.debug import dprint_text
from symc.errors import BadIndex, DTypeError, NotFinite, RankError, ShapeMismatch
from symc.graph.node import Tensor
from tests.fuzz.opinions import ROUTINES

RNG = np.random.default_rng(11)


def r(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def program(function: symc.Function) -> Program:
    """The loop IR that the function was printed from."""
    return function.runner.compilation().optimised


def interpreted(function: symc.Function, arrays: Sequence[Any]) -> list[Any]:
    """The outputs by the interpreter of the loop IR, which checks every access."""
    made = program(function)
    verify(made)
    stages = function.runner.compilation()
    given: dict[str, Flat] = {}
    values = iter([*map(np.asarray, arrays), *stages.constants])
    for role in ("input", "constant"):
        for buffer in made.buffers:
            if buffer.role == role:
                array = next(values)
                given[buffer.name] = Flat(array.ravel().tolist(), array.shape)
    result = interpret(made, given, routines=ROUTINES)
    assert result.status == 0
    outputs = [buffer for buffer in made.buffers if buffer.role == "output"]
    return [np.reshape(result.arrays[b.name].values, result.arrays[b.name].shape) for b in outputs]


def check(
    inputs: list[Tensor], outputs: list[Tensor], *arrays: Any, ir: bool = True
) -> symc.Function:
    """Compares all ways to compute the outputs."""
    function = symc.function(inputs, outputs, on_unused_input="ignore")
    wanted = symc.function(inputs, outputs, mode="python", on_unused_input="ignore")(*arrays)
    for value, other in zip(function(*arrays), wanted, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-10)
    if ir:
        for value, other in zip(interpreted(function, arrays), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(value, dtype=float), other, rtol=1e-10)
    return function


def temporaries(function: symc.Function) -> dict[str, Buffer]:
    return {b.name: b for b in program(function).buffers if b.role == "temp"}


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_states_and_collected_outputs(steps: int) -> None:
    x, h0 = T.matrix("x"), T.vector("h0")
    (h, twice), _ = symc.scan(lambda x, h: (T.tanh(x + h), 2 * h), x, [h0, None])
    arrays = r(steps, 3), r(3)
    check([x, h0], [h, twice, h.sum()], *arrays)
    state, rows = arrays[1], []
    for row in arrays[0]:
        state = np.tanh(row + state)
        rows.append(state)
    found = h.eval({x: arrays[0], h0: arrays[1]})
    np.testing.assert_allclose(found, np.reshape(rows, (steps, 3)))


def test_taps_of_states_and_sequences() -> None:
    x, start = T.vector("x"), T.vector("start")
    h, _ = symc.scan(
        lambda x1, x3, h3, h1: h3 + x1 * h1 - x3,
        sequences={"input": x, "taps": [-1, 1]},
        outputs_info={"initial": start, "taps": [-3, -1]},
    )
    check([x, start], [h, h[-1]], r(9), r(3))


def test_backwards_rows() -> None:
    x = T.matrix("x")
    h, _ = symc.scan(lambda x, h: 0.5 * h + x, x, T.zeros((2,)), go_backwards=True)
    check([x], [h, h[-1]], r(5, 2))


def test_a_loop_that_stops() -> None:
    limit = T.scalar("limit")
    h, _ = symc.scan(
        lambda h: (h * 2, symc.until(h * 2 > limit)), outputs_info=T.ones(()), n_steps=20
    )
    for value in (1.5, 100.0, 1e9):
        check([limit], [h, h[-1]], value)
    ones = T.ones(())
    found = symc.while_loop(lambda a, b: a < limit, lambda a, b: [a * 1.5, b + a], [ones, ones])
    for value in (0.5, 40.0):
        check([limit], list(found), value)


def test_loops_in_loops() -> None:
    x, w = T.matrix("x"), T.vector("w")

    def row(row: Tensor, total: Tensor) -> Any:
        inner, _ = symc.scan(lambda e, s, total: s * e + total.sum(), row, T.ones(()), total)
        return total + inner[-1], inner

    (total, inner), _ = symc.scan(row, x, [w, None])
    function = check([x, w], [total, inner], r(4, 3), r(2))
    assert sum(isinstance(s, Repeat) for s in every_step(program(function).steps)) == 2


def test_inner_and_outer_slots_of_the_same_kind_are_told_apart() -> None:
    x = T.vector("x")

    def inner(e: Any) -> Any:
        return symc.scan(lambda s: s + e, outputs_info=e * 2, n_steps=3)[0][-1]

    y, _ = symc.scan(lambda e, s: inner(e) + inner(s), x, T.ones(()))
    check([x], [y], r(4))


def test_lengths_inside_a_step_that_depend_on_its_number_or_on_values() -> None:
    x = T.vector("x")
    prefix, _ = symc.scan(lambda t, x: T.exp(x[: t + 1]).sum(), T.arange(x.shape[0]), None, x)
    positive, _ = symc.scan(lambda c, x: T.cumsum(x[x > c]).sum(), x, None, x)
    check([x], [prefix, positive], r(6))


def test_constants_and_numbers_inside_bodies() -> None:
    x, table = T.matrix("x"), T.constant(r(3, 2))
    y, _ = symc.scan(lambda row, s: (row[:, None] * table).sum(axis=0) + 2.5 * s, x, T.zeros((2,)))
    check([x], [y, y[-1]], r(5, 3))


def test_equal_loops_are_one() -> None:
    x = T.vector("x")
    twice = [symc.scan(lambda e, s: s * 0.5 + e, x, T.zeros(()))[0] for _ in range(2)]
    function = check([x], [twice[0], twice[1] * 2], r(4))
    assert sum(isinstance(s, Repeat) for s in every_step(program(function).steps)) == 1


# --- where rows are -------------------------------------------------------------------------------


def test_routines_read_and_write_rows_where_they_are() -> None:
    x, w, h0 = T.matrix("x"), T.matrix("w"), T.vector("h0")
    h, _ = symc.scan(lambda h, w: w @ h, None, h0, w, n_steps=x.shape[0])
    function = check([x, w, h0], [h[-1]], r(6, 3), r(3, 3), r(3), ir=False)
    (loop,) = [s for s in program(function).steps if isinstance(s, Repeat)]
    assert {type(step) for step in loop.steps} == {Routine}


def test_a_matrix_that_steps_multiply_with_is_not_transposed_in_memory() -> None:
    """It was, before the loop, also where BLAS reads it as it is."""
    w, h = T.matrix("w", shape=(4, 3)), T.matrix("h", shape=(2, 4))

    def visible(h: Tensor) -> Tensor:
        return T.tanh(T.tanh(h @ w) @ w.T)

    f = symc.function([w, h], symc.scan(visible, outputs_info=h, n_steps=3)[0][-1])
    assert not any(b.shape == (Const(3), Const(4)) for b in temporaries(f).values())
    a, b = r(4, 3), r(2, 4)
    expected = b
    for _ in range(3):
        expected = np.tanh(np.tanh(expected @ a) @ a.T)
    np.testing.assert_allclose(f(a, b), expected, rtol=1e-12)


def test_only_the_rows_that_are_needed_are_kept() -> None:
    x = T.matrix("x")
    h, _ = symc.scan(lambda x, h: T.tanh(h) + x, x, T.zeros((3,)))
    last = symc.reduce(lambda x, h: T.tanh(h) + x, x, T.zeros((3,)))[0]
    assert any("x_0" in repr(b.shape) or "n" in repr(b.shape[0])
               for b in temporaries(symc.function([x], h)).values() if b.shape)  # fmt: skip
    function = check([x], [last], r(50, 3))
    assert all(len(b.shape) < 2 or b.shape[0].value <= 2  # type: ignore[union-attr]
               for b in temporaries(function).values())  # fmt: skip


def test_temporaries_of_a_step_are_used_again_by_the_next() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    h, _ = symc.scan(lambda x, h, w: T.tanh(w @ T.exp(w @ (h + x))), x, T.zeros((3,)), w)
    function = check([x, w], [h], r(40, 3), r(3, 3), ir=False)
    rows = [b for b in temporaries(function).values() if len(b.shape) == 1]
    assert len(rows) >= 2  # each as long as one row, for all steps


# --- conditions -----------------------------------------------------------------------------------


def test_a_condition_that_fails_in_a_step_names_the_line_and_the_values() -> None:
    i, x = T.lvector("i"), T.vector("x")
    y, _ = symc.scan(lambda i, s, x: x[i] + s, i, T.zeros(()), x)
    function = check([i, x], [y], [0, 2, 1], r(3))
    with pytest.raises(
        BadIndex, match="index 7 is out of bounds for axis 0 with length 3"
    ) as error:
        function([0, 7, 1], r(3))
    assert "test_compiled.py" in str(error.value)
    np.testing.assert_array_equal(function([2], [1.0, 2.0, 4.0])[0], [4.0])


def test_a_condition_that_fails_in_a_step_leaves_shared_variables_as_they_were() -> None:
    i, x = T.lvector("i"), T.vector("x")
    counter = symc.shared(np.zeros(2), name="counter")
    y, _ = symc.scan(lambda i, s, x: x[i] + s, i, T.zeros(()), x)
    last = symc.shared(0.0, name="last")
    function = symc.function([i, x], updates=[(counter, counter + 1), (last, y[-1])])
    assert counter in function.runner.compilation().in_place
    with pytest.raises(BadIndex):
        function([0, 7], [1.0, 2.0])
    np.testing.assert_array_equal(counter.get_value(), [0, 0])
    function([0, 1], [1.0, 2.0])
    np.testing.assert_array_equal(counter.get_value(), [1, 1])


def test_lengths_in_a_body_are_compared_before_the_loop() -> None:
    x, b = T.matrix("x"), T.vector("b")
    y, _ = symc.scan(lambda row, b: row + b, x, None, b)
    function = check([x, b], [y], r(4, 3), r(3))
    with pytest.raises(ShapeMismatch, match="3 on the left and 2 on the right"):
        function(r(4, 3), r(2))


# --- looking inside -------------------------------------------------------------------------------


def test_bodies_are_printed_below_their_loops() -> None:
    c, x = T.scalar("c"), T.vector("x")
    h, _ = symc.scan(lambda x, h: symc.ifelse(x > 0, T.exp(h), h + x), x, T.zeros(()))
    function = symc.function([c, x], h * c)
    printed = dprint_text(function.runner.compilation().rewritten)
    assert "each step:" in printed
    assert "\n          if true:\n            %0 = slot" in printed
    explained = function.explain()
    assert "loop or branch\n" in explained
    assert "\n          1. kernel" in explained  # inside a branch inside a loop
    assert "repeat step in x_0:" in function.program
    assert "for (int64_t step = step_begin; step < step_end; step++) {" in function.source


def test_nanguard_sees_the_step_that_gave_nan() -> None:
    x = T.vector("x")
    h, _ = symc.scan(lambda x, h: T.where(x > 0, T.log(x), 0.0) + h, x, T.zeros(()))
    with pytest.raises(NotFinite, match="log gave NaN"):
        symc.function([x], h, mode="nanguard")([1.0, -1.0])


# --- branches -------------------------------------------------------------------------------------


def test_only_the_branch_that_is_taken_runs() -> None:
    c, i, x = T.lscalar("c"), T.lscalar("i"), T.vector("x")
    y = symc.ifelse(c, T.exp(x)[i], x.sum())
    arrays = 0, 99, r(3)
    function = check([c, i, x], [y, symc.grad(y, x)], *arrays)
    assert any(isinstance(step, Branch) for step in program(function).steps)
    with pytest.raises(BadIndex, match="index 99 is out of bounds"):
        function(1, 99, arrays[2])
    value, gradient = function(1, 2, arrays[2])
    np.testing.assert_allclose([value, gradient[2]], np.exp(arrays[2][2]))


def test_several_results_and_branches_in_branches() -> None:
    c, x, w = T.scalar("c"), T.vector("x"), T.matrix("w")
    inner = symc.ifelse(c > 1, T.exp(x), x * 3)
    a, b = symc.ifelse(c > 0, [inner, w.sum()], [x, x.sum()])
    cost = (a * a).sum() * b
    outputs = [a, b, *symc.grad(cost, [x, w], disconnected="zero")]
    for value in (-1.0, 0.5, 2.0):
        check([c, x, w], outputs, value, r(3), r(2, 2))


def test_branches_in_steps_and_loops_in_branches() -> None:
    c, x = T.scalar("c"), T.vector("x")
    y, _ = symc.scan(lambda e, s: symc.ifelse(e > 0, T.exp(-e) * s, s + 1), x, T.ones(()))
    z = symc.ifelse(c > 0, symc.scan(lambda e, s: s * c + e, x, T.ones(()))[0][-1], x.sum())
    arrays = 1.5, r(8)
    check([c, x], [y, z, symc.grad(y.sum() + z, x)], *arrays)
    check([c, x], [z], -1.0, r(8))


def test_values_of_unlike_lengths() -> None:
    c, x, y = T.scalar("c"), T.vector("x"), T.vector("y")
    function = check([c, x, y], [symc.ifelse(c > 0, T.exp(x), T.sin(y))], 1.0, r(3), r(3))
    with pytest.raises(ShapeMismatch, match="axis 0 of the values of an ifelse is 3 and 2"):
        function(1.0, r(3), r(2))


def test_what_ifelse_refuses() -> None:
    x, i = T.vector("x"), T.lvector("i")
    with pytest.raises(DTypeError, match="float64 and int64"):
        symc.ifelse(T.scalar(), x, i)
    with pytest.raises(RankError, match="1 and 0 axes"):
        symc.ifelse(T.scalar(), x, x.sum())
    with pytest.raises(RankError, match="one condition"):
        symc.ifelse(x > 0, x, x)
    with pytest.raises(TypeError, match="1 values on one side and 2"):
        symc.ifelse(T.scalar(), [x], [x, x])


def test_jacobians_of_branches() -> None:
    c, x = T.scalar("c"), T.vector("x")
    y = symc.ifelse(c > 0, T.exp(x) * x.sum(), x[::-1])
    for value in (1.0, -1.0):
        check([c, x], [symc.jacobian(y, x)], value, r(3), ir=False)


def test_a_loop_in_a_branch_has_as_many_steps_as_a_number_outside_says() -> None:
    n = T.lscalar("n")
    product = symc.fori_loop(1, n + 1, lambda i, p: p * i, T.constant(1))
    f = symc.function([n], symc.ifelse(n > 20, -1, product))
    assert [int(f(10)), int(f(0)), int(f(30))] == [3628800, 1, -1]


def test_a_loop_in_a_loop_has_as_many_steps_as_a_number_outside_says() -> None:
    n, v = T.lscalar("n"), T.vector("v")
    powers, _ = symc.scan(
        lambda row: symc.fori_loop(0, n, lambda i, p: p * row, T.constant(1.0)), sequences=v
    )
    f = symc.function([n, v], [powers, symc.grad(powers.sum(), v)])
    value, slope = f(3, [1.0, 2.0])
    np.testing.assert_allclose(value, [1.0, 8.0])
    np.testing.assert_allclose(slope, [3.0, 12.0])


def test_complex_numbers_within_a_step_of_real_ones() -> None:
    x = T.vector("x")

    def step(row: Any, state: Any) -> Any:
        z = T.complex(row, state)
        return (z * z).real + abs(T.exp(z * 1j)) * 0.1

    states, _ = symc.scan(step, sequences=x, outputs_info=T.constant(0.3))
    rows = np.linspace(0, 0.5, 5)
    compiled, plain = (symc.function([x], states, mode=mode) for mode in ("compile", "python"))
    np.testing.assert_allclose(compiled(rows), plain(rows), rtol=1e-13)


def test_a_singular_matrix_within_a_step_names_the_line() -> None:
    a = T.tensor3("a")
    rows, _ = symc.scan(lambda m: T.linalg.solve(m, T.ones((2,))), sequences=a)
    f = symc.function([a], rows)
    with pytest.raises(symc.LinAlgError, match=r"singular(.|\n)*at +test_compiled\.py"):
        f(np.zeros((3, 2, 2)))


@pytest.mark.parametrize("steps", [0, 2])
def test_states_that_are_known_to_be_empty(steps: int) -> None:
    """All their rows are at one place, known before the loop, and were declared nowhere."""
    x, y = T.vector("x"), T.vector("y", shape=(0,))
    s = symc.shared(np.zeros(0))
    states, _ = symc.scan(lambda v: v + x.sum(), outputs_info=[y], n_steps=steps)
    _, updates = symc.scan(lambda: {s: s + x.sum()}, n_steps=steps)
    f = symc.function([x, y], [states, states[-1:]], updates=updates)
    assert [value.shape for value in f(np.ones(3), np.zeros(0))] == [(steps, 0), (min(steps, 1), 0)]
