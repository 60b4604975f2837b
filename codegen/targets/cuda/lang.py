"""CUDA C++: the table of the language that kernels are printed in.

The differences from C are here, in `base.cuh`, which defines the names of C's integer types
and float16, and in `runtime/cuda/team.cuh`. Functions of numbers are the same text as in C.
"""

from __future__ import annotations

from symc.codegen.targets.base import DeviceWords, Lang
from symc.codegen.targets.c_language import FUNCTIONS as C_FUNCTIONS
from symc.codegen.targets.c_language import KEYWORDS as C_KEYWORDS

KEYWORDS = (
    "alignas alignof and and_eq asm bitand bitor catch char16_t char32_t class compl const_cast"
    " constexpr decltype delete dynamic_cast explicit export friend mutable namespace new noexcept"
    " not not_eq operator or or_eq private protected public reinterpret_cast static_assert"
    " static_cast template this thread_local throw try typeid typename using virtual wchar_t xor"
    " xor_eq symc_float16"
)
BUILT_IN = "threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 min max abs"
FUNCTIONS = (  # in double; those in float end in f
    "assert clock64 cospi cyl_bessel_i0 cyl_bessel_i1 erfcinv erfcx erfinv fdim frexp ilogb ldexp"
    " lgamma llabs llmax llmin llrint llround logb lrint lround modf nearbyint norm norm3d norm4d"
    " normcdf normcdfinv rcbrt remquo rhypot rnorm rnorm3d rnorm4d rsqrt scalbln scalbn sincos"
    " sincospi sinpi ullmax ullmin umax umin"
)
VECTORS = tuple(
    f"{unsigned}{kind}{count}"
    for kind in ("char", "short", "int", "long", "longlong", "float", "double")
    for unsigned in ("", "u")
    for count in range(1, 5)
)

CUDA = Lang(
    name="cuda",
    types={
        "bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
        "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t",
        "uint64": "uint64_t", "float16": "symc_float16", "float32": "float", "float64": "double",
        "complex64": "float", "complex128": "double",  # arrays of components
        "bfloat16": "uint16_t",  # its bits
    },
    suffixes={
        "int8": "", "int16": "", "int32": "", "int64": "", "uint8": "", "uint16": "",
        "uint32": "u", "uint64": "ull", "float16": "f", "float32": "f", "float64": "",
    },
    infinity={
        "float16": "(float)INFINITY", "float32": "(float)INFINITY", "float64": "INFINITY",
    },
    nan={"float16": "(float)NAN", "float32": "(float)NAN", "float64": "NAN"},
    kernel='extern "C" __global__ void',
    folds=None,
    narrow=None,
    choices=None,
    folded_choices=None,
    restrict="__restrict__",
    local="",
    simd="",
    parallel="",
    unroll="#pragma unroll {count}",
    truth=None,
    choose=None,
    place=None,
    is_place=None,
    thread="",
    reserved=frozenset([*C_KEYWORDS.split(), *KEYWORDS.split(), *BUILT_IN.split(), *VECTORS]),
    functions=frozenset(
        [*C_FUNCTIONS.split(), *FUNCTIONS.split(), *(f"{name}f" for name in FUNCTIONS.split())]
    ),
    device=DeviceWords(
        first={
            "grid": "{cast}blockIdx.x * blockDim.x + threadIdx.x",
            "team": "{cast}blockIdx.x * blockDim.y + threadIdx.y",
            "lane": "threadIdx.x",
        },
        step={
            "grid": "{cast}gridDim.x * blockDim.x",
            "team": "{cast}gridDim.x * blockDim.y",
            "lane": "blockDim.x",
        },
        pointer="",
        room="",
    ),
)  # fmt: skip
