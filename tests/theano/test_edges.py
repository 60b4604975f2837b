"""Lengths of 0, windows longer than images, dtypes at the border, ops without a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.sandbox.rng_mrg import MRG_RandomStreams
from symc.theano.scalar.basic import UnaryScalarOp, same_out
from symc.theano.tensor.elemwise import Elemwise
from symc.theano.tensor.nnet.neighbours import images2neibs
from symc.theano.tensor.signal.pool import pool_2d
from symc.theano.tensor.type_other import NoneConst


@pytest.mark.parametrize(
    ("ignore", "right", "slope"),
    [(True, np.zeros((1, 1, 0, 0)), np.zeros((2, 3))), (False, [[[[5]]]], [[0, 0, 0], [0, 0, 1]])],
)
def test_windows_may_be_longer_than_images(ignore: bool, right: Any, slope: Any) -> None:
    x = T.dtensor4()
    out = pool_2d(x, (4, 5), ignore_border=ignore, stride=(1, 1))
    f = theano.function([x], [out, theano.grad(out.sum(), x)])
    value, back = f(np.arange(6.0).reshape(1, 1, 2, 3))
    np.testing.assert_array_equal(value, right)
    np.testing.assert_array_equal(back[0, 0], slope)
    assert f(np.zeros((1, 1, 6, 5)))[0].shape == (1, 1, 3, 1)


def test_windows_longer_than_images_have_means_of_what_is_there() -> None:
    x = T.dtensor4()
    out = pool_2d(x, (9, 9), ignore_border=False, stride=(1, 1), mode="average_exc_pad")
    assert theano.function([x], out)(np.full((1, 1, 2, 2), 3.0)).tolist() == [[[[3.0]]]]


def test_no_random_numbers_leave_the_streams_as_they_are() -> None:
    count = T.iscalar()
    stream = MRG_RandomStreams(3)
    f = theano.function([count], stream.uniform((count,), ndim=1))
    assert f(0).shape == (0,)
    again = theano.function([count], MRG_RandomStreams(3).uniform((count,), ndim=1))
    np.testing.assert_array_equal(f(5), again(5))


def test_few_truncated_numbers_need_none_drawn_again() -> None:
    stream = MRG_RandomStreams(3)
    f = theano.function([], stream.truncated_normal((1, 2)))
    for _ in range(4):
        assert (abs(f()) < 2.4).all()  # two deviations of the whole distribution, over its own


def test_the_mean_along_no_axis_is_of_floats() -> None:
    x = T.imatrix()
    assert x.mean(axis=[]).dtype == "float64"
    assert x.mean(axis=[]).eval({x: np.array([[1, 2]], "int32")}).tolist() == [[1, 2]]


def test_extremes_of_complex_numbers_are_numpys() -> None:
    x, y = T.zvectors("x", "y")
    left, right = np.array([1 + 2j, 1 - 1j, 0.5j]), np.array([1 + 1j, 2 + 0j, 0.5j])
    f = theano.function([x, y], [T.maximum(x, y), T.minimum(x, y)])
    greatest, least = f(left, right)
    np.testing.assert_array_equal(greatest, np.maximum(left, right))
    np.testing.assert_array_equal(least, np.minimum(left, right))


def test_a_scalar_op_without_a_name_has_gradients() -> None:
    class Twice(UnaryScalarOp):
        def __init__(self) -> None:
            self.output_types_preference = same_out

        def impl(self, *inputs: Any) -> Any:
            return 2 * inputs[0]

        def grad(self, inputs: Any, output_grads: Any) -> Any:
            return [2 * output_grads[0]]

    x = T.dvector()
    y = Elemwise(Twice())(x)
    f = theano.function([x], [y, theano.grad(y.sum(), x)])
    assert [each.tolist() for each in f([1.0, 2.0])] == [[2, 4], [2, 2]]


def test_windows_that_leave_a_rest_are_refused() -> None:
    x = T.dtensor4()
    f = theano.function([x], images2neibs(x, (2, 3)))
    assert f(np.arange(24.0).reshape(1, 1, 4, 6))[1].tolist() == [3, 4, 5, 9, 10, 11]
    with pytest.raises(TypeError, match="without a rest"):
        f(np.zeros((1, 1, 4, 5)))
    g = theano.function([x], images2neibs(x, (2, 3), mode="ignore_borders"))
    assert g(np.zeros((1, 1, 4, 5))).shape == (2, 6)
    wrapped = theano.function([x], images2neibs(x, (2, 3), mode="wrap_centered"))
    with pytest.raises(TypeError, match="odd lengths"):
        wrapped(np.zeros((1, 1, 4, 6)))


def test_complex_numbers_from_polar_ones_are_one_op_and_are_not_clipped() -> None:
    r, theta = T.dvectors("r", "theta")
    z = T.complex_from_polar(r, theta)
    assert isinstance(z.owner.op, Elemwise)
    f = theano.function([r, theta], [z, theano.grad(abs(z).sum(), r)])
    value, slope = f([2.0, 1.0], [0.5, 2.0])
    np.testing.assert_allclose(value, [2 * np.exp(0.5j), np.exp(2j)])
    np.testing.assert_allclose(slope, [1, 1])
    with pytest.raises(TypeError, match="complex"):
        T.clip(z, 0, 1)


def test_no_axis_may_be_a_constant() -> None:
    x = T.dmatrix()
    assert T.max(x, axis=NoneConst).eval({x: [[1.0, 5.0], [2.0, 3.0]]}) == 5


@pytest.mark.parametrize("place", [-1, 3])
def test_classes_that_are_no_columns_raise_value_error(place: int) -> None:
    x, classes = T.dmatrix(), T.lvector()
    loss, _ = T.nnet.crossentropy_softmax_1hot(x, classes)
    for result in (loss, theano.grad(loss.sum(), x)):
        f = theano.function([x, classes], result)
        f(np.ones((2, 3)), [0, 2])
        with pytest.raises(ValueError, match="y_i value out of bounds"):
            f(np.ones((2, 3)), [0, place])


def test_linear_algebra_of_float32_is_computed_in_float64() -> None:
    """As NumPy computes it, which Theano calls."""
    x = T.fmatrix()
    value = (np.vander(np.linspace(0.1, 1.0, 6))).astype(np.float32)
    cases: list[tuple[Any, Any]] = [
        (T.nlinalg.matrix_inverse, np.linalg.inv), (T.nlinalg.det, np.linalg.det),
        (lambda s: T.nlinalg.eigh(T.dot(s.T, s))[0], lambda s: np.linalg.eigh(s.T @ s)[0]),
    ]  # fmt: skip
    for op, wanted in cases:
        found = theano.function([x], op(x))(value)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted(value), rtol=1e-5)


def test_constants_that_are_told_from_a_graph_are_copies() -> None:
    c = T.constant(3)
    found = T.extract_constant(c)
    found += 1
    assert (T.get_scalar_constant_value(c), T.get_scalar_constant_value(found)) == (3, 4)
    vector = T.stack([T.iscalar(), 2, 3])
    assert [T.get_scalar_constant_value(vector[place]) for place in (1, -1)] == [2, 3]
    with pytest.raises(T.NotScalarConstantError):
        T.get_scalar_constant_value(vector[0])
    with pytest.raises(T.NotScalarConstantError):
        T.get_scalar_constant_value(T.opt.Assert()(c, c > 5))


def test_ranges_have_gradients_by_start_and_step() -> None:
    start, stop, step = T.dscalars("a", "b", "c")
    numbers = T.arange(start, stop, step)
    slopes = T.grad((numbers**2).sum(), [start, step])
    f = theano.function([start, stop, step], slopes)
    x = np.arange(1.0, 3.1, 0.5)
    np.testing.assert_allclose(f(1.0, 3.1, 0.5), [2 * x.sum(), 2 * x @ np.arange(5)])


def test_small_things_that_theano_does() -> None:
    x, z = T.dvector("x"), T.zvector()
    assert T.unbroadcast(T.addbroadcast(x, 0), 0) is x
    assert T.transpose(x).name == "x.T"
    assert T.argmin(T.constant(np.array([True, False]))).eval() == 1
    with pytest.raises(theano.scalar.ComplexError):
        _ = z % 5
    with pytest.warns(DeprecationWarning, match="deprecated"):
        T.stack(x, x)


def test_lists_of_scalar_types_are_of_types() -> None:
    scalar: Any = theano.scalar

    assert [each.dtype for each in scalar.all_types][:2] == ["bool", "int8"]
    assert scalar.discrete_types + scalar.continuous_types == scalar.all_types
    assert scalar.integer_types == scalar.int_types + scalar.uint_types


def test_choices_that_broadcast_against_each_other() -> None:
    a, b, c = T.itensor3("a"), T.dtensor3("b"), T.ftensor3("c")
    values = (np.array([[[0]], [[1]]], "int32"), np.arange(6.0).reshape(1, 6, 1),
              -np.arange(5, dtype="float32").reshape(1, 1, 5))  # fmt: skip
    for mode in ("raise", "wrap", "clip"):
        y = T.choose(a, (b, c), mode=mode)
        found = theano.function([a, b, c], [y, theano.grad(y.sum(), b)])(*values)
        np.testing.assert_array_equal(found[0], np.choose(values[0], values[1:], mode=mode))
        np.testing.assert_array_equal(found[1], np.full((1, 6, 1), 5.0))
    rows = T.dmatrix("rows")
    found = T.choose(T.constant([[0, 1], [1, 0]]), rows).eval({rows: [[1.0, 2.0], [3.0, 4.0]]})
    np.testing.assert_array_equal(found, [[1.0, 4.0], [3.0, 2.0]])
    f = theano.function([a, b, c], T.choose(a, [b, c]))
    with pytest.raises(IndexError):
        f(values[0] + 1, *values[1:])


def test_tiles_by_a_vector_whose_length_is_told_at_run_time() -> None:
    x, reps = T.dmatrix("x"), T.ivector("reps")
    values = np.arange(6.0).reshape(2, 3)
    f = theano.function([x, reps], T.tile(x, reps, 3))
    for counts in ([2], [2, 3], [2, 3, 4]):
        wanted = np.tile(values, [1] * (3 - len(counts)) + counts)
        np.testing.assert_array_equal(f(values, counts), wanted)
    with pytest.raises(AssertionError, match="reps is longer than ndim"):
        f(values, [1, 2, 3, 4])


def test_diagonals_of_many_matrices_along_any_axes() -> None:
    x = T.dmatrix("x")
    values = np.arange(1.0, 7.0).reshape(2, 3)
    found = T.AllocDiag(1, 2, 0)(x)
    got, gradient = theano.function([x], [found, theano.grad((found * 2).sum(), x)])(values)
    assert got.shape == (4, 2, 4)
    for row in range(2):
        np.testing.assert_array_equal(got[:, row], np.diag(values[row], 1))
    np.testing.assert_array_equal(gradient, np.full((2, 3), 2.0))


def test_a_shape_of_unknown_length_asks_for_ndim() -> None:
    x, lengths = T.dvector("x"), T.lvector("lengths")
    with pytest.raises(ValueError, match=r"provided shape \(lengths\).*'ndim' keyword"):
        x.reshape(lengths)
    found = x.reshape(lengths, ndim=2).eval({x: np.arange(4.0), lengths: [2, 2]})
    np.testing.assert_array_equal(found, [[0, 1], [2, 3]])


def test_counts_have_the_dtype_of_what_they_count() -> None:
    """Else they were int64, and no update of a shared variable of int32."""
    x, counts = T.ivector("x"), theano.shared(np.zeros(3, np.int32))
    f = theano.function([x], [], updates=[(counts, counts + T.bincount(x, minlength=3))])
    f([0, 2, 2])
    f([1, 2])
    np.testing.assert_array_equal(counts.get_value(), [1, 1, 3])
