"""States whose results have lengths that a step computes."""

from __future__ import annotations

import pytest

import symc
import symc.tensor as T
from symc.errors import LoopError, ShapeMismatch

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
