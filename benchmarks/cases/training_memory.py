"""The peak memory of a training step of symc's networks, against what must live at once.

Whatever order is chosen for the steps, the intermediate arrays that are written by one of them and
read by a later one are in memory at the same time: the largest sum of these, over all steps, is
what a step cannot do without. A call may take a tenth more, and 10 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Once, Results, counted

from cases.pairwise import MIB, growth

PEAK, MOST = "peak memory growth, MiB", "of what is allowed"
SHARE, SPARE = 1.1, 10e6 / MIB  # allowed: this times what must live, and MiB more


def lenet() -> tuple[Any, list[Any]]:
    """LeNet's step, and 4,096 digits."""
    from symc import nets

    step = nets.lenet.step(nets.Weights(seed=0))
    images, classes = next(iter(nets.data.digits(1)))
    return step, [np.tile(images, (128, 1, 1, 1)), np.tile(classes, 128)]


def lstm() -> tuple[Any, list[Any]]:
    """An LSTM's step, and 256 texts of 32 letters."""
    from symc import nets

    return nets.lstm.step(nets.Weights(seed=0)), _letters()


def transformer() -> tuple[Any, list[Any]]:
    """A transformer's step, and the same texts."""
    from symc import nets

    return nets.transformer.step(nets.Weights(seed=0)), _letters()


def _letters() -> list[Any]:
    from symc import nets

    (letters,) = next(iter(nets.data.letters(1)))
    return [np.tile(letters, (16, 1))]


def symc(made: Callable[[], tuple[Any, list[Any]]]) -> Once:
    """A step of a few examples, which starts threads and libraries, and then of them all."""
    step, batch = made()
    for _ in range(2):
        step(*(array[:2] for array in batch))
    grown = growth(step, *batch)
    least = must_live(step, batch)
    allowed = SHARE * least + SPARE
    return Once(0.0, {PEAK: grown, "must live, MiB": least, MOST: grown / allowed})


def must_live(step: Any, batch: list[Any]) -> float:
    """The largest sum of intermediate arrays that live at the same time, in MiB."""
    from symc.codegen.ir import Length
    from symc.codegen.passes.kernels.memory import bytes_of, live_ranges

    program = step.runner.compilation().optimised
    inputs = [buffer.name for buffer in program.buffers if buffer.role == "input"]
    given = {
        (name, axis): length
        for name, array in zip(inputs, batch, strict=True)
        for axis, length in enumerate(array.shape)
    }
    sizes: dict[str, int] = {}
    for size in program.sizes:
        if isinstance(size.value, Length):
            sizes[size.var.name] = given[size.value.buffer, size.value.axis]
        elif size.value is not None:
            known = number(size.value, sizes)
            sizes |= {} if known is None else {size.var.name: known}
    lives = live_ranges(program)
    temps = [b for b in program.buffers if b.role == "temp" and b.of is None and b.name in lives]
    spans = [(*lives[b.name], number(bytes_of(b), sizes) or 0) for b in temps]
    sums = [sum(n for first, last, n in spans if first <= now <= last) for now, _, _ in spans]
    return max(sums, default=0) / MIB


def number(expr: Any, sizes: Mapping[str, int]) -> int | None:
    """A length for given sizes; None where it is not known."""
    from symc.codegen.cost.amounts import number_of

    return number_of(expr, sizes)


def judge(results: Results) -> list[Line]:
    """The peak, and its share of what is allowed."""
    return [counted(results, PEAK), counted(results, "must live, MiB"), counted(results, MOST, 1.0)]


CASES = tuple(
    Case(
        f"memory_{made.__name__}",
        f"peak memory of a training step of {made.__name__}",
        {"symc": Contestant(partial(symc, made), fresh=True, most=1)},
        judge,
    )
    for made in (lenet, lstm, transformer)
)
