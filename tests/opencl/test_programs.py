"""Programs on the first device of OpenCL: PoCL, where its wheel is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from symc import opencl
from symc.codegen.errors import CompileFailed
from symc.codegen.record import replace
from symc.codegen.targets.compiler import find_compiler
from symc.codegen.targets.opencl import platforms
from tests.opencl.programs import PROGRAMS

ROOT = Path(__file__).parents[2]
FEW = (
    "elements",
    "every_float16",
    "teams",
    "compilers_may_lack_sub_groups",
    "four_sums_over_a_team",
    "products_of_matrices",
    "shared_variables_stay_on_the_device",
    "a_bug_edges_of_bins_were_rounded_otherwise",
    "what_is_refused",
)
OPS = ("test_choosing", "test_far_integers", "test_part_products")
SINGLE = ("sums_without_doubles", "doubles_where_there_are_none", "training_without_doubles")
PRETENDING = (*SINGLE, "a_device_without_addresses")

needs_opencl = pytest.mark.skipif(
    not any(not device.why_refused for device in opencl.devices()),
    reason="no device of OpenCL (pip install '.[opencl]')",
)


def ran(*names: str, without: str = "", **variables: str) -> None:
    """Runs some programs in another process, on devices that are taken to lack something."""
    command = [sys.executable, "-m", "tests.opencl.programs", *names]
    place = {**os.environ, "SYMC_OPENCL_WITHOUT": without, **variables}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=place, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split() == [*names]


class _Mute(platforms.Platforms):
    """PoCL on a processor that came after it: it is found, and all that it compiles fails."""

    def __init__(self) -> None:
        pass

    def compile(self, device: platforms.Found, text: str) -> bytes:
        raise CompileFailed(text, [device.title], "error: unknown target CPU 'generic'\nfailed\n")


def test_a_device_whose_compiler_knows_no_such_processor_is_refused() -> None:
    """It was listed, and its tests failed, on processors that PoCL's wheel does not know."""
    names = ("pthread-EPYC", platforms.POCL), ("3.0", "3.0", "3.0")
    known = platforms.Found(0, "opencl:0:0", *names[0], names[1], frozenset(), 2, True, True, 4096)
    assert not known.why_refused
    broken = replace(known, broken=_Mute().tried(known))
    assert broken.why_refused.startswith(
        "its compiler compiles nothing (error: unknown target CPU 'generic')"
    )


@needs_opencl
def test_programs() -> None:
    ran(*FEW)


@needs_opencl
def test_a_part_of_the_tests_of_numbers() -> None:
    """``scripts/test --device opencl tests/ops`` runs all of them, for an hour or two."""
    files = [f"tests/ops/{name}.py" for name in OPS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(
        [*command, "--device", "opencl"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]


@needs_opencl
def test_a_device_without_double_precision() -> None:
    ran(*SINGLE, without="cl_khr_fp64")


@needs_opencl
def test_a_device_without_addresses() -> None:
    ran("a_device_without_addresses", without="svm")


def buffers_with_addresses(folder: Path, version: str) -> dict[str, str]:
    """The environment in which PoCL is a device that has them alone, by a version of 1.0."""
    found = find_compiler()
    assert found is not None
    library = folder / "addresses.so"
    options = ["-D_GNU_SOURCE", "-shared", "-fPIC", "-I", str(platforms.FOLDER), "-o", str(library)]
    source = Path(__file__).with_name("addresses.c")
    subprocess.run([*found.command, *options, str(source)], check=True)
    (folder / "addresses.icd").write_text(str(library))
    return {
        "OCL_ICD_VENDORS": str(folder),
        "SYMC_TEST_POCL": platforms.wheel()[0],
        "SYMC_TEST_VERSION": str((1 << 22) + int(version.removeprefix("1.0."))),
    }


needs_wheel = pytest.mark.skipif(
    platforms.has_loader() or not platforms.wheel(), reason="no wheel of PoCL, or another loader"
)


@needs_opencl
@needs_wheel
def test_buffers_with_addresses_are_memory_where_none_is_shared(tmp_path: Path) -> None:
    names = ("elements", "teams", "shared_variables_stay_on_the_device")
    ran(*names, **buffers_with_addresses(tmp_path, "1.0.2"))


@needs_opencl
@needs_wheel
@pytest.mark.slow
def test_every_program_with_buffers(tmp_path: Path) -> None:
    ran(*(name for name in PROGRAMS if name not in PRETENDING),
        **buffers_with_addresses(tmp_path, "1.0.2"))  # fmt: skip


@needs_wheel
def test_older_versions_of_addresses_are_refused_by_name(tmp_path: Path) -> None:
    ran("a_device_without_addresses", **buffers_with_addresses(tmp_path, "1.0.1"))


@needs_opencl
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in (*FEW, *PRETENDING)])
def test_a_program(name: str) -> None:
    ran(name)
