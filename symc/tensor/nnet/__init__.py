"""Parts of neural networks: `T.nnet`, imported at its first use."""

from symc.graph.public import publish as _publish
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
from symc.tensor.nnet.units import *
from symc.tensor.softmaxes import log_softmax, logsumexp, softmax

__all__ = [
    "BatchNorm", "States", "attention", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm",
    "batch_norm_inference", "binary_crossentropy", "categorical_crossentropy", "celu", "conv1d",
    "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "ctc_loss",
    "dropout", "elu", "embedding", "gelu", "glu", "group_norm", "gru", "gru_cell", "hard_sigmoid",
    "hard_silu", "hard_swish", "hard_tanh", "hinge_loss", "huber_loss", "instance_norm",
    "kl_divergence", "layer_norm", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax",
    "logmeanexp", "logsumexp", "lstm", "lstm_cell", "max_pool1d", "max_pool2d", "max_pool3d",
    "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softmax", "softplus",
    "sparse_plus", "sparse_sigmoid", "squared_error", "squareplus", "standardize", "sum_pool1d",
    "sum_pool2d", "sum_pool3d", "swish", "tanh",
]  # fmt: skip

_publish(globals(), __name__, __all__)


def __getattr__(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("nnet", __name__, name, __dir__)


def __dir__() -> list[str]:
    return [*__all__]
