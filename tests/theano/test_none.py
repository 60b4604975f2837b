"""None as Theano has it: a type of one value, its constant, indexes, and arguments of functions."""

from __future__ import annotations

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.gof import generic
from symc.theano.tensor.type_other import NoneConst, none_type_t

X = np.arange(6.0).reshape(2, 3)


def test_the_constant_of_none_in_indexes() -> None:
    x = T.dmatrix("x")
    assert x[NoneConst].eval({x: X}).shape == (1, 2, 3)
    np.testing.assert_array_equal(x[1:NoneConst:1].eval({x: X}), X[1:])
    np.testing.assert_array_equal(x[NoneConst, [0, 1]].eval({x: X}), X[None, [0, 1]])


def test_none_as_an_argument_and_a_result() -> None:
    n, g, x = none_type_t("n"), generic("g"), T.dmatrix("x")
    assert theano.function([n], n)(None) is None
    assert theano.function([g], g)(None) is None
    both = theano.function([x, n], [x.sum(), NoneConst], on_unused_input="ignore")(X, None)
    assert both[0] == 15.0
    assert both[1] is None
    with pytest.raises(TypeError, match="Expected None"):
        theano.function([n], n)(3)
    with pytest.raises(TypeError, match="Missing required input: x"):
        theano.function([x], x)(None)


def test_steps_that_give_none_are_refused() -> None:
    x = T.dmatrix("x")
    with pytest.raises(ValueError, match="return value of your scan lambda"):
        theano.scan(lambda row: None, sequences=x)
    with pytest.raises(ValueError, match="return value of your scan lambda"):
        theano.scan(lambda row: [row, None], sequences=x)


def test_a_gradient_of_nothing() -> None:
    with pytest.raises(AssertionError, match="can't both be None"):
        theano.grad(None, T.dvector())


def test_what_givens_put_in_place_of_an_output_is_not_of_its_type() -> None:
    x = T.dmatrix("x")
    assert theano.function([], x, givens={x: None})() is None
    assert theano.function([], x, givens={x: T.constant([1, 2])})().dtype == np.int64
    with pytest.raises(TypeError, match="Cannot convert"):
        theano.function([], x + 1, givens={x: None})


def test_taps_of_none_are_the_last_step_where_there_is_an_initial_value() -> None:
    x = T.dmatrix("x")
    info = [{"initial": None, "taps": None}, {"initial": T.zeros(3), "taps": None}]
    (twice, sums), _ = theano.scan(
        lambda row, before: [2 * row, before + row], sequences=x, outputs_info=info
    )
    found = theano.function([x], [twice, sums])(X)
    np.testing.assert_array_equal(found[0], 2 * X)
    np.testing.assert_array_equal(found[1], X.cumsum(0))
    with pytest.raises(ValueError, match="need to provide an initial"):
        theano.scan(lambda row: row, sequences=x, outputs_info=[{"initial": None, "taps": []}])
