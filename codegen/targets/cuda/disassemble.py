"""The machine code of a CUBIN as text, for people and tests: NVIDIA's nvdisasm, where it is."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from symc.codegen.errors import CompilerMissing


def sass(image: bytes) -> str:
    """The machine code of a CUBIN, or `CompilerMissing` where there is no nvdisasm."""
    program = find()
    if program is None:
        raise CompilerMissing(
            "no nvdisasm in PATH, in CUDA_HOME or in an NVIDIA wheel. Install it by"
            " pip install nvidia-cuda-nvdisasm, or with CUDA's toolkit"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "function.cubin")
        path.write_bytes(image)
        done = subprocess.run([program, "-c", path], capture_output=True, text=True, check=True)
    return done.stdout


def find() -> str | None:
    """Where nvdisasm is."""
    spec = importlib.util.find_spec("nvidia")
    wheels = list(spec.submodule_search_locations or ()) if spec is not None else []
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    places = [
        *(folder for wheel in wheels for folder in Path(wheel).glob("*/bin")),
        *(Path(home, "bin") for home in homes),
    ]
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, places)])
    return shutil.which("nvdisasm", path=path)
