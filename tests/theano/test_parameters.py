"""Ops' parameters as enumerations and named parts; ops that draw, reduce and take parts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.gof import Apply, EnumList, EnumType, Op, Params, ParamsType
from symc.theano.sandbox.multinomial import ChoiceFromUniform, MultinomialFromUniform
from symc.theano.sandbox.rng_mrg import MRG_RandomStreams
from symc.theano.scalar import basic as scalar_ops
from symc.theano.scalar.basic import BinaryScalarOp, InRange, Scalar, upcast_out
from symc.theano.tensor.elemwise import CAReduce, ProdWithoutZeros
from symc.theano.tensor.nnet.blocksparse import sparse_block_dot, sparse_block_outer
from symc.theano.tensor.nnet.conv3d2d import conv3d, diagonal_subtensor

SCALARS: Any = scalar_ops
FIVE = T.TensorType("float64", (False,) * 5)


# --- enumerations and parts -----------------------------------------------------------------------


def test_an_enumeration_has_numbers_by_name_and_second_name() -> None:
    kinds = EnumType(A=("alpha", 0), B=("beta", True), C=2.5)
    assert (kinds.A, kinds.B, kinds.C) == (0, 1, 2.5)
    assert kinds.filter("beta") == kinds.fromalias("B") == 1
    assert kinds.has_alias("alpha")
    assert kinds.get_aliases() == ("alpha", "beta")
    same = EnumType(A=("alpha", 0), B=("beta", 1), C=2.5)
    assert kinds == same
    assert hash(kinds) == hash(same)
    assert kinds != EnumType(A=0, B=1, C=2.5)
    assert copy.deepcopy(kinds) == pickle.loads(pickle.dumps(kinds)) == kinds
    with pytest.raises(NotImplementedError, match="immutable"):
        kinds.A = 3
    with pytest.raises(AssertionError):
        kinds.filter(7)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: EnumList("small"), AttributeError),
        (lambda: EnumList("_A"), AttributeError),
        (lambda: EnumType(A="text"), TypeError),
        (lambda: EnumList(("A", "a"), ("B", "B")), TypeError),
        (lambda: EnumList(("A", "a"), ("B", "a")), TypeError),
        (lambda: EnumList("A", "A"), TypeError),
        (lambda: EnumType(A=1, ctype="no type!"), TypeError),
        (lambda: ParamsType(), ValueError),
        (lambda: ParamsType(a=1), TypeError),
        (lambda: ParamsType(**{"class": theano.generic}), SyntaxError),
        (lambda: ParamsType(a=EnumList("A"), b=EnumList("A")), AttributeError),
        (lambda: ParamsType(a=EnumList(("A", "x")), b=EnumList("B", ("C", "x"))), AttributeError),
    ],
)
def test_names_and_values_that_do_not_fit_are_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


class Polynomial(Op):
    """``a * x**2 + b * x + c`` or without the square, with parameters given to `perform`."""

    __props__ = ("a", "b", "kind")
    params_type = ParamsType(
        a=T.dscalar, b=Scalar("float64"), kind=EnumList("LINE", ("PARABOLA", "square"))
    )

    def __init__(self, a: float, b: float, kind: str) -> None:
        self.a, self.b, self.kind = a, b, self.params_type.enum_from_alias(kind)

    def make_node(self, *inputs: Any) -> Apply:
        x = T.as_tensor_variable(inputs[0])
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *rest: Any) -> None:
        (given,) = rest
        (x,) = inputs
        square = given.a * x**2 if given.kind == self.params_type.PARABOLA else 0
        output_storage[0][0] = square + given.b * x


def test_perform_gets_the_parameters_of_its_op() -> None:
    x = T.dvector()
    f = theano.function([x], [Polynomial(2, 3, "square")(x), Polynomial(2, 3, "LINE")(x)])
    square, line = f(np.array([1.0, -2.0]))
    np.testing.assert_array_equal(square, [5, 2])
    np.testing.assert_array_equal(line, [3, -6])


def test_parts_are_filtered_and_compared() -> None:
    kind = ParamsType(a=T.ivector, b=theano.generic)
    given = Params(kind, a=np.array([1, 2]), b="text")
    with pytest.raises(TypeError):
        kind.filter(given, strict=True)
    fit = kind.filter(given, allow_downcast=True)
    assert fit.a.dtype == "int32"
    assert fit == Params(kind, a=np.array([1, 2], "int32"), b="text")
    assert hash(fit) == hash(pickle.loads(pickle.dumps(fit)))
    assert fit != Params(kind, a=np.array([1, 3], "int32"), b="text")
    assert kind.get_params(b=2, a=np.array([3], "int32")).b == 2
    assert kind.extended(c=T.dscalar).fields == ("a", "b", "c")
    with pytest.raises(NotImplementedError, match="immutable"):
        fit.a = 1


# --- draws: values of Theano 1.0.5 ----------------------------------------------------------------


def test_mrg_draws_several_times_and_without_replacement_as_theano_does() -> None:
    stream, p = MRG_RandomStreams(7), T.dmatrix()
    drawn = [stream.multinomial(n=4, pvals=p), stream.choice(size=2, p=p, replace=False)]
    f = theano.function([p], drawn)
    rows = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]])
    first, second = f(rows), f(rows)
    assert first[0].tolist() == [[1, 1, 1, 1], [2, 0, 0, 2], [4, 0, 0, 0]]
    assert first[1].tolist() == [[2, 0], [2, 1], [0, 1]]
    assert second[0].tolist() == [[2, 0, 1, 1], [1, 0, 1, 2], [3, 0, 0, 1]]
    assert second[1].tolist() == [[3, 2], [0, 2], [0, 1]]
    with pytest.raises(ValueError, match="size argument"):
        stream.multinomial(size=(3,), pvals=p)
    with pytest.raises(NotImplementedError, match="without replacement"):
        stream.choice(p=p)


def test_draws_from_given_numbers() -> None:
    p, u, n = T.fmatrix(), T.fvector(), T.iscalar()
    rows = np.array([[0.2, 0.8], [0.3, 0.7]], "float32")
    counts = MultinomialFromUniform("auto")(p, u)
    assert counts.dtype == "float32"
    f = theano.function([p, u], counts)
    np.testing.assert_array_equal(f(rows, np.array([0.21, 0.21], "float32")), [[0, 1], [1, 0]])
    g = theano.function([p, u, n], ChoiceFromUniform("auto")(p, u, n))
    assert g(rows, np.array([0.1, 0.9, 0.5, 0.5], "float32"), 2).tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match="bigger than the size"):
        g(rows, np.zeros(6, "float32"), 3)


# --- reductions and ranges ------------------------------------------------------------------------


def test_reductions_by_a_scalar_op() -> None:
    x = T.dmatrix()

    class Largest(BinaryScalarOp):
        def impl(self, *inputs: Any) -> Any:
            return max(inputs)

    ops = [
        ProdWithoutZeros(axis=0), ProdWithoutZeros(), CAReduce(SCALARS.maximum, axis=[1]),
        CAReduce(SCALARS.add), CAReduce(Largest(upcast_out), axis=0),
    ]  # fmt: skip
    got = theano.function([x], [op(x) for op in ops])([[1.0, 0, 3], [0, 0, 2], [4, 5, 6]])
    wanted = [[4, 5, 36], 720, [3, 2, 6], 21, [4, 5, 6]]
    for value, right in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(value, right)
    assert isinstance(x.sum().owner.op, CAReduce)
    assert x.sum().owner.op.scalar_op == SCALARS.add
    with pytest.raises(NotImplementedError):
        CAReduce(SCALARS.exp)


def test_whether_numbers_are_in_a_range() -> None:
    x, low, high = T.dvectors("x", "low", "high")
    inside = T.Elemwise(InRange(True, False))(x, low, high)
    assert inside.dtype == "int8"
    f = theano.function([x, low, high], inside)
    assert f([1.0, 2, 3, np.nan], [1.0] * 4, [3.0] * 4).tolist() == [0, 1, 1, 0]


# --- stripes, videos, blocks ----------------------------------------------------------------------


def test_diagonal_stripes_and_their_gradient() -> None:
    x = T.dmatrix()
    stripe = diagonal_subtensor(x, 0, 1)
    f = theano.function([x], [stripe, theano.grad((stripe**2).sum() / 2, x)])
    value, slope = f(np.arange(20.0).reshape(5, 4))
    np.testing.assert_array_equal(value, [[12, 9, 6, 3], [16, 13, 10, 7]])
    right = np.zeros((5, 4))
    for row, column in np.ndindex(2, 4):
        right[row + 3 - column, column] = value[row, column]
    np.testing.assert_array_equal(slope, right)


@pytest.mark.parametrize(
    ("mode", "shape", "total"),
    [
        ("valid", (1, 2, 2, 3, 2), 127.33200545385499),
        (("half", "valid", "valid"), (1, 4, 2, 3, 2), 214.3337117217037),
        (("full", "half", "half"), (1, 6, 2, 5, 4), 535.9565739227648),
    ],
)
def test_videos_with_borders_of_their_own_in_time(mode: Any, shape: Any, total: float) -> None:
    rng = np.random.RandomState(3)
    signals, filters = rng.rand(1, 4, 2, 4, 3), rng.rand(2, 3, 2, 2, 2)
    s, w = FIVE(), FIVE()
    result = theano.function([s, w], conv3d(s, w, border_mode=mode))(signals, filters)
    assert result.shape == shape
    np.testing.assert_allclose(result.sum(), total, rtol=1e-12)


def test_products_with_chosen_blocks() -> None:
    rng = np.random.default_rng(5)
    w, h, b = rng.normal(size=(4, 3, 2, 5)), rng.normal(size=(2, 2, 2)), rng.normal(size=(3, 5))
    into, out = np.array([[0, 3], [1, 2]]), np.array([[2], [0]])
    weights, hidden, biases = T.dtensor4(), T.dtensor3(), T.dmatrix()
    found = sparse_block_dot(weights, hidden, into, biases, out)
    right = np.array([
        [b[k] + sum(hidden_part @ w[j, k] for j, hidden_part in zip(js, parts, strict=True))
         for k in ks] for js, ks, parts in zip(into, out, h, strict=True)
    ])  # fmt: skip
    f = theano.function([weights, hidden, biases], [found, theano.grad(found.sum(), hidden)])
    value, slope = f(w, h, b)
    np.testing.assert_allclose(value, right)
    np.testing.assert_allclose(slope[0, 1], w[3, 2].sum(axis=1))
    outer = sparse_block_outer(weights, hidden, T.as_tensor_variable(np.ones((2, 1, 5))), into, out)
    made = theano.function([weights, hidden], outer)(w, h)
    np.testing.assert_allclose(made[3, 2] - w[3, 2], np.outer(h[0, 1], np.ones(5)))
    np.testing.assert_array_equal(made[0, 0], w[0, 0])
