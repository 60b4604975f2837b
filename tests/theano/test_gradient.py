"""Gradients: variables of Theano's graph, checked against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano import gradient

RULES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "tanh": (T.tanh, [(3,)]),
    "broadcast": (lambda x, y: x * y, [(3, 2), (1, 2)]),
    "dot": (T.dot, [(2, 3), (3,)]),
    "batched_dot": (T.batched_dot, [(2, 3, 4), (2, 4, 2)]),
    "sum": (lambda x: T.sqr(x).sum(axis=0), [(3, 2)]),
    "max": (lambda x: x.max(axis=1), [(3, 4)]),
    "var": (lambda x: T.var(x, axis=0), [(4, 2)]),
    "index": (lambda x: x[1:, 0] * x[0, 1], [(3, 2)]),
    "gather": (lambda x: x[[0, 0, 2]] ** 2, [(3, 2)]),
    "set_subtensor": (lambda x, y: T.set_subtensor(x[1:], y), [(3,), (2,)]),
    "reshape": (lambda x: T.exp(x.reshape((x.shape[1], -1))), [(2, 3)]),
    "join": (lambda x, y: T.concatenate([x, y * y], axis=1), [(2, 1), (2, 3)]),
    "softmax": (T.nnet.softmax, [(2, 3)]),
    "conv2d": (T.nnet.conv2d, [(1, 2, 4, 4), (3, 2, 2, 2)]),
    "pool along four axes": (
        lambda x: T.signal.pool.Pool(True, ndim=4)(x, (1, 2, 1, 2)), [(1, 2, 1, 4)],
    ),
    "pool": (
        lambda x: T.signal.pool.pool_2d(x, (2, 2), ignore_border=False), [(1, 1, 3, 4)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_gradients_of_first_and_second_order(name: str) -> None:
    rule, shapes = RULES[name]
    rng = np.random.RandomState(7)
    points = [rng.rand(*shape) for shape in shapes]
    # The rules are Theano's graphs: what symc compiles them to is tested elsewhere.
    gradient.verify_grad(rule, points, rng=rng, mode="DebugMode")

    def first(*args: Any) -> Any:
        return theano.grad((rule(*args) ** 2).sum(), args[0])

    gradient.verify_grad(first, points, rng=rng, mode="DebugMode")


def test_a_wrong_gradient_is_found() -> None:
    with pytest.raises(gradient.GradientError, match="exceed tolerance"):
        gradient.verify_grad(
            lambda x: gradient.grad_scale(x, 2.0), [np.ones(2)], rng=np.random.RandomState(1)
        )


def test_numeric_gradients_call_a_function_with_its_arguments() -> None:
    points = [np.array([1.0, 2.0]), np.array(3.0)]
    both = gradient.numeric_grad(lambda x, y: (x**2).sum() * y, points)
    np.testing.assert_allclose(both.gf[0], [6, 12], rtol=1e-5)
    np.testing.assert_allclose(both.gf[1], 5, rtol=1e-5)
    one = gradient.numeric_grad(lambda x: (x**2).sum(), points[0])
    np.testing.assert_allclose(one.gf, [2, 4], rtol=1e-5)


def test_gradients_are_variables_with_names() -> None:
    x = T.vector("x")
    cost = (x**2).sum()
    cost.name = "cost"
    slope = theano.grad(cost, x)
    assert slope.name == "(dcost/dx)"
    assert slope.owner is not None
    assert isinstance(theano.grad(cost, [x]), list)


def test_equal_elements_all_get_the_gradient_of_a_maximum() -> None:
    x = T.vector("x")
    np.testing.assert_array_equal(theano.grad(x.max(), x).eval({x: [1.0, 1.0, 0.0]}), [1, 1, 0])
    both = theano.grad(T.maximum(x, x + 0.0).sum(), x)
    np.testing.assert_array_equal(both.eval({x: [1.0]}), [1.0])
    relu = theano.grad(T.nnet.relu(x).sum(), x)
    np.testing.assert_array_equal(relu.eval({x: [-1.0, 0.0, 1.0]}), [0.0, 0.5, 1.0])


def test_what_has_no_influence() -> None:
    x, y = T.scalar("x"), T.scalar("y")
    with pytest.raises(gradient.DisconnectedInputError):
        theano.grad(x, y)
    assert theano.grad(x, y, disconnected_inputs="ignore").eval({y: 1.0}) == 0.0
    blocked = gradient.disconnected_grad(x) * x
    assert theano.grad(blocked, x).eval({x: 3.0}) == 3.0
    assert theano.grad(x * y, x, consider_constant=[x]).eval({y: 2.0}) == 2.0


def test_integers_have_gradients_of_floats() -> None:
    n, w = T.ivector("n"), T.vector("w")
    slope = theano.grad((n * w).sum(), n)
    assert slope.dtype == "float64"
    np.testing.assert_array_equal(slope.eval({w: [2.0, 3.0], n: [1, 1]}), [2.0, 3.0])
    with pytest.raises(gradient.DisconnectedInputError):
        theano.grad(w[n].sum(), n)


def test_known_grads_replace_the_cost() -> None:
    x = T.scalar("x")
    y = x**2
    slope = theano.grad(None, x, known_grads={y: T.constant(10.0)})
    assert slope.eval({x: 3.0}) == 60.0


def test_rop_lop_jacobian_and_hessian() -> None:
    x, v = T.vector("x"), T.vector("v")
    y = x**2 * x.sum()
    point, way = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    matrix = theano.gradient.jacobian(y, x).eval({x: point})
    np.testing.assert_allclose(matrix, [[7.0, 1.0], [4.0, 16.0]])
    np.testing.assert_allclose(theano.Rop(y, x, v).eval({x: point, v: way}), matrix @ way)
    np.testing.assert_allclose(theano.Lop(y, x, v).eval({x: point, v: way}), way @ matrix)
    curved = theano.gradient.hessian((x**3).sum(), x)
    np.testing.assert_allclose(curved.eval({x: point}), np.diag([6.0, 12.0]))


class Doubling(theano.Op):
    """An op as programs write them."""

    def make_node(self, x: Any) -> theano.Apply:  # pyright: ignore[reportIncompatibleMethodOverride]
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        output_storage[0][0] = inputs[0] * 2

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        return [output_grads[0] * 2]


def test_ops_of_programs_take_part() -> None:
    x = T.vector("x")
    y = Doubling()(T.exp(x))
    f = theano.function([x], [y, theano.grad(y.sum(), x)])
    values, slopes = f([0.0, 1.0])
    np.testing.assert_allclose(values, [2.0, 2 * np.e])
    np.testing.assert_allclose(slopes, values)


def test_a_known_gradient_is_not_added_to_that_of_the_cost() -> None:
    x, bar = T.dvectors("x", "bar")
    y = x**2
    f = theano.function([x, bar], T.grad(y.sum(), x, known_grads={y: bar}))
    np.testing.assert_array_equal(f([1.0, 2.0], [10.0, 100.0]), [20.0, 400.0])
    z = T.exp(y)
    both = T.grad(None, x, known_grads={z: z, y: bar})
    np.testing.assert_array_equal(both.eval({x: [1.0], bar: [3.0]}), [6.0])


def test_a_gradient_of_an_op_without_one_is_an_attribute_error() -> None:
    @theano.compile.ops.as_op(itypes=[T.dscalar], otypes=[T.dscalar])
    def doubled(x: Any) -> Any:
        return x * 2

    x = T.dscalar("x")
    with pytest.raises(AttributeError, match="grad"):
        theano.grad(doubled(x), x)
