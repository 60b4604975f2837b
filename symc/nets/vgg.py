"""VGG (Simonyan and Zisserman, "Very deep convolutional networks", 2015): its networks A, D and E.

python -m symc.nets vgg    # learns stripes: upright, level or slanting
"""

from __future__ import annotations

from functools import partial

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import classification
from symc.nets.weights import Weights

BLOCKS = {11: (1, 1, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""For each depth, the convolutions in a block: between two poolings."""


def scores(
    w: Weights, images: Tensor, classes: int = 1000, depth: int = 16, width: float = 1.0
) -> Tensor:
    """A score for each class of each image, (images, 3, height, width), of 32 pixels or more.

    Blocks of 3x3 convolutions, each followed by pooling, then three dense layers. `depth` counts
    the layers with weights: 11, 16 or 19. All layers but the last are `width` times as wide as in
    the paper, whose images have 224 pixels.
    """
    h = images
    for block, count in enumerate(BLOCKS[depth]):
        features = max(1, round(width * min(64 << block, 512)))
        for number in range(count):
            h = T.relu(w.conv(f"conv{block}.{number}", h, features, 3, padding="same"))
        h = T.nnet.max_pool2d(h, 2)
    h = h.reshape((images.shape[0], -1))
    for number in range(2):
        h = T.relu(w.dense(f"dense{number}", h, max(1, round(width * 4096))))
    return w.dense("out", h, classes)


def step(w: Weights, depth: int = 11, width: float = 1 / 8) -> Function:
    """A function that learns stripes in noise, with layers an eighth as wide."""
    images = T.tensor("float32", (None, 3, 32, 32), "images")
    network = partial(scores, classes=3, depth=depth, width=width)
    return classification(w, network, images, name="vgg_step")


batches = partial(data.stripes, side=32)
