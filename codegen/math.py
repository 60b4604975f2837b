"""The functions that `ir.Call` may name: C symbols, Python meanings and costs.

A row is everything there is to know about a function. Its C symbols are of the C library (`libm.h`
declares them) or defined in `codegen/runtime`; `function` also names the symbols of those binary
operators that C has no operator for. The Python meanings are in `meaning/`. Functions whose C
stands beside their op add their rows by `runtime/defined.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen import bfloat16, float16
from symc.codegen.dtypes import FLOAT32, FLOAT64, INT64, UINT16, UINT32, UINT64, DType
from symc.codegen.ir import Const, Expr
from symc.codegen.meaning import functions as meaning
from symc.codegen.meaning import special
from symc.codegen.record import record

Number = bool | int | float


@record
class MathFunction:
    """One function. float32 without a symbol of its own is computed in float64 and rounded."""

    name: str
    arity: int
    c64: str
    c32: str | None
    cost: int
    """In simple operations such as an addition."""
    vectorises: bool
    """Whether loops over it vectorise: glibc's libmvec has it, or its C text has no branches."""
    python: Callable[..., Number]
    integer: str | None = None
    """The symbol for integers without its dtype, if there is one."""
    is_predicate: bool = False
    """Whether the result is bool. Otherwise it has the dtype of the arguments."""
    types: tuple[DType, ...] = ()
    """The dtypes of the arguments and of the result, where the function has but one form."""


def _python(name: str) -> Callable[..., Number]:
    found: Callable[..., Number] = getattr(meaning, name, None) or getattr(special, name)
    return found


def _libm(name: str, c: str, cost: int, *, arity: int = 1, vectorises: bool = True) -> MathFunction:
    return MathFunction(name, arity, c, c + "f", cost, vectorises, _python(name))


def _own(
    name: str, cost: int, *, arity: int = 1, float32: bool = False, vectorises: bool = False
) -> MathFunction:
    symbol = f"symc_{name}_f64"
    symbol32 = f"symc_{name}_f32" if float32 else None
    return MathFunction(name, arity, symbol, symbol32, cost, vectorises, _python(name))


def _integer(name: str, cost: int, *, arity: int = 1, vectorises: bool = False) -> MathFunction:
    """A function of 64-bit integers alone."""
    symbol, python = f"symc_{name}", _python(name)
    return MathFunction(
        name, arity, f"{symbol}_i64", None, cost, vectorises, python, integer=symbol
    )


def _place(name: str) -> MathFunction:
    """A choice of indexes by a jump."""
    types = (INT64, INT64, INT64, INT64)
    return MathFunction(name, 3, f"symc_{name}", None, 1, False, _python(name), types=types)


def _predicate(name: str) -> MathFunction:
    builtin, python = f"__builtin_{name}", _python(name)
    return MathFunction(name, 1, builtin, builtin, 1, True, python, is_predicate=True)


def _conversion(name: str, symbol: str, source: DType, target: DType) -> MathFunction:
    """One way between a float and the bits of bfloat16 or float16."""
    python: Callable[..., Number] = getattr(bfloat16, name, None) or getattr(
        float16, name.removeprefix("float64_")
    )
    return MathFunction(name, 1, symbol, None, 2, True, python, types=(source, target))


def _random(
    name: str, cost: int, *types: DType, symbol: str | None = None, vectorises: bool = False
) -> MathFunction:
    """A function of a key, an index and the first of `types`; the last is the result's."""

    def python(*args: int) -> Number:
        from symc.codegen.meaning import philox  # late: only interpreters need it

        found: Callable[..., Number] = getattr(philox, name)
        return found(*args)

    types = (UINT64, UINT64, INT64, *types)
    symbol = f"symc_{symbol or name}_{short(types[-1])}"
    return MathFunction(name, len(types) - 1, symbol, None, cost, vectorises, python, types=types)


