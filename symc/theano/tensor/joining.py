"""Tensors put together and taken apart."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import integer_dtypes, upcast
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.math import cast
from symc.theano.tensor.shaping import as_lengths, shape_padaxis, shape_padleft
from symc.theano.tensor.type import TensorType

__all__ = [
    "Join", "MakeVector", "Split", "concatenate", "horizontal_stack", "join", "roll",
    "split", "stack", "stacklists", "tile", "vertical_stack",
]  # fmt: skip


class MakeVector(Op):
    """A vector of scalars."""

    __props__ = ("dtype",)

    def __init__(self, dtype: str = "int64") -> None:
        self.dtype = dtype

    def make_node(self, *inputs: Any) -> Apply:
        given = [as_tensor_variable(each) for each in inputs]
        if not all(each.ndim == 0 for each in given):
            raise TypeError("the elements of a vector must be scalars")
        dtype = upcast(self.dtype, *(each.dtype for each in given))
        if given and dtype != self.dtype:
            raise TypeError(f"elements of {dtype} do not fit into a vector of {self.dtype}")
        flag = len(given) == 1
        return Apply(self, [cast(each, self.dtype) for each in given],
                     [TensorType(self.dtype, [flag])()])  # fmt: skip

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        if not inputs:
            return [T.zeros((0,), dtype=self.dtype)]
        return [T.stack(list(inputs))]


make_vector = MakeVector()


class Join(Op):
    """Tensors one after the other along an axis, which is the first input."""

    __props__ = ()

    def make_node(self, *axis_and_tensors: Any) -> Apply:
        axis, *tensors = axis_and_tensors
        if not tensors:
            raise ValueError("Cannot join an empty list of tensors")
        given = [as_tensor_variable(each) for each in tensors]
        dtype = upcast(*(each.dtype for each in given))
        given = [cast(each, dtype) for each in given]
        ndim = given[0].ndim
        if ndim < 1:
            raise TypeError("Join cannot handle scalar arguments; use stack")
        if any(each.ndim != ndim for each in given):
            raise TypeError("Join() can only join tensors with the same number of dimensions.")
        place = as_tensor_variable(axis)
        if place.dtype not in integer_dtypes or place.ndim:
            raise TypeError(f"Axis could not be cast to an integer type: {axis}")
        if not isinstance(place, Constant):
            raise NotImplementedError("symc.theano joins along an axis that is a constant")
        number = int(place.data)
        if not -ndim <= number < ndim:
            raise IndexError(f"Join() axis {number} is out of bounds for {ndim} axes")
        flags = [any(each) for each in zip(*(x.broadcastable for x in given), strict=True)]
        flags[number] = given[0].broadcastable[number] if len(given) == 1 else False
        return Apply(self, [place, *given], [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.concatenate(list(inputs[1:]), axis=int(node.inputs[0].data))]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """The axis has no gradient."""
        return [[False]] + [[True]] * (node.nin - 1)


_join = Join()


def join(axis: Any, *tensors_list: Any) -> Any:
    """Tensors one after the other along an axis; one alone as it is."""
    if len(tensors_list) == 1:
        return tensors_list[0]
    return _join(axis, *tensors_list)


def concatenate(tensor_list: Any, axis: Any = 0) -> Any:
    """Tensors one after the other along an axis."""
    if not isinstance(tensor_list, tuple | list):
        raise TypeError(
            "The 'tensors' argument must be either a tuple or a list, make sure you did not "
            f"forget () or [] around arguments of concatenate. {tensor_list}"
        )
    return join(axis, *tensor_list)


def stack(*tensors: Any, **kwargs: Any) -> Any:
    """Tensors of one shape along a new axis."""
    if not tensors and not kwargs:
        raise Exception("theano.tensor.stack(tensors, axis) must have at least one parameter")
    if not kwargs and not isinstance(tensors[0], list | tuple):
        warnings.warn(
            "stack(*tensors) interface is deprecated, use stack(tensors, axis=0) instead.",
            DeprecationWarning, stacklevel=2,
        )  # fmt: skip
        given, axis = list(tensors), 0
    else:
        given = list(kwargs.get("tensors", tensors[0] if tensors else ()))
        axis = kwargs.get("axis", tensors[1] if len(tensors) > 1 else 0)
    if not given:
        raise Exception("tensors is empty. You should at least provide one tensor to stack.")
    found = [as_tensor_variable(each) for each in given]
    if all(each.ndim == 0 for each in found) and axis in (0, -1):
        return MakeVector(upcast(*(each.dtype for each in found)))(*found)
    ndim = found[0].ndim + 1
    if not -ndim <= axis < ndim:
        raise IndexError(f"'axis' out of bounds: {axis} not in [{-ndim}, {ndim})")
    return join(axis, *[shape_padaxis(each, axis) for each in found])


def stacklists(arg: Any) -> Any:
    """Lists of tensors within each other as one tensor."""
    if isinstance(arg, tuple | list):
        return stack([stacklists(each) for each in arg])
    return arg


def horizontal_stack(*args: Any) -> Any:
    """Matrices beside each other."""
    assert len(args) >= 2
    for each in args:
        assert each.type.ndim == 2
    return concatenate(args, axis=1)


def vertical_stack(*args: Any) -> Any:
    """Matrices one below the other."""
    assert len(args) >= 2
    for each in args:
        assert each.type.ndim == 2
    return concatenate(args, axis=0)


class Split(Op):
    """A tensor taken apart along an axis, into `len_splits` parts of given lengths."""

    __props__ = ("len_splits",)

    def __init__(self, len_splits: int) -> None:
        self.len_splits = int(len_splits)

    def make_node(self, x: Any, axis: Any, splits: Any) -> Apply:
        x, place = as_tensor_variable(x), as_tensor_variable(axis)
        lengths = as_tensor_variable(splits)
        if lengths.dtype not in integer_dtypes:
            raise TypeError("`splits` parameter must be a vector of ints", lengths.type)
        if not isinstance(place, Constant):
            raise NotImplementedError("symc.theano splits along an axis that is a constant")
        flags = list(x.broadcastable)
        flags[int(place.data)] = False
        kind = TensorType(x.dtype, flags)
        return Apply(self, [x, place, lengths], [kind() for _ in range(self.len_splits)])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x = inputs[0]
        axis = int(node.inputs[1].data) % x.ndim
        lengths = as_lengths(inputs[2], self.len_splits)
        found: list[Tensor] = []
        start: Any = 0
        for each in lengths:
            stop = start + each
            index: list[Any] = [slice(None)] * axis + [slice(start, stop)]
            found.append(x[tuple(index)])
            start = stop
        return found

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Axis and lengths have no gradient."""
        return [[position == 0] * node.nout for position in range(node.nin)]


