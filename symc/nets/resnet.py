"""ResNet (He, Zhang, Ren and Sun, "Deep residual learning", 2016), as in its section 4.2.

python -m symc.nets resnet    # learns the digits that symc ships
"""

from __future__ import annotations

from functools import partial

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import classification
from symc.nets.weights import Weights


def scores(
    w: Weights, images: Tensor, classes: int = 10, depth: int = 20, *, training: bool = True
) -> Tensor:
    """A score for each class of each image, (images, channels, height, width).

    A convolution, three groups of ``(depth - 2) / 6`` blocks with 16, 32 and 64 features, the mean
    over all pixels, and a dense layer. With `training`, batches are normalised by their own
    statistics, and `w.updates` keeps the running ones.
    """
    h = T.relu(_conv(w, "first", images, 16, 1, training))
    for group in range(3):
        for number in range((depth - 2) // 6):
            stride = 2 if group and number == 0 else 1
            h = _block(w, f"block{group}.{number}", h, 16 << group, stride, training)
    return w.dense("out", h.mean(axis=(2, 3)), classes)


def _block(w: Weights, name: str, x: Tensor, features: int, stride: int, training: bool) -> Tensor:
    """Two convolutions beside a short cut, which is a 1x1 convolution where lengths change."""
    h = T.relu(_conv(w, f"{name}.a", x, features, stride, training))
    h = _conv(w, f"{name}.b", h, features, 1, training)
    if stride != 1:
        x = _conv(w, f"{name}.short", x, features, stride, training, size=1)
    return T.relu(h + x)


def _conv(
    w: Weights, name: str, x: Tensor, features: int, stride: int, training: bool, size: int = 3
) -> Tensor:
    h = w.conv(name, x, features, size, padding="half", stride=stride)
    return w.batch_norm(f"{name}.norm", h, training=training)


def step(w: Weights, depth: int = 8) -> Function:
    """A function that learns handwritten digits."""
    images = T.tensor("float32", (None, 1, 8, 8), "images")
    return classification(w, partial(scores, depth=depth), images, name="resnet_step")


batches = data.digits
