"""Comparisons that follow from others: left out if, and only if, the rest implies them."""

from __future__ import annotations

import itertools
import random

import pytest

from symc.codegen.dtypes import INT64
from symc.codegen.ir import Binary, Const, Expr, Unary, Var, binary, const
from symc.codegen.passes.expressions.implied import without_implied

A, B, N, M = (Var(name, INT64) for name in "abnm")
ZERO = const(0)
NUMBERS = (-3, -2, -1, 0, 1, 2, 3)


def is_size(expr: Expr) -> bool:
    return expr in (N, M)


def value(expr: Expr, at: dict[Expr, int]) -> int:
    match expr:
        case Const(int() as number):
            return number
        case Unary("neg", x):
            return -value(x, at)
        case _:
            return at[expr]


def holds(condition: Expr, at: dict[Expr, int]) -> bool:
    assert isinstance(condition, Binary)
    left, right = value(condition.left, at), value(condition.right, at)
    match condition.op:
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "gt":
            return left > right
        case "ge":
            return left >= right
        case _:
            return left == right


def test_what_bounds_say_of_the_numbers_between() -> None:
    first, last = binary("ge", A, ZERO), binary("lt", B, N)
    order = binary("ge", B, A)
    more = [binary("ge", B, ZERO), binary("lt", A, N), binary("ge", A, Unary("neg", N, INT64))]
    assert without_implied([*more, first, order, last], is_size) == [first, order, last]
    assert without_implied([first, last], is_size) == [first, last]


def test_of_two_equal_bounds_one_stays() -> None:
    assert without_implied([binary("lt", A, N), binary("gt", N, A)], is_size) == [
        binary("lt", A, N)
    ]


def test_constants_are_compared() -> None:
    near, far = binary("lt", A, const(5)), binary("le", A, const(4))
    wide = binary("lt", A, const(6))
    assert without_implied([near, far, wide], is_size) == [near]


@pytest.mark.parametrize("number", range(200))
def test_what_is_left_says_the_same(seed: int, number: int) -> None:
    chance = random.Random(f"{seed} {number}")
    numbers: list[Expr] = [A, B, N, M, ZERO, const(2), Unary("neg", N, INT64)]
    conditions: list[Expr] = [
        binary(chance.choice(("lt", "le", "gt", "ge", "eq")), *chance.sample(numbers, 2))
        for _ in range(chance.randint(1, 6))
    ]
    left = without_implied(conditions, is_size)
    assert set(left) <= set(conditions)
    for a, b, n, m in itertools.product(NUMBERS, NUMBERS, NUMBERS[3:], NUMBERS[3:]):
        at: dict[Expr, int] = {A: a, B: b, N: n, M: m}
        assert all(holds(c, at) for c in left) == all(holds(c, at) for c in conditions)
