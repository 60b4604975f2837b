"""The operations of routines: every routine has a count, and the counts are the usual ones."""

from __future__ import annotations

import pytest

from symc.codegen.cost.operations import RoutineArguments, operations
from symc.codegen.dtypes import BLAS_KINDS
from symc.codegen.ir import Const, Expr, Var, const
from symc.codegen.routines import ROUTINES
from symc.graph.registry import import_all

import_all()  # ops that declare routines
# Nobody states a usual count of the first two; the others take the time of their messages.
UNCOUNTED = {"ctc_f32", "ctc_f64"} | {name for name, row in ROUTINES.items() if row.meets}


def given(name: str, **lengths: int) -> RoutineArguments:
    """The arguments of a routine: these lengths, 1 for others, elements that are float64."""
    exprs: dict[str, Expr] = {}
    for argument, kind in ROUTINES[name].arguments:
        if kind in ("length", "flag", "number"):
            known = 1 if kind == "length" else 0
            exprs[argument] = const(lengths.get(argument, known))
    if "kind" in exprs and "kind" not in lengths:
        exprs["kind"] = const(BLAS_KINDS.index("float64"))
    return RoutineArguments(exprs, {})


def test_every_routine_has_a_count() -> None:
    counted = {name for name in ROUTINES if operations(name, given(name)) is not None}
    declared = {name for name, row in ROUTINES.items() if row.symbol.startswith("symc_")}
    assert declared - counted == UNCOUNTED


@pytest.mark.parametrize(
    ("name", "lengths", "expected"),
    [
        ("gemm_f32", {"m": 3, "n": 4, "k": 5}, 120),
        ("batched_gemm_f64", {"batch": 2, "m": 3, "n": 4, "k": 5}, 240),
        ("gemv_f64", {"m": 3, "n": 4}, 24),
        ("dot_f64", {"n": 7}, 14),
        ("matmul", {"batch": 2, "m": 3, "n": 4, "k": 5, "kind": 3}, 4 * 240),
        # Two groups of three channels to five features, filters of 3 by 3, 8 by 8 places.
        ("conv_outputs_f32",
         {"groups": 2, "channels": 3, "features": 5, "k1": 3, "k2": 3, "t1": 8, "t2": 8},
         2 * 2 * 3 * 5 * 9 * 64),
        ("cholesky", {"n": 6}, 72),
        ("triangle_inverse", {"n": 6}, 72),
        ("triangle_square", {"n": 6}, 72),
        ("lu", {"n": 3, "batch": 4}, 72),
        ("lu_solve", {"n": 3, "m": 4}, 72),
        ("lu_inverse", {"n": 3}, 36),
        ("solve_triangular", {"n": 3, "m": 4}, 36),
        # Of a square matrix: 4/3 n^3 for r, twice that with q.
        ("qr_r", {"m": 3, "n": 3, "k": 3}, 36),
        ("qr", {"m": 3, "n": 3, "k": 3}, 72),
        # Of m by n with m > n: 2 n^2 (m - n / 3).
        ("qr_r", {"m": 6, "n": 3, "k": 3}, 90),
        ("qr_r", {"m": 3, "n": 6, "k": 3}, 90),
        ("eigvalsh", {"n": 3}, 36),
        ("eigh", {"n": 3}, 243),
        ("eigvals", {"n": 3}, 270),
        ("svdvals", {"m": 3, "n": 6}, 4 * 6 * 9 - 36),
        ("svd", {"m": 6, "n": 3, "left": 3, "right": 3}, 14 * 6 * 9 + 8 * 27),
        ("svd", {"m": 6, "n": 3, "left": 6, "right": 3}, 4 * 36 * 3 + 8 * 6 * 9 + 9 * 27),
        ("fft_complex_f32", {"outer": 2, "n": 8}, 5 * 2 * 8 * 3),
        ("fft_real_f64", {"n": 8, "inner": 2}, 2.5 * 2 * 8 * 3),
        ("argsort", {"rows": 2, "n": 8}, 48),
        # Scores and their products with the values; half of them below the diagonal.
        ("attention_outputs_f32", {"n": 4, "m": 5, "d": 6, "e": 7, "causal": 0}, 2 * 20 * 13),
        ("attention_outputs_f32", {"n": 4, "m": 5, "d": 6, "e": 7, "causal": 1}, 20 * 13),
        ("attention_keys_f32", {"n": 4, "m": 5, "d": 6, "e": 6, "causal": 0}, 4 * 2 * 20 * 6),
    ],
)  # fmt: skip
def test_usual_counts(name: str, lengths: dict[str, int], expected: float) -> None:
    found = operations(name, given(name, **lengths))
    assert found is not None
    assert found.value({}) == pytest.approx(expected)


def test_a_matrix_of_unknown_shape() -> None:
    made = RoutineArguments({"batch": Const(1), "m": Var("m"), "n": Var("n"), "kind": const(1)}, {})
    found = operations("svdvals", made)
    assert str(found) == "4*max(m, n)*min(m, n)**2 - 1.333*min(m, n)**3"
    assert found is not None
    assert found.value({"m": 3, "n": 6}) == pytest.approx(4 * 6 * 9 - 36)
