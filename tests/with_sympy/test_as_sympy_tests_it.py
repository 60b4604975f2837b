"""SymPy's own tests of `lambdify`, with symc's in its place.

They are those of the installed SymPy. Which of them fail is listed here, each with the reason; the
page about SymPy in the documentation says the same in general.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import CodeType

import pytest
import sympy
from sympy.testing.pytest import Skipped
from sympy.utilities.tests import test_lambdify as theirs

from symc import config
from symc.sympy import lambdify

pytestmark = pytest.mark.skipif(sympy.__version__ != "1.14.0", reason="the lists are of SymPy 1.14")

OTHER_NUMBERS = "asks for SymPy's or mpmath's numbers, which are not those of arrays"
SYMBOLS = "expects an expression of symbols as the result"
PRINTERS = "gives a printer, or expects Python text"
COMPLEX = "needs Bessel functions, Ei, Si and Ci of complex numbers"

FAIL = {
    "test_sympy_lambda": OTHER_NUMBERS,
    "test_mpmath_lambda": OTHER_NUMBERS,
    "test_number_precision": OTHER_NUMBERS,
    "test_mpmath_precision": OTHER_NUMBERS,
    "test_matrix": OTHER_NUMBERS,
    "test_issue9474": OTHER_NUMBERS,
    "test_issue_12173": OTHER_NUMBERS,
    "test_sinc_mpmath": OTHER_NUMBERS,
    "test_issue_14941": OTHER_NUMBERS,
    "test_lambdify_Derivative_zeta": OTHER_NUMBERS,
    "test_lambdify_docstring_size_limit_simple_symbol": OTHER_NUMBERS,
    "test_lambdify_docstring_size_limit_nested_expr": OTHER_NUMBERS,
    "test_lambdify_docstring_size_limit_matrix": OTHER_NUMBERS,
    "test_sym_single_arg": SYMBOLS,
    "test_sym_list_args": SYMBOLS,
    "test_sym_integral": SYMBOLS,
    "test_namespace_order": SYMBOLS,
    "test_dummification": SYMBOLS,
    "test_issue_15827": SYMBOLS,
    "test_numpy_matrix": PRINTERS,
    "test_special_printers": PRINTERS,
    "test_lambdify_Derivative_custom_printer": PRINTERS,
    "test_lambdify_linecache": PRINTERS,
    "test_scipy_fns": COMPLEX,
    "test_fresnel_integrals_scipy": "needs erf of complex numbers",
    "test_issue_17898": "needs Lambert's function with complex results",
    "test_vector_discontinuous": "expects ZeroDivisionError; 1/0 is inf, as in NumPy",
    "test_double_integral": "has no closed form, which symc asks SymPy for",
}
"""Tests of SymPy 1.14 that fail, and why."""

FAIL_COMPILED = {
    **FAIL,
    "test_cmath_complex_identities": "wants two formulas to be equal to the last bit",
}
"""Those that fail where the expression is compiled."""

MODES = ["python", pytest.param("default", marks=pytest.mark.slow)]


def _names(code: CodeType) -> set[str]:
    """The names in a function and in those inside it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names, inner))


TESTS = {
    name: test
    for name, test in vars(theirs).items()
    if name.startswith("test_")
    and "lambdify" in _names(getattr(test, "__wrapped__", test).__code__)
}
"""The tests that call `lambdify`."""


OTHERS = (
    "numba",
    "jax",
    "cupy",
    "tensorflow",
    "torch",
)  # without them their tests skip


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Symc's function where their tests look for SymPy's; other compilers are not asked."""
    monkeypatch.setattr(theirs, "lambdify", lambdify)
    for other in OTHERS:
        monkeypatch.setattr(theirs, other, None, raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("mode", MODES)
def test_at_least_95_of_sympys_tests_pass(mode: str) -> None:
    """Those for libraries that are not installed skip themselves."""
    expected = FAIL if mode == "python" else FAIL_COMPILED
    passed: list[str] = []
    for name in sorted(TESTS.keys() - expected.keys()):
        with config.set(mode=mode):
            try:
                TESTS[name]()
            except Skipped:
                continue
        passed.append(name)
    assert len(passed) >= 95


@pytest.mark.parametrize("name", sorted(FAIL.keys() - {"test_double_integral"}))
def test_of_sympy_that_fails(name: str) -> None:
    """A test that passes now should leave the list."""
    with config.set(mode="python"), pytest.raises(BaseException):  # noqa: B017, PT011 -- any
        TESTS[name]()
