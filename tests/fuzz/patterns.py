"""Random programs of the patterns that passes look for, with lengths at the ends of their strips.

Distances of short rows, joined parts, slices whose bounds are data, gathers and scatters with sums
beside them, a matrix times its own transpose, steps that read pieces: each is one line of NumPy.
The lines share their arguments, so that their loops are fused, and lengths are about those of
vector registers and strips, which programs of `expressions` seldom have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tests.fuzz.drawing import Drawing
from tests.fuzz.entries import Entry
from tests.fuzz.expressions import Writer
from tests.fuzz.lines import Given, Kind, Lines
from tests.fuzz.protocol import usual_modes
from tests.fuzz.running import LineProgram

LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130, 255, 257)
LONG = (1023, 1024, 1025, 2049)
WIDTHS = (1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33)
LIMIT = 300_000  # elements of a value

# X (a, d) and Y (b, d) are matrices, u (a) and v (b) vectors, i and w (k) places in u with weights,
# j (b) places in X, `cuts` rising places in i, `lo` and `hi` numbers.
DISTANCES = (
    "m.sum(({X}[:, None] - {Y}[None]) ** 2, axis=-1)",
    "m.max(m.abs({X}[:, None] - {Y}[None]), axis=-1)",
    "m.min({X}[:, None] + {Y}[None], axis=-1)",
    "m.sum({X}[:, None] * {Y}[None], axis=-1) * {u}[:, None]",
    "m.any({X}[:, None] < {Y}[None], axis=-1)",
    "m.sum(m.all({X}[:, None] < {Y}[None], axis=-1), axis=1)",
    "m.sum(m.exp(-m.sum(({X}[:, None] - {Y}[None]) ** 2, axis=-1)), axis=1)",
    "m.exp(-m.sum(m.abs({X}[:, None] - {Y}[None]), axis=-1)) @ {v}",
    "m.exp(-m.sum(({X}[:, None] - {X}[None]) ** 2, axis=-1)) @ {X}",
    "m.sum(m.max({X}[:, None] - {X}[None], axis=-1), axis=0)",
)
PRODUCTS = (
    "{X} @ {X}.T", "{X}.T @ {X}", "0.5 * ({X} @ {X}.T)", "m.tril({X} @ {X}.T)",
    "({X} * m.abs({Y}[:1])) @ {X}.T", "{X} @ {X}.T + m.outer({u}, {u})",
    "({X} @ {X}.T) @ {u}", "m.sum({Y} @ {Y}.T, axis=0) * {v}", "{X} @ {Y}.T",
    "m.where({u}[:, None] < {u}[None], {X} @ {X}.T, 0)",
)  # fmt: skip
JOINED = (
    "m.max(m.concatenate([m.ones(1), {u}, {v}]))", "m.min(m.concatenate([{X}, {Y}]), axis=0)",
    "m.sum(m.concatenate([{X}, {Y}]), axis=1)", "m.any(m.concatenate([{u}, {v}]) > 1)",
    "m.sum(m.concatenate([{X}, {Y} * 2]) ** 2)", "m.concatenate([{X}.T, {Y}.T], axis=1)",
    "m.concatenate([m.cumsum({u}), {v}, m.cumsum({v})])",
    "m.concatenate([{X} @ {X}.T, {Y} @ {X}.T])",
    "m.diff(m.concatenate([m.zeros(1), m.cumsum({u})]))",
    "m.stack([{u}, {u} * 2, m.cumsum({u})], axis=1)",
    "m.max(m.stack([{u}, {u} * 2, 1 - {u}]), axis=0)",
    "m.concatenate([m.sort({u}), {u}[::-1], m.exp({u})]) * 2",
    "m.argmax(m.concatenate([{v}, {u}, {v}]) + m.zeros(1)[0]) * m.ones(3)",
)  # fmt: skip
SLICES = (
    "{u}[{lo}:{hi}]", "m.sum({u}[{lo}:{hi}])", "{X}[{lo}:{hi}, ::-1]", "m.exp({X}[{lo}:])[:{hi}]",
    "m.concatenate([{u}[:{lo}], {v}[{hi}:]])", "{u}[{lo}:{hi}:2] * 3", "{u}[{hi}:{lo}:-1]",
    "m.sum(m.concatenate([{X}[:{lo}], {Y}[:{hi}]]), axis=0)", "m.cumsum({u}[{lo}:])",
)  # fmt: skip
GATHERS = (
    "{u}[{i}]", "m.sum({u}[{i}] * {w})", "m.exp({X}[{j}] - {Y})", "m.sum({X}[{j}] * {Y}, axis=1)",
    "m.sum({X}[{j}, 0] * {v})", "m.max({X}[{j}], axis=0)", "{u}[{i}[::-1]] + {w}",
    "m.sum(m.log(1 + {u}[{i}] ** 2))", "0.5 * m.sum(({u}[{i}] - {w}) ** 2)",
)  # fmt: skip
SCATTERS = (
    ("T.zeros_like({u})[{i}].inc({w})", "R.added(np.zeros_like({u}), {i}, {w})"),
    ("{u}[{i}].inc({u}[{i}] * {w})", "R.added({u}, {i}, {u}[{i}] * {w})"),
    (
        "T.segment_sum(T.exp({w}), {i}, {u}.shape[0])",
        "R.added(np.zeros_like({u}), {i}, np.exp({w}))",
    ),
    ("T.bincount({i}, minlength=3)", "np.bincount({i}, minlength=3)"),
    ("{X}[{j}].inc({Y})", "R.added({X}, {j}, {Y})"),
    ("{X}[{j}].inc({Y}).sum() - {Y}.sum()", "R.added({X}, {j}, {Y}).sum() - {Y}.sum()"),
    ("{u}[{i}].inc(T.exp({w}))[1:] * 2", "R.added({u}, {i}, np.exp({w}))[1:] * 2"),
)  # fmt: skip
READS = (
    "m.sum({u}[{i}[p:q]])",
    "m.sum({u}[{i}[p:q]] * {w}[p:q])",
    "m.sum({X}[{i}[p:q]] * {w}[p:q, None], axis=0)",
    "m.max(m.concatenate([m.zeros(1), {w}[p:q]]))",
    "m.sum(m.concatenate([{w}[p:q], {w}[:p]]) ** 2)",
    "m.sum(m.exp({w}[p:q])) * m.sum({u}[q:])",
)  # of each step, from p to q


def _stepwise(text: str) -> tuple[str, str]:
    """A loop whose steps read from each cut to the next, in symc and in NumPy."""
    pieces = "{cuts}[:-1], {cuts}[1:]"
    ours = f"symc.map(lambda p, q: {text}, [{pieces}])[0]".replace("m.", "T.")
    return ours, f"np.array([{text} for p, q in zip({pieces})])"


def _entry(text: str, numpy: str, kind: Kind) -> tuple[Entry, list[str]]:
    """A line of named arguments as one of numbered ones, and the names."""
    names = list(dict.fromkeys(re.findall(r"{(\w+)}", text + numpy)))
    for number, name in enumerate(names):
        text = text.replace(f"{{{name}}}", f"{{{number}}}")
        numpy = numpy.replace(f"{{{name}}}", f"{{{number}}}")
    return Entry(text, " ".join(["x"] * len(names)), kind, numpy), names


class Patterns:
    """The generator."""

    name = "patterns"

    def generate(self, seed: int) -> LineProgram:
        """A program of 1 to 5 patterns, and at most as many lines of the vocabulary."""
        rng = np.random.default_rng([seed, 11])
        draw = Drawing(rng)
        writer = Writer(rng, LIMIT)
        for item in _arguments(draw):
            writer.give(item)
        steps, tries = int(rng.integers(1, 6)), 0
        while len(writer.lines) < steps and tries < 8 * steps:
            tries += 1
            writer.write(*_entry(*_drawn(draw)))
        patterns = [line.name for line in writer.lines] or ["u"]
        for _ in range(int(rng.integers(0, 4))):
            writer.draw()
        names = dict.fromkeys([*patterns, *(line.name for line in writer.lines[-2:])])
        lines = Lines(tuple(writer.given), tuple(writer.lines), tuple(names))
        return LineProgram(lines.needed())

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones."""
        return usual_modes(seed)


