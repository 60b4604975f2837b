"""Random programs that update shared variables from themselves and from each other.

A value that an update overwrites may still be wanted: by the same update at another place, by other
updates, by outputs, by loops and routines. So values move here - rolled, reversed, transposed,
reshaped, gathered, joined, written into each other - far more than they are computed with, and
variables swap and rotate.

A program is a seed's choice of lines of Python; `UpdateProgram.script` is those lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.errors import SymcError
from symc.graph.inputs import SharedVariable
from symc.graph.interpreter import evaluate
from symc.graph.node import Array, Tensor

DTYPES = ("float64", "float64", "int64", "int64", "float32", "int8")
SHAPES: tuple[tuple[int, ...], ...] = (
    (6,), (2, 3), (3, 2), (3, 3), (4,), (1,), (), (5, 1), (1, 6), (2, 2, 3), (12,), (0,), (8, 3),
)  # fmt: skip
LIMIT = 200  # elements

# {x}, {y}, {z}: values, y of the same shape as x, z of any. {s}: a variable. {k}: an array of
# indexes of x's first axis, with repetitions. {i}: a small number, {a}: an axis of x.
MOVES = (
    "T.roll({x}, {i})", "T.roll({x}, {i})", "T.roll({x}, {i}, axis={a})", "T.flip({x})",
    "T.flip({x}, {a})", "{x}.T", "{x}.T.reshape({x}.shape)", "T.swapaxes({x}, 0, -1)",
    "{x}.reshape((-1,))", "{x}.ravel()[::-1].reshape({x}.shape)", "T.roll({x}.ravel(), {i})",
    "{x}.reshape((-1, 2))", "{x}.reshape((2, -1))", "T.expand_dims({x}, 0)", "{x}[..., None]",
    "{x}[::-1]", "{x}[1:]", "{x}[:-1]", "{x}[::2]", "{x}[::-2]", "{x}[-1]", "{x}[..., ::-1]",
    "{x}[{k}]", "{x}[{k}]", "{x}[k]", "T.take({x}, {k}, axis=0)",
    "T.concatenate([{x}, {y}])", "T.concatenate([{x}[::2], {x}[1::2]])",
    "T.concatenate([{x}[1:], {x}[:1]])", "T.concatenate([{x}.ravel()[::2], {x}.ravel()[1::2]])",
    "T.stack([{x}, {y}], axis=-1)", "T.tile({x}, 2)", "T.repeat({x}, 2, axis=0)",
    "T.sort({x}, axis=-1)", "T.cumsum({x}, axis={a})", "T.tril({x})", "T.pad({x}, 1)[1:-1]",
    "T.diagonal({x})", "T.broadcast_to({x}, (2, *[{x}.shape[a] for a in range({x}.ndim)]))",
)  # fmt: skip
WRITES = (
    "{x}[1:].set({x}[:-1])", "{x}[:-1].set({x}[1:])", "{x}[::-1].set({x})", "{x}[::2].inc({x}[0])",
    "{x}[{k}].inc({x}[{k}])", "{x}[{k}].inc({x}[{k}])", "{x}[{k}].set({x}[{k}])",
    "{x}[k].inc({x}[k])", "{x}[k].set({y}[k])", "{x}[{k}].inc(2)", "{x}[:1].set({x}[-1:])",
    "{x}[1:].inc({y}[1:])", "{x}[0].set({x}.sum(axis=0))", "{x}[1:].inc({x}[1:])",
    "{x}.ravel()[::2].set(1).reshape({x}.shape)", "T.zeros_like({x})[{k}].inc({x}[{k}])",
    "{x}.ravel()[{k}].inc({x}.ravel()[{k}]).reshape({x}.shape)",
)  # fmt: skip
SUMS = (
    "{x} + {y}", "{x} - {y}", "{x} * 2 - 1", "{x} + {x}.sum()", "{y} - {x}.max()",
    "{x} + {z}.sum()", "{x}.sum(axis=0)", "{x} - {x}.min(axis=0)", "T.maximum({x}, {y})",
    "{x} + {y}[::-1]", "{x}.max(axis={a}, keepdims=True) - {x}",
    "T.minimum({x}, T.roll({y}, 1))", "T.max({x})",
)  # fmt: skip
FLOATS = (
    "T.tanh({x})", "{x} * 0.5", "T.exp(-T.abs({x}))", "T.softmax({x}, axis={a})",
    "T.sin({x} + {y})", "T.tanh({x} @ {x}.T)", "T.tanh({x}.T @ {y})", "T.tanh({x} @ {z})",
    "T.tanh(T.dot({z}, {x}))",
    "T.tanh({x}.reshape((-1, 2)).T @ {x}.reshape((-1, 2)))", "{x} / (1 + T.sqr({x}.sum()))",
)  # fmt: skip
INTEGERS = ("{x} % 7", "-{x}", "T.where({x} > {y}, {x}, T.roll({x}, 1))", "{x} // 2", "{x} ^ {y}")
LOOPS = (
    "symc.fori_loop(0, {n}, lambda i, v: T.roll(v, 1) - 1, {x})",
    "symc.fori_loop(0, {n}, lambda i, v: v[0].set(v[-1]) + {y}, {x})",
    "symc.fori_loop(0, {x}.shape[0], lambda i, v: v[i].inc({x}[:i].sum()), {x})",
    "symc.fori_loop(0, {x}.shape[0], lambda i, v: v[i:].inc(v[:1]), {x})",
    "symc.scan(lambda row, v: (v[::-1] + row), {x}, [{x}[0]])[0]",
    "symc.scan(lambda v: T.roll(v, 1) + 1, None, [{x}], n_steps={n})[0][-1]",
    "symc.scan(lambda row: row + {y}[0], {x})[0][::-1]",
    "symc.ifelse({x}.sum() > 1, T.roll({x}, 1), {y}[::-1])",
)
UPDATED_IN_LOOPS = (
    "symc.scan(lambda: {{{s}: T.roll({s}, 1)}}, n_steps={n})[1][{s}]",
    "symc.scan(lambda: {{{s}: {s} + {z}.sum()}}, n_steps={n})[1][{s}]",
    "symc.scan(lambda: {{{s}: {s}[::-1] - 1}}, n_steps={n})[1][{s}]",
)
# New values of a variable, beside values that fit anyhow.
UPDATES = (
    "{s}", "T.roll({s}, 1)", "{s}[::-1]", "{s} + {z}.sum()", "{s}.T.reshape({s}.shape)",
    "{s}.ravel()[::-1].reshape({s}.shape)", "T.roll({s}.ravel(), -1).reshape({s}.shape)",
    "{s}[k].inc({s}[k])", "{s}[1:].set({s}[:-1])", "{s} - {s}.sum()", "{s} + 1", "T.sort({s})",
)  # fmt: skip
OTHERS = ("{o}", "{o}", "{o}[::-1]", "{o} + {s}", "T.roll({o}, 1)", "{o}.T", "{s} - {o}[::-1]")


@dataclass(frozen=True)
class Made:
    """The tensors of a program, its variables fresh ones."""

    space: dict[str, Any]
    variables: dict[str, SharedVariable]
    outputs: list[Tensor]
    updates: list[tuple[SharedVariable, Tensor]]


@dataclass(frozen=True)
class UpdateProgram:
    """Variables, inputs and lines, all as names with texts; `calls` is how often it is called."""

    seed: int
    variables: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str], ...]
    values: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]
    updates: tuple[tuple[str, str], ...]
    calls: int

    def made(self) -> Made:
        """Runs the lines."""
        space: dict[str, Any] = {"T": T, "np": np, "symc": symc}
        for name, text in (*self.variables, *self.inputs, *self.lines):
            space[name] = eval(text, space)
        variables = {name: space[name] for name, _ in self.variables}
        updates = [(space[name], eval(text, space)) for name, text in self.updates]
        return Made(space, variables, [space[name] for name in self.outputs], updates)

    def arguments(self) -> list[Array]:
        """The values of the inputs."""
        return [eval(text, {"np": np}) for text in self.values]

    def smaller(self) -> Iterator[UpdateProgram]:
        """Programs with one part less, the smallest first."""
        if self.calls > 1:
            yield replace(self, calls=1)
        for number in range(len(self.outputs)):
            yield replace(self, outputs=_without(self.outputs, number)).pruned()
        for number in range(len(self.updates)):
            yield replace(self, updates=_without(self.updates, number)).pruned()

    def pruned(self) -> UpdateProgram:
        """The same with only the lines and variables that matter."""
        needed = {*self.outputs, *(name for name, _ in self.updates)}
        for _, text in self.updates:
            needed |= _names(text)
        for name, text in reversed(self.lines):
            if name in needed:
                needed |= _names(text)
        lines = tuple(line for line in self.lines if line[0] in needed)
        variables = tuple(line for line in self.variables if line[0] in needed)
        return replace(self, lines=lines, variables=variables)

    def script(self, mode: str) -> str:
        """Lines of Python that print the program's results in a mode, and the right ones."""
        inputs = ", ".join(name for name, _ in self.inputs)
        updates = ", ".join(f"({name}, {text})" for name, text in self.updates)
        kept = ", ".join(f"{name}.get_value()" for name, _ in self.variables)
        lines = ["import numpy as np, symc, symc.tensor as T", "def run(mode):"]
        given = (*self.variables, *self.inputs, *self.lines)
        lines += [f"    {name} = {text}" for name, text in given]
        wanted = f"[{inputs}], [{', '.join(self.outputs)}], updates=[{updates}], mode=mode"
        lines += [
            f"    f = symc.function({wanted}, on_unused_input='ignore')",
            f"    for _ in range({self.calls}):",
            f"        print(mode, *f({', '.join(self.values)}), sep='\\n')",
            f"    print({kept}, sep='\\n')",
            *(f"run({chosen!r})" for chosen in dict.fromkeys((mode, "python"))),
        ]
        return "\n".join(lines)


