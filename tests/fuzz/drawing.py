"""Lines drawn from the vocabulary, and values to give to programs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symc.graph.node import Array
from tests.fuzz.entries import Entry
from tests.fuzz.lines import literal
from tests.fuzz.vocabulary import FAMILIES

DTYPES = (
    "float64", "float64", "float64", "float32", "float32", "float16", "int64", "int64", "int32",
    "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool", "bool", "complex128",
    "complex64",
)  # fmt: skip
LENGTHS = (0, 1, 1, 2, 3, 3, 4, 5, 7)
LARGE = (0, 1, 2, 5, 17, 33, 64, 130)

_KINDS = {"f": "f", "c": "c", "i": "iu", "n": "fiu", "b": "b", "x": "fiubc"}


def value_of(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], special: float) -> Any:
    """Random elements; each with the chance `special` one of those that programs stumble over."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind == "c":
        half = "float64" if dtype == "complex128" else "float32"
        parts = [value_of(rng, half, shape, special) for _ in range(2)]
        return np.asarray(parts[0] + 1j * parts[1], dtype)
    if kind in "iu":
        low = 0 if kind == "u" else -4
        value = np.asarray(rng.integers(low, 6, shape), dtype)
        limits: Any = np.iinfo(dtype)
        odd = [0, 1, limits.max, limits.min, limits.max - 1, limits.min + 1, limits.max // 2, 100]
    else:
        value = np.asarray((rng.standard_normal(shape) * 2).round(3), dtype)
        limits = np.finfo(dtype)
        odd = [
            0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, limits.max, limits.min, limits.tiny,
            limits.smallest_subnormal, -limits.smallest_subnormal, limits.eps, 0.5, -0.5, 2.0,
            1 + limits.eps, 1 - limits.eps / 2, 1e3, -1e3, np.pi, 2.5, -3.5, limits.tiny / 4,
        ]  # fmt: skip
    chosen = np.asarray([odd[i] for i in rng.integers(len(odd), size=value.size)], dtype)
    return np.asarray(np.where(rng.random(shape) < special, chosen.reshape(shape), value), dtype)


class Drawing:
    """Draws entries, arguments that fit them, and the words that their texts leave open."""

    def __init__(self, rng: np.random.Generator, favour: Mapping[str, float] | None = None) -> None:
        self.rng = rng
        self.weights = favour or {name: weight for name, (_, weight) in FAMILIES.items()}

    def pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def entry(self) -> Entry:
        """Any of the table."""
        names = list(self.weights)
        weights = np.array([self.weights[name] for name in names], float)
        family = names[int(self.rng.choice(len(names), p=weights / weights.sum()))]
        found: Entry = self.pick(FAMILIES[family][0])
        return found

    def arguments(self, entry: Entry, pool: dict[str, Array]) -> list[str] | None:
        """Names of values that fit, late ones more often; None if there are none."""
        chosen: list[str] = []
        for need in entry.needs.split():
            first = pool[chosen[0]] if chosen else None
            fits = [name for name, value in pool.items() if _fits(need, value, first)]
            if not fits:
                return None
            chosen.append(self.pick(fits[-5:] if self.chance(0.65) else fits))
        return chosen

    def filled(self, text: str, args: Sequence[Array]) -> str | None:
        """A text with all that it leaves open, arguments excepted; None where nothing fits."""
        x = args[0]
        n = x.shape[0] if x.ndim else 0
        last = x.shape[-1] if x.ndim else 0
        found: dict[str, str] = {}
        for name in sorted(set(re.findall(r"{([a-z]\w*)}", text))):
            if (name in ("i", "j", "k") and not n) or (name == "kl" and not last):
                return None
            if name in ("a", "a2") and not x.ndim:
                return None
            found[name] = self._open(name, x, n, last)
        for name, value in found.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def _open(self, name: str, x: Array, n: int, last: int) -> str:
        rng, rank = self.rng, x.ndim
        match name:
            case "a" | "a2":
                return str(int(rng.integers(-rank, rank)))
            case "ax":
                return "None" if not rank or self.chance(0.3) else self._open("a", x, n, last)
            case "axes":
                if not rank or self.chance(0.3):
                    return "None"
                if self.chance(0.6):
                    return self._open("a", x, n, last)
                count = int(rng.integers(1, rank + 1))
                axes = rng.choice(rank, count, replace=False).tolist()
                return str(tuple(int(a) for a in axes))
            case "keep":
                return str(self.chance(0.4))
            case "n":
                return str(int(rng.integers(0, 4)))
            case "i" | "j":
                return str(int(rng.integers(-n, n)))
            case "k":
                return str(rng.integers(-n, n, int(rng.integers(1, 5))).tolist())
            case "kl":
                return str(rng.integers(-last, last, int(rng.integers(1, 5))).tolist())
            case "p":
                return str(tuple(int(a) for a in rng.permutation(rank)))
            case "cut":
                return self._cut(rank)
            case "idx":
                return self._index(x)
            case "shape":
                return self._shape(x)
            case _:
                raise ValueError(f"no {{{name}}}")

    def _slice(self) -> str:
        ends = [str(int(i)) if self.chance(0.5) else "" for i in self.rng.integers(-4, 5, 2)]
        step = self.pick(["", "", ":2", ":-1", ":-2", ":3"])
        return f"{ends[0]}:{ends[1]}{step}"

    def _cut(self, rank: int) -> str:
        count = int(self.rng.integers(0, rank + 1))
        parts = [self._slice() for _ in range(count)]
        if self.chance(0.25):
            parts.append("...")
        return ", ".join(parts) or "..."

    def _index(self, x: Array) -> str:
        """Any index: slices, numbers, lists, new axes."""
        parts: list[str] = []
        length = int(self.rng.integers(1, 4))
        for n in x.shape[: int(self.rng.integers(0, x.ndim + 1))]:
            kind = self.pick(["slice", "slice", "slice", "number", "list", "new"])
            if kind == "new":
                parts.append("None")
            if kind == "number" and n:
                parts.append(str(int(self.rng.integers(-n, n))))
            elif kind == "list" and n:
                parts.append(str(self.rng.integers(-n, n, length).tolist()))
            else:
                parts.append(self._slice())
        if self.chance(0.2):
            parts.append("...")
        return ", ".join(parts) or "..."

    def _shape(self, x: Array) -> str:
        left, shape = x.size, list[int]()
        while left > 1 and len(shape) < 3:
            divisors = [d for d in range(1, left + 1) if left % d == 0]
            shape.append(int(self.pick(divisors)))
            left //= shape[-1]
        if left > 1 or not shape:
            shape.append(left)
        if self.chance(0.4) and x.size:
            shape[int(self.rng.integers(len(shape)))] = -1
        return str(tuple(shape))


def _fits(need: str, value: Array, first: Array | None) -> bool:
    """Whether a value satisfies a word of the table."""
    if value.dtype.kind not in _KINDS[need[0]]:
        return False
    rest = need[1:]
    if rest.endswith("q"):
        return value.ndim == 2 and value.shape[0] == value.shape[1] > 0
    if rest == "=":
        return first is not None and value.shape == first.shape
    if rest == "~":
        return first is not None and _broadcast(value.shape, first.shape)
    if rest.endswith("+"):
        return value.ndim >= int(rest[:-1])
    return not rest or value.ndim == int(rest)


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(one, other)
    except ValueError:
        return False
    return True


def given_text(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], special: float) -> str:
    """The text of a random value; that of a large one is short."""
    size = int(np.prod(shape))
    if size > 200:
        seed = int(rng.integers(1 << 30))
        kind = np.dtype(dtype).kind
        if kind in "fc":
            return f"(np.random.default_rng({seed}).standard_normal({shape}) * 2).astype('{dtype}')"
        if kind == "b":
            return f"np.random.default_rng({seed}).random({shape}) < 0.5"
        return f"np.random.default_rng({seed}).integers(0, 6, {shape}).astype('{dtype}')"
    return literal(value_of(rng, dtype, shape, special))
