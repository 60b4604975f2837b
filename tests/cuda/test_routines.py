"""Matrix products on a device: kernels and cuBLAS on the simulator, and host functions."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("symc.codegen.targets.sim", reason="no simulator")

import symc
import symc.tensor as T
from symc.codegen.routines import ROUTINES
from symc.codegen.runtime import load
from symc.codegen.targets import sim
from symc.codegen.targets._abi import ffi
from symc.codegen.targets.cuda import cublas
from symc.codegen.targets.cuda.reading import module_of
from symc.codegen.targets.cuda.routines import KERNELS
from tests.codegen.runtime_library import gcc
from tests.cuda.device import Array, Device, Pointer

NAMES = sorted({kernel for kernels in KERNELS.values() for kernel in kernels})
F32: np.dtype[Any] = np.dtype("f4")
F64: np.dtype[Any] = np.dtype("f8")
DTYPES: dict[str, np.dtype[Any]] = {"f32": F32, "f64": F64}
STRICT = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
FLAGS = list(itertools.product((0, 1), (0, 1)))


def host_text() -> str:
    """The host functions, each called by a function ``call_NAME`` that is not static."""
    sources = [ROUTINES[name].source for name in KERNELS]
    parts = [load.base("device host"), load.source_of(sources, "device host")]
    for name in KERNELS:
        signature = ROUTINES[name]
        real = "float" if name.endswith("f32") else "double"
        kinds = {
            "flag": "int64_t ", "length": "int64_t ", "number": f"{real} ",
            "read": f"const {real} *", "write": f"{real} *",
        }  # fmt: skip
        numbers = [f"k{number}" for number in range(len(KERNELS[name]))]
        params = ["const symc_call *call", *(f"int64_t {number}" for number in numbers)]
        params += [kinds[kind] + argument for argument, kind in signature.arguments]
        given = ", ".join(["call", *numbers, *(argument for argument, _ in signature.arguments)])
        parts.append(
            f"int64_t call_{name}({', '.join(params)}) {{ return {signature.symbol}({given}); }}\n"
        )
    return "".join(parts)


class Failed(Exception):
    """A routine returned a status."""


class Routines:
    """Calls of routines on NumPy arrays, which are copied to the device and back."""

    def __init__(self, device: Device, folder: Path) -> None:
        self.device = device
        path = folder / "routines.so"
        gcc([*STRICT, "-shared", "-fPIC"], host_text(), "-o", str(path))
        self.library = ctypes.CDLL(str(path))
        text = load.base("cuda") + load.source_of(NAMES, "cuda")
        module = device.handle("cuModuleLoadData", sim.compile_kernels(module_of(text)))
        handles = [device.handle("cuModuleGetFunction", module, name.encode()) for name in NAMES]
        self.functions = ffi.new("void *[]", [ffi.cast("void *", h.value) for h in handles])
        self.table = ffi.new("symc_device *")
        for name in dir(self.table):
            if name.startswith("cu") and not name.startswith("cublas"):
                kind = ffi.typeof(getattr(self.table, name))
                setattr(self.table, name, ffi.cast(kind, device.sim.address(name)))
        self.call = ffi.new("symc_device_call *")
        self.call.device = self.table
        self.call.functions = self.functions

    def __call__(self, name: str, *args: Any) -> Any:
        """Run a routine; the result is its last array."""
        signature = ROUTINES[name]
        real = ctypes.c_float if name.endswith("f32") else ctypes.c_double
        passed: list[Any] = [ctypes.c_void_p(int(ffi.cast("intptr_t", self.call)))]
        passed += [ctypes.c_int64(NAMES.index(kernel)) for kernel in KERNELS[name]]
        places: list[Pointer] = []
        written: tuple[Pointer, Array] | None = None
        for (_, kind), value in zip(signature.arguments, args, strict=True):
            match kind:
                case "flag" | "length":
                    passed.append(ctypes.c_int64(value))
                case "number":
                    passed.append(real(value))
                case "read" | "write":
                    place = self.device.put(value) if value.size else Pointer(0)
                    places.append(place)
                    passed.append(ctypes.c_uint64(place))
                    if kind == "write":
                        written = place, value
        function = self.library[f"call_{name}"]
        function.restype = ctypes.c_int64
        before = self.device.sim.counters().allocations
        status = function(*passed)
        if status:
            raise Failed(f"{status}: {self.device.sim.report()}")
        self.device.call("cuCtxSynchronize")
        assert self.device.sim.counters().allocations == before
        assert written is not None
        place, array = written
        out = self.device.get(place, array.shape, array.dtype.str) if array.size else array
        for used in places:
            if used:
                self.device.free(used)
        return out


@pytest.fixture(scope="module")
def shared(simulated: Device, tmp_path_factory: pytest.TempPathFactory) -> Routines:
    return Routines(simulated, tmp_path_factory.mktemp("routines"))


@pytest.fixture
def run(shared: Routines, device: Device) -> Iterator[Routines]:
    """Routines without cuBLAS."""
    assert shared.device is device
    yield shared
    shared.table.blas = ffi.NULL
    shared.table.synchronous = 0


def draw(*shape: int, dtype: np.dtype[Any]) -> Array:
    rng = np.random.default_rng(sum(shape) + len(shape))
    return rng.standard_normal(shape).astype(dtype)


def product(a: Array, b: Array, found: Array, factor: float = 1.0, rest: Any = 0.0) -> bool:
    """Whether `found` is ``factor * a @ b + rest`` up to rounding, however the sums are ordered."""
    wide_a, wide_b = a.astype("f8"), b.astype("f8")
    wanted = factor * (wide_a @ wide_b) + rest
    sizes = abs(factor) * (np.abs(wide_a) @ np.abs(wide_b)) + np.abs(rest)
    roundings = a.shape[-1] + 3
    return bool((np.abs(found - wanted) <= roundings * np.finfo(found.dtype).eps * sizes).all())


def gemm(run: Routines, kind: str, size: tuple[int, int, int], flags: tuple[int, int],
         alpha: float = 1.0, beta: float = 0.0) -> None:  # fmt: skip
    """One product against NumPy's in float64."""
    (m, n, k), (trans_a, trans_b), dtype = size, flags, DTYPES[kind]
    a = draw(*((k, m) if trans_a else (m, k)), dtype=dtype)
    b = draw(*((n, k) if trans_b else (k, n)), dtype=dtype)
    c = draw(m, n, dtype=dtype) if beta else np.full((m, n), np.nan, dtype)
    lda, ldb = max(1, a.shape[1]), max(1, b.shape[1])
    out = run(f"gemm_{kind}", *flags, m, n, k, alpha, a, lda, b, ldb, beta, c, max(1, n))
    rest = beta * c if beta else 0.0
    assert product(a.T if trans_a else a, b.T if trans_b else b, out, alpha, rest)


