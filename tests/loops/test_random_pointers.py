"""Random loops in which integers that one step computes are indexes of the next one, by NumPy.

Of their checks some follow from others, and are left out (`sure.py`). Each loop is called with
arrays whose elements are places, and some that are not: IndexError must be raised exactly where
NumPy raises it, and nothing be changed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

STATES = ("k", "l", "p", "q", "t")
MOST = 6  # steps of loops that a condition ends

# Arrays of which it is known what their elements are.
BEGINNINGS: dict[str, Any] = {
    "zeros": lambda module, n: module.zeros((n,), dtype="int64"),
    "counted": lambda module, n: module.arange(n),
    "around": lambda module, n: (module.arange(n) + 1) % n,
}


@dataclass(frozen=True)
class Pointers:
    """The text of a step over numbers and arrays of numbers."""

    text: str
    count: str


def drawn(draw: random.Random) -> Pointers:
    lines = ["def step(i, k, l, p, q, t):", *_body(draw, "    ")]
    kind = draw.random()
    if kind < 0.25:
        lines += ["    def inner(j, k, l, p, q, t):", *_body(draw, "        ")]
        lines += ["        return [k, l, p, q, t]"]
        count = draw.choice(["i", "2", "n - 1", "m"])
        lines += [f"    k, l, p, q, t = loop(0, {count}, inner, [k, l, p, q, t])"]
    elif kind < 0.5:
        lines += ["    def climb(j, k, l, p, q, t):", *_body(draw, "        ")]
        lines += ["        return [j + 1, k, l, p, q, t]"]
        condition = draw.choice(["ne(p[k], k)", "lt(k, l)", "lt(p[l], l)"])
        lines += [
            f"    more = lambda j, k, l, p, q, t: both({condition}, lt(j, {MOST}))",
            "    j, k, l, p, q, t = during(more, climb, [0, k, l, p, q, t])",
        ]
    if draw.random() < 0.4:
        lines += _body(draw, "    ")
    lines.append("    return [k, l, p, q, t]")
    return Pointers("\n".join(lines), draw.choice(["n", "n - 1", "m", "3"]))


def _body(draw: random.Random, indent: str) -> list[str]:
    lines: list[str] = []
    for _ in range(draw.randint(1, 3)):
        if draw.random() < 0.25:
            one, other = _changes(draw), _changes(draw)
            condition = draw.choice(["lt(k, l)", "lt(p[k], q[l])", "ne(k, 0)", "lt(q[k], l)"])
            both = [
                f"[{', '.join(side.get(name, name) for name in STATES)}]" for side in (one, other)
            ]
            lines.append(
                f"k, l, p, q, t = choose({condition}, lambda: {both[0]}, lambda: {both[1]})"
            )
        else:
            lines += [f"{name} = {value}" for name, value in _changes(draw).items()]
        lines.append("t = t + k + 2 * l")  # what no state needs is not computed
    return [indent + line for line in lines]


def _changes(draw: random.Random) -> dict[str, str]:
    """A new value of one of the states."""

    def number() -> str:
        return draw.choice(["k", "k", "l", "p[k]", "q[l]", "most(k, l)", "least(k, l)", "k + 1"])

    def array() -> str:
        return draw.choice("pq")

    name = draw.choice("kklpq")
    if name in "pq":
        return {name: f"put({name}, {number()}, {number()})"}
    value = draw.choice(
        [
            f"{array()}[{number()}]", f"{array()}[{array()}[{number()}]]", "k", "l", "l - 1",
            f"least({array()}[k], {array()}[l])", f"most({number()}, {number()})", "k + 1", "0",
        ]
    )  # fmt: skip
    return {name: value}


def _by_numpy(lower: int, upper: int, body: Any, states: list[Any]) -> list[Any]:
    for number in range(lower, upper):
        states = body(number, *states)
    return states


def _during(more: Any, body: Any, states: list[Any]) -> list[Any]:
    while more(*states):
        states = body(*states)
    return states


def _put(array: Any, place: Any, value: Any) -> Any:
    new = array.copy()
    new[place] = value
    return new


ORACLE = {
    "loop": _by_numpy, "during": _during, "least": min, "most": max, "put": _put,
    "lt": lambda a, b: a < b, "ne": lambda a, b: a != b, "both": lambda a, b: a & b,
    "choose": lambda condition, then, otherwise: then() if condition else otherwise(),
}  # fmt: skip
SYMBOLIC = {
    "loop": symc.fori_loop, "during": symc.while_loop, "least": T.minimum, "most": T.maximum,
    "put": lambda array, place, value: array[place].set(value),
    "lt": T.lt, "ne": T.neq, "both": lambda a, b: a & b,
    "choose": lambda condition, then, otherwise: symc.ifelse(condition, then(), otherwise()),
}  # fmt: skip


def result(program: Pointers, names: dict[str, Any], n: Any, m: Any, states: Any) -> Any:
    """The states after the loop, of numbers or of tensors."""
    scope = dict(names, n=n, m=m)
    exec(program.text, scope)
    return names["loop"](0, eval(program.count, scope), scope["step"], states)


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 600))]
)
def test_random_pointers(seed: int) -> None:
    draw = random.Random(seed)
    program, kind = drawn(draw), draw.choice(["given", "given", *BEGINNINGS])
    k, second, m = T.lscalar("k"), T.lscalar("l"), T.lscalar("m")
    p, q = T.lvector("p"), T.lvector("q")
    first = BEGINNINGS[kind](T, p.shape[0]) if kind in BEGINNINGS else p
    begin = [k, second, first, q, T.constant(0, dtype="int64")]
    found = result(program, SYMBOLIC, p.shape[0], m, begin)
    f = symc.function([k, second, p, q, m], found, on_unused_input="ignore")
    for call in range(30):
        size, generator = draw.choice([1, 2, 3, 4, 5, 6, 8]), np.random.default_rng(call)
        wrong = draw.choice([0, 0, 1])
        low = draw.choice([0, -size - wrong])
        arrays = [generator.integers(low, size + wrong, size) for _ in "pq"]
        numbers = [int(generator.integers(low, size + wrong)) for _ in "kl"]
        far = draw.randint(-1, size)
        given = [np.array(each) for each in (*numbers, *arrays, far)]
        copies = [each.copy() for each in given]
        array = BEGINNINGS[kind](np, size) if kind in BEGINNINGS else arrays[0]
        try:
            wanted = result(program, ORACLE, size, far, [*numbers, array, arrays[1], 0])
        except IndexError:
            with pytest.raises(IndexError):
                f(*given)
        else:
            for one, other in zip(f(*given), wanted, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=program.text)
        for one, other in zip(given, copies, strict=True):
            np.testing.assert_array_equal(one, other)
