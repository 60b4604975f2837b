"""What is made of convolutions and pooling: enlarged, separable, causal; their gradients as ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.tensor.nnet import abstract_conv, corr
from symc.theano.tensor.signal import pool

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("ratio", [(2, 1), (3, 1), (5, 2), (4, 3)])
def test_upsampling_is_a_pyramid_laid_upon_each_pixel(ratio: tuple[int, int]) -> None:
    """Theano's formula: the image, its borders repeated, convolved with a triangle."""
    p, q = ratio
    values = RNG.random(5)
    spread = np.zeros(7 * p)
    spread[::p] = np.pad(values, 1, mode="edge")
    triangle = np.minimum(np.arange(1, 2 * p), np.arange(2 * p - 1, 0, -1)) / p
    whole = np.convolve(spread, triangle)
    first = 2 * p - (p - 1) // 2 - 1
    x = T.dtensor4()
    image = abstract_conv.bilinear_upsampling(x, frac_ratio=ratio, use_1D_kernel=False)
    found = theano.function([x], image)(values.reshape(1, 1, 5, 1))
    np.testing.assert_allclose(found[0, 0, :, 0], whole[first : first + 5 * p][::q], rtol=1e-12)
    kernel = abstract_conv.bilinear_kernel_2D(p).eval()
    np.testing.assert_allclose(kernel, np.outer(triangle, triangle), rtol=1e-6)


def test_separable_and_causal_convolutions() -> None:
    images, deep, mixing = (
        RNG.random((2, 3, 5, 6)),
        RNG.random((6, 1, 2, 2)),
        RNG.random((4, 6, 1, 1)),
    )
    x, d, m = T.dtensor4(), T.dtensor4(), T.dtensor4()
    found = theano.function([x, d, m], T.nnet.separable_conv2d(x, d, m, 3))(images, deep, mixing)
    right = np.zeros((2, 6, 4, 5))
    for k in range(6):
        for i, j in np.ndindex(2, 2):
            right[:, k] += images[:, k // 2, i : i + 4, j : j + 5] * deep[k, 0, 1 - i, 1 - j]
    right = np.einsum("nkij,ok->noij", right, mixing[:, :, 0, 0])
    np.testing.assert_allclose(found, right, rtol=1e-12)
    s, w = T.dtensor3(), T.dtensor3()
    series, taps = RNG.random((2, 1, 7)), RNG.random((1, 1, 3))
    past = abstract_conv.causal_conv1d(s, w, (1, 1, 3), filter_dilation=2)
    found = theano.function([s, w], past)(series, taps)
    spread = np.zeros(5)
    spread[::2] = taps[0, 0]
    for n in range(2):
        np.testing.assert_allclose(found[n, 0], np.convolve(series[n, 0], spread)[:7], rtol=1e-12)


def test_gradients_of_correlations_are_ops() -> None:
    x, w = T.dtensor4(), T.dtensor4()
    op = corr.CorrMM(border_mode=(1, 0), subsample=(1, 1))
    z = op(x, w)
    bar = T.dtensor4()
    rules = [
        corr.CorrMM_gradInputs((1, 0))(w, bar), corr.CorrMM_gradWeights((1, 0))(x, bar),
    ]  # fmt: skip
    slopes = T.grad(None, [x, w], known_grads={z: bar})
    values = RNG.random((2, 3, 5, 5)), RNG.random((4, 3, 3, 2)), RNG.random((2, 4, 5, 4))
    found = theano.function([x, w, bar], [*rules, *slopes])(*values)
    for left, right in zip(found[:2], found[2:], strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)
    with pytest.raises(ValueError, match="shape must be given"):
        corr.CorrMM_gradInputs(subsample=(2, 2))(w, bar)
    assert isinstance(T.nnet.conv2d(x, w).owner.op, abstract_conv.AbstractConv2d)


def test_gradients_of_pooling_are_ops() -> None:
    x = T.dtensor4()
    values = RNG.random((1, 2, 4, 4))
    greatest = pool.pool_2d(x, (2, 2), ignore_border=True)
    mean = pool.pool_2d(x, (2, 2), ignore_border=True, mode="average_inc_pad")
    bar = T.ones_like(mean)
    pairs: list[tuple[Any, Any]] = [
        (pool.AveragePoolGrad(True)(x, bar, (2, 2)), T.grad(mean.sum(), x)),
        (pool.MaxPoolGrad(True)(x, greatest, bar, (2, 2)), T.grad(greatest.sum(), x)),
        (pool.DownsampleFactorMaxGradGrad(True)(x, greatest, x, (2, 2)), greatest),
        (pool.max_pool_2d_same_size(x, (2, 2)).sum(), greatest.sum()),
    ]
    found = theano.function([x], [each for pair in pairs for each in pair])(values)
    for left, right in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)
    assert pool.Pool.out_shape((9, 8, 6), (2, 2)) == [9, 4, 3]
    assert pool.Pool.out_shape((7, 7), (3, 3), stride=(2, 2)) == [3, 3]


