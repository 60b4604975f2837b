"""The user's `T`: everything that makes or combines tensors."""

from symc.tensor.along import *
from symc.tensor.assign import *
from symc.tensor.build import *
from symc.tensor.constructors import *
from symc.tensor.diagonal import *
from symc.tensor.einsum import *
from symc.tensor.elementwise import cast_to as cast
from symc.tensor.index import *
from symc.tensor.lengths import *
from symc.tensor.logic import *
from symc.tensor.math import *
from symc.tensor.pad import *
from symc.tensor.products import *
from symc.tensor.reduce import *
from symc.tensor.reshape import *
from symc.tensor.select import *
from symc.tensor.shape import *
from symc.tensor.softmax import *
from symc.tensor.specify import *
from symc.tensor.statistics import *
from symc.tensor.sweep import *
from symc.tensor.views import *

__all__ = [
    "abs", "add", "all", "alloc", "amax", "amin", "any", "arange", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argwhere",
    "array_split", "as_tensor", "as_tensor_variable", "atleast_1d", "atleast_2d", "average",
    "batched_dot", "bcol", "bcols", "beta", "betaln", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bmatrices", "bmatrix", "broadcast_to", "brow", "brows", "bscalar",
    "bscalars", "btensor3", "btensor3s", "btensor4", "btensor4s", "btensor5", "btensor5s",
    "bvector", "bvectors", "cast", "cbrt", "ceil", "choose", "clip", "col", "cols", "compress",
    "concatenate", "constant", "copysign", "cos", "cosh", "count_nonzero", "cummax", "cummin",
    "cumprod", "cumsum", "dcol", "dcols", "deg2rad", "diag", "diagonal", "diff", "digamma",
    "dimshuffle", "div", "divmod", "dmatrices", "dmatrix", "dot", "drow", "drows", "dscalar",
    "dscalars", "dstack", "dtensor3", "dtensor3s", "dtensor4", "dtensor4s", "dtensor5",
    "dtensor5s", "dvector", "dvectors", "einsum", "elu", "empty", "empty_like", "eq", "erf",
    "erfc", "erfcx", "erfinv", "exp", "exp2", "expand_dims", "expm1", "extract", "eye", "fcol",
    "fcols", "fill", "flatnonzero", "flatten", "flip", "fliplr", "flipud", "floor", "floordiv",
    "fmatrices", "fmatrix", "fmax", "fmin", "fmod", "frow", "frows", "fscalar", "fscalars",
    "ftensor3", "ftensor3s", "ftensor4", "ftensor4s", "ftensor5", "ftensor5s", "full",
    "full_like", "fvector", "fvectors", "gamma", "gammainc", "gammaincc", "gammaln", "ge",
    "gelu", "gt", "hstack", "hypot", "i0", "i1", "icol", "icols", "identity", "identity_like",
    "imatrices", "imatrix", "inc_subtensor", "inner", "invert", "irow", "irows", "iscalar",
    "iscalars", "isclose", "isfinite", "isinf", "isnan", "itensor3", "itensor3s", "itensor4",
    "itensor4s", "itensor5", "itensor5s", "ivector", "ivectors", "j0", "j1", "kron", "lcol",
    "lcols", "le", "left_shift", "linspace", "lmatrices", "lmatrix", "log", "log10", "log1p",
    "log2", "log_sigmoid", "log_softmax", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logsoftmax", "logsumexp", "lrow", "lrows", "lscalar",
    "lscalars", "lt", "ltensor3", "ltensor3s", "ltensor4", "ltensor4s", "ltensor5", "ltensor5s",
    "lvector", "lvectors", "matmul", "matrices", "matrix", "max", "max_and_argmax", "maximum",
    "mean", "meshgrid", "min", "minimum", "mod", "moveaxis", "mul", "ne", "neg", "neq",
    "nextafter", "nonzero", "norm", "one_hot", "ones", "ones_like", "outer", "pad", "pow",
    "prod", "ptp", "rad2deg", "ravel", "reciprocal", "relu", "repeat", "reshape", "right_shift",
    "roll", "round", "row", "rows", "scalar", "scalars", "select", "selu", "set_subtensor",
    "shape_of", "shape_padleft", "shape_padright", "sigmoid", "sign", "silu", "sin", "sinh",
    "softmax", "softplus", "specify_shape", "split", "sqr", "sqrt", "squeeze", "stack", "std",
    "sub", "sum", "swapaxes", "switch", "take", "take_along_axis", "tan", "tanh", "tensor",
    "tensor3", "tensor3s", "tensor4", "tensor4s", "tensor5", "tensor5s", "tensordot", "tile",
    "to_one_hot", "trace", "transpose", "tri", "trigamma", "tril", "triu", "trunc", "var",
    "vdot", "vecdot", "vector", "vectors", "vstack", "wcol", "wcols", "where", "wmatrices",
    "wmatrix", "wrow", "wrows", "wscalar", "wscalars", "wtensor3", "wtensor3s", "wtensor4",
    "wtensor4s", "wtensor5", "wtensor5s", "wvector", "wvectors", "zeros", "zeros_like",
]  # fmt: skip
