"""`benchmarks/kernels/`: the programs are right, and the command that times them runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import symc
import symc.tensor as T

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
SHARED = ("measure", "kernels")  # modules that other tests import from other folders


@pytest.fixture(scope="module")
def kernels() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import kernels  # type: ignore[import-not-found,unused-ignore]  # pyright: ignore
        import kernels.contest  # type: ignore[import-not-found,unused-ignore]  # pyright: ignore

        yield kernels
    for name in [name for name in sys.modules if name.partition(".")[0] in SHARED]:
        sys.modules.pop(name)


def test_programs_agree_with_numpy(kernels: Any) -> None:
    assert len(kernels.KERNELS) >= 30
    for kernel in kernels.KERNELS:
        arrays = kernel.given(kernel.small)
        inputs = [T.tensor(str(x.dtype), (None,) * x.ndim) for x in arrays]
        got = symc.function(inputs, kernel.symc(*inputs), mode="python")(*arrays)
        kernels.contest.agree(got, kernel.oracle(*(x.copy() for x in arrays)), kernel.rtol)


def test_the_command_times_and_judges() -> None:
    command = [sys.executable, str(BENCHMARKS / "kernels" / "run.py"), "--quick", "--small"]
    done = subprocess.run(
        [*command, "--only", "gauss_seidel", "scaled"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr  # 1: a goal was missed
    assert "FAILED" not in done.stdout, done.stderr
    names = [line.partition(" ")[0] for line in done.stdout.splitlines()]
    assert [name for name in names if name in ("gauss_seidel", "scaled")] == [
        "gauss_seidel",
        "scaled",
    ]
    assert "over 1.3 times the best peer" in done.stdout
