"""The driver and the rule set as a whole: ends, is linear, changes no value of random graphs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.engine import Rewrite, RulesDisagree, normalise
from symc.rewrite.match import OpKind, kind_of, kind_of_function
from symc.rewrite.pattern import c, exp, log, x
from symc.rewrite.pipeline import _sets, optimize, rewrite  # pyright: ignore[reportPrivateUsage]
from symc.rewrite.rule import EXACT, Rules, RuleSet, Sides, Structural, look_at
from symc.tensor.elementwise import cast_to
from tests.rewrite.sides import same_bits

UNARY: list[Callable[..., Any]] = [
    T.exp, T.log, T.sigmoid, T.tanh, T.sqrt, abs, T.sqr, lambda a: -a, lambda a: 1 - a,
    lambda a: 1 + a, lambda a: a * 2, lambda a: a / 4, lambda a: 1 / a, T.log1p, T.softplus,
    lambda a: a.reshape((-1,)).reshape((3, 4)), lambda a: a[::-1], lambda a: a.T.T,
    lambda a: T.broadcast_to(a.sum(axis=0), (3, 4)), lambda a: a.sum(axis=1, keepdims=True) + 0 * a,
    lambda a: T.softmax(a, axis=1), lambda a: a - a.max(axis=1, keepdims=True), lambda a: a * 0.5,
    lambda a: cast_to(cast_to(a, "float32"), "float64"), lambda a: -(a * 3),
]  # fmt: skip
BINARY: list[Callable[..., Any]] = [
    T.add, T.sub, T.mul, T.div, T.maximum, T.minimum, lambda a, b: T.where(a > b, a, b),
    lambda a, b: a + -b, lambda a, b: T.log(T.exp(a) + T.exp(b)),
]  # fmt: skip


def random_graph(seed: int, size: int) -> tuple[Tensor, list[Tensor]]:
    """A random expression over two matrices and a number."""
    rng = np.random.default_rng(seed)
    inputs = [T.tensor("float64", (3, 4), "a"), T.tensor("float64", (3, 4), "b"), T.scalar("s")]
    pool: list[Tensor] = [inputs[0], inputs[1], T.broadcast_to(inputs[2], (3, 4))]
    for _ in range(size):
        if rng.random() < 0.6:
            pool.append(UNARY[rng.integers(len(UNARY))](pool[rng.integers(-4, 0) % len(pool)]))
        else:
            one, two = (pool[rng.integers(-6, 0) % len(pool)] for _ in range(2))
            pool.append(BINARY[rng.integers(len(BINARY))](one, two))
    return pool[-1] + pool[-2] * pool[-3], inputs


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_end_in_a_form_that_stays(seed: int) -> None:
    expr, _ = random_graph(seed, 25)
    for mode in ("compile", "default", "fast"):
        before, _, after = _sets(mode)
        once = normalise([expr], before)[expr]
        assert normalise([once], before)[once] is once, f"seed {seed}"
        best = optimize(expr, mode)
        assert normalise([best], after)[best] is best, f"seed {seed}"
        assert best.type == expr.type


@pytest.mark.parametrize("seed", range(60))
def test_exact_rules_keep_every_bit_of_random_graphs(seed: int) -> None:
    expr, inputs = random_graph(seed, 25)
    every = RuleSet(rule for rule in _sets("fast")[0].rules if rule.valid is EXACT)
    best = normalise([expr], every)[expr]
    rng = np.random.default_rng(seed)
    for scale in (1.0, 1e3):
        values = {node: rng.standard_normal((3, 4)) * scale for node in inputs[:2]}
        values[inputs[2]] = np.asarray(rng.standard_normal())
        values[inputs[0]][0, 0] = rng.choice([np.nan, np.inf, -0.0, 0.0])
        left, right = evaluate([expr, best], values)
        assert same_bits(left, right).all(), f"seed {seed}"


@pytest.mark.parametrize("seed", range(60))
def test_default_rules_keep_values_of_random_graphs(seed: int) -> None:
    """Where the graph as written has a value that small changes of the inputs hardly move."""
    expr, inputs = random_graph(seed, 12)
    best = optimize(expr)
    rng = np.random.default_rng(seed)
    values = {node: rng.uniform(0.2, 2.0, (3, 4)) for node in inputs[:2]}
    values[inputs[2]] = np.asarray(1.25)
    moved = {node: value * (1 + 1e-7) for node, value in values.items()}
    left, right = evaluate([expr, best], values)
    near = evaluate([expr], moved)[0]
    with np.errstate(all="ignore"):
        steady = np.isfinite(left) & np.isfinite(near) & (abs(near - left) < 1e-4 * abs(left))
    np.testing.assert_allclose(right[steady], left[steady], rtol=1e-5, err_msg=f"seed {seed}")


def _roots(what: Sides | Structural) -> frozenset[OpKind]:
    """The kinds of nodes that a rule is for; none if it is for all."""
    if isinstance(what, Structural):
        return what.kinds
    return frozenset({kind_of_function(what.left.function)})


@pytest.mark.parametrize("seed", range(20))
def test_attempts_are_those_that_fit(seed: int) -> None:
    """Looks that no attempt tells apart share the attempts found for one of them."""
    expr, _ = random_graph(seed, 25)
    rules = _sets("fast")[0]
    known = [attempt for rule in rules.rules for attempt in rule.attempts]
    for node in walk([expr]):
        if node.args:
            kinds = {kind_of(node), type(node.op)}
            at_kind = [a for a in known if not (roots := _roots(a.rule.what)) or roots & kinds]
            fitting = [attempt for attempt in at_kind if attempt.fits(look_at(node))]
            assert list(rules.at(node).all) == fitting, node


def attempts(size: int) -> tuple[int, int]:
    """How many nodes a random graph of elementwise functions has, and how many rules are tried."""
    rng = np.random.default_rng(3)
    pool: list[Tensor] = [T.vector("a"), T.vector("b")]
    while len(pool) < size:
        one, two = (pool[rng.integers(-20, 0) % len(pool)] for _ in range(2))
        pool.append(
            [one + two, one * two, T.exp(one), T.log(1 + two), one - 2 * two][len(pool) % 5]
        )
    sets = _sets("default")
    before = sum(rules.tried for rules in sets)
    rewrite(pool[-30:], [])
    return len(walk(pool[-30:])), sum(rules.tried for rules in sets) - before


def test_work_is_linear_in_the_size_of_the_graph() -> None:
    (small, few), (large, many) = attempts(300), attempts(3000)
    assert large > 8 * small
    assert many / large < 1.3 * few / small
    assert many < 3 * large


def test_deep_graphs_do_not_recurse() -> None:
    node = T.vector("v")
    for _ in range(5000):
        node = T.log(1 + T.sin(node))
    best = optimize(node)
    assert len(walk([best])) == 15002  # with + 0, as log1p(-0.0) is -0.0


def test_views_upon_views_are_linear() -> None:
    node: Tensor = T.vector("v")
    for _ in range(1000):
        node = node[1:]
    assert optimize(T.log(1 + node)).op.label == "log1p"


def test_rules_that_undo_each_other_are_reported() -> None:
    rules = Rules("bad")
    rules.rule(exp(x), log(x), valid=EXACT)
    rules.rule(log(x), exp(x), valid=EXACT)
    v = T.vector("v")
    with pytest.raises(RulesDisagree, match="and back"):
        normalise([T.exp(v)], RuleSet(rules.all))


def test_rules_that_grow_for_ever_are_reported() -> None:
    rules = Rules("bad")
    rules.rule(exp(x), log(exp(x)), valid=EXACT)
    v = T.vector("v")
    with pytest.raises(RulesDisagree):
        normalise([T.exp(v)], RuleSet(rules.all))


def test_replacements_have_the_shape_of_what_they_replace() -> None:
    """``x * 1`` may lose the operand that stretched it."""
    v = T.tensor("float64", (4,), "v")
    ones = T.constant(np.ones((3, 4)))
    best = optimize(v * ones)
    assert best.type == (v * ones).type
    assert best.op.label == "broadcastto"
    m = T.tensor("bool", (3, 1), "m")
    assert optimize(T.where(m, v, v)).type.shape == (3, 4)


def test_axes_of_length_1_stay_known_where_the_replacement_tells_less() -> None:
    """The 2 of ``w``'s last axis is told by what it was multiplied by: see `keep_single`."""
    x, w = T.matrix("x"), T.tensor3("w")
    both = T.stack([x, x * 2.0], axis=-1)
    slope = symc.grad((both * w).sum(), x)
    values = np.arange(24.0).reshape(3, 4, 2)
    best = optimize(slope)
    found = evaluate([slope, best], {x: np.ones((3, 4)), w: values})
    np.testing.assert_array_equal(found[0], values[..., 0] + 2 * values[..., 1])
    np.testing.assert_array_equal(found[1], found[0])
    stretched = T.ones((3, 4, 2)) * w
    column = stretched[:, :, 1:] + T.arange(5.0)
    assert optimize(column).type.shape[-1] == 5
    assert (evaluate([optimize(column)], {w: values})[0] == values[..., 1:] + np.arange(5.0)).all()


