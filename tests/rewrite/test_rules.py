"""Every rule of two patterns: both sides agree as it promises, and it fires where it should."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import sympy

import symc
from symc import tensor as T
from symc.rewrite.engine import Rewrite
from symc.rewrite.pattern import Call, Number, Pattern, Variable
from symc.rewrite.pipeline import all_rules, optimize, rules_for
from symc.rewrite.rule import EXACT, FINITE, ROUNDS, Rule
from symc.tensor.views import broadcast_to
from tests.near import unit_at
from tests.rewrite.sides import (
    INTEGERS,
    SPECIAL,
    Sides,
    calls,
    constants_of,
    cost,
    exactly,
    grid,
    of_integers,
    over_axes,
    same_bits,
    variables,
)

RULES = [rule for rule in all_rules() if rule.sides is not None]


def named(rules: list[Rule]) -> pytest.MarkDecorator:
    """Parameters for a test of each rule."""
    return pytest.mark.parametrize("rule", rules, ids=[rule.name for rule in rules])


def generator(rule: Rule) -> np.random.Generator:
    """Random numbers that are the same in every run."""
    return np.random.default_rng(zlib.crc32(rule.name.encode()))


def left_of(rule: Rule) -> Pattern:
    """The pattern that is replaced."""
    assert rule.sides is not None
    return rule.sides[0]


def kinds(rule: Rule) -> dict[str, str]:
    """The kinds of a rule's variables that are inputs."""
    return {v.name: v.kind for v in variables(left_of(rule)) if v.kind not in ("constant", "power")}


def dtypes(rule: Rule) -> list[str]:
    """The dtypes to try a rule in."""
    if of_integers(rule):
        return ["int64", "int8", "uint8"]
    return ["float64", "float32"]


# --- EXACT ----------------------------------------------------------------------------------------


@named([rule for rule in RULES if rule.valid is EXACT])
def test_exact_rules_keep_every_bit(rule: Rule) -> None:
    for dtype in dtypes(rule):
        sides = Sides(rule, dtype, 1)
        if dtype.startswith("float"):
            points: list[Any] = SPECIAL
        else:
            limits = np.iinfo(dtype)
            points = [n for n in INTEGERS if limits.min <= n <= limits.max]
        given = kinds(rule)
        with np.errstate(all="ignore"):
            values = grid(list(given), given, points, dtype)
            extra = generator(rule).standard_normal(len(points)) * 10
            more = grid(list(given), given, list(extra), dtype) if dtype == "float64" else {}
        for chosen in (values, more):
            if chosen:
                left, right = sides.evaluate(chosen)
                good = same_bits(left, right)
                bad = {name: array[~good] for name, array in chosen.items()}
                assert good.all(), (bad, left[~good], right[~good])


# --- ROUNDS ---------------------------------------------------------------------------------------

MAGNITUDES = [1e-30, 1e-9, 1e-4, 0.1, 0.6, 1.0, 3.0, 12.0, 30.0, 80.0, 120.0]


def points_of(rule: Rule, count: int) -> list[dict[str, Any]]:
    """Points (rows, if the rule is over axes) in float32, small and large, of both signs."""
    rng = generator(rule)
    width = 5 if over_axes(rule) else 1
    points: list[dict[str, Any]] = []
    for _ in range(count):
        point: dict[str, Any] = {}
        for name, kind in kinds(rule).items():
            size = rng.choice(MAGNITUDES)
            values = (rng.standard_normal(width) * size).astype(np.float32)
            if kind == "mask":
                point[name] = rng.random(width) < 0.5
            else:
                point[name] = values[0] if kind == "scalar" else values
        points.append(point)
    return points


def exact_value(rule: Rule, point: dict[str, Any], scale: float = 1.0) -> Any:
    """The left side at a point, moved a little by `scale`; None where it is no real number."""
    rows = over_axes(rule)

    def number(value: Any) -> Any:
        return bool(value) if isinstance(value, np.bool_) else mpmath.mpf(float(value)) * scale

    values = {
        k: [number(e) for e in v] if rows and np.ndim(v) else number(np.reshape(v, -1)[0])
        for k, v in point.items()
    }
    try:
        result = exactly(left_of(rule), {**values, **constants_of(left_of(rule))})
    except (ZeroDivisionError, ValueError):
        return None
    result = result if isinstance(result, list) else [result]
    real = all(isinstance(e, mpmath.mpf) and mpmath.isfinite(e) for e in result)
    return result if real else None


