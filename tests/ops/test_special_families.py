"""Special functions of several arguments against mpmath, at their ends, and by their derivatives.

Largest errors seen in the C on some 100 random points each, in units of the last place: zeta,
expi, exp1, lambertw 5; kv, iv 10; hyp2f1 35; poch, binom 60; betainc 60; the inverses 52. jv and yv
between a small argument and a large one, as far as the size of the oscillation: 2,000.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import GradientError
from symc.graph.interpreter import evaluate
from tests.near import is_near
from tests.ops.special_families import FAMILIES, TRUTH, Family

KNOWN: dict[str, Any] = json.loads(TRUTH.read_text(encoding="utf-8"))


def _built(family: Family) -> Callable[..., Any]:
    return family.function or getattr(T, family.name)


def _columns(family: Family, dtype: str = "float64") -> list[Any]:
    points = [*family.points, *(end[:-1] for end in family.ends)]
    with np.errstate(over="ignore"):
        return [np.array(column, dtype) for column in zip(*points, strict=True)]


@cache
def _graph(dtype: str) -> tuple[list[Any], list[Any]]:
    """All families at once: compiling one function takes less time than thirty."""
    inputs, outputs = list[Any](), list[Any]()
    for family in FAMILIES:
        count = len(family.points[0])
        own = [T.vector(f"x{len(inputs) + k}", dtype=dtype) for k in range(count)]
        inputs += own
        outputs.append(_built(family)(*own))
    return inputs, outputs


@cache
def _results(target: str, dtype: str = "float64", given: str = "float64") -> dict[str, Any]:
    """In one dtype, of arguments that have been rounded to another."""
    inputs, outputs = _graph(dtype)
    columns = [c.astype(dtype) for family in FAMILIES for c in _columns(family, given)]
    if target == "NumPy":
        results = evaluate(outputs, dict(zip(inputs, columns, strict=True)))
    else:
        device = "cuda:sim" if target == "CUDA" else "cpu"
        results = symc.function(inputs, outputs, device=device)(*columns)
    return {family.name: value for family, value in zip(FAMILIES, results, strict=True)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("target", ["NumPy", "C", "CUDA"])
def test_values_and_ends(family: Family, target: str) -> None:
    wanted = [*KNOWN[family.name]["values"], *(end[-1] for end in family.ends)]
    points = [*family.points, *(end[:-1] for end in family.ends)]
    rtol = 2e-12 if target == "NumPy" else family.rtol
    for point, got, want in zip(points, _results(target)[family.name], wanted, strict=True):
        assert is_near(float(got), want, rtol), (point, float(got), want)


def test_float32_is_computed_in_float64() -> None:
    narrow, wide = _results("C", "float32", "float32"), _results("C", "float64", "float32")
    for family in FAMILIES:
        assert narrow[family.name].dtype == np.float32
        with np.errstate(over="ignore"):
            wanted = wide[family.name].astype("f4")
        np.testing.assert_allclose(narrow[family.name], wanted, rtol=3e-6, err_msg=family.name)


DERIVED = [family for family in FAMILIES if family.wrt]


def _slopes(family: Family, *free: Any) -> Any:
    """The derivatives at the second point, by the arguments that have one."""
    args = dict(zip(family.wrt, free, strict=True))
    built = _built(family)(*(args.get(k, value) for k, value in enumerate(family.points[1])))
    return symc.grad(built.sum(), list(free))


@cache
def _derivatives(compiled: bool) -> dict[str, list[float]]:
    inputs, outputs = list[Any](), list[Any]()
    for family in DERIVED:
        own = [T.vector(f"x{len(inputs) + k}") for k in range(len(family.wrt))]
        inputs += own
        outputs += _slopes(family, *own)
    given = [np.array([family.points[1][k]]) for family in DERIVED for k in family.wrt]
    if compiled:
        found = symc.function(inputs, outputs)(*given)
    else:
        found = evaluate(outputs, dict(zip(inputs, given, strict=True)))
    values = iter(found)
    return {family.name: [float(next(values)[0]) for _ in family.wrt] for family in DERIVED}


@pytest.mark.parametrize("family", DERIVED, ids=lambda family: family.name)
def test_derivatives(family: Family) -> None:
    for compiled in (False, True):
        for slope, wanted in zip(
            _derivatives(compiled)[family.name], KNOWN[family.name]["slopes"], strict=True
        ):
            assert is_near(slope, wanted, 1e-9)


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda v: T.jv(v, 2.0), "the derivative of jv by its order"),
        (lambda v: T.kv(v, 2.0), "the derivative of kv by its order"),
        (lambda s: T.zeta(s, 2.0), "the derivative of zeta by its first argument"),
        (lambda a: T.hyp2f1(a, 2.0, 3.0, 0.5), "the derivative of hyp2f1 by its first argument"),
    ],
)
def test_derivatives_that_are_not_known_are_refused(build: Any, what: str) -> None:
    x = T.vector("x")
    with pytest.raises(GradientError, match=what):
        symc.grad(build(x).sum(), x)


def test_an_unknown_derivative_hinders_no_other() -> None:
    """That by the order is not known, that by the argument was refused with it."""
    v, x = T.vector("v"), T.vector("x")
    slope = symc.grad(T.jv(v, x).sum(), x)
    assert is_near(slope.eval({v: [1.0], x: [2.0]})[0], -0.06447162473720103, 1e-13)


def test_lambertw_has_no_third_branch() -> None:
    assert math.isnan(T.lambertw(-0.1, 1.0).eval())


def test_integers_and_their_dtypes() -> None:
    assert T.comb(T.ivector("n"), 2).dtype == T.exp(T.ivector("n")).dtype
    assert T.comb(5, 2, repetition=True).eval() == 15
    assert T.comb(0, 0, repetition=True).eval() == 1


@pytest.mark.parametrize("mode", ["default", "python"])
def test_sums_of_powers_that_are_too_small_end(mode: str) -> None:
    """Adding 1 to a large number changes nothing: the loop over the terms had no end."""
    s, q = T.vectors("s", "q")
    f = symc.function([s, q], T.zeta(s, q), mode=mode)
    found = f([1e30, 1e30, 1e9, 2.5], [2.8e10, 1.0, 3e4, 1.0])
    np.testing.assert_allclose(found, [0, 1, 0, 1.341487257250917], rtol=1e-14)


def test_bessel_functions_of_very_large_orders_end() -> None:
    v, x = T.vectors("v", "x")
    f = symc.function([v, x], [T.jv(v, x), T.yv(v, x), T.kv(v, x)])
    found = f([1e12, 1e9], [3.0, 0.9e9])
    np.testing.assert_array_equal(found[0], [0, 0])
    np.testing.assert_array_equal(found[1], [-np.inf, -np.inf])
    assert found[2][0] == np.inf
