"""Stability: through views and casts, in gradients, in every mode, whatever other rules do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.derivatives.grad import grad
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.engine import Rewrite
from symc.rewrite.pipeline import all_rules, optimize
from symc.rewrite.rule import Rule
from symc.rewrite.stabilise import TELLING, stability_rules
from symc.tensor.elementwise import cast_to
from tests.rewrite.sides import calls

MODES = ["compile", "default", "fast"]
HUGE = np.array([[1000.0, 0.0, -1000.0], [3.0, 2.0, -900.0]])


def value(expr: Tensor, mode: str, **given: Any) -> Any:
    """The optimised expression's value; inputs are found by name."""
    best = optimize(expr, mode)
    inputs = {node: np.asarray(given[node.name]) for node in walk([best]) if node.name in given}
    return evaluate([best], inputs)[0]


def labels(expr: Tensor) -> set[str]:
    """The names of the ops of a graph."""
    return {node.op.label for node in walk([expr])}


def exact_log_softmax(x: Any) -> Any:
    """Row by row, without overflow."""
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda a: a,
    "transpose": lambda a: a.T,
    "reshape": lambda a: a.reshape((-1,)),
    "new axis": lambda a: a.reshape((2, 1, 3)),
    "slice": lambda a: a[1:, ::-1],
    "one row": lambda a: a[0],
    "elements": lambda a: a[[0, 1], [2, 0]],
    "all of them": lambda a: a.T.reshape((3, 2))[::-1],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("cast", [None, "float64"])
def test_theano_3162_log_softmax_through_views(mode: str, name: str, cast: str | None) -> None:
    view = VIEWS[name]
    x = T.tensor("float32" if cast else "float64", (2, 3), "x")
    p = view(T.softmax(x))
    logs = T.log(p if cast is None else cast_to(p, cast))
    got = value(logs, mode, x=HUGE.astype("float32") if cast else HUGE)
    np.testing.assert_allclose(got, view(exact_log_softmax(HUGE)), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_log_softmax_through_a_cast_to_a_narrower_float(mode: str) -> None:
    x = T.tensor("float64", (2, 3), "x")
    got = value(T.log(cast_to(T.softmax(x), "float32")), mode, x=HUGE)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, exact_log_softmax(HUGE), rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VIEWS)
