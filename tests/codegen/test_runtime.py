"""The C of `codegen/runtime`: how it is loaded, that it compiles, and its results."""

from __future__ import annotations

import itertools
import math
import platform
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from symc.codegen.math import FUNCTIONS
from symc.codegen.runtime.load import FOLDER, base, source_of, symbols
from symc.codegen.targets import compiler
from symc.tensor import reference_values as special
from tests.codegen.runtime_library import (
    FAST,
    FILES,
    HEADERS,
    STRICT,
    Array,
    Library,
    gcc,
    signatures,
)
from tests.near import assert_near, is_near, unit_at
from tests.special_cases import CASES, Case, mp

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f32", "f64")
SPECIAL_FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 0.1, -0.1, 7.3, 1e-45, -1e-45, 1e-38, 5e37, -5e37,
    2.0**24, 2.0**31, -(2.0**31), 1e10, math.pi, 1e30, math.inf, -math.inf, math.nan,
)  # fmt: skip
WIDE_FLOATS = (
    *SPECIAL_FLOATS,
    5e-324,
    -5e-324,
    2.3e-308,
    1.7e308,
    -1.7e308,
    2.0**53,
    2.0**63,
    1e22,
)


@pytest.fixture(scope="session", params=["-DSYMC_LIBMVEC", "-USYMC_LIBMVEC"], ids=["mvec", "libm"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Compiled once with the C library's vector functions and once without."""
    flag: str = request.param
    if flag.startswith("-D") and not Path("/lib/x86_64-linux-gnu/libmvec.so.1").exists():
        pytest.skip("this machine has no libmvec")
    return Library(tmp_path_factory.mktemp("runtime"), flag)


# --- loading and compiling ------------------------------------------------------------------------


def test_no_two_headers_define_the_same_symbol() -> None:
    """A new header's vectors had the name of those of convolutions, which then were too short."""
    defined: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*/*.h")):
        if path.parent.name != "device":  # whose symbols replace those of the others
            for name in re.findall(r"// SYMBOL (\w+)", path.read_text(encoding="utf-8")):
                for one in (name.replace("fNN", kind) for kind in ("f32", "f64")):
                    assert defined.setdefault(one, path.name) == path.name, one


def test_a_symbol_comes_behind_what_it_needs() -> None:
    order = list(symbols())
    for symbol in symbols().values():
        for need in symbol.needs:
            assert order.index(need) < order.index(symbol.name)


def test_source_is_the_same_for_the_same_set() -> None:
    names = ["symc_beta_f64", "symc_sigmoid_f32", "symc_mod_i32", "symc_beta_f64"]
    text = source_of(names)
    assert text == source_of(reversed(names))
    assert text.count("double symc_stirling_f64(") == 1
    assert text.count("double exp(") == 1
    assert "cosh" not in text
    assert "SYMBOL" not in text
    assert "NEEDS" not in text
    assert source_of([]) == ""


def test_a_symbol_of_two_types_is_written_once() -> None:
    known = symbols()
    single, double = (known[f"symc_log_sum_{kind}"] for kind in ("f32", "f64"))
    assert "symc_log_sum_fNN" not in known
    assert single.needs == ("symc_decay_f32", "symc_logarithm_f32")
    assert "float symc_log_sum_f32(float a, float b, float c)" in single.text
    assert double.text == single.text.replace("f32", "f64").replace("float", "double")


def test_an_unknown_symbol_is_named() -> None:
    with pytest.raises(LookupError, match="'symc_nonsense'"):
        source_of(["exp", "symc_nonsense"])


def test_there_is_no_include() -> None:
    for path in [*FOLDER.glob("*/*.h"), *FOLDER.glob("cuda/*.cuh")]:
        if path.parent.name != "export":  # C that users compile
            assert not re.search(r"^\s*#\s*include", path.read_text(), re.MULTILINE), path.name


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_compiles_alone(header: str) -> None:
    mine = [symbol for symbol in symbols().values() if symbol.file == header]
    needs = {need for symbol in mine for need in symbol.needs if symbols()[need].file != header}
    gcc(
        [*FAST[1:], "-c"],
        base() + source_of(needs) + (FOLDER / header).read_text(),
        "-o",
        "/dev/null",
    )


def test_every_symbol_says_all_that_it_needs() -> None:
    def check(name: str) -> None:
        gcc([*STRICT[1:], "-fsyntax-only"], base() + source_of([name]))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, [s.name for s in symbols().values() if s.file in FILES]))


def test_nothing_is_undefined(tmp_path: Path) -> None:
    """All functions on all pairs of special values, with the sanitizer."""
    loops, calls = "", ""
    for number, signature in enumerate(signatures().values()):
        loops += signature.loop
        kinds = [*signature.args, signature.result]
        arrays = [f"a{number}_{i}" for i in range(len(kinds))]
        for kind, array in zip(kinds, arrays, strict=True):
            loops += f"static {kind} {array}[N * N];\n"
        calls += "  for (int i = 0; i < N * N; i++) {\n    int at = i;\n"
        for kind, array in zip(signature.args, arrays, strict=False):
            pool = "floats" if kind in ("double", "float") else "whole"
            calls += f"    {array}[i] = ({kind}){pool}[at % N]; at = at / N + 5 * (at < N);\n"
        calls += f"  }}\n  loop_{signature.name}(N * N, {', '.join(arrays)});\n"
    floats = "0., -0., 1., -1., 0.3, -2.5, 7., 100., 1e-40, 150.5, 2147483648., -1e19, 1e30"
    floats += ", INFINITY, -INFINITY, NAN"
    whole = "0, 1, -1, 2, -2, 7, 8, 31, 32, 63, 64, 127, -128, -2147483648"
    whole += ", 9223372036854775807, -9223372036854775807 - 1"
    source = base() + source_of(signatures()) + "enum { N = 16 };\n" + loops
    source += f"static const double floats[N] = {{{floats}}};\n"
    source += f"static const int64_t whole[N] = {{{whole}}};\n"
    source += f"int main(void) {{\n{calls}  return 0;\n}}\n"
    flags = ["-std=gnu11", "-O0", *compiler.processor(), "-fsanitize=undefined,float-cast-overflow"]
    gcc([*flags, "-fno-sanitize-recover=all"], source, "-o", str(tmp_path / "all"))
    done = subprocess.run([tmp_path / "all"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_loops_vectorise(library: Library) -> None:
    wanted: set[str] = set()
    if library.has_vector_math:
        names = ("sigmoid", "softplus", "log_sigmoid", "logaddexp", "logaddexp2", "erfinv")
        wanted |= {f"symc_{name}_{kind}" for name in names for kind in FLOATS}
        wanted |= {f"symc_{name}_f64" for name in ("i0", "i1")}
    wanted.add("symc_exp_nonpositive_f32")
    plain = ("maximum", "minimum", "fmax", "fmin", "share", "sign")
    wanted |= {f"symc_{name}_{kind}" for name in plain for kind in FLOATS}
    small = ("i8", "i16", "i32", "u8", "u16", "u32")
    wanted |= {f"symc_{source}_to_{kind}" for source in FLOATS for kind in small}
    if library.has_wide_integers:  # numbers of 64 bits, and shifts by as many bits as there are
        kinds = ("i32", "i64", "u32", "u64")
        wanted |= {f"symc_{name}_{kind}" for name in ("shl", "shr") for kind in kinds}
        wanted |= {"symc_erfcx_f64"} if library.has_vector_math else set()
        wanted |= {f"symc_{name}_f32" for name in ("erfc", "fmod", "mod", "floordiv")}
    wanted |= {
        f"symc_{name}_{kind}"
        for name in ("neg", "abs", "sign")
        for kind in ("i8", "i16", "i32", "i64")
    }
    vectorised = library.vectorised()
    assert wanted <= vectorised, wanted - vectorised


def test_what_vector_loops_call_is_inlined_in_each_of_them() -> None:
    """A file with two loops over erfc kept calls of it: at -O1 gcc inlines by size."""
    called: dict[str, None] = {}
    for row in FUNCTIONS.values():
        if row.vectorises:
            called |= dict.fromkeys(name for name in (row.c64, row.c32) if name in signatures())
    called |= {name: None for name in signatures() if "_to_" in name}
    loops = "".join(signatures()[name].loop for name in called)
    source = base() + source_of(called) + loops + loops.replace("void loop_", "void other_")
    assembly = gcc(["-std=gnu11", "-O1", *compiler.processor(), "-S"], source, "-o", "-").stdout
    assert "loop_symc_erfc_f32" in assembly
    assert "loop_symc_f64_to_i8" in assembly
    assert set(re.findall(r"\bcallq?\s+(symc_\w+)", assembly)) == set()


# --- integers -------------------------------------------------------------------------------------


def _pairs(kind: str) -> tuple[Array, Array]:
    """All pairs of 8 bits; of wider types, edges and random numbers."""
    dtype = np.dtype(kind[0] + str(int(kind[1:]) // 8))
    info = np.iinfo(dtype)
    if info.bits == 8:
        values = np.arange(info.min, info.max + 1).astype(dtype)
    else:
        edges = [
            0,
            1,
            2,
            3,
            7,
            info.bits - 1,
            info.bits,
            info.bits + 1,
            info.max,
            info.max - 1,
            info.min,
        ]
        edges += [info.min + 1, -1, -2, -7, -info.bits] if info.min else []
        random = np.random.default_rng(0).integers(info.min, info.max, 40, dtype, endpoint=True)
        values = np.concatenate([np.array(edges, dtype), random])
    left, right = np.meshgrid(values, values)
    return left.ravel(), right.ravel()


def _wrap(values: list[int], dtype: np.dtype[np.generic]) -> list[int]:
    bits = dtype.itemsize * 8
    low = -(1 << bits - 1) if dtype.kind == "i" else 0
    return [(value - low) % (1 << bits) + low for value in values]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_division(library: Library, kind: str) -> None:
    a, b = _pairs(kind)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    floor = _wrap([x // y if y else 0 for x, y in pairs], a.dtype)
    assert library(f"symc_floordiv_{kind}", a, b).tolist() == floor
    assert library(f"symc_mod_{kind}", a, b).tolist() == [x % y if y else 0 for x, y in pairs]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_power(library: Library, kind: str) -> None:
    a, b = _pairs(kind)

    def power(x: int, y: int) -> int:
        if y >= 0:
            return pow(x, y, 1 << 64)
        return 0 if abs(x) != 1 else x if y % 2 else 1

    expected = _wrap([power(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], a.dtype)
    assert library(f"symc_ipow_{kind}", a, b).tolist() == expected


@pytest.mark.parametrize("kind", INTEGERS)
def test_shifts_are_numpys(library: Library, kind: str) -> None:
    a, b = _pairs(kind)
    np.testing.assert_array_equal(library(f"symc_shl_{kind}", a, b), np.left_shift(a, b))
    np.testing.assert_array_equal(library(f"symc_shr_{kind}", a, b), np.right_shift(a, b))


@pytest.mark.parametrize("kind", INTEGERS)
def test_negation_wraps_and_sign(library: Library, kind: str) -> None:
    a = np.unique(_pairs(kind)[0])
    np.testing.assert_array_equal(library(f"symc_neg_{kind}", a), np.negative(a))
    np.testing.assert_array_equal(library(f"symc_sign_{kind}", a), np.sign(a))
    if kind[0] == "i":
        np.testing.assert_array_equal(library(f"symc_abs_{kind}", a), np.abs(a))


@pytest.mark.parametrize("kind", ["i64", "u64"])
def test_divisors_and_bits_are_numpys(library: Library, kind: str) -> None:
    a, b = _pairs(kind)
    np.testing.assert_array_equal(library(f"symc_gcd_{kind}", a, b), np.gcd(a, b))
    np.testing.assert_array_equal(library(f"symc_lcm_{kind}", a, b), np.lcm(a, b))
    np.testing.assert_array_equal(library(f"symc_bit_count_{kind}", a), np.bitwise_count(a))


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_integer_extremes(library: Library, name: str, kind: str) -> None:
    a, b = _pairs(kind)
    np.testing.assert_array_equal(library(f"symc_{name}_{kind}", a, b), getattr(np, name)(a, b))


# --- floats ---------------------------------------------------------------------------------------


def _float_pairs(kind: str) -> tuple[Array, Array]:
    dtype, values = ("f4", SPECIAL_FLOATS) if kind == "f32" else ("f8", WIDE_FLOATS)
    grid = np.array(list(itertools.product(values, values)), dtype)
    random = (
        np.random.default_rng(1).normal(0, 1, (2000, 2)) * 10.0 ** np.arange(2000)[:, None] ** 0.2
    )
    both = np.concatenate([grid, random.astype(dtype), random[:, ::-1].astype(dtype)])
    return both[:, 0].copy(), both[:, 1].copy()


def _assert_same_bits(got: Array, want: Array, *args: Array) -> None:
    alike = (np.isnan(got) & np.isnan(want)) | (
        (got == want) & (np.signbit(got) == np.signbit(want))
    )
    first = np.flatnonzero(~alike)[:5]
    assert alike.all(), [(*(arg[i] for arg in args), got[i], want[i]) for i in first]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    ("name", "meaning"),
    [("floordiv", np.floor_divide), ("mod", np.remainder), ("fmod", np.fmod)],
)
def test_division_is_numpys_to_the_bit(
    library: Library, name: str, meaning: np.ufunc, kind: str
) -> None:
    a, b = _float_pairs(kind)
    _assert_same_bits(library(f"symc_{name}_{kind}", a, b), meaning(a, b), a, b)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_extremes(library: Library, name: str, kind: str) -> None:
    a, b = _float_pairs(kind)
    # Which zero wins depends on the width of NumPy's vectors: add 0.0 to make all zeros positive.
    got, want = library(f"symc_{name}_{kind}", a, b), getattr(np, name)(a, b)
    _assert_same_bits(got + 0, want + 0, a, b)


@pytest.mark.parametrize("kind", FLOATS)
def test_sign(library: Library, kind: str) -> None:
    a, _ = _float_pairs(kind)
    _assert_same_bits(library(f"symc_sign_{kind}", a), np.sign(a), a)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exponents(library: Library) -> None:
    a, _ = _float_pairs("f64")
    exponents = library("symc_frexp_exponent_f64", a)
    np.testing.assert_array_equal(exponents, np.frexp(a)[1])
    for n in (-3000.0, -1075.0, -60.0, 0.0, 900.0, 3000.0):
        got = library("symc_ldexp_f64", a, np.full_like(a, n))
        _assert_same_bits(got, np.ldexp(a, int(n)), a)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logaddexp(library: Library, name: str, kind: str) -> None:
    a, b = _float_pairs(kind)
    got, want = library(f"symc_{name}_{kind}", a, b), getattr(np, name)(a, b)
    tolerance = 8 * np.finfo(a.dtype).eps
    assert_near(got, want, tolerance, tolerance)


def test_exp_of_nonpositive_numbers(library: Library) -> None:
    bits = np.arange(0x80000000, 0x80000000 + 0x43000000, 1009, dtype=np.uint32)  # -0 to -128
    x = bits.view("f4")
    got, exact = library("symc_exp_nonpositive_f32", x).astype("f8"), np.exp(x.astype("f8"))
    ulp = np.spacing(np.maximum(exact, 2.0**-126).astype("f4")).astype("f8")
    assert np.max(np.abs(got - exact) / ulp) < 1.2
    assert np.count_nonzero((got > 0) & (got < 2.0**-126)) > 1000  # denormal results


def test_exp_of_nonpositive_special_values(library: Library) -> None:
    nans = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7FC00155], np.uint32)
    assert np.isnan(library("symc_exp_nonpositive_f32", nans.view("f4"))).all()
    x = np.array([0.0, -0.0, -103.9, -104.1, -200.0, -1e10, -3e38, -np.inf], "f4")
    want = [1.0, 1.0, 2.0**-149, 0.0, 0.0, 0.0, 0.0, 0.0]
    _assert_same_bits(library("symc_exp_nonpositive_f32", x), np.array(want, "f4"), x)


@pytest.mark.parametrize(
    ("name", "numpy"),
    [("floordiv", np.floor_divide), ("mod", np.remainder), ("fmod", np.fmod)],
)
def test_remainders_of_any_two_floats(library: Library, name: str, numpy: np.ufunc) -> None:
    """Quotients of up to 2^277, which no double holds: they are divided in six steps."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 2**32, 300_000, dtype=np.uint32).view("f4") for _ in range(2))
    with np.errstate(all="ignore"):
        want = numpy(a, b)
    got = library(f"symc_{name}_f32", a, b)
    same = (got.view("u4") == want.view("u4")) | (np.isnan(got) & np.isnan(want))
    assert same.all(), (a[~same][:3], b[~same][:3], got[~same][:3], want[~same][:3])


@pytest.mark.parametrize("kind", FLOATS)
def test_shares_of_a_total(library: Library, kind: str) -> None:
    rng = np.random.default_rng(7)
    dtype = np.dtype("f4" if kind == "f32" else "f8")
    total = np.exp2(rng.uniform(0, 40, 200_000)).astype(dtype)
    part = (total * np.exp2(-rng.uniform(0, 60, total.size))).astype(dtype)
    reciprocal = dtype.type(1) / total
    got, want = library(f"symc_share_{kind}", part, total, reciprocal), part / total
    assert np.max(np.abs(got - want) / np.spacing(want)) <= 1
    assert np.count_nonzero(got != want) < 20  # a division is correctly rounded, nearly always this
    for one, whole in [(0.0, 3.0), (3.0, 3.0), (1e-45, 1.0), (np.nan, 2.0), (np.nan, np.nan)]:
        x, y = np.array([one], dtype), np.array([whole], dtype)
        _assert_same_bits(library(f"symc_share_{kind}", x, y, 1 / y), x / y, x)


@pytest.mark.parametrize(("sign", "most"), [(1.0, 4.0), (-1.0, 2.2)])
def test_erfc_in_single_precision(library: Library, sign: float, most: float) -> None:
    """Every 20011th number between 1e-9 and 11: libmvec's erfcf took six times as long."""
    bits = np.arange(0x30800000, 0x41300000, 20011, dtype=np.uint32)
    x = np.copysign(bits.view("f4"), np.float32(sign))
    exact = np.array([math.erfc(number) for number in x.tolist()])
    ulp = np.spacing(np.maximum(exact, 2.0**-126).astype("f4")).astype("f8")
    off = np.abs(library("symc_erfc_f32", x) - exact) / ulp
    assert np.max(off) < most
    assert np.mean(off) < 0.8


def test_erfc_in_single_precision_of_special_values(library: Library) -> None:
    x = np.array([0.0, -0.0, 1e-40, 9.2, 10.06, 11.0, 3e38, np.inf, -4.0, -3e38, -np.inf], "f4")
    want = [1.0, 1.0, 1.0, math.erfc(9.2), 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0]
    got = library("symc_erfc_f32", x)
    np.testing.assert_allclose(got, np.array(want, "f4"), rtol=1e-4, atol=2e-45)
    assert np.isnan(library("symc_erfc_f32", np.array([np.nan, -np.nan], "f4"))).all()


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "log_sigmoid"])
def test_single_precision_sigmoids(library: Library, name: str) -> None:
    x = np.array([*SPECIAL_FLOATS, *np.linspace(-86, 86, 999)], "f4")
    got, want = library(f"symc_{name}_f32", x), getattr(special, name)(x)
    assert_near(got, want, 1e-6)


def test_single_precision_erfinv(library: Library) -> None:
    x = np.array([*np.linspace(-1, 1, 999), 1 - 2**-24, 1e-30, 2, np.nan], "f4")
    got, want = library("symc_erfinv_f32", x), special.erfinv(x.astype("f8"))
    assert_near(got, want, 6e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_casts_are_numpys(library: Library, source: str, kind: str) -> None:
    halves = [2.0**power + offset for power in range(66) for offset in (-1, -0.5, 0, 0.5, 1)]
    x = np.array(
        [*SPECIAL_FLOATS, *halves, *(-half for half in halves)], "f4" if source == "f32" else "f8"
    )
    x = np.resize(x, 1024)  # so that NumPy uses its vector loop to the end
    got = library(f"symc_{source}_to_{kind}", x)
    inside = np.isfinite(x) & (np.abs(x) < 2.0**31)
    if platform.machine() == "x86_64":
        inside[:] = True
    np.testing.assert_array_equal(got[inside], x.astype(got.dtype)[inside])


# --- special functions ----------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_special_function(library: Library, case: Case) -> None:
    got = library(f"symc_{case.name}_f64", *case.points)
    for point, value, want in zip(zip(*case.points, strict=True), got, case.truth(), strict=True):
        unit = unit_at(float(want))
        assert abs(mp.mpf(float(value)) - want) <= case.ulp * unit, (point, value, want)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_special_values(library: Library, case: Case) -> None:
    for *point, want in case.special:
        got = library(f"symc_{case.name}_f64", *([value] * 9 for value in point))
        assert is_near(float(got[0]), want, 1e-13), (point, got[0], want)
        assert is_near(float(got[8]), want, 1e-13), (point, got[8], want)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nan_gives_nan(library: Library, case: Case) -> None:
    count = len(case.points)
    for position in range(count):
        point = [[math.nan if i == position else 1.5] * 9 for i in range(count)]
        assert np.isnan(library(f"symc_{case.name}_f64", *point)).all()
