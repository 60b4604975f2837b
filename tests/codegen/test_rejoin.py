"""Kernels of a step between which checks have been left out become one."""

from __future__ import annotations

import heapq
import re
from typing import Any

import numpy as np

import symc
import symc.tensor as T
from symc.codegen.passes.steps.rejoin import rejoin
from tests.codegen.programs import softmax


def pushed(x: Any) -> Any:
    """A heap to which numbers are added: each rises to where none above it is larger."""

    def push(k: Any, heap: Any) -> Any:
        def is_smaller(i: Any, heap: Any) -> Any:
            return T.logical_and(i > 0, heap[T.maximum((i - 1) // 2, 0)] > heap[i])

        def rise(i: Any, heap: Any) -> list[Any]:
            above = (i - 1) // 2
            lower, higher = heap[above], heap[i]
            return [above, heap[i].set(lower)[above].set(higher)]

        return symc.while_loop(is_smaller, rise, [k, heap[k].set(x[k])])[1]

    return symc.fori_loop(0, x.shape[0], push, T.zeros_like(x))


def test_a_step_whose_checks_are_left_out_is_one_kernel() -> None:
    """Of a heap all places follow from the first one, which is looked at before."""
    x = T.vector("x")
    f = symc.function([x], pushed(x))
    quick = f.source[f.source.index("if (fine[0])") :].split("} else {")[0]
    assert len(re.findall(r"kernel\w*\(", quick)) == 1
    assert "return 1;" not in quick
    for n in (0, 1, 2, 3, 50):
        given = np.random.default_rng(n).standard_normal(n)
        wanted: list[float] = []
        for value in given:
            heapq.heappush(wanted, value)
        np.testing.assert_array_equal(f(given), wanted)


def test_programs_without_loops_stay_as_they_are() -> None:
    made = softmax()
    assert rejoin(made) is made
