"""Convolutions whose filters differ from place to place: locally connected layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.tensor.nnet.abstract_conv import checked_border


def borders(border_mode: Any, reaches: Sequence[Any]) -> list[tuple[Any, Any]]:
    """How much is padded in front of and behind each axis, for filters that reach so far."""
    named = checked_border(border_mode, len(reaches))
    if not isinstance(named, str):
        return [tuple(pair) for pair in named]
    pads = [{"valid": 0, "half": reach // 2, "full": reach - 1}[named] for reach in reaches]
    return [(pad, pad) for pad in pads]


def unshared_conv2d(
    images: Tensor, filters: Tensor, border_mode: Any, steps: Sequence[int],
    dilation: Sequence[int], groups: int, flips: bool,
) -> Tensor:  # fmt: skip
    """Images, (number, channels, height, width), by filters for each place of the result.

    The filters are (features, rows, columns, channels in a group, height, width), rows and columns
    those of the result. A place's results are the products of its patch and its filters, summed.
    """
    if flips:
        filters = filters[..., ::-1, ::-1]
    features, rows, columns, channels, *lengths = T.shape(filters)
    reaches = [(n - 1) * d + 1 for n, d in zip(lengths, dilation, strict=True)]
    padded = T.pad(images, [(0, 0), (0, 0), *borders(border_mode, reaches)])
    places = [
        T.arange(count)[:, None] * step + T.arange(n)[None, :] * d
        for count, step, n, d in zip((rows, columns), steps, lengths, dilation, strict=True)
    ]
    down, across = places
    patches = padded[:, :, down[:, None, :, None], across[None, :, None, :]]
    number = T.shape(images)[0]
    patches = patches.reshape((number, groups, channels, rows, columns, *lengths))
    grouped = filters.reshape((groups, features // groups, rows, columns, channels, *lengths))
    result = T.einsum("bgcyxij,gfyxcij->bgfyx", patches, grouped)
    return result.reshape((number, features, rows, columns))