def split(x: Any, splits_size: Any, n_splits: int, axis: int = 0) -> Any:
    """A tensor taken apart along an axis."""
    return Split(n_splits)(x, axis, splits_size)


def roll(x: Any, shift: Any, axis: int | None = None) -> Any:
    """Elements moved along an axis, those from the end to the front."""
    from symc.theano.tensor import math
    from symc.theano.tensor.shaping import shape

    x = as_tensor_variable(x)
    if axis is None:
        if x.ndim > 1:
            return roll(x.flatten(), shift, axis=0).reshape(shape(x), ndim=x.ndim)
        axis = 0
    place: int = axis + x.ndim if axis < 0 else axis
    length = shape(x)[place]
    shift = math.switch(math.eq(length, 0), 0, shift % math.maximum(length, 1))
    rest: list[Any] = [slice(None)] * (x.ndim - place - 1)
    before: list[Any] = [slice(None)] * place
    front = [*before, slice(length - shift, None), *rest]
    back = [*before, slice(0, length - shift), *rest]
    return join(place, x[tuple(front)], x[tuple(back)])


def tile(x: Any, reps: Any, ndim: int | None = None) -> Any:
    """A tensor repeated along its axes."""
    from symc.theano.tensor.shaping import shape, vector_length

    x = as_tensor_variable(x)
    if ndim is not None and ndim < x.ndim:
        raise ValueError("ndim should be equal or larger than _x.ndim")
    if isinstance(reps, Variable) and reps.ndim == 1:
        if ndim is None:
            raise ValueError("if reps is tensor.vector, you should specify the ndim")
        try:
            reps = [reps[position] for position in range(vector_length(reps))]
        except ValueError:
            reps = _padded_reps(reps, ndim)
    elif isinstance(reps, Variable | int | np.integer):
        reps = [reps]
    _check_reps(reps)
    count = max(len(reps), x.ndim) if ndim is None else ndim
    if len(reps) > count:
        raise ValueError("len(reps) should be equal or less than ndim")
    reps = [1] * (count - len(reps)) + list(reps)
    if x.ndim < count:
        x = shape_padleft(x, count - x.ndim)
    order: list[Any] = []
    for axis in range(count):
        order += ["x", axis]
    lengths = shape(x)
    wide: list[Any] = []
    for axis in range(count):
        wide += [reps[axis], lengths[axis]]
    from symc.theano.tensor.creation import alloc

    spread = alloc(x.dimshuffle(order), *wide)
    return spread.reshape([lengths[axis] * reps[axis] for axis in range(count)], ndim=count)


def _padded_reps(reps: Any, ndim: int) -> list[Any]:
    """A vector's elements, after as many ones as it has less than there are axes."""
    from symc.theano.raise_op import Assert
    from symc.theano.tensor.math import ge, maximum, switch

    missing = ndim - reps.shape[0]
    missing = Assert("tile: reps is longer than ndim")(missing, ge(missing, 0))
    return [switch(ge(axis, missing), reps[maximum(axis - missing, 0)], 1) for axis in range(ndim)]


def _check_reps(reps: Any) -> None:
    if not isinstance(reps, list | tuple):
        raise ValueError("reps must be a scalar, a list or a vector")
    for each in reps:
        if isinstance(each, Variable):
            if each.ndim or each.dtype not in integer_dtypes:
                raise ValueError("elements of reps must be scalars of integer dtype")
        elif not isinstance(each, int | np.integer):
            raise ValueError("elements of reps must be integers")
