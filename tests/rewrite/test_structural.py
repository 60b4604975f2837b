"""Every rule that is a function: it fires on its examples and changes no value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.engine import Rewrite, normalise
from symc.rewrite.pipeline import all_rules, optimize
from symc.rewrite.rule import EXACT, FINITE, RuleSet
from symc.tensor import tensor
from tests.rewrite.examples import EXAMPLES
from tests.rewrite.sides import same_bits

RULES = {rule.name: rule for rule in all_rules() if rule.sides is None}
CASES = [(name, k) for name, cases in EXAMPLES.items() for k in range(len(cases))]


def test_every_rule_has_examples() -> None:
    assert set(EXAMPLES) == set(RULES)


@pytest.mark.parametrize(("name", "number"), CASES)
@pytest.mark.parametrize("static", [True, False])
def test_rule_changes_no_value(name: str, number: int, static: bool) -> None:
    build, arrays = EXAMPLES[name][number]
    symbols, values = _inputs(arrays, static)
    expr = build(*symbols)
    rule = RULES[name]
    after = normalise([expr], RuleSet([rule], ["scatter"]))[expr]
    trace: list[Rewrite] = []
    whole = optimize(expr, "fast" if rule.valid is FINITE else "default", trace)
    if static != name.endswith("by a length"):  # other rules need to know lengths, this one not to
        assert after is not expr, "does not fire alone"
        assert rule in [step.rule for step in trace], [step.rule.name for step in trace]
    before, one, final = evaluate([expr, after, whole], values)
    assert before.shape == one.shape == final.shape
    assert before.dtype == one.dtype == final.dtype
    if rule.valid is EXACT and "product" not in name:
        assert same_bits(before, one).all()
    np.testing.assert_allclose(one, before, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(final, before, rtol=1e-13, atol=1e-14)
    # A multiplication, and + 0 for the sign of a zero, may stand for a sum, which costs nothing.
    assert _cost(after) <= _cost(expr) + 3


# The cost of n**3 multiplications beside an element of anything else; and with a factorisation
# that all who want it of one matrix share.
CUBIC = {"matmul": 60, "solvetriangular": 30, "cholesky": 10, "qr": 80}
BY_FACTORS = {"inverse": 40, "solve": 60, "det": 0, "slogdet": 0, "lu": 0}


def _cost(expr: Tensor) -> float:
    total, factorised = 0.0, set[Tensor]()
    for node in walk([expr]):
        label, column = node.op.label, node.ndim and node.type.shape[-1] == 1
        if label in BY_FACTORS:
            factorised.add(node.args[0])
        total += node.op.cost if column else (CUBIC | BY_FACTORS).get(label, node.op.cost)
    return total + 20 * len(factorised)


def _inputs(arrays: Any, static: bool) -> tuple[list[Any], dict[Any, Any]]:
    symbols = []
    for number, array in enumerate(map(np.asarray, arrays)):
        shape = array.shape if static else (None,) * array.ndim
        symbols.append(tensor(array.dtype.name, shape, f"x{number}"))
    return symbols, dict(zip(symbols, map(np.asarray, arrays), strict=True))


@pytest.mark.parametrize("length", [1, 2])
def test_a_length_that_only_a_stretch_says_is_1_broadcasts(length: int) -> None:
    """The stretch was dropped, and then the other operand had to be as long: its first was left."""
    x, y = T.vector("x"), T.vector("y")
    one = T.broadcast_to(x, (1,))
    f = symc.function([x, y], [one + y, T.broadcast_to(one, (3,)), one * 2])
    if length == 2:
        with pytest.raises(ShapeMismatch):
            f(np.ones(2), np.arange(2.0))
    else:
        for got, wanted in zip(f([2.0], np.arange(4.0)), ([2, 3, 4, 5], [2] * 3, [4]), strict=True):
            np.testing.assert_array_equal(got, wanted)
