"""The functions of networks that `T` has as well."""

from symc.tensor.activations import elu, gelu, log_sigmoid, relu, selu, sigmoid, silu, softplus
from symc.tensor.softmaxes import log_softmax, logsumexp, softmax
from symc.tensor.trigonometry import tanh

__all__ = [
    "elu", "gelu", "log_sigmoid", "log_softmax", "logsumexp", "relu", "selu", "sigmoid", "silu",
    "softmax", "softplus", "tanh",
]  # fmt: skip
