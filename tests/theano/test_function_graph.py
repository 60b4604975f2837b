"""Function graphs that change, and what is told of it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.gof import FunctionGraph, InconsistencyError, MissingInputError, toolbox
from symc.theano.gof.graph import as_string, io_toposort, nodes_constructed
from symc.theano.gof.in_place import OverwritesFirst
from symc.theano.tensor.utils import shape_of_variables


def test_a_replacement_is_used_everywhere_and_can_be_taken_back() -> None:
    x, y = T.dvectors("x", "y")
    e = T.exp(x)
    graph = FunctionGraph([x, y], [e * y + e], clone=False)
    before = graph.checkpoint()
    assert len(e.clients) == 2
    graph.replace_validate(e, T.tanh(x), reason="a test")
    graph.check_integrity()
    f = theano.function(graph.inputs, graph.outputs)
    np.testing.assert_allclose(f([1.0], [2.0])[0], 3 * np.tanh([1.0]))
    assert e.owner not in graph.apply_nodes
    graph.revert(before)
    assert e.owner in graph.apply_nodes
    graph.check_integrity()
    with pytest.raises(TypeError, match="type of the replacement"):
        graph.replace(e, T.dscalar())


class Refusing(toolbox.Feature):
    """Takes note of all changes, and refuses graphs with a sine."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    def on_import(self, function_graph: Any, node: Any, reason: Any) -> None:
        self.seen.append(("in", str(node.op)))

    def on_prune(self, function_graph: Any, node: Any, reason: Any) -> None:
        self.seen.append(("out", str(node.op)))

    def validate(self, fgraph: Any) -> None:
        if any("sin" in str(node.op) for node in fgraph.apply_nodes):
            raise InconsistencyError


def test_features_are_told_and_may_refuse() -> None:
    x = T.dscalar("x")
    feature, finder = Refusing(), toolbox.NodeFinder()
    graph = FunctionGraph([x], [T.exp(T.log(x))], features=[feature, finder])
    (first,) = graph.get_nodes(T.log)
    with pytest.raises(InconsistencyError):
        graph.replace_validate(first.outputs[0], T.sin(graph.inputs[0]))
    assert graph.get_nodes(T.log) == [first]
    assert not graph.get_nodes(T.sin)
    assert ("out", "Elemwise{sin,no_inplace}") in feature.seen
    copy = pickle.loads(pickle.dumps(graph))
    copy.check_integrity()
    assert [str(node.op) for node in copy.toposort()] == [str(n.op) for n in graph.toposort()]


def test_a_graph_needs_its_inputs() -> None:
    x, y = T.dscalars("x", "y")
    with pytest.raises(MissingInputError):
        FunctionGraph([x], [x + y])


def test_orderings_clients_texts_and_what_was_made() -> None:
    x = T.dscalar("x")
    with nodes_constructed() as made:
        e, s = T.exp(x), T.sin(x)
        total = e + s
    assert made == [e, s, total]
    clients: dict[Any, Any] = {}
    order = io_toposort([x], [total], {e.owner: [s.owner]}, clients)
    assert order.index(s.owner) < order.index(e.owner)
    assert clients[e.owner] == [total.owner]
    text = "Elemwise{mul,no_inplace}(*1 -> Elemwise{exp,no_inplace}(x), *1)"
    assert as_string([x], [e * e]) == [text]


def test_shapes_of_a_whole_graph() -> None:
    x = T.dmatrix("x")
    y = T.dot(x, x.T)
    shapes = shape_of_variables(FunctionGraph([x], [y], clone=False), {x: (5, 1)})
    assert (shapes[x], shapes[y]) == ((5, 1), (5, 5))
    with pytest.raises(ValueError, match="clone=False"):
        shape_of_variables(FunctionGraph([x.clone()], [T.constant(1.0)]), {x: (5, 1)})


def test_writing_into_what_nothing_else_needs_is_shown_in_place() -> None:
    x, rows = T.dmatrix("x"), T.lvector("rows")
    g = T.grad(T.exp(x[rows]).sum(), x)
    twice = T.set_subtensor(T.inc_subtensor(T.zeros_like(x)[0], 1.0)[1], 2.0)
    kept = T.zeros_like(x)
    outputs = [g, twice, kept, T.set_subtensor(kept[0], 1.0), T.set_subtensor(x[0], 1.0)]

    def shown(mode: str) -> list[list[bool]]:
        graph = theano.function([x, rows], outputs, mode=mode).maker.fgraph
        return [
            [
                node.op.inplace
                for node in io_toposort(graph.inputs, [each])
                if isinstance(node.op, OverwritesFirst)
            ]
            for each in graph.outputs
        ]

    assert shown("FAST_RUN") == [[True], [True, True], [], [False], [False]]
    assert shown("FAST_COMPILE") == [[False], [False, False], [], [False], [False]]
