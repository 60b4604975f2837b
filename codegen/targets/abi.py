"""Write `_abi.py`, the types and functions of `library.py`, so that nothing is parsed at run time.

Run this file after a change of `OWN`, `call.h` or `device.h`; a test compares. Parsing them when
symc is imported would cost 20 ms, the module needs 1 ms. `symc_device_call` is the `symc_call` of
`device.h`.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from symc.codegen.runtime import load

OWN = """
int64_t symc_prepare(symc_call *call);
int64_t symc_run(symc_call *call);
extern const int64_t symc_counts[4];

typedef struct symc_blas {
    void *functions[8];
    int64_t wide;
    int64_t *guard;
} symc_blas;
extern symc_blas symc_imports;
extern void *symc_lapack[48];
extern void *symc_mpi[43];
extern const void *symc_team;

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
"""


def declarations() -> str:
    """All that Python shares with compiled functions. The structs of calls are those of headers."""
    device = load.symbols("device host")
    call = re.sub(r"\bsymc_call\b", "symc_device_call", device["symc_call"].text)
    return "".join([load.symbols()["symc_call"].text, OWN, device["symc_device"].text, call])


HEAD = "# ruff: noqa\n# fmt: off\n# Made by abi.py; _abi.pyi has the types.\n"
PLACE = Path(__file__).with_name("_abi.py")


def write(place: Path) -> None:
    """Write the module to `place`."""
    import cffi  # type: ignore[import-untyped]  # it has no stubs

    builder: Any = cffi.FFI()
    builder.cdef(declarations())
    builder.set_source("_abi", None)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "_abi.py")
        builder.emit_python_code(str(made))
        place.write_text(HEAD + made.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    write(PLACE)