def test_dtypes_are_kept() -> None:
    i = T.vector("i", "int8")
    assert optimize(i * 0).dtype.name == "int8"
    assert optimize(T.eq(i, i)).dtype.name == "bool"
    f = T.vector("f", "float32")
    for expr in (f * 1, f + 0, -(f * 3), (f * 3) * 5, f / 4, T.log(1 + f)):
        assert optimize(expr).dtype.name == "float32"


def test_a_reshape_between_elementwise_functions_goes_to_the_input() -> None:
    a = T.tensor("float64", (3, 4), "a")
    best = optimize(T.tanh(T.exp(a * 2).reshape((12,)) + 1))
    assert [node.op.label for node in walk([best])][:2] == ["input", "reshape"]
    shared = T.exp(a)
    both = rewrite([shared, shared.reshape((12,))], []).outputs
    assert both[1].args[0] is both[0]  # a node stored anyway is not computed again


def test_a_bug_a_reshape_of_neighbours_in_a_picture_copied_each_of_them() -> None:
    """The cases of marching squares, counted, took four times as long: four copies, read twice."""
    x = T.matrix("x")
    high = (x > 0.5).astype("uint8")
    cases = high[:-1, :-1] + 2 * high[:-1, 1:] + 4 * high[1:, :-1] + 8 * high[1:, 1:]
    best = optimize(T.exp(cases.flatten()))
    (reshaped,) = [node for node in walk([best]) if node.op.label == "reshape"]
    assert reshaped.args[0].op.label == "add"
    f = symc.function([x], T.bincount(cases.flatten(), minlength=16))
    given = np.random.default_rng(0).random((9, 13))
    bits = (given > 0.5).astype("uint8")
    wanted = bits[:-1, :-1] + 2 * bits[:-1, 1:] + 4 * bits[1:, :-1] + 8 * bits[1:, 1:]
    np.testing.assert_array_equal(f(given), np.bincount(wanted.ravel(), minlength=16))
    one = optimize(T.tanh((T.exp(x[:, 1:]) + 1).flatten()))
    labels = [node.op.label for node in walk([one])]
    assert labels.index("getitem") < labels.index("reshape") < labels.index("exp")


