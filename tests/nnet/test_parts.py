"""Normalisation, losses, dropout, embeddings and recurrent cells against NumPy."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, RankError, ShapeMismatch
from symc.tensor import nnet, random
from tests.ops.harness import check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4, 2, 2))
SCALE, SHIFT = RNG.standard_normal((2, 4))


def normal(x: Any, axes: Any, epsilon: float = 1e-5) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def along(v: Any) -> Any:
    return v[:, None, None]


# --- normalisation --------------------------------------------------------------------------------


def test_batch_norm() -> None:
    def expected(x: Any, scale: Any, shift: Any) -> Any:
        axes = (0, 2, 3)
        return (
            normal(x, axes) * along(scale) + along(shift), x.mean(axes), x.var(axes),
            0.9 * 2.0 + 0.1 * x.mean(axes), 0.9 * 3.0 + 0.1 * x.var(axes, ddof=1),
        )  # fmt: skip

    def build(x: Any, scale: Any, shift: Any) -> Any:
        return tuple(nnet.batch_norm(x, scale, shift, 2.0, 3.0))

    check(build, X, SCALE, SHIFT, oracle=expected, rtol=1e-11, grad=False)
    check(lambda *args: build(*args)[0], X, SCALE, SHIFT, rtol=1e-11, compiled=False)


def test_inference_uses_what_training_kept() -> None:
    mean, var = RNG.standard_normal(4), RNG.random(4)
    check(nnet.batch_norm_inference, X, SCALE, SHIFT, mean, var, compiled=False, rtol=1e-11,
          oracle=lambda x, a, b, m, v: (x - along(m)) / np.sqrt(along(v) + 1e-5) * along(a)
          + along(b))  # fmt: skip


def test_inference_takes_its_arguments_in_the_order_of_training() -> None:
    """Scale and shift were taken for mean and variance: NaN, and no error."""
    training, inference = signature(nnet.batch_norm), signature(nnet.batch_norm_inference)
    assert list(training.parameters)[:5] == list(inference.parameters)[:5]


def test_layer_group_and_instance_norm() -> None:
    rows = RNG.standard_normal((3, 4))
    check(nnet.layer_norm, rows, SCALE, SHIFT, rtol=1e-11,
          oracle=lambda x, a, b: normal(x, (-1,)) * a + b)  # fmt: skip
    both = partial(nnet.layer_norm, axis=(-1, 1))
    check(both, X, rtol=1e-11, compiled=False, oracle=lambda x: normal(x, (1, 3)))
    check(lambda x, a, b: nnet.group_norm(x, 2, a, b), X, SCALE, SHIFT, rtol=1e-11, compiled=False,
          oracle=lambda x, a, b: normal(x.reshape(3, 2, 8), 2).reshape(x.shape) * along(a)
          + along(b))  # fmt: skip
    check(nnet.instance_norm, X, rtol=1e-11, compiled=False, oracle=lambda x: normal(x, (2, 3)))
    with pytest.raises(ShapeMismatch, match=r"4 channels, which do not make 3 groups"):
        nnet.group_norm(X, 3)
    with pytest.raises(ShapeMismatch, match=r"what lies along axes .* must have 1 axes"):
        nnet.layer_norm(X, X)


# --- losses ---------------------------------------------------------------------------------------

Z = RNG.standard_normal((5, 3))
P = np.exp(Z) / np.exp(Z).sum(1, keepdims=True)
Y = np.array([0, 2, 1, 1, 0])
DENSE = np.eye(3)[Y]


def test_categorical_crossentropy() -> None:
    cross = nnet.categorical_crossentropy
    expected = -np.log(P[np.arange(5), Y])
    smooth = -(0.9 * DENSE + 0.1 / 3) * np.log(P)

    def build(z: Any, p: Any, y: Any, dense: Any) -> Any:
        return (
            cross(z, y, from_logits=True), cross(p, y), cross(p, dense),
            cross(z, dense, from_logits=True, reduction="mean"),
            cross(z, y, from_logits=True, label_smoothing=0.1),
            cross(p, dense, label_smoothing=0.1, reduction="sum"),
            cross(z.T, y, from_logits=True, axis=0),
        )  # fmt: skip

    def oracle(*_: Any) -> Any:
        return (
            expected, expected, expected, expected.mean(), smooth.sum(1), smooth.sum(), expected,
        )  # fmt: skip

    check(build, Z, P, Y, DENSE, oracle=oracle, grad=False, rtol=1e-12)
    for case in (0, 1, 4):
        check(lambda z, p, case=case: build(z, p, T.constant(Y), T.constant(DENSE))[case], Z, P,
              compiled=False)  # fmt: skip
    sure = np.array([[1.0, 0.0]])
    assert cross(sure, sure).eval() == 0
    with pytest.raises(RankError, match=r"classes must be integers with 1 axes"):
        cross(P, np.array([[1]]))


def test_classes_that_do_not_exist() -> None:
    """A negative one, as others mark classes to be left out, counted from the end."""
    z, t = T.matrix("z"), T.ivector("t")
    for logits in (True, False):
        loss = nnet.categorical_crossentropy(z, t, from_logits=logits)
        for mode in ("python", "compile"):
            f = symc.function([z, t], loss, mode=mode)
            assert np.isfinite(f(P, np.array([0, 1, 2, 0, 1], "int32")[: len(P)])).all()
            with pytest.raises(BadIndex, match="a class must not be negative"):
                f(P, np.full(len(P), -1, "int32"))
            with pytest.raises(BadIndex, match="index 9 is out of bounds"):
                f(P, np.full(len(P), 9, "int32"))


def test_other_losses() -> None:
    t = RNG.random((5, 3))
    signs = np.where(Z > 0.3, 1.0, -1.0)
    sigmoid = 1 / (1 + np.exp(-Z))
    binary = -(t * np.log(sigmoid) + (1 - t) * np.log1p(-sigmoid))
    away = np.abs(Z - 2 * t)

    def build(z: Any, t: Any) -> Any:
        return (
            nnet.binary_crossentropy(z, t, from_logits=True),
            nnet.binary_crossentropy(T.sigmoid(z), t),
            nnet.binary_crossentropy(z, t, from_logits=True, label_smoothing=0.2, reduction="sum"),
            nnet.kl_divergence(T.softmax(t), T.softmax(z)),
            nnet.squared_error(z, t, reduction="mean"),
            nnet.huber_loss(z, 2 * t, delta=0.7),
            nnet.hinge_loss(z, T.constant(signs)),
        )

    def oracle(z: Any, t: Any) -> Any:
        s = 0.8 * t + 0.1
        q = np.exp(t) / np.exp(t).sum(1, keepdims=True)
        return (
            binary, binary, -(s * np.log(sigmoid) + (1 - s) * np.log1p(-sigmoid)).sum(),
            (q * np.log(q / P)).sum(1), ((z - t) ** 2).mean(),
            np.where(away <= 0.7, away**2 / 2, 0.7 * (away - 0.35)), np.maximum(0, 1 - signs * z),
        )  # fmt: skip

    check(build, Z, t, oracle=oracle, grad=False, rtol=1e-12)
    for case in (0, 3, 5):
        check(lambda z, t, case=case: build(z, t)[case], Z[:2], t[:2], compiled=False)
    ends = nnet.binary_crossentropy(np.array([0.0, 1.0]), np.array([0.0, 1.0])).eval()
    np.testing.assert_array_equal(ends, [0, 0])


def test_losses_have_derivatives_for_targets_of_0_and_1() -> None:
    """Of a target of 0, minus the logarithm: seed 2100024 of the gradients had 0 there."""
    p, t = T.vector("p"), T.vector("t")
    values, targets = np.array([0.5, 0.25, 0.3, 0.0, 1.0]), np.array([0.0, 1.0, 0.3, 0.0, 1.0])
    logs, others = np.log([0.5, 0.25, 0.3]), np.log([0.5, 0.75, 0.7])
    binary = nnet.binary_crossentropy(p, t)
    classes = nnet.categorical_crossentropy(p, t)
    for loss, wanted in ((binary, [*(others - logs), 0, 0]), (classes, [*-logs, 0, 0])):
        for mode in ("python", "compile", "fast"):
            f = symc.function([p, t], symc.grad(loss.sum(), [p, t]), mode=mode)
            of_predicted, of_target = f(values, targets)
            np.testing.assert_allclose(of_target, wanted, rtol=1e-12, atol=1e-15)
            assert np.isfinite(of_predicted).all()


def test_huber_loss_is_a_parabola_also_where_it_is_0() -> None:
    x = T.vector("x")
    hessian = symc.hessian(nnet.huber_loss(x, np.zeros(3), reduction="sum"), x)
    np.testing.assert_array_equal(hessian.eval({x: [0.0, 0.5, 2.0]}), np.diag([1.0, 1.0, 0.0]))


# --- dropout and embeddings -----------------------------------------------------------------------


def test_dropout() -> None:
    stream = random.RandomStream(0)
    x = T.fmatrix("x")
    y = nnet.dropout(x, 0.25, stream)
    f = symc.function([x], [y, symc.grad(y.sum(), x)])
    first, grad = f(np.ones((200, 100), "float32"))
    assert set(np.unique(first)) == {np.float32(0), np.float32(1) / np.float32(0.75)}
    np.testing.assert_array_equal(first, grad)
    assert abs((first > 0).mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / first.size)
    assert not np.array_equal(first, f(np.ones((200, 100), "float32"))[0])
    channels = nnet.dropout(np.ones((4, 8, 3)), 0.5, stream, shape=(4, 8, 1)).eval()
    assert (channels == channels[:, :, :1]).all()
    assert nnet.dropout(x, 0.0, stream) is x
    with pytest.raises(ValueError, match=r"rate must be from 0 to below 1"):
        nnet.dropout(x, 1.0, stream)


def test_embedding() -> None:
    w, i = RNG.standard_normal((5, 3)), np.array([[0, 4, 4], [2, 0, 1]])
    check(lambda w: nnet.embedding(w, T.constant(i)), w, oracle=lambda w: w[i])
    padded = np.where((i == 4)[..., None], 0, w[i])
    check(lambda w: nnet.embedding(w, T.constant(i), padding_index=4), w, oracle=lambda _: padded,
          compiled=False)  # fmt: skip
    v, j = T.matrix("v"), T.lvector("j")
    f = symc.function([v, j], nnet.embedding(v, j), mode="compile")
    with pytest.raises(BadIndex):
        f(w, [5])


# --- recurrent cells ------------------------------------------------------------------------------

H = 3


def weights(gates: int) -> tuple[Any, ...]:
    shapes = ((2, 4), (2, H), (2, H), (4, gates * H), (H, gates * H), (gates * H,))
    return tuple(RNG.standard_normal(shape) for shape in shapes)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm_step(x: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> Any:
    i, f, g, o = np.split(x @ w + h @ u + b, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(x: Any, h: Any, w: Any, u: Any, b: Any) -> Any:
    (r, z, n), (hr, hz, hn) = np.split(x @ w + b, 3, 1), np.split(h @ u, 3, 1)
    new = np.tanh(n + sigmoid(r + hr) * hn)
    return (1 - sigmoid(z + hz)) * new + sigmoid(z + hz) * h


def test_cells() -> None:
    check(nnet.lstm_cell, *weights(4), oracle=lstm_step, static=True, rtol=1e-12)
    x, h, _, *rest = weights(3)
    check(nnet.gru_cell, x, h, *rest, oracle=gru_step, static=True, rtol=1e-12, compiled=False)
    with pytest.raises(ShapeMismatch, match=r"is 9, which 4 gates cannot share"):
        nnet.lstm_cell(x, h, h, *rest)


@pytest.mark.parametrize("backwards", [False, True])
def test_layers(backwards: bool) -> None:
    steps = RNG.standard_normal((4, 2, 4))

    def lstm(x: Any, h: Any, c: Any, *rest: Any) -> Any:
        rows = []
        for step in x[::-1] if backwards else x:
            h, c = lstm_step(step, h, c, *rest)
            rows.append((h, c))
        return tuple(np.array(each) for each in zip(*rows, strict=True))

    def gru(x: Any, h: Any, *rest: Any) -> Any:
        rows = []
        for step in x[::-1] if backwards else x:
            h = gru_step(step, h, *rest)
            rows.append(h)
        return np.array(rows)

    _, *state = weights(4)
    build = partial(nnet.lstm, go_backwards=backwards)
    check(lambda *args: tuple(build(*args)), steps, *state, oracle=lstm, grad=False, static=True,
          rtol=1e-12, compiled=False)  # fmt: skip
    _, h, _, *rest = weights(3)
    check(partial(nnet.gru, go_backwards=backwards), steps, h, *rest, oracle=gru, static=True,
          rtol=1e-12, compiled=False)  # fmt: skip


# --- activation functions -------------------------------------------------------------------------

AT = np.array([-7.5, -2.9, -1.2, -0.4, 0.3, 0.8, 1.6, 4.5, 8.25])
UNITS: dict[str, Any] = {
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "relu6": lambda x: np.clip(x, 0, 6),
    "soft_sign": lambda x: x / (1 + np.abs(x)),
    "sparse_plus": lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4)),
    "sparse_sigmoid": lambda x: np.clip((x + 1) / 2, 0, 1),
    "squareplus": lambda x: (x + np.sqrt(x * x + 4)) / 2,
    "swish": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("name", UNITS)
def test_activation_functions(name: str) -> None:
    unit = getattr(nnet, name)
    check(unit, AT, oracle=UNITS[name], compiled=False, rtol=1e-12)
    assert unit(T.fvector()).dtype.name == "float32"
    nan = unit(T.constant([np.nan])).eval()
    assert np.isnan(nan).all()


def test_activation_functions_compiled() -> None:
    x = T.vector("x")
    f = symc.function([x], [getattr(nnet, name)(x) for name in UNITS], mode="compile")
    for name, got in zip(UNITS, f(AT), strict=True):
        np.testing.assert_allclose(got, UNITS[name](AT), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("name", "at", "slopes"),
    [
        ("relu6", [0.0, 3.0, 6.0], [0, 1, 0]), ("hard_tanh", [-1.0, 0.0, 1.0], [0, 1, 0]),
        ("leaky_relu", [0.0], [0.01]), ("celu", [0.0], [1]), ("soft_sign", [0.0], [1]),
        ("elu", [0.0], [1]),
        ("sparse_plus", [-1.0, 1.0], [0, 1]),
    ],
)  # fmt: skip
def test_slopes_where_activation_functions_bend(name: str, at: Any, slopes: Any) -> None:
    x = T.vector("x")
    got = symc.grad(getattr(nnet, name)(x).sum(), x).eval({x: at})
    np.testing.assert_array_equal(got, slopes)


def test_activations_at_their_ends() -> None:
    assert nnet.squareplus(-1e9).eval() == pytest.approx(1e-9, rel=1e-12)
    got = nnet.log1mexp(T.constant([1e-300, 0.5, 700.0])).eval()
    np.testing.assert_allclose(got, [np.log(1e-300), np.log(1 - np.exp(-0.5)), -np.exp(-700.0)])
    check(lambda x: nnet.glu(x, axis=0), Z[:4], compiled=False,
          oracle=lambda x: x[:2] / (1 + np.exp(-x[2:])), rtol=1e-12)  # fmt: skip
    check(lambda x: nnet.logmeanexp(x, axis=1), Z, compiled=False,
          oracle=lambda x: np.log(np.exp(x).mean(1)), rtol=1e-12)  # fmt: skip
    check(nnet.standardize, Z, compiled=False, oracle=lambda x: normal(x, -1), rtol=1e-12)
    with pytest.raises(ShapeMismatch):
        nnet.glu(np.ones(3))
