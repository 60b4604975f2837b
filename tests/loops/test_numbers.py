"""States of a few numbers: as states of one number each they give the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

MODES = ["default", "compile", "python"]
X, N = T.vector("x"), T.lscalar("n")


def is_near(got: Any, wanted: Any, rtol: float) -> bool:
    """Whether all numbers are near others."""
    return np.shape(got) == np.shape(wanted) and np.allclose(got, wanted, rtol, rtol)


def states_of(f: Any) -> list[str]:
    """The lines of the program's text that declare what its loop carries."""
    return [line for line in f.source.splitlines() if "state" in line and "workspace" in line]


# Of z, of two numbers, and x: in symc, and in NumPy.
STEPS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "stacked": (
        lambda z, x: T.stack([0.3 * x - 0.5 * z[0] + z[1], 0.2 * x - 0.1 * z[0]]),
        lambda z, x: np.array([0.3 * x - 0.5 * z[0] + z[1], 0.2 * x - 0.1 * z[0]]),
    ),
    "exchanged": (
        lambda z, x: T.stack([z[-1], z[-2] + x]), lambda z, x: np.array([z[1], z[0] + x])
    ),
    "set": (lambda z, x: z[0].set(z[1])[1].set(x), lambda z, x: np.array([z[1], x])),
    "set from the end": (lambda z, x: z[-1].set(x), lambda z, x: np.array([z[0], x])),
    "increased": (
        lambda z, x: z[0].inc(z[1] * 0.5)[1].inc(x),
        lambda z, x: np.array([z[0] + z[1] * 0.5, z[1] + x]),
    ),
    "an equation of motion": (
        lambda z, x: z + 0.1 * T.stack([z[1], -T.sin(z[0]) + x]),
        lambda z, x: z + 0.1 * np.array([z[1], -np.sin(z[0]) + x]),
    ),
    "by constants": (
        lambda z, x: z * T.constant([0.5, 0.25]) + x, lambda z, x: z * [0.5, 0.25] + x
    ),
    "chosen": (
        lambda z, x: T.where(z > x, z * 0.5, z + T.stack([x, 1.0])),
        lambda z, x: np.where(z > x, z * 0.5, z + np.array([x, 1.0])),
    ),
    "summed": (lambda z, x: z * 0.5 + z.sum() + x, lambda z, x: z * 0.5 + z.sum() + x),
    "turned round": (lambda z, x: z[::-1] + x, lambda z, x: z[::-1] + x),
    "multiplied": (
        lambda z, x: T.constant([[0.5, 0.1], [0.2, 0.3]]) @ z + x,
        lambda z, x: np.array([[0.5, 0.1], [0.2, 0.3]]) @ z + x,
    ),
    "joined": (
        lambda z, x: T.concatenate([z[1:], T.stack([x])]), lambda z, x: np.array([z[1], x])
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STEPS)
def test_states_of_two_numbers(name: str, mode: str) -> None:
    made, meant = STEPS[name]

    def step(i: Any, z: Any, y: Any) -> list[Any]:
        return [made(z, X[i]), y[i].set(z[0] - z[1])]

    start = T.constant([1.0, -2.0])
    f = symc.function([X], symc.fori_loop(0, X.shape[0], step, [start, T.zeros_like(X)]), mode=mode)
    for length in (0, 1, 7):
        x = np.random.default_rng(length).normal(size=length)
        z, y = np.array([1.0, -2.0]), np.zeros(length)
        for i, value in enumerate(x):
            y[i] = z[0] - z[1]
            z = meant(z, value)
        got = f(x)
        assert is_near(got[0], z, 1e-12)
        assert is_near(got[1], y, 1e-12)


@pytest.mark.parametrize("name", ["stacked", "set", "increased", "an equation of motion", "chosen"])
def test_they_are_in_no_array(name: str) -> None:
    made, _ = STEPS[name]
    start = T.constant([1.0, -2.0])
    loop = symc.fori_loop(0, X.shape[0], lambda i, z: made(z, X[i]), start)
    assert states_of(symc.function([X], loop, device="cpu")) == []


