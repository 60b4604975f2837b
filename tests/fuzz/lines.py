"""Programs that are lines of text: inputs, one op in each line, outputs and updates.

Each line has two texts, one of symc's and one of NumPy's, so that a program runs in both, can be
cut anywhere, and is its own script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

import symc
from symc import tensor as T
from symc.graph.node import Array, Tensor
from tests.fuzz import reference

Kind = Literal["exact", "unsigned", "rounds", "sums"]
"""The effect of a line on digits: nothing; nothing, but zeros may have either sign; it rounds; it
rounds many times, in an order that is not said."""


@dataclass(frozen=True)
class Given:
    """An input, or a shared variable: the text of its value, and which lengths symc may know."""

    name: str
    text: str
    known: tuple[bool, ...] = ()
    shared: bool = False

    def declared(self, value: Array) -> str:
        """The text of the symbolic tensor."""
        if self.shared:
            return f"symc.shared({self.name}_value, name={self.name!r})"
        shape = tuple(
            n if known or n == 1 else None
            for n, known in zip(value.shape, self.known, strict=True)
        )  # fmt: skip
        return f"T.tensor({value.dtype.name!r}, {shape}, name={self.name!r})"


@dataclass(frozen=True)
class Line:
    """``name = text`` where ``{0}``, ``{1}`` ... in the texts are the names of `args`."""

    name: str
    text: str
    numpy: str | None
    """None: symc's own meaning in NumPy is all there is."""
    args: tuple[str, ...]
    kind: Kind = "rounds"

    def symbolic(self) -> str:
        """The text for symc."""
        return self.text.format(*self.args)

    def plain(self) -> str | None:
        """The text for NumPy."""
        return None if self.numpy is None else self.numpy.format(*self.args)


