"""Programs on the first device of OpenCL: PoCL, where its wheel is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from symc import opencl
from tests.opencl.programs import PROGRAMS

ROOT = Path(__file__).parents[2]
FEW = (
    "elements",
    "every_float16",
    "teams",
    "four_sums_over_a_team",
    "products_of_matrices",
    "shared_variables_stay_on_the_device",
    "what_is_refused",
)
SINGLE = ("sums_without_doubles", "doubles_where_there_are_none")
PRETENDING = (*SINGLE, "a_device_without_addresses")

needs_opencl = pytest.mark.skipif(
    not any(not device.why_refused for device in opencl.devices()),
    reason="no device of OpenCL (pip install '.[opencl]')",
)


def ran(*names: str, without: str = "") -> None:
    """Runs some programs in another process, on devices that are taken to lack something."""
    command = [sys.executable, "-m", "tests.opencl.programs", *names]
    place = {**os.environ, "SYMC_OPENCL_WITHOUT": without}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=place, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split() == [*names]


@needs_opencl
def test_programs() -> None:
    ran(*FEW)


@needs_opencl
def test_a_device_without_double_precision() -> None:
    ran(*SINGLE, without="cl_khr_fp64")


@needs_opencl
def test_a_device_without_addresses() -> None:
    ran("a_device_without_addresses", without="svm")


@needs_opencl
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in (*FEW, *PRETENDING)])
def test_a_program(name: str) -> None:
    ran(name)