def short(dtype: DType) -> str:
    """A dtype as it ends a symbol: ``f64``, ``i32``, ``u8``, ``b1``."""
    return f"{dtype.kind[0]}{dtype.bits}"


_ROWS = (
    # powers, exponentials, logarithms
    _libm("exp", "exp", 12),
    MathFunction("exp_nonpositive", 1, "exp", "symc_exp_nonpositive_f32", 10, True, meaning.exp),
    _libm("exp2", "exp2", 12),
    _libm("expm1", "expm1", 16),
    _libm("log", "log", 12),
    _libm("log2", "log2", 12),
    _libm("log10", "log10", 12),
    _libm("log1p", "log1p", 16),
    _own("logaddexp", 32, arity=2, float32=True, vectorises=True),
    _libm("sqrt", "sqrt", 5),
    _libm("cbrt", "cbrt", 20),
    _own("hypot", 10, arity=2, float32=True, vectorises=True),
    MathFunction("pow", 2, "pow", "powf", 30, True, meaning.pow, integer="symc_ipow"),
    # trigonometric and hyperbolic
    _libm("sin", "sin", 16),
    _libm("cos", "cos", 16),
    _libm("tan", "tan", 20),
    _libm("arcsin", "asin", 20),
    _libm("arccos", "acos", 20),
    _libm("arctan", "atan", 20),
    _libm("arctan2", "atan2", 25, arity=2),
    _libm("sinh", "sinh", 20),
    _libm("cosh", "cosh", 20),
    _libm("tanh", "tanh", 20),
    _libm("arcsinh", "asinh", 25),
    _libm("arccosh", "acosh", 25),
    _libm("arctanh", "atanh", 25),
    # of neural networks
    _own("sigmoid", 18, float32=True, vectorises=True),
    _own("softplus", 30, float32=True, vectorises=True),
    _own("log_sigmoid", 30, float32=True, vectorises=True),
    # special
    _libm("erf", "erf", 20),
    MathFunction("erfc", 1, "erfc", "symc_erfc_f32", 25, True, meaning.erfc),
    _own("erfinv", 40, float32=True, vectorises=True),
    _own("erfcx", 40, vectorises=True),
    _own("gamma", 50),
    _own("gammaln", 50),
    _own("digamma", 40),
    _own("trigamma", 40),
    _own("tetragamma", 40),
    _own("gammainc", 200, arity=2),
    _own("gammaincc", 200, arity=2),
    _own("gammainc_da", 300, arity=2),
    _own("beta", 120, arity=2),
    _own("betaln", 120, arity=2),
    _own("j0", 60),
    _own("j1", 60),
    _own("i0", 30, vectorises=True),
    _own("i1", 30, vectorises=True),
    # arithmetic
    MathFunction(
        "apart",
        1,
        "symc_apart_f64",
        "symc_apart_f32",
        0,
        False,
        _python("apart"),
        integer="symc_apart",
    ),
    _place("below_or"),
    _place("unless"),
    _own("fmod", 20, arity=2, float32=True),
    _own("fmod_power", 6, arity=2, float32=True, vectorises=True),
    _own("mod_power", 8, arity=2, float32=True, vectorises=True),
    _own("share", 4, arity=3, float32=True, vectorises=True),
    _own("fmax", 2, arity=2, float32=True, vectorises=True),
    _own("fmin", 2, arity=2, float32=True, vectorises=True),
    _libm("copysign", "copysign", 1, arity=2),
    _own("nextafter", 8, arity=2, float32=True, vectorises=True),
    _libm("floor", "floor", 1),
    _libm("ceil", "ceil", 1),
    _libm("trunc", "trunc", 1),
    _libm("round", "rint", 1),
    MathFunction("abs", 1, "fabs", "fabsf", 1, True, meaning.abs, integer="symc_abs"),
    MathFunction(
        "sign", 1, "symc_sign_f64", "symc_sign_f32", 3, True, meaning.sign, integer="symc_sign"
    ),
    _own("ldexp", 12, arity=2, vectorises=True),
    _own("frexp_exponent", 6, float32=True, vectorises=True),
    _own("frexp_mantissa", 5, float32=True, vectorises=True),
    _integer("gcd", 100, arity=2),
    _integer("lcm", 110, arity=2),
    _integer("bit_count", 8, vectorises=True),
    _predicate("isnan"),
    _predicate("isinf"),
    _predicate("isfinite"),
    # the bits of floats that are only stored
    _conversion("from_bfloat16", "symc_bf16_to_f32", UINT16, FLOAT32),
    _conversion("to_bfloat16", "symc_f32_to_bf16", FLOAT32, UINT16),
    _conversion("from_float16", "symc_f16_to_f32", UINT16, FLOAT32),
    _conversion("to_float16", "symc_f32_to_f16", FLOAT32, UINT16),
    _conversion("float64_to_float16", "symc_f64_to_f16", FLOAT64, UINT16),
    # random numbers
    _random("random_key", 40, UINT64, vectorises=True),
    _random("random_bits", 40, UINT64, vectorises=True),
    _random("random_word", 40, UINT32, symbol="random_bits", vectorises=True),
    _random("random_uniform", 45, FLOAT64, vectorises=True),
    _random("random_uniform32", 45, FLOAT32, symbol="random_uniform", vectorises=True),
    _random("random_normal", 80, FLOAT64, vectorises=True),
    _random("random_normal32", 80, FLOAT32, symbol="random_normal", vectorises=True),
    _random("random_below", 60, UINT64, UINT64),
    _random("random_gamma", 250, FLOAT64, FLOAT64),
    _random("random_loggamma", 250, FLOAT64, FLOAT64),
    _random("random_poisson", 200, FLOAT64, INT64),
    _random("random_binomial", 250, INT64, FLOAT64, INT64),
    _random("random_truncated_normal", 150, FLOAT64, FLOAT64, FLOAT64),
)

