"""The CTC loss against a sum over all alignments."""

from __future__ import annotations

from itertools import groupby, product
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, GradientError, RankError, ShapeMismatch
from symc.tensor import nnet
from tests.fenced import fenced

TARGETS = np.array([[1, 2], [1, 1], [2, 0], [0, 0], [1, 2]])
SPANS, COUNTS = np.array([4, 4, 3, 2, 1]), np.array([2, 2, 1, 0, 2])


def brute_force(p: Any, blank: int, targets: Any = TARGETS) -> Any:
    losses = []
    for b, (span, count) in enumerate(zip(SPANS, COUNTS, strict=True)):
        total = 0.0
        for path in product(range(p.shape[2]), repeat=int(span)):
            said = [label for label, _ in groupby(path) if label != blank]
            if said == list(targets[b, :count]):
                total += np.exp(sum(p[t, b, label] for t, label in enumerate(path)))
        losses.append(-np.log(total) if total else np.inf)
    return np.array(losses)


def probabilities(classes: int = 3) -> Any:
    logits = np.random.default_rng(0).standard_normal((4, 5, classes))
    return logits - np.log(np.exp(logits).sum(2, keepdims=True))


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_loss_and_gradient(mode: str) -> None:
    p, targets = T.tensor3("p"), T.lmatrix("targets")
    loss = nnet.ctc_loss(p, targets, SPANS, COUNTS)
    weights = np.arange(1.0, 6.0)
    finite = T.where(T.isinf(loss), 0, loss)
    f = symc.function([p, targets], [loss, symc.grad((finite * weights).sum(), p)], mode=mode)
    x = probabilities()
    losses, grad = f(x, TARGETS)
    np.testing.assert_allclose(losses, brute_force(x, 0), rtol=1e-12)
    assert np.isinf(losses[4])
    along = np.random.default_rng(1).standard_normal(x.shape)
    ends = [brute_force(x + step * along, 0)[:4] @ weights[:4] for step in (1e-5, -1e-5)]
    np.testing.assert_allclose((grad * along).sum(), (ends[0] - ends[1]) / 2e-5, rtol=1e-8)
    assert not grad[:, 4].any()
    assert not grad[2:, 3].any()


def test_another_blank_and_float32() -> None:
    x, targets = probabilities(), (TARGETS + 2) % 3
    loss = nnet.ctc_loss(x.astype("float32"), targets, SPANS, COUNTS, blank=2)
    assert loss.dtype.name == "float32"
    f = symc.function([], loss, mode="compile")
    np.testing.assert_allclose(f(), brute_force(x, 2, targets), rtol=1e-5)


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_what_is_behind_a_target_may_be_anything(mode: str) -> None:
    padded = np.where(np.arange(2) < COUNTS[:, None], TARGETS, -1)
    assert (padded < 0).any()
    p, targets = T.tensor3("p"), T.lmatrix("targets")
    f = symc.function([p, targets], nnet.ctc_loss(p, targets, SPANS, COUNTS), mode=mode)
    x = probabilities()
    np.testing.assert_array_equal(f(x, padded), f(x, TARGETS))


def test_jacobian() -> None:
    p = T.tensor3("p")
    loss = nnet.ctc_loss(p, TARGETS[:2], SPANS[:2], COUNTS[:2])
    x = probabilities()[:, :2]
    jacobian = symc.jacobian(loss, p).eval({p: x})
    for b in range(2):
        np.testing.assert_allclose(jacobian[b], symc.grad(loss[b], p).eval({p: x}), rtol=1e-12)


def test_errors() -> None:
    p, spans, counts = T.tensor3("p"), T.lvector("spans"), T.lvector("counts")
    loss = nnet.ctc_loss(p, TARGETS, spans, counts)
    for mode in ("python", "compile"):
        f = symc.function([p, spans, counts], loss, mode=mode)
        with pytest.raises(BadIndex, match="an input's length is 9, but must be from 0 to 4"):
            f(probabilities(), SPANS + 5, COUNTS)
        with pytest.raises(BadIndex, match="a target's length is 3, but must be from 0 to 2"):
            f(probabilities(), SPANS, COUNTS + 1)
        with pytest.raises(BadIndex, match="a target is 2, but must be from 0 to 1"):
            f(probabilities(2), SPANS, COUNTS)
        with pytest.raises(ShapeMismatch, match="there are 5 targets for 4 examples"):
            f(probabilities()[:, :4], SPANS[:4], COUNTS[:4])
    with pytest.raises(RankError, match="targets must have 2 axes"):
        nnet.ctc_loss(p, TARGETS[0], spans, counts)
    with pytest.raises(BadIndex, match="blank is 3, but there are 3 classes"):
        nnet.ctc_loss(probabilities(), TARGETS, SPANS, COUNTS, blank=3)
    with pytest.raises(GradientError, match="second derivative of ctc_loss"):
        symc.grad(symc.grad(loss.sum(), p).sum(), p)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_targets_of_all_lengths(dtype: str) -> None:
    """Places are computed in vectors, with rests of all lengths; labels repeat."""
    p, targets = T.tensor(dtype, (None,) * 3, "p"), T.lmatrix("targets")
    spans, counts = T.lvector("spans"), T.lvector("counts")
    loss = nnet.ctc_loss(p, targets, spans, counts)
    total = T.where(T.isinf(loss), 0, loss).sum()
    results = [loss, symc.grad(total, p)]
    f = symc.function([p, targets, spans, counts], results)
    python = symc.function([p, targets, spans, counts], results, mode="python")
    for longest in (0, 1, 2, 3, 7, 8, 9, 20, 33):
        rng = np.random.default_rng(longest)
        steps, batch = 2 * longest + 3, 4
        logits = rng.standard_normal((steps, batch, 4))
        logits -= np.log(np.exp(logits).sum(2, keepdims=True))
        logits[0, 1, 2] = -np.inf
        given = [
            logits.astype(dtype), rng.integers(0, 4, (batch, longest)),
            np.array([steps, steps - 1, rng.integers(0, steps), 0]),
            np.array([longest, longest, rng.integers(0, longest + 1), 0]),
        ]  # fmt: skip
        losses, grads = f(*map(fenced, given))
        wanted, slopes = python(*given)
        tolerance = 1e-4 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(losses, wanted, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(grads, slopes, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_reaches_the_loss_of_its_example(dtype: str) -> None:
    p, targets = T.tensor(dtype, (None,) * 3, "p"), T.lmatrix("targets")
    loss = nnet.ctc_loss(p, targets, SPANS, COUNTS)
    x = probabilities().astype(dtype)
    x[1, 0] = np.nan
    found = symc.function([p, targets], loss)(x, TARGETS)
    assert np.isnan(found[0])
    wanted = symc.function([p, targets], loss)(probabilities().astype(dtype), TARGETS)
    np.testing.assert_array_equal(found[1:], wanted[1:])
