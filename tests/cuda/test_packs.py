"""Loops over packs: several are on their way at a time, and nothing depends on alignment."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.status import Status
from symc.codegen.targets._abi import ffi
from symc.codegen.targets.cuda.reading import module_of
from symc.codegen.targets.cuda.target import KERNELS, CudaTarget
from symc.codegen.targets.on_device import KernelSource
from symc.cuda import device as device_of
from symc.cuda.functions import compile_for
from symc.pipeline.compile import Clock, build
from tests.cuda.devices import DEVICES, check_with_nvrtc, needs_nvrtc, needs_simulator, orders


@needs_nvrtc
@needs_simulator
def test_a_thread_asks_for_four_packs_before_it_uses_the_first() -> None:
    from symc.codegen.targets.cuda import nvrtc

    x = T.fmatrix("x")
    f = symc.function([x], [x.sum(axis=1), x.sum()], device="cuda:sim")
    check_with_nvrtc(f)
    assert f.folder is not None
    ptx = nvrtc.ptx((Path(f.folder) / KERNELS).read_text(encoding="utf-8"))
    kernels = [text for text in ptx.split(".entry ")[1:] if ".f32" in text]
    waits = [
        re.findall(r"(ld)\.global\S*\.v4\.f32|(add)\.f64", kernel)
        for kernel in kernels
        if "v4.f32" in kernel
    ]
    assert len(waits) == 3  # of whole rows, of pieces of few long ones, of chunks of everything
    for order in waits:
        assert ["".join(found) for found in order][:6] == ["ld"] * 4 + ["add"] * 2


@needs_nvrtc
@needs_simulator
@pytest.mark.parametrize("heavy", [False, True], ids=["light", "heavy"])
def test_a_thread_of_a_light_loop_has_two_packs_of_each_array(heavy: bool) -> None:
    from symc.codegen.targets.cuda import nvrtc

    x, y = T.fvector("x"), T.fvector("y")
    output = T.exp(T.tanh(x) * T.log1p(y * y)) if heavy else x * 2 + y
    f = symc.function([x, y], output, device="cuda:sim")
    check_with_nvrtc(f)
    assert f.folder is not None
    ptx = nvrtc.ptx((Path(f.folder) / KERNELS).read_text(encoding="utf-8"))
    order = re.findall(r"(ld|st)\.global\S*\.v4\.f32", ptx)
    assert order == (["ld", "ld", "st"] if heavy else ["ld"] * 4 + ["st"] * 2)
    rng = np.random.default_rng(0)
    for n in (0, 1, 4, 7, 1024, 2047, 2048, 2052, 9000):
        a, b = rng.standard_normal((2, n)).astype(np.float32)
        wanted = np.exp(np.tanh(a) * np.log1p(b * b)) if heavy else a * 2 + b
        for order_of_threads in orders("cuda:sim"):
            with order_of_threads:
                np.testing.assert_allclose(f(a, b), wanted, rtol=1e-5)


@needs_simulator
def test_a_thread_does_four_rows_of_a_tile_at_a_time() -> None:
    x = T.fmatrix("x")
    f = symc.function([x], x.T * 2, device="cuda:sim")
    check_with_nvrtc(f)
    assert f.program.count("in unroll(4):") == 2
    assert f.folder is not None
    source = (Path(f.folder) / KERNELS).read_text(encoding="utf-8")
    assert "uint32_t" not in source.partition("---- kernels ----")[2]  # positions do not wrap


@needs_nvrtc
def test_row_groups_leave_room_for_as_many_threads_as_memory_needs() -> None:
    """The share of 65,536 registers that `AHEAD` counts with."""
    from symc.codegen.targets.cuda import nvrtc

    x = T.fmatrix("x")
    centred = x - x.mean(axis=1, keepdims=True)
    norm = centred / T.sqrt(T.sqr(centred).mean(axis=1, keepdims=True) + np.float32(1e-5))
    for output, most in ((T.softmax(x, axis=1), 32), (norm, 40), (x.sum(axis=1), 32)):
        f = symc.function([x], output, mode="python")
        stages = build(f.request, mode="default", clock=Clock(), target=CudaTarget())
        made = nvrtc.compile(module_of(stages.source.file(KERNELS)))
        assert max(found.registers for found in made.resources.values()) <= most
        assert {found.stack_bytes for found in made.resources.values()} == {0}


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_any_number_of_packs(device: str) -> None:
    x, b = T.fmatrix("x"), T.fvector("b")
    e = T.exp(x - x.max(axis=1, keepdims=True))
    outputs = [e / e.sum(axis=1, keepdims=True) * b, (x * b).sum(axis=1), x.argmax(axis=1)]
    f = symc.function([x, b], outputs, device=device)
    check_with_nvrtc(f)
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (2, 127), (2, 128), (1, 516), (2, 1024), (2, 1029), (1, 6000), (1, 20483)]
    for rows, columns in shapes:
        a, c = rng.standard_normal((rows, columns)), rng.standard_normal(columns)
        a32, c32 = a.astype(np.float32), c.astype(np.float32)
        a, c = a32.astype(float), c32.astype(float)
        powers = np.exp(a - a.max(1, keepdims=True))
        wanted = [powers / powers.sum(1, keepdims=True) * c, (a * c).sum(1), a.argmax(1)]
        for order in orders(device):
            with order:
                got = f(a32, c32)
            for value, expected in zip(got, wanted, strict=True):
                np.testing.assert_allclose(value, expected, rtol=2e-6, atol=1e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_equal_rows_have_equal_sums_wherever_they_begin(device: str) -> None:
    """Rows of an odd length are aligned by turns; each thread adds up the same elements."""
    x = T.dmatrix("x")
    f = symc.function([x], [x.sum(axis=1), x[:, 1:].sum(axis=1), x.prod(axis=1)], device=device)
    row = np.random.default_rng(0).standard_normal(1503) * 10.0 ** (np.arange(1503) % 17)
    row[row == 0] = 1
    whole, rest, product = f(np.stack([row, row, row]))
    assert len({value.tobytes() for value in whole}) == 1
    assert len({value.tobytes() for value in rest}) == 1
    assert len({value.tobytes() for value in product}) == 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("output", "shape", "fits"),
    [
        (lambda x: x.sum(), (1 << 15, 1 << 15), True),
        (lambda x: x.sum(), ((1 << 15) + 1, 1 << 15), False),
        (lambda x: x.sum(axis=1), (1, 1 << 30), True),
        (lambda x: x.sum(axis=0), (1 << 28, 4), True),
        (lambda x: x.sum(axis=0), (4, 1 << 28), True),
        (lambda x: x.sum(axis=0), ((1 << 28) + 1, 4), False),
        (lambda x: T.cumsum(x, 0), (1 << 28, 4), True),
    ],
)
def test_chunks_of_computed_lengths_have_32_bit_indexes(
    output: Callable[[Any], Any], shape: tuple[int, int], fits: bool, device: str
) -> None:
    x = T.fmatrix("x")
    f = symc.function([x], output(x), mode="python")
    made = compile_for(f.request, device_of(device), mode="default", wide=False).made
    text = (Path(made.folder) / KERNELS).read_text(encoding="utf-8")
    kernels = text.partition("---- kernels ----")[2]
    assert "int64_t" not in kernels
    _, _, shapes, room = made.library.counts
    call = ffi.new("symc_device_call *")
    given, wanted = ffi.new("int64_t[]", list(shape)), ffi.new("int64_t[]", shapes + 1)
    sizes = ffi.new("int64_t[]", room + 1)
    call.lengths, call.shapes, call.sizes = given, wanted, sizes
    status = ffi.cast("int64_t(*)(symc_device_call *)", made.library.prepare)(call)
    assert status == (0 if fits else Status.TOO_LONG)


@pytest.mark.parametrize("device", DEVICES)
def test_a_sum_over_few_long_rows_has_chunks_of_all_of_it(device: str) -> None:
    x, b = T.tensor("float32", (None, None, None), "x"), T.fvector("b")
    outputs = [x.sum(), (x * b).max(), x.argmax(), x.sum(axis=(0, 1))]
    f = symc.function([x, b], outputs, device=device)
    assert "start: int32 = chunk*16384" in f.program
    check_with_nvrtc(f)
    rng = np.random.default_rng(0)
    for shape in [(2, 300, 131), (1, 1, 40000), (33000, 1, 1), (5, 1, 7), (1, 1, 1)]:
        a, c = (rng.standard_normal(s).astype(np.float32) for s in (shape, shape[2:]))
        wanted = [a.astype(float).sum(), (a * c).max(), a.argmax(), a.astype(float).sum((0, 1))]
        for order in orders(device):
            with order:
                got = f(a, c)
            for value, expected in zip(got, wanted, strict=True):
                np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-4)


def test_a_module_of_a_program_has_the_pieces_that_its_text_tells() -> None:
    """Bounds and dynamic shared memory are records when kernels are printed, not found after."""
    x = T.fmatrix("x")
    f = symc.function([x], [T.softmax(x, axis=1), T.sort(x, axis=1)], mode="python")
    target = CudaTarget()
    stages = build(f.request, mode="default", clock=Clock(), target=target)
    source = stages.source
    assert isinstance(source, KernelSource)
    module, read = source.module, module_of(source.file(KERNELS))
    assert module.text == read.text == source.file(KERNELS)
    assert module.kernels == read.kernels
    assert module.dynamic == read.dynamic == ("team_memory",)
    loose = module.written(loose={module.kernels[0].kernel}, dynamic="extern")
    assert loose == read.written(loose={module.kernels[0].kernel}, dynamic="extern")
    assert ", 1) " in loose
    assert "__shared__ __align__" not in loose
