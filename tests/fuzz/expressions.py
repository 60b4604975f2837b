"""Random expressions of any dtype, of every function that NumPy and `T` share, with odd numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.errors import SymcError
from symc.graph.node import Array, Tensor
from tests.fuzz.drawing import DTYPES, LARGE, LENGTHS, Drawing, given_text
from tests.fuzz.entries import Entry
from tests.fuzz.lines import Given, Line, Lines, numpy_space
from tests.fuzz.protocol import usual_modes
from tests.fuzz.running import LineProgram

LIMIT = 800  # elements of a value
REFUSALS: Counter[tuple[str, str]] = Counter()
"""Programs that NumPy takes and symc has refused, with the errors: for whoever looks into it."""


class Writer:
    """Writes a program line by line, with values and tensors of all lines at hand."""

    def __init__(
        self, rng: np.random.Generator, limit: int = LIMIT, dtypes: Sequence[str] = DTYPES,
        favour: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        self.rng, self.limit, self.dtypes = rng, limit, dtypes
        self.drawing = Drawing(rng, favour)
        self.values: dict[str, Array] = {}
        self.symbols: dict[str, Any] = {
            "T": T, "np": np, "symc": symc, "nan": np.nan, "inf": np.inf
        }  # fmt: skip
        self.space = numpy_space()
        self.given: list[Given] = []
        self.lines: list[Line] = []

    def prepare(self, text: str) -> None:
        """A line of NumPy that the arguments need."""
        exec(text, self.space)

    def give(self, item: Given) -> None:
        """Adds an input or a shared variable."""
        value = np.asarray(eval(item.text, self.space))
        native = value.astype(value.dtype.newbyteorder("="))
        self.values[item.name] = native
        self.symbols[f"{item.name}_value"] = value
        self.symbols[item.name] = eval(item.declared(value), self.symbols)
        self.given.append(item)

    def draw(self) -> bool:
        """One more line; whether the one that was drawn fits."""
        entry = self.drawing.entry()
        return self.write(entry, self.drawing.arguments(entry, self.values))

    def write(self, entry: Entry, args: list[str] | None) -> bool:
        """A line of an entry."""
        if args is None or not self._stretches(entry, args):
            return False
        text = self.drawing.filled(entry.text + "\n" + (entry.numpy or ""), [
            self.values[arg] for arg in args
        ])  # fmt: skip
        if text is None:
            return False
        ours, _, theirs = text.partition("\n")
        numpy = None if entry.numpy is None else (theirs or ours).replace("m.", "np.")
        line = Line(f"v{len(self.lines)}", ours.replace("m.", "T."), numpy, tuple(args), entry.kind)
        return self.add(line)

    def add(self, line: Line) -> bool:
        """Keeps a line if NumPy takes it, unless symc refuses it."""
        value = self._in_numpy(line)
        if value is None:
            return False
        try:
            node = eval(line.symbolic(), self.symbols)
        except (SymcError, TypeError, ValueError, IndexError, NotImplementedError) as error:
            REFUSALS[line.text, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"] += 1
            return False
        except AttributeError as error:
            if "has no" not in str(error):
                raise
            REFUSALS[line.text, f"AttributeError: {error}"] += 1
            return False
        if not isinstance(node, Tensor):
            return False
        if value is NOT_NUMPYS:
            from tests.fuzz.oracle import NONE, own_meaning

            try:
                value = own_meaning(line, [self.values[arg] for arg in line.args])
            except NONE:  # it asks for more elements than there are
                return False
        self.symbols[line.name] = node
        self.values[line.name] = value
        self.lines.append(line)
        return True

    def _in_numpy(self, line: Line) -> Any:
        text = line.plain()
        if text is None:
            return NOT_NUMPYS
        if not self.values[line.args[0]].size and _OF_SOME.search(text):
            return None
        if _OF_FINITE.search(text) and not all(
            np.isfinite(self.values[arg]).all() for arg in line.args
        ):
            return None
        whole = all(self.values[arg].dtype.kind in "iub" for arg in line.args)
        try:
            with np.errstate(all="ignore", divide="raise" if whole else "ignore"):
                value = eval(text, self.space | self.values)
        except (ValueError, TypeError, IndexError, FloatingPointError, ZeroDivisionError,
                OverflowError, np.linalg.LinAlgError, MemoryError):  # fmt: skip
            return None
        if not isinstance(value, np.ndarray | np.generic | bool):
            return None
        value = np.asarray(value)
        if value.size > self.limit or value.ndim > 5 or value.dtype.name not in self.dtypes:
            return None
        if ".astype(" in line.text and not _fits_into(self.values[line.args[0]], value.dtype):
            return None
        return value

    def _stretches(self, entry: Entry, args: list[str]) -> bool:
        """Whether arguments fit, and lengths of 1 that stretch or are dropped are known to be 1."""
        if "squeeze" in entry.text:
            shape, known = self.values[args[0]].shape, self.symbols[args[0]].type.shape
            return all(n != 1 or dim == 1 for n, dim in zip(shape, known, strict=True))
        if "~" not in entry.needs:
            return True
        try:
            full = np.broadcast_shapes(*(self.values[arg].shape for arg in args))
        except ValueError:  # of a generator whose lengths differ
            return False
        for arg in args:
            own, known = self.values[arg].shape, self.symbols[arg].type.shape
            for n, length, dim in zip(reversed(full), reversed(own), reversed(known), strict=False):
                if length != n and dim != 1:
                    return False
        return True


_OF_FINITE = re.compile("linalg|fft")  # the results of infinities depend on the way
NOT_NUMPYS: Any = object()
_OF_SOME = re.compile("median|quantile|percentile")  # documented to raise where there are none


def _fits_into(value: Array, dtype: Any) -> bool:
    """Whether a cast means the same on every machine."""
    if value.dtype.kind == "c":
        return bool(dtype.kind == "c")
    if value.dtype.kind != "f" or dtype.kind not in "iu":
        return True
    limits = np.iinfo(dtype)
    return bool(
        np.isfinite(value).all() and (value > limits.min).all() and (value < limits.max).all()
    )


class Expressions:
    """The generator."""

    name = "expressions"

    def generate(self, seed: int) -> LineProgram:
        """A program of 1 to 25 lines; of odd numbers in short ones, of long arrays in some."""
        rng = np.random.default_rng([seed, 1])
        draw = Drawing(rng)
        large = draw.chance(0.08)
        writer = Writer(rng, 40_000 if large else LIMIT)
        special = draw.pick([0.0, 0.0, 0.15, 0.6])
        steps = int(rng.integers(1, 7 if special or large else 26))
        lengths = [int(n) for n in rng.choice(LARGE if large else LENGTHS, 3)]
        dtypes = [str(d) for d in rng.choice(DTYPES, 3)]
        for number in range(int(rng.integers(1, 5))):
            shape = tuple(lengths[: int(rng.integers(0, 4))])
            if np.prod(shape) > writer.limit:
                shape = shape[:2]
            if draw.chance(0.2):
                shape = shape[::-1]
            text = given_text(rng, draw.pick(dtypes), shape, special)
            known = tuple(draw.chance(0.4) for _ in shape)
            shared = draw.chance(0.2)
            name = f"{'s' if shared else 'x'}{number}"
            writer.give(Given(name, text, known, shared))
        tries = 0
        while len(writer.lines) < steps and tries < 12 * steps:
            tries += 1
            writer.draw()
        return LineProgram(self._finished(writer, draw))

    def _finished(self, writer: Writer, draw: Drawing) -> Lines:
        names = [line.name for line in writer.lines] or [item.name for item in writer.given]
        count = int(draw.rng.integers(1, 4))
        outputs = tuple(names[-count:])
        updates: list[tuple[str, str]] = []
        for item in writer.given:
            if item.shared and draw.chance(0.6):
                fits = [
                    name for name in names
                    if writer.values[name].dtype == writer.values[item.name].dtype
                    and writer.values[name].shape == writer.values[item.name].shape
                ]  # fmt: skip
                if fits:
                    updates.append((item.name, draw.pick(fits)))
        calls = 2 if updates else 1
        return Lines(tuple(writer.given), tuple(writer.lines), outputs, tuple(updates), (), calls)

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones."""
        return usual_modes(seed)


GENERATOR = Expressions()
