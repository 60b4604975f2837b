"""Generated code compiles for other processors than this machine's.

Whether it computes the same there is tested by all tests: ``scripts/test-variants``.
"""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import symc
from symc import tensor as T
from symc.codegen.emit.program import emit
from symc.codegen.runtime.load import base, source_of
from symc.codegen.targets.c import CTarget, flags
from symc.codegen.targets.c_language import C as LANG
from symc.pipeline.compile import Clock, build
from tests.codegen.programs import Random
from tests.codegen.runtime_library import signatures
from tests.test_golden import MODELS, Model

PROCESSORS = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"]

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86-64 alone")


@pytest.fixture(params=PROCESSORS)
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CTarget:
    monkeypatch.setenv("SYMC_MARCH", request.param)
    return CTarget()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_models(make: Callable[[], Model], target: CTarget, tmp_path: Path) -> None:
    model = make()
    f = symc.function(model.inputs, model.outputs, updates=model.updates, mode="python")
    source = build(f.request, mode="default", clock=Clock(), target=target).source
    target.compile(source, tmp_path)


def test_random_programs(target: CTarget, tmp_path: Path, seed: int) -> None:
    for number in range(10):
        made = Random(1000 * seed + number).program()
        for change in target.passes():
            made = change(made)
        target.compile_text(emit(made, LANG), tmp_path)


def test_the_runtime(target: CTarget, tmp_path: Path) -> None:
    loops = [signature.loop for signature in signatures().values()]
    target.compile_text(base() + source_of(signatures()) + "".join(loops), tmp_path)


def assembly(target: CTarget, f: symc.Function) -> str:
    """The program's text in the target's assembly language."""
    source = build(f.request, mode="compile", clock=Clock(), target=target).source
    command = [*target.compiler().command, *flags(target.compiler(), quick=False)]
    done = subprocess.run(
        [*command, "-x", "c", "-S", "-", "-o", "-"], input=source.file("function.c"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_vectors_do_not_pass_through_mmx_registers(target: CTarget) -> None:
    """gcc 12 does so without AVX, and gives x87 its registers not back: long doubles became NaN."""
    x = T.matrix("x", dtype="int64")
    f = symc.function([x], [T.argmax(x, axis) for axis in (None, 0, 1, -1)], mode="python")
    assert "%mm" not in assembly(target, f)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_rows_stay_in_registers(dtype: str, target: CTarget) -> None:
    """Without AVX, gcc 12 kept a row's sums on the stack: 18 times as slow for float64."""
    x = T.matrix("x", dtype=dtype)
    f = symc.function([x], [x.sum(1), x.max(1)], mode="python")
    lines = assembly(target, f).splitlines()
    sums = [line for line in lines if re.match(r"\s*v?(add|max|min)p[sd]\s", line)]
    assert not [line for line in sums if re.search(r"\(%[er][sb]p\)", line)]


@pytest.mark.parametrize("processor", ["skylake-avx512", "rocketlake", "znver3"])
def test_choices_by_masks_are_vectors(processor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For Intel's AVX-512 gcc 12 had no vectors for bytes beside doubles: five times as slow."""
    monkeypatch.setenv("SYMC_MARCH", processor)
    mask, x, y = T.vector("mask", dtype="bool"), T.dvector("x"), T.dvector("y")
    f = symc.function([mask, x, y], T.where(mask, x, y), mode="python")
    assert re.search(r"vmovup[sd]\s+%[yz]mm\d+, \(", assembly(CTarget(), f))
