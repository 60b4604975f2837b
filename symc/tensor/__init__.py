"""The user's `T`: everything that makes or combines tensors."""

from importlib import import_module as _import_module
from types import FunctionType as _FunctionType
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from symc.graph.public import public as _public
from symc.graph.registry import provide as _provide
from symc.graph.registry import provider as _provider
from symc.tensor.build import *
from symc.tensor.constructors import *
from symc.tensor.elementwise import cast_to as _cast_to
from symc.tensor.lengths import *
from symc.tensor.lengths import shape_of as _shape_of
from symc.tensor.logic import *
from symc.tensor.math import *
from symc.tensor.reduce import *
from symc.tensor.reshape import *
from symc.tensor.shape import *
from symc.tensor.specify import *
from symc.tensor.views import *

cast = _cast_to
shape = _shape_of  # behind `from symc.tensor.shape`, which gives the module that name

# The functions above, each of which is published when it is first asked for.
_HERE = {
    _name: globals().pop(_name)
    for _name, _value in list(globals().items())
    if isinstance(_value, _FunctionType) and not _name.startswith("_")
}

if _TYPE_CHECKING:  # `__getattr__` below loads these
    from symc.derivatives.vectorize import *
    from symc.tensor import fft as fft
    from symc.tensor import linalg as linalg
    from symc.tensor import nnet as nnet
    from symc.tensor import random as random
    from symc.tensor.activations import *
    from symc.tensor.along import *
    from symc.tensor.assign import *
    from symc.tensor.complex_numbers import *
    from symc.tensor.contraction import *
    from symc.tensor.covariance import *
    from symc.tensor.diagonals import *
    from symc.tensor.differences import *
    from symc.tensor.joining import *
    from symc.tensor.logarithmic import *
    from symc.tensor.names import *
    from symc.tensor.nans import *
    from symc.tensor.padding import *
    from symc.tensor.parts import *
    from symc.tensor.places import *
    from symc.tensor.polynomials import *
    from symc.tensor.products import *
    from symc.tensor.selection import *
    from symc.tensor.signals import *
    from symc.tensor.softmaxes import *
    from symc.tensor.sorting.counting import *
    from symc.tensor.sorting.nanquantiles import *
    from symc.tensor.sorting.order import *
    from symc.tensor.sorting.quantiles import *
    from symc.tensor.sorting.search import *
    from symc.tensor.sorting.sets import *
    from symc.tensor.special_functions import *
    from symc.tensor.statistics import *
    from symc.tensor.sweep import *

_MODULES = ("fft", "linalg", "nnet", "random")

