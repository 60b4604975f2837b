"""Functions whose matrix products are cuBLAS's: on the simulator, which has one of its own."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symc
import symc.cuda
import symc.tensor as T
from symc.cuda import asarray
from symc.cuda.devices import Device
from symc.errors import DeviceError
from tests.cuda.devices import needs_simulator

pytestmark = needs_simulator

OK, NOT_INITIALIZED, INVALID_VALUE, EXECUTION_FAILED, NOT_SUPPORTED = 0, 1, 7, 13, 15


class Blas:
    """The simulator with cuBLAS."""

    def __init__(self, device: Device) -> None:
        from symc.codegen.targets import sim
        from symc.codegen.targets.cuda import cublas

        self.device = device
        self.sim = sim.load()
        with device:
            found = cublas.create("simulator", self.sim.address)
        assert found is not None
        device.use_blas(found)
        self.handle: int = found.memory[0]

    @property
    def products(self) -> int:
        """How many there were."""
        return self.sim.counters().products

    def call(self, name: str, *args: Any) -> int:
        """Call a function of cuBLAS."""
        function = ctypes.CFUNCTYPE(ctypes.c_int)(self.sim.address(name))
        with self.device:
            return int(function(*args))


@pytest.fixture
def blas() -> Iterator[Blas]:
    device = symc.cuda.device("cuda:sim")
    before = device.blas
    yield Blas(device)
    device.synchronize()
    device.use_blas(before)


def some(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_all_kinds(blas: Blas, dtype: str) -> None:
    a, b, c = (T.matrix(name, dtype=dtype) for name in "abc")
    x, y = T.tensor3("x", dtype=dtype), T.tensor3("y", dtype=dtype)
    outputs = [a @ b, a.T @ c, b.T @ a.T, b @ c.T, a @ b * 2 + c, x @ y, x.transpose(0, 2, 1) @ x]
    f = symc.function([a, b, c, x, y], outputs, device="cuda:sim")
    left, right, third = some(4, 3, dtype=dtype), some(3, 5, dtype=dtype), some(4, 5, dtype=dtype)
    many, more = some(2, 4, 3, dtype=dtype), some(2, 3, 6, dtype=dtype)
    before = blas.products
    results = f(left, right, third, many, more)
    assert blas.products == before + len(outputs) - 1  # a @ b is computed once
    wanted = [
        left @ right, left.T @ third, right.T @ left.T, right @ third.T, left @ right * 2 + third,
        many @ more, many.transpose(0, 2, 1) @ many,
    ]  # fmt: skip
    rtol = {"float32": 1e-5, "float64": 1e-12}[dtype]
    for found, expected in zip(results, wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


def test_tf32_only_where_it_was_asked_for_when_the_function_was_compiled(blas: Blas) -> None:
    a, b = T.fmatrix("a"), T.fmatrix("b")
    exact = symc.function([a, b], a @ b, device="cuda:sim")
    with symc.config.set(tf32=True):
        rounded = symc.function([a, b], a @ b, device="cuda:sim")
        left, right = some(8, 16), some(16, 8)
        wanted = left.astype(float) @ right.astype(float)
        scale = np.abs(left.astype(float)) @ np.abs(right.astype(float))
        assert (np.abs(exact(left, right) - wanted) < 1e-6 * scale).all()
    error = np.abs(rounded(left, right) - wanted) / scale
    assert 1e-6 < error.max() < 1e-3
    x, y = T.dmatrix("x"), T.dmatrix("y")
    with symc.config.set(tf32=True):
        double = symc.function([x, y], x @ y, device="cuda:sim")
    assert np.abs(double(left, right) - wanted).max() < 1e-12


def test_products_in_graphs(blas: Blas) -> None:
    """Recorded with alpha, beta and stream, and launched again with today's values."""
    w = symc.shared(some(6, 4), name="w", device="cuda:sim")
    x = T.fmatrix("x")
    h = T.tanh(x @ w)
    cost = (h * h).mean()
    f = symc.function(
        [x], cost, updates=[(w, w - np.float32(0.1) * symc.grad(cost, w))], device="cuda:sim",
        on_device=True,
    )  # fmt: skip
    weights, values = w.get_value().astype(float), some(5, 6)
    given, before = asarray(values, device="cuda:sim"), blas.sim.counters().graphs
    for turn in range(8):
        given.assign(values + np.float32(turn))
        found = f(given)
        at = values.astype(float) + turn
        hidden = np.tanh(at @ weights)
        assert float(found) == pytest.approx((hidden**2).mean(), rel=1e-5)
        del found
        weights -= 0.1 * at.T @ (2 * hidden * (1 - hidden**2)) / hidden.size
    np.testing.assert_allclose(w.get_value(), weights, rtol=1e-4, atol=1e-5)
    assert blas.sim.counters().graphs > before


