"""Convolutions to one or two features of a group: strips of every length, lines of every number."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import symc
import symc.tensor as T


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("features", [1, 2])
def test_lines_of_many_lengths(features: int, dtype: str) -> None:
    groups, rng = 3, np.random.default_rng(features)
    x, w = T.tensor4("x", dtype=dtype), T.tensor4("w", dtype=dtype)
    f = symc.function([x, w], T.nnet.conv2d(x, w, groups=groups, flip_filters=False))
    for lines, length in (
        (1, 8),
        (5, 9),
        (33, 15),
        (2, 16),
        (17, 31),
        (3, 63),
        (2, 100),
        (1, 2500),
    ):
        for taps in ((1, 1), (2, 3)):
            size = (2, groups, lines + taps[0] - 1, length + taps[1] - 1)
            picture = rng.normal(size=size).astype(dtype)
            filters = rng.normal(size=(groups * features, 1, *taps)).astype(dtype)
            windows = sliding_window_view(picture, taps, (2, 3))
            grouped = filters.reshape(groups, features, *taps)
            wanted = np.einsum("ngijab,gfab->ngfij", windows, grouped)
            np.testing.assert_allclose(
                f(picture, filters), wanted.reshape(2, groups * features, lines, length),
                rtol=0, atol=1e-5 if dtype == "float32" else 1e-12,
            )  # fmt: skip


def test_strides_and_dilations_of_lines() -> None:
    rng = np.random.default_rng(3)
    x, w = T.tensor4("x"), T.tensor4("w")
    f = symc.function(
        [x, w], T.nnet.conv2d(x, w, stride=(2, 1), dilation=(1, 3), flip_filters=False)
    )
    picture, filters = rng.normal(size=(2, 3, 11, 50)), rng.normal(size=(1, 3, 2, 4))
    windows = sliding_window_view(picture, (2, 10), (2, 3))[:, :, ::2, :, :, ::3]
    wanted = np.einsum("ncijab,fcab->nfij", windows, filters)
    np.testing.assert_allclose(f(picture, filters), wanted, rtol=0, atol=1e-12)