def test_shapes_are_told_from_each_other() -> None:
    shapes = (2, 3, 7, 8), (4, 3, 3, 2), (2, 4, 5, 7)
    images, filters, results = shapes
    told = abstract_conv.get_conv_gradinputs_shape(filters, results, "valid", (1, 1))
    assert told == images
    assert abstract_conv.get_conv_gradweights_shape(images, results, "valid", (1, 1)) == filters
    assert abstract_conv.check_conv_gradinputs_shape(*shapes, "valid", (1, 1))
    assert not abstract_conv.check_conv_gradinputs_shape(*shapes, "full", (1, 1))
    with pytest.raises(ValueError, match="invalid shape"):
        abstract_conv.assert_conv_shape((2, 3, 0, 4))


@pytest.mark.parametrize(
    ("border", "steps", "dilation", "groups", "flip"),
    [("valid", (1, 1), (1, 1), 1, True), ("full", (2, 1), (1, 1), 2, False),
     ("half", (1, 2), (1, 2), 1, True), (((1, 0), (2, 1)), (1, 1), (2, 1), 2, True)],
)  # fmt: skip
def test_unshared_filters_are_those_of_each_place(
    border: Any, steps: Any, dilation: Any, groups: int, flip: bool
) -> None:
    options: dict[str, Any] = {
        "border_mode": border, "subsample": steps, "filter_flip": flip,
        "filter_dilation": dilation, "num_groups": groups,
    }  # fmt: skip
    x, w, six = T.dtensor4(), T.dtensor4(), T.TensorType("float64", (False,) * 6)()
    images = RNG.random((2, 4, 5, 6))
    shared = theano.function([x, w], T.nnet.conv2d(x, w, **options))
    *_, rows, columns = shared(images, np.zeros((4, 4 // groups, 3, 2))).shape
    filters = RNG.random((4, rows, columns, 4 // groups, 3, 2))
    out = T.nnet.conv2d(x, six, unshared=True, **options)
    bar = RNG.random((2, 4, rows, columns))
    of_images = abstract_conv.conv2d_grad_wrt_inputs(
        T.constant(bar), six, (2, 4, 5, 6), unshared=True, **options
    )
    of_filters = abstract_conv.conv2d_grad_wrt_weights(
        x, T.constant(bar), filters.shape, unshared=True, **options
    )
    wanted = T.grad((out * bar).sum(), [x, six])
    f = theano.function([x, six], [out, of_images, of_filters, *wanted], on_unused_input="ignore")
    found, by_images, by_filters, *right = f(images, filters)
    for i, j in np.ndindex(rows, columns):
        one = shared(images, filters[:, i, j])[..., i, j]
        np.testing.assert_allclose(found[..., i, j], one, rtol=1e-12)
    np.testing.assert_allclose(by_images, right[0], rtol=1e-12)
    np.testing.assert_allclose(by_filters, right[1], rtol=1e-12)
    nudged = f(images, filters + 0.5 * by_filters)[0]
    np.testing.assert_allclose(((nudged - found) * bar).sum(), 0.5 * (by_filters**2).sum())


def test_shapes_of_the_former_conv2d_are_constants() -> None:
    from symc.theano.tensor.basic import NotScalarConstantError
    from symc.theano.tensor.nnet.conv import conv2d

    x, w = T.dtensor4s("x", "w")
    with pytest.raises(NotScalarConstantError):
        conv2d(x, w, (3, 2, 8, T.iscalar()), (4, 2, 5, 5))
    with pytest.raises(AssertionError):
        conv2d(x, w, (3, 2, 8, 8), (4, 3, 5, 5))
    assert conv2d(x, w, (3, T.as_tensor_variable(2), 8, None), (4, 2, 5, 5)).ndim == 4


def test_a_pooling_takes_no_padding_by_variables_with_borders() -> None:
    from symc.theano.tensor.signal.pool import pool_2d

    x, pad = T.dtensor4("x"), T.ivector("pad")
    f = theano.function([x, pad], pool_2d(x, (2, 2), False, (2, 2), pad))
    given = np.arange(9.0).reshape(1, 1, 3, 3)
    assert f(given, [0, 0]).tolist() == [[[[4, 5], [7, 8]]]]
    with pytest.raises(AssertionError, match="ignore_border"):
        f(given, [1, 0])


def test_windows_longer_than_an_image_of_known_length() -> None:
    from symc.theano.tensor.signal.pool import pool_2d

    x = T.TensorType("float64", (False, False, True, True))()
    f = theano.function([x], pool_2d(x, (2, 2), True))
    assert f(np.ones((2, 3, 1, 1))).shape == (2, 3, 0, 0)
    assert any(isinstance(node.op, pool.Pool) for node in f.maker.fgraph.toposort())


def test_gradients_of_convolutions_of_volumes_by_name() -> None:
    x, w, bar = T.TensorType("float64", (False,) * 5)("x"), T.dtensor5("w"), T.dtensor5("bar")
    shapes: tuple[Any, ...] = ((2, 3, 5, 5, 6), (4, 3, 2, 3, 2), (2, 4, 2, 3, 3))
    made = abstract_conv.conv3d(x, w, border_mode=(0, 1, 0), subsample=(2, 2, 2))
    options: dict[str, Any] = {"border_mode": (0, 1, 0), "subsample": (2, 2, 2)}
    by_name = [
        abstract_conv.conv3d_grad_wrt_inputs(bar, w, shapes[0], **options),
        abstract_conv.conv3d_grad_wrt_weights(x, bar, shapes[1], **options),
    ]
    f = theano.function([x, w, bar], [*by_name, *T.grad(None, [x, w], known_grads={made: bar})])
    rng = np.random.default_rng(0)
    results = f(*(rng.standard_normal(shape) for shape in shapes))
    for own, expected in zip(results[:2], results[2:], strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-10, atol=1e-10)


def test_shapes_that_convolutions_are_told_of_are_checked_where_the_flag_says_so() -> None:
    x, w = T.dtensor4s("x", "w")
    with theano.configparser.change_flags({"conv.assert_shape": True}):
        f = theano.function([x, w], abstract_conv.conv2d(x, w, (3, 5, 7, 11), (7, 5, 3, 3)))
    assert f(np.zeros((3, 5, 7, 11)), np.zeros((7, 5, 3, 3))).shape == (3, 7, 5, 9)
    with pytest.raises(AssertionError, match="told of the shape"):
        f(np.zeros((3, 5, 9, 11)), np.zeros((7, 5, 3, 3)))
    with pytest.raises(ValueError, match="tuple of constants"):
        abstract_conv.AbstractConv2d(imshp=T.lvector())
