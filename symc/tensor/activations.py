"""The sigmoid family and the activation functions of neural networks, elementwise."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor import reference_values as special
from symc.tensor.elementwise import call, cast_to, elementwise
from symc.tensor.exponentials import expm1
from symc.tensor.math import as_float, sqr
from symc.tensor.signatures import FunctionOfOne
from symc.tensor.special_functions import erf
from symc.tensor.trigonometry import tanh

__all__ = [
    "elu", "gelu", "log_sigmoid", "relu", "selu", "sigmoid", "silu", "softplus",
]  # fmt: skip

sigmoid: FunctionOfOne = elementwise(
    "sigmoid", special.sigmoid, call("sigmoid"),
    """``1 / (1 + exp(-x))`` without overflow.

    >>> import symc.tensor as T
    >>> T.sigmoid([-1000.0, 0.0, 2.0]).eval()
    array([0.        , 0.5       , 0.88079708])
    """,
    lambda g, x, y: g * (y * (1 - y)), cost=18, sign_bit="never",
)  # fmt: skip
softplus = elementwise(
    "softplus", special.softplus, call("softplus"),
    """``log(1 + exp(x))`` without overflow.

    >>> import symc.tensor as T
    >>> T.nnet.softplus([-1000.0, 0.0, 1000.0]).eval()
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+03])
    """,
    lambda g, x, y: g * sigmoid(x), cost=30, sign_bit="never",
)  # fmt: skip
log_sigmoid = elementwise(
    "log_sigmoid", special.log_sigmoid, call("log_sigmoid"),
    """``log(sigmoid(x))`` without overflow.

    >>> import symc.tensor as T
    >>> T.nnet.log_sigmoid([-1000.0, 0.0]).eval()
    array([-1.00000000e+03, -6.93147181e-01])
    """,
    lambda g, x, y: g * sigmoid(-x), cost=30,
)  # fmt: skip


def relu(x: TensorLike, alpha: float = 0.0) -> Tensor:
    """``max(x, 0) + alpha * min(x, 0)``. Its derivative at 0 is taken as 0 (with alpha: alpha).

    Elementwise; NaN stays NaN. The dtype is that of `x`; with `alpha`, integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.relu([-2.0, 3.0]).eval(), T.nnet.relu([-2.0, 3.0], alpha=0.1).eval()
    (array([0., 3.]), array([-0.2,  3. ]))
    """
    x = as_tensor(x)
    where, gt = OPERATORS["where"], OPERATORS["gt"]
    if alpha:
        return where(gt(x, 0), x, alpha * x)
    # `x > 0 or x != x`, so that NaN is passed on.
    return where(OPERATORS["le"](x, 0), cast_to(0, x.dtype), x)


def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """x where positive, ``alpha * (exp(x) - 1)`` elsewhere (Clevert et al., 2015).

    Elementwise; integers become floats. Its derivative is continuous for ``alpha=1``.

    >>> import symc.tensor as T
    >>> T.nnet.elu([-1.0, 2.0]).eval()
    array([-0.63212056,  2.        ])
    """
    x, where = as_float(x), OPERATORS["where"]
    positive = OPERATORS["gt"](x, 0)
    return where(positive, x, alpha * expm1(where(positive, 0, x)))


def selu(x: TensorLike) -> Tensor:
    """The self-normalising unit: ``1.0507 * elu(x, 1.6733)`` (Klambauer et al., 2017).

    Elementwise; integers become floats. Sums of many inputs keep mean 0 and variance 1.

    >>> import symc.tensor as T
    >>> T.nnet.selu([-1.0, 2.0]).eval()
    array([-1.11133074,  2.10140197])
    """
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def gelu(x: TensorLike, approximate: bool = False) -> Tensor:
    """``x * Phi(x)``, Phi the normal distribution function (Hendrycks and Gimpel, 2016).

    ``approximate=True`` is their formula with tanh.

    Elementwise; integers become floats. Raises `TypeError` for an `approximate` that is no bool.

    >>> import symc.tensor as T
    >>> T.nnet.gelu([-1.0, 2.0]).eval(), T.nnet.gelu(2.0, approximate=True).eval()
    (array([-0.15865525,  1.95449974]), array(1.95459769))
    """
    if not isinstance(cast("object", approximate), bool | np.bool):  # PyTorch's "none" is true
        raise TypeError(
            f"gelu: approximate must be True, for the formula with tanh, or False, not "
            f"{approximate!r}"
        )
    x = as_float(x)
    if approximate:
        return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * sqr(x))))
    return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))


def silu(x: TensorLike) -> Tensor:
    """``x * sigmoid(x)``, also known as swish (Ramachandran et al., 2017).

    Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.silu([-1.0, 2.0]).eval()
    array([-0.26894142,  1.76159416])
    """
    x = as_float(x)
    return x * sigmoid(x)
