"""Theano's graphs: variables of their own identity, owners, walks, copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.gof import graph


def test_equal_expressions_are_two_variables() -> None:
    x = T.vector("x")
    first, second = T.exp(x), T.exp(x)
    assert first is not second
    assert first.owner.op == second.owner.op
    assert first.owner.inputs == [x]
    first.tag.note = 1
    assert not hasattr(second.tag, "note")


def test_a_variable_knows_its_owner_and_type() -> None:
    x = T.matrix("x", dtype="float32")
    y = T.dot(x, x)
    assert y.owner.outputs == [y]
    assert y.index == 0
    assert y.type == T.TensorType("float32", (False, False))
    assert (y.ndim, y.dtype, y.broadcastable) == (2, "float32", (False, False))
    assert str(x) == "x"


def test_inputs_come_first_to_last() -> None:
    x, y, z = T.scalars("xyz")
    assert graph.inputs([x + y * z]) == [x, y, z]


def test_equal_computations_compares_constants_and_inputs() -> None:
    x, y = T.vector("x"), T.vector("y")
    assert graph.equal_computations([x + 1], [x + 1])
    assert not graph.equal_computations([x + 1], [x + 2])
    assert not graph.equal_computations([x + 1], [y + 1])
    assert graph.equal_computations([x + 1], [y + 1], [x], [y])


def test_clone_replaces_and_keeps_the_rest() -> None:
    x, y = T.scalar("x"), T.scalar("y")
    kept = y * 2
    replaced = theano.clone(T.exp(x) + kept, {x: kept})
    assert x not in graph.inputs([replaced])
    assert replaced.eval({y: 0.5}) == pytest.approx(np.e + 1)


def test_a_graph_survives_pickling_and_deep_copies() -> None:
    x, w = T.vector("x"), theano.shared(np.arange(3.0), "w")
    f = theano.function([x], (x * w).sum(), updates=[(w, w + 1)])
    for other in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        assert other([1.0, 1.0, 1.0]) == 3.0
        assert other([1.0, 1.0, 1.0]) == 6.0
    np.testing.assert_array_equal(w.get_value(), [0.0, 1.0, 2.0])


def test_apply_refuses_what_is_no_variable() -> None:
    with pytest.raises(TypeError, match="must contain Variable instances"):
        theano.Apply(T.exp, [1.0], [])  # type: ignore[list-item]


def test_only_shared_variables_with_a_default_update_have_the_attribute() -> None:
    w, state = theano.shared(1.0), theano.shared(2.0)
    state.default_update = state + 1
    assert not hasattr(w, "default_update")
    assert hasattr(pickle.loads(pickle.dumps(state)), "default_update")
    assert not hasattr(copy.deepcopy(w), "default_update")


def test_test_values_are_shown_where_that_is_wanted() -> None:
    x = T.scalar("x")
    x.tag.test_value = np.array(42.0)
    with theano.change_flags(print_test_value=True):
        assert repr(x) == "x\narray(42.)"
        assert repr(x + 1) == str(x + 1)
    assert repr(x) == "x"
