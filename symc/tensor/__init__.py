"""The user's `T`: everything that makes or combines tensors."""

from collections.abc import Callable as _Callable
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from symc.graph import METHODS as _METHODS
from symc.graph import OPERATORS as _OPERATORS
from symc.graph import Tensor as _Tensor
from symc.tensor.activations import *
from symc.tensor.along import *
from symc.tensor.assign import *
from symc.tensor.build import *
from symc.tensor.complex import *
from symc.tensor.constructors import *
from symc.tensor.diagonal import *
from symc.tensor.einsum import *
from symc.tensor.elementwise import cast_to as cast
from symc.tensor.index import *
from symc.tensor.lengths import *
from symc.tensor.logic import *
from symc.tensor.math import *
from symc.tensor.names import *
from symc.tensor.pad import *
from symc.tensor.products import *
from symc.tensor.reduce import *
from symc.tensor.reshape import *
from symc.tensor.select import *
from symc.tensor.shape import *
from symc.tensor.softmax import *
from symc.tensor.special_functions import *
from symc.tensor.specify import *
from symc.tensor.statistics import *
from symc.tensor.sweep import *
from symc.tensor.views import *

if _TYPE_CHECKING:  # `__getattr__` below loads these
    from symc.tensor import fft as fft
    from symc.tensor import linalg as linalg
    from symc.tensor import nnet as nnet
    from symc.tensor import random as random
    from symc.tensor.sorting.counting import bincount as bincount
    from symc.tensor.sorting.counting import histogram as histogram
    from symc.tensor.sorting.counting import unique as unique
    from symc.tensor.sorting.order import argpartition as argpartition
    from symc.tensor.sorting.order import argsort as argsort
    from symc.tensor.sorting.order import partition as partition
    from symc.tensor.sorting.order import sort as sort
    from symc.tensor.sorting.order import topk as topk
    from symc.tensor.sorting.quantiles import median as median
    from symc.tensor.sorting.quantiles import percentile as percentile
    from symc.tensor.sorting.quantiles import quantile as quantile
    from symc.tensor.sorting.search import digitize as digitize
    from symc.tensor.sorting.search import searchsorted as searchsorted

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "alloc",
    "amax",
    "amin",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argwhere",
    "array",
    "array_split",
    "as_tensor",
    "as_tensor_variable",
    "asarray",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "average",
    "batched_dot",
    "bcol",
    "bcols",
    "beta",
    "betaln",
    "bitwise_and",
    "bitwise_count",
    "bitwise_or",
    "bitwise_xor",
    "bmatrices",
    "bmatrix",
    "broadcast_to",
    "brow",
    "brows",
    "bscalar",
    "bscalars",
    "btensor3",
    "btensor3s",
    "btensor4",
    "btensor4s",
    "btensor5",
    "btensor5s",
    "bvector",
    "bvectors",
    "cast",
    "cbrt",
    "ccol",
    "ccols",
    "ceil",
    "choose",
    "clip",
    "cmatrices",
    "cmatrix",
    "col",
    "cols",
    "complex",
    "compress",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "constant",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "crow",
    "crows",
    "cscalar",
    "cscalars",
    "ctensor3",
    "ctensor3s",
    "ctensor4",
    "ctensor4s",
    "ctensor5",
    "ctensor5s",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cvector",
    "cvectors",
    "dcol",
    "dcols",
    "deg2rad",
    "degrees",
    "diag",
    "diagonal",
    "diff",
    "digamma",
    "dimshuffle",
    "div",
    "divide",
    "divmod",
    "dmatrices",
    "dmatrix",
    "dot",
    "drow",
    "drows",
    "dscalar",
    "dscalars",
    "dstack",
    "dtensor3",
    "dtensor3s",
    "dtensor4",
    "dtensor4s",
    "dtensor5",
    "dtensor5s",
    "dvector",
    "dvectors",
    "einsum",
    "elu",
    "empty",
    "empty_like",
    "eq",
    "equal",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "extract",
    "eye",
    "fcol",
    "fcols",
    "fill",
    "flatnonzero",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "floor_divide",
    "floordiv",
    "fmatrices",
    "fmatrix",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "frow",
    "frows",
    "fscalar",
    "fscalars",
    "ftensor3",
    "ftensor3s",
    "ftensor4",
    "ftensor4s",
    "ftensor5",
    "ftensor5s",
    "full",
    "full_like",
    "fvector",
    "fvectors",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gcd",
    "ge",
    "gelu",
    "greater",
    "greater_equal",
    "gt",
    "hstack",
    "hypot",
    "i0",
    "i1",
    "icol",
    "icols",
    "identity",
    "identity_like",
    "imag",
    "imatrices",
    "imatrix",
    "inc_subtensor",
    "inner",
    "invert",
    "irow",
    "irows",
    "iscalar",
    "iscalars",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "itensor3",
    "itensor3s",
    "itensor4",
    "itensor4s",
    "itensor5",
    "itensor5s",
    "ivector",
    "ivectors",
    "j0",
    "j1",
    "kron",
    "lcol",
    "lcols",
    "lcm",
    "le",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "linspace",
    "lmatrices",
    "lmatrix",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsoftmax",
    "logsumexp",
    "lrow",
    "lrows",
    "lscalar",
    "lscalars",
    "lt",
    "ltensor3",
    "ltensor3s",
    "ltensor4",
    "ltensor4s",
    "ltensor5",
    "ltensor5s",
    "lvector",
    "lvectors",
    "matmul",
    "matrices",
    "matrix",
    "max",
    "max_and_argmax",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "mod",
    "moveaxis",
    "mul",
    "multiply",
    "ne",
    "neg",
    "negative",
    "neq",
    "newaxis",
    "nextafter",
    "nonzero",
    "norm",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "pow",
    "power",
    "prod",
    "ptp",
    "rad2deg",
    "radians",
    "ravel",
    "real",
    "reciprocal",
    "relu",
    "remainder",
    "repeat",
    "reshape",
    "right_shift",
    "roll",
    "round",
    "row",
    "rows",
    "scalar",
    "scalars",
    "select",
    "selu",
    "set_subtensor",
    "shape",
    "shape_of",
    "shape_padleft",
    "shape_padright",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "specify_shape",
    "split",
    "sqr",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "switch",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensor",
    "tensor3",
    "tensor3s",
    "tensor4",
    "tensor4s",
    "tensor5",
    "tensor5s",
    "tensordot",
    "tile",
    "to_one_hot",
    "trace",
    "transpose",
    "tri",
    "trigamma",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "var",
    "vdot",
    "vecdot",
    "vector",
    "vectors",
    "vstack",
    "wcol",
    "wcols",
    "where",
    "wmatrices",
    "wmatrix",
    "wrow",
    "wrows",
    "wscalar",
    "wscalars",
    "wtensor3",
    "wtensor3s",
    "wtensor4",
    "wtensor4s",
    "wtensor5",
    "wtensor5s",
    "wvector",
    "wvectors",
    "zcol",
    "zcols",
    "zeros",
    "zeros_like",
    "zmatrices",
    "zmatrix",
    "zrow",
    "zrows",
    "zscalar",
    "zscalars",
    "ztensor3",
    "ztensor3s",
    "ztensor4",
    "ztensor4s",
    "ztensor5",
    "ztensor5s",
    "zvector",
    "zvectors",
]  # fmt: skip

