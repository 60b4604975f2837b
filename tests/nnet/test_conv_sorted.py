"""Convolutions to several features of a group with a stride of 2: inputs are sorted before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.fenced import fenced
from tests.near import assert_near, size_of
from tests.nnet import oracle

# (images, channels of a group, lengths, features of a group, sizes), of two groups
SHAPES: list[tuple[int, int, tuple[int, int], int, tuple[int, int]]] = [
    (1, 3, (30, 30), 32, (3, 3)),  # even rows, shorter than two vectors
    (2, 3, (31, 29), 16, (3, 3)),  # odd ones
    (1, 2, (9, 9), 8, (3, 3)),
    (1, 2, (7, 70), 12, (3, 5)),  # long ones, in tiles of six rows
    (2, 1, (5, 71), 3, (1, 4)),
    (1, 2, (40, 41), 26, (5, 5)),  # more features than lines stay in the cache for
    (1, 70, (11, 23), 9, (3, 3)),  # more elements than a tile adds up at a time
    (1, 2, (2000, 9), 8, (2, 3)),  # several lines for a plane
    (1, 4, (6, 33), 7, (1, 1)),
    (1, 1, (3, 3), 5, (3, 3)),
    (0, 2, (9, 9), 8, (3, 3)),
]
CASES: list[dict[str, Any]] = [
    {"stride": 2},
    {"stride": (1, 2), "padding": "half"},
    {"stride": (3, 2), "padding": (1, 2), "dilation": (2, 1)},
    {"stride": 2, "padding": "full", "dilation": (1, 3), "flip_filters": False},
]


def given(shape: Any, case: dict[str, Any], dtype: str) -> tuple[Any, Any, Any]:
    """Images, filters and what their convolution is, or nothing where filters are longer."""
    images, channels, lengths, features, sizes = shape
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, 2 * channels, *lengths)).astype(dtype)
    w = rng.standard_normal((2 * features, channels, *sizes)).astype(dtype)
    if not images:
        empty = oracle.conv(np.zeros((1, *x.shape[1:])), w, groups=2, **case)
        return x, w, empty[:0]
    return x, w, oracle.conv(x.astype("float64"), w.astype("float64"), groups=2, **case)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_shapes(case: dict[str, Any], dtype: str) -> None:
    x, w = (T.tensor(dtype, (None,) * 4, name) for name in ("x", "w"))
    f = symc.function([x, w], T.nnet.conv2d(x, w, groups=2, **case))
    tolerance = {"float32": 3e-6, "float64": 1e-14}[dtype]
    for shape in SHAPES:
        try:
            images, filters, wanted = given(shape, case, dtype)
        except ValueError:
            continue
        for front in (False, True):
            found = f(fenced(images, front=front), fenced(filters, front=front))
            assert found.shape == wanted.shape
            assert_near(found, wanted.astype(dtype), 0.0, tolerance * size_of(wanted, 1.0) * 10)


def test_random_shapes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, w = T.ftensor4("x"), T.ftensor4("w")
    f = symc.function([x, w], T.nnet.conv2d(x, w, stride=2, groups=2))
    for _ in range(40):
        sizes = rng.integers(1, 5, 2)
        lengths = sizes + rng.integers(0, 40, 2)
        shape = (int(rng.integers(1, 3)), int(rng.integers(1, 5)), tuple(lengths.tolist()),
                 int(rng.integers(3, 34)), tuple(sizes.tolist()))  # fmt: skip
        images, filters, wanted = given(shape, {"stride": 2}, "float32")
        found = f(fenced(images), fenced(filters))
        assert_near(found, wanted.astype("float32"), 0.0, 3e-5 * size_of(wanted, 1.0))


@pytest.mark.parametrize("length", [30, 31])
def test_what_is_not_finite_stays_in_its_windows(length: int) -> None:
    x, w = T.ftensor4("x"), T.ftensor4("w")
    y = T.nnet.conv2d(x, w, stride=2, groups=2)
    images, filters, _ = given((2, 3, (length, length), 8, (3, 3)), {"stride": 2}, "float32")
    images[0, 0, 4, 7], images[1, 5, -1, -1], images[0, 3, 0, 0] = np.inf, np.nan, -np.inf
    found = symc.function([x, w], y)(images, filters)
    wanted = symc.function([x, w], y, mode="python")(images, filters)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))


def test_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few images and groups, for which threads gather inputs instead of sorting them."""
    images, filters, _ = given((1, 20, (60, 60), 16, (3, 3)), {"stride": 2}, "float32")
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(symc.config, "threads", threads)
        x, w = T.ftensor4("x"), T.ftensor4("w")
        f = symc.function([x, w], T.nnet.conv2d(x, w, stride=2, groups=2))
        found.append(f(images, filters))
    for one in found[1:]:
        assert np.array_equal(one, found[0])


@pytest.mark.parametrize("rank", [1, 3])
def test_one_axis_and_three(rank: int) -> None:
    conv = {1: T.nnet.conv1d, 3: T.nnet.conv3d}[rank]
    x, w = (T.tensor("float32", (None,) * (2 + rank), name) for name in ("x", "w"))
    f = symc.function([x, w], conv(x, w, stride=2, padding=1))
    rng = np.random.default_rng(rank)
    for length in (3, 4, 9, 18):
        images = rng.standard_normal((2, 3, *[length] * rank)).astype("float32")
        filters = rng.standard_normal((16, 3, *[3] * rank)).astype("float32")
        wanted = oracle.conv(images.astype("float64"), filters, stride=2, padding=1)
        found = f(fenced(images), fenced(filters))
        assert_near(found, wanted.astype("float32"), 0.0, 3e-5 * size_of(wanted, 1.0))
