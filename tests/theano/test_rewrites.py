"""Rewrites that programs write for Theano's graphs: of nodes, by patterns, in modes."""

from __future__ import annotations

from typing import Any

import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano import gof
from symc.theano.compile.mode import optdb


def _graph(*outputs: Any) -> Any:
    return gof.FunctionGraph([X, Y], list(outputs))


X, Y = T.dscalars("x", "y")


@gof.local_optimizer([T.tanh])
def tanh_to_product(node: Any) -> Any:
    """Not what tanh is, so that it shows where it was applied."""
    return [node.inputs[0] * 10.0] if node.op == T.tanh else False


def test_patterns_replace_expressions() -> None:
    log_of_exp = gof.PatternSub((T.log, (T.exp, "x")), "x")
    graph = _graph(T.log(T.exp(X)) + Y)
    gof.TopoOptimizer(log_of_exp).optimize(graph)
    assert str(graph) == "[Elemwise{add,no_inplace}(x, y)]"
    several = _graph(T.log(T.exp(X)) + T.exp(X))  # two nodes: what lies inside has one use
    inner = several.outputs[0].owner.inputs[1]
    several.replace(inner, several.outputs[0].owner.inputs[0].owner.inputs[0])
    before = str(several)
    gof.OpKeyOptimizer(log_of_exp).optimize(several)
    assert str(several) == before
    free = gof.PatternSub((T.log, (T.exp, "x")), "x", allow_multiple_clients=True)
    gof.OpKeyOptimizer(free).optimize(several)
    assert str(several) == "[Elemwise{add,no_inplace}(x, Elemwise{exp,no_inplace}(x))]"


def test_patterns_with_constraints_numbers_and_the_same_name_twice() -> None:
    twice = gof.PatternSub((T.add, "x", "x"), (T.mul, 2, "x"))
    graph = _graph((X + X) * (X + Y))
    gof.opt.in2out(twice).optimize(graph)
    first, second = (each.owner for each in graph.outputs[0].owner.inputs)
    assert (first.op, first.inputs[0].data, second.op) == (T.mul, 2, T.add)
    named = {"pattern": "z", "constraint": lambda variable: variable.name == "y"}
    drop = gof.PatternSub((T.neg, named), "z")
    graph = _graph(-X, -Y)
    gof.opt.out2in(drop).optimize(graph)
    assert str(graph) == "[Elemwise{neg,no_inplace}(x), y]"
    with pytest.raises(TypeError, match="must start with a specific Op"):
        gof.PatternSub("x", "y")


def test_rewrites_until_nothing_changes(caplog: Any) -> None:
    @gof.local_optimizer([T.sqr])
    def unpacked(node: Any) -> Any:
        return [node.inputs[0] * node.inputs[0]]

    graph = _graph(T.tanh(T.sqr(T.tanh(X))))
    equal = gof.EquilibriumOptimizer([tanh_to_product, unpacked], max_use_ratio=10)
    equal.optimize(graph)
    f = theano.function(graph.inputs, graph.outputs, on_unused_input="ignore")
    assert [float(each) for each in f(0.5, 0.0)] == [250.0]

    swaps = gof.PatternSub((T.add, "x", "y"), (T.add, "y", "x"))
    gof.EquilibriumOptimizer([swaps], max_use_ratio=3).optimize(_graph(X + Y))
    assert "max'ed out" in caplog.text


def test_merging_makes_equal_nodes_and_constants_one() -> None:
    graph = _graph(T.exp(X + 1.5) * Y, T.exp(X + 1.5))
    gof.MergeOptimizer().optimize(graph)
    product, power = graph.outputs
    assert power in product.owner.inputs
    assert len(graph.toposort()) == 3


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optdb, "_entries", dict(vars(optdb)["_entries"]))
    optdb.register("mine", gof.TopoOptimizer(tanh_to_product), 1.2, "my_tag")


def test_modes_apply_rewrites(registered: None) -> None:
    plain = theano.function([X], T.tanh(X))
    assert 0 < plain(2.0) < 1
    mode = theano.Mode(optimizer=gof.TopoOptimizer(tanh_to_product))
    asked = theano.compile.mode.get_default_mode().including("my_tag")
    for each in (mode, asked):
        count = theano.shared(0.0)
        f = theano.function([X], T.tanh(X), updates=[(count, T.tanh(X) + count)], mode=each)
        assert (float(f(2.0)), float(count.get_value())) == (20.0, 20.0)
        assert T.tanh not in {node.op for node in f.maker.fgraph.toposort()}
    assert 0 < theano.function([X], T.tanh(X), mode=asked.excluding("mine"))(2.0) < 1


def test_rewrites_of_the_whole_graph_and_wrong_replacements() -> None:
    class Own(gof.Optimizer):
        def apply(self, fgraph: Any) -> None:
            for node in fgraph.toposort():
                if node.op == T.sqr:
                    fgraph.replace_validate(node.outputs[0], node.inputs[0] * 100.0)

    graph = _graph(T.sqr(X))
    gof.SeqOptimizer(Own(), gof.MergeOptimizer()).optimize(graph)
    f = theano.function(graph.inputs, graph.outputs, on_unused_input="ignore")
    assert [float(each) for each in f(2.0, 0.0)] == [200.0]

    @gof.local_optimizer([T.exp])
    def wrong(node: Any) -> Any:
        return [*node.inputs, *node.inputs]

    with pytest.raises(ValueError, match="wrong number of replacements"):
        gof.TopoOptimizer(wrong).optimize(_graph(T.exp(X)))
    with pytest.raises(ValueError, match="None instead of an empty list"):
        gof.local_optimizer([])