def _arguments(draw: Drawing) -> list[Given]:
    """All that the patterns read."""
    rng = draw.rng
    lengths = LENGTHS + LONG if draw.chance(0.3) else LENGTHS
    a, b, k = (int(draw.pick(lengths)) for _ in range(3))
    d = int(draw.pick(WIDTHS))
    if a * b * d > LIMIT:
        b = int(draw.pick((1, 3, 16, 17)))
    dtype = draw.pick(["float64", "float64", "float64", "float32"])
    pieces = int(draw.pick((1, 2, 16, 17, 40)))
    whole = draw.pick(["int64", "int64", "int32"])

    def seeded() -> str:
        return f"np.random.default_rng({int(rng.integers(1 << 30))})"

    def floats(*shape: int) -> str:
        return f"{seeded()}.normal(size={shape}).round(3).astype('{dtype}')"

    def places(*shape: int, below: int, more: str = "") -> str:
        return f"np.sort({seeded()}.integers(0, {max(below, 1)}, {shape})){more}.astype('{whole}')"

    def known(*shape: int) -> tuple[bool, ...]:
        return tuple(draw.chance(0.3) for _ in shape)

    shuffled = draw.pick(["", "[::-1]", "[::3].repeat(3)[:{k}]"]).format(k=k)
    k = k if a else 0
    ends = [str(int(n)) for n in rng.integers(-a - 2, a + 3, 2)]
    return [
        Given("X", floats(a, d), known(a, d)), Given("Y", floats(b, d), known(b, d)),
        Given("u", floats(a), known(a)), Given("v", floats(b), known(b)),
        Given("i", places(k, below=a, more=shuffled), known(k)),
        Given("w", floats(k), known(k)),
        Given("j", places(b if a else 0, below=a), known(b)),
        Given("cuts", places(pieces + 1, below=k + 1), known(pieces)),
        *(Given(name, f"np.array({end}, '{draw.pick(['int64', 'int64', 'int8', 'int32'])}')"
                if abs(int(end)) < 128 else f"np.array({end}, 'int64')")
          for name, end in zip(("lo", "hi"), ends, strict=True)),
    ]  # fmt: skip


def _drawn(draw: Drawing) -> tuple[str, str, Kind]:
    """One of the patterns: symc's text, NumPy's, and its effect on digits."""
    plain: Sequence[Sequence[str]] = (DISTANCES, PRODUCTS, JOINED, SLICES, GATHERS)
    which = int(draw.rng.integers(len(plain) + 2))
    if which < len(plain):
        text = draw.pick(plain[which])
        return text, text, "sums"
    ours, theirs = draw.pick(SCATTERS) if which == len(plain) else _stepwise(draw.pick(READS))
    return ours, theirs, "sums"


GENERATOR = Patterns()
