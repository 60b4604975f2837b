"""States whose results have lengths that a step computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, LoopError, ShapeMismatch
from symc.graph.node import Tensor

Array: TypeAlias = np.ndarray[Any, Any]

one, y = T.vector("one", shape=(1,)), T.vector("y")


def test_one_step_whose_length_follows_from_its_number_is_not_asked_for_it_before() -> None:
    # The state was broadcast before the loop, to a length that only the step's number gives:
    # "the outputs need <input int64[]>".
    slid = symc.fori_loop(0, 1, lambda i, s: s + y[i : i + 2], one)
    assert symc.function([one, y], slid)([2.0], [3.0, 4.0, 5.0]).tolist() == [5.0, 6.0]
    number = symc.fori_loop(1, 2, lambda i, s: s + y[i : i + 2], 0.5)
    assert symc.function([y], number)([3.0, 4.0, 5.0]).tolist() == [4.5, 5.5]


def test_floyd_warshall_of_one_declared_place() -> None:
    roads = T.matrix("roads", shape=(1, 1))
    paths = symc.fori_loop(
        0, 1, lambda k, a: T.minimum(a, a[:, k : k + 1] + a[k : k + 1]), roads
    )  # fmt: skip
    assert symc.function([roads], paths)([[2.0]]).tolist() == [[2.0]]


def test_gradient_of_one_step_whose_length_follows_from_its_number() -> None:
    slid = symc.fori_loop(0, 1, lambda i, s: s * y[i : i + 2], one)
    f = symc.function([one, y], symc.grad(slid.sum(), [one, y]))
    assert [g.tolist() for g in f([2.0], [3.0, 4.0, 5.0])] == [[7.0], [2.0, 2.0, 0.0]]


@pytest.mark.parametrize("start", [one, 0.5])
def test_more_steps_whose_length_follows_from_a_state_are_refused(start: object) -> None:
    # It was a length of a slot of another attempt at the step: "the outputs need <input int64[]>".
    with pytest.raises(ShapeMismatch, match="a length that the step computes"):
        symc.fori_loop(0, 2, lambda i, s, k: (s + y[k : k + 2], k), [start, 0])
    with pytest.raises(ShapeMismatch, match="a length that the step computes"):
        symc.scan(lambda k, s: s + y[k : k + 2], sequences=T.lvector("k"), outputs_info=start)


def test_states_of_other_lengths_that_swap_are_refused_as_that() -> None:
    # "the dtypes of the states grow with every step"
    with pytest.raises(LoopError, match="lengths of the states change with every") as refused:
        symc.fori_loop(0, T.lscalar("n"), lambda i, a, b: (b, a), [one, y])
    assert "initial one " in str(refused.value)
    assert "initial y " in str(refused.value)


def _difference(f: Callable[..., Array], at: list[Array], number: int) -> Array:
    """The gradient of a number with respect to one argument, by central differences."""
    found = np.zeros_like(at[number])
    for place in range(found.size):
        moved = [[each.copy() for each in at] for _ in range(2)]
        moved[0][number][place] += 1e-6
        moved[1][number][place] -= 1e-6
        found[place] = (f(*moved[0]) - f(*moved[1])) / 2e-6
    return found


@pytest.mark.parametrize("declared", [None, 3])
@pytest.mark.parametrize(
    "step",
    [
        lambda i, t: T.sin(t) * (y[3 * i : 3 * i + 3] * t).sum(),
        lambda i, t: T.sin(t) * y[i : i + 3].inc(t).sum(),
        lambda i, t: T.specify_shape(y[3 * i : 3 * i + 3], (3,)) * t,
    ],
    ids=["times", "inc", "specified"],
)
def test_gradient_of_a_state_beside_a_slice_of_its_length(
    step: Callable[..., Tensor], declared: int | None
) -> None:
    # The gradient of the state had the slice's length, which only the step's number gives, and
    # the loop backwards was refused: "a length that the step computes".
    x = T.vector("x", shape=(declared,))
    cost = symc.fori_loop(0, y.shape[0] // 3, step, x).sum()
    value = symc.function([x, y], cost)
    grads = symc.function([x, y], symc.grad(cost, [x, y]))
    at = [np.array([0.3, -0.2, 0.5]), np.linspace(-1.0, 1.0, 7)]
    for number, found in enumerate(grads(*at)):
        np.testing.assert_allclose(found, _difference(value, at, number), rtol=1e-5, atol=1e-8)


def test_gradient_of_a_state_beside_a_slice_of_another_length_is_refused() -> None:
    x = T.vector("x")
    cost = symc.fori_loop(0, 2, lambda i, t: t + (y[3 * i : 3 * i + 3] * t).sum(), x).sum()
    f = symc.function([x, y], symc.grad(cost, x))
    with pytest.raises(ShapeMismatch):
        f([1.0, 2.0], np.ones(7))


def test_gradients_of_a_state_that_is_written_and_of_one_that_is_read() -> None:
    x = T.vector("x", shape=(3,))

    def step(i: Tensor, s: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        part = s[3 * i : 3 * i + 3]
        return part.inc(t), T.sin(T.specify_shape(part, (3,)))

    s, t = symc.fori_loop(0, y.shape[0] // 3, step, [y, x])
    cost = (s * s).sum() + t.sum()
    value = symc.function([x, y], cost)
    at = [np.array([0.3, -0.2, 0.5]), np.linspace(-1.0, 1.0, 7)]
    for number, found in enumerate(symc.function([x, y], symc.grad(cost, [x, y]))(*at)):
        np.testing.assert_allclose(found, _difference(value, at, number), rtol=1e-5, atol=1e-8)


def test_states_of_an_inner_loop_as_long_as_the_number_of_the_outer_step() -> None:
    """Their memory was asked for before the loop around, whose counter C did not know there."""
    z = T.vector("z")
    n = z.shape[0]

    def body(i: Tensor, state: Tensor, product: Tensor) -> tuple[Tensor, Tensor]:
        state = symc.fori_loop(i + 1, n, lambda j, s: s[i].set(T.sin(s[j])), state)
        return state, product * state[i]

    _, product = symc.fori_loop(0, n, body, [z, 1.0])
    f = symc.function([z], symc.grad(product, z))
    for length in range(5):
        values = np.arange(1.0, length + 1)
        # Of the inner loop the last step is what counts: sin(z[-1]), but for z[-1] itself.
        last = values[-1:]
        power = np.sin(last) ** (length - 1)
        slope = power + last * (length - 1) * np.sin(last) ** (length - 2) * np.cos(last)
        want = np.zeros(length)
        want[-1:] = slope
        np.testing.assert_allclose(f(values), want, rtol=1e-12)


@pytest.mark.parametrize("mode", ["default", "python"])
def test_a_bug_a_length_asked_by_an_unread_result_of_a_branch_was_measured_after_it(
    mode: str,
) -> None:
    """The condition of the result that nobody wants stays; its array is read by no side."""
    x, z, first = T.vector("x"), T.vector("z"), T.scalar("first", dtype="bool")
    distinct = T.unique(x)
    wanted, _ = symc.ifelse(first, [z, distinct * 0.5], [z + 1, distinct[2].set(-1.0)])
    f = symc.function([x, z, first], wanted, mode=mode)
    assert f([3.0, 1.0, 2.0], [4.0], False).tolist() == [5.0]
    assert f([3.0, 3.0], [4.0], True).tolist() == [4.0]
    with pytest.raises(BadIndex, match="index 2 is out of bounds for axis 0 with length 1"):
        f([3.0, 3.0], [4.0], False)


@pytest.mark.parametrize("mode", ["default", "python"])
def test_a_bug_what_returned_to_the_steps_and_left_again_had_a_length_known_on_one_side_only(
    mode: str,
) -> None:
    """Both sides of a branch in the loop need the array, which may fail: an internal error."""
    x, z, n = T.vector("x"), T.vector("z"), T.lscalar("n")
    distinct = T.unique(x)
    last = symc.fori_loop(
        0,
        n,
        lambda i, s: symc.ifelse(s[0] > i, s + distinct.sum(), s + distinct[2].set(-1.0).sum()),
        z,
    )
    f = symc.function([x, z, n], last, mode=mode)
    assert f([3.0, 1.0, 2.0, 3.0], [1.0], 2).tolist() == [13.0]
    assert f([3.0, 1.0, 2.0, 3.0], [-1.0], 1).tolist() == [1.0]
    assert f([3.0, 1.0], [1.0], 0).tolist() == [1.0]


def test_a_bug_a_state_whose_length_follows_from_constants_was_measured_by_nobody() -> None:
    """The loop took the number for one of its own, as of constants that only its steps have."""
    distinct = T.unique(T.zeros(6))
    n = T.lscalar("n")
    kept = symc.fori_loop(0, 4, lambda i, s: s, distinct)
    found = [
        kept,
        symc.fori_loop(0, n, lambda i, s: symc.ifelse(i > 1, s + 1, s * 2 - 1), distinct),
        symc.fori_loop(0, n, lambda i, s: symc.fori_loop(0, i, lambda j, t: t - j, s), distinct),
        symc.ifelse(n > 2, distinct, distinct[::-1] + 1),
    ]
    f = symc.function([n], found)
    assert [each.tolist() for each in f(4)] == [[0.0], [-1.0], [-4.0], [0.0]]
