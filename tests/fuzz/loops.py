"""Random loops, run in three ways: by NumPy and a loop in Python, by a loop in Python over symbols
(the graph of all steps, written out), and by `symc.scan`.

A loop is described by its seed alone: its sequences and states with their taps, the values a step
computes, loops and branches within it, and when it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import symc
from symc import tensor as T

Shape = tuple[int, ...]

WIDTH, HEIGHT = 3, 2  # of the rows

# The operations of a step on one or two values, written once for NumPy and for `symc.tensor`: of
# `a` and `b`, or of `a` and the number `i` of a step, by the functions of `m`.
ONE = {
    "tanh": "m.tanh(a)", "sin": "m.sin(a)", "half": "a * 0.5",
    "bent": "m.where(a > 0.1, m.sqrt(abs(a)), a * 0.3)",
}  # fmt: skip
TWO = {"add": "a + b", "sub": "a - b", "mul": "a * m.tanh(b)", "max": "m.maximum(a, b)"}
OTHER = {
    "quarter": "a * 0.25", "total": "m.sum(a)", "rows": "m.sum(a, axis=0)", "last": "a[-1]",
    "dot": "m.dot(a, b) * 0.4", "outer": "m.tanh(a)[:, None] * m.sin(b)[None, :]",
    "gram": "m.dot(a.T, b) * 0.3",
}  # fmt: skip
# Parts whose lengths follow from the number of a step, folded: of a value along its first axis.
SLICED = {
    "before": "m.sum(a[:i], axis=0)", "behind": "m.sum(a[i:], axis=0)",
    "window": "m.sum(m.sin(a[i : i + 2]), axis=0)",
    "backwards": "m.sum(m.tanh(a[i::-1]), axis=0)",
    "twice": "m.sum(a[i // 2 : 2 * i + 1][::2] * 0.5, axis=0)",
}  # fmt: skip
TEXTS = {**ONE, **TWO, **OTHER, **SLICED}
EVERY: dict[str, Callable[..., Any]] = {
    name: eval(f"lambda m, a, {'i' if name in SLICED else 'b=None'}: {text}")
    for name, text in TEXTS.items()
}
MOST = 16  # steps, of any loop


@dataclass(frozen=True)
class Instruction:
    """One value of a step, or (of a loop) several, computed from earlier ones.

    A slice is bounded by the number of the own step, or (`level` 1 ...) of one around it."""

    kind: str
    args: tuple[int, ...]
    loop: RandomLoop | None = None
    level: int = 0


@dataclass(frozen=True)
class Taps:
    """Rows of a sequence, or earlier rows of a state, that a step reads: of argument `arg`."""

    arg: int
    taps: tuple[int, ...]


@dataclass(frozen=True)
class RandomLoop:
    """A loop over arguments known by their numbers.

    Of `outputs` None is collected, and others start from an argument. `results` are the values of a
    step that they become; after them that of `shared`, an argument that steps change. The loop
    ends after the step where the sum of the value `ends` exceeds 0.5.
    """

    sequences: tuple[Taps, ...]
    outputs: tuple[Taps | None, ...]
    others: tuple[int, ...]
    captured: tuple[int, ...]
    shared: int | None
    code: tuple[Instruction, ...]
    results: tuple[int, ...]
    ends: int | None
    steps: int
    says_steps: bool
    backwards: bool
    truncate: int
    checkpoint: int | None


# --- making them ----------------------------------------------------------------------------------


class Maker:
    """Makes random loops."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def some(self, items: Sequence[int], low: int, high: int) -> tuple[int, ...]:
        count = min(int(self.rng.integers(low, high + 1)), len(items))
        return tuple(int(i) for i in self.rng.choice(list(items), count, replace=False))

    def loop(
        self, pool: list[tuple[Shape, bool]], depth: int, shared: int | None = None
    ) -> tuple[RandomLoop, list[Shape]]:
        """A loop over a pool of values (their shapes, and whether they are integers).

        Also the shapes of its outputs.
        """
        outer = depth == 0
        usable = [i for i in range(len(pool)) if i != shared]
        rowed = [i for i in usable if pool[i][0] and pool[i][0][0] > 1]
        sequences: list[Taps] = []
        steps = int(self.rng.integers(0 if outer and self.chance(0.3) else 1, 8 if outer else 4))
        available = 99
        for arg in self.some(rowed, 0, 3 if outer else 2):
            taps = self.some([-2, -1, 0, 1, 2], 1, 3) if self.chance(0.4) else (0,)
            own = pool[arg][0][0] - max(0, *taps) + min(0, *taps)
            if own >= 1:
                sequences.append(Taps(arg, taps))
                available = min(available, own)
        says_steps = not sequences or self.chance(0.4)
        steps = min(steps, available) if says_steps else available
        outputs = tuple(self.output(pool, usable) for _ in range(int(self.rng.integers(1, 4))))
        others = self.some([i for i in usable if len(pool[i][0]) < 3], 0, 2)
        captured = self.some([i for i in usable if len(pool[i][0]) < 3], 0, 2)
        inner = [(pool[s.arg][0][1:], pool[s.arg][1]) for s in sequences for _ in s.taps]
        rows = [None if o is None else pool[o.arg][0][o.taps != (-1,) :] for o in outputs]
        inner += [
            (row, False)
            for o, row in zip(outputs, rows, strict=True)
            if o is not None and row is not None
            for _ in o.taps
        ]
        inner += [pool[i] for i in (*others, *captured)]
        if shared is not None:
            inner.append(pool[shared])
            rows.append(pool[shared][0])
        code = self.code(inner, depth)
        results = [self.result(inner, row, code) for row in rows]
        ends = self.pick(_floats(inner)) if self.chance(0.2) else None
        plain = ends is None
        truncate = int(self.rng.integers(1, 6)) if plain and self.chance(0.15) else -1
        checkpoint = int(self.rng.integers(1, 5)) if plain and self.chance(0.2) else None
        loop = RandomLoop(
            tuple(sequences), outputs, others, captured, shared, tuple(code), tuple(results), ends,
            steps, says_steps, self.chance(0.3), truncate if checkpoint is None else -1, checkpoint,
        )  # fmt: skip
        return loop, [inner[r][0] for r in results[: len(outputs)]]

    def output(self, pool: list[tuple[Shape, bool]], usable: list[int]) -> Taps | None:
        floats = [i for i in usable if not pool[i][1] and len(pool[i][0]) < 3]
        if self.chance(0.25):
            return None
        if self.chance(0.35):
            taps = self.pick([(-2, -1), (-1, -3), (-2,), (-3, -2, -1), (-1, -2)])
            deep = [i for i in floats if pool[i][0] and pool[i][0][0] >= -min(taps)]
            if deep:
                return Taps(self.pick(deep), taps)
        return Taps(self.pick(floats), (-1,))

    def code(self, pool: list[tuple[Shape, bool]], depth: int) -> list[Instruction]:
        """The lines of a step; their values are added to the pool."""
        made: list[Instruction] = []
        for number in [i for i, (_, whole) in enumerate(pool) if whole]:
            made.append(Instruction("quarter", (number,)))
            pool.append((pool[number][0], False))
        if not _floats(pool):
            pool.append(((), False))
            made.append(Instruction("constant", ()))
        for _ in range(int(self.rng.integers(3, 9))):
            made += self.instruction(pool, depth)
        return made

    def instruction(self, pool: list[tuple[Shape, bool]], depth: int) -> list[Instruction]:
        floats = _floats(pool)
        first = self.pick(floats[-5:] if self.chance(0.6) else floats)
        shape = pool[first][0]
        fits = [i for i in floats if pool[i][0] in (shape, ())]
        second = self.pick(fits)
        kinds = "one one two two two other other choose loop slice"
        kind = self.pick(kinds.split())
        if kind == "one":
            return self.add(pool, Instruction(self.pick(list(ONE)), (first,)), shape)
        if kind == "two":
            return self.add(pool, Instruction(self.pick(list(TWO)), (first, second)), shape)
        if kind == "choose":
            third = self.pick(floats)
            return self.add(pool, Instruction("choose", (third, first, second)), shape)
        if kind == "loop":
            if depth == 2 or self.chance(0.5):
                return []
            found: list[Instruction] = []
            loop, rows = self.loop(list(pool), depth + 1)
            if loop.steps == 0:
                return []
            start = len(pool)
            found.append(Instruction("loop", tuple(range(start)), loop))
            # Not to be used as it is; of a loop that may end early, not at all.
            pool += [((loop.steps, *row) if loop.ends is None else 4 * (0,), True) for row in rows]
            for number, row in enumerate(rows):
                found += self.add(
                    pool, Instruction(self.pick(["last", "rows"]), (start + number,)), row
                )
            return found
        if kind == "slice":
            if not shape:
                return []
            level = int(self.rng.integers(0, depth + 1))
            made = Instruction(self.pick(list(SLICED)), (first,), level=level)
            return self.add(pool, made, shape[1:])
        return self.product(pool, floats, first)

    def product(
        self, pool: list[tuple[Shape, bool]], floats: list[int], first: int
    ) -> list[Instruction]:
        shape = pool[first][0]
        square = [i for i in floats if pool[i][0] == (WIDTH, WIDTH)]
        alike = [i for i in floats if pool[i][0] == shape]
        if shape[-1:] == (WIDTH,) and square and self.chance(0.5):
            return self.add(pool, Instruction("dot", (first, self.pick(square))), shape)
        if shape == (WIDTH,):
            return self.add(pool, Instruction("outer", (first, self.pick(alike))), (WIDTH, WIDTH))
        if len(shape) == 2 and shape[1] == WIDTH:
            return self.add(pool, Instruction("gram", (first, self.pick(alike))), (WIDTH, WIDTH))
        return self.add(pool, Instruction("total", (first,)), ())

    def add(
        self, pool: list[tuple[Shape, bool]], made: Instruction, shape: Shape
    ) -> list[Instruction]:
        pool.append((shape, False))
        return [made]

    def result(
        self, pool: list[tuple[Shape, bool]], row: Shape | None, code: list[Instruction]
    ) -> int:
        """The number of a value with this shape, of any if None."""
        fits = [i for i in _floats(pool) if row is None or pool[i][0] == row]
        found: int = self.pick(fits[-3:] if self.chance(0.7) else fits)
        if row is not None:
            code += self.add(pool, Instruction(self.pick(["tanh", "sin", "half"]), (found,)), row)
            if self.chance(0.5):
                first = next(i for i in range(len(pool)) if pool[i] == (row, False))
                code += self.add(pool, Instruction("add", (first, len(pool) - 1)), row)
            found = len(pool) - 1
        return found


