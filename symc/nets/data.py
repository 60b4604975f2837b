"""What the examples learn from: digits and a text that are there, stripes and discs drawn here."""

from __future__ import annotations

import codecs
import contextlib
import io
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symc.demo import digits as shipped

Batch: TypeAlias = tuple[NDArray[Any], ...]
ALPHABET = 45
"""How many letters the text is written with."""


def digits(steps: int, size: int = 32, seed: int = 0) -> Iterator[Batch]:
    """Handwritten digits, (size, 1, 8, 8), and their classes."""
    rng, known = np.random.default_rng(seed), shipped.load()
    for _ in range(steps):
        some = known[rng.integers(0, len(known), size)]
        yield some.images.reshape(-1, 1, 8, 8), some.classes


def pixels(steps: int, size: int = 32, seed: int = 0) -> Iterator[Batch]:
    """Handwritten digits as rows of pixels from 0 to 1, (size, 64)."""
    return ((images.reshape(len(images), -1),) for images, _ in digits(steps, size, seed))


def stripes(steps: int, side: int = 32, size: int = 16, seed: int = 0) -> Iterator[Batch]:
    """Coloured stripes in noise, (size, 3, side, side): upright, level or slanting."""
    rng = np.random.default_rng(seed)
    row, column = np.mgrid[:side, :side]
    along = np.stack([column, row, row + column])
    for _ in range(steps):
        kinds = rng.integers(0, 3, size)
        shifts, colours = rng.uniform(0, 6, (size, 1, 1)), rng.uniform(0.5, 1, (size, 3, 1, 1))
        waves = colours * np.sin(along[kinds] + shifts)[:, None]
        noise = 0.2 * rng.standard_normal((size, 3, side, side))
        yield (waves + noise).astype(np.float32), kinds


def discs(steps: int, side: int = 32, size: int = 8, seed: int = 0) -> Iterator[Batch]:
    """Images with a disc in noise, (size, 1, side, side), and which pixels are the disc's."""
    rng = np.random.default_rng(seed)
    row, column = np.mgrid[:side, :side]
    for _ in range(steps):
        y, x = rng.uniform(side / 4, 3 * side / 4, (2, size, 1, 1))
        radius = rng.uniform(side / 10, side / 4, (size, 1, 1))
        disc = (((row - y) ** 2 + (column - x) ** 2) < radius**2).astype(np.float32)[:, None]
        noise = 0.5 * rng.standard_normal((size, 1, side, side))
        yield (disc + noise).astype(np.float32), disc


def text() -> tuple[NDArray[np.int64], str]:
    """The Zen of Python, which every Python holds, as numbers of letters, and its alphabet."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    words = codecs.decode(this.s, "rot13")
    alphabet = "".join(sorted(set(words)))
    return np.array([alphabet.index(letter) for letter in words]), alphabet


def letters(steps: int, length: int = 32, size: int = 16, seed: int = 0) -> Iterator[Batch]:
    """Pieces of the text, (size, length)."""
    rng, (numbers, _) = np.random.default_rng(seed), text()
    for _ in range(steps):
        starts = rng.integers(0, len(numbers) - length, size)
        yield (numbers[starts[:, None] + np.arange(length)],)
