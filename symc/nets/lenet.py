"""LeNet (LeCun, Bottou, Bengio and Haffner, "Gradient-based learning", 1998), with relu.

python -m symc.nets lenet    # learns the digits that symc ships
"""

from __future__ import annotations

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import classification
from symc.nets.weights import Weights


def scores(w: Weights, images: Tensor, classes: int = 10) -> Tensor:
    """A score for each class of each image, (images, channels, height, width).

    Two convolutions, each followed by pooling, then three dense layers.

    >>> import symc, symc.tensor as T
    >>> x = T.tensor("float32", (None, 1, 28, 28), "x")
    >>> symc.nets.lenet.scores(symc.nets.Weights(), x).type.shape[1]
    10
    """
    h = T.nnet.max_pool2d(T.relu(w.conv("conv1", images, 6, 5, padding="same")), 2)
    h = T.nnet.max_pool2d(T.relu(w.conv("conv2", h, 16, 5, padding="same")), 2)
    h = h.reshape((images.shape[0], -1))
    h = T.relu(w.dense("dense1", h, 120))
    h = T.relu(w.dense("dense2", h, 84))
    return w.dense("out", h, classes)


def step(w: Weights) -> Function:
    """A function that learns handwritten digits, as `batches` has them.

    >>> from symc.nets import Weights, lenet, train
    >>> losses = train(lenet.step(Weights()), lenet.batches(40))
    >>> losses[-1] < 0.6 * losses[0]
    True
    """
    images = T.tensor("float32", (None, 1, 8, 8), "images")
    return classification(w, scores, images, name="lenet_step")


batches = data.digits
