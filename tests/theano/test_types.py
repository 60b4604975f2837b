"""Dtypes, casts, and the gate that values go through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.configparser import change_flags

LITERALS = [
    # floatX, dtype of the tensor, number, dtype of the sum
    ("float64", "float32", 0.5, "float32"),
    ("float64", "float32", 1.1, "float64"),
    ("float32", "float32", 1.1, "float32"),
    ("float64", "int8", 1, "int8"),
    ("float64", "int8", 1000, "int16"),
    ("float64", "uint8", 0, "int16"),
    ("float64", "float32", np.float64(2), "float64"),
]


@pytest.mark.parametrize(("floatx", "dtype", "number", "expected"), LITERALS)
def test_numbers_get_the_dtype_that_holds_them(
    floatx: str, dtype: str, number: Any, expected: str
) -> None:
    with change_flags(floatX=floatx):
        assert (T.vector(dtype=dtype) + number).dtype == expected


UPCASTS = [
    ("int32", "float32", "float64"), ("int16", "float32", "float32"),
    ("uint32", "int32", "int64"), ("uint64", "int64", "float64"), ("bool", "bool", "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "expected"), UPCASTS)
def test_upcast(left: str, right: str, expected: str) -> None:
    assert theano.scalar.upcast(left, right) == expected
    assert (T.vector(dtype=left) + T.vector(dtype=right)).dtype == expected


def test_divisions_and_means_of_integers() -> None:
    with change_flags(floatX="float32"):
        x = T.ivector()
        assert (x / x).dtype == "float32"
        assert T.mean(x).dtype == "float64"
        assert T.sum(x).dtype == "int64"
        assert T.exp(T.bvector()).dtype == "float32"
        assert T.eq(x, x).dtype == "bool"


def test_float64_is_refused_where_float32_is_meant() -> None:
    f = theano.function([x := T.fvector("x")], x)
    with pytest.raises(TypeError, match=r"Bad input argument.*without risking loss of precision"):
        f(np.zeros(2))
    down = theano.function([x], x, allow_input_downcast=True)
    assert down(np.zeros(2)).dtype == np.float32


def test_the_number_of_axes_and_broadcastable_ones_are_checked() -> None:
    f = theano.function([x := T.row("x")], x)
    with pytest.raises(TypeError, match="Wrong number of dimensions: expected 2, got 1"):
        f(np.zeros(2))
    with pytest.raises(TypeError, match="Non-unit value on shape on a broadcastable dimension"):
        f(np.zeros((2, 2)))


def test_lengths_of_1_broadcast_only_where_the_type_says_so() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    f = theano.function([x, y], x + y)
    with pytest.raises(ValueError, match="axis 0"):
        f(np.zeros((3, 2)), np.zeros((1, 2)))
    g = theano.function([x, y], x + T.addbroadcast(y, 0))
    assert g(np.zeros((3, 2)), np.ones((1, 2))).shape == (3, 2)


def test_constants_broadcast_and_shared_variables_do_not() -> None:
    assert T.constant(np.ones((1, 3))).broadcastable == (True, False)
    assert theano.shared(np.ones((1, 3))).broadcastable == (False, False)


def test_bools_are_no_tensors() -> None:
    x = T.scalar()
    with pytest.raises(TypeError, match="Cannot cast True or False as a tensor variable"):
        T.switch(x == 1, 1, 2)
    with pytest.raises(TypeError, match="Variables do not support boolean operations"):
        bool(x < 1)


def test_settings_are_known_by_name_and_come_back() -> None:
    before = theano.config.floatX
    with change_flags(floatX="float16"):
        assert theano.config.floatX == "float16"
    assert theano.config.floatX == before
    with pytest.raises(ValueError, match='Invalid value \\("float8"\\)'):
        theano.config.floatX = "float8"
    with pytest.raises(AttributeError, match="no_such"):
        theano.config.no_such = 1


def test_reductions_round_to_the_dtype_that_is_asked_for_at_the_end() -> None:
    x = T.fmatrix("x")
    given = np.full((2, 2), 0.75, dtype="float32")
    assert T.sum(x, dtype="int8").eval({x: given}) == 3
    assert T.mean(x, dtype="int8").dtype == "float64"
    assert T.mean(x, dtype="int8").eval({x: given}) == 0.75
    assert T.mean(T.lmatrix(), dtype="float16").dtype == "float16"
    assert str(T.sum(x, dtype="int8").owner.op) == "Sum{acc_dtype=float64}"
    with pytest.raises(TypeError, match="precision would be lost"):
        T.sum(T.dmatrix(), acc_dtype="float32")


@pytest.mark.parametrize("reduction", [T.sum, T.prod, T.mean])
def test_a_narrow_accumulator_is_refused_with_a_dtype_of_the_result_too(reduction: Any) -> None:
    with pytest.raises(TypeError, match="precision would be lost"):
        reduction(T.dmatrix(), dtype="float64", acc_dtype="float32")
    assert reduction(T.lmatrix(), dtype="float32", acc_dtype="float32").dtype == "float32"


def test_products_of_float32_are_accumulated_in_float64() -> None:
    x = T.fvector("x")
    given = (1 + np.random.default_rng(0).uniform(-0.1, 0.1, 500)).astype("float32")
    exact = np.prod(given.astype("float64")).astype("float32")
    assert T.prod(x).eval({x: given}) == exact
