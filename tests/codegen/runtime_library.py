"""The C functions of `codegen/runtime` as a shared library of loops, for tests to call."""

from __future__ import annotations

import ctypes
import platform
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from symc.codegen.runtime.load import Symbol, base, source_of, symbols
from symc.codegen.targets import compiler
from symc.graph.registry import import_all

if TYPE_CHECKING:
    from pathlib import Path

Array = npt.NDArray[Any]
HEADERS = tuple(
    f"common/{name}.h"
    for name in (
        "libm", "integer", "divisors", "float", "cast", "stable", "places", "errorfunction",
        "gamma", "beta", "incompletegamma", "bessel",
    )
)  # fmt: skip
FILES = (*HEADERS, "common/remainders.h", "defined.py")  # functions of numbers
STRICT = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
FAST = [*STRICT, "-O3", *compiler.processor(), "-fno-math-errno", "-fno-trapping-math"]
DTYPES = {"double": "f8", "float": "f4", "bool": "?"} | {
    f"{sign}int{bits}_t": f"{sign or 'i'}{bits // 8}"
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}

_FUNCTION = re.compile(r"^(?:static inline|SYMC_INLINE) (\w+) (symc_\w+)\(([^*]*?)\)", re.MULTILINE)
_INSTANCE = re.compile(r"^SYMC_DEFINE_(\w+)\((symc_\w+), (\w+)", re.MULTILINE)


def gcc(
    flags: list[str], source: str, *outputs: str, language: str = "c"
) -> subprocess.CompletedProcess[str]:
    """Compile a text, or fail with gcc's message."""
    command = [*FAST[:1], *flags, "-x", language, "-", *outputs, "-lm"]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result


@dataclass(frozen=True)
class Signature:
    """A runtime function's C types."""

    name: str
    result: str
    args: tuple[str, ...]

    @property
    def loop(self) -> str:
        """C code, on one line, of a function that applies this one to arrays."""
        names = [f"x{i}" for i in range(len(self.args))]
        typed = zip(self.args, names, strict=True)
        params = ", ".join(f"const {kind} *restrict {name}" for kind, name in typed)
        call = f"{self.name}({', '.join(name + '[i]' for name in names)})"
        return (
            f"void loop_{self.name}(long n, {params}, {self.result} *restrict out)"
            f" {{ for (long i = 0; i < n; i++) out[i] = {call}; }}\n"
        )


def signature_of(symbol: Symbol) -> Signature | None:
    """The signature of a runtime function; None for macros and for functions of the C library."""
    if found := _FUNCTION.search(symbol.text):
        args = tuple(arg.split()[0] for arg in found[3].split(", "))
        return Signature(found[2], found[1], args)
    if found := _INSTANCE.search(symbol.text):
        count = 1 if found[1].startswith(("NEG", "ABS", "SIGN")) else 2
        return Signature(found[2], found[3], (found[3],) * count)
    return None


def signatures() -> dict[str, Signature]:
    """The signatures of all functions in `FILES`."""
    import_all()  # ops whose C stands beside them
    mine = (symbol for symbol in symbols().values() if symbol.file in FILES)
    found = (signature_of(symbol) for symbol in mine)
    return {signature.name: signature for signature in found if signature}


class Library:
    """All runtime functions, compiled: ``library(name, *arrays)`` loops over the arrays."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.has_vector_math = "-DSYMC_LIBMVEC" in flags
        macros = gcc([*FAST[1:], "-dM", "-E"], "").stdout
        self.has_wide_integers = platform.machine() != "x86_64" or "__AVX2__" in macros
        self.signatures = signatures()
        self.lines = (base() + source_of(self.signatures)).splitlines(keepends=True)
        self.lines += [signature.loop for signature in self.signatures.values()]
        path = folder / "runtime.so"
        options = [*FAST[1:], *flags, "-fopt-info-vec", "-shared", "-fPIC"]
        self.log = gcc(options, "".join(self.lines), "-o", str(path)).stderr
        self.library = ctypes.CDLL(str(path))

    def __call__(self, name: str, *args: npt.ArrayLike) -> Array:
        signature = self.signatures[name]
        given = zip(args, signature.args, strict=True)
        arrays = [np.ascontiguousarray(arg, DTYPES[kind]) for arg, kind in given]
        out = np.empty(arrays[0].shape, DTYPES[signature.result])
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, out)]
        self.library[f"loop_{name}"](ctypes.c_long(out.size), *pointers)
        return out

    def vectorised(self) -> set[str]:
        """The functions whose loop gcc says it vectorised."""
        numbers = re.findall(
            r"^[^:]*:(\d+):\d+: optimized: loop vectorized", self.log, re.MULTILINE
        )
        texts = (self.lines[int(number) - 1] for number in numbers)
        return {found[1] for text in texts if (found := re.match(r"void loop_(\w+)", text))}
