"""Routines of the runtime as units: declared as they are defined, compiled once, linked after."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.emit.units import ProgramText
from symc.codegen.routines import ROUTINES, Signature
from symc.codegen.runtime import load
from symc.codegen.runtime.routines import LONG, routine_text, sharing
from symc.codegen.targets import processes
from symc.graph.registry import import_all
from symc.pipeline import library
from symc.pipeline.objects import OBJECT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

import_all()
_KINDS = {"read": "const ", "write": "", "length": "int64_t ", "flag": "int64_t "}


def long_routines() -> list[Signature]:
    return [
        signature
        for _, signature in sorted(ROUTINES.items())
        if load.code_length(load.source_of([signature.source])) >= LONG
    ]


@pytest.mark.parametrize("signature", long_routines(), ids=lambda each: each.symbol)
def test_every_long_routine_is_a_unit_and_declared_as_it_is_called(signature: Signature) -> None:
    routine = routine_text(signature.source)
    assert routine is not None
    assert routine.name == signature.symbol
    found = re.search(r"\((?P<all>[^()]*)\);\n$", routine.declaration)
    assert found is not None
    parameters = [parameter.strip() for parameter in found["all"].split(",")]
    if signature.threads:
        assert parameters.pop() == "int64_t threads"
    assert len(parameters) == len(signature.arguments)
    for (name, kind), parameter in zip(signature.arguments, parameters, strict=True):
        assert parameter.startswith(_KINDS.get(kind, "")), (name, parameter)
        assert ("*" in parameter) == (kind in ("read", "write")), (name, parameter)


def test_short_functions_and_macros_are_no_units() -> None:
    assert routine_text("symc_ger_f64") is None
    assert routine_text("symc_stops") is None
    assert routine_text("SYMC_DEFINE_GEMM") is None


class Watched:
    """The texts that compilers get, program by program."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[list[str]] = []
        run = processes.run_all

        def watched(
            commands: Sequence[Sequence[str]], sources: Sequence[str], folder: str | Path
        ) -> None:
            self.texts.append([text for text in sources if text])
            run(commands, sources, folder)

        monkeypatch.setattr(processes, "run_all", watched)
        monkeypatch.setattr("symc.codegen.targets.units.run_all", watched)

    def taken(self) -> str:
        """All texts since the last time."""
        text = "\n".join(text for texts in self.texts for text in texts)
        self.texts.clear()
        return text


BODY = "symc_eight_rows_f64(int64_t count"
A, X = np.arange(12.0).reshape(3, 4), np.arange(4.0)


def product(times: float) -> Any:
    a, x = T.matrix("a"), T.vector("x")
    f = symc.function([a, x], (a @ x) * times)
    np.testing.assert_allclose(f(A, X), A @ X * times)
    return f


def test_the_second_program_is_linked_with_the_routine_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    with library.store_at(tmp_path / "cache"):
        first = product(2.0)
        assert watched.taken().count(BODY) == 1
        second = product(3.0)
        assert BODY not in watched.taken()
        # For people, a program is whole, and no file of the linking stays.
        for f in (first, second):
            assert f.source.count(BODY) == 1
            names = os.listdir(f.folder)  # noqa: PTH208
            assert not [name for name in names if name.endswith(".o") or name.startswith("unit")]


def test_an_object_that_is_damaged_or_gone_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    with library.store_at(tmp_path / "cache"):
        product(2.0)
        (kept,) = (tmp_path / "cache").rglob(OBJECT)
        kept.chmod(0o600)
        kept.write_bytes(b"damaged" * 100)
        watched.taken()
        product(3.0)
        assert watched.taken().count(BODY) == 1
        for kept in list((tmp_path / "cache").rglob(OBJECT)):
            shutil.rmtree(kept.parent)
        product(4.0)
        assert watched.taken().count(BODY) == 1
        product(5.0)
        assert BODY not in watched.taken()


def test_routines_that_share_code_are_compiled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each is found by the next program; objects with the same routine can be linked."""
    watched = Watched(monkeypatch)
    z, x = T.tensor("complex128", (None, None), name="z"), T.matrix("x")
    given = np.random.default_rng(0).normal(size=(3, 20))
    shared = "symc_fft_run_to_f64("

    def compiled(*outputs: Any) -> str:
        f = symc.function([z, x], outputs, on_unused_input="ignore")
        for found, wanted in zip(f(given + 1j, given), wanted_of(outputs), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        return watched.taken()

    def wanted_of(outputs: Sequence[Any]) -> list[Any]:
        return [np.fft.fft(given + 1j) if out is full else np.fft.rfft(given) for out in outputs]

    full, half = T.fft.fft(z), T.fft.rfft(x)
    with library.store_at(tmp_path / "one"):
        assert shared in compiled(half)
        assert shared in compiled(full)
        assert shared not in compiled(full, half)  # two objects, with the same functions
    with library.store_at(tmp_path / "two"):
        text = compiled(full, half)
        assert text.count(f"static void {shared}") == 1, "the routines are one unit"
        assert shared not in compiled(half)
        assert shared not in compiled(full)


def test_groups() -> None:
    names = ("symc_fft_real_f64", "symc_gemv_f64", "symc_fft_complex_f64", "symc_lu")
    routines = [routine for routine in map(routine_text, names) if routine is not None]
    found = [{routine.name for routine in group} for group in sharing(routines)]
    fourier = {"symc_fft_real_f64", "symc_fft_complex_f64"}
    assert found == [{"symc_gemv_f64"}, fourier, {"symc_lu"}]


def test_two_routines_of_one_program_share_the_table_of_blas(tmp_path: Path) -> None:
    """Both units have the variables that whoever loads the program fills in."""
    a = T.matrix("a")
    spd = a @ a.T + 30 * T.eye(a.shape[0])
    with library.store_at(tmp_path / "cache"):
        f = symc.function([a], [T.linalg.cholesky(spd), spd, T.linalg.inv(spd)])
    given = np.random.default_rng(0).normal(size=(70, 50))
    lower, matrix, inverse = f(given)
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=1e-10)
    np.testing.assert_allclose(matrix, given @ given.T + 30 * np.eye(70), rtol=1e-10)
    np.testing.assert_allclose(inverse @ matrix, np.eye(70), atol=1e-10)
    assert len(list((tmp_path / "cache").rglob(OBJECT))) >= 2


def test_what_kernels_have_already_is_no_unit() -> None:
    names = ("symc_call", "symc_gemv_f64")
    text = ProgramText("", (), load.source_of(names), "int x;", False, names, ("symc_gemv_f64",))
    assert text.routines() == []
    text = ProgramText("", (), load.source_of(names), "int x;", False, names, ())
    (routine,) = text.routines()
    (alone,), (linked,) = text.units(1), text.units(1, [routine])
    assert BODY in alone
    assert BODY not in linked
    assert routine.declaration in linked
