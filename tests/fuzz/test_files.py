"""Damaged files of saved functions are refused by `BadFile`, or their functions can be called."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import files


def agree(seeds: range, folder: Path, mode: str) -> None:
    """Loads a damaged file for each seed, and calls its function: nothing worse than errors."""
    good = [files.good(number, folder) for number in range(len(files.GOOD))]
    for number, said in files.outcomes(good, mode=mode):
        assert said == "ran", (number, said)
    made: list[tuple[bytes, tuple[Any, ...]]] = []
    for seed in seeds:
        data, arguments = good[seed % len(good)]
        made.append((files.damaged(data, random.Random(seed)), arguments))
    heard = set[int]()
    for number, said in files.outcomes(made, mode=mode):
        assert not said.startswith("worse"), f"seed={seeds[number]} mode={mode}\n{said}"
        heard.add(number)
    assert len(heard) == len(seeds)


def test_damaged_files_are_refused_or_run(tmp_path: Path, seed: int) -> None:
    agree(range(seed, seed + 300), tmp_path, "python")


def test_damaged_files_that_are_compiled_are_refused_or_run(tmp_path: Path, seed: int) -> None:
    agree(range(seed + 1000, seed + 1060), tmp_path, "compile")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["python", "default"])
@pytest.mark.parametrize("first", range(10_000, 14_000, 500))
def test_many_damaged_files(tmp_path: Path, mode: str, first: int) -> None:
    agree(range(first, first + 500), tmp_path, mode)
