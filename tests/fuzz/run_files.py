"""Damaged files loaded and their functions called, as a generator of the campaign."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz import files
from tests.fuzz.protocol import Compared, usual_modes


@cache
def _good(number: int) -> tuple[bytes, tuple[Any, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        return files.good(number, Path(folder))


@dataclass(frozen=True)
class DamagedFile:
    """A file of a saved function with some damage."""

    seed: int

    def run(self, mode: str) -> Compared:
        """It is refused by `BadFile`, or its function runs or raises symc's errors."""
        data, arguments = _good(self.seed % len(files.GOOD))
        files.outcome(files.damaged(data, random.Random(self.seed)), arguments, mode=mode)
        return Compared(1)

    def smaller(self) -> Iterator[DamagedFile]:
        """None: a file is damaged in one place, mostly."""
        yield from ()

    def script(self, mode: str) -> str:
        """How to make the file, and how to load it."""
        return "\n".join([
            "import random",
            "from pathlib import Path",
            "from tests.fuzz import files",
            f"data, arguments = files.good({self.seed % len(files.GOOD)}, Path('/tmp'))",
            f"data = files.damaged(data, random.Random({self.seed}))",
            f"print(files.outcome(data, arguments, mode={mode!r}))",
        ])  # fmt: skip


class Files:
    """The generator."""

    name = "files"

    def generate(self, seed: int) -> DamagedFile:
        """The file of a seed."""
        return DamagedFile(seed)

    def modes(self, seed: int) -> tuple[str, ...]:
        """Loading is the same for all; calling the loaded function, too."""
        modes = usual_modes(seed, {"default": 5, "compile": 9, "python": 1})
        return tuple(mode for mode in modes if mode != "debug")


GENERATOR = Files()
