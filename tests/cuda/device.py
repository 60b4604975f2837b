"""A small client of the simulated driver: the work of a host program, with NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symc.codegen.targets import sim
from symc.codegen.targets.cuda.reading import module_of
from symc.pipeline.library import kept

KERNELS = Path(__file__).parent / "kernels"
ORDERS: tuple[sim.Order, ...] = ("forward", "reversed", 7)

Array: TypeAlias = npt.NDArray[Any]
Three: TypeAlias = int | tuple[int, int, int]


class DriverError(Exception):
    """A function of the driver returned an error: its number, and the report."""

    def __init__(self, function: str, result: int, report: str) -> None:
        super().__init__(f"{function}: {result}: {report}")
        self.result = result
        self.report = report


class Pointer(int):
    """An address of device memory, as an argument of a kernel."""


@cache
def image(name: str) -> bytes:
    """The compiled kernels of one file."""
    return sim.compile_kernels(module_of((KERNELS / name).read_text(encoding="utf-8")), name)


class Device:
    """A driver, with its context current on this thread."""

    def __init__(self, simulator: sim.Simulator | None = None) -> None:
        self.sim = simulator or sim.load(kept)
        self.functions: dict[str, Any] = {}
        self.modules: dict[str, ctypes.c_void_p] = {}
        self.call("cuInit", 0)
        self.context = self.handle("cuDevicePrimaryCtxRetain", 0)
        self.call("cuCtxSetCurrent", self.context)

    def result(self, name: str, *args: Any) -> int:
        """Call a function of the driver; Python numbers are 32-bit, `Pointer` is 64-bit."""
        if name not in self.functions:
            self.functions[name] = ctypes.CFUNCTYPE(ctypes.c_int)(self.sim.address(name))
        passed = [ctypes.c_uint64(arg) if isinstance(arg, Pointer) else arg for arg in args]
        return int(self.functions[name](*passed))

    def call(self, name: str, *args: Any) -> None:
        """Call a function of the driver, which must succeed."""
        result = self.result(name, *args)
        if result:
            raise DriverError(name, result, self.sim.report())

    def handle(self, name: str, *args: Any) -> ctypes.c_void_p:
        """Call a function whose first argument is where it puts a handle."""
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *args)
        return made

    def kernel(self, file: str, name: str) -> ctypes.c_void_p:
        if file not in self.modules:
            self.modules[file] = self.handle("cuModuleLoadData", image(file))
        return self.handle("cuModuleGetFunction", self.modules[file], name.encode())

    def allocate(self, size: int) -> Pointer:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc", ctypes.byref(address), ctypes.c_size_t(size))
        return Pointer(address.value)

    def free(self, address: Pointer) -> None:
        self.call("cuMemFree", address)

    def put(self, array: Array) -> Pointer:
        """A new allocation with the values of an array."""
        address = self.allocate(array.nbytes)
        data = np.ascontiguousarray(array)
        self.call("cuMemcpyHtoD", address, Pointer(data.ctypes.data), ctypes.c_size_t(data.nbytes))
        return address

    def get(self, address: Pointer, shape: int | tuple[int, ...], dtype: str) -> Array:
        out = np.empty(shape, dtype)
        self.call("cuMemcpyDtoH", Pointer(out.ctypes.data), address, ctypes.c_size_t(out.nbytes))
        return out

    def launch(
        self,
        kernel: ctypes.c_void_p,
        blocks: Three,
        threads: Three,
        *args: Any,
        shared: int = 0,
        stream: ctypes.c_void_p | None = None,
    ) -> None:
        """Launch with ctypes values or Pointers as arguments."""
        values = [ctypes.c_uint64(arg) if isinstance(arg, Pointer) else arg for arg in args]
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        sizes = [*_three(blocks), *_three(threads), shared]
        self.call("cuLaunchKernel", kernel, *sizes, stream, pointers, None)

    def run(
        self, file: str, name: str, blocks: Three, threads: Three, *args: Any, shared: int = 0
    ) -> None:
        """Launch a kernel of a file by name."""
        self.launch(self.kernel(file, name), blocks, threads, *args, shared=shared)

    @contextmanager
    def deferred(self) -> Generator[None]:
        self.sim.set_deferred(True)
        try:
            yield
        finally:
            self.sim.set_deferred(False)


def _three(size: Three) -> tuple[int, int, int]:
    return size if isinstance(size, tuple) else (size, 1, 1)


def refused(device: Device, result: int, name: str, *args: Any) -> str:
    """The report of a call that must return `result`."""
    assert device.result(name, *args) == result
    return device.sim.report()


def host(array: Array) -> Pointer:
    """The address of an array in the host's memory."""
    return Pointer(array.ctypes.data)
