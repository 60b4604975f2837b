"""From Theano's graphs to symc's: each op's `meaning`, along the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.derivatives.reverse import placeholder
from symc.graph.inputs import constant
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import substitute
from symc.tensor.elementwise import cast_to
from symc.theano.gof.graph import Apply, Constant, Variable, io_toposort
from symc.theano.routed import routed


class Translation:
    """The tensors of symc that Theano's variables stand for.

    `known` starts with the inputs, and holds everything that was translated.
    """

    def __init__(self, known: Mapping[Any, Tensor] | None = None, routes: bool = False) -> None:
        self.known: dict[Any, Tensor] = dict(known or {})
        # Whether symc is to differentiate the expressions, and has to ask ops for their own step.
        self.routes = routes

    def expressions(self, outputs: Sequence[Any]) -> list[Tensor]:
        """The outputs as symc expressions."""
        from symc.theano.stable import stable_form

        for node in io_toposort(self.known, outputs):
            form = stable_form(node)
            if form is not None:
                self.known.setdefault(node.outputs[0], self._value(form))
                continue
            args = [self._leaf(each) for each in node.inputs]
            with located_at(node.where):
                results = meaning_of(node, args)
            if self.routes:
                results = routed(node, args, results)
            for variable, result in zip(node.outputs, results, strict=True):
                if variable not in self.known:
                    self.known[variable] = result
                    if variable.name is not None and result.name is None and result.args:
                        result.name = variable.name
        return [self._leaf(each) for each in outputs]

    def _value(self, form: Any) -> Tensor:
        """The value of a stable form, whose own steps have none."""
        for node in io_toposort(self.known, [form]):
            results = meaning_of(node, [self._leaf(each) for each in node.inputs])
            self.known.update(zip(node.outputs, results, strict=True))
        return self.known[form]

    def _leaf(self, variable: Any) -> Tensor:
        found = self.known.get(variable)
        if found is None:
            if isinstance(variable, Constant):
                found = fitted(constant(variable.type.encoded(variable.data)), variable.type)
            else:
                made = getattr(variable, "symc_variable", None)
                found = variable.type.symbol(variable.name) if made is None else made
            self.known[variable] = found
        return found


def meaning_of(node: Apply, args: Sequence[Tensor]) -> list[Tensor]:
    """The outputs of one application as symc expressions, with the types that Theano says."""
    if not node.op.makes_symbols:
        results = node.op.meaning(node, *args)
        return [fitted(r, v.type) for r, v in zip(results, node.outputs, strict=True)]
    # Asked twice, on the way forward and for a gradient, it would make two loops.
    key = tuple(arg.type for arg in args)
    kept = node.op.__dict__.setdefault("_templates", {})
    if key not in kept:
        holes = [placeholder(arg.type) for arg in args]
        results = node.op.meaning(node, *holes)
        kept[key] = (
            holes, [fitted(r, v.type) for r, v in zip(results, node.outputs, strict=True)]
        )  # fmt: skip
    holes, results = kept[key]
    return substitute(results, dict(zip(holes, args, strict=True)))


def fitted(result: Tensor, type: Any) -> Tensor:
    """A result with the dtype of a Theano type, and with length 1 where that broadcasts."""
    if type.lengths is not None:
        return T.specify_shape(result, list(type.lengths))
    dtype = getattr(type, "dtype", None)
    if dtype is None:
        return result
    if result.dtype.name != dtype:
        result = cast_to(result, dtype)
    known = [
        1 if flag and dim != 1 else None
        for flag, dim in zip(type.broadcastable, result.type.shape, strict=True)
    ]
    return T.specify_shape(result, known) if any(known) else result


def interpreted(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    """The values of an application's outputs, computed with NumPy."""
    symbols = [each.type.symbol(each.name) for each in node.inputs]
    values = {
        symbol: np.asarray(each.type.encoded(value))
        for symbol, each, value in zip(symbols, node.inputs, inputs, strict=True)
    }
    given = [
        fitted(constant(each.type.encoded(each.data)), each.type)
        if isinstance(each, Constant)
        else symbol
        for symbol, each in zip(symbols, node.inputs, strict=True)
    ]
    results = evaluate(meaning_of(node, given), values)
    return [v.type.decoded(each) for v, each in zip(node.outputs, results, strict=True)]


def detached(node: Apply) -> Apply:
    """An application of the same op to variables of the same types, which have no owners."""
    ins: list[Variable] = [
        each if isinstance(each, Constant) else each.type() for each in node.inputs
    ]
    made = Apply(node.op, ins, [each.type() for each in node.outputs])
    made.tag = node.tag
    return made
