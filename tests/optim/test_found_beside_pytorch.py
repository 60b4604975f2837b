"""What was found by comparing optimisers with PyTorch: bugs, and one that was missing."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import symc
import symc.tensor as T
from symc import optim
from symc.errors import ShapeMismatch
from symc.nets import Weights


def shared() -> Any:
    return symc.shared(np.array([1.0, -2.0, 0.0]), name="w")


def test_lion_beside_its_definition() -> None:
    w, x = shared(), T.vector("x")
    loss = ((w - x) ** 2).sum()
    updates = optim.lion(loss, [w], 0.1, beta1=0.8, beta2=0.9, weight_decay=0.3)
    step = symc.function([x], loss, updates=updates)
    here, mean = w.get_value(), np.zeros(3)
    for number in range(20):
        target = np.array([0.5, np.sin(number), -1.0])
        step(target)
        slope = 2 * (here - target)
        here = here - 0.1 * (np.sign(0.8 * mean + 0.2 * slope) + 0.3 * here)
        mean = 0.9 * mean + 0.1 * slope
        np.testing.assert_allclose(w.get_value(), here, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_a_bug_norms_of_float16_were_infinite(dtype: Any) -> None:
    """So gradients of some hundreds were clipped to 0; the norm is at least of float32."""
    given = T.constant(np.array([300.0, 400.0], dtype))
    assert optim.global_norm([given]).dtype == "float32"
    np.testing.assert_allclose(optim.global_norm([given]).eval(), 500, rtol=4e-3)
    for clip in (optim.clip_by_norm, optim.clip_by_global_norm):
        found = clip([given], 1.0)[0]
        assert found.dtype == given.dtype
        np.testing.assert_allclose(found.eval().astype(float), [0.6, 0.8], rtol=1e-2)


@pytest.mark.parametrize(
    "clip",
    [
        lambda g: optim.clip_by_global_norm(g, 1.0),
        lambda g: optim.clip_by_norm(g, 1.0),
        lambda g: optim.clip_by_value(g, -1.0, 1.0),
        optim.global_norm,
    ],
)
def test_a_bug_one_gradient_alone_had_no_truth_value(clip: Any) -> None:
    with pytest.raises(TypeError, match="gradients must be a list of tensors"):
        clip(T.vector("g"))


@pytest.mark.parametrize(
    ("rate", "error"),
    [(-0.1, ValueError), (float("nan"), ValueError), ("0.1", TypeError), (np.ones(3), TypeError)],
)
@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop", "lion"])
def test_a_bug_rates_that_are_none(name: str, rate: Any, error: Any) -> None:
    """A text was read as a number, and a negative rate went uphill."""
    w = shared()
    with pytest.raises(error, match="a learning rate must be"):
        getattr(optim, name)(w.sum(), [w], rate)


def test_rates_of_numpy() -> None:
    rates: list[Any] = [np.float32(0.5), np.array(0.5), 1, np.int64(1)]
    for rate in rates:
        w = shared()
        assert len(optim.sgd(w.sum(), [w], rate)) == 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("adam", {"beta1": 1.0}), ("adamw", {"beta2": 1.0}), ("adamax", {"beta1": -0.1}),
        ("lion", {"beta2": 2.0}), ("rmsprop", {"decay": 1.5}), ("adadelta", {"decay": -1.0}),
    ],
)  # fmt: skip
def test_a_bug_shares_of_what_was_before(name: str, options: Any) -> None:
    """With beta1=1 Adam divided 0 by 0."""
    w = shared()
    with pytest.raises(ValueError, match=f"{name}: .* must be from 0 to below 1"):
        getattr(optim, name)(w.sum(), [w], **options)


def test_a_bug_weights_of_convolutions_in_groups() -> None:
    """Each feature sees the channels of its group alone."""
    w, x = Weights(), T.tensor("float32", (2, 4, 5, 5))
    y = w.conv("c", x, 6, 3, groups=2, padding="same")
    assert y.type.shape == (2, 6, 5, 5)
    assert w.values["c.w"].type.shape == (6, 2, 3, 3)
    assert y.eval({x: np.ones((2, 4, 5, 5), np.float32)}).shape == (2, 6, 5, 5)


def test_a_bug_a_second_layer_of_a_name_had_the_first_ones_units() -> None:
    w, x = Weights(), T.tensor("float32", (None, 4))
    w.dense("out", x, 3)
    with pytest.raises(ShapeMismatch, match=r"a weight of \(4, 5\) is named 'out.w'"):
        w.dense("out", x, 5)


@pytest.mark.parametrize("seed", range(4))
def test_a_bug_a_minimum_in_float32_was_none_if_rounding_hid_the_last_step(seed: int) -> None:
    """Two of four ended with "stopped: no step leads further down" at the minimum."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, 3)).astype("f4")
    labels = (points @ [1.0, -2.0, 0.5] + rng.normal(size=40) > 0).astype("f4")
    w, b = symc.shared(np.zeros(3, "f4"), name="w"), symc.shared(np.float32(0), name="b")
    x, t = T.fmatrix("x"), T.fvector("t")
    loss = T.nnet.binary_crossentropy(x @ w + b, t, from_logits=True, reduction="mean")
    found = optim.minimize(loss + 0.01 * (w**2).sum(), [w, b], {x: points, t: labels})
    assert found.converged, found.message
    assert found.gradient < 1e-4
