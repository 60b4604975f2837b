"""The functions of numbers as CUDA C++: the same bits as in C, on one compiler."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from symc.codegen.runtime.load import Dialect, base, source_of, symbols
from symc.codegen.targets import compiler
from tests.codegen.runtime_library import DTYPES, Array, gcc, signatures
from tests.codegen.test_runtime import WIDE_FLOATS

SIGNATURES = signatures()
FLAGS = ["-O1", "-ffp-contract=off", "-fwrapv", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
LANGUAGES: dict[Dialect, tuple[str, list[str]]] = {
    "c": ("c", ["-std=gnu11"]),
    "cuda": ("c++", ["-std=c++17", "-DSYMC_SIM"]),
}


def text_of(dialect: Dialect) -> str:
    """All functions, with a loop over arrays for each."""
    text = base(dialect) + source_of(SIGNATURES, dialect)
    loops = "".join(signature.loop for signature in SIGNATURES.values())
    if dialect == "c":
        return text + loops
    libm = [name for name, symbol in symbols().items() if symbol.file == "common/libm.h"]
    built_in = source_of(libm) + "double lgamma(double x);\n"
    loops = loops.replace("restrict", "__restrict__")
    return f'extern "C" {{\n{built_in}}}\n{text}extern "C" {{\n{loops}}}\n'


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[ctypes.CDLL]:
    """The loops in C, and in CUDA C++."""
    if compiler.find_compiler() is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("dialects")
    built: list[ctypes.CDLL] = []
    for dialect, (language, options) in LANGUAGES.items():
        path = folder / f"{dialect}.so"
        gcc([*FLAGS, *options], text_of(dialect), "-o", str(path), language=language)
        built.append(ctypes.CDLL(str(path)))
    return built


def grid(kind: str) -> Array:
    """Values of a C type worth trying: special ones, and others from small to large."""
    dtype = np.dtype(DTYPES[kind])
    rng = np.random.default_rng(7)
    match dtype.kind:
        case "f":
            spread = rng.standard_normal(60) * 10.0 ** rng.integers(-12, 12, 60)
            with np.errstate(over="ignore"):
                return np.array([*WIDE_FLOATS, *spread]).astype(dtype)
        case "b":
            return np.array([False, True])
        case _:
            info = np.iinfo(dtype)
            edges = [info.min, info.min + 1, -2, -1, 0, 1, 2, 3, 7, 8, 31, 63, info.max]
            inside = [edge for edge in edges if edge >= info.min]
            return np.array([*inside, *rng.integers(info.min, info.max, 30, dtype=dtype)], dtype)


def tuples(kinds: Sequence[str], most: int = 10_000) -> Array:
    """Arguments of these C types: all tuples of their grids, or as many as `most` of them."""
    grids = [grid(kind) for kind in kinds]
    if math.prod(map(len, grids)) <= most:
        return np.array(list(itertools.product(*grids)), object).T
    rng = np.random.default_rng(7)
    return np.array([rng.choice(values, most) for values in grids], object)


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_function_gives_the_same_bits_in_both_languages(
    name: str, both: list[ctypes.CDLL]
) -> None:
    signature = SIGNATURES[name]
    points = tuples(signature.args)
    if name == "symc_gamma_fraction_slope_f64":  # elsewhere it goes on for 100,000 terms
        a, x = points.astype(float)
        points = points[:, (x > a) & (x > 1) & (x < 1e6)]
    arrays = [
        np.ascontiguousarray(column.astype(DTYPES[kind]))
        for column, kind in zip(points, signature.args, strict=True)
    ]
    results: list[Array] = []
    for library in both:
        out = np.empty(arrays[0].size, DTYPES[signature.result])
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, out)]
        library[f"loop_{name}"](ctypes.c_long(out.size), *pointers)
        results.append(out)
    in_c, in_cuda = results
    np.testing.assert_array_equal(in_cuda, in_c)
    if in_c.dtype.kind == "f":
        known = ~np.isnan(in_c)
        np.testing.assert_array_equal(np.signbit(in_cuda[known]), np.signbit(in_c[known]))


def test_a_dialect_replaces_what_is_another_there() -> None:
    kernels, host, plain = symbols("cuda"), symbols("device host"), symbols("c")
    assert kernels["exp"].text == ""
    inlined = kernels["symc_erfcx_f64"].text.replace("static inline", "SYMC_INLINE")
    assert inlined == plain["symc_erfcx_f64"].text
    assert kernels["lgamma_r"].file == "cuda/libm.cuh"
    assert "symc_gemm_f32" not in kernels
    assert host["symc_gemm_f32"].file == "device/deviceblas.h"
    assert plain["symc_gemm_f32"].file == "products/blas.h"
    assert host["symc_call"].file == "device/device.h"
    assert plain["symc_call"].file == "host/call.h"
    assert not {name for name in plain if plain[name].file.startswith("device")}


def test_the_base_names_the_types_of_c() -> None:
    """Sizes and signs of the integer types, and float16's in the simulator."""
    checks = "".join(
        f'static_assert(sizeof({sign}int{bits}_t) == {bits // 8}, "");\n'
        f'static_assert(({sign}int{bits}_t)-1 {"> 0" if sign else "< 0"}, "");\n'
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    )
    checks += 'static_assert(sizeof(symc_float16) == 2, "");\n'
    language, options = LANGUAGES["cuda"]
    gcc([*options, "-fsyntax-only"], base("cuda") + checks, language=language)
