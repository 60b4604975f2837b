"""The driver's functions as symc declares them, against NVIDIA's header, where a toolkit is.

cudaTypedefs.h says for each name that cuGetProcAddress takes what the function of each version
takes. A wrong parameter here would be a crash on a card, and nothing on the simulator.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest

from symc.codegen.targets.cuda import table

RUNTIME = Path(__file__).parents[2] / "codegen" / "runtime"
BYTES = {
    "unsigned char": 1, "int": 4, "unsigned": 4, "unsigned int": 4, "CUdevice": 4, "CUdevice_v1": 4,
    "size_t": 8, "uint64_t": 8, "uintptr_t": 8, "unsigned long long": 8, "cuuint64_t": 8,
    "CUdeviceptr": 8, "CUdeviceptr_v2": 8, "CUstream": 8, "CUevent": 8, "CUgraph": 8,
    "CUgraphExec": 8, "CUcontext": 8, "CUmodule": 8, "CUfunction": 8, "CUmemoryPool": 8,
    "CUresult": 4, "CUdevice_attribute": 4, "CUfunction_attribute": 4, "CUmemPool_attribute": 4,
    "CUpointer_attribute": 4, "CUstreamCaptureMode": 4,
}  # fmt: skip


def header() -> str:
    """The text of cudaTypedefs.h of a toolkit or a wheel."""
    spec = importlib.util.find_spec("nvidia")
    wheels = [Path(path) for path in (spec.submodule_search_locations or ())] if spec else []
    homes = [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")), Path("/usr/local/cuda")]
    places = [*homes, *(found for wheel in wheels for found in wheel.glob("*"))]
    for place in places:
        path = place / "include" / "cudaTypedefs.h"
        if path.exists():
            return path.read_text(encoding="utf-8")
    pytest.skip("no cudaTypedefs.h of a CUDA toolkit or of nvidia-cuda-runtime")


def widths(parameters: str) -> list[int]:
    """The bytes of each parameter, as the machine's calling convention sees them."""
    if parameters.strip() == "void":
        return []
    found: list[int] = []
    for parameter in parameters.split(","):
        kind, star, _ = parameter.partition("*")
        if not star:
            kind = re.sub(r"\bconst\b", "", parameter).strip().rpartition(" ")[0] or parameter
        found.append(8 if star else BYTES[kind.strip()])
    return found


def newest(text: str, name: str) -> str:
    """The parameters of the function that cuGetProcAddress gives for a name and `table.VERSION`."""
    found: dict[int, str] = {
        int(match[1]): match[2]
        for match in re.finditer(rf"\*PFN_{name}_v(\d+)\)\(([^;]*)\);", text)
    }
    return found[max(version for version in found if version <= table.VERSION)]


def declared() -> list[tuple[str, str, str]]:
    """Where, name and parameters of each function that is declared somewhere."""
    found = [("table.py", name, parameters) for name, parameters in table.PARAMETERS.items()]
    for file in ("device/device.h", "drivers/sim/api.h", "export/cuda/card.h"):
        text = (RUNTIME / file).read_text(encoding="utf-8").replace("\\\n", "")
        pattern = r"int \(\*(cu[A-Z]\w+)\)\((.*?)\);|(?:FUNCTION|use)\((cu[A-Z]\w+),\s*\((.*?)\)\)"
        for first, second, third, fourth in re.findall(pattern, text, re.DOTALL):
            found.append((file, first or third, " ".join((second or fourth).split())))
    return found


def test_functions_have_the_parameters_of_cuda_12() -> None:
    text = header()
    known = declared()
    assert {file for file, _, _ in known} == {
        "table.py", "device/device.h", "drivers/sim/api.h", "export/cuda/card.h"
    }  # fmt: skip
    for file, name, parameters in known:
        if name in ("cuGetProcAddress", "cuDeviceGetUuid"):  # an enum and a struct of their own
            continue
        assert widths(parameters) == widths(newest(text, name)), (file, name, parameters)


def test_the_graph_function_of_three_parameters_has_a_name_of_its_own() -> None:
    """Under the old name cuGetProcAddress gives that of CUDA 11, which takes five."""
    text = header()
    assert len(widths(newest(text, "cuGraphInstantiateWithFlags"))) == 3
    assert "cuGraphInstantiate" not in table.PARAMETERS
