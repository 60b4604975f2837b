"""Random loops that read and write at indexes which follow from counters and lengths, by NumPy.

Such indexes are proven to be in range, or wrapped and checked: each loop is called with arrays of
several lengths and other bounds, of which some must raise IndexError and change nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

# What does not change from step to step is computed before a loop, and its errors are raised then,
# though the loop has no step. So these are in range, or they change.
NUMBERS = [
    "i", "i + 1", "i - 1", "n - 1 - i", "n - i", "2 * i", "i // 2", "-i", "-1 - i", "0", "-1",
    "m - i", "i - m", "i + m", "p[i]", "p[n - 1 - i]", "least(i, m)", "most(i, m - 1)",
    "least(i + 1, n - 1)", "most(i - 1, 0)", "least(most(i - m, 0), n - 1)",
    "n - 1 - least(i, n - 1)",
]  # fmt: skip
INNER = [
    "j", "j - 1", "i - j", "n - 1 - j", "i + j", "most(j - i, 0)", "least(i, j)", "p[j]", "0",
    "least(i + j, n - 1)", "n - 1 - i + j", "m - j",
]  # fmt: skip
COUNTS = ["n", "n - 1", "m", "n - m", "least(n, m)", "n + 1"]


@dataclass(frozen=True)
class Program:
    """The text of a step, and from where to where it is repeated."""

    text: str
    lower: str
    upper: str
    vectors: int


def drawn(draw: random.Random) -> Program:
    vectors = draw.choice([1, 2, 2])
    names = ", ".join([*(f"v{number}" for number in range(vectors)), "t"])
    lines = [f"def step(i, n, m, p, {names}):"]
    lines += [f"    {_statement(draw, vectors, NUMBERS)}" for _ in range(draw.randint(1, 3))]
    if draw.random() < 0.4:
        lines.append(f"    def inner(j, {names}):")
        lines += [f"        {_statement(draw, vectors, INNER)}" for _ in range(draw.randint(1, 2))]
        count = draw.choice(["i", "i + 1", "n - i", "n - 1 - i", *COUNTS])
        lines += [f"        return [{names}]", f"    return loop(0, {count}, inner, [{names}])"]
    else:
        lines.append(f"    return [{names}]")
    return Program(
        "\n".join(lines), draw.choice(["0", "0", "1", "m"]), draw.choice(COUNTS), vectors
    )


def _statement(draw: random.Random, vectors: int, numbers: Sequence[str]) -> str:
    """A statement whose every read is part of a later state: what nobody needs is not computed."""

    def vector() -> str:
        return f"v{draw.randrange(vectors)}"

    def number() -> str:
        return draw.choice(numbers)

    step = draw.choice(["None", "None", "2", "-1", "-2"])
    bounds = [draw.choice([number(), number(), number(), "m", "2", "None"]) for _ in "ab"]
    part = f"slice({bounds[0]}, {bounds[1]}, {step})"
    read = draw.choice(
        [f"{vector()}[{number()}]", f"({vector()}[{part}] - 0.4 * {vector()}[{part}]).sum()"]
    )
    kind = draw.random()
    if kind < 0.25:
        return f"t = t * 0.5 + {read}"
    name = vector()
    if kind < 0.7:
        return f"{name} = add({name}, {number()}, {read} * 0.3)"
    if kind < 0.85:
        return f"{name} = add({name}, {part}, {read} * 0.3)"
    return f"{name} = put({name}, {part}, {name}[{part}] * 0.5 + {vector()}[{part}] * 0.3)"


def _by_numpy(lower: int, upper: int, body: Any, states: list[Any]) -> list[Any]:
    for number in range(lower, upper):
        states = body(number, *states)
    return states


def _put(array: Any, place: Any, value: Any) -> Any:
    new = array.copy()
    new[place] = value
    return new


ORACLE = {
    "loop": _by_numpy, "least": min, "most": max, "put": _put,
    "add": lambda array, place, value: _put(array, place, array[place] + value),
}  # fmt: skip
SYMBOLIC = {
    "loop": symc.fori_loop, "least": T.minimum, "most": T.maximum,
    "put": lambda array, place, value: array[place].set(value),
    "add": lambda array, place, value: array[place].inc(value),
}  # fmt: skip


def result(program: Program, names: dict[str, Any], n: Any, m: Any, p: Any, states: Any) -> Any:
    """The states after the loop, of arrays or of tensors."""
    scope = dict(names, n=n, m=m)
    exec(program.text, scope)
    lower, upper = eval(program.lower, scope), eval(program.upper, scope)
    return names["loop"](lower, upper, lambda i, *now: scope["step"](i, n, m, p, *now), states)


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 400))]
)
def test_random_indexes(seed: int) -> None:
    draw = random.Random(seed)
    program, is_given = drawn(draw), draw.random() < 0.3
    vectors = [T.vector(f"v{number}") for number in range(program.vectors)]
    t, n, m, p = T.scalar("t"), T.lscalar("n"), T.lscalar("m"), T.lvector("p")
    length = n if is_given else vectors[-1].shape[0]
    found = result(program, SYMBOLIC, length, m, p, [*vectors, t])
    f = symc.function([*vectors, t, n, m, p], found, on_unused_input="ignore")
    for call in range(30):
        size, generator = draw.choice([1, 2, 3, 4, 5, 6, 8]), np.random.default_rng(call)
        far, extra = draw.randint(-1, size), int(draw.random() < 0.1)
        places = generator.integers(-size - extra, size + extra, size)
        begin = [*(generator.normal(size=size) for _ in vectors), 0.5]
        given = [np.array(each) for each in (*begin, size, far, places)]
        copies = [each.copy() for each in given]
        try:
            wanted = result(program, ORACLE, size, far, places.tolist(), begin)
        except IndexError:
            with pytest.raises(IndexError):
                f(*given)
        else:
            for one, other in zip(f(*given), wanted, strict=True):
                scale = max(1.0, float(np.abs(other).max()))
                np.testing.assert_allclose(
                    one / scale, other / scale, 0, 1e-10, err_msg=str(program)
                )
        for one, other in zip(given, copies, strict=True):
            np.testing.assert_array_equal(one, other)
