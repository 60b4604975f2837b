"""The functions of `runtime/common/team.table`, each in a kernel that applies it to every team."""

from __future__ import annotations

from symc.codegen.dtypes import REAL
from symc.codegen.math import short
from symc.codegen.runtime import load
from symc.codegen.targets.cuda.lang import CUDA

KINDS = {short(dtype): dtype for dtype in REAL}
TEAM_FUNCTIONS = [
    name
    for name, symbol in load.symbols("cuda").items()
    if symbol.file == "common/team.table" and symbol.needs[:1] in (("SYMC_TEAM",), ("SYMC_SCAN",))
]


def team_kernels() -> str:
    """A text with a kernel ``k_NAME(x, y, last)`` for each function."""
    parts = [load.base("cuda"), load.source_of([*TEAM_FUNCTIONS, "symc_team_last"], "cuda")]
    for name in TEAM_FUNCTIONS:
        kind = CUDA.types[KINDS[name.rsplit("_", 1)[1]].name]
        parts.append(
            f'extern "C" __global__ void __launch_bounds__(1024) k_{name}'
            f"(const {kind} *x, {kind} *y, {kind} *last) {{\n"
            "    const int row = blockIdx.x * blockDim.y + threadIdx.y;\n"
            "    const int i = row * blockDim.x + threadIdx.x;\n"
            f"    y[i] = {name}(x[i]);\n"
            "    last[i] = symc_team_last(y[i]);\n}\n"
        )
    return "".join(parts)