def _floats(pool: list[tuple[Shape, bool]]) -> list[int]:
    return [i for i, (_, whole) in enumerate(pool) if not whole]


# --- running them ---------------------------------------------------------------------------------


class Written:
    """Runs loops in Python: with NumPy's values, or writing out the graph of all steps.

    `counts` has how many steps each loop took that may end early, in the order of their runs: found
    with values, needed with symbols.
    """

    def __init__(self, module: Any, counts: list[int]) -> None:
        self.module, self.counts = module, counts
        self.replay: Iterator[int] | None = iter(counts) if module is T else None

    def run(
        self, loop: RandomLoop, args: Sequence[Any], around: Sequence[Any] = ()
    ) -> tuple[list[list[Any]], Any]:
        """The rows of each output, and the shared variable afterwards, in loops `around`."""
        steps = loop.steps
        if loop.ends is not None and self.replay is not None:
            steps = next(self.replay)
        rows: list[list[Any]] = [
            [] if o is None
            else [args[o.arg]] if o.taps == (-1,)
            else [args[o.arg][i] for i in range(-min(o.taps))]
            for o in loop.outputs
        ]  # fmt: skip
        depths = [len(row) for row in rows]
        shared = None if loop.shared is None else args[loop.shared]
        first_kept = 0 if loop.truncate == -1 else max(steps - loop.truncate, 0)
        if self.replay is not None and first_kept:
            rows = [[symc.disconnected_grad(r) for r in row] for row in rows]
            shared = None if shared is None else symc.disconnected_grad(shared)
        place, taken = len(self.counts), 0
        if loop.ends is not None and self.replay is None:
            self.counts.append(0)
        for t in range(steps):
            values = self.step(loop, args, t, rows, shared, around)
            new = [values[r] for r in loop.results]
            if self.replay is not None and t < first_kept:
                new = [symc.disconnected_grad(value) for value in new]
            for row, value in zip(rows, new, strict=False):
                row.append(value)
            shared = None if loop.shared is None else new[-1]
            taken = t + 1
            if loop.ends is not None and self.replay is None and values[loop.ends].sum() > 0.5:
                break
        if loop.ends is not None and self.replay is None:
            self.counts[place] = taken
        return [row[depth:] for row, depth in zip(rows, depths, strict=True)], shared

    def step(
        self, loop: RandomLoop, args: Sequence[Any], t: int, rows: list[list[Any]], shared: Any,
        around: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        given: list[Any] = []
        for sequence in loop.sequences:
            low, high = min(0, *sequence.taps), max(0, *sequence.taps)
            for tap in sequence.taps:
                at = -1 - t - (high - tap) if loop.backwards else t + tap - low
                given.append(args[sequence.arg][at])
        for output, row in zip(loop.outputs, rows, strict=True):
            given += [] if output is None else [row[tap] for tap in output.taps]
        given += [args[i] for i in (*loop.others, *loop.captured)]
        if loop.shared is not None:
            given.append(shared)
        number = MOST - 1 - t if loop.backwards else t
        return computed(loop.code, given, self.module, self.inner, self.choose, (number, *around))

    def inner(self, loop: RandomLoop, args: Sequence[Any], around: Sequence[Any]) -> list[Any]:
        rows, _ = self.run(loop, args, around)
        return [T.stack(row) if self.replay is not None else np.stack(row) for row in rows]

    def choose(self, condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        if self.replay is not None:
            return T.where(condition, then(), otherwise())
        return then() if condition else otherwise()


class Scanned:
    """Makes `symc.scan` of loops."""

    def run(
        self, loop: RandomLoop, args: Sequence[Any], steps: Any = None, around: Sequence[Any] = ()
    ) -> tuple[list[Any], Any]:
        """The outputs, and the shared variable afterwards."""
        counts = any(made.kind in SLICED or made.loop for made in loop.code)

        def step(*given: Any) -> Any:
            numbers, given = (given[:1], given[1:]) if counts else ((), given)
            values = [*given, *(args[i] for i in loop.captured)]
            values += [] if loop.shared is None else [args[loop.shared]]
            values = computed(loop.code, values, T, self.inner, self.choose, (*numbers, *around))
            new = [values[r] for r in loop.results]
            parts: list[Any] = [new[: len(loop.outputs)]]
            if loop.shared is not None:
                parts.append({args[loop.shared]: new[-1]})
            if loop.ends is not None:
                parts.append(symc.until(values[loop.ends].sum() > 0.5))
            # Alone in a tuple, two outputs of which the first is a shared variable are an update.
            return parts[0] if len(parts) == 1 else tuple(parts)

        outputs, updates = symc.scan(
            step,
            [
                *([T.arange(MOST)] if counts else []),
                *({"input": args[s.arg], "taps": list(s.taps)} for s in loop.sequences),
            ],
            [
                None if o is None
                else args[o.arg] if o.taps == (-1,)
                else {"initial": args[o.arg], "taps": list(o.taps)}
                for o in loop.outputs
            ],
            [args[i] for i in loop.others],
            (loop.steps if steps is None else steps) if loop.says_steps else None,
            loop.truncate, loop.backwards, return_list=True, checkpoint=loop.checkpoint,
        )  # fmt: skip
        return outputs, None if loop.shared is None else updates[args[loop.shared]]

    def inner(self, loop: RandomLoop, args: Sequence[Any], around: Sequence[Any]) -> list[Any]:
        return self.run(loop, args, around=around)[0]

    def choose(self, condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        return symc.ifelse(condition, then(), otherwise())


def computed(
    code: Sequence[Instruction], given: Sequence[Any], module: Any, inner: Any, choose: Any,
    numbers: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """All values of a step; `numbers` are its own and those of the steps around it."""
    pool = list(given)
    for made in code:
        values = [pool[i] for i in made.args]
        if made.kind == "loop":
            pool += inner(made.loop, values, numbers)
        elif made.kind in SLICED:
            pool.append(EVERY[made.kind](module, *values, numbers[made.level]))
        elif made.kind == "choose":
            pool.append(_chosen(module, values, choose))
        elif made.kind == "constant":
            pool.append(module.asarray(0.7) if module is np else T.constant(0.7))
        else:
            pool.append(EVERY[made.kind](module, *values))
    return pool


def _chosen(module: Any, values: list[Any], choose: Any) -> Any:
    condition, a, b = values
    return choose(module.sum(condition) > 0.2, lambda: module.sin(a * 0.7), lambda: a * 0.1 + b)
