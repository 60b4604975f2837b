"""Shapes: their values, and tensors with other ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

import symc.tensor as T
from symc.graph.inputs import constant, constant_value
from symc.graph.node import Tensor
from symc.tensor import views as symc_views
from symc.tensor.shape import Concatenate
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import discrete_dtypes
from symc.theano.tensor.convert import (
    NotScalarConstantError,
    as_tensor_variable,
    constant_of,
)
from symc.theano.tensor.elemwise import DimShuffle
from symc.theano.tensor.type import TensorType

__all__ = [
    "Rebroadcast", "Reshape", "Shape", "Shape_i", "SpecifyShape", "addbroadcast", "flatten",
    "get_vector_length", "is_one", "patternbroadcast", "reshape", "shape", "shape_i",
    "shape_padaxis", "shape_padleft", "shape_padright", "specify_shape", "squeeze", "swapaxes",
    "transpose", "unbroadcast",
]  # fmt: skip


def only_first(node: Apply) -> list[list[bool]]:
    """The connection pattern of an op whose first input alone has gradients."""
    return [[position == 0] * node.nout for position in range(node.nin)]


class Shape(Op):
    """The lengths of all axes."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        return Apply(self, [x], [TensorType("int64", [False])()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        if not inputs[0].ndim:
            return [T.zeros((0,), dtype="int64")]
        return [T.stack([T.cast(n, "int64") for n in lengths_of(inputs[0])])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """A shape does not depend on the values."""
        return [[False]]


class Shape_i(Op):
    """The length of one axis."""

    __props__ = ("i",)

    def __init__(self, i: int) -> None:
        self.i = int(i)

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.ndim <= self.i:
            raise TypeError("x has too few dimensions for Shape_i", (x, self.i))
        return Apply(self, [x], [TensorType("int64", [])()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.cast(lengths_of(inputs[0])[self.i], "int64")]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """A length does not depend on the values."""
        return [[False]]


def lengths_of(x: Tensor) -> list[Tensor]:
    """The lengths of a symc tensor, as scalars."""
    found = T.shape(x)
    return [T.as_tensor(found[axis]) for axis in range(x.ndim)]


_shape = Shape()


def shape(x: Any) -> Any:
    """The lengths of all axes, as a vector."""
    return _shape(x)


def shape_i(x: Any, i: int) -> Any:
    """The length of one axis."""
    return Shape_i(i)(x)


class SpecifyShape(Op):
    """The tensor itself, where its lengths are promised."""

    __props__ = ()
    view_map: ClassVar[dict[int, list[int]]] = {0: [0]}

    def make_node(self, x: Any, shape: Any) -> Apply:
        x, lengths = as_tensor_variable(x), as_tensor_variable(shape)
        assert lengths.ndim == 1
        assert lengths.dtype in discrete_dtypes
        known = constant_of(lengths)
        flags = [
            own or (known is not None and known[position] == 1)
            for position, own in enumerate(x.broadcastable)
        ]
        return Apply(self, [x, lengths], [TensorType(x.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, lengths = inputs
        return [T.specify_shape(x, as_lengths(lengths, x.ndim))]

    connection_pattern = staticmethod(only_first)


specify_shape = SpecifyShape()


def as_lengths(vector: Tensor, count: int) -> list[Any]:
    """A vector of lengths as numbers where they are known, else as scalars."""
    found = [element(vector, position) for position in range(count)]
    values = [constant_value(each) for each in found]
    return [n if v is None else int(v) for n, v in zip(found, values, strict=True)]


def element(vector: Tensor, position: int) -> Tensor:
    """An element of a vector; of one that was put together from scalars, the scalar itself."""
    value = constant_value(vector)
    if value is not None:
        return constant(value[position])
    match vector.op:
        case Concatenate():
            for part in vector.args:
                count = part.type.shape[0]
                if not isinstance(count, int):
                    break
                if position < count:
                    return element(part, position)
                position -= count
        case symc_views.DimShuffle() if not vector.args[0].ndim:
            return vector.args[0]
        case _:
            pass
    return vector[position]


class Reshape(Op):
    """The same elements in another shape, of `ndim` axes."""

    __props__ = ("ndim",)
    view_map: ClassVar[dict[int, list[int]]] = {0: [0]}

    def __init__(self, ndim: int, name: str | None = None) -> None:
        self.ndim = int(ndim)
        self.name = name

    def make_node(self, x: Any, shp: Any) -> Apply:
        x = as_tensor_variable(x)
        given = shp
        lengths = as_tensor_variable(shp, ndim=1)
        if lengths.dtype not in discrete_dtypes and not _is_empty(lengths):
            raise TypeError("Shape must be integers")
        known = constant_of(lengths)
        if known is not None and known.size != self.ndim:
            raise ValueError("shape of wrong length", known)
        flags = [is_one(each) for each in parts_of(given, lengths, self.ndim)]
        if known is None and not any(flags):
            flags = [False] * self.ndim
        return Apply(self, [x, lengths], [TensorType(x.type.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, lengths = inputs
        wanted = as_lengths(lengths, self.ndim)
        flags = node.outputs[0].type.broadcastable
        wanted = [1 if flag else n for flag, n in zip(flags, wanted, strict=True)]
        return [T.reshape(x, wanted)]

    connection_pattern = staticmethod(only_first)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.ndim}}}"


def _is_empty(lengths: Any) -> bool:
    value = constant_of(lengths)
    return value is not None and value.size == 0


def parts_of(given: Any, vector: Any, count: int) -> list[Any]:
    """The elements of a shape, as far as the graph tells them."""
    known = constant_of(vector)
    if known is not None:
        return [int(each) for each in np.ravel(known)]
    if isinstance(given, list | tuple):
        return list(given)
    node = vector.owner
    if node is not None and type(node.op).__name__ in ("MakeVector", "Join_of_scalars"):
        return list(node.inputs)
    return [None] * count


def is_one(x: Any) -> bool:
    """Whether a length is known to be 1."""
    if x is None:
        return False
    if isinstance(x, Variable):
        try:
            from symc.theano.tensor.folding import get_scalar_constant_value

            return bool(get_scalar_constant_value(x) == 1)
        except NotScalarConstantError:
            return False
    return bool(x == 1)


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> Any:
    """The same elements in another shape; one length may be -1."""
    x = as_tensor_variable(x)
    if ndim is None:
        lengths: Any = newshape
        if isinstance(newshape, Variable):
            if newshape.ndim != 1:
                raise TypeError(
                    f"New shape in reshape must be a vector or a list/tuple of scalar. Got "
                    f"{newshape} after conversion to a vector."
                )
            try:
                ndim = vector_length(newshape)
            except ValueError:
                raise ValueError(
                    f"The length of the provided shape ({newshape}) cannot be automatically "
                    "determined, so Theano is not able to infer the number of dimensions of the "
                    "reshaped variable. You can provide the 'ndim' keyword argument to 'reshape' "
                    "to avoid this problem."
                ) from None
        else:
            lengths = np.ravel(newshape) if isinstance(newshape, np.ndarray) else newshape
            ndim = 1 if np.ndim(_shell(lengths)) == 0 else len(lengths)
            newshape = [newshape] if np.ndim(_shell(lengths)) == 0 else list(newshape)
    return Reshape(ndim)(x, _integers(newshape))


def _shell(value: Any) -> Any:
    return 0 if isinstance(value, Variable | int | np.integer) else [0] * len(value)


def _integers(lengths: Any) -> Any:
    if isinstance(lengths, Variable):
        return lengths
    found = [each if isinstance(each, Variable) else int(each) for each in lengths]
    if not found:
        return np.zeros((0,), dtype="int64")
    return found


def vector_length(v: Any) -> int:
    """The number of elements of a vector, where the graph tells it."""
    v = as_tensor_variable(v)
    if v.ndim != 1:
        raise TypeError(f"argument must be symbolic vector, got '{v}'")
    value = constant_of(v)
    if value is not None:
        return int(value.size)
    if v.type.broadcastable[0]:
        return 1
    node = v.owner
    if node is not None:
        if type(node.op).__name__ == "MakeVector":
            return len(node.inputs)
        if isinstance(node.op, Shape):
            return int(node.inputs[0].ndim)
        if type(node.op).__name__ == "Join" and node.inputs[1].ndim == 1:
            return sum(vector_length(each) for each in node.inputs[1:])
        if type(node.op).__name__ == "Elemwise" and len(node.inputs) == 1:
            return vector_length(node.inputs[0])
        if type(node.op).__name__ == "Subtensor":
            known = node.op.static_index(node)
            if isinstance(known, slice):
                return len(range(vector_length(node.inputs[0]))[known])
    raise ValueError(f"length not known: {v}")


get_vector_length = vector_length


def flatten(x: Any, ndim: int | None = None, outdim: int | None = None) -> Any:
    """The first axes kept and all others as one, so that there are `ndim`."""
    x = as_tensor_variable(x)
    count = ndim if ndim is not None else outdim if outdim is not None else 1
    if count < 1 or (count > 1 and count > x.ndim):
        raise ValueError(f"ndim {count} out of bound [1, {x.ndim + 1})")
    if count == x.ndim:
        return x
    lengths = shape(x)
    dims: Any = [lengths[position] for position in range(count - 1)] + [-1]
    result = Reshape(count)(x, dims)
    flags = (*x.broadcastable[: count - 1], all(x.broadcastable[count - 1 :]))
    return addbroadcast(result, *[axis for axis, flag in enumerate(flags) if flag])


# --- which axes broadcast -------------------------------------------------------------------------


class Rebroadcast(Op):
    """The tensor itself, with other flags: `axis` has pairs of an axis and its flag."""

    __props__ = ("pairs",)
    view_map: ClassVar[dict[int, list[int]]] = {0: [0]}

    def __init__(self, *axis: tuple[int, bool]) -> None:
        self.axis = {int(position): bool(flag) for position, flag in sorted(axis)}
        self.pairs = tuple(self.axis.items())

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if self.axis and max(self.axis) >= x.ndim:
            raise ValueError("Trying to rebroadcast non-existent dimension")
        flags = [self.axis.get(axis, flag) for axis, flag in enumerate(x.broadcastable)]
        return Apply(self, [x], [TensorType(x.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [inputs[0]]


def addbroadcast(x: Any, *axes: int) -> Any:
    """The tensor where these axes, which must have length 1, broadcast."""
    return _with_flags(x, dict.fromkeys(axes, True))


def unbroadcast(x: Any, *axes: int) -> Any:
    """The tensor where these axes do not broadcast."""
    return _with_flags(x, dict.fromkeys(axes, False))


def patternbroadcast(x: Any, broadcastable: Sequence[bool]) -> Any:
    """The tensor with these flags."""
    return _with_flags(x, dict(enumerate(broadcastable)))


def _with_flags(x: Any, wanted: dict[int, bool]) -> Any:
    x = as_tensor_variable(x)
    if wanted and max(wanted) >= x.ndim:
        raise ValueError("Trying to broadcast non-existent dimension")
    changed = {axis: flag for axis, flag in wanted.items() if x.broadcastable[axis] != flag}
    if not changed:
        return x
    if x.owner is not None and isinstance(x.owner.op, Rebroadcast):
        return _with_flags(x.owner.inputs[0], x.owner.op.axis | changed)
    return Rebroadcast(*changed.items())(x)


# --- axes -----------------------------------------------------------------------------------------


def shape_padleft(t: Any, n_ones: int = 1) -> Any:
    """Axes of length 1 in front."""
    t = as_tensor_variable(t)
    return DimShuffle(t.broadcastable, ["x"] * n_ones + list(range(t.ndim)))(t)


def shape_padright(t: Any, n_ones: int = 1) -> Any:
    """Axes of length 1 at the end."""
    t = as_tensor_variable(t)
    return DimShuffle(t.broadcastable, list(range(t.ndim)) + ["x"] * n_ones)(t)


def shape_padaxis(t: Any, axis: int) -> Any:
    """An axis of length 1 at a position."""
    t = as_tensor_variable(t)
    ndim = t.ndim + 1
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds [-{ndim}, {ndim})")
    order: list[Any] = list(range(t.ndim))
    order.insert(axis + ndim if axis < 0 else axis, "x")
    return DimShuffle(t.broadcastable, order)(t)


def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """The axes in another order, by default the reverse one."""
    x = as_tensor_variable(x)
    order = list(range(x.ndim))[::-1] if axes is None else [int(axis) for axis in axes]
    order = [axis + x.ndim if axis < 0 else axis for axis in order]
    result = DimShuffle(x.broadcastable, order)(x)
    if x.name and order == list(range(x.ndim))[::-1]:
        result.name = f"{x.name}.T"
    return result


def swapaxes(y: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    y = as_tensor_variable(y)
    order = list(range(y.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return y.dimshuffle(order)


def squeeze(x: Any, axis: Any = None) -> Any:
    """Without the axes that broadcast, or those of them that are given."""
    x = as_tensor_variable(x)
    if axis is None:
        gone = [position for position, flag in enumerate(x.broadcastable) if flag]
    else:
        given = axis if isinstance(axis, list | tuple) else [axis]
        gone = [int(each) % x.ndim if x.ndim else int(each) for each in given]
    return x.dimshuffle([axis for axis in range(x.ndim) if axis not in gone])
