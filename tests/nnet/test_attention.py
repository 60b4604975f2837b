"""Attention against its definition in NumPy."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import RankError, ShapeMismatch
from symc.tensor import nnet
from tests.fenced import fenced
from tests.ops.harness import check


def defined(q: Any, k: Any, v: Any, mask: Any = None, causal: bool = False) -> Any:
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v


def arrays(*lead: int, n: int = 3, m: int = 5, d: int = 4, e: int = 2) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((*lead, *last)) for last in ((n, d), (m, d), (m, e), (n, m))]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", ["plain", "mask", "masks"])
def test_values_and_derivatives(masked: str, causal: bool) -> None:
    *qkv, mask = arrays(2)
    given = qkv if masked == "plain" else [*qkv, mask if masked == "masks" else mask[0]]

    def build(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
        return nnet.attention(q, k, v, mask=mask, causal=causal)

    check(build, *given, oracle=partial(defined, causal=causal), rtol=1e-12, compiled=not causal)


def test_heads_and_masks_of_bool() -> None:
    q, k, v, mask = arrays(2, 3)
    seen = mask > -0.5
    seen[..., 0] = True
    check(lambda q, k, v: nnet.attention(q, k, v, mask=T.constant(seen)), q, k, v,
          oracle=lambda q, k, v: defined(q, k, v, seen), compiled=False, grad=False)  # fmt: skip
    check(
        lambda q, k, v: nnet.attention(q, k, v, mask=T.constant(seen[0, 0])),
        q,
        k,
        v,
        oracle=lambda q, k, v: defined(q, k, v, seen[0, 0]),
        compiled=False,
        grad=False,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_blocks(dtype: str) -> None:
    """Lengths that fill several blocks, and the last one in part."""
    q, k, v, mask = (T.tensor(dtype, (None,) * 3, name) for name in ("q", "k", "v", "mask"))
    wanted = []
    for y in (nnet.attention(q, k, v, causal=True), nnet.attention(q, k, v, mask=mask)):
        wanted += [y, *symc.grad((y * y).sum(), [q, k, v])]
    wanted.append(symc.grad((y * y).sum(), mask))
    compiled = symc.function([q, k, v, mask], wanted)
    interpreted = symc.function([q, k, v, mask], wanted, mode="python")
    for n, m in ((130, 150), (64, 65), (1, 1), (200, 70)):
        given = [x.astype(dtype) for x in arrays(2, n=n, m=m, d=16, e=20)]
        for got, expected in zip(compiled(*given), interpreted(*given), strict=True):
            tolerance = {"float32": 2e-5, "float64": 1e-12}[dtype]
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_float16_and_scale() -> None:
    q, k, v, _ = arrays(1)
    half = [x.astype("float16") for x in (q, k, v)]
    check(
        lambda q, k, v: nnet.attention(q, k, v, scale=0.5),
        *half,
        oracle=lambda q, k, v: defined(*(x.astype("f4") for x in (q, k, v))).astype("f2"),
    )


def test_a_row_that_sees_nothing_is_nan() -> None:
    q, k, v, _ = arrays(1)
    seen = np.ones((3, 5), bool)
    seen[1] = False
    for mode in ("python", "compile"):
        y = symc.function([], nnet.attention(q, k, v, mask=seen), mode=mode)()
        assert np.isnan(y[0, 1]).all()
        assert np.isfinite(y[0, [0, 2]]).all()


def test_without_keys_it_is_zero() -> None:
    q, k = T.tensor3("q"), T.tensor3("k")
    for mode in ("python", "compile"):
        y = symc.function([q, k], nnet.attention(q, k, k), mode=mode)
        np.testing.assert_array_equal(
            y(np.ones((2, 3, 4)), np.ones((2, 0, 4))), np.zeros((2, 3, 4))
        )


def test_memory_does_not_grow_with_the_square() -> None:
    """The workspace of a training step stays below a tenth of one matrix of weights."""
    q, k, v = (T.tensor("float32", (1, 4000, 8), name) for name in ("q", "k", "v"))
    y = nnet.attention(q, k, v, causal=True)
    f = symc.function([q, k, v], symc.grad((y * y).sum(), [q, k, v]))
    given = [x.astype("float32") for x in arrays(1, n=4000, m=4000, d=8, e=8)[:3]]
    assert all(np.isfinite(grad).all() for grad in f(*given))
    shapes = re.findall(r"^  temp \w+: float32\[([\d, ]*)\]", f.program, re.MULTILINE)
    assert shapes
    elements = sum(np.prod([int(n) for n in shape.split(",") if n]) for shape in shapes)
    assert elements < 4000 * 4000 / 10


def test_errors() -> None:
    q, k, v = (T.tensor("float64", shape, name) for shape, name in
               (((2, 3, 4), "q"), ((2, 5, 4), "k"), ((2, 6, 4), "v")))  # fmt: skip
    with pytest.raises(ShapeMismatch, match=r"axis -2 of the values is 6, .* ask for 5"):
        nnet.attention(q, k, v)
    with pytest.raises(ShapeMismatch, match=r"axis -1 of the keys is 3, .* ask for 4"):
        nnet.attention(q, k[:, :, :3], k)
    with pytest.raises(ShapeMismatch, match=r"axis 0 is 1, but for the queries it is 2"):
        nnet.attention(q, k[:1], k)
    with pytest.raises(RankError, match=r"must have the same axes"):
        nnet.attention(q, k[0], k)
    with pytest.raises(RankError, match=r"mask must have 2 axes or 3"):
        nnet.attention(q, k, k, mask=T.vector("m"))
    a, b = T.tensor3("a"), T.tensor3("b")
    f = symc.function([a, b], nnet.attention(a, b, b), mode="python")
    with pytest.raises(ShapeMismatch, match=r"axis -1 of the keys is 5, .* ask for 4"):
        f(np.zeros((1, 2, 4)), np.zeros((1, 3, 5)))
    a, b = T.tensor4("a"), T.tensor4("b")
    f = symc.function([a, b], nnet.attention(a, b, b), mode="python")
    with pytest.raises(ShapeMismatch, match="axis 0 has length 3, and must have 2"):
        f(np.zeros((2, 3, 4, 5)), np.zeros((3, 2, 4, 5)))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "args", [lambda x: (x, x, x), lambda x: (x, 2 * x, x), lambda x: (x, T.sin(x), x + 1)]
)
def test_second_derivatives_where_arguments_are_one_tensor(args: Any, causal: bool) -> None:
    """They were counted once for each argument that depends on the tensor."""
    rng = np.random.default_rng(3)
    at, along = rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 2))
    x = T.tensor("float64", (None, None, 2), "x")
    cost = (nnet.attention(*args(x), causal=causal) * rng.normal(size=(2, 3, 2))).sum()
    slope = (symc.grad(cost, x) * along).sum()
    f = symc.function([x], [slope, symc.grad(slope, x)])
    step = 1e-5 * along
    difference = (f(at + step)[0] - f(at - step)[0]) / 2e-5
    np.testing.assert_allclose((f(at)[1] * along).sum(), difference, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_that_are_not_finite_reach_their_rows(dtype: str) -> None:
    """The greatest score is found in vectors, which leave NaN out: it reaches the sum."""
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((2, n, 5)).astype(dtype) for n in (70, 150, 150))
    q[0, 3], q[0, 69, 0], q[1, 0, 0], k[1, 149, 1] = np.nan, np.nan, np.inf, np.nan
    bias = rng.standard_normal((70, 150)).astype(dtype)
    bias[5, 100], bias[6], bias[7, 140] = np.inf, -np.inf, np.nan
    args = [T.tensor(dtype, (None,) * n) for n in (3, 3, 3, 2)]
    y = T.nnet.attention(*args[:3], mask=args[3])
    with np.errstate(invalid="ignore"):
        found = symc.function(args, y)(*map(fenced, (q, k, v, bias)))
        wanted = symc.function(args, y, mode="python")(q, k, v, bias)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert np.isnan(found[0, [3, 5, 6, 7, 69]]).all()
    assert np.isfinite(found[0, [4, 8, 68]]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_of_all_sizes(dtype: str) -> None:
    """Scores up to some thousands, that grow from block to block or fall."""
    rng = np.random.default_rng(4)
    args = [T.tensor(dtype, (None,) * 3) for _ in range(3)]
    f = symc.function(args, T.nnet.attention(*args))
    for n, m, d, e in ((1, 1, 1, 1), (3, 64, 2, 17), (65, 200, 3, 16), (64, 129, 1, 33)):
        q, k, v = (rng.standard_normal(s).astype(dtype) for s in ((2, n, d), (2, m, d), (2, m, e)))
        for rise in (0.0, 20.0, -20.0):
            keys = k + np.linspace(0, rise, m, dtype=dtype)[:, None]
            scores = 10 * (q.astype("float64") @ keys.astype("float64").transpose(0, 2, 1))
            powers = np.exp(scores / np.sqrt(d) - (scores / np.sqrt(d)).max(-1, keepdims=True))
            wanted = powers / powers.sum(-1, keepdims=True) @ v
            found = f(*map(fenced, (10 * q, keys, v)))
            tolerance = 1e-3 if dtype == "float32" else 1e-11
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
