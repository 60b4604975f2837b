"""Both sides of a rule on numbers: as graphs, and exactly, with as many digits as it takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np

from symc.graph.inputs import scalar_constant
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.types import as_dtype
from symc.rewrite.match import OVER_AXES, build
from symc.rewrite.pattern import Call, Number, Pattern, Variable
from symc.rewrite.rule import Rule
from symc.tensor import tensor
from symc.tensor.elementwise import ELEMENTWISE

mpmath.mp.prec = 1000

SPECIAL = [
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 5e-324, -1e-310, 1e308, -1e308, 0.5, -3.0, 7.25,
]  # fmt: skip
INTEGERS = [0, 1, -1, 2, 7, -8, 2**62, -(2**63), 2**63 - 1]
CONSTANTS = {"c": 3.0, "d": -0.75, "p": 4.0}
WHOLE = {"c": 3, "d": 11}
COMPOSITE_COST = {
    "softmax": 20, "log_softmax": 30, "logsumexp": 28, "logsumexp_kept": 28,
    "sum": 1, "max": 1, "sum_kept": 1, "max_kept": 1,
}  # fmt: skip

REDUCED = frozenset({"sum", "max", "logsumexp", "sum_kept", "max_kept", "logsumexp_kept"})


def calls(pattern: Pattern) -> Iterator[Call]:
    """Every call in a pattern."""
    if isinstance(pattern, Call):
        yield pattern
        for arg in pattern.args:
            yield from calls(arg)


def variables(pattern: Pattern) -> list[Variable]:
    """The variables of a pattern, in order."""
    if isinstance(pattern, Variable):
        return [pattern]
    if not isinstance(pattern, Call):
        return []
    return list(dict.fromkeys(v for arg in pattern.args for v in variables(arg)))


def cost(pattern: Pattern) -> float:
    """The cost of an element: a part that occurs twice counts once, as in a graph; constants
    nothing.

    A part computed once for a whole row counts nothing either.
    """
    parts = {repr(part): part for part in calls(pattern) if not _is_constant(part)}
    return float(sum(_own_cost(part) for part in parts.values() if not _is_of_rows(part)))


def _is_of_rows(part: Call) -> bool:
    """Whether a function is applied to reduced rows and to scalars."""
    return part.function not in OVER_AXES and all(map(_is_one_a_row, part.args))


def _is_one_a_row(part: Pattern) -> bool:
    if isinstance(part, Call):
        return part.function in REDUCED or _is_of_rows(part)
    return not isinstance(part, Variable) or part.kind in ("scalar", "constant", "power")


def _own_cost(part: Call) -> float:
    return COMPOSITE_COST.get(part.function) or ELEMENTWISE[part.function].cost


def _is_constant(pattern: Pattern) -> bool:
    if isinstance(pattern, Call):
        return all(map(_is_constant, pattern.args))
    return isinstance(pattern, Number) or pattern.kind in ("constant", "power")  # type: ignore[attr-defined]


def over_axes(rule: Rule) -> bool:
    """Whether a rule has functions over axes."""
    assert rule.sides is not None
    return any(part.function in OVER_AXES for side in rule.sides for part in calls(side))


def of_integers(rule: Rule) -> bool:
    """Whether a rule is about integers (or bits) only."""
    assert rule.sides is not None
    bits = {"invert", "bitwise_and", "bitwise_or"}
    return any(part.function in bits for part in calls(rule.sides[0])) or any(
        v.kind == "integer" for v in variables(rule.sides[0])
    )


class Sides:
    """The graphs of both sides of a rule over fresh inputs of some dtype."""

    def __init__(self, rule: Rule, dtype: str, rank: int) -> None:
        assert rule.sides is not None
        left, right = rule.sides
        self.rule = rule
        found: dict[Any, Any] = {}
        self.inputs: dict[str, Tensor] = {}
        for variable in variables(left):
            if variable.kind in ("constant", "power"):
                value = CONSTANTS[variable.name]
                kind = as_dtype(dtype)
                found[variable] = scalar_constant(
                    value if kind.is_float else WHOLE[variable.name], kind
                )
                continue
            own = "bool" if variable.kind == "mask" else dtype
            shape = () if variable.kind == "scalar" else (None,) * rank
            found[variable] = self.inputs[variable.name] = tensor(own, shape, variable.name)
        for part in calls(left):
            found.update(dict.fromkeys(part.parameters, (rank - 1,)))
        like = as_dtype(dtype)
        self.left = build(left, found, like)
        self.right = build(right, found, self.left.dtype)

    def evaluate(self, values: dict[str, Any]) -> tuple[Any, Any]:
        """Both sides' values, the right one stretched to the left one's shape."""
        given = {node: values[name] for name, node in self.inputs.items()}
        left, right = evaluate([self.left, self.right], given)
        return left, np.broadcast_to(right, left.shape)


def grid(
    names: Sequence[str], kinds: dict[str, str], points: Sequence[Any], dtype: str
) -> dict[str, Any]:
    """Every combination of the points for these variables, as flat arrays."""
    columns = [[False, True] if kinds[name] == "mask" else list(points) for name in names]
    rows = list(itertools.product(*columns))
    return {
        name: np.array([row[k] for row in rows], dtype=bool if kinds[name] == "mask" else dtype)
        for k, name in enumerate(names)
    }


def same_bits(left: Any, right: Any) -> Any:
    """Whether elements are the same bits; any two NaN are."""
    if left.dtype.kind != "f":
        return left == right
    same = (left == right) & (np.signbit(left) == np.signbit(right))
    return same | (np.isnan(left) & np.isnan(right))


# --- exact values ---------------------------------------------------------------------------------

mp = mpmath.mpf
EXACTLY: dict[str, Any] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "neg": lambda x: -x, "abs": abs, "sqr": lambda x: x * x,
    "reciprocal": lambda x: 1 / x, "pow": lambda x, y: x ** int(y),
    "exp": mpmath.exp, "log": mpmath.log, "log1p": lambda x: mpmath.log(1 + x),
    "expm1": lambda x: mpmath.exp(x) - 1, "sqrt": mpmath.sqrt, "cos": mpmath.cos,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "log_sigmoid": lambda x: -mpmath.log(1 + mpmath.exp(-x)),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "erf": mpmath.erf, "erfc": mpmath.erfc, "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "where": lambda m, x, y: x if m else y, "gt": lambda x, y: x > y,
    "maximum": max, "minimum": min,
}  # fmt: skip


def exactly(pattern: Pattern, values: dict[str, Any]) -> Any:
    """The value of a pattern; over axes, every variable is a row and so may be the value."""
    if isinstance(pattern, Number):
        return mp(pattern.value)
    if isinstance(pattern, Variable):
        return values[pattern.name]
    assert isinstance(pattern, Call)
    args = [exactly(arg, values) for arg in pattern.args]
    row = args[0]
    match pattern.function:
        case "sum" | "sum_kept":
            return mpmath.fsum(row)
        case "max" | "max_kept":
            return max(row)
        case "logsumexp" | "logsumexp_kept":
            return mpmath.log(mpmath.fsum(map(mpmath.exp, row)))
        case "softmax":
            total = mpmath.fsum(map(mpmath.exp, row))
            return [mpmath.exp(v) / total for v in row]
        case "log_softmax":
            total = mpmath.log(mpmath.fsum(map(mpmath.exp, row)))
            return [v - total for v in row]
        case _:
            pass
    lengths = [len(arg) for arg in args if isinstance(arg, list)]
    if not lengths:
        return EXACTLY[pattern.function](*args)
    rows = [arg if isinstance(arg, list) else [arg] * lengths[0] for arg in args]
    return [EXACTLY[pattern.function](*each) for each in zip(*rows, strict=True)]


def constants_of(pattern: Pattern) -> dict[str, Any]:
    """The values of a pattern's constants."""
    return {
        v.name: mp(CONSTANTS[v.name]) for v in variables(pattern) if v.kind in ("constant", "power")
    }
