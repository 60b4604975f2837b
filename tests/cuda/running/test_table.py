"""Where the functions of the driver are found: through the bindings, and without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from symc.codegen.targets.c import CTarget

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

FIND = """
import sys
if {without_bindings}:
    sys.modules["cuda"] = None
from symc.codegen.errors import CudaMissing
from symc.codegen.targets.cuda import table
try:
    found = table.addresses()
except CudaMissing as error:
    print(error)
else:
    print(sorted(found) == sorted(table.PARAMETERS), min(found.values()) > 0)
print("cuda.bindings" in sys.modules)
"""


def find(folder: Path, *, without_bindings: bool, **environment: str) -> list[str]:
    """The driver found in a process whose libcuda.so.1 is in the folder, if it is in one."""
    code = FIND.format(without_bindings=without_bindings)
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(folder), **environment},
    )  # fmt: skip
    return result.stdout.splitlines()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    command = [*CTarget().compiler().command, "-shared", "-fPIC", str(HERE / "libcuda.c")]
    subprocess.run([*command, "-o", str(folder / "libcuda.so.1")], check=True)
    return folder


def test_through_the_bindings(library: Path) -> None:
    pytest.importorskip("cuda.bindings")
    assert find(library, without_bindings=False) == ["True True", "True"]


def test_without_the_bindings(library: Path) -> None:
    assert find(library, without_bindings=True) == ["True True", "False"]


@pytest.mark.parametrize("without_bindings", [True, False])
def test_a_driver_that_is_too_old(library: Path, without_bindings: bool) -> None:
    said = find(library, without_bindings=without_bindings, WITHOUT="cuMemPoolCreate")
    assert said[0] == "the CUDA driver is too old: it has no cuMemPoolCreate of CUDA 12.0"


def test_no_driver(tmp_path: Path) -> None:
    """A file of that name that is no library stands for a machine without a driver."""
    (tmp_path / "libcuda.so.1").write_text("")
    for without_bindings in (True, False):
        said = find(tmp_path, without_bindings=without_bindings)[0]
        assert said.startswith("there is no CUDA driver (libcuda.so.1) here: ")