def test_lengths_that_are_computed_are_rewritten_with_the_graph() -> None:
    n = T.scalar("n", "int64")
    total = (n + 0) * 1 + 3
    expr = T.zeros((total * 1,)) + 1
    result = rewrite([expr], [])
    assert all(value.dtype.name == "int64" for value in result.scalars.values())


def test_lengths_only_loops_ask_for_are_computed_too() -> None:
    """The result's length is known, the step of the loop over it is not."""
    n, x = T.scalar("n", "int64"), T.tensor("float64", (1, 4), "x")
    result = rewrite([x[:: abs(n) + 1], x[:, n]], [])
    assert len(result.scalars) == 1
    assert all(n in walk([scalar]) for scalar in result.scalars)
    assert not rewrite([x[:, n]], []).scalars  # an index is read where it is needed


def test_stretching_to_a_computed_length_ends() -> None:
    """The scalar in the node and the one made from its length are two; neither is canonical."""
    n, v = T.scalar("n", "int64"), T.vector("v")
    length = T.minimum(T.maximum(n + 0, 0) * 1, v.shape[0])
    build: Any
    for build in (
        lambda k: T.exp(T.zeros((k,))),
        lambda k: T.zeros((k, 2)).reshape((2 * k,)),
        lambda k: T.broadcast_to(T.broadcast_to(v[0], (k,)), (3, k)),
        lambda k: T.tanh(T.ones((k,))).sum(),
    ):
        expr = build(length + 1)
        best = optimize(expr)
        given = {n: np.asarray(3), v: np.arange(4.0)}
        left, right = evaluate([best, expr], given)
        np.testing.assert_allclose(left, right)


def test_names_stay() -> None:
    v = T.vector("v")
    y = T.log(1 + T.cos(v * 17))
    y.name = "y"
    assert optimize(y).name == "y"


def test_the_trace_names_the_rules_that_fired() -> None:
    rules = Rules("own")
    rules.rule(x * c, x + c, valid=EXACT)
    v = T.vector("v")
    trace: list[Rewrite] = []
    after: Any = normalise([v * 3.5], RuleSet(rules.all), trace)
    assert [str(step.rule.name) for step in trace] == ["x * c -> x + c"]
    assert after[v * 3.5] is v + 3.5


LATER = """
import sys
import symc.tensor as T
from symc.rewrite.pipeline import optimize
x = T.vector("x")
optimize(1 - x)
assert "symc.tensor.special_functions" not in sys.modules
assert optimize(1 - T.erf(x)).op.label == "erfc", optimize(1 - T.erf(x))
"""


def test_rules_of_functions_that_are_imported_later() -> None:
    """``1 - x`` imported the special functions, for there is a rule of ``1 - erf(x)``."""
    subprocess.run([sys.executable, "-c", LATER], check=True)
