"""Shapes that ops' `infer_shape` tells, in functions that run in Python.

So that the shape of a product of sparse matrices, for example, is known without the product. In
compiled functions symc tells lengths itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.theano.gof.graph import io_toposort, replaced
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.joining import make_vector
from symc.theano.tensor.shaping import Shape, Shape_i


def with_told_lengths(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The outputs, where shapes of ops' results are told from the ops' inputs."""
    told = _Told(inputs)
    pairs: dict[Any, Any] = {}
    for node in io_toposort(inputs, outputs):
        op = node.op
        if not (isinstance(op, Shape | Shape_i) or getattr(op, "gives_shape", False)):
            continue
        found = told.lengths(node.inputs[0])
        if found is not None:
            length = as_tensor_variable(found[op.i]) if isinstance(op, Shape_i) else _vector(found)
            pairs[node.outputs[0]] = length.astype("int64")
    return replaced(outputs, pairs) if pairs else list(outputs)


def _vector(lengths: Sequence[Any]) -> Any:
    return make_vector(*(as_tensor_variable(each).astype("int64") for each in lengths))


class _Told:
    """The lengths of variables, each asked for once."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self.inputs = set(inputs)
        self.known: dict[Any, Any] = {}

    def lengths(self, variable: Any) -> Any:
        """The lengths of a variable as its op tells them; None where it does not."""
        if variable not in self.known:
            self.known[variable] = self._asked(variable)
        return self.known[variable]

    def _asked(self, variable: Any) -> Any:
        node = None if variable in self.inputs else variable.owner
        infer = None if node is None else getattr(node.op, "infer_shape", None)
        if node is None or infer is None:
            return None
        shapes = [self.lengths(each) or _taken(each) for each in node.inputs]
        try:
            return infer(node, shapes)[variable.index]
        except NotImplementedError:
            return None


def _taken(variable: Any) -> Any:
    """The lengths of a variable as nodes that look at its value."""
    rank = getattr(variable, "ndim", None)
    if rank is None:
        return None
    return tuple(variable.shape[axis] for axis in range(rank))