SIZES = [
    (1, 1, 1), (5, 7, 3), (64, 64, 16), (65, 63, 33),
    (3, 2, 0), (0, 3, 2), (3, 0, 2),
    (10, 12, 600),  # in two parts
]  # fmt: skip


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", DTYPES)
def test_gemm(run: Routines, kind: str, size: tuple[int, int, int], flags: tuple[int, int]) -> None:
    gemm(run, kind, size, flags)
    gemm(run, kind, size, flags, alpha=0.5, beta=2.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("size", [(20, 30, 17), (65, 66, 9), (2, 3, 0)])
@pytest.mark.parametrize("kind", DTYPES)
def test_batches(
    run: Routines, kind: str, size: tuple[int, int, int], flags: tuple[int, int]
) -> None:
    """Many small ones, and enough of those above 64 to take large tiles."""
    (m, n, k), (trans_a, trans_b), dtype = size, flags, DTYPES[kind]
    batch = 130 if m > 64 else 3
    a = draw(batch, *((k, m) if trans_a else (m, k)), dtype=dtype)
    b = draw(batch, *((n, k) if trans_b else (k, n)), dtype=dtype)
    c = np.full((batch, m, n), np.nan, dtype)
    lda, ldb = max(1, a.shape[2]), max(1, b.shape[2])
    out = run(
        f"batched_gemm_{kind}", batch, *flags, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, n,
        m * k, k * n, m * n,
    )  # fmt: skip
    assert product(a.swapaxes(1, 2) if trans_a else a, b.swapaxes(1, 2) if trans_b else b, out)


def test_all_batches_are_done_where_a_grid_has_fewer_rows(run: Routines) -> None:
    """A grid has at most 65535 rows: here the driver is told of two."""
    launch = run.table.cuLaunchKernel
    rows: list[int] = []

    def with_two_rows(function: Any, x: int, y: int, *rest: Any) -> int:
        rows.append(y)
        return int(launch(function, x, min(y, 2), *rest))

    replacement = ffi.callback(ffi.typeof(launch), with_two_rows)
    run.table.cuLaunchKernel = replacement
    try:
        a, b, c = draw(5, 3, 2, dtype=F32), draw(5, 2, 4, dtype=F32), draw(5, 3, 4, dtype=F32)
        out = run("batched_gemm_f32", 5, 0, 0, 3, 4, 2, 1.0, a, 2, b, 4, 0.0, c, 4, 6, 8, 12)
    finally:
        run.table.cuLaunchKernel = launch
    assert rows == [5]
    assert product(a, b, out)


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize(
    "size", [(1, 1), (5, 3), (7, 100), (3, 1500), (1500, 40), (600, 3), (0, 5), (5, 0), (40, 257)]
)
@pytest.mark.parametrize("kind", DTYPES)
def test_gemv(run: Routines, kind: str, size: tuple[int, int], trans: int) -> None:
    (m, n), dtype = size, DTYPES[kind]
    a, x = draw(m, n, dtype=dtype), draw(m if trans else n, dtype=dtype)
    matrix = a.T if trans else a
    y = np.full(n if trans else m, np.nan, dtype)
    out = run(f"gemv_{kind}", trans, m, n, 1.0, a, max(1, n), x, 0.0, y)
    assert product(matrix, x, out)
    y = draw(len(y), dtype=dtype)
    out = run(f"gemv_{kind}", trans, m, n, 0.5, a, max(1, n), x, 2.0, y)
    assert product(matrix, x, out, 0.5, 2.0 * y)


@pytest.mark.parametrize("size", [(1, 1), (3, 300), (70, 5), (0, 3), (3, 0)])
@pytest.mark.parametrize("kind", DTYPES)
def test_ger(run: Routines, kind: str, size: tuple[int, int]) -> None:
    (m, n), dtype = size, DTYPES[kind]
    x, y, a = draw(m, dtype=dtype), draw(n, dtype=dtype), draw(m, n, dtype=dtype)
    out = run(f"ger_{kind}", m, n, 2.0, x, y, a, max(1, n))
    assert product(x[:, None], y[None, :], out, 2.0, a)


@pytest.mark.parametrize("n", [0, 1, 5, 2047, 5000])
@pytest.mark.parametrize("kind", DTYPES)
def test_dot(run: Routines, kind: str, n: int) -> None:
    x, y = draw(n, dtype=DTYPES[kind]), draw(2, n, dtype=DTYPES[kind])[1]
    out = run(f"dot_{kind}", n, x, y, np.full(1, np.nan, DTYPES[kind]))
    assert product(x[None, :], y, out)


def test_copy_bytes(run: Routines) -> None:
    x = draw(10, dtype=F64)
    np.testing.assert_array_equal(run("copy_bytes", np.zeros(10), x, 80), x)


def test_bits_do_not_depend_on_the_order_of_threads(run: Routines) -> None:
    dtype = F32
    x, y, matrix = (
        draw(5000, dtype=dtype),
        draw(2, 5000, dtype=dtype)[1],
        draw(600, 10, dtype=dtype),
    )
    found: set[bytes] = set()
    for order in ("forward", "reversed", 3):
        run.device.sim.set_order(order)
        dot = run("dot_f32", 5000, x, y, np.zeros(1, F32))
        sizes, c = (10, 10, 600), np.zeros((10, 10), F32)
        square = run("gemm_f32", 1, 0, *sizes, 1.0, matrix, 10, matrix, 10, 0.0, c, 10)
        found.add(dot.tobytes() + square.tobytes())
    assert len(found) == 1


def test_a_routine_shares_functions_with_the_kernels_of_its_program() -> None:
    x, w = T.fmatrix("x"), T.fvector("w")
    f = symc.function([x, w], T.softmax(x) @ w, device="cuda:sim")
    values, weights = draw(5, 7, dtype=F32), draw(7, dtype=F32)
    powers = np.exp(values.astype("f8"))
    wanted = (powers / powers.sum(axis=1, keepdims=True)) @ weights
    np.testing.assert_allclose(np.asarray(f(values, weights)), wanted, rtol=1e-5, atol=1e-6)


# --- cuBLAS ---------------------------------------------------------------------------------------


@pytest.fixture
def library(run: Routines) -> cublas.Cublas:
    """The simulator's cuBLAS, which the routines then use."""
    made = cublas.create("simulator", run.device.sim.address)
    assert made is not None
    for name, address in {
        "cublasSetStream": made.set_stream, "cublasGemmStridedBatchedEx": made.gemm,
        "blas": made.blas,
    }.items():  # fmt: skip
        setattr(run.table, name, ffi.cast(ffi.typeof(getattr(run.table, name)), address))
    return made


def products(run: Routines) -> int:
    return run.device.sim.counters().products


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("kind", DTYPES)
def test_cublas_is_told_of_row_major_matrices(
    run: Routines, library: cublas.Cublas, kind: str, flags: tuple[int, int]
) -> None:
    before = products(run)
    for size in [(5, 7, 3), (1, 4, 6), (8, 1, 1)]:
        gemm(run, kind, size, flags)
        gemm(run, kind, size, flags, alpha=0.5, beta=2.0)
    assert products(run) == before + 6
    assert library.memory[1] == 0  # nobody has the lock


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("kind", DTYPES)
def test_cublas_is_told_of_rows_that_are_apart_and_of_batches(
    run: Routines, library: cublas.Cublas, kind: str, flags: tuple[int, int]
) -> None:
    """Matrices are parts of wider ones, and the next one begins further on."""
    (trans_a, trans_b), dtype, (m, n, k) = flags, DTYPES[kind], (3, 4, 2)
    a = draw(2, *((k + 1, m + 2) if trans_a else (m + 1, k + 2)), dtype=dtype)
    b = draw(2, *((n + 3, k + 1) if trans_b else (k + 3, n + 1)), dtype=dtype)
    c = draw(2, m + 2, n + 5, dtype=dtype)
    steps = a[0].size, b[0].size, c[0].size
    out = run(
        f"batched_gemm_{kind}", 2, *flags, m, n, k, 1.0, a, a.shape[2], b, b.shape[2], 0.0, c,
        c.shape[2], *steps,
    )  # fmt: skip
    left = a[:, :k, :m].swapaxes(1, 2) if trans_a else a[:, :m, :k]
    right = b[:, :n, :k].swapaxes(1, 2) if trans_b else b[:, :k, :n]
    assert product(left, right, out[:, :m, :n])
    np.testing.assert_array_equal(out[:, m:], c[:, m:])
    np.testing.assert_array_equal(out[:, :, n:], c[:, :, n:])


def test_cublas_is_not_asked_for_what_it_need_not_know(
    run: Routines, library: cublas.Cublas
) -> None:
    before = products(run)
    for size in [(3, 2, 0), (0, 3, 2), (3, 0, 2)]:
        gemm(run, "f32", size, (0, 0))
    assert products(run) == before


def test_an_error_of_cublas_is_a_status(run: Routines, library: cublas.Cublas) -> None:
    run.device.call("cublasDestroy_v2", Pointer(library.memory[0]))
    a, c = draw(2, 2, dtype=F32), np.zeros((2, 2), np.float32)
    with pytest.raises(Failed, match="-2001: not a handle of cuBLAS"):
        run("gemm_f32", 0, 0, 2, 2, 2, 1.0, a, 2, a, 2, 0.0, c, 2)
    assert library.memory[1] == 0
