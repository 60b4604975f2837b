"""Random programs with extreme lengths agree with Python's integers, or refuse in words."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

import symc
from tests.fuzz.run_lengths import LengthsProgram

DEVICE = "" if symc.config.device == "cpu" else symc.config.device
QUICK = range(3 if DEVICE else 24)  # compiling for a device takes longer


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """No more than 3 GB, so that too large arrays fail at once on every machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("seed", QUICK)
def test_extreme_lengths(seed: int) -> None:
    LengthsProgram(seed).run(DEVICE or ("default", "compile", "python")[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_extreme_lengths(seed: int) -> None:
    LengthsProgram(seed).run(DEVICE or ("default", "compile", "fast", "python")[seed % 4])
