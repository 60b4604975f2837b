"""Random programs of any dtype, kept as lines of Python: failures can be printed and run.

A `Script` is made from its seed alone. Each line is executed at once on symbolic tensors, and its
value computed by NumPy, so that the next line can be chosen to fit. Functions of floats are
squashing, and nothing decides on a float that was computed (a comparison could fall either way), so
that all ways to run a program must agree to within rounding.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.errors import SymcError
from symc.graph.interpreter import evaluate
from symc.graph.node import Array, Tensor
from tests.fuzz.lines import Given, Kind, Line, Lines, literal
from tests.fuzz.protocol import usual_modes
from tests.fuzz.running import LineProgram

DTYPES = (
    "float64", "float64", "float32", "float32", "float16", "int64", "int32", "int8", "uint8",
    "uint32", "bool",
)  # fmt: skip
LENGTHS = (0, 1, 1, 2, 3, 5)
LIMIT = 600  # elements

FLOATS = (
    "T.tanh({x})", "T.sigmoid({x})", "T.sin({x})", "-{x}", "{x} * 0.5", "T.exp(-T.abs({x}))",
    "T.sqrt(1 + {x} * {x})", "T.arctan({x})", "T.erf({x})", "T.log(2 + T.tanh({x}))",
    "T.softplus({x})", "T.relu({x})", "1 / (1 + {x} * {x})", "T.clip({x}, -1, 1)",
    "T.cos({x}) ** 2", "T.log(1 + T.exp({x}))", "T.expm1(-T.abs({x}))", "{x}.astype('float64')",
    "T.where({x} * 0 < 1, {x}, 9)",
)  # fmt: skip
INTEGERS = (
    "-{x}", "{x} + 3", "{x} * {x}", "T.abs({x})", "{x} // 3", "{x} % 5", "{x} // -2", "{x} % -3",
    "{x} ** 2", "T.clip({x}, 1, 3)", "{x} & 6", "{x} | 1", "~{x}", "{x} << 1", "{x} >> 1",
    "T.sign({x})", "({x} > 1)", "T.tanh({x})", "{x}.astype('int64')", "{x}.astype('uint8')",
    "{x}.astype('float32')", "{x}.astype('bool')", "T.minimum({x}, 2)",
)  # fmt: skip
BOOLS = ("~{x}", "{x}.astype('int8')", "{x}.astype('float32')", "T.where({x}, 2, 3)", "{x} | {x}")
PAIRS_OF_FLOATS = (
    "{x} + {y}", "{x} - {y}", "T.tanh({x}) * {y}", "{x} / (1 + {y} * {y})", "T.maximum({x}, {y})",
    "T.minimum({x}, {y})", "T.hypot({x}, {y})", "T.where({b}, {x}, {y})",
)  # fmt: skip
PAIRS_OF_INTEGERS = (
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "T.maximum({x}, {y})", "T.minimum({x}, {y})",
    "{x} // ({y} | 1)", "{x} % ({y} | 1)", "{x} < {y}", "T.eq({x}, {y})", "{x} ^ {y}", "{x} & {y}",
    "T.where({x} > {y}, {x}, {y})",
)  # fmt: skip
PAIRS_OF_BOOLS = (
    "{x} & {y}",
    "{x} | {y}",
    "{x} ^ {y}",
    "T.eq({x}, {y})",
    "T.where({x}, {y}, ~{y})",
)
FOLDS_OF_FLOATS = ("mean", "sum", "max", "min", "logsumexp", "var")
FOLDS_OF_INTEGERS = ("sum", "max", "min", "prod", "argmax", "argmin", "mean", "any", "all")
VIEWS = (
    "{x}.T", "T.flip({x})", "{x}.reshape((-1,))", "T.expand_dims({x}, 0)", "{x}[..., None]",
    "{x}[1:]", "{x}[::-2]", "{x}[:-1]", "{x}[-1]", "{x}[{i}]", "{x}[{k}]", "{x}[..., {k}]",
    "T.roll({x}, 1)", "T.tile({x}, 2)", "T.repeat({x}, 2, axis=0)", "T.concatenate([{x}, {x}])",
    "T.stack([{x}, {x}], axis=-1)", "{x}[1:].set({x}[:-1])", "{x}[{k}].inc({x}[{k}])",
    "{x}[::2].set(0)", "T.cumsum({x}, axis=0)", "T.cummax({x}, axis=-1)", "T.pad({x}, 1)",
    "T.tril({x})", "{x}[{x} > 0]",
    "T.broadcast_to({x}, (2, *[{x}.shape[a] for a in range({x}.ndim)]))",
    "T.take({x}, {k}, axis=-1)", "T.swapaxes({x}, 0, -1)", "T.diagonal({x})", "T.nonzero({x})[0]",
    "T.softmax({x}, axis=-1)", "T.softmax({x}, axis=0)", "T.log_softmax({x}, axis=-1)",
    "T.tanh({x} @ {x}.T)", "T.einsum('ij,ij->j', {x}, {x})",
)  # fmt: skip
UPDATES = ("{x}", "{s} + {x}", "{s} * 1 - {x}", "{s}[::-1]", "{s}", "{x}[::-1]", "{s}[:1].set(0)")


@dataclass
class Item:
    """One line of the program: its name, text, tensor and value."""

    name: str
    text: str
    node: Any
    value: Array


@dataclass
class Script:
    """A random program: inputs, shared variables, steps, outputs and updates."""

    seed: int
    steps: int
    items: list[Item] = field(default_factory=list)
    updates: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng([self.seed, self.steps])
        self.space: dict[str, Any] = {"T": T, "np": np, "symc": symc}
        lengths = [int(n) for n in self.rng.choice(LENGTHS, 3)]
        for number in range(int(self.rng.integers(1, 5))):
            self._given(f"x{number}", lengths, shared=False)
        for number in range(int(self.rng.integers(0, 3))):
            self._given(f"s{number}", lengths, shared=True)
        self.given = len(self.items)
        for _ in range(self.steps):
            self._step()
        self.outputs = [item.name for item in self.items[-int(self.rng.integers(1, 4)) :]]
        self._choose_updates()

    # --- making it --------------------------------------------------------------------------------

    def _given(self, name: str, lengths: list[int], *, shared: bool) -> None:
        shape = tuple(lengths[: int(self.rng.integers(0, 4))])
        dtype = str(self.rng.choice(DTYPES))
        value = self._random(dtype, shape)
        if shared:
            text = f"symc.shared({self._literal(value)}, name={name!r})"
        else:
            static = self.rng.random() < 0.5
            declared = tuple(n if static or n == 1 else None for n in shape)
            text = f"T.tensor({dtype!r}, {declared}, name={name!r})"
        self._add(name, text, value)

    def _random(self, dtype: str, shape: tuple[int, ...]) -> Array:
        if dtype == "bool":
            return np.asarray(self.rng.random(shape) < 0.5)
        if dtype.startswith("float"):
            return np.asarray(self.rng.standard_normal(shape).round(3), dtype)
        low = 0 if dtype.startswith("u") else -4
        return np.asarray(self.rng.integers(low, 6, shape), dtype)

    @staticmethod
    def _literal(value: Array) -> str:
        return f"np.array({value.tolist()}, {value.dtype.name!r}).reshape({value.shape})"

    def _add(self, name: str, text: str, value: Array | None = None) -> bool:
        """Runs one line; False where it does not fit."""
        try:
            node = eval(text, self.space)
            if not isinstance(node, Tensor):
                return False
            if value is None:
                known = {item.node: item.value for item in self.items}
                with np.errstate(all="ignore"):
                    (value,) = evaluate([node], known)
        except (SymcError, TypeError, ValueError, IndexError, OverflowError):
            return False
        if value.size > LIMIT or value.ndim > 4 or not np.isfinite(value).all():
            return False
        self.space[name] = node
        self.items.append(Item(name, text, node, value))
        return True

    def _pick(self, fits: Callable[[Item], bool] = lambda item: True) -> Item | None:
        found = [item for item in self.items if fits(item)]
        if len(found) > 8 and self.rng.random() < 0.7:
            found = found[-8:]
        return found[int(self.rng.integers(len(found)))] if found else None

    def _step(self) -> None:
        x = self._pick()
        assert x is not None
        kind = {"f": 0, "i": 1, "u": 1, "b": 2}[x.value.dtype.kind]
        choice = self.rng.random()
        if choice < 0.3:
            text = self._one((FLOATS, INTEGERS, BOOLS)[kind])
        elif choice < 0.5:
            text = self._one((PAIRS_OF_FLOATS, PAIRS_OF_INTEGERS, PAIRS_OF_BOOLS)[kind])
        elif choice < 0.65:
            text = self._fold(x, kind)
        else:
            text = self._one(VIEWS)
            if kind == 0 and ("> 0" in text or "nonzero" in text):
                return  # decides on a float
        y = self._pick(lambda item: self._combines(x, item))
        b = self._pick(lambda item: item.value.dtype == bool and item.value.shape == x.value.shape)
        if ("{y}" in text and y is None) or ("{b}" in text and b is None):
            return
        length = x.value.shape[0] if x.value.ndim else 0
        last = x.value.shape[-1] if x.value.ndim else 0
        bound = min(length, last)
        if ("{k}" in text or "{i}" in text) and not bound:
            return
        names = {
            "x": x.name, "y": y.name if y else "", "b": b.name if b else "",
            "i": int(self.rng.integers(-bound, bound)) if bound else 0,
            "k": f"np.array({[int(i) for i in self.rng.integers(-bound, max(bound, 1), 3)]})",
        }  # fmt: skip
        text = text.format(**names)
        self._add(f"v{len(self.items)}", text)

    def _combines(self, x: Item, y: Item) -> bool:
        kinds = x.value.dtype.kind, y.value.dtype.kind
        same = kinds[0] == kinds[1] or set(kinds) <= {"i", "u"}
        return same and (x.value.shape == y.value.shape or y.value.ndim == 0)

    def _one(self, texts: tuple[str, ...]) -> str:
        return texts[int(self.rng.integers(len(texts)))]

    def _fold(self, x: Item, kind: int) -> str:
        name = self._one(FOLDS_OF_FLOATS if kind == 0 else FOLDS_OF_INTEGERS)
        rank = x.value.ndim
        axis: Any = None
        if rank and self.rng.random() < 0.8:
            axis = int(self.rng.integers(-rank, rank))
        keep = name not in ("argmax", "argmin") and bool(self.rng.random() < 0.4)
        text = f"T.{name}({{x}}, axis={axis}" + (f", keepdims={keep})" if keep else ")")
        return f"T.tanh({text})" if kind == 0 else text

    def _choose_updates(self) -> None:
        for s in self.items[: self.given]:
            if not s.name.startswith("s"):
                continue
            fitting = [
                item for item in self.items
                if item.value.shape == s.value.shape and item.value.dtype == s.value.dtype
            ]  # fmt: skip
            for _ in range(8):
                x = fitting[int(self.rng.integers(len(fitting)))]
                text = self._one(UPDATES).format(s=s.name, x=x.name)
                before = len(self.items)
                if self._add(f"n{s.name}", text):
                    new = self.items[-1]
                    if new.value.shape == s.value.shape and new.value.dtype == s.value.dtype:
                        self.updates.append((s.name, new.name))
                        break
                    del self.items[before:]

    # --- using it ---------------------------------------------------------------------------------

    def item(self, name: str) -> Item:
        """The line of a name."""
        return next(item for item in self.items if item.name == name)


# --- running them ---------------------------------------------------------------------------------


def lines_of(script: Script) -> Lines:
    """The script as lines that can be cut and run; its oracle is symc's ops in NumPy."""
    given: list[Given] = []
    lines: list[Line] = []
    for number, item in enumerate(script.items):
        if number < script.given:
            known = tuple(isinstance(dim, int) for dim in item.node.type.shape)
            given.append(Given(item.name, literal(item.value), known, item.name.startswith("s")))
            continue
        args = tuple(dict.fromkeys(_NAME.findall(item.text)))
        text = item.text
        for place, arg in enumerate(args):
            text = re.sub(rf"\b{arg}\b", f"{{{place}}}", text)
        kind: Kind = "sums" if item.value.dtype.kind == "f" else "exact"
        lines.append(Line(item.name, text, None, args, kind))
    updates = tuple(script.updates)
    calls = 2 if updates else 1
    return Lines(tuple(given), tuple(lines), tuple(script.outputs), updates, (), calls).needed()


_NAME = re.compile(r"\b(?:[xsv]|ns)\d+\b")


class Scripts:
    """The generator."""

    name = "scripts"

    def generate(self, seed: int) -> LineProgram:
        """A script of 3 to 44 steps."""
        return LineProgram(lines_of(Script(seed, 3 + seed % 42)))

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones."""
        return usual_modes(seed)


GENERATOR = Scripts()
