"""The programs of host.c and kernels.cu, compiled for a device, as functions that can be called."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from symc.calls.spec import CallSpec
from symc.codegen.targets import sim
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.cuda.reading import module_of
from symc.cuda.caller import CudaCaller
from symc.cuda.devices import Device, Module

HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "codegen" / "runtime"
KERNELS = ("scale", "add", "descend", "pick", "wild")
FLOAT64 = np.dtype(np.float64).num
VECTOR, NUMBER = (FLOAT64, 1, None), (FLOAT64, 0, None)

# arrays, lengths, shapes, sizes; inputs; numbers of axes of outputs
PROGRAMS: dict[str, tuple[tuple[int, int, int, int], tuple[Any, ...], tuple[int, ...]]] = {
    "axpy": ((4, 2, 1, 0), (VECTOR, VECTOR, NUMBER), (1,)),
    "descend": ((6, 3, 2, 0), (VECTOR,), (1, 1)),
    "positive": ((2, 1, 1, 0), (VECTOR,), (1,)),
    "wild": ((2, 1, 1, 0), (VECTOR,), (1,)),
    "nothing": ((2, 1, 1, 0), (VECTOR,), (1,)),
    "huge": ((1, 0, 1, 0), (), (1,)),
}


class Failed(Exception):
    """The exception of the tests for a failed check."""


class Library:
    """The host programs, in memory."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def address(self, name: str) -> int:
        found = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        assert found is not None
        return found


def build_host(folder: Path) -> Library:
    made = folder / "host.so"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared"]
    command = [*CTarget().compiler().command, *flags, f"-I{RUNTIME}/device", str(HERE / "host.c")]
    subprocess.run([*command, "-o", str(made)], check=True)
    return Library(made)


@cache
def image(*, simulated: bool, architecture: tuple[int, int]) -> bytes:
    module = module_of((HERE / "kernels.cu").read_text(encoding="utf-8"))
    if simulated:
        return sim.compile_kernels(module, "kernels.cu")
    from symc.codegen.targets.cuda import nvrtc

    return nvrtc.compile(module, architecture).image


class Programs:
    """Makes callers of the programs on one device."""

    def __init__(self, device: Device, library: Library) -> None:
        self.device = device
        self._library = library
        made = image(simulated=device.is_simulator, architecture=device.architecture)
        self.module: Module = device.load(made, KERNELS)

    def __call__(self, name: str, **more: Any) -> CudaCaller:
        counts, inputs, outputs = PROGRAMS[name]
        shared, constants = more.pop("shared", ()), more.pop("constants", ())
        rebind = more.pop("rebind", ())
        spec = CallSpec(
            self._library.address(f"{name}_prepare"),
            self._library.address(f"{name}_run"),
            counts,
            inputs,
            shared,
            constants,
            tuple((FLOAT64, ndim, -1) for ndim in outputs),
            convert,
            failed,
            rebind,
            (len(outputs) - len(rebind), more.pop("form", "one")),
        )
        return CudaCaller(
            spec,
            device=self.device,
            functions=self.module.functions,
            keep=self.module,
            steps=more.pop("steps", ("scale  train.py:7", "add  train.py:8")),
            **more,
        )


def convert(index: int, value: object) -> Any:
    """To float64, unless that is impossible."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"argument {index} is {value!r}")
    return np.require(array.astype(np.float64), requirements=["C", "A"])


def failed(code: int, arrays: tuple[object, ...]) -> NoReturn:
    assert all(isinstance(array, np.ndarray | float | int) for array in arrays)
    raise Failed(code, *arrays)
