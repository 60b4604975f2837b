"""`symc.scan` and its kin mean what Theano's do, with NumPy loops as the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import LoopError, MissingInput, ShapeMismatch
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.scan import Scan

RNG = np.random.default_rng(5)


def values(inputs: Sequence[Tensor], outputs: Any, *arrays: Any, updates: Any = ()) -> Any:
    """The outputs, by the interpreter."""
    function = symc.function(
        list(inputs), outputs, updates=updates, mode="python", on_unused_input="ignore"
    )
    return function(*arrays)


def r(*shape: int) -> Any:
    return RNG.standard_normal(shape)


# --- the examples of Theano's documentation -------------------------------------------------------


def test_powers() -> None:
    k, base = T.iscalar("k"), T.vector("base")
    result, updates = symc.scan(
        lambda before, base: before * base,
        outputs_info=T.ones_like(base),
        non_sequences=base,
        n_steps=k,
    )
    x = np.arange(10.0)
    np.testing.assert_array_equal(values([base, k], result[-1], x, 2, updates=updates), x**2)
    np.testing.assert_array_equal(values([base, k], result[-1], x, 4, updates=updates), x**4)


def test_polynomial() -> None:
    coefficients, x = T.vector("coefficients"), T.scalar("x")
    components, _ = symc.scan(
        lambda coefficient, power, x: coefficient * x**power,
        sequences=[coefficients, T.arange(1000)],
        non_sequences=x,
    )
    found = values([coefficients, x], components.sum(), [1.0, 0.0, 2.0], 3.0)
    np.testing.assert_array_equal(found, 19.0)


def test_triangular_numbers_from_an_int_state() -> None:
    up_to = T.lscalar("up_to")
    result, _ = symc.scan(
        lambda i, total: total + i, sequences=T.arange(up_to), outputs_info=T.constant(0)
    )
    np.testing.assert_array_equal(values([up_to], result, 15), np.arange(15).cumsum())


def test_setting_elements_by_a_map() -> None:
    location, value, model = T.imatrix("location"), T.vector("value"), T.matrix("model")

    def assign(at: Tensor, value: Tensor, model: Tensor) -> Tensor:
        return T.set_subtensor(T.zeros_like(model)[at[0], at[1]], value)

    result, _ = symc.scan(assign, [location, value], None, model)
    found = values(
        [location, value, model], result,
        np.array([[1, 1], [2, 3]], np.int32), np.array([42.0, 50.0]), np.zeros((5, 5)),
    )  # fmt: skip
    assert found.shape == (2, 5, 5)
    assert (found[0, 1, 1], found[1, 2, 3], found.sum()) == (42.0, 50.0, 92.0)


def test_recurrence_with_taps_of_sequences_and_outputs() -> None:
    u, x0, y0 = T.matrix("u"), T.matrix("x0"), T.vector("y0")
    w, wx, wy = r(2, 3), r(3, 3), r(3)

    def step(u_4: Tensor, u_0: Tensor, x_3: Tensor, x_1: Tensor, y_1: Tensor) -> Any:
        x = T.tanh(T.dot(x_1, wx) + T.dot(u_0, w) + T.dot(u_4, w) + x_3)
        return x, y_1 * 0.5 + T.dot(x_3, wy)

    (xs, ys), _ = symc.scan(
        step,
        sequences={"input": u, "taps": [-4, 0]},
        outputs_info=[{"initial": x0, "taps": [-3, -1]}, {"initial": y0[0]}],
    )
    given, first, start = r(9, 2), r(3, 3), r(1)
    x, y = list(first), list(start)
    for t in range(4, 9):
        x.append(np.tanh(x[-1] @ wx + given[t] @ w + given[t - 4] @ w + x[-3]))
        y.append(y[-1] * 0.5 + x[-4] @ wy)
    found = values([u, x0, y0], [xs, ys], given, first, start)
    np.testing.assert_allclose(found[0], x[3:])
    np.testing.assert_allclose(found[1], y[1:])


def test_gibbs_chain_that_counts_in_a_shared_variable() -> None:
    steps = symc.shared(0, "steps")
    w = r(4, 4)
    start = T.vector("start")

    def step(sample: Tensor) -> Any:
        return T.cast(T.dot(sample, w) > 0, "float64"), {steps: steps + 1}

    samples, updates = symc.scan(step, outputs_info=start, n_steps=10)
    gibbs = symc.function([start], samples[-1], updates=updates, mode="python")
    first = np.array([1.0, 0.0, 1.0, 0.0])
    sample = first
    for _ in range(10):
        sample = (sample @ w > 0).astype(float)
    np.testing.assert_array_equal(gibbs(first), sample)
    gibbs(first)
    assert steps.get_value() == 20


def test_powers_of_two_until() -> None:
    limit = T.scalar("limit")
    result, _ = symc.scan(
        lambda before, limit: (before * 2, symc.until(before * 2 > limit)),
        outputs_info=T.constant(1.0),
        non_sequences=limit,
        n_steps=1024,
    )
    expected = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    np.testing.assert_array_equal(values([limit], result, 45.0), expected)


def test_fibonacci() -> None:
    result, _ = symc.scan(
        lambda a, b: a + b,
        outputs_info={"initial": T.constant([1, 1]), "taps": [-2, -1]},
        n_steps=8,
    )
    np.testing.assert_array_equal(values([], result), [2, 3, 5, 8, 13, 21, 34, 55])


# --- steps ----------------------------------------------------------------------------------------


def cumulated(x: Tensor, **options: Any) -> Tensor:
    totals: Tensor
    totals, _ = symc.scan(lambda row, total: total + row, x, T.zeros_like(x[0]), **options)
    return totals


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_as_many_steps_as_rows(rows: int) -> None:
    x, total = T.matrix("x"), T.vector("total")
    result, _ = symc.scan(lambda row, total: total + row, x, total)
    given = r(rows, 3)
    found = values([x, total], result, given, np.zeros(3))
    np.testing.assert_allclose(found, given.cumsum(axis=0))


@pytest.mark.parametrize("steps", [0, 1, 3, 5])
@pytest.mark.parametrize("symbolic", [False, True])
def test_steps_asked_for(steps: int, symbolic: bool) -> None:
    x, n = T.vector("x"), T.lscalar("n")
    result = cumulated(x, n_steps=n if symbolic else steps)
    given = r(5)
    found = values([x, n], result, given, steps)
    np.testing.assert_allclose(found, given[:steps].cumsum())


@pytest.mark.parametrize("steps", [None, 0, 1, 3])
def test_backwards_from_the_end(steps: int | None) -> None:
    x = T.vector("x")
    result = cumulated(x, n_steps=steps, go_backwards=True)
    given = r(5)
    np.testing.assert_allclose(values([x], result, given), given[::-1][:steps].cumsum())


def test_backwards_with_taps() -> None:
    x = T.vector("x")
    result, _ = symc.scan(
        lambda a, b: 10 * a + b, {"input": x, "taps": [-1, 1]}, go_backwards=True, n_steps=3
    )
    given = np.arange(7.0)
    # The current rows are 5, 4, 3.
    np.testing.assert_array_equal(values([x], result, given), [46.0, 35.0, 24.0])


def test_the_shortest_sequence_decides() -> None:
    x, y = T.vector("x"), T.vector("y")
    result, _ = symc.scan(lambda x, y: x * y, [x, {"input": y, "taps": [2]}])
    given, other = r(9), r(6)
    np.testing.assert_allclose(values([x, y], result, given, other), given[:4] * other[2:])


def test_states_of_no_step_end_as_they_began() -> None:
    x = T.vector("x")
    total, _ = symc.reduce(lambda row, total: total + row, x, 7)
    np.testing.assert_array_equal(values([x], total, np.zeros(0)), 7.0)


@pytest.mark.parametrize("symbolic", [False, True])
def test_negative_steps(symbolic: bool) -> None:
    n = T.lscalar("n")
    steps = n if symbolic else -2
    with pytest.raises(LoopError, match="n_steps cannot be negative, as -2 is"):
        values([n], symc.scan(lambda a: a + 1, outputs_info=0, n_steps=steps)[0], -2)


@pytest.mark.parametrize("symbolic", [False, True])
def test_more_steps_than_rows(symbolic: bool) -> None:
    n, x = T.lscalar("n"), T.tensor("float64", (3 if not symbolic else None,), name="x")
    with pytest.raises(LoopError, match="4 steps, but a sequence has rows for 3") as error:
        values([x, n], cumulated(x, n_steps=n if symbolic else 4), r(3), 4)
    assert "test_scan_api.py" in str(error.value)


@pytest.mark.parametrize("steps", [2.0, T.scalar("n"), T.lvector("n")])
def test_steps_that_are_no_integer(steps: Any) -> None:
    with pytest.raises(LoopError, match="n_steps must be an integer scalar") as error:
        symc.scan(lambda a: a, outputs_info=0, n_steps=steps)
    assert isinstance(error.value, ValueError)


def test_neither_steps_nor_sequences() -> None:
    with pytest.raises(LoopError, match="needs sequences or n_steps"):
        symc.scan(lambda a: a, outputs_info=0)


def test_until_includes_the_step_and_holds_in_the_first() -> None:
    x = T.vector("x")
    result, _ = symc.scan(lambda row: (row, symc.until(row > 0)), x)
    np.testing.assert_array_equal(values([x], result, [1.0, 2.0]), [1.0])
    np.testing.assert_array_equal(values([x], result, [-1.0, 2.0, 3.0]), [-1.0, 2.0])
    np.testing.assert_array_equal(values([x], result, [-1.0, -2.0]), [-1.0, -2.0])
    assert values([x], result, []).shape == (0,)


# --- the arguments and results of the function ---
# ----------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "count"),
    [
        (lambda x: x, 1),
        (lambda x: [x], 1),
        (lambda x: (x, x + 1), 2),
        (lambda x: ([x, x + 1], {}), 2),
        (lambda x: (x, {}), 1),
        (lambda x: (x, symc.until(x > 1e9)), 1),
        (lambda x: ([x, x], {}, symc.until(x > 1e9)), 2),
        (lambda x: ({}, symc.until(x > 1e9)), 0),
    ],
)
def test_forms_of_what_a_step_returns(fn: Callable[..., Any], count: int) -> None:
    x = T.vector("x")
    outputs, updates = symc.scan(fn, x, return_list=True)
    assert updates == {}
    assert len(outputs or []) == count
    for output in outputs or []:
        assert values([x], output, [1.0, 2.0]).shape == (2,)


def test_an_empty_list_of_initial_values_is_none_for_each_output() -> None:
    (once, twice), _ = symc.scan(lambda x: (x, x * 2), T.vector("x"), [])
    assert (once.ndim, twice.ndim) == (1, 1)


def test_a_type_error_of_the_function_itself_stays() -> None:
    with pytest.raises(TypeError, match="can only concatenate str"):
        symc.scan(lambda x: cast("Any", "a") + 1, T.vector("x"))


def test_order_of_arguments() -> None:
    x, y, w = T.vector("x"), T.vector("y"), T.scalar("w")
    seen: list[list[str | None]] = []

    def step(*args: Tensor) -> Any:
        seen.append([arg.name for arg in args])
        return args[3] + args[4], args[2]

    symc.scan(
        step,
        [{"input": x, "taps": [1, -1]}, y],
        [{"initial": T.vector("i"), "taps": [-2, -1]}, None],
        [w],
    )
    assert seen == [["x_t+1", "x_t-1", "y_t", None, None, "w"]]


def test_strict_wants_all_that_is_used() -> None:
    x, w, s = T.vector("x"), T.scalar("w"), symc.shared(1.0, "s")
    symc.scan(lambda row, w, s: row * w + s + x.shape[0], x, None, [w, s], strict=True)
    for missing in (w, s):
        with pytest.raises(MissingInput, match="must be among non_sequences"):
            symc.scan(lambda row, missing=missing: row * missing, x, strict=True)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: symc.scan(lambda a: (a, a), x, [None]), "returned 2 outputs, and outputs_info"),
        (lambda x: symc.scan(lambda a: "no", x), "must return tensors"),
        (lambda x: symc.scan(lambda a: None, x), "is its return missing"),
        (lambda x: symc.while_loop(lambda a: a < 1, lambda a: None, x[0]), "is its return missing"),
        (lambda x: symc.scan(lambda a: a, T.scalar()), "a sequence needs rows"),
        (lambda x: symc.scan(lambda a: a, {"inputs": x}), r"dict\(input=, taps=\)"),
        (lambda x: symc.scan(lambda a: a, {"input": x, "taps": [0.5]}), "taps must be integers"),
        (lambda x: symc.scan(lambda a, b: b, x, {"initial": x, "taps": [0]}), "must be negative"),
        (lambda x: symc.scan(lambda a, b: b, x, {"taps": [-1]}), "no initial value"),
        (
            lambda x: symc.scan(lambda a, b: b, x, {"initial": T.constant([1]), "taps": [-2]}),
            "needs 2 rows",
        ),
        (lambda x: symc.scan(lambda a: (a, symc.until(x > 0)), x), "until needs a scalar"),
        (lambda x: symc.scan(lambda a: a, x, truncate_gradient=0), "truncate_gradient is a number"),
        (lambda x: symc.scan(lambda a: a, x, truncate_gradient=cast("Any", 2.5)), "is a number"),
        (lambda x: symc.scan(lambda a: a, x, checkpoint=0), "checkpoint is a number of steps"),
        (lambda x: symc.scan(lambda a: a, x, checkpoint=True), "checkpoint is a number of steps"),
        (
            lambda x: symc.scan(lambda a: (a, symc.until(a > 0), symc.until(a < 0)), x),
            "returned until.* twice",
        ),
        (lambda x: symc.scan(x, x), "the function cannot be called: it is <x"),
        (
            lambda x: symc.scan(lambda a, b: a, x, [0.0], [1.0]),
            r"takes \(a, b\), and is given 1 rows of sequences, 1 earlier rows",
        ),
        (lambda x: symc.fori_loop(0, cast("Any", 2.5), lambda i, a: a, x), "i goes from one int"),
        (
            lambda x: symc.fori_loop(0, 9, lambda i, both: both, [x, x]),  # JAX's way
            r"the body takes \(i, both\), and is given 1 counter, 2 states, each an argument",
        ),
        (
            lambda x: symc.while_loop(lambda both: both[0] > 1, lambda a, b: (a, b), [x[0], x[1]]),
            r"the condition takes \(both\), and is given 2 states",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit(make: Callable[[Tensor], Any], text: str) -> None:
    with pytest.raises(LoopError, match=text):
        make(T.vector("x"))


def test_lengths_that_change_from_step_to_step() -> None:
    x = T.vector("x")
    rows, _ = symc.scan(lambda i: x[:i], T.arange(3))
    with pytest.raises(ShapeMismatch, match="axis 0 has length 1, and must have 0"):
        values([x], rows, [1.0, 2.0, 3.0])
    total, _ = symc.scan(lambda i: x[:i].sum(), T.arange(4))
    np.testing.assert_array_equal(values([x], total, [1.0, 2.0, 3.0]), [0.0, 1.0, 3.0, 6.0])


# --- the shorter forms ----------------------------------------------------------------------------


def test_map_reduce_and_folds() -> None:
    x = T.matrix("x")
    given = r(4, 3)
    squares, _ = symc.map(lambda row: row**2, x)
    left, _ = symc.foldl(lambda row, acc: acc * 0.5 + row, x, T.zeros_like(x[0]))
    right, _ = symc.foldr(lambda row, acc: acc * 0.5 + row, x, T.zeros_like(x[0]))
    both, _ = symc.reduce(lambda row, a: (a + row, row), x, [T.zeros_like(x[0]), None])
    found = values([x], [squares, left, right, *both], given)
    weights = 0.5 ** np.arange(3, -1, -1)
    expected = [given**2, weights @ given, weights[::-1] @ given, given.sum(0), given[-1]]
    for value, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, wanted)


@pytest.mark.parametrize("limit", [None, 3, 100])
def test_while_loop(limit: int | None) -> None:
    x = T.scalar("x")
    count, last = symc.while_loop(
        lambda count, y: y < 100.0, lambda count, y: (count + 1, y * 3), [0, x], max_steps=limit
    )
    for start, steps in ((1.0, 5), (50.0, 1), (200.0, 0)):
        steps = min(steps, limit or 100)
        found = values([x], [count, last], start)
        assert (found[0], found[1]) == (steps, start * 3**steps)


def test_while_loop_of_one_tensor() -> None:
    n = T.lscalar("n")
    assert values([n], symc.while_loop(lambda n: T.eq(n % 2, 0), lambda n: n // 2, n), 48) == 3


def test_while_loop_without_steps_does_not_know_whether_its_condition_holds() -> None:
    x = T.vector("x")
    with pytest.raises(LoopError, match="needs a scalar condition"):
        symc.while_loop(lambda x: x > 0, lambda x: x - 1, x)


def test_fori_loop() -> None:
    n, x = T.lscalar("n"), T.vector("x")
    last = symc.fori_loop(2, n, lambda i, acc: acc * x[i] + i, T.zeros(()))
    given, expected = r(6), 0.0
    for i in range(2, 5):
        expected = expected * given[i] + i
    np.testing.assert_allclose(values([n, x], last, 5, given), expected)
    assert values([n, x], last, 1, given) == 0.0


# --- nodes ----------------------------------------------------------------------------------------


def test_loops_written_twice_are_one() -> None:
    x, w = T.matrix("x"), T.matrix("w")

    def loop() -> Any:
        return symc.scan(lambda row, h: T.tanh(T.dot(h, w) + row), x, T.zeros_like(x[0]))[0]

    assert loop() is loop()


def test_what_does_not_change_is_computed_outside() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    result, _ = symc.scan(lambda row: T.dot(row, T.exp(w) @ w), x)
    scan = next(node.op for node in walk([result]) if isinstance(node.op, Scan))
    inside = {node.op.label for node in walk(scan.body.results)}
    assert "exp" not in inside


def test_substituting_lengths_infers_types_anew() -> None:
    x = T.matrix("x")
    result = cumulated(x)
    fixed = T.tensor("float64", (3, 2), name="fixed")
    assert symc.clone(result, {x: fixed}).type.shape == (3, 2)
