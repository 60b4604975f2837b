"""Arguments that calls overwrite: ops with a `destroy_map`, and inputs that may be overwritten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano import In
from symc.theano.gof.fg import InconsistencyError


def test_an_op_in_place_needs_accept_inplace() -> None:
    x = T.dvector()
    with pytest.raises(TypeError, match="Graph must not contain inplace operations"):
        theano.function([x], T.inplace.exp_inplace(x))


def test_the_argument_of_an_op_in_place_has_its_result() -> None:
    x = T.dvector()
    f = theano.function([x], T.inplace.exp_inplace(T.inplace.neg_inplace(x)), accept_inplace=True)
    given = np.array([0.0, 1.0])
    result = f(given)
    np.testing.assert_array_equal(given, np.exp([0.0, -1.0]))
    np.testing.assert_array_equal(result, given)


def test_an_op_in_place_has_the_dtype_of_what_it_overwrites() -> None:
    n, x = T.lvector(), T.dvector()
    f = theano.function([n, x], T.inplace.add_inplace(n, x), accept_inplace=True)
    given = np.array([3, 4])
    result = f(given, np.array([0.7, 1.9]))
    assert result.dtype == given.dtype
    assert given.tolist() == [3, 5]  # the sums are rounded, not what is added


def test_what_is_written_through_views_is_in_the_argument() -> None:
    m = T.dmatrix()
    part = T.inplace.exp_inplace(m[1:].reshape((3,)).dimshuffle("x", 0).T)
    f = theano.function([m], part, accept_inplace=True)
    given = np.zeros((2, 3))
    f(given)
    assert given.tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize("rows", ["m.T", "m[:, 1:]", "m[::2]", "m.T[1:]"])
def test_a_reshape_that_copies_leaves_the_argument(rows: str) -> None:
    m = T.dmatrix("m")
    flat = eval(rows, {"m": m}).reshape((-1,), ndim=1)
    f = theano.function([m], T.inplace.exp_inplace(flat), accept_inplace=True)
    given = np.zeros((4, 3))
    assert (f(given) == 1).all()
    assert not given.any()


@pytest.mark.parametrize("rows", ["x[::-1]", "x[::2]", "m[1]", "m[1:]", "m[1, 1:]", "m"])
def test_a_reshape_that_is_a_view_writes_into_the_argument(rows: str) -> None:
    x, m = T.dvector("x"), T.dmatrix("m")
    part = eval(rows, {"x": x, "m": m})
    root = m if "m" in rows else x
    made = T.inplace.exp_inplace(part.reshape((1, -1), ndim=2))
    f = theano.function([root], made, accept_inplace=True)
    given = np.zeros((3, 4) if root is m else 4)
    f(given)
    expected = np.zeros_like(given)
    view = eval(rows, {"x": expected, "m": expected}).reshape(1, -1)
    np.exp(view, out=view)
    np.testing.assert_array_equal(given, expected)


def test_a_written_part_is_in_the_argument_and_others_see_the_old_one() -> None:
    x = T.dvector()
    made = T.inc_subtensor(x[1:], 5.0, inplace=True)
    f = theano.function([In(x, mutable=True)], [made.sum(), x.sum()], accept_inplace=True)
    given = np.arange(3.0)
    assert f(given) == [13, 3]
    assert given.tolist() == [0, 6, 7]


def test_a_converted_argument_stays_as_it_is() -> None:
    x = T.dvector()
    f = theano.function([x], T.inplace.exp_inplace(x), accept_inplace=True)
    given = np.zeros(2, dtype="float32")
    f(given)
    assert given.tolist() == [0, 0]


def test_an_argument_that_may_be_overwritten_takes_an_elementwise_result() -> None:
    x = T.dvector()
    f, g = (theano.function([In(x, mutable=flag)], x * 2) for flag in (True, False))
    given = np.arange(3.0)
    assert g(given).tolist() == [0, 2, 4]
    assert given.tolist() == [0, 1, 2]
    assert f(given).tolist() == [0, 2, 4]
    assert given.tolist() == [0, 2, 4]


def test_an_output_takes_the_place_of_one_argument() -> None:
    x, y = T.dvector(), T.dvector()
    ins = [In(x, mutable=True), In(y, mutable=True)]
    given, other = np.arange(2.0), np.ones(2)
    theano.function(ins, x + y)(given, other)
    assert (given.tolist(), other.tolist()) == ([1, 2], [1, 1])
    theano.function(ins, [x + y, x * y])(given, other)
    assert (given.tolist(), other.tolist()) == ([2, 3], [1, 1])
    theano.function(ins, [x * 2, y * 3])(given, other)
    assert (given.tolist(), other.tolist()) == ([4, 6], [3, 3])


def test_an_argument_that_is_an_output_too_stays() -> None:
    x = T.dvector()
    f = theano.function([In(x, mutable=True)], [x * 2, x])
    given = np.arange(2.0)
    assert [each.tolist() for each in f(given)] == [[0, 2], [0, 1]]
    assert given.tolist() == [0, 1]


def test_a_default_value_that_is_overwritten_stays_so() -> None:
    x = T.dvector()
    made = T.inplace.add_inplace(x, 1.0)
    f = theano.function([In(x, value=np.zeros(2), mutable=True)], made, accept_inplace=True)
    assert [f().tolist(), f().tolist()] == [[1, 1], [2, 2]]


def test_a_shared_variable_is_overwritten_without_an_update() -> None:
    s = theano.shared(np.zeros(2))
    f = theano.function([], T.inplace.add_inplace(s, 1.0).sum(), accept_inplace=True)
    assert [f(), f()] == [2, 4]
    assert s.get_value().tolist() == [2, 2]


def test_two_ops_may_not_overwrite_the_same() -> None:
    x = T.dvector()
    made = [T.inplace.exp_inplace(x), T.inplace.neg_inplace(x)]
    with pytest.raises(InconsistencyError, match="Multiple destroyers"):
        theano.function([x], made, accept_inplace=True)


class AddOneInPlace(theano.Op):
    """A program's own op, which overwrites what it gets."""

    destroy_map = {0: [0]}  # noqa: RUF012 -- as programs write it

    def make_node(self, *inputs: Any) -> Any:
        return theano.Apply(self, [*inputs], [inputs[0].type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any, *_: Any) -> None:
        inputs[0] += 1
        output_storage[0][0] = inputs[0]


@pytest.mark.parametrize("mode", ["FAST_RUN", "watched"])
def test_an_own_op_in_place_leaves_others_the_old_value(mode: str) -> None:
    x = T.dvector()
    asked: Any = theano.compile.MonitorMode() if mode == "watched" else mode
    outputs = [AddOneInPlace()(x), x * 10]
    f = theano.function([x], outputs, accept_inplace=True, mode=asked)
    given = np.arange(2.0)
    result, others = f(given)
    assert (result.tolist(), others.tolist()) == ([1, 2], [0, 10])
    assert given.tolist() == [1, 2]


def test_ops_say_what_they_overwrite() -> None:
    from symc.theano.tensor.blas import gemm_inplace, gemv
    from symc.theano.tensor.raw_random import RandomFunction

    assert gemm_inplace.destroy_map == {0: [0]}
    assert gemv.destroy_map == {}
    assert RandomFunction("uniform", T.dvector, inplace=True).destroy_map == {0: [0]}


def test_gradients_of_ops_in_place_are_verified_on_copies() -> None:
    from symc.theano.tests.unittest_tools import verify_grad

    point = np.array([[1.5, 1.4], [2.0, -0.5]])
    verify_grad(T.inplace.exp_inplace, [point])
    assert point[0, 0] == 1.5