@named([rule for rule in RULES if rule.valid is ROUNDS])
def test_rounding_rules_are_not_less_accurate(rule: Rule) -> None:
    """In float32, against exact values: the right side's error is at most the left side's.

    Allowed are 4 units in the last place (of a row's largest element, for functions over axes),
    and the effect of 2 units in the last place of the inputs.
    """
    sides = Sides(rule, "float32", 2 if over_axes(rule) else 1)
    tried = 0
    for point in points_of(rule, 40):
        wanted = exact_value(rule, point)
        moved = [exact_value(rule, point, 1 + step * 2.0**-23) for step in (-2, 2)]
        if wanted is None or None in moved:
            continue
        rows = {k: v[None, :] if over_axes(rule) and np.ndim(v) else v for k, v in point.items()}
        left, right = (np.ravel(side) for side in sides.evaluate(rows))
        for k, value in enumerate(wanted):
            if not abs(value) < 1e38:
                continue
            size = max(map(abs, wanted)) if over_axes(rule) else abs(value)
            ulp = unit_at(float(size), "float32")
            allowed = 4 * ulp + max(abs(each[k] - value) for each in moved)
            errors = [
                abs(mpmath.mpf(float(got[k])) - value) if np.isfinite(got[k]) else mpmath.inf
                for got in (left, right)
            ]
            assert errors[1] <= errors[0] + allowed, (point, left[k], right[k], float(value))
            tried += 1
    assert tried >= 12


ZEROS = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0]


def points_with_zeros(rule: Rule) -> list[dict[str, Any]]:
    """Every combination of numbers, or rows of two of them, with zeros of both signs among them."""
    given = kinds(rule)
    rows = over_axes(rule)
    columns: list[list[Any]] = []
    for kind in given.values():
        single = [False, True] if kind == "mask" else ZEROS
        as_rows = rows and kind != "scalar"
        columns.append([*map(np.array, itertools.product(single, single))] if as_rows else single)
    return [dict(zip(given, each, strict=True)) for each in itertools.product(*columns)]


@named([rule for rule in RULES if rule.valid is ROUNDS])
def test_rounding_rules_keep_the_signs_of_zeros(rule: Rule) -> None:
    """Where the value is 0, the zero is that of the left side: NumPy's.

    Where it only rounds to 0 on both sides, the right side may have its sign.
    """
    rows = over_axes(rule)
    points = points_with_zeros(rule)
    sides = Sides(rule, "float64", 2 if rows else 1)
    stacked = {
        name: np.array([point[name] for point in points]) for name in kinds(rule)
    }  # a scalar of a rule over axes is one for each row
    for name, kind in kinds(rule).items():
        if rows and kind == "scalar":
            return check_row_by_row(rule, sides, points)
        assert stacked[name].ndim == (2 if rows else 1)
    check_zeros(rule, points, *sides.evaluate(stacked))
    return None


def check_row_by_row(rule: Rule, sides: Sides, points: list[dict[str, Any]]) -> None:
    """For rules with scalars, which are the same for all rows of a call."""
    for point in points:
        given = {
            n: value[None] if np.ndim(value) else np.array(value) for n, value in point.items()
        }
        check_zeros(rule, [point], *sides.evaluate(given))


def check_zeros(rule: Rule, points: list[dict[str, Any]], left: Any, right: Any) -> None:
    """Where both sides are 0, and their signs differ, the right one is that of the true value."""
    other = (left == 0) & (right == 0) & (np.signbit(left) != np.signbit(right))
    for place in zip(*np.nonzero(other), strict=True):
        point = points[place[0]]
        exact = exact_value(rule, point)
        value = 0 if exact is None else exact[place[1] if len(place) > 1 else 0]
        assert value != 0, (point, left[place], right[place])
        assert bool(np.signbit(right[place])) == (value < 0), (point, left[place], right[place])


# --- FINITE ---------------------------------------------------------------------------------------


@named([rule for rule in RULES if rule.valid is FINITE])
def test_finite_rules_agree_on_ordinary_numbers(rule: Rule) -> None:
    rows = over_axes(rule)
    sides = Sides(rule, "float64", 2 if rows else 1)
    rng = generator(rule)
    values = {
        name: rng.uniform(0.5, 3.0, () if kind == "scalar" else (10, 5) if rows else 50)
        for name, kind in kinds(rule).items()
    }
    left, right = sides.evaluate(values)
    np.testing.assert_allclose(left, right, rtol=1e-14)


