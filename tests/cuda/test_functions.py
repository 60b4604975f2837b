"""Functions compiled for a device: the same results as on the processor, in any order of threads,
with 32-bit and with 64-bit indexes; and kernels that NVRTC takes without a warning or a spill."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest

import symc
from symc import cuda
from symc import tensor as T
from symc.calls.callable import Function
from symc.codegen.targets.cuda.reading import module_of
from symc.codegen.targets.cuda.target import CudaTarget
from symc.graph.interpreter import evaluate
from symc.pipeline.compile import Clock, build
from symc.tensor import linalg
from tests.cuda.devices import (
    ARCHITECTURES,
    DEVICES,
    check_with_nvrtc,
    needs_nvrtc,
    needs_simulator,
    orders,
)
from tests.fuzz.graphs import RandomGraph
from tests.near import assert_near, size_of
from tests.test_golden import MODELS, Model


def request_of(made: Function) -> Any:
    return made.request


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_golden_models(make: Callable[[], Model], device: str) -> None:
    for order in orders(device):
        model = make()
        before = [variable.get_value() for variable, _ in model.updates]
        f = symc.function(
            model.inputs, model.outputs, updates=model.updates, name=make.__name__, device=device
        )
        with order:
            results = [*f(*model.args), *(variable.get_value() for variable, _ in model.updates)]
        for value, wanted in zip(results, model.wanted, strict=True):
            assert isinstance(value, np.ndarray)
            assert value.shape == wanted.shape
            rtol = 1e-12 if value.dtype == np.float64 else 4e-6
            np.testing.assert_allclose(value, wanted, rtol=rtol, atol=rtol)
        for (variable, _), value in zip(model.updates, before, strict=True):
            variable.set_value(value)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs(seed: int, device: str) -> None:
    agree(seed, 4 + seed % 9, device)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(2000, 2300))
def test_many_random_graphs(seed: int, device: str) -> None:
    agree(seed, 5 + seed % 30, device)


def agree(seed: int, steps: int, device: str) -> None:
    graph = RandomGraph(seed, steps)
    cost = reduce(add, (output.sum() for output in graph.outputs))
    gradients = symc.grad(cost, graph.inputs, disconnected="zero")
    outputs = [*graph.outputs, *gradients]
    wanted = evaluate(outputs, dict(zip(graph.inputs, graph.values, strict=True)))
    f = symc.function(graph.inputs, outputs, on_unused_input="ignore", device=device)
    for order in orders(device):
        with order:
            results = f(*graph.values)
        for position, (value, expected) in enumerate(zip(results, wanted, strict=True)):
            what = f"seed={seed} steps={steps} result={position} {order}"
            assert value.shape == expected.shape, what
            assert value.dtype == expected.dtype, what
            assert_near(value, expected, 1e-9, 1e-10 * size_of(expected, 1.0), what)


@pytest.mark.parametrize("wide", [False, True], ids=["int32", "int64"])
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
@needs_nvrtc
def test_kernels_compile_without_warnings_and_spills(make: Callable[[], Model], wide: bool) -> None:
    from symc.codegen.targets.cuda import nvrtc

    model = make()
    f = symc.function(model.inputs, model.outputs, updates=model.updates, mode="python")
    target = CudaTarget(wide=wide)
    stages = build(request_of(f), mode="default", clock=Clock(), target=target)
    for architecture in ARCHITECTURES:
        made = nvrtc.compile(module_of(stages.source.file("function.cu")), architecture)
        assert made.kind == "cubin"
        assert made.log == ""
        for name, found in made.resources.items():
            assert (found.spill_stores, found.spill_loads) == (0, 0), name


@pytest.mark.parametrize("device", DEVICES)
def test_lengths_around_packs_and_warps(device: str) -> None:
    x = T.fmatrix("x")
    mean = x.mean(axis=1, keepdims=True)
    outputs = [T.tanh(x) * 2, (x - mean).sum(axis=1), x.max(axis=0), x.sum(), x.T + 1]
    f = symc.function([x], outputs, device=device)
    rng = np.random.default_rng(0)
    for rows, columns in [(1, 1), (3, 4), (5, 31), (2, 33), (33, 2), (4, 1030), (70, 65), (0, 5)]:
        if rows == 0:
            with pytest.raises(ValueError, match=r"empty|zero|0"):
                f(np.zeros((rows, columns), np.float32))
            continue
        a = rng.standard_normal((rows, columns)).astype(np.float32)
        wanted = [
            np.tanh(a) * 2, (a - a.mean(1, keepdims=True)).sum(1), a.max(0), a.sum(), a.T + 1,
        ]  # fmt: skip
        for order in orders(device):
            with order:
                got = f(a)
            for value, expected in zip(got, wanted, strict=True):
                np.testing.assert_allclose(value, expected, rtol=3e-6, atol=2e-4)


@needs_simulator
def test_threads_that_update_bytes_of_one_word_do_not_race() -> None:
    x = T.tensor("int8", (None, None))
    f = symc.function([x], x[1:, [0, 1]].inc(1), device="cuda:sim")
    wanted = np.zeros((3, 4), np.int8)
    wanted[1:, :2] = 1
    np.testing.assert_array_equal(f(np.zeros((3, 4), np.int8)), wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_lengths_that_are_the_value_of_an_input(device: str) -> None:
    n = T.lscalar("n")
    f = symc.function([n], T.arange(n) * 2, device=device)
    np.testing.assert_array_equal(f(5), np.arange(5) * 2)
    np.testing.assert_array_equal(f(0), np.arange(0))


@pytest.mark.parametrize("device", DEVICES)
def test_matrix_products_are_compiled_once_for_all_programs(device: str) -> None:
    a, b = T.fmatrix("a"), T.fmatrix("b")
    first = symc.function([a, b], a @ b, device=device)
    loaded = dict(cuda.device(device).routines)
    second = symc.function([a, b], T.tanh(a @ b), device=device)
    left, right = np.ones((3, 4), np.float32), np.ones((4, 2), np.float32)
    np.testing.assert_allclose(first(left, right), np.full((3, 2), 4))
    np.testing.assert_allclose(second(left, right), np.full((3, 2), np.tanh(4)), rtol=1e-6)
    for f in (first, second):
        assert "symc_large_gemm_kernel_f32(symc_product task)" not in f.source
        assert re.search(r"codegen/runtime/cuda/gemm.cuh.*\n.*symc_large_gemm_kernel_f32", f.source)
    assert "symc_large_gemm_kernel_f32" in loaded
    assert cuda.device(device).routines == loaded


@needs_nvrtc
def test_division_by_a_constant_zero_is_no_warning() -> None:
    x = T.dvector("x")
    f = symc.function([x], [x / 0.0, x / -0.0], device="cuda:sim")
    check_with_nvrtc(f)
    values = np.array([1.0, -2.0, 0.0, np.inf])
    with np.errstate(all="ignore"):
        for got, divisor in zip(f(values), (0.0, -0.0), strict=True):
            np.testing.assert_array_equal(got, values / divisor)


@pytest.mark.parametrize("device", DEVICES)
def test_an_output_without_elements_that_no_kernel_writes(device: str) -> None:
    x, mask = T.dmatrix("x"), T.tensor("bool", (None,), "mask")
    f = symc.function([x, mask], x[mask][:, None, 0:0], device=device)
    assert f(np.ones((3, 2)), np.array([True, False, True])).shape == (2, 1, 0)


def test_integers_wrap_on_a_device_by_unsigned_arithmetic() -> None:
    x, y = T.tensor("int64", (None,), "x"), T.tensor("int32", (None,), "y")
    n = T.lscalar("n")
    outputs = [x * x + 3, -y - 7, x.sum(), y.prod(dtype="int32"), T.arange(n) * (1 << 62) + n]
    f = symc.function([x, y, n], outputs, device="cuda:sim")
    arithmetic = re.compile(r"^.*(?:x|y)(?:_pack)?(?:\.at)?\[[^]]*\] [*+-] .*$", re.MULTILINE)
    lines = arithmetic.findall(f.source.partition("---- kernels ----")[2])
    assert lines
    assert all("(uint64_t)" in line or "(uint32_t)" in line for line in lines), lines
    values = np.array([1 << 62, -(1 << 63), 5]), np.array([-(1 << 31), 1 << 30, 5], np.int32)
    with np.errstate(over="ignore"):
        a, b = values
        wanted = [a * a + 3, -b - 7, a.sum(), b.prod(dtype=np.int32), np.arange(3) * (1 << 62) + 3]
    for got, expected in zip(f(*values, 3), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("device", DEVICES)
def test_running_values_of_rows_and_of_one_long_line(device: str) -> None:
    x, y = T.dmatrix("x"), T.tensor("int64", (None,), "y")
    f = symc.function([x, y], [T.cumsum(x, 1), T.cumsum(x, 0), T.cummax(y)], device=device)
    assert len(re.findall(r"combine acc\w*_part max before", f.program)) == 2
    check_with_nvrtc(f)
    rng = np.random.default_rng(0)
    for rows, columns, length in [(2, 40, 8192), (1, 1, 20000), (3, 700, 1), (0, 5, 0)]:
        a, b = rng.standard_normal((rows, columns)), rng.integers(-(1 << 62), 1 << 62, length)
        for order in orders(device):
            with order:
                got = f(a, b)
            np.testing.assert_allclose(got[0], np.cumsum(a, 1), rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(got[1], np.cumsum(a, 0), rtol=1e-12, atol=1e-12)
            np.testing.assert_array_equal(got[2], np.maximum.accumulate(b))


@pytest.mark.parametrize("device", DEVICES)
def test_running_values_of_few_long_lines_are_taken_in_chunks(device: str) -> None:
    x, y, z = T.dmatrix("x"), T.dtensor3("y"), T.tensor("float64", (40, None, 400, 200), "z")
    f = symc.function([x, y], [T.cumsum(x, 0), T.cumsum(x, 1), T.cummax(y, 1)], device=device)
    for axis, chunk in ((0, "grid(chunks*x_1)"), (1, "team(x_0*chunks_2)")):
        assert chunk in f.program, axis
    check_with_nvrtc(f)
    lines = symc.function([z], T.cumsum(z, 1), mode="python", device=device)  # which are enough
    assert len(re.findall("^kernel", lines.program, re.MULTILINE)) == 1
    rng = np.random.default_rng(0)
    for first, second in [
        ((3000, 3), (2, 600, 3)), ((3, 20000), (3, 257, 1)), ((1, 8193), (1, 1, 300)),
        ((257, 300), (2, 256, 2)), ((0, 3), (0, 3, 2)), ((600, 0), (2, 300, 0)),
    ]:  # fmt: skip
        a, b = rng.standard_normal(first), rng.standard_normal(second)
        for order in orders(device):
            with order:
                got = f(a, b)
            np.testing.assert_allclose(got[0], np.cumsum(a, 0), rtol=1e-12, atol=1e-11)
            np.testing.assert_allclose(got[1], np.cumsum(a, 1), rtol=1e-12, atol=1e-11)
            np.testing.assert_array_equal(got[2], np.maximum.accumulate(b, 1))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(1, 20000), (3, 700), (40, 300)])
def test_running_products_are_taken_in_order(shape: tuple[int, int], device: str) -> None:
    """0 times a factor that overflows later is 0, not NaN; and the result is NumPy's to the bit."""
    x = T.fmatrix("x")
    f = symc.function([x], [T.cumprod(x, 1), T.cumprod(x, 0)], device=device)
    a = np.random.default_rng(0).normal(1, 0.01, shape).astype("f4")
    b = a.copy()
    b[:, 10], b[:, 20:60] = 0, 1e30
    b.reshape(-1)[-60:] = 1e-30
    for value in (a, b):
        got = f(value)
        for axis, result in zip((1, 0), got, strict=True):
            with np.errstate(all="ignore"):
                wanted = np.cumprod(value.astype("f8"), axis).astype("f4")
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(1, 20000), (3, 700)])
def test_running_sums_of_negative_zeros_are_negative_zeros(
    shape: tuple[int, int], device: str
) -> None:
    x = T.matrix("x")
    f = symc.function([x], T.cumsum(x, 1), device=device)
    assert np.signbit(f(-np.zeros(shape))).all()


