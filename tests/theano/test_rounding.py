"""Loops of programs written for Theano: each op of a step rounds by itself."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

import symc
import symc.theano as theano
import symc.theano.tensor as T


def test_the_steps_of_a_loop_round_as_numpy_does() -> None:
    h, a, b = T.dvectors("h", "a", "b")
    states, _ = theano.scan(lambda h, a, b: h * a - b, outputs_info=h, non_sequences=[a, b],
                            n_steps=20)  # fmt: skip
    f = theano.function([h, a, b], states)
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(100) for _ in range(3)]
    found = f(*given)
    state, (_, factor, less) = given[0], given
    for each in found:
        state = state * factor - less
        np.testing.assert_array_equal(each, state)


def test_only_loops_are_compiled_so() -> None:
    x = T.dvector("x")
    states, _ = theano.scan(lambda h, x: h * x + 1, outputs_info=x, non_sequences=x, n_steps=2)
    made: list[Any] = [theano.function([x], each).symc_function for each in (states, x * x + 1)]
    assert [each.request.contracts for each in made] == [False, True]
    assert made[0].copy().request.contracts is False


def test_pickled_and_saved_functions_round_as_they_did(tmp_path: Path) -> None:
    """Both forgot it, so that the same function gave other bits in another process."""
    x = T.dvector("x")
    states, _ = theano.scan(lambda h, x: h * x + 1, outputs_info=x, non_sequences=x, n_steps=2)
    f = theano.function([x], states)
    inner: Any = f.symc_function
    symc.save(inner, tmp_path / "loop.symc")
    again: list[Any] = [
        pickle.loads(pickle.dumps(inner)),
        pickle.loads(pickle.dumps(f)).symc_function,
        symc.load(tmp_path / "loop.symc"),
    ]
    assert [each.request.contracts for each in again] == [False] * 3