# The functions of modules that are imported when one of them is first asked for.
_LATE = {
    "symc.tensor.activations": "elu gelu log_sigmoid relu selu sigmoid silu softplus",
    "symc.tensor.along": "diff flip fliplr flipud repeat roll tile",
    "symc.tensor.assign": "inc_subtensor set_subtensor",
    "symc.tensor.complex_numbers": "angle complex conj conjugate imag real",
    "symc.tensor.contraction": "einsum tensordot",
    "symc.tensor.covariance": "corrcoef cov histogram2d histogram_bin_edges histogramdd",
    "symc.tensor.diagonals": "diag diagonal eye identity identity_like trace tri tril triu",
    "symc.tensor.differences": (
        "cumulative_prod cumulative_sum ediff1d gradient interp trapezoid unwrap"
    ),
    "symc.tensor.joining": (
        "append atleast_3d block broadcast_arrays column_stack delete diagflat dsplit hsplit "
        "insert matrix_transpose permute_dims resize rot90 unstack vsplit"
    ),
    "symc.tensor.logarithmic": (
        "entr expit factorial kl_div log_ndtr logit multigammaln ndtr rel_entr xlog1py xlogy"
    ),
    "symc.tensor.names": (
        "absolute acos acosh allclose around array array_equal array_equiv asarray asin asinh "
        "atan atan2 atanh bitwise_invert bitwise_left_shift bitwise_not bitwise_right_shift "
        "concat copy degrees divide equal fabs fix floor_divide greater greater_equal less "
        "less_equal multiply ndim negative newaxis not_equal positive power radians remainder "
        "rint size square subtract true_divide"
    ),
    "symc.tensor.nans": (
        "nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod "
        "nanstd nansum nanvar"
    ),
    "symc.tensor.padding": "pad",
    "symc.tensor.parts": (
        "bitwise_count float_power frexp gcd heaviside iscomplex iscomplexobj isneginf isposinf "
        "isreal isrealobj lcm ldexp logaddexp2 modf piecewise signbit spacing"
    ),
    "symc.tensor.places": (
        "diag_indices diag_indices_from fill_diagonal fromfunction indices ix_ put_along_axis "
        "ravel_multi_index tril_indices tril_indices_from triu_indices triu_indices_from "
        "unravel_index"
    ),
    "symc.tensor.polynomials": "polyadd polyder polyfit polyint polymul polysub polyval vander",
    "symc.tensor.products": "batched_dot cross dot inner matmul outer vdot vecdot",
    "symc.tensor.selection": (
        "argwhere choose compress extract flatnonzero nonzero one_hot select take "
        "take_along_axis to_one_hot"
    ),
    "symc.tensor.signals": "bartlett blackman convolve correlate hamming hanning kaiser sinc",
    "symc.tensor.softmaxes": "log_softmax logsoftmax logsumexp softmax",
    "symc.tensor.sorting.counting": "bincount histogram unique",
    "symc.tensor.sorting.nanquantiles": "nanmedian nanpercentile nanquantile",
    "symc.tensor.sorting.order": "argpartition argsort partition sort topk",
    "symc.tensor.sorting.quantiles": "median percentile quantile",
    "symc.tensor.sorting.search": "digitize searchsorted",
    "symc.tensor.sorting.sets": (
        "intersect1d isin lexsort setdiff1d setxor1d union1d unique_all unique_counts "
        "unique_inverse unique_values"
    ),
    "symc.tensor.special_functions": (
        "beta betaln digamma erf erfc erfcx erfinv gamma gammainc gammaincc gammaln i0 i1 j0 j1 "
        "trigamma"
    ),
    "symc.tensor.statistics": "average mean norm std var",
    "symc.tensor.sweep": "cummax cummin cumprod cumsum",
    "symc.derivatives.vectorize": "apply_along_axis apply_over_axes vectorize vmap",
    "symc.derivatives.grad": "Lop Rop grad hessian jacobian",  # Theano's names; needs all of `T`
}
for _module, _names in _LATE.items():
    _provide(_module, _names)

# What these enter into the tables of operators and methods under other names.
_provide("symc.tensor.assign", "inc set")
_provide("symc.tensor.complex_numbers", "magnitude")
_provide("symc.tensor.index", "getitem")
_provide("symc.tensor.parts", "bit_count frexp_exponent")
_provide("symc.tensor.numpy_calls", "numpy_function numpy_ufunc")
_provide("symc.tensor.special_functions", "tetragamma")


def __getattr__(name: str) -> _Any:
    """What is imported when it is first asked for."""
    if name in _MODULES:
        return _import_module(f"symc.tensor.{name}")
    if name == "__all__":
        return __dir__()
    module = _provider(name)
    if name in _HERE:
        found = _HERE[name]
    elif module in _LATE and name in _LATE[module].split():
        found = getattr(_import_module(module), name)
    else:
        from symc.graph.other_libraries import missing

        raise missing("T", __name__, name, __dir__)
    value = globals()[name] = _public(found, __name__)
    own = found.__name__ if isinstance(found, _FunctionType) else name
    if own not in _HERE and _provider(own) is None:  # it has another name where it is made
        value.__name__ = value.__qualname__ = name
    return value


def __dir__() -> list[str]:
    late = {name for names in _LATE.values() for name in names.split()}
    here = {
        name
        for name, value in globals().items()
        if not name.startswith("_") and not isinstance(value, _ModuleType)
    }
    return sorted({*here, *_HERE, *late, *_MODULES})
