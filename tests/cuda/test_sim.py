"""Kernels on the simulator: values against NumPy, and the same bits in every order of threads."""

from __future__ import annotations

import ctypes
import importlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symc.codegen.errors import CompileFailed
from symc.codegen.targets import sim
from symc.codegen.targets.cuda.reading import module_of
from tests.cuda.device import KERNELS, ORDERS, Array, Device, Pointer

mp: Any = importlib.import_module("mpmath")  # it has no types
i32, f32 = ctypes.c_int, ctypes.c_float


def in_all_orders(device: Device, run: Callable[[], Array]) -> Array:
    """The result of `run`, the same bits in each order."""
    results: list[Array] = []
    for order in ORDERS:
        device.sim.set_order(order)
        results.append(run())
    for order, result in zip(ORDERS, results, strict=True):
        assert result.tobytes() == results[0].tobytes(), f"other bits in order {order}"
    return results[0]


def random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("n", [1, 255, 256, 1000])
def test_saxpy(device: Device, seed: int, n: int) -> None:
    x, y = random(seed, 2, n).astype("f4")

    def run() -> Array:
        to = device.put(y)
        device.run("good.cu", "saxpy", -(-n // 256), 256, i32(n), f32(2.5), device.put(x), to)
        return device.get(to, n, "f4")

    np.testing.assert_allclose(in_all_orders(device, run), 2.5 * x + y, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n", [4, 7, 256, 1023])
def test_vectors(device: Device, seed: int, n: int) -> None:
    x = random(seed, n).astype("f4")
    to = device.allocate(4 * n)
    device.run("good.cu", "scale_vectors", 3, 128, i32(n), device.put(x), to)
    np.testing.assert_array_equal(device.get(to, n, "f4"), 2 * x)


def test_block_sum(device: Device, seed: int) -> None:
    x = random(seed, 5000)

    def run() -> Array:
        to = device.allocate(8 * 3)
        device.run("good.cu", "block_sum", 3, 256, i32(x.size), device.put(x), to)
        return device.get(to, 3, "f8")

    np.testing.assert_allclose(in_all_orders(device, run).sum(), x.sum(), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 100, 128, 513])
def test_softmax(device: Device, seed: int, n: int) -> None:
    x = random(seed, 3, n).astype("f4")
    x[1, n // 2] = np.nan

    def run() -> Array:
        to = device.allocate(x.nbytes)
        device.run("good.cu", "softmax", 3, 128, i32(n), device.put(x), to)
        return device.get(to, x.shape, "f4")

    powers = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    exact = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(in_all_orders(device, run), exact, rtol=1e-6)


def test_transpose(device: Device, seed: int) -> None:
    x = random(seed, 70, 45).astype("f4")

    def run() -> Array:
        to = device.allocate(x.nbytes)
        args = i32(70), i32(45), device.put(x), to
        device.run("good.cu", "transpose", (2, 3, 1), (32, 8, 1), *args)
        return device.get(to, (45, 70), "f4")

    np.testing.assert_array_equal(in_all_orders(device, run), x.T)


def test_dynamic_shared_memory(device: Device, seed: int) -> None:
    x = random(seed, 100)

    def run() -> Array:
        to = device.allocate(x.nbytes)
        device.run("good.cu", "reverse", 1, 128, i32(100), device.put(x), to, shared=128 * 12)
        return device.get(to, 100, "f8")

    np.testing.assert_array_equal(in_all_orders(device, run), x[::-1])


def test_half_precision(device: Device, seed: int) -> None:
    x = np.append(random(seed, 28) * 1000, [1e-7, 60000, np.inf, np.nan]).astype("f2")
    to = device.allocate(x.nbytes)
    device.run("good.cu", "double_halves", 1, 32, i32(x.size), device.put(x), to)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(device.get(to, x.size, "f2"), 2 * x)


def test_atomics(device: Device, seed: int) -> None:
    x = np.random.default_rng(seed).integers(0, 1 << 20, 1000, dtype="i4")

    def run() -> Array:
        out = device.put(np.zeros(23, "u4"))
        most, bits, total = (Pointer(out + 4 * place) for place in (20, 21, 22))
        args = i32(x.size), device.put(x), i32(20), out, most, bits, total
        device.run("good.cu", "histogram", 4, 256, *args)
        return device.get(out, 23, "u4")

    result = in_all_orders(device, run)
    np.testing.assert_array_equal(result[:20], np.bincount(x % 20, minlength=20))
    assert result[20] == x.max()
    assert result[21] == np.bitwise_or.reduce(x)
    assert result[22:].view("f4") == 1000


def test_warp_operations(device: Device) -> None:
    sizes = {"votes": (96, "u4"), "up": (32, "i4"), "down": (32, "i8"), "groups": (32, "f8")}

    def run() -> Array:
        to = [device.allocate(count * np.dtype(dtype).itemsize) for count, dtype in sizes.values()]
        device.run("good.cu", "exchanges", 1, 32, *to)
        found = zip(to, sizes.values(), strict=True)
        return np.concatenate([device.get(at, *size).astype("f8") for at, size in found])

    votes, up, down, groups = np.split(in_all_orders(device, run), [96, 128, 160])
    lane = np.arange(32)
    ballot = sum(1 << int(i) for i in lane if i % 3 == 0)
    np.testing.assert_array_equal(votes.reshape(32, 3), [[ballot, 1, 0]] * 32)
    np.testing.assert_array_equal(up, np.where(lane < 3, lane, lane - 3))
    np.testing.assert_array_equal(down / 2**40, np.where(lane % 16 < 11, lane + 5, lane))
    np.testing.assert_array_equal(groups, (lane // 8 * 8 + 1) / 2)


def test_warps_may_split(device: Device) -> None:
    def run() -> Array:
        to = device.allocate(128)
        device.run("good.cu", "halves", 1, 32, to)
        return device.get(to, 32, "i4")

    np.testing.assert_array_equal(in_all_orders(device, run), [sum(range(16))] * 16 + [8] * 16)


def test_syncwarp_orders_shared_memory(device: Device) -> None:
    def run() -> Array:
        to = device.allocate(256)
        device.run("good.cu", "through_shared", 1, 64, to)
        return device.get(to, 64, "i4")

    np.testing.assert_array_equal(in_all_orders(device, run), (np.arange(64) ^ 1) * 10)


def test_reads_before_a_barrier_of_the_warp_are_ordered(device: Device) -> None:
    def run() -> Array:
        to = device.allocate(256)
        device.run("good.cu", "read_again", 1, 64, to)
        return device.get(to, 64, "i4")

    np.testing.assert_array_equal(in_all_orders(device, run), [12] * 32 + [24] * 32)


def test_parts_of_a_word_are_ordered_by_themselves(device: Device) -> None:
    def run() -> Array:
        to = device.allocate(128)
        device.run("good.cu", "parts_of_words", 1, 32, to)
        return device.get(to, 32, "i4")

    wanted = [4, 7 + (5 << 16) + 4, 11, *[4] * 29]
    np.testing.assert_array_equal(in_all_orders(device, run), wanted)


@pytest.mark.parametrize(("positive", "result"), [(0, 0), (40, 4 * 40 + 1), (64, 4 * 64 + 3)])
def test_barriers_that_vote(device: Device, positive: int, result: int) -> None:
    to = device.allocate(256)
    x = device.put((np.arange(64) < positive).astype("i4"))
    device.run("good.cu", "counted", 1, 64, x, to)
    np.testing.assert_array_equal(device.get(to, 64, "i4"), result)


class Pair(ctypes.Structure):
    _fields_ = (("first", ctypes.c_double), ("second", ctypes.c_short))


def test_arguments_of_all_sizes(device: Device) -> None:
    to = device.allocate(72)
    args = (
        ctypes.c_bool(True), ctypes.c_char(b"\xfe"), ctypes.c_short(-3), i32(4),
        ctypes.c_longlong(1 << 40), f32(0.5), ctypes.c_double(0.1), Pair(0.7, -8),
    )  # fmt: skip
    device.run("good.cu", "arguments", 1, 1, *args, to)
    assert list(device.get(to, 9, "f8")) == [1, -2, -3, 4, 1 << 40, 0.5, 0.1, 0.7, -8]


def test_tables_and_local_arrays(device: Device) -> None:
    to = device.allocate(16)
    device.run("good.cu", "tables", 1, 4, to)
    values = [2, 6, 20, 56]
    expected = [values[(t * 3 - t) % 4] for t in range(4)]
    np.testing.assert_array_equal(device.get(to, 4, "f4"), expected)


def test_three_dimensions(device: Device) -> None:
    def run() -> Array:
        to = device.allocate(4 * 24 * 60)
        device.run("good.cu", "index_of_blocks", (2, 3, 4), (5, 3, 4), to)
        return device.get(to, (24, 60), "i4")

    expected = np.arange(24)[:, None] * 1000 + np.arange(60)
    np.testing.assert_array_equal(in_all_orders(device, run), expected)


def erfcinv(y: Any) -> Any:
    """With as many digits as y has, also near 0, where 1 - y has none."""
    if y > 1:
        return -erfcinv(2 - y)
    start = mp.sqrt(-mp.log(y)) if y < 0.1 else mp.erfinv(1 - y)
    return mp.findroot(lambda z: mp.log(mp.erfc(z)) - mp.log(y), start)


SPECIAL: tuple[Callable[[Any], Any], ...] = (
    lambda x: mp.exp(x * x) * mp.erfc(x),
    lambda x: mp.erfinv(x / 10),
    lambda x: erfcinv(1 + x / 10),
    mp.ncdf,
    lambda x: -mp.sqrt(2) * erfcinv(1 + x / 10),
    lambda x: mp.besseli(0, x),
    lambda x: mp.besseli(1, x),
    mp.sinpi,
    mp.cospi,
    lambda x: mp.besselj(0, x),
    lambda x: 1 / mp.sqrt(x * x + 1),
    lambda x: mp.mpf(10) ** x,
    lambda x: mp.sign(x) / mp.cbrt(abs(x)),
)


def exact(x: Array) -> Array:
    """All of `SPECIAL` with 40 digits."""
    with mp.workdps(40):
        return np.array([[float(f(mp.mpf(float(v)))) for v in x] for f in SPECIAL])


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_special_functions(device: Device, dtype: str) -> None:
    x = np.linspace(-9.9, 9.9, 66)[:: 1 if dtype == "f8" else 2].astype(dtype)
    x = x[x > -9]  # erfcx overflows in float below
    to = device.allocate(len(SPECIAL) * x.nbytes)
    kernel = "special" if dtype == "f8" else "special_float"
    device.run("functions.cu", kernel, 4, 128, i32(x.size), device.put(x), to)
    found = device.get(to, (len(SPECIAL), x.size), dtype)
    # An argument that was rounded before a steep function costs some digits.
    rtol, atol = (5e-14, 3e-15) if dtype == "f8" else (2e-5, 3e-7)
    np.testing.assert_allclose(found, exact(x), rtol=rtol, atol=atol)


def test_tails_of_special_functions(device: Device) -> None:
    x = np.array([-26.0, -1e-200, 1e-8, 5.9, 24.9, 25.1, 39.0, 41.0, 1e4, 600.0])
    to = device.allocate(13 * x.nbytes)
    device.run("functions.cu", "special", 1, 32, i32(x.size), device.put(x), to)
    found = device.get(to, (13, x.size), "f8")
    with mp.workdps(60):
        scaled = [float(mp.exp(v * v) * mp.erfc(v)) for v in map(mp.mpf, x)]
        bessel = [[float(mp.besseli(n, v)) for v in map(mp.mpf, x) if v < 700] for n in (0, 1)]
    np.testing.assert_allclose(found[0], scaled, rtol=1e-15)
    np.testing.assert_allclose(found[5:7, x < 700], bessel, rtol=1e-15)


def test_inverses_at_the_ends(device: Device) -> None:
    y = np.array([5e-324, 1e-300, 1e-17, 1e-3, 0.49, 0.51, 1.0, 1.3, 1.999, 0.0, 2.0, 2.1])
    to = device.allocate(2 * y.nbytes)
    device.run("functions.cu", "inverses", 1, 32, i32(y.size), device.put(y), to)
    found = device.get(to, (2, y.size), "f8")
    with mp.workdps(40):
        inverse = [erfcinv(mp.mpf(v)) for v in y[:9]]
        normal = [-mp.sqrt(2) * z for z in inverse]
    ends = np.array([np.inf, -np.inf, np.nan])
    np.testing.assert_allclose(found[0], np.append(np.array(inverse, "f8"), ends), 1e-15, 1e-300)
    np.testing.assert_allclose(found[1][1:], np.append(np.array(normal, "f8"), -ends)[1:], 1e-15)


def test_conversions_saturate(device: Device) -> None:
    x = np.array([0.5, 1.5, -1.5, 3e9, -3e9, 1e30, -1e30, np.nan, np.inf])
    to = device.allocate(4 * x.nbytes)
    device.run("functions.cu", "conversions", 1, 32, i32(x.size), device.put(x), to)
    found = device.get(to, (4, x.size), "i8")
    low, high = -(1 << 31), (1 << 31) - 1
    assert list(found[0]) == [0, 2, -2, high, low, high, low, 0, high]
    unsigned = (1 << 32) - 1
    assert list(found[1]) == [0, 1, 0, 3000000000, 0, unsigned, 0, 0, unsigned]
    low, high = -(1 << 63), (1 << 63) - 1
    assert list(found[2]) == [0, 1, -2, 3000000000, -3000000000, high, low, low, high]
    assert list(found[3].view("u8")) == [
        1, 2, 0, 3000000000, 0, (1 << 64) - 1, 0, 1 << 63, (1 << 64) - 1,
    ]  # fmt: skip


def test_integer_functions(device: Device) -> None:
    to = device.allocate(16 * 8)
    a, b, c = 0x00F0_0000, 0xF000_0001, 0xFEDC_BA98_7654_3210
    args = i32(a), ctypes.c_uint(b), ctypes.c_ulonglong(c)
    device.run("functions.cu", "integers", 1, 1, *args, to)
    high = c * c >> 64
    assert list(device.get(to, 16, "u8")) == [
        5, 8, 21, a * a >> 32, b * b >> 32, high, 0x8000000F, a, 5, c, a, a, 0, c.bit_count(), c,
        0x00000001,
    ]  # fmt: skip


# --- compiling ------------------------------------------------------------------------------------


def test_an_error_shows_the_line_of_the_source(device: Device) -> None:
    del device
    source = 'extern "C" __global__ void k(float *x) {\n    x[0] = unknown;\n}\n'
    with pytest.raises(CompileFailed, match=">     2      x\\[0\\] = unknown;"):
        sim.compile_kernels(module_of(source))


def test_all_forms_of_kernels_are_found() -> None:
    source = """
        extern "C" __global__ void __launch_bounds__(128) a(int n) {}
        extern "C" __global__ __launch_bounds__(64, 2) void b(int n) {}
        extern "C" __global__ void
        c(int n) { extern __shared__ __align__(16) unsigned char c_room[]; }
        extern "C" __global__ void a(int n);
        static __device__ void helper(int n) {}
    """
    text = sim.module_text(module_of(source), "x.cu")
    made = [line for line in text.splitlines() if line.startswith("SYMC_SIM")]
    assert made == [
        "SYMC_SIM_KERNEL(a, 128)", "SYMC_SIM_KERNEL(b, 64)", "SYMC_SIM_KERNEL(c, 0)",
        "SYMC_SIM_DYNAMIC(c_room)", "SYMC_SIM_MODULE",
    ]  # fmt: skip


@pytest.mark.parametrize("optimise", ["-O0", "-O1"])
def test_the_header_compiles_without_warnings(tmp_path: Path, optimise: str) -> None:
    source = sim.module_text(
        module_of((KERNELS / "good.cu").read_text(encoding="utf-8")), "good.cu"
    )
    (tmp_path / "module.cpp").write_text(source, encoding="utf-8")
    command = [
        "g++", "-std=c++17", optimise, "-Wall", "-Wextra", "-Werror", "-c", "module.cpp",
        "-fPIC", "-include", str(sim.FOLDER / "cudasim.h"), "-o", "module.o",
        "-Wno-sign-compare",  # only the header is tested here
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
