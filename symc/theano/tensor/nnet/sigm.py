"""Sigmoids."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.scalar import basic as _scalar
from symc.theano.scalar.preferences import transfer_type
from symc.theano.scalar.rules import upgrade_to_float
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.elemwise import Elemwise
from symc.theano.tensor.nnet.sigm_trees import compute_mul as compute_mul
from symc.theano.tensor.nnet.sigm_trees import is_1pexp as is_1pexp
from symc.theano.tensor.nnet.sigm_trees import is_exp as is_exp
from symc.theano.tensor.nnet.sigm_trees import is_mul as is_mul
from symc.theano.tensor.nnet.sigm_trees import is_neg as is_neg
from symc.theano.tensor.nnet.sigm_trees import parse_mul_tree as parse_mul_tree
from symc.theano.tensor.nnet.sigm_trees import perform_sigm_times_exp as perform_sigm_times_exp
from symc.theano.tensor.nnet.sigm_trees import simplify_mul as simplify_mul

ScalarSigmoid, ScalarSoftplus = (type(_scalar.SCALAR_OPS[name]) for name in ("sigmoid", "softplus"))
scalar_sigmoid, scalar_softplus = (_scalar.SCALAR_OPS[name] for name in ("sigmoid", "softplus"))
register_local_1msigmoid = False
sigmoid, softplus = math.sigmoid, math.softplus
sigmoid_inplace = Elemwise(type(scalar_sigmoid)(transfer_type(0)), {0: 0}, name="sigmoid_inplace")


def hard_sigmoid(x: Any) -> Any:
    """A sigmoid made of three straight lines."""
    x = as_tensor_variable(x)
    slope, shift = (np.asarray(each, dtype=upgrade_to_float(x.dtype)) for each in (0.2, 0.5))
    return math.clip(x * slope + shift, 0, 1)


def ultra_fast_sigmoid(x: Any) -> Any:
    """A sigmoid put together from simple pieces."""
    x = as_tensor_variable(x)
    half = 0.5 * x
    size = math.abs_(half)
    lower = 1.5 * size / (1 + size)
    middle = 0.935409070603099 + 0.0458812946797165 * (size - 1.7)
    upper = 0.99505475368673
    value = math.switch(math.lt(size, 1.7), lower, math.switch(math.lt(size, 3), middle, upper))
    found = 0.5 * (math.switch(math.ge(half, 0), value, -value) + 1)
    return math.cast(found, upgrade_to_float(x.dtype))
