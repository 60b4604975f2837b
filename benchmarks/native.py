"""Hand-written C as a yardstick: compiles a file of `c/` and calls it through ctypes."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FLAGS = (
    "-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math",
    "-fopenmp", "-fPIC", "-shared",
)  # fmt: skip


def load(name: str) -> ctypes.CDLL:
    """The library of `c/NAME.c`, compiled with symc's own optimisation flags."""
    source = Path(__file__).parent / "c" / f"{name}.c"
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / f"{name}.so"
        libraries = ["-lmvec", "-lm"]
        command = ["gcc", *FLAGS, str(source), "-o", str(binary), *libraries]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(binary))


def pointer(array: NDArray[np.generic]) -> ctypes.c_void_p:
    """The address of an array's first element, which keeps the array alive."""
    return array.ctypes.data_as(ctypes.c_void_p)
