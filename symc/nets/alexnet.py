"""AlexNet (Krizhevsky, Sutskever and Hinton, "ImageNet classification", 2012), for one device.

python -m symc.nets alexnet    # learns stripes: upright, level or slanting
"""

from __future__ import annotations

from functools import partial

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import classification
from symc.nets.weights import Weights


def scores(w: Weights, images: Tensor, classes: int = 1000, width: float = 1.0) -> Tensor:
    """A score for each class of each image, (images, 3, height, width), of 67 pixels or more.

    Five convolutions with pooling, then three dense layers; the paper's images have 227 pixels. All
    layers but the last are `width` times as wide as in the paper.
    """

    def units(count: int) -> int:
        return max(1, round(width * count))

    def pooled(x: Tensor) -> Tensor:
        return T.nnet.max_pool2d(x, 3, stride=2)

    h = pooled(T.relu(w.conv("conv1", images, units(96), 11, stride=4)))
    h = pooled(T.relu(w.conv("conv2", h, units(256), 5, padding="same")))
    h = T.relu(w.conv("conv3", h, units(384), 3, padding="same"))
    h = T.relu(w.conv("conv4", h, units(384), 3, padding="same"))
    h = pooled(T.relu(w.conv("conv5", h, units(256), 3, padding="same")))
    h = h.reshape((images.shape[0], -1))
    h = T.relu(w.dense("dense1", h, units(4096)))
    h = T.relu(w.dense("dense2", h, units(4096)))
    return w.dense("out", h, classes)


def step(w: Weights, width: float = 1 / 8) -> Function:
    """A function that learns stripes in noise, with layers an eighth as wide."""
    images = T.tensor("float32", (None, 3, 67, 67), "images")
    network = partial(scores, classes=3, width=width)
    return classification(w, network, images, name="alexnet_step")


batches = partial(data.stripes, side=67)
