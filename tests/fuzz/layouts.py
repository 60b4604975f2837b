"""Arguments and values of shared variables that lie in memory in odd ways.

Not contiguous, backwards, in Fortran's order, beside their alignment, with strides of zero, read
only, with the other order of bytes, on top of each other. Results must be NumPy's, and share memory
with nothing.
"""

from __future__ import annotations

import numpy as np

from tests.fuzz.drawing import DTYPES, Drawing, given_text
from tests.fuzz.expressions import Writer
from tests.fuzz.lines import Given, Lines
from tests.fuzz.protocol import usual_modes
from tests.fuzz.running import LineProgram

LENGTHS = (0, 1, 1, 2, 3, 4, 5, 8)
LARGE = (1, 3, 17, 64, 130)
FAMILIES = {"elementwise": 2.0, "pairs": 3.0, "folds": 2.0, "shapes": 3.0, "choices": 1.0,
            "products": 4.0}  # fmt: skip


def laid_out(draw: Drawing, dtype: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """The text of a value of this shape, and the shape that it has in the end."""
    rng = draw.rng
    axis = int(rng.integers(len(shape))) if shape else 0
    colons = ":, " * axis
    plain = given_text(rng, dtype, shape, 0.1)
    kinds = ["plain", "misaligned", "read_only", "swapped"]
    if shape:
        kinds += ["backwards", "strided", "strided back", "fortran", "turned", "zero", "inside"]
    match draw.pick(kinds):
        case "misaligned" | "read_only" | "swapped" as how:
            return f"{how}({plain})", shape
        case "backwards":
            return f"({plain})[{colons}::-1]", shape
        case "strided":
            return f"np.repeat({plain}, 3, axis={axis})[{colons}::3]", shape
        case "strided back":
            return f"np.repeat({plain}, 2, axis={axis})[{colons}::-2]", shape
        case "fortran":
            return f"np.asfortranarray({plain})", shape
        case "turned":
            return f"({plain}).T", shape[::-1]
        case "zero":
            part = given_text(
                rng, dtype, tuple(1 if a == axis else n for a, n in enumerate(shape)), 0.1
            )
            return f"np.broadcast_to({part}, {shape})", shape
        case "inside":
            pads = tuple((1, 2) if a == axis else (0, 0) for a in range(len(shape)))
            return f"np.pad({plain}, {pads})[{colons}1:{1 + shape[axis]}]", shape
        case _:
            return plain, shape


def overlapping(draw: Drawing, dtype: str, shape: tuple[int, ...]) -> tuple[str, list[str]]:
    """A line that makes an array, and two views of it that share elements."""
    if not shape:
        shape = (3,)
    base = f"base = {given_text(draw.rng, dtype, (shape[0] + 2, *shape[1:]), 0.1)}"
    n = shape[0]
    views = ["base[1:-1]", "base[2:]", "base[:-2]", "base[1:-1][::-1]", f"base[:{n}]", "base[:-2]"]
    return base, [draw.pick(views), draw.pick(views)]


class Layouts:
    """The generator."""

    name = "layouts"

    def generate(self, seed: int) -> LineProgram:
        """A program of 0 to 6 lines."""
        rng = np.random.default_rng([seed, 3])
        draw = Drawing(rng, FAMILIES)
        large = draw.chance(0.15)
        writer = Writer(rng, 20_000 if large else 800, favour=FAMILIES)
        lengths = [int(n) for n in rng.choice(LARGE if large else LENGTHS, 3)]
        dtypes = [str(d) for d in rng.choice(DTYPES, 2)]
        before: tuple[str, ...] = ()
        shape = tuple(lengths[: int(rng.integers(0, 3 if large else 4))])
        if draw.chance(0.3):
            line, texts = overlapping(draw, dtypes[0], shape)
            before = (line,)
            writer.prepare(line)
            for text in texts:
                self._give(writer, draw, text)
        for _ in range(int(rng.integers(1, 4))):
            text, _ = laid_out(draw, draw.pick(dtypes), shape)
            self._give(writer, draw, text)
            if draw.chance(0.3):
                shape = tuple(lengths[: int(rng.integers(0, 3))])
        steps, tries = int(rng.integers(0, 7)), 0
        while len(writer.lines) < steps and tries < 12 * steps:
            tries += 1
            writer.draw()
        names = [*(item.name for item in writer.given), *(line.name for line in writer.lines)]
        count = min(len(names), int(rng.integers(1, 4)))
        outputs = tuple(names[-count:])
        updates = [
            (item.name, name)
            for item in writer.given if item.shared
            for name in [draw.pick(names)]
            if writer.values[name].dtype == writer.values[item.name].dtype
            and writer.values[name].shape == writer.values[item.name].shape
        ]  # fmt: skip
        lines = Lines(
            tuple(writer.given), tuple(writer.lines), outputs, tuple(updates), before,
            2 if updates else 1,
        )  # fmt: skip
        return LineProgram(lines)

    def _give(self, writer: Writer, draw: Drawing, text: str) -> None:
        shape = np.shape(eval(text, dict(writer.space)))
        known = tuple(draw.chance(0.3) for _ in shape)
        shared = draw.chance(0.25)
        name = f"{'s' if shared else 'x'}{len(writer.given)}"
        writer.give(Given(name, text, known, shared))

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones."""
        return usual_modes(seed)


GENERATOR = Layouts()
