"""Programs of `updates.py` run in some mode, and compared with the interpreter of graphs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify
from symc.graph.node import Array, Tensor
from symc.pipeline.compile import Clock, build
from tests.fenced import fenced
from tests.fuzz.opinions import is_known, results_of
from tests.fuzz.protocol import Compared, Wrong, usual_modes
from tests.fuzz.updates import Made, UpdateProgram, generate

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}


@dataclass(frozen=True)
class Outcome:
    """The results of a call and the variables after it, or the class of its exception."""

    outputs: list[Array]
    after: list[Array]
    raised: type[Exception] | None = None


def check(program: UpdateProgram, mode: str, device: str = "cpu") -> int:
    """Compiles a program, calls it, and compares; how many arrays were compared.

    Raises AssertionError with the program's text.
    """
    wanted = list(_called(program, "python", "cpu"))
    found = list(_called(program, mode, device))
    return _compared(program, wanted, found, f"{mode} on {device}")


def check_given(program: UpdateProgram, mode: str) -> int:
    """The same program of arguments in place of variables, which are given away in every call.

    Results are the outputs and new values, which may lie where the arguments lay.
    """
    made = program.made()
    places: dict[Tensor, Tensor] = {
        v: T.tensor(v.dtype, [n if isinstance(n, int) else None for n in v.type.shape], v.name)
        for v in made.variables.values()
    }
    news = [new for _, new in made.updates]
    inputs = [made.space["x0"], made.space["k"]]

    def results(mode: str, *, given: bool) -> Outcome:
        ins = [symc.In(place, mutable=given) for place in places.values()]
        with warnings.catch_warnings(action="ignore"):  # loops change variables, which stay here
            function = symc.function(
                [*ins, *inputs], [*made.outputs, *news], givens=places, mode=mode,
                on_unused_input="ignore",
            )  # fmt: skip
        arguments = [v.get_value() for v in made.variables.values()]
        try:
            with np.errstate(all="ignore"):
                found = function(*arguments, *map(fenced, program.arguments()))
        except (ValueError, IndexError) as error:
            return Outcome([], [], type(error))
        return Outcome(list(found), [])

    wanted, found = results("python", given=False), results(mode, given=True)
    return _compared(program, [wanted], [found], f"{mode}, arguments given away")


def check_loops(program: UpdateProgram, mode: str) -> int:
    """The same of the loops that it becomes, before and after the passes, without a compiler."""
    wanted = list(_called(program, "python", "cpu"))
    if any(outcome.raised for outcome in wanted):
        return 0
    made = program.made()
    function = _function(made, "python", "cpu")
    stages = build(function.request, mode=mode, clock=Clock())
    verify(stages.program)
    verify(stages.optimised)
    if not is_known(stages.optimised):
        return 0
    count, before = 0, [variable.get_value() for variable in made.variables.values()]
    for optimised in (False, True):
        for variable, value in zip(made.variables.values(), before, strict=True):
            variable.set_value(value)
        found: list[Outcome] = []
        for _ in range(program.calls):
            results = results_of(
                stages, function.request, program.arguments(), optimised=optimised,
                backwards=optimised,
            )  # fmt: skip
            outputs = results[: len(made.outputs)]
            for (shared, _), new in zip(made.updates, results[len(outputs) :], strict=True):
                shared.set_value(new)
            found.append(Outcome(outputs, [v.get_value() for v in made.variables.values()]))
        count += _compared(program, wanted, found, f"loops for {mode}, passes={optimised}")
    return count


def _function(made: Made, mode: str, device: str) -> Any:
    inputs = [made.space["x0"], made.space["k"]]
    return symc.function(
        inputs, made.outputs, updates=made.updates, mode=mode, device=device,
        on_unused_input="ignore",
    )  # fmt: skip


def _called(program: UpdateProgram, mode: str, device: str) -> Iterator[Outcome]:
    """The effect of each call; none follows one that raises."""
    made = program.made()
    function = _function(made, mode, device)
    for _ in range(program.calls):
        try:
            with np.errstate(all="ignore"):
                outputs = function(*map(fenced, program.arguments()))
        except (ValueError, IndexError) as error:
            yield Outcome([], _values(made), type(error))
            return
        yield Outcome(list(outputs), _values(made))


def _values(made: Made) -> list[Array]:
    return [variable.get_value() for variable in made.variables.values()]


def _compared(
    program: UpdateProgram, wanted: list[Outcome], found: list[Outcome], what: str
) -> int:
    count = 0
    try:
        assert len(found) == len(wanted), f"{len(found)} calls, not {len(wanted)}"
        for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
            assert one.raised is other.raised, f"call {number}: {one.raised}, not {other.raised}"
            arrays = zip([*one.outputs, *one.after], [*other.outputs, *other.after], strict=True)
            for position, (value, expected) in enumerate(arrays):
                _same(value, expected, f"call {number}, array {position}")
                count += 1
    except AssertionError as error:
        text = program.script(what.split()[0])
        raise AssertionError(f"{what}: {error}\nseed {program.seed}\n{text}") from None
    return count


def _same(value: Array, expected: Array, what: str) -> None:
    assert value.dtype == expected.dtype, what
    assert value.shape == expected.shape, what
    if expected.dtype.kind != "f":
        assert np.array_equal(value, expected), f"{what}\n{value}\n{expected}"
        return
    allowed = TOLERANCE[expected.dtype.name]
    finite = expected[np.isfinite(expected)]
    scale = float(np.abs(finite).max(initial=1.0))
    np.testing.assert_allclose(value, expected, rtol=allowed, atol=allowed * scale, err_msg=what)


# --- as a generator of the campaign ---------------------------------------------------------------


@dataclass(frozen=True)
class Updating:
    """A program that updates variables."""

    program: UpdateProgram

    def run(self, mode: str) -> Compared:
        """Calls of compiled code, and the loops before and after the passes."""
        simulated = mode == "cuda:sim"
        try:
            count = check(
                self.program, "default" if simulated else mode, mode if simulated else "cpu"
            )
            if mode in ("default", "fast", "compile"):
                count += check_loops(self.program, mode) + check_given(self.program, mode)
        except AssertionError as error:
            raise Wrong(str(error)) from None
        return Compared(count)

    def smaller(self) -> Iterator[Updating]:
        """With less of everything; a line replaced by its argument."""
        for program in self.program.smaller():
            yield Updating(program)
        for name, text in self.program.lines:
            for arg in sorted(set(re.findall(r"\b(?:[svx]\d+|k)\b", text))):
                yield Updating(_renamed(self.program, name, arg))

    def script(self, mode: str) -> str:
        """The program's own."""
        return self.program.script(mode)


def _renamed(program: UpdateProgram, name: str, to: str) -> UpdateProgram:
    """Without a line, whose readers read another."""

    def other(text: str) -> str:
        return re.sub(rf"\b{name}\b", to, text)

    lines = tuple((own, other(text)) for own, text in program.lines if own != name)
    updates = tuple((own, other(text)) for own, text in program.updates)
    outputs = tuple(map(other, program.outputs))
    return replace(program, lines=lines, updates=updates, outputs=outputs).pruned()


class Updates:
    """The generator."""

    name = "updates"

    def generate(self, seed: int) -> Updating:
        """The program of a seed."""
        return Updating(generate(seed))

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones, but python, which they are compared with, and nanguard."""
        return tuple(mode for mode in usual_modes(seed) if mode not in ("python", "nanguard"))


GENERATOR = Updates()
