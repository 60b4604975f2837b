"""C as a table: the words that programs are printed with."""

from __future__ import annotations

from symc.codegen.targets.base import Lang

KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register restrict return short signed sizeof static struct switch typedef"
    " union unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic"
    " _Imaginary _Noreturn _Static_assert _Thread_local _Float16 asm typeof linux unix i386 bool"
    " true false nullptr int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t"
    " INFINITY NAN NULL"
)

FUNCTIONS = (
    "abort abs calloc div exit gamma getenv index j0 j1 jn labs ldiv log main memchr"
    " memcmp memcpy memset printf puts qsort rand realloc rindex scalb signbit significand"
    " strlen system time y0 y1 yn"
)

C = Lang(
    name="c",
    types={
        "bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
        "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t",
        "uint64": "uint64_t", "float16": "_Float16", "float32": "float", "float64": "double",
        "complex64": "float", "complex128": "double",  # arrays of components
        "bfloat16": "uint16_t",  # its bits
    },
    suffixes={
        "int8": "", "int16": "", "int32": "", "int64": "", "uint8": "", "uint16": "",
        "uint32": "u", "uint64": "ull", "float16": "f", "float32": "f", "float64": "",
    },
    infinity={
        "float16": "__builtin_inff()", "float32": "__builtin_inff()",
        "float64": "__builtin_inf()",
    },
    nan={
        "float16": '__builtin_nanf("")', "float32": '__builtin_nanf("")',
        "float64": '__builtin_nan("")',
    },
    # gcc 12 takes some kernels that store bytes far apart for functions without effect, and drops
    # their calls, unless it is told to look at none ("noipa").
    kernel="static __attribute__((noinline, noipa)) void",
    folds="SYMC_FOLDS",
    narrow="SYMC_NARROW",
    choices="SYMC_CHOICES",
    folded_choices="SYMC_FOLDED_CHOICES",
    restrict="restrict",
    local=" __attribute__((aligned(64)))",
    simd="#pragma omp {simd}{clauses}",
    parallel="#pragma omp parallel for{simd} schedule({schedule}) num_threads(threads)"
    " if(parallel: {test})",
    unroll="#pragma GCC unroll {count}",
    truth="symc_truth",
    choose="symc_choose",
    place="symc_place",
    is_place="symc_is_place",
    thread="symc_thread",
    reserved=frozenset(KEYWORDS.split()),
    functions=frozenset(FUNCTIONS.split()),
)  # fmt: skip
