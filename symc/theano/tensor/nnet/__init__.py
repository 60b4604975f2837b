"""`theano.tensor.nnet`: functions for neural networks."""

from symc.theano.tensor.nnet import abstract_conv, bn, conv, nnet, sigm
from symc.theano.tensor.nnet.abstract_conv import (
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_transpose,
    conv3d,
)
from symc.theano.tensor.nnet.bn import batch_normalization
from symc.theano.tensor.nnet.nnet import (
    CrossentropyCategorical1Hot,
    LogSoftmax,
    Softmax,
    binary_crossentropy,
    categorical_crossentropy,
    confusion_matrix,
    crossentropy_categorical_1hot,
    crossentropy_softmax_1hot,
    crossentropy_softmax_1hot_with_bias,
    elu,
    logsoftmax,
    logsoftmax_op,
    relu,
    selu,
    sigmoid_binary_crossentropy,
    softmax,
    softmax_graph,
    softmax_op,
    softmax_with_bias,
    softsign,
)
from symc.theano.tensor.nnet.sigm import (
    hard_sigmoid,
    sigmoid,
    sigmoid_inplace,
    softplus,
    ultra_fast_sigmoid,
)

__all__ = [
    "CrossentropyCategorical1Hot", "LogSoftmax", "Softmax", "abstract_conv", "batch_normalization",
    "binary_crossentropy", "bn",
    "categorical_crossentropy", "confusion_matrix", "conv", "conv2d", "conv2d_grad_wrt_inputs",
    "conv2d_transpose", "conv3d",
    "crossentropy_categorical_1hot", "crossentropy_softmax_1hot",
    "crossentropy_softmax_1hot_with_bias", "elu", "hard_sigmoid", "logsoftmax", "logsoftmax_op",
    "nnet", "relu", "selu", "sigm", "sigmoid", "sigmoid_binary_crossentropy", "sigmoid_inplace",
    "softmax", "softmax_graph", "softmax_op", "softmax_with_bias", "softplus", "softsign",
    "ultra_fast_sigmoid",
]  # fmt: skip