FUNCTIONS: dict[str, MathFunction] = {row.name: row for row in _ROWS}

OPERATORS = {
    "floordiv": "symc_floordiv", "mod": "symc_mod", "max": "symc_maximum", "min": "symc_minimum",
    "shl": "symc_shl", "shr": "symc_shr",
}  # fmt: skip
"""Binary operators that are functions in C."""

OPERATOR_COSTS = {"div": 4, "floordiv": 12, "mod": 12, "max": 2, "min": 2}
"""The costs of binary operators, where they are not 1."""


def function(name: str, dtype: DType) -> str:
    """The C symbol of a function, or of an operator that needs one, for values of `dtype`.

    For a predicate `dtype` does not matter. See `widens` for float32.
    """
    operator = OPERATORS.get(name)
    if operator is not None:
        return f"{operator}_{short(dtype)}"
    row = FUNCTIONS[name]
    if row.types:
        return row.c64
    if dtype.is_integer:
        if row.integer is None:
            raise LookupError(f"{name} has no meaning for {dtype}")
        return f"{row.integer}_{short(dtype)}"
    return row.c32 if dtype is FLOAT32 and row.c32 is not None else row.c64


def function_of_a_step(name: str, dtype: DType, right: Expr) -> str:
    """The C symbol of an operator for one element at a time, in a loop that no vectors compute.

    `right` is its second argument: divisions by a constant are other functions.
    """
    is_divisor = isinstance(right, Const) and right.value > 0 and dtype is INT64
    if (name in ("min", "max") and dtype.is_float) or (name in ("floordiv", "mod") and is_divisor):
        return f"{OPERATORS[name]}_step_{short(dtype)}"
    return function(name, dtype)


def widens(name: str, dtype: DType) -> bool:
    """Whether the arguments must be cast to float64 before the call, and the result back."""
    row = FUNCTIONS.get(name)
    return row is not None and dtype is FLOAT32 and row.c32 is None and not row.types
