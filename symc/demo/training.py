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
    """The outcome of training one model."""

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
        return self.model.seconds / saved if saved > 0 else float("inf")


def batches(digits: Digits, size: int, rng: np.random.Generator) -> Iterator[Digits]:
    """One pass over the digits in random order; a rest that fills no batch is left out."""
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
    """Trains for some epochs, after the twin has done the first two on the same batches.

    (One after the other: threads that one keeps waiting would slow the other down.) Raises
    `NotTheSame` if the twin's losses are others.
    """
    learn, held_out = data
    twin_losses, twin_times = _run(twin, learn, min(epochs, 2), batch, seed)
    losses, times = _run(model.step, learn, epochs, batch, seed, progress)
    same = zip(losses[: len(twin_losses)], twin_losses, strict=True)
    difference = max(abs(loss - wanted) / abs(wanted) for loss, wanted in same)
    if not difference <= TOLERANCE:
        raise NotTheSame(
            f"{model.name}: the losses of symc and NumPy differ by up to {difference:.1e}, "
            f"and roundings explain {TOLERANCE:.0e}"
        )
    right = model.predict(held_out.images) == held_out.classes
    return Result(
        model,
        accuracy=float(right.mean()),
        steps=len(times),
        seconds_per_step=_typical(times),
        numpy_seconds_per_step=_typical(twin_times),
        difference=difference,
    )


def _typical(times: list[float]) -> float:
    """The tenth percentile: slower steps had to wait for whatever else the machine does."""
    return float(np.quantile(times, 0.1))


def _run(
    step: Callable[..., Any],
    digits: Digits,
    epochs: int,
    batch: int,
    seed: int,
    progress: Progress | None = None,
) -> tuple[list[float], list[float]]:
    """The loss of each step and the seconds that it took."""
    rng = np.random.default_rng(seed)
    losses: list[float] = []
    times: list[float] = []
    for epoch in range(epochs):
        for part in batches(digits, batch, rng):
            before = time.perf_counter()
            loss = float(step(part.images, part.classes))
            times.append(time.perf_counter() - before)
            losses.append(loss)
        if progress is not None:
            steps = len(losses) // (epoch + 1)
            progress(epoch, sum(losses[-steps:]) / steps)
    return losses, times
