"""The table of functions: symbols, and Python meanings against NumPy and known values."""

import math

import numpy as np
import pytest

from symc.codegen.dtypes import FLOAT32, FLOAT64, INT32, UINT8
from symc.codegen.math import FUNCTIONS, OPERATORS, function, widens
from symc.codegen.runtime.load import symbols

NUMPY = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "sqrt",
    "cbrt", "hypot", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "fmod", "fmax", "fmin", "copysign", "nextafter",
    "floor", "ceil", "trunc", "sign", "isnan", "isinf", "isfinite", "abs",
]  # fmt: skip
POINTS = [
    0.0, -0.0, 0.3, -0.3, 1.0, -1.0, 2.5, -2.5, 0.5, 700.0, 800.0, -800.0, 1e300, -1e300,
    math.inf, -math.inf, math.nan,
]  # fmt: skip


@pytest.mark.parametrize("name", [*NUMPY, "pow", "round"])
def test_meanings_are_numpys(name: str) -> None:
    row = FUNCTIONS[name]
    ufunc = {"pow": np.power, "round": np.rint}.get(name) or getattr(np, name)
    grids = [POINTS] if row.arity == 1 else [[a for a in POINTS for _ in POINTS], POINTS * len(POINTS)]
    with np.errstate(all="ignore"):
        wanted = ufunc(*map(np.array, grids)).tolist()
    for args, expected in zip(zip(*grids, strict=True), wanted, strict=True):
        got = row.python(*args)
        assert repr(got) == repr(expected) or got == pytest.approx(expected, rel=1e-13, nan_ok=True), args


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [  # from tables and mpmath
        ("sigmoid", (-800.0,), 0.0),
        ("sigmoid", (2.0,), 0.8807970779778823),
        ("softplus", (800.0,), 800.0),
        ("log_sigmoid", (-2.0,), -2.1269280110429727),
        ("erfinv", (0.5,), 0.4769362762044699),
        ("erfinv", (-0.999999,), -3.4589107372795),
        ("erfinv", (1.0,), math.inf),
        ("erfcx", (3.0,), 0.17900115118138995),
        ("erfcx", (30.0,), 0.018795888861416751),
        ("gamma", (5.0,), 24.0),
        ("gamma", (-1.0,), math.nan),
        ("gammaln", (0.0,), math.inf),
        ("digamma", (1.0,), -0.5772156649015329),
        ("digamma", (-0.5,), 0.03648997397857652),
        ("trigamma", (1.0,), math.pi**2 / 6),
        ("trigamma", (-0.5,), 8.934802200544679),
        ("gammainc", (2.5, 1.5), 0.30001416412137250),
        ("gammaincc", (2.5, 8.0), 0.0068440739224204309),
        ("beta", (2.5, 3.5), 0.036815538909255389),
        ("beta", (-1.5, 0.25), 2.1852015064107914),
        ("betaln", (300.0, 500.0), -529.7999283346196),
        ("j0", (1.0,), 0.76519768655796655),
        ("j0", (300.0,), -0.033298554876305668),
        ("j1", (-2.5,), -0.49709410246427404),
        ("i0", (2.0,), 2.2795853023360673),
        ("i1", (-2.0,), -1.5906368546373291),
        ("erf", (0.5,), 0.5204998778130465),
        ("erfc", (5.0,), 1.5374597944280349e-12),
    ],
)
def test_special_values(name: str, args: tuple[float, ...], value: float) -> None:
    assert FUNCTIONS[name].python(*args) == pytest.approx(value, rel=1e-12, nan_ok=True)


def test_every_symbol_is_defined() -> None:
    known = symbols()
    for row in FUNCTIONS.values():
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
