"""`theano.tensor`: variables that are arrays, and the functions on them."""

from typing import Any as _Any

import numpy as _np

from symc.theano import compile as compile
from symc.theano import scalar as scal  # pyright: ignore[reportUnusedImport]
from symc.theano.compile.sharedvalue import shared as _compile_shared
from symc.theano.configparser import config as config
from symc.theano.gof.graph import Constant as Constant
from symc.theano.gof.graph import Variable as Variable
from symc.theano.scalar.dtypes import complex_dtypes as complex_dtypes
from symc.theano.scalar.dtypes import continuous_dtypes as continuous_dtypes
from symc.theano.scalar.dtypes import discrete_dtypes as discrete_dtypes
from symc.theano.scalar.dtypes import float_dtypes as float_dtypes
from symc.theano.scalar.dtypes import int_dtypes as int_dtypes
from symc.theano.scalar.dtypes import integer_dtypes as integer_dtypes
from symc.theano.scalar.dtypes import uint_dtypes as uint_dtypes
from symc.theano.tensor import basic as basic
from symc.theano.tensor import blas as blas
from symc.theano.tensor import constructors as constructors
from symc.theano.tensor import elemwise as elemwise
from symc.theano.tensor import extra_ops as extra_ops
from symc.theano.tensor import fft as fft
from symc.theano.tensor import inplace as inplace
from symc.theano.tensor import io as io
from symc.theano.tensor import nlinalg as nlinalg
from symc.theano.tensor import nnet as nnet
from symc.theano.tensor import opt as opt
from symc.theano.tensor import raw_random as raw_random
from symc.theano.tensor import shared_randomstreams as shared_randomstreams
from symc.theano.tensor import sharedvar as sharedvar
from symc.theano.tensor import signal as signal
from symc.theano.tensor import slinalg as slinalg
from symc.theano.tensor import sort as _sort
from symc.theano.tensor import subtensor as subtensor
from symc.theano.tensor import type as type
from symc.theano.tensor import xlogx as xlogx
from symc.theano.tensor.constructors import *
from symc.theano.tensor.constructors import MADE as _MADE
from symc.theano.tensor.convert import *
from symc.theano.tensor.creation import *
from symc.theano.tensor.elemwise import DimShuffle as DimShuffle
from symc.theano.tensor.elemwise import Elemwise as Elemwise
from symc.theano.tensor.extra_ops import bartlett as bartlett
from symc.theano.tensor.extra_ops import bincount as bincount
from symc.theano.tensor.extra_ops import compress as compress
from symc.theano.tensor.extra_ops import cumprod as cumprod
from symc.theano.tensor.extra_ops import cumsum as cumsum
from symc.theano.tensor.extra_ops import diff as diff
from symc.theano.tensor.extra_ops import fill_diagonal as fill_diagonal
from symc.theano.tensor.extra_ops import fill_diagonal_offset as fill_diagonal_offset
from symc.theano.tensor.extra_ops import flatnonzero as flatnonzero
from symc.theano.tensor.extra_ops import nonzero as nonzero
from symc.theano.tensor.extra_ops import nonzero_values as nonzero_values
from symc.theano.tensor.extra_ops import ravel_multi_index as ravel_multi_index
from symc.theano.tensor.extra_ops import repeat as repeat
from symc.theano.tensor.extra_ops import searchsorted as searchsorted
from symc.theano.tensor.extra_ops import squeeze as squeeze
from symc.theano.tensor.extra_ops import unravel_index as unravel_index
from symc.theano.tensor.folding import *
from symc.theano.tensor.io import load as load
from symc.theano.tensor.joining import *
from symc.theano.tensor.math import *
from symc.theano.tensor.moments import *
from symc.theano.tensor.permutations import *
from symc.theano.tensor.products import *
from symc.theano.tensor.products import _dot as _dot  # pyright: ignore[reportPrivateUsage] -- Theano's name
from symc.theano.tensor.reductions import *
from symc.theano.tensor.scalar_ops import *
from symc.theano.tensor.shaping import *
from symc.theano.tensor.sharedvar import TensorSharedVariable as TensorSharedVariable
from symc.theano.tensor.subtensor import *
from symc.theano.tensor.tiles import *
from symc.theano.tensor.type import TensorType as TensorType
from symc.theano.tensor.type_other import *
from symc.theano.tensor.var import TensorConstant as TensorConstant
from symc.theano.tensor.var import TensorVariable as TensorVariable
from symc.theano.tensor.var import _tensor_py_operators as _tensor_py_operators  # pyright: ignore[reportPrivateUsage] -- Theano's name

globals().update(_MADE)
Tensor = TensorType
np = _np  # ``from theano.tensor import *`` has it
_shared = _compile_shared
argsort, sort = _sort.argsort, _sort.sort
argtopk, topk, topk_and_argtopk = _sort.argtopk, _sort.topk, _sort.topk_and_argtopk
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
