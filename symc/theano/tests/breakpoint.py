"""`theano.tests.breakpoint`: a debugger while a program runs."""

from __future__ import annotations

import pdb
from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable


class PdbBreakpoint(Op):
    """The monitored values as they are; where the condition is true, Python's debugger starts."""

    __props__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def make_node(self, condition: Any, *monitored_vars: Any) -> Apply:
        found = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in monitored_vars]
        condition = as_tensor_variable(condition)
        assert condition.ndim == 0
        return Apply(self, [condition, *found], [each.type() for each in found])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        condition, *values = inputs
        if np.asarray(condition):
            pdb.set_trace()
        for cell, value in zip(output_storage, values, strict=True):
            cell[0] = value

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The shapes of the monitored values."""
        del node
        return shapes[1:]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        from symc.theano.gof.null_type import DisconnectedType

        del inputs, outputs
        return [DisconnectedType()(), *output_grads]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Each value is connected to its output, the condition to none."""
        count = len(node.outputs)
        return [[False] * count, *([k == out for out in range(count)] for k in range(count))]
