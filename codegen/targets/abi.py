"""Write `_abi.py`, the types and functions of `library.py`, so that nothing is parsed at run time.

Run this file after a change of `FUNCTIONS`, or of a struct in `runtime/host.h`, `blas.h` or
`device.h`; a test compares. Parsing them when symc is imported would cost 20 ms, the module needs
1 ms. `symc_device_call` is the `symc_call` of `device.h`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from symc.codegen.runtime.load import symbols

FUNCTIONS = """
int64_t symc_prepare(symc_call *call);
int64_t symc_run(symc_call *call);
extern const int64_t symc_counts[4];
extern symc_blas symc_imports;
extern void *symc_lapack[40];
extern const void *symc_team;

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
"""
HEAD = "# ruff: noqa\n# fmt: off\n# Made by abi.py; _abi.pyi has the types.\n"
PLACE = Path(__file__).with_name("_abi.py")


def declarations() -> str:
    """The structs as the headers of `runtime/` define them, and the functions of a library."""
    host, device = symbols("c"), symbols("cuda host")
    blas = host["symc_imports"].text.partition("#ifdef")[0]
    device_call = device["symc_call"].text.replace("symc_call", "symc_device_call")
    structs = [host["symc_call"].text, blas, device["symc_device"].text, device_call]
    return "\n".join([*structs, FUNCTIONS])


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
