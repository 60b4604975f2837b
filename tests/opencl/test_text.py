"""The text of programs for OpenCL, which takes no device."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.dtypes import FLOAT16
from symc.codegen.emit.twofold import TwofoldPrinter, float32
from symc.codegen.float16 import from_float16, to_float16
from symc.codegen.runtime import load
from symc.codegen.targets.named import full_name
from symc.codegen.targets.opencl.lang import OPENCL, arguments
from symc.codegen.targets.opencl.target import OpenclTarget, image_of
from symc.codegen.verify.program import verify
from symc.errors import DeviceError
from symc.pipeline.compile import Clock, build
from tests.conftest import Golden


def test_the_text_of_a_softmax(golden: Golden) -> None:
    x = T.fmatrix("x")
    f = symc.function([x], T.nnet.softmax(x), mode="python")
    source = build(f.request, mode="default", clock=Clock(), target=OpenclTarget()).source
    golden("opencl_softmax.cl", source.file("function.cl"))


def test_a_module_says_the_arguments_of_its_kernels() -> None:
    text = (
        "__kernel void a(__global const float *restrict x, const int32_t n, const uint8_t b)\n{\n}"
        "\n"
        "__kernel void t(\n    __local char *const memory, const int64_t team_bytes,"
        " __global bool *restrict y)\n{\n}\n"
        "__kernel void t_in_global(__global char *const scratch, const int64_t team_bytes,"
        " __global bool *restrict y)\n{\n}\n"
    )
    assert arguments(text) == {"a": "p41", "t": "S8p"}
    runtime = load.source_of(["symc_gemv_kernel_f32", "symc_gemm_kernel_f64"], "opencl")
    assert arguments(runtime) == {
        "symc_gemv_kernel_f32": "*8888ppp44", "symc_gemm_kernel_f64": "*88888p888p888p8888",
    }  # fmt: skip
    assert image_of("abc", "-w", b"code") == b"symc opencl 0 2 3 4\n-wabccode"


def test_float16_is_its_bits_to_kernels() -> None:
    x = T.matrix("x", dtype="float16")
    f = symc.function([x], [x.sum(axis=1), x * 2], mode="python")
    made = build(f.request, mode="default", clock=Clock(), target=OpenclTarget())
    verify(made.optimised)
    assert all(param.dtype is not FLOAT16 for k in made.optimised.kernels for param in k.params)
    source = made.source.file("function.cl")
    assert "half *" not in source
    assert "__global const uint16_t *restrict x" in source
    assert "_Float16" not in made.source.file("function.c")


def test_bits_of_float16_in_python() -> None:
    with np.errstate(over="ignore"):
        for value in np.random.default_rng(0).standard_normal(99) * 10.0 ** np.arange(-50, 49):
            assert to_float16(value) == np.float16(value).view(np.uint16)
    for bits in range(0, 1 << 16, 7):
        np.testing.assert_equal(from_float16(bits), float(np.uint16(bits).view(np.float16)))


def test_a_bug_many_sums_of_one_kernel_took_minutes_to_compile() -> None:
    """A kernel is cut at its barriers, of which each sum has some."""
    vectors = [T.tensor("float64", (36,), f"x{number}") for number in range(40)]
    f = symc.function(vectors, [each.sum() for each in vectors], mode="python")
    made = build(f.request, mode="default", clock=Clock(), target=OpenclTarget())
    kernels = made.source.file("function.cl").split("__kernel ")[1:]
    sums = [text.count("= symc_team_add_f64(") for text in kernels]
    assert sum(sums) == 40
    assert 1 < max(sums) <= 8


def test_every_function_of_teams_is_there_for_both() -> None:
    names = [
        {
            name
            for name, symbol in load.symbols(dialect).items()
            if symbol.file == "common/team.table"
        }
        for dialect in ("cuda", "opencl")
    ]
    assert names[0] == names[1]
    assert len(names[0]) > 100


def test_no_text_has_numbers_of_128_bits() -> None:
    """``long long`` is as long in OpenCL as symc's compilers have it nowhere else."""
    for name, symbol in load.symbols("opencl").items():
        code = re.sub(r"//[^\n]*", "", symbol.text)
        assert not re.search(r"\bu?ll\b|\dul?l\b|long long", code.replace("ul", "")), name


def test_names_of_devices_in_full() -> None:
    assert [full_name(name) for name in ("opencl", "opencl:2", "opencl:2:1", "cpu")] == [
        "opencl:0:0", "opencl:2:0", "opencl:2:1", "cpu"
    ]  # fmt: skip


def test_a_device_that_lacks_something_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from symc.codegen.targets.opencl import platforms

    old = platforms.Found(
        0, "opencl:7:7", "Old Card", "Maker", ("1.2", "1.2", "1"), frozenset(), 0, True, True, 1024
    )

    class Known:
        devices = (old,)

    monkeypatch.setattr(platforms, "load", lambda keep=None: Known)
    with pytest.raises(DeviceError, match="Old Card cannot be used: it has neither shared"):
        symc.function([], T.zeros(2), device="opencl:7:7")


def test_constants_are_sums_of_two_floats_where_one_is_not_enough() -> None:
    printer = TwofoldPrinter(OPENCL, {}, ())
    assert printer.constant(0.5) == "symc_twofold_f32(0.5f)"
    text = printer.constant(0.1)
    parts = re.fullmatch(r"symc_twofold_of\((\S+)f, (\S+)f\)", text)
    assert parts is not None, text
    high, rest = map(float32, map(float, parts.groups()))
    assert high == float32(0.1)
    assert abs(high + rest - 0.1) < 2.0**-52
    assert "INFINITY" in printer.constant(1e300)
