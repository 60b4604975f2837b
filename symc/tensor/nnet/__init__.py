"""What neural networks are made of: `T.nnet`, loaded when it is first used."""

from symc.tensor.activations import elu, gelu, log_sigmoid, relu, selu, sigmoid, silu, softplus
from symc.tensor.math import tanh
from symc.tensor.nnet.attention import *
from symc.tensor.nnet.conv import *
from symc.tensor.nnet.ctc import *
from symc.tensor.nnet.layers import *
from symc.tensor.nnet.losses import *
from symc.tensor.nnet.normalize import *
from symc.tensor.nnet.pool import *
from symc.tensor.nnet.recurrent import *
from symc.tensor.softmaxes import log_softmax, logsumexp, softmax

__all__ = [
    "BatchNorm",
    "States",
    "attention",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_inference",
    "binary_crossentropy",
    "categorical_crossentropy",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "ctc_loss",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "group_norm",
    "gru",
    "gru_cell",
    "hinge_loss",
    "huber_loss",
    "instance_norm",
    "kl_divergence",
    "layer_norm",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "lstm",
    "lstm_cell",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "relu",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "squared_error",
    "sum_pool1d",
    "sum_pool2d",
    "sum_pool3d",
    "tanh",
]