def _without(parts: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    return (*parts[:number], *parts[number + 1 :])


def _names(text: str) -> set[str]:
    return set(re.findall(r"\b[svx]\d+\b", text))


@dataclass
class _Item:
    """One line: its name, tensor and value."""

    name: str
    node: Tensor
    value: Array


class _Maker:
    """Makes a program of a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng([seed, 12])
        self.dtype = self.one(DTYPES)
        self.space: dict[str, Any] = {"T": T, "np": np, "symc": symc}
        self.items: list[_Item] = []
        self.variables: list[tuple[str, str]] = []
        self.inputs: list[tuple[str, str]] = []
        self.values: list[str] = []
        self.lines: list[tuple[str, str]] = []

    def program(self) -> UpdateProgram:
        self.given()
        for _ in range(int(self.rng.integers(2, 12))):
            self.line()
        outputs = [item.name for item in self.items if self.chance(0.15)][:4]
        updates = self.updates()
        calls = int(self.rng.integers(1, 4))
        return UpdateProgram(
            self.seed, tuple(self.variables), tuple(self.inputs), tuple(self.values),
            tuple(self.lines), tuple(outputs), tuple(updates), calls,
        ).pruned()  # fmt: skip

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one(self, items: Sequence[Any]) -> Any:
        return items[int(self.rng.integers(len(items)))]

    # --- arguments --------------------------------------------------------------------------------

    def given(self) -> None:
        """Variables, most of one number of elements; an input of their kind, and indexes."""
        shape = self.one(SHAPES)
        size = int(np.prod(shape))
        alike = [other for other in SHAPES if int(np.prod(other)) == size]
        for number in range(int(self.rng.integers(1, 5))):
            own = shape if self.chance(0.5) else self.one(alike if self.chance(0.7) else SHAPES)
            name, value = f"s{number}", self.random(own)
            lengths = tuple(None if self.chance(0.5) else n for n in own)
            declared = f", shape={lengths}" if None in lengths and self.chance(0.5) else ""
            text = f"symc.shared({literal(value)}, name={name!r}{declared})"
            self.variables.append((name, text))
            self.add(name, text, value)
        value = self.random(shape)
        unknown = tuple(None for _ in shape)
        self.input("x0", f"T.tensor({self.dtype!r}, {unknown}, name='x0')", value)
        low = min((item.value.shape or (1,))[0] for item in self.items)
        indexes = self.rng.integers(-low, low, 3) if low else np.zeros(0, np.int64)
        self.input("k", "T.lvector('k')", np.asarray(indexes, np.int64))

    def input(self, name: str, text: str, value: Array) -> None:
        self.inputs.append((name, text))
        self.values.append(literal(value))
        self.add(name, text, value)

    def random(self, shape: tuple[int, ...]) -> Array:
        if self.dtype.startswith("float"):
            return np.asarray(self.rng.standard_normal(shape).round(2), self.dtype)
        return np.asarray(self.rng.integers(-4, 9, shape), self.dtype)

    # --- lines ------------------------------------------------------------------------------------

    def add(self, name: str, text: str, value: Array | None = None) -> bool:
        """Runs a line; False where it does not fit."""
        try:
            node = eval(text, self.space)
            if not isinstance(node, Tensor):
                return False
            if value is None:
                known = {item.node: item.value for item in self.items}
                with np.errstate(all="ignore"):
                    (value,) = evaluate([node], known)
        except (SymcError, TypeError, ValueError, IndexError):
            return False
        if value.size > LIMIT or value.ndim > 4 or not np.isfinite(value).all():
            return False
        self.space[name] = node
        self.items.append(_Item(name, node, value))
        return True

    def line(self) -> None:
        own = FLOATS if self.dtype.startswith("float") else INTEGERS
        tables = (MOVES, MOVES, MOVES, WRITES, WRITES, SUMS, own, LOOPS)
        text = self.filled(self.one(self.one(tables)))
        name = f"v{len(self.lines)}"
        if text is not None and self.add(name, text):
            self.lines.append((name, text))

    def pick(self, fits: Callable[[_Item], bool]) -> _Item | None:
        found = [item for item in self.items if item.name != "k" and fits(item)]
        recent = found[-4:] if self.chance(0.4) else found
        return self.one(recent) if recent else None

    def filled(self, text: str, **names: str) -> str | None:
        """A text with values for all that it leaves open."""
        x = self.pick(lambda item: True)
        assert x is not None
        y = self.pick(lambda item: item.value.shape == x.value.shape)
        z = self.pick(lambda item: True)
        assert y is not None
        assert z is not None
        length = x.value.shape[0] if x.value.ndim else 0
        if "{k}" in text and not length:
            return None
        indexes = [int(i) for i in self.rng.integers(-length, max(length, 1), 3)]
        return text.format(
            **{
                "x": x.name, "y": y.name, "z": z.name, "k": f"np.array({indexes})",
                "i": self.one((1, -1, 2, 5)), "a": int(self.rng.integers(max(x.value.ndim, 1))),
                "n": int(self.rng.integers(0, 4)), **names,
            }
        )  # fmt: skip

    # --- updates ----------------------------------------------------------------------------------

    def updates(self) -> list[tuple[str, str]]:
        """New values: swaps and cycles, moves of a variable itself, lines, and loops."""
        variables = [item for item in self.items if item.name.startswith("s")]
        shift = int(self.rng.integers(len(variables))) if self.chance(0.4) else None
        found: list[tuple[str, str]] = []
        for number, s in enumerate(variables):
            for _ in range(12):
                if shift is not None and self.chance(0.8):
                    text = self.one(OTHERS).format(
                        s=s.name, o=variables[(number + shift) % len(variables)].name
                    )
                elif self.chance(0.15):
                    text = self.filled(self.one(UPDATED_IN_LOOPS), s=s.name)
                elif self.chance(0.4):
                    text = self.filled(self.one(UPDATES), s=s.name)
                else:
                    text = self.one(self.items).name
                fitted = None if text is None else self.fitted(s, text)
                if fitted is not None:
                    found.append((s.name, fitted))
                    break
        return [found[int(n)] for n in self.rng.permutation(len(found))]

    def fitted(self, s: _Item, text: str) -> str | None:
        """A text for a new value of a variable, reshaped if need be; None if it does not fit."""
        for attempt in (text, f"({text}).reshape({s.name}.shape)"):
            before = len(self.items)
            fits = self.add("new", attempt) and self.suits(s, self.items[-1])
            del self.items[before:]
            if fits:
                return attempt
        return None

    def suits(self, s: _Item, new: _Item) -> bool:
        if new.value.shape != s.value.shape or new.value.dtype != s.value.dtype:
            return False
        try:
            updates: list[Any] = [(s.node, new.node)]
            symc.function([], [], updates=updates, givens=self.stand_ins(), mode="python")
        except SymcError:
            return False
        return True

    def stand_ins(self) -> list[tuple[Tensor, Tensor]]:
        """Constants for the inputs."""
        given = {name for name, _ in self.inputs}
        return [(i.node, T.constant(i.value)) for i in self.items if i.name in given]


def literal(value: Array) -> str:
    """An array as Python."""
    return f"np.array({value.tolist()}, {value.dtype.name!r}).reshape({value.shape})"


def generate(seed: int) -> UpdateProgram:
    """The program of a seed."""
    return _Maker(seed).program()