def test_a_factor_that_is_not_finite_stays_in_the_sum() -> None:
    """Infinities of both signs add up to NaN, and no elements to 0, whatever the factor is."""
    x, s = T.vector("x"), T.scalar("s")
    sums = [T.sum(x * s), T.sum(s * x * 2), T.sum(x / s)]
    for mode in ("python", "default"):
        f = symc.function([x, s], sums, mode=mode)
        np.testing.assert_array_equal(f(np.array([2.0, -1.0]), np.inf), [np.nan, np.nan, 0.0])
        np.testing.assert_array_equal(f(np.array([2.0, -1.0]), 0.0), [0.0, 0.0, np.nan])
        np.testing.assert_array_equal(f(np.zeros(0), np.nan), [0.0, 0.0, 0.0])


# --- all ------------------------------------------------------------------------------------------


@named(RULES)
def test_right_side_costs_no_more(rule: Rule) -> None:
    assert rule.sides is not None
    left, right = map(cost, rule.sides)
    assert right <= (3 * left if rule.group == "stability" else left), (left, right)


@named(RULES)
def test_rule_fires_in_the_pipeline(rule: Rule) -> None:
    """It is the one that fires, and both sides end as the same graph."""
    mode = "fast" if rule.valid is FINITE else "default"
    dtype = "int64" if of_integers(rule) else "float64"
    sides = Sides(rule, dtype, 2 if over_axes(rule) else 1)
    trace: list[Rewrite] = []
    left = optimize(sides.left, mode, trace)
    assert rule in [step.rule for step in trace], [step.rule.name for step in trace]
    right = optimize(sides.right, mode)
    if right.ndim < left.ndim:
        right = optimize(broadcast_to(right, left.type.shape), mode)
    assert left is right


SYMBOLIC: dict[str, Any] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "neg": lambda x: -x, "abs": abs, "sqr": lambda x: x**2,
    "reciprocal": lambda x: 1 / x, "pow": lambda x, y: x**y, "exp": sympy.exp, "log": sympy.log,
    "log1p": lambda x: sympy.log(1 + x), "expm1": lambda x: sympy.exp(x) - 1, "sqrt": sympy.sqrt,
    "cos": sympy.cos, "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
    "softplus": lambda x: sympy.log(1 + sympy.exp(x)),
    "log_sigmoid": lambda x: -sympy.log(1 + sympy.exp(-x)),
    "logaddexp": lambda x, y: sympy.log(sympy.exp(x) + sympy.exp(y)),
    "erf": sympy.erf, "erfc": lambda x: 1 - sympy.erf(x),
}  # fmt: skip
# Proofs need expressions that sympy can see through.
PROVABLE = [
    rule for rule in RULES
    if all(part.function in SYMBOLIC for side in rule.sides or () for part in calls(side))
]  # fmt: skip


def symbolic(pattern: Pattern) -> Any:
    """A pattern as sympy has it; variables are positive, so that logarithms and roots are real."""
    match pattern:
        case Variable(name=name):
            return sympy.Symbol(name, positive=True)
        case Number(value=value):
            return sympy.nsimplify(value)
        case Call(function=function, args=args):
            return SYMBOLIC[function](*map(symbolic, args))
        case _:
            raise TypeError(pattern)


@named(PROVABLE)
def test_sympy_proves_the_rule(rule: Rule) -> None:
    assert rule.sides is not None
    difference = symbolic(rule.sides[0]) - symbolic(rule.sides[1])
    short = sympy.simplify(sympy.expand_log(sympy.simplify(sympy.expand(difference)), force=True))
    if short != 0:
        left, right = (sympy.exp(symbolic(side)) for side in rule.sides)
        short = sympy.simplify(left - right)
    assert short == 0, short


def test_most_rules_are_proved() -> None:
    assert len(PROVABLE) > 80


def test_modes_are_nested() -> None:
    quick, default, fast = (set(rules_for(mode)) for mode in ("compile", "default", "fast"))
    assert quick < default < fast == set(all_rules())
    always = {rule for rule in all_rules() if rule.group in ("stability", "scatter")}
    assert always <= quick
    assert all(rule.valid is EXACT for rule in quick - always)
    assert not any(rule.valid is FINITE for rule in default)


def test_rules_know_their_lines_and_have_names_of_their_own() -> None:
    names = [rule.name for rule in all_rules()]
    assert len(set(names)) == len(names)
    assert all("/symc/rewrite/" in rule.where.file and rule.where.line > 1 for rule in all_rules())
