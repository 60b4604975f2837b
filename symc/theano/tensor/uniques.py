"""The different elements of a tensor, or its different parts along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


class Unique(Op):
    """The different elements in order, with where they first are, where each went, and counts."""

    __props__ = ("return_index", "return_inverse", "return_counts", "axis")

    def __init__(
        self, return_index: bool = False, return_inverse: bool = False,
        return_counts: bool = False, axis: int | None = None,
    ) -> None:  # fmt: skip
        self.return_index, self.return_inverse = return_index, return_inverse
        self.return_counts, self.axis = return_counts, axis

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        flags = [False]
        if self.axis is not None:
            if not -x.ndim <= self.axis < x.ndim:
                raise RuntimeError(
                    f"Unique axis `{self.axis}` is outside of input ndim = {x.ndim}."
                )
            place = self.axis % x.ndim
            flags = [flag and axis != place for axis, flag in enumerate(x.broadcastable)]
        count = self.return_index + self.return_inverse + self.return_counts
        positions = [TensorType("int64", [False])() for _ in range(count)]
        return Apply(self, [x], [TensorType(x.dtype, flags)(), *positions])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        if self.axis is not None and inputs[0].ndim > 1:
            from symc.theano.perform import called_back

            return called_back(self, node)(*inputs)
        found = T.unique(
            T.ravel(inputs[0]), return_index=self.return_index,
            return_inverse=self.return_inverse, return_counts=self.return_counts,
        )  # fmt: skip
        return list(found) if isinstance(found, list | tuple) else [found]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        unique: Any = np.unique  # its overloads know no variable flags
        found = unique(
            inputs[0], return_index=self.return_index, return_inverse=self.return_inverse,
            return_counts=self.return_counts, axis=self.axis,
        )  # fmt: skip
        parts = found if isinstance(found, tuple) else (found,)
        for cell, value, output in zip(output_storage, parts, node.outputs, strict=True):
            value = np.asarray(value, dtype=output.type.dtype)
            cell[0] = value.reshape(-1) if output.type.ndim == 1 else value

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Elements that are left out have no gradient."""
        return [[False] * node.nout]
