"""OpenCL C: the table of the language that kernels are printed in, and their parameters read again.

The differences from C are here, in `base.clh`, which defines the names of C's integer
types, in `libm.clh` and in `team.clh`. Functions of numbers are the text of C, as
`load.in_opencl` has it. float16 is not among the types: `passes/expressions/bits.py` has made bits
of it.
"""

from __future__ import annotations

import re

from symc.codegen.record import replace
from symc.codegen.targets.base import DeviceWords, Lang
from symc.codegen.targets.c_language import FUNCTIONS as C_FUNCTIONS
from symc.codegen.targets.c_language import KEYWORDS as C_KEYWORDS
from symc.codegen.targets.c_language import C
from symc.codegen.targets.cuda.lang import CUDA
from symc.codegen.targets.cuda.lang import FUNCTIONS as LIBRARY_FUNCTIONS

KEYWORDS = (
    "__kernel kernel __global global __local local __constant constant __private private"
    " __generic generic half read_only write_only read_write uniform pipe event_t sampler_t"
    " image1d_t image2d_t image3d_t queue_t clk_event_t ndrange_t reserve_id_t complex imaginary"
    " ptrdiff_t intptr_t uintptr_t uchar ushort uint ulong quad vec_step symc_half"
)
MACROS = (
    "CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE MAXFLOAT HUGE_VAL HUGE_VALF M_E M_PI M_LN2 M_LN10"
    " INT_MAX INT_MIN LONG_MAX LONG_MIN UINT_MAX ULONG_MAX CHAR_BIT FLT_MAX FLT_MIN DBL_MAX DBL_MIN"
)
BUILT_IN = (  # functions that kernels call whatever a program computes
    "barrier get_global_id get_global_size get_group_id get_num_groups get_local_id get_local_size"
)
FUNCTIONS = (
    "abs_diff add_sat all any atom_add atom_and atom_max atom_min atom_or atom_xor atomic_add"
    " atomic_and atomic_max atomic_min atomic_or atomic_xor bitselect clamp clz cross degrees"
    " distance dot fract hadd isequal isfinite isinf isnan isnormal length lgamma_r mad mad24"
    " mad_hi max maxmag min minmag mix mul24 mul_hi nan normalize popcount pown powr prefetch"
    " printf radians rootn rotate select shuffle sign smoothstep step sub_sat upsample"
)
SCALARS = "char short int long float double half uchar ushort uint ulong"
VECTORS = tuple(f"{kind}{count}" for kind in SCALARS.split() for count in (2, 3, 4, 8, 16))

OPENCL = Lang(
    name="opencl",
    types={name: kind for name, kind in C.types.items() if name != "float16"},
    suffixes={**C.suffixes, "uint64": "ul"},
    infinity=CUDA.infinity,
    nan=CUDA.nan,
    kernel="__kernel void",
    folds=None,
    narrow=None,
    choices=None,
    folded_choices=None,
    restrict="restrict",
    local="",
    simd="",
    parallel="",
    unroll="#pragma unroll {count}",
    truth=None,
    choose=None,
    place=None,
    is_place=None,
    thread="",
    reserved=frozenset(
        [*C_KEYWORDS.split(), *KEYWORDS.split(), *MACROS.split(), *BUILT_IN.split(), *VECTORS]
    ),
    functions=frozenset([*C_FUNCTIONS.split(), *LIBRARY_FUNCTIONS.split(), *FUNCTIONS.split()]),
    device=DeviceWords(
        first={"grid": "get_global_id(0)", "team": "get_group_id(0)", "lane": "get_local_id(0)"},
        step={
            "grid": "get_global_size(0)", "team": "get_num_groups(0)", "lane": "get_local_size(0)",
        },
        pointer="__global ",
        room=", team_room",
    ),
)  # fmt: skip

SINGLE = replace(
    OPENCL,
    types={**OPENCL.types, "float64": "symc_twofold"},
    infinity={name: text.replace("(float)", "") for name, text in OPENCL.infinity.items()},
    nan={name: text.replace("(float)", "") for name, text in OPENCL.nan.items()},
)
"""The language of devices without double precision."""

PASSED = {"bool": "uint8_t"}
"""The types of values that a kernel is given, where they are not those of its variables."""

IN_GLOBAL = "_in_global"
"""The end of the name of a kernel whose teams have their memory in global memory."""

_KERNEL = re.compile(
    r"^__kernel (?:__attribute__\(\(.*\)\) )?void (\w+)\(\s*(/\* \w+ \*/)?([^)]*)\)", re.M
)
_BYTES = {
    "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4,
    "float": 4, "int64_t": 8, "uint64_t": 8, "double": 8,
}  # fmt: skip


def arguments(text: str) -> dict[str, str]:
    """The arguments of each kernel in a text, as the driver is told (`modules.c`).

    A kernel with the name of a record before its parameters is given one, in place of its fields.

    >>> arguments("__kernel void k(__global const float *restrict x, const int32_t n)")
    {'k': 'p4'}
    >>> arguments("__kernel void k(/* task */ __global const float *x, const float alpha)")
    {'k': '*p4'}
    """
    found = {
        kernel[1]: "".join(["*" if kernel[2] else "", *map(_argument, kernel[3].split(","))])
        for kernel in _KERNEL.finditer(text)
    }
    return {
        name: kinds.replace("s", "S") if name + IN_GLOBAL in found else kinds
        for name, kinds in found.items()
        if not name.endswith(IN_GLOBAL)
    }


def _argument(text: str) -> str:
    """One argument: p for a pointer, s for a team's memory, or the bytes of a value."""
    if "*" in text:
        return "s" if "__local" in text else "p"
    return str(_BYTES[text.split()[-2]])
