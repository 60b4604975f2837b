"""Mistakes planted in kernels: each is found, in every order, at its line."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symc.codegen.targets import sim
from tests.cuda.device import KERNELS, ORDERS, Device, DriverError, Pointer, Three

ILLEGAL_ADDRESS, ASSERT, MISALIGNED, LAUNCH_FAILED = 700, 710, 716, 719

i32 = ctypes.c_int


def zeros(device: Device, count: int = 256) -> Pointer:
    return device.put(np.zeros(count, "f4"))


def past_end(device: Device) -> tuple[Any, ...]:
    return i32(100), device.allocate(400)


def freed(device: Device) -> tuple[Any, ...]:
    gone = zeros(device)
    device.free(gone)
    return gone, zeros(device)


def on_host(device: Device) -> tuple[Any, ...]:
    device.host = np.zeros(4, "f4")  # type: ignore[attr-defined]  # kept until the launch is over
    return Pointer(device.host.ctypes.data), zeros(device)  # type: ignore[attr-defined]


def reads(device: Device, offset: int) -> tuple[Any, ...]:
    return Pointer(zeros(device) + offset), zeros(device)


def writes(device: Device, offset: int) -> tuple[Any, ...]:
    return zeros(device), Pointer(zeros(device) + offset)


def two(device: Device) -> tuple[Any, ...]:
    return zeros(device), zeros(device)


def one(device: Device) -> tuple[Any, ...]:
    return (zeros(device),)


def some(device: Device) -> tuple[Any, ...]:
    return i32(20), zeros(device)


# kernel, blocks, threads, bytes of dynamic shared memory, arguments, result, words of the report
Case = tuple[str, Three, Three, int, Callable[[Device], tuple[Any, ...]], int, str]
CASES: tuple[Case, ...] = (
    ("no_barrier", 1, 256, 0, two, 0, "nothing has written|no barrier between"),
    ("no_second_barrier", 1, 64, 0, two, LAUNCH_FAILED, "no barrier between"),
    ("no_syncwarp", 1, 32, 0, one, 0, "nothing has written|no barrier between"),
    ("two_blocks_write", 2, 32, 0, one, LAUNCH_FAILED, "another block wrote in this launch"),
    ("two_blocks_read", 2, 1, 0, one, LAUNCH_FAILED, "another block"),
    ("shift_in_place", 1, 64, 0, some, LAUNCH_FAILED, "no barrier between"),
    ("barrier_of_some", 1, 64, 0, one, LAUNCH_FAILED, "which has returned"),
    ("two_barriers", 1, 32, 0, one, LAUNCH_FAILED, "for thread .* waits in __syncthreads"),
    ("return_before_barrier", 1, 32, 0, some, LAUNCH_FAILED, "which has returned"),
    ("return_before_shuffle", 1, 32, 0, some, LAUNCH_FAILED, "__shfl_xor_sync .* has returned"),
    ("wrong_mask", 1, 32, 0, one, LAUNCH_FAILED, "is not in its own mask 0x0000ffff"),
    ("different_masks", 1, 32, 0, one, LAUNCH_FAILED, "with mask 0x"),
    ("different_operations", 1, 32, 0, one, LAUNCH_FAILED, "which waits in __any_sync"),
    ("write_past_end", 1, 128, 0, past_end, ILLEGAL_ADDRESS,
     "writes 4 bytes .* 400 bytes after the start of one of 400 bytes"),
    ("read_before_start", 1, 32, 0, two, ILLEGAL_ADDRESS, "reads 4 bytes .* in no allocation"),
    ("write_past_shared", 1, 16, 0, one, ILLEGAL_ADDRESS, "past the end of a shared array"),
    ("write_past_dynamic", 1, 32, 120, one, ILLEGAL_ADDRESS, "120 bytes of dynamic shared"),
    ("unwritten_shared", 1, 32, 0, one, ILLEGAL_ADDRESS, "that nothing has written"),
    ("of_block_before", 2, 1, 0, one, ILLEGAL_ADDRESS, "that nothing has written"),
    ("read_one", 1, 1, 0, freed, ILLEGAL_ADDRESS, "1024 bytes that was freed"),
    ("read_one", 1, 1, 0, on_host, ILLEGAL_ADDRESS, "a pointer of the host"),
    ("read_one", 1, 1, 0, lambda d: (Pointer(0), zeros(d)), ILLEGAL_ADDRESS, "a null pointer"),
    ("read_one", 1, 1, 0, lambda d: (d.allocate(4), zeros(d)), ILLEGAL_ADDRESS,
     "device memory that nothing has written"),
    ("read_one", 1, 1, 0, lambda d: reads(d, 2), MISALIGNED, "is not aligned"),
    ("read_vector", 1, 1, 0, lambda d: reads(d, 4), MISALIGNED, "is not aligned"),
    ("write_vector", 1, 1, 0, lambda d: writes(d, 8), MISALIGNED, "is not aligned"),
    ("read_pack", 1, 1, 0, lambda d: reads(d, 4), MISALIGNED, "is not aligned"),
    ("write_pack", 1, 1, 0, lambda d: writes(d, 8), MISALIGNED, "is not aligned"),
    ("borrowed_stack", 1, 32, 0, one, ILLEGAL_ADDRESS, "another thread's stack"),
    ("asserts", 1, 32, 0, lambda _: (i32(31),), ASSERT, "assertion `threadIdx.x < n' failed"),
    ("traps", 1, 1, 0, lambda _: (), LAUNCH_FAILED, r"__trap\(\)"),
)  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{case[-1]}" for case in CASES])
def test_is_found(device: Device, case: Case, order: sim.Order) -> None:
    name, blocks, threads, shared, arguments, result, words = case
    device.sim.set_order(order)
    with pytest.raises(DriverError) as caught:
        device.run("wrong.cu", name, blocks, threads, *arguments(device), shared=shared)
    report = caught.value.report
    assert caught.value.result == result or (not result and caught.value.result in (700, 719))
    assert report.startswith(f"kernel {name}, block ("), report
    assert re.search(words, report), report
    assert f"wrong.cu:{line_of(name)}" in report, report


def line_of(mark: str) -> int:
    """The line of wrong.cu whose comment is `mark`."""
    lines = (KERNELS / "wrong.cu").read_text(encoding="utf-8").splitlines()
    (found,) = (number for number, line in enumerate(lines, 1) if line.endswith(f"  // {mark}"))
    return found


def test_the_thread_is_named(device: Device) -> None:
    with pytest.raises(DriverError, match=r"block \(3, 0, 0\), thread \(4, 0, 0\)"):
        device.run("wrong.cu", "write_past_end", 4, 32, *past_end(device))


def test_an_error_lasts_until_recover(device: Device) -> None:
    x = zeros(device)
    with pytest.raises(DriverError):
        device.run("wrong.cu", "traps", 1, 1)
    address = ctypes.c_uint64()
    assert device.result("cuMemAlloc", ctypes.byref(address), ctypes.c_size_t(4)) == LAUNCH_FAILED
    assert device.result("cuCtxSynchronize") == LAUNCH_FAILED
    device.sim.recover()
    assert device.sim.report() == ""
    assert list(device.get(x, 2, "f4")) == [0, 0]


def test_blocks_before_the_mistake_have_run(device: Device) -> None:
    to = device.allocate(400)
    with pytest.raises(DriverError):
        device.run("wrong.cu", "write_past_end", 4, 32, i32(100), to)
    device.sim.recover()
    np.testing.assert_array_equal(device.get(to, 100, "f4"), 1)


def test_a_kernel_may_run_after_one_that_failed_in_the_middle(device: Device) -> None:
    for _ in range(3):
        with pytest.raises(DriverError):
            device.run("wrong.cu", "return_before_barrier", 1, 64, *some(device))
        device.sim.recover()
        to = device.allocate(256)
        device.run("good.cu", "through_shared", 1, 64, to)
        np.testing.assert_array_equal(device.get(to, 64, "i4"), (np.arange(64) ^ 1) * 10)
