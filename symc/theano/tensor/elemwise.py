"""Elementwise ops and `DimShuffle`, which aligns their operands."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.scalar.basic import SCALAR_OPS, ScalarOp, is_discrete
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


class DimShuffle(Op):
    """Axes in another order, left out where they broadcast, new ones where `new_order` has 'x'."""

    __props__ = ("input_broadcastable", "new_order", "inplace")
    view_map: ClassVar[dict[int, list[int]]] = {0: [0]}

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

    @property
    def has_own_step(self) -> bool:
        """Whether the scalar op is a program's, or has a gradient of its own."""
        return self.scalar_op.is_own or type(self.scalar_op).grad is not Op.grad

    @property
    def nout(self) -> int:
        """The number of results."""
        return self.scalar_op.nout

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Elemwise)
            and self.scalar_op == other.scalar_op
            and self.inplace_pattern == other.inplace_pattern
        )

    def __hash__(self) -> int:
        return hash((Elemwise, self.scalar_op, tuple(self.inplace_pattern.items())))

    @property
    def destroy_map(self) -> dict[int, list[int]]:  # type: ignore[override]
        """The inputs that Theano would overwrite; symc's compiler decides that itself."""
        return {output: [place] for output, place in self.inplace_pattern.items()}

    def make_node(self, *inputs: Any) -> Apply:
        operands = [as_tensor_variable(each) for each in inputs]
        if self.nin not in (-1, len(operands)) or not operands:
            raise TypeError(f"Wrong number of inputs for {self}: {len(operands)}")
        dtypes = self.scalar_op.output_dtypes([each.dtype for each in operands])
        operands = aligned(operands)
        flags = [all(each) for each in zip(*(x.broadcastable for x in operands), strict=True)]
        self._check_inplace(operands, dtypes, flags)
        _warn_of_float64(operands, dtypes[0])
        return Apply(self, operands, [TensorType(dtype, flags)() for dtype in dtypes])

    def _check_inplace(
        self, operands: Sequence[Any], dtypes: Sequence[str], flags: Sequence[bool]
    ) -> None:
        for output, place in self.inplace_pattern.items():
            its = operands[place].broadcastable
            if any(own and not flag for own, flag in zip(its, flags, strict=True)):
                raise ValueError(
                    "Operation cannot be done inplace on an input with broadcasted dimensions."
                )
            if operands[place].dtype != dtypes[output]:
                raise TypeError(
                    "Cannot do an inplace operation on incompatible data types.",
                    ([each.type.dtype for each in operands], dtypes, self.inplace_pattern),
                )

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        if self.scalar_op.is_own:
            from symc.theano.perform import called_back

            return called_back(self, node)(*inputs)
        results = self.scalar_op.computed([each.type.dtype for each in node.inputs], inputs)
        if results[0].ndim and self.scalar_op.name == "second":
            return [T.zeros_like(inputs[0], dtype=results[0].dtype) + results[0]]
        return results

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        if not self.scalar_op.is_own:
            super().perform(node, inputs, output_storage)
            return
        function = np.frompyfunc(self.scalar_op.impl, len(inputs), self.nout)
        found = function(*inputs)
        for cell, value, output in zip(
            output_storage, [found] if self.nout == 1 else found, node.outputs, strict=True
        ):
            cell[0] = np.asarray(value).astype(output.type.dtype)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Any) -> Any:
        own = type(self.scalar_op)
        if not self.scalar_op.is_own and own.grad is Op.grad:
            return super().L_op(inputs, outputs, output_grads)
        bars = [
            each.zeros_like() if isinstance(bar.type, DisconnectedType) else bar
            for each, bar in zip(outputs, output_grads, strict=True)
        ]
        if own.L_op is not ScalarOp.L_op:
            found = self.scalar_op.L_op(inputs, outputs, bars)
        else:
            found = self.scalar_op.grad(inputs, bars)
        return [_as_wide_as(each, grad) for each, grad in zip(inputs, found, strict=True)]

    def __str__(self) -> str:
        if self.name:
            return self.name
        if self.inplace_pattern:
            return f"Elemwise{{{self.scalar_op}}}{sorted(self.inplace_pattern.items())}"
        return f"Elemwise{{{self.scalar_op}}}"


def _as_wide_as(operand: Any, grad: Any) -> Any:
    """A gradient summed along the axes that the operand was broadcast along."""
    if not isinstance(grad, Variable) or not isinstance(grad.type, TensorType):
        return grad
    gone = [
        axis
        for axis, (own, its) in enumerate(
            zip(operand.broadcastable, grad.broadcastable, strict=True)
        )
        if own and not its
    ]
    return grad.sum(axis=gone, keepdims=True) if gone else grad


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


def __getattr__(name: str) -> Any:
    if name in ("All", "Any", "CAReduce", "CAReduceDtype", "Prod", "ProdWithoutZeros", "Sum"):
        return getattr(import_module("symc.theano.tensor.reductions"), name)
    if name in ("MulWithoutZeros", "mul_without_zeros"):
        return getattr(import_module("symc.theano.scalar.special"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def floats_of(variable: Any) -> bool:
    """Whether a variable is of floats or complex numbers."""
    return not is_discrete(variable.dtype)