def test_elementwise_forms_through_views(mode: str, name: str) -> None:
    view = VIEWS[name]
    x = T.tensor("float64", (2, 3), "x")
    soft = np.logaddexp(0, HUGE)
    for expr, wanted in [
        (T.log(view(1 + T.exp(x))), soft),
        (T.log(1 + view(T.exp(x))), soft),
        (T.log(view(T.sigmoid(x))), -np.logaddexp(0, -HUGE)),
        (1 - view(T.sigmoid(x)), np.exp(-soft)),
        (view(T.exp(x * 1e-23)) - 1, HUGE * 1e-23),
        (T.log(1 + view(x * 1e-23)), HUGE * 1e-23),
    ]:
        np.testing.assert_allclose(value(expr, mode, x=HUGE), view(wanted), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_softmax_by_hand(mode: str) -> None:
    x = T.matrix("x")
    wanted = np.exp(exact_log_softmax(HUGE))
    e = T.exp(x)
    np.testing.assert_allclose(value(e / e.sum(axis=1, keepdims=True), mode, x=HUGE), wanted)
    columns = np.exp(exact_log_softmax(HUGE.T)).T
    np.testing.assert_allclose(value(e / e.sum(axis=0), mode, x=HUGE), columns)
    by_hand = T.log(e.sum(axis=1))
    np.testing.assert_allclose(value(by_hand, mode, x=HUGE), [1000, 3.3132616875182228])
    mean = T.log(T.mean(e, axis=1))
    wanted = np.array([1000, 3.3132616875182228]) - np.log(3)
    np.testing.assert_allclose(value(mean, mode, x=HUGE), wanted)


def test_a_maximum_is_not_computed_twice() -> None:
    """A softmax that is already shifted by hand becomes one softmax, not one of shifted numbers."""
    x = T.matrix("x")
    shifted = T.exp(x - x.max(axis=1, keepdims=True))
    for expr in [
        shifted / shifted.sum(axis=1, keepdims=True),
        T.log(shifted.sum(axis=1)) + x.max(axis=1),
        T.log(shifted.sum(axis=1)),
    ]:
        order = walk([optimize(expr)])
        assert sum(node.op.label == "max" for node in order) == 1


def test_pytensors_shifted_sum_of_exponentials_is_not_shifted_again() -> None:
    """The mixture of benchmarks/pymc.py computed the exponentials of an element three times."""
    y = T.matrix("y")
    top = y.max(axis=1, keepdims=True)
    x = y - T.where(T.isinf(top), 0.0, top)
    loss = (T.log(T.exp(x).sum(axis=1)) + T.where(T.isinf(top), 0.0, top)[:, 0]).sum()
    order = walk([optimize(root) for root in (loss, T.grad(loss, y))])
    assert sum(node.op.label in ("exp", "exp_nonpositive", "softmax") for node in order) == 1
    far = np.array([[1000.0, 999.0], [-1e4, -np.inf]])
    np.testing.assert_allclose(value(loss, "default", y=far), 1000 + np.log1p(np.exp(-1)) - 1e4)
    slope = value(T.grad(loss, y), "default", y=far)
    wanted = np.array([[0.7310585786300049, 0.2689414213699951], [1, 0]])
    np.testing.assert_allclose(slope, wanted)


Y = np.array([2, 0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "loss",
    [
        lambda s, y: -T.log(s)[T.arange(y.shape[0]), y].mean(),
        lambda s, y: -T.log(s[T.arange(y.shape[0]), y]).mean(),
        lambda s, y: T.log(s[T.arange(y.shape[0]), y]).mean() * -1,
        lambda s, y: -(T.log(s) * T.constant([[0.0, 0, 1], [1, 0, 0]])).sum() / 2,
        lambda s, y: -T.log(s.reshape((-1,)))[T.constant([2, 3])].mean(),
    ],
)
def test_gradient_of_cross_entropy_where_probabilities_underflow(mode: str, loss: Any) -> None:
    x, y = T.tensor("float64", (2, 3), "x"), T.vector("y", "int64")
    cost = loss(T.softmax(x), y)
    wanted = np.exp(exact_log_softmax(HUGE))
    wanted[np.arange(2), Y] -= 1
    got = value(grad(cost, x), mode, x=HUGE, y=Y)
    np.testing.assert_allclose(got, wanted / 2, rtol=1e-12, atol=1e-300)
    total = -exact_log_softmax(HUGE)[np.arange(2), Y].mean()
    np.testing.assert_allclose(value(cost, mode, x=HUGE, y=Y), total)


FAR = np.array([-800.0, -30.0, 0.5, 40.0, 800.0])
RISE = 1 / (1 + np.exp(-FAR.astype(np.longdouble)))
FALL = 1 / (1 + np.exp(FAR.astype(np.longdouble)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda v: T.log(1 + T.exp(v)), RISE),
        (lambda v: T.log(T.sigmoid(v)), FALL),
        (lambda v: T.log(1 - T.sigmoid(v)), -RISE),
        (lambda v: T.log1p(T.exp(v)), RISE),
        (lambda v: T.log(T.exp(v)), np.ones(5)),
        (lambda v: T.log(1 / (1 + T.exp(-v))), FALL),
    ],
)
def test_gradients_of_stable_forms(mode: str, build: Any, wanted: Any) -> None:
    v = T.vector("v")
    got = value(grad(build(v).sum(), v), mode, v=FAR)
    np.testing.assert_allclose(got, wanted.astype(float), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_gradient_of_log_of_sum_of_exponentials(mode: str) -> None:
    x = T.tensor("float64", (2, 3), "x")
    cost = T.log(T.exp(x).sum(axis=1)).sum()
    got = value(grad(cost, x), mode, x=HUGE)
    np.testing.assert_allclose(got, np.exp(exact_log_softmax(HUGE)), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@mpmath.workprec(9000)  # type: ignore[untyped-decorator]
def test_far_tails(mode: str) -> None:
    v = T.vector("v")
    x = np.array([-40.0, -1.0, 0.3, 1.0, 2.0, 26.0, 27.0, 40.0, 1e6])
    wanted = [float(mpmath.log(mpmath.erfc(e))) for e in x]
    np.testing.assert_allclose(value(T.log(T.erfc(v)), mode, v=x), wanted, rtol=1e-14)
    x = np.array([-1e-20, -1e-3, -0.6, -1.0, -50.0, -700.0])
    wanted = [float(mpmath.log(1 - mpmath.exp(e))) for e in x]
    for expr in (T.log(1 - T.exp(v)), T.log1p(-T.exp(v))):
        np.testing.assert_allclose(value(expr, mode, v=x), wanted, rtol=1e-14)
    x = np.array([1e-20, 1e-3, 1.0, 50.0, 5000.0])
    wanted = [float(mpmath.log(mpmath.exp(e) - 1)) for e in x]
    np.testing.assert_allclose(value(T.log(T.exp(v) - 1), mode, v=x), wanted, rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_pytensor_1476_canonical_forms_do_not_hide_stable_ones(mode: str) -> None:
    v = T.vector("v")
    for expr, op in [
        (T.log(1 + -T.sigmoid(-v)), "log_sigmoid"),
        (T.log(1 - 1 * T.sigmoid(v)), "log_sigmoid"),
        (T.log((1 + T.exp(v)) * 1), "softplus"),
        (T.log(1 * T.exp(v) + 1), "softplus"),
        (T.log(T.exp(T.neg(-v)) + 1), "softplus"),
        (T.reciprocal(1 + T.exp(-v)), "sigmoid"),
        (1 / (1 + T.exp(-1 * v)), "sigmoid"),
        ((1 + T.exp(-v)) ** -1, "sigmoid"),
    ]:
        assert op in labels(optimize(expr, mode)), expr


@pytest.mark.parametrize("mode", MODES)
def test_constants_do_not_hide_stable_forms(mode: str) -> None:
    x = T.constant(HUGE)
    got = value(T.log(T.softmax(x)), mode)
    np.testing.assert_allclose(got, exact_log_softmax(HUGE))
    assert value(T.log(1 + T.constant(1e-30)), mode) == 1e-30
    assert value(T.log(1 + T.exp(T.constant(1000.0))), mode) == 1000.0


def test_rules_tell_their_line_in_the_trace() -> None:
    trace: list[Rewrite] = []
    v = T.vector("v")
    optimize(T.log(1 + v), trace=trace)
    (step,) = trace
    assert step.before is T.log(1 + v)
    assert step.after is T.log1p(v + 0)
    file, line, rest = str(step).split(":", 2)
    text = Path(step.rule.where.file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert file == "stability.py"
    assert "rule(log(1 + x), log1p(x + 0), valid=ROUNDS)" in text
    assert "log(1 + x) -> log1p(x + 0)" in rest


def test_there_are_rules() -> None:
    assert len(all_rules()) > 150


RULES = [rule for rules in stability_rules(with_linalg=False) for rule in rules.all]


@pytest.mark.parametrize("rule", RULES, ids=[f"{n}: {rule.name}" for n, rule in enumerate(RULES)])
def test_what_a_rule_replaces_has_an_op_that_tells(rule: Rule) -> None:
    """Graphs without one are not looked at: see `stabilise`."""
    assert rule.sides is not None
    replaced = [call.function.removesuffix("_kept") for call in calls(rule.sides[0])]
    assert len(replaced) > 1
    assert not TELLING.isdisjoint(replaced)


@pytest.mark.parametrize("half", [1.5, -0.5, -1.5])
def test_half_powers_at_the_ends_of_the_range(half: float) -> None:
    """Square roots overflow where the power does; of negative numbers nothing changes."""
    x = T.vector("x")
    ends = [0.0, 5e-324, 1e-310, 1e-205, 1e-155, 1.0, 1e155, 1e205, 1e308, np.inf, np.nan]
    whole = np.concatenate([ends, np.negative(ends)])
    with np.errstate(all="ignore"):
        unsigned, signed = np.abs(whole) ** half, whole**half
        kept = np.abs(whole) > 1e-300
        got = symc.function([x], T.abs(x) ** half)(whole)
        np.testing.assert_allclose(got[kept], unsigned[kept], rtol=1e-15)
        np.testing.assert_allclose(got[~kept], unsigned[~kept], rtol=1e-2)
        np.testing.assert_allclose(symc.function([x], x**half)(whole), signed, rtol=1e-2)
