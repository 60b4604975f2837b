"""Random loops made smaller, and written down as Python.

The values of a step are known by their numbers: a value left out of a step takes its number along,
and those after it move up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tests.fuzz.loop_cases import Asked, Case
from tests.fuzz.loops import MOST, SLICED, TEXTS, Instruction, RandomLoop, Taps

# --- smaller --------------------------------------------------------------------------------------


def smaller(asked: Asked) -> Iterator[Asked]:
    """With one thing less."""
    if asked.symbolic_steps:
        yield replace(asked, symbolic_steps=False)
    loop = asked.loop
    for number in range(len(loop.outputs)):
        fewer = _without_output(loop, number)
        if fewer is not None and len(loop.outputs) > 1:
            rows, uses = _without(asked.rows, number), _without(asked.uses, number)
            yield replace(asked, loop=fewer, rows=rows, uses=uses)
    for fewer in _smaller_loops(loop):
        yield replace(asked, loop=fewer)


def _smaller_loops(loop: RandomLoop) -> Iterator[RandomLoop]:
    plain: dict[str, Any] = {
        "ends": None, "truncate": -1, "checkpoint": None, "backwards": False,
    }  # fmt: skip
    for name, value in plain.items():
        if getattr(loop, name) != value:
            yield replace(loop, **{name: value})
    if loop.says_steps:
        for steps in {1, loop.steps // 2, loop.steps - 1}:
            if 0 < steps < loop.steps:
                yield replace(loop, steps=steps)
    for number, made in enumerate(loop.code):
        code = loop.code
        if made.loop is None:
            fewer = _without_values(loop, _first_value(loop, number), 1)
            if fewer is not None:
                yield replace(fewer, code=_without(fewer.code, number))
            if made.kind != "half":
                for arg in dict.fromkeys(made.args):
                    half = Instruction("half", (arg,))
                    yield replace(loop, code=(*code[:number], half, *code[number + 1 :]))
        else:
            yield from _smaller_inside(loop, number, made.loop)
    yield from _fewer_given(loop)


def _smaller_inside(loop: RandomLoop, number: int, inner: RandomLoop) -> Iterator[RandomLoop]:
    """With less of a loop within it, or without."""
    made, place = loop.code[number], _first_value(loop, number)
    whole = _without_values(loop, place, len(inner.outputs))
    if whole is not None:
        yield replace(whole, code=_without(whole.code, number))
    for output in range(len(inner.outputs)):
        fewer = _without_output(inner, output)
        around = _without_values(loop, place + output, 1)
        if fewer is not None and around is not None and len(inner.outputs) > 1:
            changed = replace(around.code[number], loop=fewer)
            yield replace(around, code=(*around.code[:number], changed, *around.code[number + 1 :]))
    for fewer in _smaller_loops(inner):
        changed = replace(made, loop=fewer)
        yield replace(loop, code=(*loop.code[:number], changed, *loop.code[number + 1 :]))


def _fewer_given(loop: RandomLoop) -> Iterator[RandomLoop]:
    """Without a sequence, or a value from outside, that no step reads."""
    place = 0
    for number, sequence in enumerate(loop.sequences):
        fewer = _without_values(loop, place, len(sequence.taps))
        if fewer is not None and (loop.says_steps or len(loop.sequences) > 1):
            yield replace(fewer, sequences=_without(loop.sequences, number))
        place += len(sequence.taps)
    place += sum(len(taps.taps) for taps in loop.outputs if taps is not None)
    for name in ("others", "captured"):
        values = getattr(loop, name)
        for number in range(len(values)):
            fewer = _without_values(loop, place + number, 1)
            if fewer is not None:
                changed: dict[str, Any] = {name: _without(values, number)}
                yield replace(fewer, **changed)
        place += len(values)


def _without_output(loop: RandomLoop, number: int) -> RandomLoop | None:
    before = sum(len(sequence.taps) for sequence in loop.sequences)
    before += sum(len(taps.taps) for taps in loop.outputs[:number] if taps is not None)
    own = loop.outputs[number]
    fewer = replace(loop, results=_without(loop.results, number))
    left = _without_values(fewer, before, 0 if own is None else len(own.taps))
    return None if left is None else replace(left, outputs=_without(loop.outputs, number))


def _given(loop: RandomLoop) -> int:
    """How many values a step is given."""
    taps = [*loop.sequences, *(taps for taps in loop.outputs if taps is not None)]
    shared = 0 if loop.shared is None else 1
    return sum(len(each.taps) for each in taps) + len(loop.others) + len(loop.captured) + shared


def _first_value(loop: RandomLoop, number: int) -> int:
    """The number of the first value that an instruction makes."""
    made = [1 if each.loop is None else len(each.loop.outputs) for each in loop.code[:number]]
    return _given(loop) + sum(made)


def _without_values(loop: RandomLoop, first: int, count: int) -> RandomLoop | None:
    """With other numbers for the values after some; None if those are read."""
    gone = range(first, first + count)

    def moved(value: int) -> int:
        return value if value < first else value - count

    code: list[Instruction] = []
    for made in loop.code:
        read = {made.args[i] for i in _read(made.loop)} if made.loop else set(made.args)
        if read & set(gone):
            return None
        args = tuple(0 if arg in gone else moved(arg) for arg in made.args)
        code.append(replace(made, args=args))
    if set(loop.results) & set(gone) or loop.ends in gone:
        return None
    ends = None if loop.ends is None else moved(loop.ends)
    return replace(loop, code=tuple(code), results=tuple(map(moved, loop.results)), ends=ends)


def _read(loop: RandomLoop) -> set[int]:
    """Which of its arguments a loop reads."""
    taps = [*loop.sequences, *(taps for taps in loop.outputs if taps is not None)]
    return {each.arg for each in taps} | {*loop.others, *loop.captured}


def _without(parts: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    return (*parts[:number], *parts[number + 1 :])


# --- as text --------------------------------------------------------------------------------------


def text(case: Case) -> list[str]:
    """Lines that make the inputs, with values, and the outputs and their cost, in symbols."""
    writer = _Writer()
    names: list[str] = []
    for node, value in zip(case.args, case.given, strict=True):
        name = node.name or "s"
        names.append(name)
        writer.lines.append(f"{name}_value = np.array({value.tolist()}, {value.dtype.name!r})")
        if node is case.shared:
            writer.lines.append(f"{name} = symc.shared({name}_value, name={name!r})")
        else:
            shape = tuple(dim if isinstance(dim, int) else None for dim in node.type.shape)
            made = f"T.tensor({node.dtype.name!r}, {shape}, name={name!r})"
            writer.lines.append(f"{name} = {made}")
    steps = "steps" if case.symbolic_steps else str(case.loop.steps)
    if case.symbolic_steps:
        writer.lines += ["steps = T.lscalar('steps')", f"steps_value = np.array({case.loop.steps})"]
    outputs, updates = writer.loop(case.loop, names, steps, "")
    after = "" if case.shared is None else f", {updates}[s]"
    writer.lines.append(f"outputs = [*{outputs}{after}]")
    return writer.lines


class _Writer:
    """Writes loops as steps and calls of `symc.scan`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def loop(
        self, loop: RandomLoop, args: Sequence[str], steps: str, indent: str,
        around: Sequence[str] = (),
    ) -> tuple[str, str]:  # fmt: skip
        """The names of the outputs and of the updates."""
        step, number = self.fresh("step"), self.fresh("i")
        taps = [*loop.sequences, *(each for each in loop.outputs if each is not None)]
        own = [self.fresh("v") for each in taps for _ in each.taps]
        own += [self.fresh("v") for _ in loop.others]
        counts = any(made.kind in SLICED or made.loop for made in loop.code)
        given = ", ".join([*([number] if counts else []), *own])
        self.lines.append(f"{indent}def {step}({given}):")
        pool = [*own, *(args[i] for i in loop.captured)]
        pool += [] if loop.shared is None else [args[loop.shared]]
        self.step(loop, pool, indent + "    ", (number, *around))
        found, updates = self.fresh("outputs"), self.fresh("updates")
        sequences = ", ".join([
            *(["T.arange(" + str(MOST) + ")"] if counts else []),
            *(f"dict(input={args[s.arg]}, taps={list(s.taps)})" for s in loop.sequences),
        ])  # fmt: skip
        states = ", ".join(self.state(taps, args) for taps in loop.outputs)
        others = ", ".join(args[i] for i in loop.others)
        self.lines.append(
            f"{indent}{found}, {updates} = symc.scan({step}, [{sequences}], [{states}], [{others}],"
            f" {steps if loop.says_steps else None}, {loop.truncate}, {loop.backwards},"
            f" return_list=True, checkpoint={loop.checkpoint})"
        )
        return found, updates

    def state(self, taps: Taps | None, args: Sequence[str]) -> str:
        """The entry of `outputs_info` for an output."""
        if taps is None:
            return "None"
        if taps.taps == (-1,):
            return args[taps.arg]
        return f"dict(initial={args[taps.arg]}, taps={list(taps.taps)})"

    def step(self, loop: RandomLoop, pool: list[str], indent: str, numbers: Sequence[str]) -> None:
        for made in loop.code:
            args = [pool[i] for i in made.args]
            if made.loop is not None:
                found, _ = self.loop(made.loop, args, str(made.loop.steps), indent, numbers)
                pool += [f"{found}[{k}]" for k in range(len(made.loop.outputs))]
                continue
            name = self.fresh("v")
            self.lines.append(f"{indent}{name} = {self.value(made, args, numbers)}")
            pool.append(name)
        results = ", ".join(pool[i] for i in loop.results[: len(loop.outputs)])
        parts = [f"[{results}]"]
        if loop.shared is not None:
            parts.append(f"{{s: {pool[loop.results[-1]]}}}")
        if loop.ends is not None:
            parts.append(f"symc.until({pool[loop.ends]}.sum() > 0.5)")
        self.lines.append(f"{indent}return {', '.join(parts)}")

    def value(self, made: Instruction, args: Sequence[str], numbers: Sequence[str]) -> str:
        """The text of an instruction."""
        if made.kind == "choose":
            c, a, b = args
            return f"symc.ifelse(T.sum({c}) > 0.2, T.sin({a} * 0.7), {a} * 0.1 + {b})"
        if made.kind == "constant":
            return "T.constant(0.7)"
        known = {"m": "T", **dict(zip("ab", args, strict=False))}
        if made.kind in SLICED:
            known["i"] = numbers[made.level]
        return _filled(TEXTS[made.kind], known)


def _filled(text: str, names: dict[str, str]) -> str:
    """A text with other names for its one letters."""
    return re.sub(r"\b([mabi])\b", lambda found: names[found[1]], text)
