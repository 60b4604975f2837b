"""Trains a model, and times it against its twin in NumPy on the same batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symc.demo.digits import Digits
from symc.demo.models import Model
from symc.demo.twins import Step

Progress: TypeAlias = Callable[[int, float], None]

# The losses of symc and NumPy are float32 sums in another order. Their first differences are
# roundings of 6e-8; training multiplies those from step to step, by no more than this in an epoch.
TOLERANCE = 1e-3


class NotTheSame(Exception):
    """symc and NumPy disagree about a model."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of training one model."""

    model: Model
    accuracy: float
    steps: int
    seconds_per_step: float
    numpy_seconds_per_step: float
    difference: float
    """The largest relative one between the losses of symc and NumPy in the compared steps."""

    @property
    def steps_until_paid(self) -> float:
        """After how many steps making the training step took less time than it saved."""
        saved = self.numpy_seconds_per_step - self.seconds_per_step
        spent = sum(self.model.step.seconds.values())
        return spent / saved if saved > 0 else float("inf")


def batches(digits: Digits, size: int, rng: np.random.Generator) -> Iterator[Digits]:
    """One pass over the digits in random order; what does not fill a batch is left out."""
    order = rng.permutation(len(digits))
    for first in range(0, len(digits) - size + 1, size):
        yield digits[order[first : first + size]]


def train(
    model: Model,
    twin: Step,
    data: tuple[Digits, Digits],
    *,
    epochs: int,
    batch: int,
    seed: int,
    progress: Progress,
) -> Result:
    """Trains for some epochs; the twin follows the first two.

    Raises `NotTheSame` if the twin's losses are others.
    """
    learn, held_out = data
    rng = np.random.default_rng(seed)
    times: list[float] = []
    twin_times: list[float] = []
    difference = 0.0
    for epoch in range(epochs):
        losses: list[float] = []
        for digits in batches(learn, batch, rng):
            losses.append(_timed(times, model.step, digits))
            if epoch < 2:
                wanted = _timed(twin_times, twin, digits)
                difference = max(difference, abs(losses[-1] - wanted) / abs(wanted))
        progress(epoch, sum(losses) / len(losses))
    if not difference <= TOLERANCE:
        raise NotTheSame(
            f"{model.name}: the losses of symc and NumPy differ by up to {difference:.1e}, "
            f"and roundings explain {TOLERANCE:.0e}"
        )
    right = model.predict(held_out.images) == held_out.classes
    return Result(
        model, float(right.mean()), len(times), float(np.median(times)),
        float(np.median(twin_times)), difference,
    )  # fmt: skip


def _timed(times: list[float], step: Callable[..., Any], digits: Digits) -> float:
    before = time.perf_counter()
    loss = float(step(digits.images, digits.classes))
    times.append(time.perf_counter() - before)
    return loss
