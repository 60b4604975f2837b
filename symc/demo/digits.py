"""The data: 1,797 handwritten digits as 8x8 images. NOTICE.md names their source and licence."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).parent / "digits.csv.gz"
CLASSES = 10
PIXELS = 64

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Digits:
    """Images as rows of 64 numbers from 0 to 1, and their classes from 0 to 9."""

    images: Floats
    classes: Ints

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, rows: NDArray[Any]) -> Digits:
        """The digits of these rows."""
        return Digits(self.images[rows], self.classes[rows])


def load() -> Digits:
    """All digits, in the order of the file."""
    with gzip.open(FILE, "rt", encoding="ascii") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.int64)
    return Digits((table[:, :PIXELS] / 16).astype(np.float32), table[:, PIXELS])


def split(digits: Digits, rng: np.random.Generator, held_out: float = 0.2) -> tuple[Digits, Digits]:
    """A random part to train on and the held-out rest, with the same share of each class."""
    train: list[NDArray[Any]] = []
    test: list[NDArray[Any]] = []
    for number in range(CLASSES):
        rows = rng.permutation(np.flatnonzero(digits.classes == number))
        count = round(held_out * len(rows))
        test.append(rows[:count])
        train.append(rows[count:])
    return digits[rng.permutation(np.concatenate(train))], digits[np.sort(np.concatenate(test))]
