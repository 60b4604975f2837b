"""The loop IR's own functions: constants, and folding where indexes are built."""

import math

import pytest

from symc.codegen.dtypes import BOOL, FLOAT32, FLOAT64, INT64
from symc.codegen.ir import Binary, Const, Loop, Var, add, binary, const, mul, sub

VI, VJ = Var("i"), Var("j")


def test_constants_are_equal_to_the_bit() -> None:
    assert Const(0.0, FLOAT64) != Const(-0.0, FLOAT64)
    assert Const(math.nan, FLOAT64) == Const(math.nan, FLOAT64)
    assert hash(Const(math.nan, FLOAT64)) == hash(Const(-math.nan, FLOAT64))
    assert Const(1.0, FLOAT64) == Const(1, FLOAT64)
    assert Const(1, FLOAT64) != Const(1, FLOAT32)
    assert Const(True, BOOL) != Const(1, INT64)
    assert Const(1) != 1


def test_equal_constants_have_equal_hashes() -> None:
    assert len({Const(0), Const(0), Const(0.0, FLOAT64), Const(-0.0, FLOAT64)}) == 3


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (add(VI, const(0)), VI),
        (add(const(0), VI), VI),
        (add(add(VI, const(2)), const(-2)), VI),
        (add(const(2), const(3)), const(5)),
        (sub(VI, VI), const(0)),
        (sub(VI, const(2)), add(VI, const(-2))),
        (mul(VI, const(1)), VI),
        (mul(const(0), VI), const(0)),
        (mul(VI, VJ), Binary("mul", VI, VJ, INT64)),
    ],
)
def test_indexes_fold_where_they_are_built(made: object, wanted: object) -> None:
    assert made == wanted


def test_binary_gives_the_dtype_that_follows() -> None:
    assert binary("lt", VI, VJ).dtype is BOOL
    assert binary("add", VI, VJ).dtype is INT64


def test_notes_do_not_count_in_comparisons() -> None:
    assert Loop(VI, VJ, "serial", (), "a") == Loop(VI, VJ, "serial", (), "b")