@pytest.mark.parametrize("device", DEVICES)
def test_calls_that_are_recorded_see_new_numbers_and_host_steps_are_not_recorded(
    device: str,
) -> None:
    x, n, m = T.fvector("x"), T.fscalar("n"), T.dmatrix("m")
    f = symc.function([x, n], [x * n, (x - n).sum(), n * 3], device=device, on_device=True)
    assert not f.facts["synchronises"]
    values = cuda.asarray(np.arange(5, dtype="f4"), device=device)
    for number in (1, 1, 1, 1, 2, 2, 2, 1, 3):
        scaled, total, tripled = (array.to_numpy() for array in f(values, np.float32(number)))
        np.testing.assert_array_equal(scaled, np.arange(5) * number)
        assert (total, tripled) == (10 - 5 * number, 3 * number)
    g = symc.function([m], T.exp(linalg.inv(m + 1) - 1).sum(axis=0), device=device)
    assert g.facts["synchronises"]
    for scale in (1.0, 2.0, 2.0, 2.0):
        matrix = np.diag([scale, 3.0])
        wanted = np.exp(np.linalg.inv(matrix + 1) - 1).sum(0)
        np.testing.assert_allclose(g(matrix), wanted, rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_routines_that_need_memory_are_recorded_with_it(device: str) -> None:
    """A product added up from pieces, whose memory nobody else has while the graph lives."""
    x, m = T.fvector("x"), T.fmatrix("m")
    f = symc.function([x, m], [m.T @ x, x - x.mean()], device=device, on_device=True)
    facts: Any = f.facts
    assert any(step.startswith("gemv_f32") for step in facts["steps"])
    a, b = np.linspace(0, 1, 1024, dtype="f4"), np.ones((1024, 3), "f4")
    b[::2] = 2
    given = [cuda.asarray(array, device=device) for array in (a, b)]
    stream, taken = cuda.Stream(device), list[cuda.DeviceArray]()
    runner: Any = f.runner.call
    for turn in range(8):
        given[0].assign(a + np.float32(turn))
        with cuda.stream(stream if turn > 5 else None, device):
            results = f(*given)
        np.testing.assert_allclose(results[0].to_numpy(), b.T @ (a + turn), rtol=1e-5)
        del results
        if turn == 3:
            taken = [cuda.asarray(np.full(6, np.nan), device=device) for _ in range(8)]
    assert runner.replayed >= 4
    assert all(np.isnan(array.to_numpy()).all() for array in taken)


@pytest.mark.parametrize("device", DEVICES)
def test_few_long_rows_are_reduced_in_pieces(device: str) -> None:
    x = T.fmatrix("x")
    f = symc.function([x], T.mean(x, axis=1) * 2 + 1, device=device)
    wanted = ["(x, out; x_1, many)", "(x, partial; x_1, few, pieces)"]
    for launch in wanted:
        assert launch in f.program.partition("\nrun\n")[2]
    check_with_nvrtc(f)
    for rows, columns in [(2, 40000), (300, 3), (1, 32768)]:
        a = np.random.default_rng(0).standard_normal((rows, columns)).astype("f4")
        for order in orders(device):
            with order:
                got = f(a)
            expected = a.astype(float).mean(1) * 2 + 1
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@needs_simulator
def test_kernels_with_64_bit_divisions_do_not_spill() -> None:
    x, flag = T.dmatrix("x"), T.scalar("flag", "bool")
    f = symc.function([x, flag], x[:, flag], device="cuda:sim")  # of a length that is measured
    check_with_nvrtc(f)
    np.testing.assert_array_equal(f(np.ones((2, 3)), True), np.ones((2, 1, 3)))


@needs_nvrtc
@needs_simulator
def test_numbers_that_are_rounded_are_not_computed_by_fused_operations() -> None:
    """`x - floor(x)` would be negative where one of two kernels has fused a product and a sum."""
    x, y = T.vector("x"), T.vector("y")
    smooth = symc.function([x, y], x * y + 1.0, device="cuda:sim")
    rounded = symc.function([x, y], T.floor(x * y + 1.0), device="cuda:sim")
    looked_up = symc.function([x, y], T.searchsorted(x, x * y + 1.0), device="cuda:sim")
    assert "fma.rn.f64" in smooth.ptx()
    for f in (rounded, looked_up):
        text = f.ptx()
        assert "mul.rn.f64" in text
        assert "fma.rn.f64" not in text


@pytest.mark.parametrize("device", DEVICES)
def test_numbers_are_computed_in_one_launch_and_do_not_keep_others_from_many_threads(
    device: str,
) -> None:
    x, s = T.fvector("x"), T.fscalar("s")
    outputs = [x - x.mean(), T.tanh(x.sum() * s) + x.max(), T.sqrt(x.var()), s * 2]
    f = symc.function([x, s], outputs, device=device)
    assert "out[i] = x[i] - t" in f.program.partition(" strips(x_0, 4)")[2]
    launches = re.findall(r"^  \w+_kernel\w*\(", f.program.partition("\nrun\n")[2], re.MULTILINE)
    assert len(launches) <= 9
    check_with_nvrtc(f)
    a = np.random.default_rng(0).standard_normal(40000).astype("f4")
    b = a.astype(float)
    for order in orders(device):
        with order:
            got = f(a, np.float32(0.01))
        wanted = [b - b.mean(), np.tanh(b.sum() * 0.01) + b.max(), b.std(), 0.02]
        for value, expected in zip(got, wanted, strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_many_threads_write_in_order_where_indexes_come_again(device: str) -> None:
    x, i, v = T.fvector("x"), T.lvector("i"), T.fvector("v")
    m, w, k = T.fmatrix("m"), T.fmatrix("w"), T.lvector("k")
    outputs = [x[i].inc(v), x[i].set(v), m[i].inc(w), k[i].inc(i)]
    f = symc.function([x, i, v, m, w, k], outputs, device=device)
    assert f.program.count(" atomic add= ") == 1
    check_with_nvrtc(f)
    assert f.program.count("in grid(512)") == 2
    assert f.program.count("in grid(16*m_1)") == 1
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(5).astype("f4"), rng.standard_normal(60).astype("f4")
    c, d = rng.standard_normal((5, 3)).astype("f4"), rng.standard_normal((60, 3)).astype("f4")
    places = rng.integers(-5, 5, 60)
    wanted = [a.copy(), a.copy(), c.copy(), np.zeros(5, int)]
    for number, place in enumerate(places):
        wanted[0][place] += b[number]
        wanted[1][place] = b[number]
        wanted[2][place] += d[number]
        wanted[3][place] += place
    for order in orders(device):
        with order:
            for got, expected in zip(f(a, places, b, c, d, np.zeros(5, int)), wanted, strict=True):
                np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("device", DEVICES)
def test_many_matrix_products_at_once(device: str) -> None:
    a, b = T.tensor3("a"), T.tensor3("b")
    f = symc.function([a, b], a @ b, device=device)
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((3, 4, 5)), rng.standard_normal((3, 5, 2))
    np.testing.assert_allclose(f(left, right), left @ right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("device", [name for name in DEVICES if name != "cuda:sim"])
@pytest.mark.parametrize("shape", [(5, 7, 3), (300, 200, 50), (1500, 1300, 40), (10, 12, 600)])
def test_products_without_cublas(shape: tuple[int, int, int], device: str) -> None:
    """Small and large tiles, and few tiles in pieces; a card may have cuBLAS, which hides them."""
    m, n, k = shape
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = symc.function([a, b], a @ b, device=device)
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((m, k)).astype("f4"), rng.standard_normal((k, n)).astype("f4")
    found = cuda.device(device)
    blas = found.blas
    try:
        for own in (False, True):
            found.use_blas(None if own else blas)
            np.testing.assert_allclose(f(left, right), left @ right, rtol=1e-3, atol=1e-4)
    finally:
        found.use_blas(blas)


@pytest.mark.parametrize("device", DEVICES)
def test_teams_with_memory_for_rows_whose_length_is_measured(device: str) -> None:
    x, y = T.fmatrix("x"), T.fvector("y")
    f = symc.function([x, y], T.softmax(x[:, y > 0], axis=1) * 2, device=device)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 50)).astype("f4"), rng.standard_normal(50).astype("f4")
    e = np.exp(a[:, b > 0])
    np.testing.assert_allclose(f(a, b), 2 * e / e.sum(1, keepdims=True), rtol=1e-5)
