"""What was found by comparing networks with PyTorch: bugs, and options that were missing."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, DTypeError, ShapeMismatch
from symc.tensor import nnet

RNG = np.random.default_rng(0)
HALVES = pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])


def compiled(make: Any, *values: Any) -> Any:
    """The results for values whose lengths are not known before."""
    args = [T.tensor(v.dtype, (None,) * v.ndim) for v in map(np.asarray, values)]
    return symc.function(args, make(*args))(*values)


# --- float16 and bfloat16 -------------------------------------------------------------------------


@HALVES
def test_a_bug_classes_of_bfloat16_had_no_gradient(dtype: Any) -> None:
    """A choice between constants of bfloat16 was refused by an assertion of the compiler."""
    scores = RNG.standard_normal((3, 5)).astype(dtype)
    classes = np.array([4, 0, 2])

    def make(x: Any, t: Any) -> Any:
        loss = nnet.categorical_crossentropy(x, t, from_logits=True)
        return symc.grad(T.cast(loss, "float32").sum(), x)

    exact = np.exp(scores.astype(np.float64))
    expected = exact / exact.sum(1, keepdims=True) - np.eye(5)[classes]
    found = compiled(make, scores, classes)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.astype(np.float64), expected, atol=0.01)


@HALVES
@pytest.mark.parametrize("kind", ["batch", "layer", "group", "instance", "standardize"])
def test_a_bug_normalisation_of_float16_gave_0_for_numbers_of_some_hundreds(
    dtype: Any, kind: str
) -> None:
    """Their squares were infinite in float16."""
    x = (400 * RNG.standard_normal((4, 6, 5))).astype(dtype)
    axes: Any
    make, axes = {
        "batch": (lambda x: nnet.batch_norm(x).output, (0, 2)),
        "layer": (nnet.layer_norm, -1),
        "group": (lambda x: nnet.group_norm(x, 1), (1, 2)),
        "instance": (nnet.instance_norm, 2),
        "standardize": (nnet.standardize, -1),
    }[kind]
    exact = x.astype(np.float64)
    expected = (exact - exact.mean(axes, keepdims=True)) / exact.std(axes, keepdims=True)
    found = compiled(make, x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0.01, atol=1e-3)


def test_statistics_of_float16_do_not_overflow() -> None:
    x = (400 * RNG.standard_normal((64, 2))).astype(np.float16)
    kept = symc.shared(np.ones(2, np.float32)), symc.shared(np.ones(2, np.float16))
    given = T.tensor("float16", (None, None))
    made = [nnet.batch_norm(given, running_mean=k, running_var=k) for k in kept]
    updates = list(zip(kept, (made[0].running_var, made[1].running_mean), strict=True))
    symc.function([given], made[0].output, updates=updates)(x)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(kept[0].get_value(), 0.9 + 0.1 * exact.var(0, ddof=1), rtol=1e-3)
    np.testing.assert_allclose(kept[1].get_value(), 0.9 + 0.1 * exact.mean(0), rtol=2e-3)
    half = nnet.batch_norm_inference(given, None, None, x[0], abs(x[1]))
    assert half.dtype == "float16"


@HALVES
@pytest.mark.parametrize("options", [{}, {"padding": 1, "include_padding": False}])
def test_a_bug_means_of_windows_of_float16_overflowed(dtype: Any, options: Any) -> None:
    """The sum of a window was rounded before it was divided."""
    found = compiled(
        lambda x: nnet.avg_pool2d(x, 32, **options), np.full((1, 1, 64, 64), 200).astype(dtype)
    )
    assert found.dtype == dtype
    assert (found == 200).all()
    grey = nnet.avg_pool2d(np.full((1, 1, 32, 32), 255, "uint8"), 32)
    assert grey.dtype == "float16"
    assert grey.eval().item() == 255


@HALVES
@pytest.mark.parametrize("masked", [False, True])
def test_a_bug_attention_of_bfloat16_was_wrong_by_a_third(dtype: Any, masked: bool) -> None:
    """Scores and the logarithms of their sums were rounded; and there was a matrix of them."""
    q, k, v, seeds = (s * RNG.standard_normal((2, 9, 8)) for s in (3, 3, 1, 1))
    given = [x.astype(dtype) for x in (q, k, v, seeds)]
    bias = RNG.standard_normal((9, 9)).astype(dtype) if masked else np.zeros((9, 9), dtype)

    def make(q: Any, k: Any, v: Any, seeds: Any, bias: Any) -> Any:
        y = nnet.attention(q, k, v, mask=bias if masked else None)
        return [y, *symc.grad((y.astype("float32") * seeds).sum(), [q, k, v])]

    args = [T.tensor(x.dtype, (None,) * x.ndim) for x in (*given, bias)]
    f = symc.function(args, make(*args), on_unused_input="ignore")
    assert "symc_cblas" in f.source or "attention_outputs" in f.source
    found = f(*given, bias)
    q, k, v, seeds = (x.astype(np.float64) for x in given)
    scores = q @ k.swapaxes(1, 2) / np.sqrt(8) + bias.astype(np.float64)
    weights = np.exp(scores - scores.max(2, keepdims=True))
    weights /= weights.sum(2, keepdims=True)
    passed = seeds @ v.swapaxes(1, 2)
    back = weights * (passed - (weights * passed).sum(2, keepdims=True)) / np.sqrt(8)
    expected = [weights @ v, back @ k, back.swapaxes(1, 2) @ q, weights.swapaxes(1, 2) @ seeds]
    for one, exact in zip(found, expected, strict=True):
        assert one.dtype == dtype
        error = np.abs(one.astype(np.float64) - exact).max() / np.abs(exact).max()
        assert error < 4 * float(ml_dtypes.finfo(dtype).eps)


# --- arguments ------------------------------------------------------------------------------------


def test_a_bug_integers_of_numpy_were_refused_as_lengths() -> None:
    """Such as a stride that was computed."""
    x, w = RNG.standard_normal((1, 2, 8, 8)), RNG.standard_normal((4, 1, 3, 3))
    two = np.int64(2)
    found = nnet.conv2d(x, w, stride=two, dilation=(np.int32(1), 1), groups=two, padding=two)  # type: ignore[arg-type]
    expected = nnet.conv2d(x, w, stride=2, groups=2, padding=2)
    np.testing.assert_array_equal(found.eval(), expected.eval())
    pooled = nnet.max_pool2d(x, two, stride=[two, two])
    assert pooled.type.shape == (1, 2, 4, 4)
    assert nnet.group_norm(x, two).type.shape == x.shape  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", [0, -1, 1.0, True])
def test_a_bug_no_groups_divided_by_zero(groups: Any) -> None:
    with pytest.raises(ValueError, match="groups must be an integer from 1 on, not"):
        nnet.group_norm(np.ones((1, 2, 3)), groups)


def test_a_bug_a_mask_of_ones_and_zeros_was_added() -> None:
    x = np.ones((2, 2))
    with pytest.raises(DTypeError, match="mask must be bool or floats, not int64"):
        nnet.attention(x, x, x, mask=np.eye(2, dtype="int64"))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("padding", [-1, 2])
def test_a_bug_padding_from_the_end_was_learned(padding: int, known: bool) -> None:
    """The last row by its number, or by one below 0: all are the same row."""
    w, i = np.arange(6.0).reshape(3, 2) + 1, np.array([-1, 2, 0, -3])
    x = T.tensor("float64", (3, 2) if known else (None, None))
    rows = nnet.embedding(x, T.constant(i), padding_index=padding)
    found, slope = symc.function([x], [rows, symc.grad(rows.sum(), x)])(w)
    np.testing.assert_array_equal(found, [[0, 0], [0, 0], [1, 2], [1, 2]])
    np.testing.assert_array_equal(slope, [[2, 2], [0, 0], [0, 0]])


def test_padding_that_is_no_row() -> None:
    with pytest.raises(BadIndex, match="padding_index is 3, but there are 3 rows"):
        nnet.embedding(np.ones((3, 2)), [0], padding_index=3)


@pytest.mark.parametrize("stream", [3, None])
def test_a_bug_dropout_without_a_stream_named_bernoulli(stream: Any) -> None:
    with pytest.raises(TypeError, match=r"stream must be a T.random.RandomStream\(seed\), not"):
        nnet.dropout(np.ones(3), 0.5, stream)


@pytest.mark.parametrize("smoothing", [-0.1, 2.0, float("nan")])
def test_a_bug_smoothing_beyond_1_gave_negative_targets(smoothing: float) -> None:
    for loss, target in ((nnet.categorical_crossentropy, [0]), (nnet.binary_crossentropy, [[0.0]])):
        with pytest.raises(ValueError, match="label_smoothing must be from 0 to 1"):
            loss([[0.5]], target, label_smoothing=smoothing)


def test_a_bug_too_much_padding_of_a_transpose_named_negative_lengths() -> None:
    with pytest.raises(ShapeMismatch, match="conv2d_transpose: padding takes more off than"):
        nnet.conv2d_transpose(np.ones((1, 2, 1, 1)), np.ones((2, 2, 3, 3)), padding=3)


# --- classes that do not count --------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_classes_that_are_ignored(reduction: Any, smoothing: float) -> None:
    scores, classes = RNG.standard_normal((5, 3)), np.array([2, -100, 0, -100, 1])

    def make(x: Any, t: Any) -> Any:
        loss = nnet.categorical_crossentropy(
            x, t, from_logits=True, label_smoothing=smoothing, ignore_index=-100,
            reduction=reduction,
        )  # fmt: skip
        return [loss, symc.grad(loss.sum(), x)]

    kept = classes >= 0
    own = nnet.categorical_crossentropy(
        scores[kept], classes[kept], from_logits=True, label_smoothing=smoothing
    ).eval()
    slopes = np.zeros((5, 3))
    wanted = (1 - smoothing) * np.eye(3)[classes[kept]] + smoothing / 3
    slopes[kept] = np.exp(scores[kept]) / np.exp(scores[kept]).sum(1, keepdims=True) - wanted
    each = np.zeros(5)
    each[kept] = own
    expected = {"none": each, "sum": own.sum(), "mean": own.mean()}[reduction]
    found, slope = compiled(make, scores, classes)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(slope, slopes / (3 if reduction == "mean" else 1), atol=1e-12)


def test_what_is_ignored_must_be_a_class() -> None:
    with pytest.raises(ValueError, match="ignore_index is for targets that are classes"):
        nnet.categorical_crossentropy([[0.5, 0.5]], [[0.5, 0.5]], ignore_index=0)
    with pytest.raises(BadIndex, match="must not be negative"):
        nnet.categorical_crossentropy([[0.5, 0.5]], [-1], ignore_index=-100).eval()
    none = nnet.categorical_crossentropy([[0.5, 0.5]], [7], ignore_index=7, reduction="mean")
    assert np.isnan(none.eval())


# --- names and options ----------------------------------------------------------------------------


@pytest.mark.parametrize("approximate", ["none", "tanh", 1])
def test_a_bug_gelu_that_is_approximated_by_none_was(approximate: Any) -> None:
    """PyTorch's default, a text, counted as true."""
    with pytest.raises(TypeError, match="approximate must be True, for the formula with tanh"):
        nnet.gelu(np.ones(2), approximate)