_MODULES = ("fft", "linalg", "nnet", "random")

# Functions of modules that are imported when they are first asked for.
_LATE = {
    name: f"symc.tensor.sorting.{module}"
    for module, names in {
        "counting": ("bincount", "histogram", "unique"),
        "order": ("argpartition", "argsort", "partition", "sort", "topk"),
        "quantiles": ("median", "percentile", "quantile"),
        "search": ("digitize", "searchsorted"),
    }.items()
    for name in names
}
for _module, _names in {
    "covariance": "corrcoef cov histogram2d histogram_bin_edges histogramdd",
    "differences": "cumulative_prod cumulative_sum ediff1d gradient interp trapezoid unwrap",
    "joining": "append atleast_3d block broadcast_arrays column_stack delete diagflat dsplit hsplit"
    " insert matrix_transpose permute_dims resize rot90 unstack vsplit",
    "linalg.naming": "cross",
    "nans": "nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod"
    " nanstd nansum nanvar",
    "parts": "around array_equal array_equiv bitwise_invert bitwise_left_shift bitwise_not"
    " bitwise_right_shift copy fabs fix float_power heaviside iscomplex iscomplexobj isneginf"
    " isposinf isreal isrealobj modf ndim piecewise positive rint signbit size spacing",
    "places": "diag_indices diag_indices_from fill_diagonal fromfunction indices ix_"
    " put_along_axis ravel_multi_index tril_indices tril_indices_from triu_indices"
    " triu_indices_from unravel_index",
    "polynomials": "polyadd polyder polyfit polyint polymul polysub polyval vander",
    "signal": "bartlett blackman convolve correlate hamming hanning kaiser sinc",
    "sorting.nanquantiles": "nanmedian nanpercentile nanquantile",
    "sorting.sets": "intersect1d isin lexsort setdiff1d setxor1d union1d unique_all unique_counts"
    " unique_inverse unique_values",
}.items():
    _LATE.update(dict.fromkeys(_names.split(), f"symc.tensor.{_module}"))
_LATE.update(
    dict.fromkeys(("apply_along_axis", "apply_over_axes", "vectorize"), "symc.vectorize")
)
# Theano's T.grad and its kin need all of `T`.
_LATE.update(dict.fromkeys(("grad", "jacobian", "hessian", "Rop", "Lop"), "symc.grad"))


def _method(name: str) -> _Callable[..., object]:
    def method(x: _Tensor, *args: object, **kwargs: object) -> object:
        function: _Any = __getattr__(name)
        return function(x, *args, **kwargs)

    return method


_METHODS.update(
    {n: _method(n) for n in ("argpartition", "argsort", "partition", "searchsorted", "sort")}
)


def _numpy(name: str) -> _Callable[..., _Any]:
    def call(*args: object) -> object:
        from symc.tensor import numpy_calls  # late: NumPy's functions are called on few tensors

        function: _Any = getattr(numpy_calls, name)
        return function(*args)

    return call


_OPERATORS.update({name: _numpy(name) for name in ("numpy_ufunc", "numpy_function")})


def __getattr__(name: str) -> _Any:
    """Modules of functions that need not be imported with the others: loaded when asked for."""
    if name in _MODULES:
        import importlib

        return importlib.import_module(f"symc.tensor.{name}")
    if name in _LATE:
        import importlib

        return getattr(importlib.import_module(_LATE[name]), name)
    from symc.elsewhere import instead

    raise AttributeError(f"module 'symc.tensor' has no attribute {name!r}{instead('T', name)}")
