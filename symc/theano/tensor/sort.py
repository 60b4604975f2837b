"""Sorting, and the largest elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import symc.tensor as T
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import int_dtypes, integer_dtypes
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = [
    "ArgSortOp", "SortOp", "TopKOp", "argsort", "argtopk", "sort", "topk", "topk_and_argtopk",
]  # fmt: skip


class SortOp(Op):
    """The elements in order along an axis, which may be a variable."""

    __props__ = ("kind", "order")

    def __init__(self, kind: str = "quicksort", order: Any = None) -> None:
        self.kind, self.order = kind, order

    def make_node(self, input: Any, axis: Any = -1) -> Apply:
        x, axis = as_tensor_variable(input), as_tensor_variable(axis)
        return Apply(self, [x, axis], [self.kind_of(x)()])

    def kind_of(self, x: Any) -> TensorType:
        """The type of the result."""
        kind: TensorType = x.type
        return kind

    def run(self, x: Tensor, axis: int) -> Tensor:
        """The result along an axis that is known."""
        return T.sort(x, axis=axis)

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [_along(inputs[0], inputs[1], self.run)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """The axis has no gradient."""
        return [[True], [False]]


class ArgSortOp(SortOp):
    """The positions of the elements in order."""

    step_follows_meaning = True

    def kind_of(self, x: Any) -> TensorType:
        return TensorType("int64", x.type.broadcastable)

    def run(self, x: Tensor, axis: int) -> Tensor:
        return T.cast(T.argsort(x, axis=axis), "int64")

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        from symc.theano.gof.null_type import DisconnectedType
        from symc.theano.gradient_types import zeros_of

        del outputs, output_grads
        return [zeros_of(inputs[0]), DisconnectedType()()]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        if eval_points[0] is None:
            return [None]
        return [eval_points[0].zeros_like()]


def _along(x: Tensor, axis: Tensor, run: Callable[[Tensor, int], Tensor]) -> Tensor:
    """What `run` gives along an axis, one of all results where it is not known."""
    known = constant_value(axis)
    if known is not None:
        return run(x, int(known.reshape(())))
    place = T.where(axis < 0, axis + x.ndim, axis)
    result = run(x, 0)
    for each in range(1, x.ndim):
        result = T.where(T.eq(place, each), run(x, each), result)
    return result


def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The elements in order along an axis; None: all elements."""
    a = as_tensor_variable(a)
    if axis is None:
        return SortOp(kind, order)(a.flatten(), 0)
    return SortOp(kind, order)(a, axis)


def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The positions of the elements in order; None: of all elements."""
    a = as_tensor_variable(a)
    if axis is None:
        return ArgSortOp(kind, order)(a.flatten(), 0)
    return ArgSortOp(kind, order)(a, axis)


# --- the largest elements -------------------------------------------------------------------------


class TopKOp(Op):
    """The `kth` largest elements along an axis, or for a negative number the smallest ones."""

    __props__ = ("axis", "sorted", "idx_dtype", "return_values", "return_indices")

    def __init__(
        self, axis: Any = -1, sorted: bool = True, idx_dtype: str = "int64",
        return_values: bool = True, return_indices: bool = True,
    ) -> None:  # fmt: skip
        if not isinstance(axis, int):
            raise TypeError(f'"axis" parameter must be integer, got "{type(axis)}"')
        if sorted:
            raise NotImplementedError(
                "The sorted parameter is not yet implemented. Use sorted=False for now."
            )
        if idx_dtype not in integer_dtypes:
            raise TypeError(f'"idx_dtype" parameter must be an integer dtype, got "{idx_dtype}"')
        if not (return_indices or return_values):
            raise ValueError("Neither return_values nor return_indices is True, this isn't allowed")
        self.axis, self.sorted, self.idx_dtype = axis, sorted, idx_dtype
        self.return_values, self.return_indices = return_values, return_indices

    def make_node(self, inp: Any, kth: Any) -> Apply:
        x, k = as_tensor_variable(inp), as_tensor_variable(kth)
        if x.ndim == 0:
            raise ValueError("Cannot take scalar as input")
        if not -x.ndim <= self.axis < x.ndim:
            raise IndexError(
                f'"axis" parameter out of range, expected integer within [{-x.ndim}, {x.ndim - 1}]'
            )
        if k.ndim or k.dtype not in int_dtypes:
            raise TypeError(f'"kth" must be a scalar integer, got {k.type}')
        place = self.axis % x.ndim
        one = isinstance(k, Constant) and abs(int(k.data)) == 1
        flags = [f if axis != place else one for axis, f in enumerate(x.broadcastable)]
        made: list[Variable] = []
        if self.return_values:
            made.append(TensorType(x.dtype, flags)())
        if self.return_indices:
            made.append(TensorType(self.idx_dtype, flags)())
        return Apply(self, [x, k], made)

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, k = inputs
        axis = self.axis % x.ndim
        known = constant_value(k)
        if known is not None:
            if int(known) == 0:
                raise ValueError("topk: kth cannot be zero")
            _, places = T.topk(x, abs(int(known)), axis=axis, largest=bool(known > 0))
        else:
            count = T.cast(T.as_tensor(T.shape(x)[axis]), "int64")
            start = T.where(k > 0, count - k, 0)
            stop = T.where(k > 0, count, -k)
            order = T.argsort(x, axis=axis)
            places = order[(*(slice(None) for _ in range(axis)), slice(start, stop))]
        found: list[Tensor] = []
        if self.return_values:
            found.append(T.take_along_axis(x, places, axis=axis))
        if self.return_indices:
            found.append(T.cast(places, self.idx_dtype))
        return found

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Only values have gradients."""
        values = [self.return_values] + [False] * (node.nout - 1)
        return [values, [False] * node.nout]


def _flat(x: Any, axis: int | None) -> tuple[Any, int]:
    x = as_tensor_variable(x)
    return (x.flatten(), 0) if axis is None else (x, axis)


def topk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> Any:
    """The `kth` largest elements along an axis, in no order."""
    x, place = _flat(x, axis)
    return TopKOp(place, sorted, idx_dtype, return_indices=False)(x, kth)


def argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> Any:
    """Where the `kth` largest elements along an axis are."""
    x, place = _flat(x, axis)
    return TopKOp(place, sorted, idx_dtype, return_values=False)(x, kth)


def topk_and_argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> Any:
    """The `kth` largest elements along an axis and where they are."""
    x, place = _flat(x, axis)
    return TopKOp(place, sorted, idx_dtype)(x, kth)
