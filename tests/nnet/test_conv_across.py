"""Convolutions of each channel by itself, of small planes: channels in the lanes of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.fenced import fenced
from tests.nnet import oracle

RNG = np.random.default_rng(5)

# (images, channels, lengths, sizes)
SHAPES: list[tuple[int, int, tuple[int, int], tuple[int, int]]] = [
    (2, 32, (7, 7), (3, 3)),
    (2, 35, (7, 7), (7, 7)),  # the last channels are some of those before, too
    (1, 16, (3, 4), (2, 1)),  # planes shorter than a vector
    (3, 17, (9, 5), (5, 5)),  # one row of outputs, one column
    (1, 64, (22, 20), (3, 4)),
    (0, 32, (7, 7), (3, 3)),  # no images
    (1, 3, (7, 7), (3, 3)),  # fewer channels than lanes
]
CASES: list[dict[str, Any]] = [
    {},
    {"padding": "same"},
    {"padding": "half", "stride": 2},
    {"padding": (2, 1), "stride": (3, 2), "dilation": (1, 2)},
    {"stride": 4, "flip_filters": False},
]


@pytest.mark.parametrize(
    ("case", "dtype"), [*((case, "float32") for case in CASES), (CASES[2], "float64")], ids=str
)
def test_values_and_gradients(
    case: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for images, channels, lengths, sizes in SHAPES:
        full: dict[str, Any] = {**case, "groups": channels}
        x = RNG.standard_normal((images, channels, *lengths)).astype(dtype)
        w = RNG.standard_normal((channels, 1, *sizes)).astype(dtype)
        try:
            wanted = oracle.conv(x, w, **full)
        except ValueError:
            continue  # windows that fit nowhere
        a, b = (T.tensor(dtype, (None,) * 4, name) for name in ("x", "w"))
        f = symc.function([a, b], with_slopes(a, b, full))
        plain = symc.function([a, b], with_slopes(a, b, full), mode="python")(x, w)
        tolerance = {"float32": 1e-3, "float64": 1e-11}[dtype]
        for threads in (1, 2):
            monkeypatch.setattr(symc.config, "threads", threads)
            for front in (False, True):
                got = f(fenced(x, front=front), fenced(w, front=front))
                if images:
                    np.testing.assert_allclose(got[0], wanted, rtol=0, atol=tolerance / 10)
                for one, other in zip(got, plain, strict=True):
                    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


def with_slopes(x: Any, w: Any, options: dict[str, Any]) -> list[Any]:
    """A convolution, and the slopes of the sum of its squares."""
    y = T.nnet.conv2d(x, w, **options)
    return [y, *symc.grad((y * y).sum(), [x, w])]


@pytest.mark.parametrize("stride", [1, 2])
def test_what_is_not_finite_stays_in_its_windows(stride: int) -> None:
    x, w = T.ftensor4("x"), T.ftensor4("w")
    options: dict[str, Any] = {"groups": 20, "padding": 1, "stride": stride}
    f = symc.function([x, w], T.nnet.conv2d(x, w, **options))
    a = RNG.standard_normal((2, 20, 7, 6)).astype("float32")
    b = RNG.standard_normal((20, 1, 3, 3)).astype("float32")
    a[1, 19, 6, 5], a[0, 4, 0, 0], b[7, 0, 1, 1] = np.nan, np.inf, np.inf
    got, wanted = f(a, b), oracle.conv(a, b, **options)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(wanted))


@pytest.mark.parametrize("stride", [1, 2])
def test_slopes_that_are_not_finite_reach_what_their_windows_met(stride: int) -> None:
    x, w, bar = T.ftensor4("x"), T.ftensor4("w"), T.ftensor4("bar")
    options: dict[str, Any] = {"groups": 20, "padding": 1, "stride": stride}
    y = T.nnet.conv2d(x, w, **options)
    f = symc.function([x, w, bar], symc.Lop(y, [x, w], bar))
    plain = symc.function([x, w, bar], symc.Lop(y, [x, w], bar), mode="python")
    a = RNG.standard_normal((2, 20, 7, 6)).astype("float32")
    b = RNG.standard_normal((20, 1, 3, 3)).astype("float32")
    c = RNG.standard_normal(oracle.conv(a, b, **options).shape).astype("float32")
    b[3, 0, 0, 0], c[0, 5, 1, 1], c[1, 19, -1, -1] = np.inf, np.nan, -np.inf
    for one, other in zip(f(a, b, c), plain(a, b, c), strict=True):
        np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))


@pytest.mark.parametrize("rank", [1, 3])
def test_one_axis_and_three(rank: int) -> None:
    lengths, sizes = (9, 4, 5)[:rank], (3, 2, 2)[:rank]
    x, w = (T.tensor("float32", (None,) * (rank + 2)) for _ in range(2))
    conv = {1: T.nnet.conv1d, 3: T.nnet.conv3d}[rank]
    a = RNG.standard_normal((2, 18, *lengths)).astype("float32")
    b = RNG.standard_normal((18, 1, *sizes)).astype("float32")
    for stride in (1, 2):
        f = symc.function([x, w], conv(x, w, groups=18, stride=stride))
        wanted = oracle.conv(a, b, groups=18, stride=stride)
        np.testing.assert_allclose(f(a, b), wanted, rtol=0, atol=1e-4)
