"""The table of functions: symbols, and Python meanings against NumPy and known values."""

import math

import numpy as np
import pytest

from symc.codegen.dtypes import FLOAT32, FLOAT64, INT32, UINT8
from symc.codegen.foreign import FOREIGN
from symc.codegen.math import FUNCTIONS, OPERATORS, function, widens
from symc.codegen.runtime.load import symbols
from symc.graph.registry import import_all
from tests.near import is_near

import_all()  # ops whose C stands beside them

NUMPY = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "sqrt",
    "cbrt", "hypot", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "fmod", "fmax", "fmin", "copysign", "nextafter",
    "floor", "ceil", "trunc", "sign", "abs", "isnan", "isinf", "isfinite",
]  # fmt: skip
POINTS = [
    0.0, -0.0, 0.3, -0.3, 1.0, -1.0, 2.5, -2.5, 0.5, 700.0, 800.0, -800.0, 1e300, -1e300,
    math.inf, -math.inf, math.nan,
]  # fmt: skip


@pytest.mark.parametrize("name", [*NUMPY, "pow", "round"])
def test_meanings_are_numpys(name: str) -> None:
    row = FUNCTIONS[name]
    ufunc = {"pow": np.power, "round": np.rint}.get(name) or getattr(np, name)
    grids = (
        [POINTS] if row.arity == 1 else [[a for a in POINTS for _ in POINTS], POINTS * len(POINTS)]
    )
    with np.errstate(all="ignore"):
        wanted = ufunc(*map(np.array, grids)).tolist()
    for args, expected in zip(zip(*grids, strict=True), wanted, strict=True):
        zero = 0.0 if name in ("fmax", "fmin") else -0.0  # which zero is larger is not defined
        assert is_near(row.python(*args) + zero, expected + zero, 1e-13), args


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [  # the limits by definition, the others by mpmath 1.3 with 40 digits
        ("sigmoid", (-800.0,), 0.0),
        ("softplus", (800.0,), 800.0),
        ("erfinv", (1.0,), math.inf),
        ("gamma", (5.0,), 24.0),
        ("gamma", (-1.0,), math.nan),
        ("gammaln", (0.0,), math.inf),
        ("sigmoid", (2.0,), 0.8807970779778824),
        ("log_sigmoid", (-2.0,), -2.1269280110429727),
        ("erfinv", (0.5,), 0.4769362762044699),
        ("erfinv", (-0.999999,), -3.458910737275499),
        ("erfcx", (3.0,), 0.17900115118138996),
        ("erfcx", (30.0,), 0.01879588886141675),
        ("digamma", (1.0,), -0.5772156649015329),
        ("digamma", (-0.5,), 0.03648997397857652),
        ("trigamma", (1.0,), 1.6449340668482264),
        ("trigamma", (-0.5,), 8.934802200544679),
        ("tetragamma", (1.0,), -2.404113806319189),
        ("tetragamma", (-0.5,), -0.8287966442343199),
        ("gammainc_da", (2.0, 3.0), -0.19742541957920265),
        ("gammainc_da", (2.0, 1.0), -0.2761960457028347),
        ("gammainc", (2.5, 1.5), 0.3000141641213725),
        ("gammaincc", (2.5, 8.0), 0.006844073922420431),
        ("gammaincc", (1e18, 1e18), 0.49999999986701926),
        ("gammainc", (1e18, 1e18 - 1e9), 0.15865525393145705),
        ("gammainc_da", (1e18, 1e18), -3.9894228040143267e-10),
        ("gammainc", (1e300, 1.0), 0.0),
        ("gammaincc", (1e6, 1e300), 0.0),
        ("beta", (2.5, 3.5), 0.03681553890925539),
        ("beta", (-1.5, 0.25), 2.1850479619101),
        ("betaln", (300.0, 500.0), -530.9482011382281),
        ("j0", (1.0,), 0.7651976865579666),
        ("j0", (300.0,), -0.03329855487630567),
        ("j1", (-2.5,), -0.49709410246427405),
        ("i0", (2.0,), 2.2795853023360673),
        ("i1", (-2.0,), -1.590636854637329),
        ("ldexp", (3.0, -1080.0), 3 * 2.0**-1074 / 64),
        ("ldexp", (-1.0, 5000.0), -math.inf),
        ("frexp_exponent", (8.0,), 4.0),
        ("frexp_exponent", (5e-324,), -1073.0),
        ("frexp_exponent", (math.inf,), 0.0),
        ("gcd", (-12, 18), 6),
        ("lcm", (-4, 6), 12),
        ("bit_count", (-7,), 3),
        ("erf", (0.5,), 0.5204998778130465),
        ("erfc", (5.0,), 1.537459794428035e-12),
    ],
)
def test_special_values(name: str, args: tuple[float, ...], value: float) -> None:
    assert is_near(FUNCTIONS[name].python(*args), value, 1e-12)


def test_log_sigmoid_of_large_numbers_is_a_negative_zero() -> None:
    """As C and NumPy have it; the interpreter's zero was positive."""
    assert math.copysign(1.0, FUNCTIONS["log_sigmoid"].python(65504.0)) == -1.0


def test_every_symbol_is_defined() -> None:
    known = symbols()
    for row in FUNCTIONS.values():
        if row.name in FOREIGN:
            continue  # a user's
        found = [row.c64, row.c32, row.integer and f"{row.integer}_i64"]
        for symbol in filter(None, found):
            assert symbol in known or symbol.startswith("__builtin_"), row.name


def test_operators_have_symbols_for_every_integer() -> None:
    known = symbols()
    for op in OPERATORS:
        for kind in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
            assert f"{OPERATORS[op]}_{kind}" in known


def test_symbols_by_dtype() -> None:
    assert function("exp", FLOAT32) == "expf"
    assert function("abs", INT32) == "symc_abs_i32"
    assert function("pow", UINT8) == "symc_ipow_u8"
    assert function("max", FLOAT64) == "symc_maximum_f64"
    assert function("gamma", FLOAT32) == "symc_gamma_f64"
    assert widens("gamma", FLOAT32)
    assert not widens("gamma", FLOAT64)
    assert not widens("exp", FLOAT32)
    assert not widens("mod", FLOAT32)
    with pytest.raises(LookupError, match="exp has no meaning for int32"):
        function("exp", INT32)
