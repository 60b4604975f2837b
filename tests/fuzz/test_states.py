"""Random loops over matrices with `set` and `inc`, against the same text run by NumPy.

Regions and the values written into them depend on the number of the step: rows, columns, ragged
slices, reversed ones, single elements, sums. Elements written in place must not be read too late.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

INDEXES = ("i", "0", "1", "i+1", "n-1-i", "-1", "(i+1)%n", "(2*i)%n")
BOUNDS = ("", "0", "1", "2", "i", "i+1", "i+2", "n-2", "n-i-1", "-1", "-2", "n")


class States:
    """A program: the names of the states, and statements ``(state, set or inc, region, value)``."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.names = self.chance.choice(("a", "a", "ab"))
        self.body = [self.statement() for _ in range(self.chance.randint(1, 3))]
        self.nested = self.chance.random() < 0.25

    def axis(self) -> str:
        pick = self.chance.choice
        if self.chance.random() < 0.45:
            return pick(INDEXES)
        return f"{pick(BOUNDS)}:{pick(BOUNDS)}{pick(('', '', ':2', ':-1'))}"

    def statement(self) -> tuple[str, str, str, str]:
        name, axes = self.chance.choice(self.names), (self.axis(), self.axis())
        terms = " + ".join(self.term(axes) for _ in range(self.chance.randint(1, 2)))
        return name, self.chance.choice(("set", "inc")), f"[{axes[0]}, {axes[1]}]", terms

    def term(self, axes: tuple[str, str]) -> str:
        pick = self.chance.choice
        other, (rows, columns), region = pick(self.names), axes, f"[{axes[0]}, {axes[1]}]"
        terms = [
            f"{other}{region}", f"{other}{region}", f"{other}[{pick(INDEXES)}, {pick(INDEXES)}]",
            f"{other}[{self.axis()}, {self.axis()}].sum()", f"{other}[{pick(INDEXES)}].max()", "i",
        ]  # fmt: skip
        match ":" in rows, ":" in columns:
            case True, True:
                terms += [
                    f"{other}[{rows}, {pick(INDEXES)}][:, None]", f"{other}{region}[::-1]",
                    f"{other}[{pick(INDEXES)}, {columns}][None, :]", f"{other}{region}[:, ::-1]",
                ]  # fmt: skip
            case True, False:
                terms.append(f"{other}[{rows}, {pick(INDEXES)}][::-1]")
            case False, True:
                terms.append(f"{other}[{pick(INDEXES)}, {columns}][::-1]")
            case _:
                pass
        return f"{pick(('0.5', '-0.25'))}*{pick(terms)}"

    def by_numpy(self, arrays: list[Any], steps: int) -> list[Any]:
        states = dict(zip(self.names, arrays, strict=True))
        for i in range(steps):
            for j in range(2) if self.nested else (0,):
                for name, how, region, value in self.body:
                    space = {**states, "n": len(arrays[0]), "i": (i + j) % steps}
                    space["v"] = np.array(eval(value, space))
                    space["new"] = states[name].copy()
                    exec(f"new{region} {'=' if how == 'set' else '+='} v", space)
                    states[name] = space["new"]
        return list(states.values())

    def function(self) -> symc.Function:
        inputs, steps = [T.matrix(name) for name in self.names], T.lscalar("steps")

        def once(i: Any, *states: Any) -> Any:
            known = dict(zip(self.names, states, strict=True))
            for name, how, region, value in self.body:
                space = {**known, "n": inputs[0].shape[0], "i": i}
                space["v"] = eval(value, space)
                known[name] = eval(f"{name}{region}.{how}(v)", space)
            return list(known.values())

        def step(i: Any, *states: Any) -> Any:
            if not self.nested:
                return once(i, *states)
            return symc.fori_loop(0, 2, lambda j, *s: once((i + j) % steps, *s), list(states))

        return symc.function([*inputs, steps], symc.fori_loop(0, steps, step, inputs))


def agree(seeds: range, lengths: tuple[int, ...], *, verified: bool = False) -> int:
    """Compares programs; how many NumPy could run.

    The verifier knows less than scheduling, and refuses some right programs (row 0 and row 1 of
    a matrix, whose lengths are not known): it is asked where it is known to follow.
    """
    ran = 0
    for seed in seeds:
        made, numbers = States(seed), np.random.default_rng(seed)
        n, steps = made.chance.choice(lengths), made.chance.choice((1, 2, 3))
        arrays = [numbers.normal(size=(n, n)) for _ in made.names]
        try:
            wanted = made.by_numpy(arrays, steps)
        except (ValueError, IndexError, ZeroDivisionError):
            continue  # an index that is out of range, or a value that does not fit
        function = made.function()
        if verified:
            verify(function.runner.compilation().optimised)
        for value, other in zip(function(*arrays, steps), wanted, strict=True):
            np.testing.assert_allclose(
                value, other, rtol=1e-9, atol=1e-9, err_msg=f"seed={seed} {made.body}"
            )
        ran += 1
    return ran


def test_states(seed: int) -> None:
    assert agree(range(seed, seed + 25), (0, 1, 3, 4, 5), verified=True) > 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 12_000, 200))
def test_many_states(first: int) -> None:
    agree(range(first, first + 200), (0, 1, 2, 3, 5, 8))


@pytest.mark.slow
def test_states_on_threads() -> None:
    agree(range(20_000, 20_100), (600, 700))