@dataclass(frozen=True)
class Lines:
    """A program; `before` are lines of NumPy that the texts of arguments need."""

    given: tuple[Given, ...]
    lines: tuple[Line, ...]
    outputs: tuple[str, ...]
    updates: tuple[tuple[str, str], ...] = ()
    before: tuple[str, ...] = ()
    calls: int = 1

    def line(self, name: str) -> Line | None:
        """The line of a name, None for an argument."""
        return next((line for line in self.lines if line.name == name), None)

    def values(self) -> dict[str, Array]:
        """The arguments, by name; each call makes new arrays."""
        space = numpy_space()
        for text in self.before:
            exec(text, space)
        return {item.name: eval(item.text, space) for item in self.given}

    def symbols(self, values: dict[str, Array]) -> dict[str, Any]:
        """The tensors of all names."""
        space: dict[str, Any] = {"T": T, "np": np, "symc": symc, "nan": np.nan, "inf": np.inf}
        for item in self.given:
            space[f"{item.name}_value"] = values[item.name]
            space[item.name] = eval(item.declared(values[item.name]), space)
        for line in self.lines:
            space[line.name] = eval(line.symbolic(), space)
        return space

    # --- making it smaller ------------------------------------------------------------------------

    def needed(self) -> Lines:
        """Without lines and inputs that nothing needs."""
        wanted = {*self.outputs, *(name for pair in self.updates for name in pair)}
        kept: list[Line] = []
        for line in reversed(self.lines):
            if line.name in wanted:
                kept.append(line)
                wanted |= set(line.args)
        given = tuple(item for item in self.given if item.name in wanted)
        used = " ".join(item.text for item in given)
        before = tuple(
            text for text in self.before if re.search(rf"\b{text.partition(' ')[0]}\b", used)
        )
        return replace(self, given=given, lines=tuple(reversed(kept)), before=before)

    def smaller(self) -> Iterator[Lines]:
        """Fewer outputs; a line that becomes an input, or its own argument; simpler values."""
        yield from self._fewer_results()
        yield from self._cut()
        yield from self._skip()
        yield from self._simpler()

    def _fewer_results(self) -> Iterator[Lines]:
        if len(self.outputs) + len(self.updates) > 1:
            for name in self.outputs:
                yield replace(self, outputs=(name,), updates=()).needed()
            for pair in self.updates:
                yield replace(self, outputs=(), updates=(pair,)).needed()
            for pair in self.updates:
                left = tuple(other for other in self.updates if other != pair)
                yield replace(self, updates=left).needed()
            for name in self.outputs:
                left_names = tuple(other for other in self.outputs if other != name)
                yield replace(self, outputs=left_names).needed()
        if self.calls > 1:
            yield replace(self, calls=1)
        now = self.needed()
        if len(now.lines) + len(now.given) < len(self.lines) + len(self.given):
            yield now

    def _cut(self) -> Iterator[Lines]:
        from tests.fuzz.oracle import nominal

        values = nominal(self)
        for line in reversed(self.lines):
            if line.name in self.outputs and len(self.lines) == 1:
                continue
            value = values[line.name]
            item = Given(line.name, literal(value), (False,) * value.ndim)
            left = tuple(other for other in self.lines if other is not line)
            cut = replace(self, given=(*self.given, item), lines=left).needed()
            if len(cut.lines) < len(self.lines):
                yield cut

    def _skip(self) -> Iterator[Lines]:
        from tests.fuzz.oracle import nominal

        values = nominal(self)
        for line in self.lines:
            for arg in line.args:
                if values[arg].shape == values[line.name].shape:
                    yield self._renamed(line, arg).needed()

    def _renamed(self, gone: Line, to: str) -> Lines:
        names = {gone.name: to}
        lines = tuple(
            replace(line, args=tuple(names.get(a, a) for a in line.args))
            for line in self.lines
            if line is not gone
        )
        updates = tuple((s, names.get(new, new)) for s, new in self.updates)
        outputs = tuple(dict.fromkeys(names.get(name, name) for name in self.outputs))
        return replace(self, lines=lines, outputs=outputs, updates=updates)

    def _simpler(self) -> Iterator[Lines]:
        """Shorter arrays, lengths that are not known, zeros and ones in place of numbers."""
        values = self.values()
        for number, item in enumerate(self.given):
            value = values[item.name]
            if not item.text.startswith("np.array("):
                continue
            tried: list[Given] = []
            for axis, n in enumerate(value.shape):
                for m in (1, n // 2, n - 1):
                    if 0 < m < n:
                        part = np.take(value, range(m), axis=axis)
                        tried.append(replace(item, text=literal(part)))
            if any(item.known):
                tried.append(replace(item, known=(False,) * value.ndim))
            if value.size <= 64:
                tried += [replace(item, text=t) for t in _plainer(value) if t != item.text]
            for new in tried:
                given = (*self.given[:number], new, *self.given[number + 1 :])
                yield replace(self, given=given)

    # --- writing it down --------------------------------------------------------------------------

    def head(self) -> list[str]:
        """The lines up to the tensors of all names; `NAME_value` is the argument."""
        values = self.values()
        lines = ["import numpy as np", "from numpy import inf, nan", "import symc"]
        lines.append("from symc import tensor as T")
        if any("R." in (line.numpy or "") for line in self.lines):
            lines.append("from tests.fuzz import reference as R  # run it in the checkout")
        if any(name in item.text for item in self.given for name in LAYOUTS):
            lines.append("from tests.fuzz.lines import " + ", ".join(LAYOUTS))
        lines += self.before
        for item in self.given:
            lines.append(f"{item.name}_value = {item.text}")
            lines.append(f"{item.name} = {item.declared(values[item.name])}")
        return lines + [f"{line.name} = {line.symbolic()}" for line in self.lines]

    def script(self, mode: str) -> str:
        """The program in symc and in NumPy, and both results."""
        from tests.fuzz.protocol import settings

        rest = ", ".join(f"{key}={value!r}" for key, value in settings(mode).items())
        inputs = [item.name for item in self.given if not item.shared]
        arguments = ", ".join(f"{name}_value" for name in inputs)
        updates = ", ".join(f"({s}, {new})" for s, new in self.updates)
        plain = [line.plain() for line in self.lines]
        lines = self.head()
        lines.append(
            f"f = symc.function([{', '.join(inputs)}], [{', '.join(self.outputs)}], "
            f"updates=[{updates}], on_unused_input='ignore', {rest})"
        )
        lines += [f"print('symc ', f({arguments}))"] * self.calls
        lines += [f"print('symc ', {s}.get_value())" for s, _ in self.updates]
        if None not in plain:
            lines += [f"{item.name} = {item.name}_value" for item in self.given]
            lines += [f"{line.name} = {line.plain()}" for line in self.lines]
            results = [*self.outputs, *(new for _, new in self.updates)]
            lines.append(f"print('NumPy', [{', '.join(results)}])  # after the first call")
        return "\n".join(lines)


LAYOUTS = ("misaligned", "read_only", "swapped")


def misaligned(array: Any) -> Any:
    """A copy that starts one byte beside where its numbers should."""
    raw = np.zeros(array.nbytes + 1, np.uint8)
    result = raw[1:].view(array.dtype) if array.size else raw[1:1].view(array.dtype)
    result = result.reshape(array.shape)
    result[...] = array
    return result


def read_only(array: Any) -> Any:
    """A copy that cannot be written."""
    result = np.array(array)
    result.flags.writeable = False
    return result


def swapped(array: Any) -> Any:
    """A copy with the other order of bytes."""
    return array.astype(array.dtype.newbyteorder())


def numpy_space() -> dict[str, Any]:
    """The names that texts of NumPy use."""
    return {
        "np": np, "R": reference, "nan": np.nan, "inf": np.inf,
        "misaligned": misaligned, "read_only": read_only, "swapped": swapped,
    }  # fmt: skip


def literal(value: Any) -> str:
    """An array as text; no bit is lost."""
    array = np.asarray(value)
    shape, name = array.shape, array.dtype.name
    if array.dtype.kind == "c":
        half = f"f{array.itemsize // 2}"
        parts = np.ascontiguousarray(array).reshape(-1).view(half).tolist()
        return f"np.array({parts}, {half!r}).view({name!r}).reshape({shape})"
    if shape and 0 in shape:
        return f"np.array([], {name!r}).reshape({shape})"
    return f"np.array({array.tolist()}, {name!r})"


def _plainer(value: Array) -> Sequence[str]:
    texts = [literal(np.zeros_like(value))] if value.any() else []
    if not np.isin(value, (0, 1)).all():  # ones are no plainer than zeros: that would never end
        texts.append(literal(np.ones_like(value)))
    for place in range(value.size):
        for number in (0, 1):
            simple = np.array(value)
            if simple.flat[place] not in (0, 1):
                simple.flat[place] = number
                texts.append(literal(simple))
    return texts


def tensor_of(space: dict[str, Any], name: str) -> Tensor:
    """The tensor of a name; TypeError where a line gave something else."""
    node = space[name]
    if not isinstance(node, Tensor):
        raise TypeError(f"{name} is no tensor but {type(node).__name__}")
    return node
