"""`theano.tensor`: variables that are arrays, and the functions on them."""

from typing import Any as _Any

from symc.theano.gof.graph import Constant, Variable
from symc.theano.scalar.dtypes import (
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
)
from symc.theano.tensor import (
    basic,
    constructors,
    elemwise,
    extra_ops,
    nnet,
    raw_random,
    shared_randomstreams,
    sharedvar,
    signal,
    subtensor,
    type,
    xlogx,
)
from symc.theano.tensor.constructors import *
from symc.theano.tensor.constructors import MADE as _MADE
from symc.theano.tensor.convert import *
from symc.theano.tensor.creation import *
from symc.theano.tensor.elemwise import DimShuffle, Elemwise
from symc.theano.tensor.extra_ops import (
    bartlett,
    bincount,
    compress,
    cumprod,
    cumsum,
    diff,
    fill_diagonal,
    flatnonzero,
    nonzero,
    nonzero_values,
    repeat,
    searchsorted,
    squeeze,
)
from symc.theano.tensor.folding import *
from symc.theano.tensor.joining import *
from symc.theano.tensor.math import *
from symc.theano.tensor.products import *
from symc.theano.tensor.reductions import *
from symc.theano.tensor.shaping import *
from symc.theano.tensor.sharedvar import TensorSharedVariable
from symc.theano.tensor.sort import argsort, sort
from symc.theano.tensor.subtensor import *
from symc.theano.tensor.type import TensorType
from symc.theano.tensor.var import TensorConstant, TensorVariable, _tensor_py_operators

globals().update(_MADE)
tensor = constructors.tensor


def grad(*args: _Any, **kwargs: _Any) -> _Any:
    """`theano.gradient.grad`."""
    from symc.theano.gradient import grad as differentiate

    return differentiate(*args, **kwargs)


def __getattr__(name: str) -> _Any:
    if name in ("verify_grad", "numeric_grad"):
        from symc.theano import verify

        return getattr(verify, name)
    if name in ("jacobian", "hessian", "Rop", "Lop", "consider_constant"):
        from symc.theano import gradient

        return getattr(gradient, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