def test_each_product_is_on_the_stream_of_its_call(blas: Blas) -> None:
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = symc.function([a, b], a @ b, device="cuda:sim", on_device=True)
    left, right = some(4, 3), some(3, 4)
    first, second = symc.cuda.Stream("cuda:sim"), symc.cuda.Stream("cuda:sim")
    x, y = asarray(left, device="cuda:sim"), asarray(right, device="cuda:sim")
    blas.sim.set_deferred(True)
    try:
        result = f(x, y)
        for stream in (first, second, first):
            with symc.cuda.stream(stream):
                result = f(result, result)
        wanted = np.linalg.matrix_power((left @ right).astype(float), 8)
        np.testing.assert_allclose(result.to_numpy(), wanted, rtol=1e-4)
    finally:
        blas.sim.set_deferred(False)


def test_threads_share_the_handle(blas: Blas) -> None:
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = symc.function([a, b], a @ b, device="cuda:sim")
    wrong: list[int] = []

    def work(number: int) -> None:
        left, right = some(3, 4) + np.float32(number), some(4, 3)
        results = [f(left, right) for _ in range(20)]
        if not np.allclose(results, left @ right, rtol=1e-4, atol=1e-5):
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_error_of_cublas_names_the_step(blas: Blas) -> None:
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = symc.function([a, b], T.exp(a @ b), device="cuda:sim")
    assert blas.call("cublasDestroy_v2", ctypes.c_void_p(blas.handle)) == OK
    with pytest.raises(DeviceError, match=r"cuda:sim: cuBLAS failed with status 1") as caught:
        f(some(2, 3), some(3, 2))
    assert "gemm_f32" in str(caught.value)
    assert "test_cublas.py" in str(caught.value)


def test_a_cublas_that_does_not_start(blas: Blas, monkeypatch: pytest.MonkeyPatch) -> None:
    device = blas.device
    monkeypatch.setattr(blas.sim, "cublas", True)
    monkeypatch.setattr(device, "blas", None)
    stream = symc.cuda.Stream(device)
    with device:
        device.driver.capture_begin(stream.handle)  # it must not allocate memory now
        try:
            with pytest.raises(DeviceError, match=r"cuda:sim: cuBLAS .* does not start: status 1"):
                device.open_blas()
        finally:
            with pytest.raises(DeviceError):
                device.driver.capture_end(stream.handle)
    device.open_blas()
    assert device.blas


# --- arguments that the simulator's cuBLAS refuses, as NVIDIA's does ---
# -------------------------------------

GOOD: dict[str, Any] = {
    "handle": None, "trans_a": 0, "trans_b": 0, "m": 2, "n": 3, "k": 4, "alpha": 1.0, "a": 0,
    "type_a": 0, "lda": 2, "stride_a": 8, "b": 1, "type_b": 0, "ldb": 4, "stride_b": 12,
    "beta": 0.0, "c": 2, "type_c": 0, "ldc": 2, "stride_c": 6, "batch": 2, "compute": 68,
    "algorithm": -1,
}  # fmt: skip
WRONG = [
    ({"handle": 0x1234}, NOT_INITIALIZED),
    ({"trans_a": 3}, INVALID_VALUE),
    ({"trans_b": -1}, INVALID_VALUE),
    ({"m": -1}, INVALID_VALUE),
    ({"batch": -1}, INVALID_VALUE),
    ({"lda": 1}, INVALID_VALUE),
    ({"trans_a": 1, "lda": 3}, INVALID_VALUE),
    ({"ldb": 3}, INVALID_VALUE),
    ({"ldc": 1}, INVALID_VALUE),
    ({"lda": 0, "m": 0}, INVALID_VALUE),
    ({"alpha": None}, INVALID_VALUE),
    ({"stride_c": 5}, INVALID_VALUE),
    ({"type_a": 1}, NOT_SUPPORTED),
    ({"compute": 70}, NOT_SUPPORTED),
    ({"compute": 0}, NOT_SUPPORTED),
    ({"algorithm": 24}, NOT_SUPPORTED),
]


@pytest.mark.parametrize(("changed", "status"), WRONG, ids=lambda value: str(value))
def test_arguments_that_cublas_refuses(blas: Blas, changed: dict[str, Any], status: int) -> None:
    arrays = [asarray(some(24), device=blas.device) for _ in range(3)]
    made = {**GOOD, "handle": blas.handle, **changed}

    def passed(name: str, value: Any) -> Any:
        if name in ("alpha", "beta"):
            return None if value is None else ctypes.byref(ctypes.c_float(value))
        if name in ("a", "b", "c"):
            return ctypes.c_void_p(arrays[value].ptr)
        if name == "handle":
            return ctypes.c_void_p(value)
        return ctypes.c_longlong(value) if name.startswith("stride") else ctypes.c_int(value)

    args = [passed(name, value) for name, value in made.items()]
    good = [passed(name, value) for name, value in {**GOOD, "handle": blas.handle}.items()]
    assert blas.call("cublasGemmStridedBatchedEx", *good) == OK
    assert blas.call("cublasGemmStridedBatchedEx", *args) == status


def test_a_product_of_values_that_nothing_wrote(blas: Blas) -> None:
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = symc.function([a, b], a @ b, device="cuda:sim")
    blas.device.empty_cache()
    empty = symc.cuda.empty((2, 2), np.float32, "cuda:sim")
    with pytest.raises(DeviceError, match=f"cuBLAS failed with status {EXECUTION_FAILED}"):
        f(empty, some(2, 2))
    assert "that nothing wrote" in blas.sim.report()
    blas.sim.recover()
