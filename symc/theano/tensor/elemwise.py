"""Elementwise ops and `DimShuffle`, which aligns their operands."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.basic import SCALAR_OPS, ScalarOp, is_discrete
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


class DimShuffle(Op):
    """Axes in another order, left out where they broadcast, new ones where `new_order` has 'x'."""

    __props__ = ("input_broadcastable", "new_order", "inplace")

    def __init__(
        self, input_broadcastable: Sequence[bool], new_order: Sequence[Any], inplace: bool = True
    ) -> None:
        self.input_broadcastable = tuple(input_broadcastable)
        self.new_order = tuple(new_order)
        self.inplace = inplace
        kept = [axis for axis in self.new_order if axis != "x"]
        for axis in kept:
            if not isinstance(axis, int):
                raise TypeError(f"DimShuffle indices must be python ints, got {axis!r}")
            if axis >= len(self.input_broadcastable):
                raise ValueError(
                    f"new_order[{self.new_order.index(axis)}] is {axis}, but the input only has "
                    f"{len(self.input_broadcastable)} axes."
                )
            if kept.count(axis) > 1:
                raise ValueError(
                    "The same input dimension may not appear twice in the list of output "
                    f"dimensions: {self.new_order}"
                )
        self.shuffle = kept
        self.drop = [axis for axis in range(len(self.input_broadcastable)) if axis not in kept]
        self.augment = [place for place, axis in enumerate(self.new_order) if axis == "x"]
        for axis in self.drop:
            if not self.input_broadcastable[axis]:
                raise ValueError(
                    "You cannot drop a non-broadcastable dimension:",
                    f" {self.input_broadcastable}, {self.new_order}",
                )

    def make_node(self, input: Any) -> Apply:
        x = as_tensor_variable(input)
        flags = tuple(x.type.broadcastable)
        if len(flags) != len(self.input_broadcastable) or any(
            own and not its for own, its in zip(self.input_broadcastable, flags, strict=True)
        ):
            raise TypeError(
                "The number of dimensions and/or broadcastable pattern of the input is incorrect "
                f"for this op. Expected {self.input_broadcastable}, got {flags}."
            )
        made = [True if axis == "x" else flags[axis] for axis in self.new_order]
        return Apply(self, [x], [TensorType(x.type.dtype, made)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x = T.squeeze(inputs[0], axis=tuple(self.drop)) if self.drop else inputs[0]
        kept = sorted(self.shuffle)
        order = [kept.index(axis) for axis in self.shuffle]
        x = x if order == sorted(order) else T.transpose(x, order)
        return [T.expand_dims(x, tuple(self.augment)) if self.augment else x]

    def __str__(self) -> str:
        return f"InplaceDimShuffle{{{','.join(map(str, self.new_order))}}}"


class Elemwise(Op):
    """A scalar op along all elements of operands of one number of axes."""

    differentiates_integers = True

    def __init__(
        self, scalar_op: ScalarOp, inplace_pattern: Any = None, name: str | None = None,
        openmp: Any = None,
    ) -> None:  # fmt: skip
        del openmp
        self.scalar_op = scalar_op
        self.inplace_pattern = dict(inplace_pattern or {})
        self.name = name
        self.nin = scalar_op.nin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Elemwise) and self.scalar_op.name == other.scalar_op.name

    def __hash__(self) -> int:
        return hash((Elemwise, self.scalar_op.name))

    def make_node(self, *inputs: Any) -> Apply:
        operands = [as_tensor_variable(each) for each in inputs]
        if self.nin not in (-1, len(operands)) or not operands:
            raise TypeError(f"Wrong number of inputs for {self}: {len(operands)}")
        dtype = self.scalar_op.output_dtype([each.dtype for each in operands])
        operands = aligned(operands)
        flags = [all(each) for each in zip(*(x.broadcastable for x in operands), strict=True)]
        _warn_of_float64(operands, dtype)
        return Apply(self, operands, [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        dtypes = [each.type.dtype for each in node.inputs]
        result = self.scalar_op.compute(dtypes, inputs)
        if result.ndim and self.scalar_op.name == "second":
            result = T.zeros_like(inputs[0], dtype=result.dtype) + result
        return [result]

    def __str__(self) -> str:
        return self.name or f"Elemwise{{{self.scalar_op}}}"


def aligned(operands: Sequence[Any]) -> list[Any]:
    """The operands with new axes in front, so that all have the same number."""
    most = max(each.ndim for each in operands)
    return [
        each
        if each.ndim == most
        else each.dimshuffle(["x"] * (most - each.ndim) + list(range(each.ndim)))
        for each in operands
    ]


def _warn_of_float64(operands: Sequence[Any], dtype: str) -> None:
    if config.warn_float64 == "ignore" or dtype != "float64":
        return
    if any(each.dtype == "float64" for each in operands):
        return
    text = "You are creating a TensorVariable with float64 dtype. You requested an action via "
    text += "the Theano flag warn_float64={ignore,warn,raise,pdb}."
    if config.warn_float64 == "raise":
        raise Exception(text)
    warnings.warn(text, stacklevel=6)


def elemwise(name: str) -> Elemwise:
    """The op of a scalar op of the table."""
    return Elemwise(SCALAR_OPS[name], name=f"Elemwise{{{name},no_inplace}}")


def floats_of(variable: Any) -> bool:
    """Whether a variable is of floats or complex numbers."""
    return not is_discrete(variable.dtype)
