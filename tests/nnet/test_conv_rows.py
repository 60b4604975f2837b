"""Convolutions to one or two features of a group, four rows of outputs at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.fenced import fenced
from tests.near import assert_near, size_of
from tests.nnet import oracle

# (channels of a group, features of a group, lengths, sizes) of two groups
SHAPES: list[tuple[int, int, tuple[int, int], tuple[int, int]]] = [
    (1, 1, (14, 14), (5, 5)),  # rows shorter than a vector of 64 bytes, joined
    (1, 1, (7, 7), (5, 5)),
    (1, 1, (8, 9), (5, 3)),  # four rows of outputs
    (1, 1, (7, 40), (5, 3)),  # three
    (2, 2, (11, 23), (3, 3)),  # the last vector of a row begins earlier
    (1, 1, (30, 68), (7, 7)),
    (3, 1, (20, 150), (4, 2)),  # lines of their own
    (1, 2, (33, 200), (11, 1)),
    (1, 1, (9, 5), (3, 5)),  # one output in a row
    (1, 1, (400, 19), (3, 4)),  # several lines for a plane
    (60, 1, (8, 18), (3, 3)),  # more elements than a job of tiles adds up
]
CASES: list[dict[str, Any]] = [
    {}, {"padding": "half"}, {"padding": ((2, 1), (0, 3)), "dilation": (1, 2)},
    {"dilation": (2, 1)}, {"stride": (2, 1)},
]  # fmt: skip


def given(rng: Any, shape: Any, case: dict[str, Any], dtype: str) -> tuple[Any, Any, Any]:
    """Images, filters, and the convolution; ValueError where a filter is longer."""
    channels, features, lengths, sizes = shape
    x = rng.standard_normal((2, 2 * channels, *lengths)).astype(dtype)
    w = rng.standard_normal((2 * features, channels, *sizes)).astype(dtype)
    return x, w, oracle.conv(x.astype("float64"), w.astype("float64"), groups=2, **case)


def check(found: Any, wanted: Any, dtype: str) -> None:
    assert found.shape == wanted.shape
    tolerance = {"float32": 3e-5, "float64": 1e-13}[dtype]
    assert_near(found, wanted.astype(dtype), 0.0, tolerance * size_of(wanted, 1.0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_shapes(case: dict[str, Any], dtype: str) -> None:
    x, w = (T.tensor(dtype, (None,) * 4, name) for name in ("x", "w"))
    f = symc.function([x, w], T.nnet.conv2d(x, w, groups=2, **case))
    for shape in SHAPES:
        try:
            images, filters, wanted = given(np.random.default_rng(0), shape, case, dtype)
        except ValueError:
            continue
        for front in (False, True):
            found = f(fenced(images, front=front), fenced(filters, front=front))
            check(found, wanted, dtype)


def test_random_shapes_and_gradients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, w, bar = T.ftensor4("x"), T.ftensor4("w"), T.ftensor4("bar")
    y = T.nnet.conv2d(x, w, groups=2)
    f = symc.function([x, w, bar], [y, *symc.Lop(y, [x, w], bar)])
    python = symc.function([x, w, bar], symc.Lop(y, [x, w], bar), mode="python")
    for _ in range(30):
        sizes = rng.integers(1, 9, 2)
        lengths = sizes + rng.integers(0, 40, 2)
        shape = (*rng.integers(1, 3, 2).tolist(), tuple(lengths.tolist()), tuple(sizes.tolist()))
        images, filters, wanted = given(rng, shape, {}, "float32")
        bars = rng.standard_normal(wanted.shape).astype("float32")
        found = f(fenced(images), fenced(filters), fenced(bars))
        check(found[0], wanted, "float32")
        for one, other in zip(found[1:], python(images, filters, bars), strict=True):
            check(one, other, "float32")


def test_what_is_not_finite_stays_in_its_windows() -> None:
    x, w = T.ftensor4("x"), T.ftensor4("w")
    y = T.nnet.conv2d(x, w, groups=2, padding="half")
    shape = (1, 1, (14, 14), (5, 5))
    images, filters, _ = given(np.random.default_rng(0), shape, {"padding": "half"}, "float32")
    images[0, 0, 4, 13], images[1, 1, -1, -1], images[0, 1, 0, 0] = np.inf, np.nan, -np.inf
    found = symc.function([x, w], y)(images, filters)
    wanted = symc.function([x, w], y, mode="python")(images, filters)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
