"""LAPACK by name: the table of its functions, with integers of either width, and without any."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from symc.codegen.dtypes import FLOAT64, INT64
from symc.codegen.errors import BlasMissing
from symc.codegen.foreign import FOREIGN
from symc.codegen.ir import Buffer, Length, Pointer, Program, Routine, Size, Var, const
from symc.codegen.routines import ROUTINES
from symc.codegen.runtime import load
from symc.codegen.targets import blas, lapack
from symc.codegen.targets._abi import ffi
from tests.codegen.compiled import build, caller
from tests.codegen.runtime_library import STRICT, gcc

if TYPE_CHECKING:
    from pathlib import Path

N = Var("n")
HEADERS = tuple(
    f"factorisations/{name}.h" for name in ("lapack", "definite", "general", "spectral", "expm")
)


def cholesky() -> Program:
    """The lower factor of a matrix, and whether there is one."""
    at = [Pointer(name, const(0), name != "a") for name in ("a", "l", "info")]
    buffers = (
        Buffer("a", FLOAT64, (N, N), "input"), Buffer("l", FLOAT64, (N, N), "output"),
        Buffer("info", INT64, (), "output"),
    )  # fmt: skip
    call = Routine("cholesky", (const(1), const(1), N, *at))
    return Program("factor", (Size(N, Length("a", 0)),), buffers, (), (call,))


def solve() -> Program:
    """A system by LU, whose pivots are integers of LAPACK's."""
    kind, one = const(1), const(1)
    names = {"a": (FLOAT64, (N, N), "input"), "lu": (FLOAT64, (N, N), "temp"),
             "pivots": (INT64, (N,), "temp"), "info": (INT64, (), "output"),
             "x": (FLOAT64, (N, N), "output"), "b": (FLOAT64, (N, N), "input"),
             "inverse": (FLOAT64, (N, N), "output")}  # fmt: skip
    buffers = tuple(Buffer(name, *rest) for name, rest in names.items())  # type: ignore[arg-type]

    def at(name: str, *, written: bool = False) -> Pointer:
        return Pointer(name, const(0), written)

    steps = (
        Routine("lu", (kind, one, N, at("a"), at("lu", written=True), at("pivots", written=True),
                       at("info", written=True))),
        Routine("lu_solve", (kind, one, const(0), N, N, at("lu"), at("pivots"), one, at("b"),
                             at("x", written=True))),
        Routine("lu_inverse", (kind, one, N, at("lu"), at("pivots"), at("inverse", written=True))),
    )  # fmt: skip
    return Program("solve", (Size(N, Length("a", 0)),), buffers, (), steps)


@pytest.fixture(params=["found", "narrow"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """NumPy's OpenBLAS, and the wheel with 32-bit integers."""
    if request.param == "narrow":
        path = next((path for path, wide in blas.candidates() if not wide), None)
        found = None if path is None else blas.opened(path, wide=False)
        if found is None:
            pytest.skip("scipy-openblas32 is not installed")
        monkeypatch.setattr(blas, "is_wide", lambda: False)
        monkeypatch.setattr(blas, "find", lambda: found)
    elif blas.find() is None:
        pytest.skip("no BLAS here")
    return str(request.param)


def test_integers_of_either_width(width: str) -> None:
    rng = np.random.default_rng(0)
    factor, system = (caller(made, build(made), threads=2) for made in (cholesky(), solve()))
    for n in (1, 5, 300):
        a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
        info, x, inverse = system(a, b)
        assert info == 0
        np.testing.assert_allclose(a @ x, b, atol=1e-9)
        np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-7, atol=1e-8)
        lower, info = factor(a @ a.T + np.eye(n))
        assert info == 0
        np.testing.assert_allclose(lower, np.linalg.cholesky(a @ a.T + np.eye(n)), atol=1e-11)
    _, info = factor(np.diag([1.0, 2.0, -1.0]))
    assert info == 3
    assert width


def test_a_program_without_lapack_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    made = cholesky()
    monkeypatch.setattr(blas, "find", lambda: None)
    monkeypatch.setattr(blas, "is_wide", lambda: False)
    with pytest.raises(BlasMissing, match="install scipy-openblas32, or a NumPy that brings"):
        build(made)


def test_the_table_has_a_place_for_every_function() -> None:
    text = (load.FOLDER / "factorisations" / "lapack.h").read_text(encoding="utf-8")
    names = re.findall(r"SYMC_(\w+),", text.partition("enum {")[2].partition("}")[0])
    assert [name.lower() for name in names] == [name.partition("|")[0] for name in lapack.NAMES]
    assert len(lapack.symbols(wide=True)) == 4 * len(names)
    assert lapack.symbols(wide=False)[4 * names.index("ORGLQ") + 2] == b"scipy_cunglq_"


def test_the_table_is_as_long_as_programs_have_it() -> None:
    found = blas.find()
    if found is None:
        pytest.skip("no BLAS here")
    library = build(cholesky())  # the table is there as long as this is
    table: Any = library.handle.symc_lapack
    assert ffi.sizeof(table) == ffi.sizeof(lapack.addresses(found))
    assert all(pointer != ffi.NULL for pointer in table)


@pytest.mark.parametrize("wide", [False, True])
def test_headers_compile_without_a_warning(wide: bool, tmp_path: Path) -> None:
    own = [s.source for name, s in ROUTINES.items() if name not in FOREIGN]  # not a user's
    sources = [source for source in own if load.symbols()[source].file in HEADERS]
    assert len(sources) > 15
    text = load.base() + load.source_of(sources)
    flags = ["-DSYMC_BLAS64"] * wide
    gcc([*STRICT[1:], "-O1", "-fopenmp", "-Wno-unused-function", *flags], text, "-c", "-o",
        str(tmp_path / "lapack.o"))  # fmt: skip


def test_all_routines_compile_in_one_program() -> None:
    """Blocks of triangles had the name of those of attention."""
    own = [s.source for name, s in ROUTINES.items() if name not in FOREIGN]
    text = load.base() + load.source_of([name for name in own if not name.startswith("symc_mpi")])
    gcc(["-std=gnu11", "-O0", "-w", "-fopenmp", "-fsyntax-only"], text)
