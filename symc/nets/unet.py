"""U-Net (Ronneberger, Fischer and Brox, "Convolutional networks for segmentation", 2015).

python -m symc.nets unet    # finds discs in noise
"""

from __future__ import annotations

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import learner
from symc.nets.weights import Weights, known


def scores(w: Weights, images: Tensor, classes: int = 1, width: int = 64, depth: int = 4) -> Tensor:
    """A score for each class of each pixel, (images, classes, height, width).

    `depth` times down to half the pixels and twice the features, and up again, each time with what
    was there on the way down beside it. Convolutions keep lengths, which must be multiples of
    ``2**depth``.
    """
    h, skipped = images, list[Tensor]()
    for level in range(depth):
        h = _twice(w, f"down{level}", h, width << level)
        skipped.append(h)
        h = T.nnet.max_pool2d(h, 2)
    h = _twice(w, "bottom", h, width << depth)
    for level in reversed(range(depth)):
        h = T.concatenate([skipped[level], _grown(w, f"grow{level}", h, width << level)], axis=1)
        h = _twice(w, f"up{level}", h, width << level)
    return w.conv("out", h, classes, 1)


def _twice(w: Weights, name: str, x: Tensor, features: int) -> Tensor:
    """Two convolutions."""
    h = T.relu(w.conv(f"{name}.a", x, features, 3, padding="same"))
    return T.relu(w.conv(f"{name}.b", h, features, 3, padding="same"))


def _grown(w: Weights, name: str, x: Tensor, features: int) -> Tensor:
    """Images of twice the length, each 2x2 pixels made of one."""
    channels = known(x, 1)
    filters = w.normal(f"{name}.w", channels, features, 2, 2, scale=(2 / channels) ** 0.5)
    bias = w.filled(f"{name}.b", features)
    return T.nnet.conv2d_transpose(x, filters, stride=2, flip_filters=False) + bias[:, None, None]


def loss(w: Weights, images: Tensor, wanted: Tensor, width: int = 64, depth: int = 4) -> Tensor:
    """The mean cross-entropy of each pixel: 1 where an object is, else 0."""
    found = scores(w, images, 1, width, depth)
    missed: Tensor = (T.softplus(found) - wanted * found).mean()
    return missed


def step(w: Weights, width: int = 8, depth: int = 2) -> Function:
    """A function that learns to find discs in noise."""
    images = T.tensor("float32", (None, 1, 32, 32), "images")
    wanted = T.tensor("float32", (None, 1, 32, 32), "wanted")
    return learner(w, [images, wanted], loss(w, images, wanted, width, depth), name="unet_step")


batches = data.discs