@pytest.mark.parametrize("axis", [-1, (0, 2), (2, 1)])
def test_rms_norm(axis: Any) -> None:
    x = RNG.standard_normal((3, 4, 5))
    axes = (axis,) if isinstance(axis, int) else tuple(sorted(axis))
    scale = RNG.standard_normal([x.shape[a] for a in axes])
    along = scale.reshape([x.shape[a] if a in [b % 3 for b in axes] else 1 for a in range(3)])
    root = np.sqrt((x**2).mean(axes, keepdims=True) + 1e-5)
    found, slope = compiled(
        lambda x, s: [y := nnet.rms_norm(x, s, axis=axis), symc.grad((y * y).sum(), x)], x, scale
    )
    np.testing.assert_allclose(found, x / root * along)
    weighed = along**2 * x / root**2
    back = (weighed * x).mean(axes, keepdims=True) * x / root**2
    np.testing.assert_allclose(slope, 2 * (weighed - back), rtol=1e-9, atol=1e-12)
    big = nnet.rms_norm(np.array([300.0, -400.0], np.float16))
    assert big.dtype == "float16"
    np.testing.assert_allclose(big.eval(), np.array([3, -4]) / np.sqrt(12.5), rtol=2e-3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conv_transpose2d", "T.nnet.conv2d_transpose"), ("bce_loss", "binary_crossentropy"),
        ("smooth_l1_loss", "huber_loss"), ("scaled_dot_product_attention", "T.nnet.attention"),
        ("softmin", "softmax"), ("prelu", "T.where"), ("adaptive_avg_pool2d", "x.mean"),
    ],
)  # fmt: skip
def test_names_of_pytorch(name: str, text: str) -> None:
    """Some named another thing that is spelled alike: conv3d_transpose, huber_loss, relu."""
    with pytest.raises(AttributeError, match=f"here it is .*{text}"):
        getattr(nnet, name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("unit", "scale", "stretch"),
    [(nnet.elu, 1.0, 1.0), (nnet.selu, 1.7580993408473766, 1.0),
     (lambda x: nnet.celu(x, alpha=2.0), 1.0, 2.0), (T.expm1, 1.0, 1.0)],
)  # fmt: skip
def test_a_bug_slopes_of_elu_had_few_digits_far_below_0(
    unit: Any, scale: float, stretch: float, dtype: Any
) -> None:
    """They were 1 + expm1(x): of float32 right to 3 digits at -10, and 0 at -20."""
    x = np.array([-80.0, -40.0, -20.0, -10.0, -1e-3, -1e-30], dtype)
    found, second = compiled(lambda x: [d := symc.grad(unit(x).sum(), x), symc.grad(d.sum(), x)], x)
    exact = scale * np.exp(x.astype(np.float64) / stretch)
    tolerance = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, exact, rtol=tolerance)
    np.testing.assert_allclose(second, exact / stretch, rtol=tolerance)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_bug_losses_of_targets_that_are_met_were_0(dtype: Any) -> None:
    """The difference of softplus(20) and 20 has no digits left in float32, of 40 in float64."""
    x = np.array([8.0, -8.0, 40.0, -40.0, 8.0, -8.0, 0.0, 0.0, -0.0, 3.0], dtype)
    t = np.array([1, 0, 1, 0, 0, 1, 0, 1, 0.25, 0.5], dtype)

    def make(x: Any, t: Any) -> Any:
        y = nnet.binary_crossentropy(x, t, from_logits=True)
        slope = symc.grad(T.cast(y, "float64").sum(), x)
        return [y, slope, symc.grad(T.cast(slope, "float64").sum(), x)]

    found, slope, second = compiled(make, x, t)
    x, t = x.astype(np.float64), t.astype(np.float64)
    away = np.where(x > 0, -x, x)
    near, to_zero = np.log1p(np.exp(away)), np.exp(away) / (1 + np.exp(away))
    options: Any = {"rtol": 8 * np.finfo(dtype).eps, "atol": 1e-7 if dtype == np.float16 else 0}
    np.testing.assert_allclose(found, near + np.where(x > 0, (1 - t) * x, -t * x), **options)
    np.testing.assert_allclose(slope, np.where(x > 0, 1 - t - to_zero, to_zero - t), **options)
    np.testing.assert_allclose(second, to_zero * (1 - to_zero), **options)
