"""Sparse matrices beside and above each other, and parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply
from symc.theano.scalar.dtypes import continuous_dtypes, discrete_dtypes
from symc.theano.sparse.conversions import sp_zeros_like
from symc.theano.sparse.op import SparseOp, as_sparse_variable, joined, vector_of
from symc.theano.sparse.scipy import sparse
from symc.theano.sparse.type import SparseType
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType
from symc.theano.tensor.type_other import NoneConst

__all__ = [
    "GetItem2Lists", "GetItem2ListsGrad", "GetItem2d", "GetItemList", "GetItemListGrad",
    "GetItemScalar", "HStack", "VStack", "get_item_2d", "get_item_2lists",
    "get_item_2lists_grad", "get_item_list", "get_item_list_grad", "get_item_scalar", "getitem",
    "hstack", "vstack",
]  # fmt: skip


class HStack(SparseOp):
    """Matrices beside each other, in a format and dtype."""

    axis = 1

    def __init__(self, format: str | None = None, dtype: Any = None) -> None:
        if dtype is None:
            raise ValueError("The output dtype must be specified.")
        self.format, self.dtype = format or "csc", dtype
        super().__init__(
            type(self).__name__, lambda *_: [SparseType(self.format, self.dtype)], self._stacked,
            self._back, format=self.format, dtype=np.dtype(dtype).name,
        )  # fmt: skip

    def make_node(self, *inputs: Any) -> Apply:
        if not inputs:
            raise ValueError("Cannot join an empty list of sparses.")
        return super().make_node(*map(as_sparse_variable, inputs))

    def _stacked(self, *blocks: Any) -> Any:
        join = sparse.hstack if self.axis else sparse.vstack
        return join(blocks, format=self.format, dtype=self.dtype)

    def _back(self, inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        found: list[Any] = []
        place: Any = 0
        for each in inputs:
            stop = place + each.shape[self.axis]
            part = bars[0][:, place:stop] if self.axis else bars[0][place:stop]
            found.append(part if each.dtype in continuous_dtypes else sp_zeros_like(each))
            place = stop
        return found

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """One length is the sum, the other that of the first."""
        whole = sum((each[self.axis] for each in shapes[1:]), shapes[0][self.axis])
        return [(shapes[0][0], whole) if self.axis else (whole, shapes[0][1])]

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.format},{self.dtype})"


class VStack(HStack):
    """Matrices above each other, in a format and dtype."""

    axis = 0


def hstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices beside each other."""
    given = [as_sparse_variable(each) for each in blocks]
    return HStack(format, dtype or joined(*given))(*given)


def vstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices above each other."""
    given = [as_sparse_variable(each) for each in blocks]
    return VStack(format, dtype or joined(*given))(*given)


# --- parts ----------------------------------------------------------------------------------------


def _filled(x: Any, places: Any, values: Any) -> Any:
    """A matrix in the shape of `x`, with values added at places."""
    made = np.zeros(x.shape, dtype=x.dtype)
    np.add.at(made, places, values.toarray() if hasattr(values, "toarray") else values)
    return made


class GetItemList(SparseOp):
    """The rows that a list chooses."""

    def __init__(self) -> None:
        super().__init__(
            "GetItemList", lambda x, *_: [x.type], lambda x, rows: x[rows],
            lambda inputs, outputs, bars: [get_item_list_grad(*inputs, bars[0]), None],
        )  # fmt: skip

    def make_node(self, x: Any, index: Any) -> Apply:
        return super().make_node(as_sparse_variable(x), index)


class GetItemListGrad(SparseOp):
    """A matrix in the shape of the first input with rows added at places."""

    def __init__(self) -> None:
        super().__init__(
            "GetItemListGrad", lambda x, *_: [x.type],
            lambda x, rows, values: _filled(x, rows, values),
        )  # fmt: skip


class GetItem2Lists(SparseOp):
    """The elements at rows and columns, as a vector."""

    def __init__(self) -> None:
        super().__init__(
            "GetItem2Lists", lambda x, *_: [vector_of(x.type.dtype)],
            lambda x, rows, columns: np.asarray(x[rows, columns]).ravel(),
            lambda inputs, outputs, bars: [get_item_2lists_grad(*inputs, bars[0]), None, None],
        )  # fmt: skip

    def make_node(self, x: Any, ind1: Any, ind2: Any) -> Apply:
        return super().make_node(as_sparse_variable(x), ind1, ind2)


class GetItem2ListsGrad(SparseOp):
    """A matrix in the shape of the first input with elements added at rows and columns."""

    def __init__(self) -> None:
        super().__init__(
            "GetItem2ListsGrad", lambda x, *_: [x.type],
            lambda x, rows, columns, values: _filled(x, (rows, columns), values),
        )  # fmt: skip


class GetItemScalar(SparseOp):
    """An element."""

    def __init__(self) -> None:
        super().__init__(
            "GetItemScalar", lambda x, *_: [TensorType(x.type.dtype, ())],
            lambda x, row, column: x[int(row), int(column)],
            lambda inputs, outputs, bars: [
                get_item_2lists_grad(
                    inputs[0], *(each.dimshuffle("x") for each in inputs[1:]),
                    bars[0].dimshuffle("x"),
                ), None, None,
            ],
        )  # fmt: skip

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """A number has none."""
        del shapes
        return [()]


class GetItem2d(SparseOp):
    """A part by two slices, given as six numbers or None."""

    def __init__(self) -> None:
        super().__init__("GetItem2d", lambda x, *_: [x.type], self._taken, self._back)

    def make_node(self, *inputs: Any) -> Apply:
        x = as_sparse_variable(inputs[0])
        return Apply(self, [x, *inputs[1:]], [x.type()])

    @staticmethod
    def _slices(bounds: Sequence[Any]) -> tuple[slice, slice]:
        found = [None if each is None else int(each) for each in bounds]
        return slice(*found[:3]), slice(*found[3:])

    def _taken(self, x: Any, *bounds: Any) -> Any:
        return x[self._slices(bounds)]

    def _back(self, inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, *bounds = inputs
        return [GetItem2dGrad()(x, bars[0], *bounds), *(None for _ in bounds)]


class GetItem2dGrad(GetItem2d):
    """A matrix in the shape of the first input, with a part where two slices say."""

    def make_node(self, *inputs: Any) -> Apply:
        x = as_sparse_variable(inputs[0])
        return Apply(self, [x, *inputs[1:]], [x.type()])

    def _taken(self, x: Any, *bounds: Any) -> Any:
        part, *given = bounds
        return _filled(x, self._slices(given), part)


get_item_list, get_item_list_grad = GetItemList(), GetItemListGrad()
get_item_2lists, get_item_2lists_grad = GetItem2Lists(), GetItem2ListsGrad()
get_item_scalar, get_item_2d = GetItemScalar(), GetItem2d()


def _bound(given: Any) -> Any:
    """A bound of a slice as a variable. Raises ValueError where it is no whole number."""
    if given is None:
        return NoneConst
    try:
        bound = as_tensor_variable(given)
    except (TypeError, NotImplementedError):
        bound = None
    if bound is None or bound.ndim or bound.dtype not in discrete_dtypes:
        raise ValueError("sparse matrices are sliced with whole numbers", given)
    return bound


def getitem(x: Any, index: Any) -> Any:
    """Rows by a list, elements by two lists or two numbers, or a part by slices.

    Raises NotImplementedError for a single row or column: a slice of length 1 gives it.
    """
    entries = list(index) if isinstance(index, tuple) else [index]
    if len(entries) > 2:
        raise ValueError(f"sparse matrices have two axes, not {len(entries)}")
    lists = [isinstance(e, list | np.ndarray) or getattr(e, "ndim", 0) == 1 for e in entries]
    if lists == [True]:
        return get_item_list(x, as_tensor_variable(entries[0]))
    if lists == [True, True]:
        return get_item_2lists(x, *map(as_tensor_variable, entries))
    if any(lists):
        raise ValueError("Advanced indexing is not supported for sparse matrices", index)
    slices = [isinstance(each, slice) for each in entries]
    if slices == [False, False]:
        return get_item_scalar(x, *map(as_tensor_variable, entries))
    if not all(slices):
        raise NotImplementedError(
            "Theano has no sparse vector. Use X[a:b, c:d], X[a:b, c:c+1] or X[a:b] instead."
        )
    parts = [*entries, *[slice(None)] * (2 - len(entries))]
    bounds = [_bound(each) for part in parts for each in (part.start, part.stop, part.step)]
    return get_item_2d(x, *bounds)
