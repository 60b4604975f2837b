"""NumPy's functions on tensors: ``np.exp(x)`` is ``T.exp(x)``, ``np.linalg.inv(x)`` `T.linalg`'s.

So code written for arrays can be called with tensors. A function of NumPy stands for that of
the same name in `T` if it is listed here: then both mean the same, which the tests compare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symc import tensor as T
from symc.graph.node import OPERATORS

__all__: list[str] = []
_ALSO_ENTERED = ["numpy_function", "numpy_ufunc"]

FUNCTIONS = frozenset({
    "all", "allclose", "amax", "amin", "angle", "any", "append", "apply_along_axis",
    "apply_over_axes", "argmax", "argmin", "argpartition", "argsort", "argwhere", "around",
    "array_equal", "array_equiv", "array_split", "atleast_1d", "atleast_2d", "atleast_3d",
    "average", "bincount", "block", "broadcast_arrays", "broadcast_to", "choose", "clip",
    "column_stack", "compress", "concatenate", "convolve", "copy", "corrcoef", "correlate",
    "count_nonzero", "cov", "cross", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum",
    "delete", "diag", "diag_indices_from", "diagflat", "diagonal", "diff", "digitize", "dot",
    "dsplit", "dstack", "ediff1d", "einsum", "empty_like", "expand_dims", "extract", "fix",
    "flatnonzero", "flip", "fliplr", "flipud", "full_like", "gradient", "histogram", "histogram2d",
    "histogram_bin_edges", "histogramdd", "hsplit", "hstack", "i0", "imag", "inner", "insert",
    "interp", "intersect1d", "isclose", "iscomplex", "iscomplexobj", "isin", "isneginf", "isposinf",
    "isreal", "isrealobj", "ix_", "kron", "lexsort", "matrix_transpose", "max", "mean", "median",
    "meshgrid", "min", "moveaxis", "nan_to_num", "nanargmax", "nanargmin", "nancumprod",
    "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod",
    "nanquantile", "nanstd", "nansum", "nanvar", "ndim", "nonzero", "ones_like", "outer", "pad",
    "partition", "percentile", "piecewise", "polyadd", "polyder", "polyfit", "polyint", "polymul",
    "polysub", "polyval", "prod", "ptp", "quantile", "ravel", "ravel_multi_index", "real", "repeat",
    "reshape", "resize", "roll", "rot90", "round", "searchsorted", "select", "setdiff1d",
    "setxor1d", "shape", "sinc", "size", "sort", "squeeze", "stack", "std", "sum", "swapaxes",
    "take", "take_along_axis", "tensordot", "tile", "trace", "transpose", "trapezoid", "tril",
    "tril_indices_from", "triu", "triu_indices_from", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unravel_index", "unstack", "unwrap",
    "vander", "var", "vdot", "vsplit", "vstack", "where", "zeros_like",
})  # fmt: skip

LINALG = frozenset({
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
})  # fmt: skip

FFT = frozenset({
    "fft", "fft2", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn",
})  # fmt: skip

# Not `equal`: `array == x` must not differ in kind from `x == 0`.
UFUNCS = frozenset({
    "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "conjugate",
    "copysign", "cos", "cosh", "deg2rad", "degrees", "divide", "divmod", "exp", "exp2", "expm1",
    "fabs", "float_power", "floor", "floor_divide", "fmax", "fmin", "frexp", "gcd", "greater",
    "greater_equal", "heaviside", "hypot", "invert", "isfinite", "isinf", "isnan", "lcm", "ldexp",
    "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
    "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "maximum", "minimum",
    "modf", "multiply", "negative", "nextafter", "positive", "power", "rad2deg", "radians",
    "remainder", "right_shift", "rint", "sign", "signbit", "sin", "sinh", "spacing", "sqrt",
    "square", "subtract", "tan", "tanh", "trunc", "vecdot",
})  # fmt: skip


def numpy_ufunc(ufunc: Any, method: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """NumPy's ``__array_ufunc__``: ``np.exp(x)`` and ``array + x`` of a tensor."""
    name: str = ufunc.__name__
    if name in ("equal", "not_equal"):
        raise TypeError(
            "an array and a tensor are compared by T.eq and T.ne; == and != ask whether two "
            "tensors are the same expression"
        )
    if "out" in options:
        raise TypeError(f"np.{name}: an array cannot take what is symbolic; write y = y + x")
    if method != "__call__" or options or name not in UFUNCS or getattr(np, name) is not ufunc:
        asked = f"{name}.{method}" if method != "__call__" else name
        raise TypeError(f"np.{asked}{_with(options)} does not take tensors{_here(name)}")
    return getattr(T, name)(*args)


def numpy_function(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """NumPy's ``__array_function__``: its other functions, such as ``np.sum(x)``."""
    homes = {"numpy": FUNCTIONS, "numpy.linalg": LINALG, "numpy.fft": FFT}
    module: str = function.__module__
    name: str = function.__name__
    if name in homes.get(module, ()):
        home: Any = T if module == "numpy" else getattr(T, module.rpartition(".")[2])
        return getattr(home, name)(*args, **options)
    raise TypeError(f"{module}.{name} does not take tensors{_here(name)}")


def _with(options: Mapping[str, Any]) -> str:
    return f" with {', '.join(options)}=" if options else ""


def _here(name: str) -> str:
    return f"; see T.{name}" if hasattr(T, name) else ""


OPERATORS["numpy_ufunc"], OPERATORS["numpy_function"] = numpy_ufunc, numpy_function
