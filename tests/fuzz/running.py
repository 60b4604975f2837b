"""Programs of lines compiled, called, and compared with NumPy and the loop IR's interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import symc
from symc.codegen.verify.program import verify
from symc.errors import DivisionByZero, NotFinite, ShapeMismatch
from symc.graph.node import Array
from symc.graph.walks import walk
from tests.fenced import fenced
from tests.fuzz.lines import Lines, tensor_of
from tests.fuzz.opinions import interpreted, is_known
from tests.fuzz.oracle import Expected, Opinion, judge
from tests.fuzz.protocol import Compared, Refused, Wrong, settings
from tests.ops.harness import once

FINITE = ("fast", "nanguard")  # modes that ask for finite numbers
COMPILED = ("default", "fast", "compile")
INTERPRETED = 3000  # elements of all that is given, at most: the interpreter is slow


@dataclass(frozen=True)
class LineProgram:
    """Lines as a program of the campaign."""

    lines: Lines

    def run(self, mode: str) -> Compared:
        """Against NumPy."""
        return run(self.lines, mode)

    def smaller(self) -> Iterator[LineProgram]:
        """With fewer lines, results and numbers."""
        for lines in self.lines.smaller():
            yield LineProgram(lines)

    def script(self, mode: str) -> str:
        """The lines."""
        return self.lines.script(mode)


def run(program: Lines, mode: str) -> Compared:
    """Compiles a program, calls it as often as it says, and compares every result."""
    values = program.values()
    opinion = Opinion(program, values)
    if mode in FINITE and not opinion.finite:
        raise Refused(f"{mode} asks for finite numbers")
    space = program.symbols(values)
    inputs = [item.name for item in program.given if not item.shared]
    shared = [item.name for item in program.given if item.shared]
    function = symc.function(
        [space[name] for name in inputs],
        [tensor_of(space, name) for name in program.outputs],
        updates=[(space[s], tensor_of(space, new)) for s, new in program.updates],
        on_unused_input="ignore", **settings(mode),
    )  # fmt: skip
    results = [*program.outputs, *(new for _, new in program.updates)]
    names = [*program.outputs, *(f"{s} (updated)" for s, _ in program.updates)]
    arguments = [fenced(values[name], front=len(values) % 3 == 0) for name in inputs]
    total = Compared(0)
    for call in range(program.calls):
        if call:
            state = {name: space[name].get_value() for name in shared}
            opinion = Opinion(program, {**values, **state})
            if mode in FINITE and not opinion.finite:
                break
        wanted = [opinion.of(name) for name in results]
        opinions = _interpretations(function, mode, arguments) if not call else {}
        try:
            opinions[mode] = _called(function, program, space, arguments, backwards=call == 1)
        except DivisionByZero as error:
            if call:  # what the call before has made is no divisor
                raise Refused(str(error)) from None
            raise
        except ShapeMismatch as error:
            if call and _changes_a_length(program, space, wanted):
                raise Refused(str(error)) from None
            raise
        for who, got in opinions.items():
            if len(got) != len(wanted):
                raise Wrong(f"{who}: {len(got)} results, not {len(wanted)}")
            for name, value, expected in zip(names, got, wanted, strict=True):
                what = f"{who}: {name}"
                total += judge(np.asarray(value), expected, what, signs=mode != "fast")
    return total


def _changes_a_length(program: Lines, space: dict[str, Any], wanted: Sequence[Expected]) -> bool:
    """Whether a new value has other lengths than its variable, whose lengths are fixed."""
    values = wanted[len(program.outputs) :]
    return any(
        new.value.shape != space[name].get_value().shape
        for (name, _), new in zip(program.updates, values, strict=True)
    )


def _called(
    function: symc.Function, program: Lines, space: dict[str, Any], arguments: Sequence[Array],
    *, backwards: bool,
) -> list[Array]:  # fmt: skip
    """Results of one call, then the updated variables; others must not change."""
    before = [argument.tobytes() for argument in arguments]
    updated = [s for s, _ in program.updates]
    kept = {
        item.name: space[item.name].get_value().tobytes()
        for item in program.given
        if item.shared and item.name not in updated
    }
    try:
        outputs = [np.asarray(value) for value in once(function, arguments, backwards=backwards)]
    except NotFinite as error:
        if any(line.text.count("(") > 1 or line.numpy is None for line in program.lines):
            raise Refused("nanguard looks into lines") from error
        raise Wrong("mode nanguard met a NaN or an infinity where NumPy has none") from None
    for number, argument in enumerate(arguments):
        if argument.tobytes() != before[number]:
            raise Wrong(f"argument {number} has changed")
        if any(np.shares_memory(argument, output) for output in outputs):
            raise Wrong(f"a result shares memory with argument {number}")
    for name, old in kept.items():
        if space[name].get_value().tobytes() != old:
            raise Wrong(f"{name} has changed")
    for number, output in enumerate(outputs):
        if any(np.shares_memory(output, other) for other in outputs[:number]):
            raise Wrong(f"result {number} shares memory with another")
    if not updated:
        _same_again(function, arguments, outputs)
    return [*outputs, *(space[s].get_value() for s in updated)]


def _same_again(
    function: symc.Function, arguments: Sequence[Array], outputs: Sequence[Array]
) -> None:
    """A second call gives the same bits, and leaves the first one's results alone."""
    before = [output.tobytes() for output in outputs]
    for number, again in enumerate(function(*arguments)):
        if np.asarray(again).tobytes() != before[number]:
            raise Wrong(f"result {number} of a second call differs")
        if outputs[number].tobytes() != before[number]:
            raise Wrong(f"a second call has changed result {number} of the first")


def _interpretations(
    function: symc.Function, mode: str, arguments: Sequence[Array]
) -> dict[str, list[Array]]:
    """The results of the loop IR, before and after the passes, where the interpreter can run it."""
    if mode not in COMPILED or sum(argument.size for argument in arguments) > INTERPRETED:
        return {}
    request = function.request
    if any(node.dtype.is_complex for node in walk([*request.outputs, *request.shared])):
        return {}  # its numbers are real
    made = function.runner.compilation()
    verify(made.program)
    verify(made.optimised)
    if not (is_known(made.program) and is_known(made.optimised)):
        return {}
    found: dict[str, list[Array]] = {}
    native = [argument.astype(argument.dtype.newbyteorder("=")) for argument in arguments]
    ways = {
        "IR": {"optimised": False},
        "IR after the passes": {"optimised": True},
        "IR backwards": {"optimised": True, "backwards": True},
    }
    for who, way in ways.items():
        try:
            found[who] = interpreted(function, native, **way)
        except (KeyError, IndexError) as error:
            if not _is_routine(error):
                raise
            return {}  # sorting, LAPACK and the like are not loops
    return found


def _is_routine(error: Exception) -> bool:
    """Whether the interpreter met a routine that it was not given."""
    frame = error.__traceback__
    assert frame is not None
    while frame.tb_next is not None:
        frame = frame.tb_next
    return frame.tb_frame.f_code.co_name == "step"
