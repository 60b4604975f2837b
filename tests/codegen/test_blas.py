"""Linear algebra by name: with a BLAS, with 32-bit integers, and without any."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from symc.codegen.dtypes import FLOAT32, FLOAT64, INT64, DType
from symc.codegen.errors import BlasMissing
from symc.codegen.foreign import FOREIGN
from symc.codegen.ir import Buffer, Const, Expr, Length, Pointer, Program, Routine, Size, Var, const
from symc.codegen.routines import ROUTINES
from symc.codegen.runtime import load
from symc.codegen.targets import blas
from symc.graph.registry import import_all
from tests.codegen.compiled import build, caller

if TYPE_CHECKING:
    from pathlib import Path

M, N, K, B = Var("m"), Var("n"), Var("k"), Var("batch")
Backend = Literal["found", "unexpected", "narrow", "none"]


@pytest.fixture(params=["found", "unexpected", "narrow", "none"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """NumPy's OpenBLAS, the wheel with 32-bit integers, and the loops in blas.h.

    All but the first are compiled with the loops, whether or not they are used.
    """
    if request.param != "found":
        monkeypatch.setattr(blas, "is_wide", lambda: False)
    if request.param == "none":
        monkeypatch.setattr(blas, "find", lambda: None)
    elif request.param == "narrow":
        path = next((path for path, wide in blas.candidates() if not wide), None)
        found = None if path is None else blas.opened(path, wide=False)
        if found is None:
            pytest.skip("scipy-openblas32 is not installed")
        monkeypatch.setattr(blas, "find", lambda: found)
    return str(request.param)


def short(dtype: DType) -> str:
    return f"f{dtype.bits}"


def at(name: str, *, written: bool = False) -> Pointer:
    return Pointer(name, const(0), written)


def gemm(dtype: DType, ta: int, tb: int, alpha: float, beta: float, *, batched: bool) -> Program:
    """``c = alpha a b + beta c`` where c is shared."""
    lead: tuple[Expr, ...] = (B,) if batched else ()
    a = Buffer("a", dtype, (*lead, *((K, M) if ta else (M, K))), "input")
    b = Buffer("b", dtype, (*lead, *((N, K) if tb else (K, N))), "input")
    c = Buffer("c", dtype, (*lead, M, N), "shared")
    first = len(lead)
    sizes = [
        Size(M, Length("c", first)), Size(N, Length("c", first + 1)),
        Size(K, Length("a", first + (0 if ta else 1))),
    ]  # fmt: skip
    if batched:
        sizes.append(Size(B, Length("a", 0)))
    args: list[Pointer | Expr] = [
        const(ta), const(tb), M, N, K, Const(alpha, dtype), at("a"), M if ta else K, at("b"),
        K if tb else N, Const(beta, dtype), at("c", written=True), N,
    ]  # fmt: skip
    if batched:
        from symc.codegen.ir import mul

        args = [B, *args, mul(M, K), mul(K, N), mul(M, N)]
    name = f"{'batched_' if batched else ''}gemm_{short(dtype)}"
    return Program("gemm", tuple(sizes), (a, b, c), (), (Routine(name, tuple(args), "a @ b"),))


SHAPES = ((1, 1, 1), (3, 5, 7), (4, 4, 0), (0, 3, 2), (3, 0, 2), (130, 70, 65), (200, 400, 33),
          (500, 1, 9), (1, 500, 300))  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("batched", [False, True], ids=["one", "batched"])
def test_gemm(dtype: DType, backend: Backend, batched: bool) -> None:
    rng = np.random.default_rng(0)
    for ta, tb, alpha, beta in (
        (0, 0, 1.0, 0.0),
        (1, 0, 0.5, 1.0),
        (0, 1, 1.0, 2.0),
        (1, 1, -1.0, 0.0),
    ):
        made = gemm(dtype, ta, tb, alpha, beta, batched=batched)
        opened = build(made)
        for m, n, k in SHAPES:
            lead = (3,) if batched else ()
            a = rng.standard_normal((*lead, m, k)).astype(dtype.name)
            b = rng.standard_normal((*lead, k, n)).astype(dtype.name)
            old = rng.standard_normal((*lead, m, n)).astype(dtype.name)
            if beta == 0:
                old[...] = np.nan  # uninitialised memory must not matter
            expected = alpha * (a.astype(float) @ b.astype(float)) + (beta * old if beta else 0)
            given = [
                np.ascontiguousarray(a.mT) if ta else a,
                np.ascontiguousarray(b.mT) if tb else b,
            ]
            results = []
            for threads in (1, 2, 5):
                cell = [old.copy()]
                f = caller(made, opened, shared=(cell,), threads=threads)
                f(*given)
                results.append(cell[0])
            tolerance = 1e-4 if dtype is FLOAT32 else 1e-11
            assert np.allclose(results[0], expected, rtol=tolerance, atol=tolerance * 10)
            for other in results[1:]:
                assert np.array_equal(results[0], other), (m, n, k)
    assert backend


# Rows of a that one piece does not have, with as many columns and summands as pieces of rows allow
# and some more: whole pieces, a last one that is shorter, and one row alone.
TALL = ((2000, 60, 60), (1001, 30, 100), (300, 125, 128), (641, 5, 1024), (65, 15, 1060),
        (4000, 12, 64), (700, 16, 256), (700, 97, 120))  # fmt: skip


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_a_tall_matrix_times_a_small_one_in_pieces_of_rows(dtype: DType, beta: float) -> None:
    """Had been one product, for which BLAS packs both: 1.35 times the time of pieces."""
    rng = np.random.default_rng(1)
    for ta, tb in itertools.product((0, 1), repeat=2):
        made = gemm(dtype, ta, tb, 0.5, beta, batched=False)
        opened = build(made)
        for m, n, k in TALL:
            a, b = (rng.uniform(-1, 1, s).astype(dtype.name) for s in ((m, k), (k, n)))
            old = rng.uniform(-1, 1, (m, n)).astype(dtype.name)
            expected = 0.5 * (a.astype(float) @ b.astype(float)) + beta * old
            given = [np.ascontiguousarray(x.T) if t else x for x, t in ((a, ta), (b, tb))]
            results = []
            for threads in (1, 3):
                cell = [old.copy() if beta else np.full_like(old, np.nan)]
                caller(made, opened, shared=(cell,), threads=threads)(*given)
                results.append(cell[0])
            tolerance = 1e-4 if dtype is FLOAT32 else 1e-12
            assert np.allclose(results[0], expected, rtol=tolerance, atol=tolerance)
            assert np.array_equal(results[0], results[1]), (m, n, k)


TWINS = ((63, 40), (64, 32), (100, 200), (150, 64), (300, 200), (530, 33))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("turned", [0, 1])
def test_a_matrix_times_its_own_transpose(dtype: DType, backend: Backend, turned: int) -> None:
    """Half of it is computed, above the diagonal, and the other half is a copy."""
    rng = np.random.default_rng(0)
    opened = build(made := gram(dtype, turned))
    for batch, (m, k) in itertools.product((1, 3), TWINS):
        a = rng.standard_normal((batch, m, k)).astype(dtype.name)
        given = np.ascontiguousarray(a.mT) if turned else a
        results = []
        for threads in (1, 2, 5):
            cell = [np.full((batch, m, m), np.nan, dtype.name)]
            caller(made, opened, shared=(cell,), threads=threads)(given)
            results.append(cell[0])
        tolerance = 1e-4 if dtype is FLOAT32 else 1e-11
        expected = 0.5 * (a.astype(float) @ a.mT.astype(float))
        assert np.allclose(results[0], expected, rtol=tolerance, atol=tolerance * 10)
        for other in results:
            assert np.array_equal(results[0], other), (m, k)
        assert m < 64 or np.array_equal(results[0], results[0].mT), (m, k)
    assert backend


def gram(dtype: DType, turned: int) -> Program:
    """``c = 0.5 a a^T`` for a batch, where a is given transposed if it is `turned`."""
    from symc.codegen.ir import mul

    a = Buffer("a", dtype, (B, *((K, M) if turned else (M, K))), "input")
    c = Buffer("c", dtype, (B, M, M), "shared")
    sizes = (Size(B, Length("c", 0)), Size(M, Length("c", 1)), Size(K, Length("a", 2 - turned)))
    lead = M if turned else K
    args: list[Pointer | Expr] = [
        B, const(turned), const(1 - turned), M, M, K, Const(0.5, dtype), at("a"), lead, at("a"),
        lead, Const(0.0, dtype), at("c", written=True), M, mul(M, K), mul(M, K), mul(M, M),
    ]  # fmt: skip
    name = f"batched_gemm_{short(dtype)}"
    return Program("gram", sizes, (a, c), (), (Routine(name, tuple(args), "a @ a.T"),))


def vector_program(name: str, dtype: DType, trans: int = 0, beta: float = 0.0) -> Program:
    number = Const(1.5, dtype)
    a = Buffer("a", dtype, (M, N), "shared" if name == "ger" else "input")
    sizes = (Size(M, Length("a", 0)), Size(N, Length("a", 1)))
    x = Buffer("x", dtype, (M if trans or name == "ger" else N,), "input")
    if name == "gemv":
        y = Buffer("y", dtype, (N if trans else M,), "shared")
        args: tuple[Pointer | Expr, ...] = (
            const(trans), M, N, number, at("a"), N, at("x"), Const(beta, dtype),
            at("y", written=True),
        )  # fmt: skip
    else:
        y = Buffer("y", dtype, (N,), "input")
        args = (M, N, number, at("x"), at("y"), at("a", written=True), N)
    return Program(name, sizes, (a, x, y), (), (Routine(f"{name}_{short(dtype)}", args),))


VECTOR_SHAPES = ((1, 1), (3, 5), (0, 4), (4, 0), (7, 700), (700, 7), (600, 1100))


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_gemv(dtype: DType, trans: int, beta: float) -> None:
    rng = np.random.default_rng(0)
    made = vector_program("gemv", dtype, trans, beta)
    opened = build(made)
    for m, n in VECTOR_SHAPES:
        a = rng.standard_normal((m, n)).astype(dtype.name)
        x = rng.standard_normal(m if trans else n).astype(dtype.name)
        old = rng.standard_normal(n if trans else m).astype(dtype.name)
        if beta == 0:
            old[...] = np.nan
        matrix = (a.T if trans else a).astype(float)
        expected = 1.5 * (matrix @ x) + (beta * old if beta else 0)
        results = []
        for threads in (1, 2, 3):
            cell = [old.copy()]
            caller(made, opened, shared=(cell,), threads=threads)(a, x)
            results.append(cell[0])
        tolerance = 1e-4 if dtype is FLOAT32 else 1e-11
        assert np.allclose(results[0], expected, rtol=tolerance, atol=tolerance * 10)
        assert np.array_equal(results[0], results[1])
        assert np.array_equal(results[0], results[2])


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_ger(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    made = vector_program("ger", dtype)
    opened = build(made)
    for m, n in VECTOR_SHAPES:
        cell = [rng.standard_normal((m, n)).astype(dtype.name)]
        x, y = (rng.standard_normal(length).astype(dtype.name) for length in (m, n))
        expected = cell[0] + 1.5 * np.outer(x, y)
        caller(made, opened, shared=(cell,), threads=2)(x, y)
        assert np.allclose(cell[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_dot(dtype: DType) -> None:
    made = Program(
        "dot",
        (Size(N, Length("x", 0)),),
        (
            Buffer("x", dtype, (N,), "input"), Buffer("y", dtype, (N,), "input"),
            Buffer("z", dtype, (), "output"),
        ),
        (),
        (Routine(f"dot_{short(dtype)}", (N, at("x"), at("y"), at("z", written=True))),),
    )  # fmt: skip
    f = caller(made, build(made))
    rng = np.random.default_rng(0)
    for length in (0, 1, 3, 4, 7, 4096, 4097, 100_003):
        x, y = (rng.standard_normal(length).astype(dtype.name) for _ in "xy")
        exact = float(x.astype(float) @ y.astype(float))
        assert np.isclose(f(x, y)[0], exact, rtol=1e-5, atol=1e-3 if dtype is FLOAT32 else 1e-10)
    ones = np.full(10_000_000, 0.1, dtype.name)  # a naive float32 sum is off by 8 %
    assert np.isclose(f(ones, ones)[0], 1e5, rtol=1e-6)


def test_copy_bytes() -> None:
    made = Program(
        "copy",
        (Size(N, Length("x", 0)),),
        (Buffer("x", INT64, (N,), "input"), Buffer("y", INT64, (N,), "output")),
        (),
        (Routine("copy_bytes", (Pointer("y", const(0), True), at("x"), binary_bytes())),),
    )
    f = caller(made, build(made))
    for length in (0, 1, 100):
        assert np.array_equal(f(np.arange(length))[0], np.arange(length))


def binary_bytes() -> Expr:
    from symc.codegen.ir import mul

    return mul(N, const(8))


def test_the_table_says_what_the_header_says() -> None:
    names = {"gemm": "SYMC_DEFINE_GEMM", "batched_gemm": "SYMC_DEFINE_GEMM",
             "ger": "SYMC_DEFINE_GER",
             "searchsorted": "SYMC_DEFINE_SEARCH", "fill_normal": "SYMC_FILL",
             "fill_uniform": "SYMC_FILL", "argmax": "SYMC_DEFINE_ARGEXTREME",
             "argmin": "SYMC_DEFINE_ARGEXTREME"}  # fmt: skip
    import_all()  # ops that declare routines
    for name, signature in ROUTINES.items():
        if name in FOREIGN:
            continue  # a user's
        assert signature.source in load.symbols()
        stem = re.sub(r"_([fiu](8|16|32|64)|bool)$", "", name)
        macro = names.get(stem)
        where = load.symbols()[signature.source].text
        if macro is not None:
            text = load.symbols()[macro].text.replace("\\\n", " ")
            where = text.partition(f"#define {macro}(")[2].partition("\n")[0]
        function = "batched" if stem == "batched_gemm" else "name"
        if macro is None:
            function = signature.symbol
        found = re.search(rf"\bvoid\s+{function}\(([^)]*)\)\s*{{", where)
        assert found is not None, name
        stated = [argument.split()[-1].strip("*") for argument in found[1].split(",")]
        expected = [argument for argument, _ in signature.arguments]
        assert stated == expected + ["threads"] * signature.threads, name


def test_threads_of_the_blas_are_as_they_were() -> None:
    found = blas.find()
    if found is None:
        pytest.skip("no BLAS here")
    from symc.codegen.targets._abi import ffi

    threads: Any = ffi.cast("int64_t (*)(symc_call *)", found.addresses[2])  # it ignores arguments
    before = threads(ffi.NULL) & 0xFFFFFFFF
    made = gemm(FLOAT64, 0, 0, 1.0, 0.0, batched=False)
    cell = [np.zeros((300, 300))]
    caller(made, build(made), shared=(cell,), threads=2)(np.ones((300, 300)), np.ones((300, 300)))
    assert threads(ffi.NULL) & 0xFFFFFFFF == before
    assert list(found.guard)[:2] == [0, 0]


def test_loops_are_compiled_only_where_there_is_no_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    if not blas.is_wide():
        pytest.skip("NumPy brings no OpenBLAS here")
    library = build(gemm(FLOAT64, 0, 0, 1.0, 0.0, batched=False))
    assert library.handle.symc_imports.wide
    monkeypatch.setattr(blas, "is_wide", lambda: True)
    monkeypatch.setattr(blas, "find", lambda: None)
    with pytest.raises(BlasMissing, match="OpenBLAS"):
        build(gemm(FLOAT64, 0, 0, 1.0, 0.0, batched=False))
    assert build(vector_program("gemv", FLOAT64)).handle is not None  # has loops anyway


def test_a_blas_that_did_not_open_is_not_expected_again() -> None:
    code = (
        "import numpy\n"
        "from symc.codegen.targets import blas\n"
        "before = blas.is_wide()\n"
        "blas.opened = lambda path, wide: None\n"
        "assert blas.find() is None\n"
        "assert not blas.is_wide()\n"
        "print(before)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(blas.is_wide())


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    assert blas.opened(f"{tmp_path}/none.so", wide=True) is None
    (tmp_path / "text.so").write_text("no library")
    assert blas.opened(f"{tmp_path}/text.so", wide=True) is None
    assert blas.package("no_such_package_here") is None