@pytest.mark.parametrize("mode", MODES)
def test_all_rows_of_a_state(mode: str) -> None:
    made, meant = STEPS["stacked"]
    rows, _ = symc.scan(lambda x, z: made(z, x), X, T.constant([1.0, -2.0]))
    f = symc.function([X], [rows, rows[-1]], mode=mode)
    x = np.arange(5.0)
    z, wanted = np.array([1.0, -2.0]), []
    for value in x:
        z = meant(z, value)
        wanted.append(z)
    assert is_near(f(x)[0], np.array(wanted), 1e-12)
    assert is_near(f(x)[1], z, 1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_that_may_stop(mode: str) -> None:
    """Numbers of Fibonacci up to a bound."""
    pair = symc.while_loop(
        lambda z: z[1] < N, lambda z: T.stack([z[1], z[0] + z[1]]), T.constant([0, 1])
    )
    f = symc.function([N], pair, mode=mode)
    for n in (0, 1, 2, 100):
        a, b = 0, 1
        while b < n:
            a, b = b, a + b
        np.testing.assert_array_equal(f(n), [a, b])


@pytest.mark.parametrize("mode", MODES)
def test_two_states_of_each_other(mode: str) -> None:
    def step(i: Any, p: Any, q: Any) -> list[Any]:
        p = p - 0.1 * T.stack([q[0], q[1], q[2]])
        return [p, q + 0.1 * p * X[i]]

    start = [T.constant([1.0, 0.0, 2.0]), T.constant([0.0, 1.0, -1.0])]
    f = symc.function([X], symc.fori_loop(0, X.shape[0], step, start), mode=mode)
    x = np.random.default_rng(1).random(20)
    p, q = np.array([1.0, 0.0, 2.0]), np.array([0.0, 1.0, -1.0])
    for value in x:
        p = p - 0.1 * q
        q = q + 0.1 * p * value
    assert is_near(f(x)[0], p, 1e-12)
    assert is_near(f(x)[1], q, 1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_places_that_are_computed(mode: str) -> None:
    f = symc.function(
        [N], symc.fori_loop(0, N, lambda i, z: z[i % 3].inc(i), T.zeros(3, "int64")), mode=mode
    )
    np.testing.assert_array_equal(f(7), [9, 5, 7])
    g = symc.function(
        [N], symc.fori_loop(0, N, lambda i, z: z[i].set(z[0] + 1), T.zeros(3, "int64")), mode=mode
    )
    np.testing.assert_array_equal(g(3), [1, 2, 2])
    with pytest.raises(BadIndex, match="index 3 is"):
        g(4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex128"])
def test_numbers_of_other_types(dtype: str, mode: str) -> None:
    start = np.array([1, 0], dtype)

    def step(i: Any, z: Any) -> Any:
        return T.stack([z[1], z[0]]) if dtype == "bool" else z[0].inc(z[1])[1].set(z[0])

    found = symc.fori_loop(0, N, step, T.constant(start))
    f = symc.function([N], found, mode=mode)
    for n in (0, 1, 2, 9):
        z = start.copy()
        for _ in range(n):
            first = z[0]
            z[0] = z[1] if dtype == "bool" else z[0] + z[1]
            z[1] = first
        got = f(n)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, z)


def test_gradients_go_through_them() -> None:
    made, _ = STEPS["an equation of motion"]
    last = symc.fori_loop(0, X.shape[0], lambda i, z: made(z, X[i]), T.constant([1.0, -2.0]))
    f = symc.function([X], [last[0], symc.grad(last[0], X)])
    x, step = np.array([0.5, -0.3, 0.2]), 1e-6
    _, slope = f(x)
    for place in range(3):
        moved = [x + sign * step * np.eye(3)[place] for sign in (1, -1)]
        assert is_near(slope[place], (f(moved[0])[0] - f(moved[1])[0]) / (2 * step), 1e-7)


def test_shared_variables_of_two_numbers() -> None:
    made, meant = STEPS["stacked"]
    held = symc.shared(np.array([1.0, -2.0]), "held")
    new = symc.fori_loop(0, X.shape[0], lambda i, z: made(z, X[i]), held)
    f = symc.function([X], [], updates={held: new})
    f(np.arange(4.0))
    z = np.array([1.0, -2.0])
    for value in np.arange(4.0):
        z = meant(z, value)
    assert is_near(held.get_value(), z, 1e-12)


@pytest.mark.parametrize("loop", ["scan", "fori_loop"])
@pytest.mark.parametrize("columns", [2, 3, 4, 5])
def test_slopes_that_steps_add_up_for_a_few_numbers(loop: str, columns: int) -> None:
    """Sums of few numbers were taken apart and then added up after the loop: ends were lost."""
    v, w, m = (
        T.dvector("v"),
        T.tensor("float64", (columns,), "w"),
        T.tensor("float64", (4, columns)),
    )
    places, count = np.array([1, 1, 3, 0]), 3

    def step(i: Any, v: Any, w: Any) -> list[Any]:
        return [T.inc_subtensor(v[places], T.dot(m, w) * 0.3 + m[:, 1] * w[0]), w]

    if loop == "scan":
        rows, _ = symc.scan(step, sequences=T.arange(count), outputs_info=[v, w], return_list=True)
        last = rows[0][-1]
    else:
        last = symc.fori_loop(0, count, step, [v, w])[0]
    straight = v
    for i in range(count):
        straight = step(i, straight, w)[0]
    rng = np.random.default_rng(columns)
    given = [rng.standard_normal(shape) for shape in (4, columns, (4, columns))]
    slopes = [symc.grad(T.sin(end).sum(), [v, w, m]) for end in (last, straight)]
    f, g = (symc.function([v, w, m], found) for found in slopes)
    for got, wanted in zip(f(*given), g(*given), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_whole_numbers_of_a_state_that_move_evenly() -> None:
    """Each of them followed from the number of the step, and the state was then of none."""
    k, x = T.tensor("int64", (2,), "k"), T.dvector("x")
    end = symc.fori_loop(0, N, lambda i, k, s: [k + 1, s + x[k[0]]], [k, 0.0])
    f = symc.function([k, x, N], end)
    got, total = f([1, 5], np.arange(9.0), 3)
    np.testing.assert_array_equal(got, [4, 8])
    assert total == 1 + 2 + 3


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_slopes_of_states_that_follow_each_other(steps: int) -> None:
    """Those that follow and their sums are changed one after the other, and each has its end."""
    w, x, y = (T.tensor("float64", (2,), name) for name in "wxy")

    def step(_: Any, a: Any, b: Any, c: Any) -> list[Any]:
        return [w * 0.4, a + T.sin(w), b * w + c[::-1]]

    def slopes(ends: list[Any]) -> list[Any]:
        cost: Any = sum(T.sin(end).sum() for end in ends)
        return list(symc.grad(cost, [w, x, y], disconnected="zero"))

    straight = [x, y, w]
    for i in range(steps):
        straight = step(i, *straight)
    looped = symc.fori_loop(0, N, step, [x, y, w])
    known = symc.fori_loop(0, steps, step, [x, y, w])
    given = [np.array(pair) for pair in ([0.3, -0.7], [1.1, 0.2], [-0.4, 0.9])]
    wanted = symc.function([w, x, y], slopes(straight), on_unused_input="ignore")(*given)
    f = symc.function([w, x, y, N], slopes(looped), on_unused_input="ignore")
    g = symc.function([w, x, y], slopes(known), on_unused_input="ignore")
    for got in (f(*given, steps), g(*given)):
        for one, right in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-12, atol=1e-14)
