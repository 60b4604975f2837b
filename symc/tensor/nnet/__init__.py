"""What neural networks are made of: `T.nnet`, loaded when it is first used."""

from symc.tensor.nnet.conv import *
from symc.tensor.nnet.pool import *

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "sum_pool1d",
    "sum_pool2d",
    "sum_pool3d",
]
