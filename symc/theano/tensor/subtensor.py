"""Indexing: reading parts of tensors, and tensors with parts replaced or increased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.in_place import OverwritesFirst
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.lenient import lengths_vary, spread, spread_index
from symc.theano.scalar.dtypes import integer_dtypes
from symc.theano.scalar.types import as_scalar
from symc.theano.tensor.canonical_slices import (
    get_canonical_form_slice as get_canonical_form_slice,
)
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.elemwise import DimShuffle
from symc.theano.tensor.given_slices import given_slices, has_given_slices
from symc.theano.tensor.indexing import (
    MASK,
    AdvancedIndexingError,
    advanced_flags,
    as_numbers,
    basic_flags,
    filled,
    hashable,
    is_advanced,
    known,
    parsed,
    split,
    without_none,
)
from symc.theano.tensor.indexing import get_idx_list as get_idx_list
from symc.theano.tensor.indexing import make_constant as make_constant
from symc.theano.tensor.shaping import Reshape, addbroadcast
from symc.theano.tensor.type import TensorType

__all__ = [
    "AdvancedBooleanIncSubtensor", "AdvancedBooleanSubtensor", "AdvancedIncSubtensor",
    "AdvancedIncSubtensor1", "AdvancedIndexingError", "AdvancedSubtensor", "AdvancedSubtensor1",
    "IncSubtensor", "Subtensor", "advanced_boolean_inc_subtensor",
    "advanced_boolean_set_subtensor", "advanced_boolean_subtensor", "advanced_inc_subtensor",
    "advanced_inc_subtensor1", "advanced_set_subtensor", "advanced_set_subtensor1",
    "advanced_subtensor", "advanced_subtensor1", "getitem", "inc_subtensor", "set_subtensor",
    "take",
]  # fmt: skip


class Indexing(Op):
    """The base of ops that hold an index: `idx_list`, with types for the inputs in it."""

    def __init__(self, idx_list: Sequence[Any]) -> None:
        self.idx_list = tuple(idx_list)

    def _props(self) -> tuple[Any, ...] | None:
        return hashable(self.idx_list)

    def index(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The index, values in the places of the types."""
        return filled(self.idx_list, values)

    def __str__(self) -> str:
        return type(self).__name__

    def shown_index(self) -> str:
        """The index as text: the types of what is in it."""
        return ", ".join(map(_shown, self.idx_list))


def _shown(entry: Any) -> str:
    if isinstance(entry, slice):
        bounds = (entry.start, entry.stop, entry.step)
        return ":".join("" if bound is None else str(bound) for bound in bounds)
    return str(entry)


def _zeros(x: Any) -> Any:
    """Zeros that gradients are added to: of floats, where `x` is of integers."""
    from symc.theano.gradient_types import zeros_of

    return zeros_of(x)


def _of_part(x: Any, index: Sequence[Any], whole: Any) -> list[Any]:
    """The gradients of a part of `x`: `whole` by `x`, none by the index."""
    del x
    return [whole, *(DisconnectedType()() for _ in index)]


class Subtensor(Indexing):
    """A part of a tensor by numbers and slices."""

    step_follows_meaning = True
    view_map: ClassVar[dict[int, list[int]]] = {0: [0]}

    def make_node(self, x: Any, *inputs: Any) -> Apply:
        x = as_tensor_variable(x)
        if len(self.idx_list) > x.type.ndim:
            raise IndexError("too many indices for array")
        given = [as_scalar(each) for each in inputs]
        flags = basic_flags(self.index(known(given, given)), x.type.broadcastable)
        return Apply(self, [x, *given], [TensorType(x.type.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [inputs[0][self.index(known(node.inputs[1:], inputs[1:]))]]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del outputs
        x, *index = inputs
        return _of_part(x, index, IncSubtensor(self.idx_list)(_zeros(x), output_grads[0], *index))

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.shown_index()}}}"

    def static_index(self, node: Apply) -> Any:
        """The only entry of the index of an application, where it is of numbers; else None."""
        (entry, *more) = self.index(known(node.inputs[1:], node.inputs[1:]))
        bounds = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
        return None if more or any(isinstance(each, Variable) for each in bounds) else entry

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[True]] + [[False]] * (node.nin - 1)


class AdvancedSubtensor(Indexing):
    """Elements of a tensor gathered by arrays of indexes.

    Without a template the inputs are the entries of the index.
    """

    step_follows_meaning = True

    def __init__(self, idx_list: Sequence[Any] | None = None) -> None:
        super().__init__(() if idx_list is None else idx_list)
        self.bare = idx_list is None

    def make_node(self, x: Any, *inputs: Any) -> Apply:
        x = as_tensor_variable(x)
        if self.bare:
            template, values = split(parsed(tuple(map(unwrapped, inputs)), x.ndim))
            made: Apply = of_template(type(self), template).make_node(x, *values)
            return made
        given = [as_tensor_variable(each) for each in inputs]
        flags = advanced_flags(self.index(given), x.type.broadcastable)
        return Apply(self, [x, *given], [TensorType(x.type.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        index = self.index(inputs[1:])
        # What masks choose may be one element beside several, which nothing tells beforehand.
        spreads = any(entry is MASK for entry in self.idx_list) or lengths_vary()
        return [inputs[0][spread_index(index) if spreads else index]]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del outputs
        x, *index = inputs
        made = of_template(AdvancedIncSubtensor, self.idx_list)
        return _of_part(x, index, made(_zeros(x), output_grads[0], *index))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[True]] + [[False]] * (node.nin - 1)


class AdvancedBooleanSubtensor(AdvancedSubtensor):
    """Elements of a tensor where masks are true."""


def unwrapped(entry: Any) -> Any:
    """An entry of an index, where it is a constant of a slice or of None its value."""
    if isinstance(entry, Constant) and (entry.data is None or isinstance(entry.data, slice)):
        return entry.data
    return entry


def of_template(kind: type[Any], template: Sequence[Any], *args: Any) -> Any:
    """The op of a template; one for masks where it has any."""
    masked = any(entry is MASK for entry in template)
    if issubclass(kind, Writing):
        return (AdvancedBooleanIncSubtensor if masked else AdvancedIncSubtensor)(template, *args)
    return (AdvancedBooleanSubtensor if masked else AdvancedSubtensor)(template)


class AdvancedSubtensor1(Op):
    """The rows of a tensor at a vector of indexes."""

    step_follows_meaning = True

    __props__ = ()

    def __init__(self, sparse_grad: bool = False) -> None:
        self.sparse_grad = sparse_grad

    def make_node(self, x: Any, ilist: Any) -> Apply:
        x, rows = as_tensor_variable(x), as_tensor_variable(ilist)
        if rows.type.dtype not in integer_dtypes:
            raise TypeError("index must be integers")
        if rows.type.ndim != 1:
            raise TypeError("index must be vector")
        if x.type.ndim == 0:
            raise TypeError("cannot index into a scalar")
        flags = (rows.type.broadcastable[0], *x.type.broadcastable[1:])
        return Apply(self, [x, rows], [TensorType(x.type.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [inputs[0][inputs[1]]]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del outputs
        x, rows = inputs
        if self.sparse_grad and x.ndim == 2:
            from symc.theano.sparse.conversions import construct_sparse_from_list

            return _of_part(x, [rows], construct_sparse_from_list(x, output_grads[0], rows))
        return _of_part(x, [rows], advanced_inc_subtensor1(_zeros(x), output_grads[0], rows))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[True], [False]]


advanced_subtensor1 = AdvancedSubtensor1()


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``."""
    if has_given_slices(index):
        return given_slices(x, index)
    entries = parsed(index, x.ndim)
    if is_advanced(entries):
        if len([e for e in entries if e != slice(None)]) == 1 and entries[0] != slice(None):
            (first,) = entries[:1]
            if first.ndim == 1 and first.dtype in integer_dtypes:
                return advanced_subtensor1(x, first)
        template, inputs = split(entries)
        return of_template(AdvancedSubtensor, template)(x, *inputs)
    if any(entry is None for entry in entries):
        x, entries = without_none(entries, x.dimshuffle)
        if all(entry == slice(None) for entry in entries):
            return x
    while entries and isinstance(entries[-1], slice) and entries[-1] == slice(None):
        if len(entries) == 1:
            break
        entries.pop()
    template, inputs = split(as_numbers(entries))
    return Subtensor(template)(x, *inputs)


# --- writing --------------------------------------------------------------------------------------


def _written(x: Tensor, part: Tensor, y: Tensor, adds: bool) -> Tensor:
    """`x` where `part` of it, which indexing gave, is replaced by `y` or increased by it."""
    y = T.cast(y, x.dtype)
    if lengths_vary() and y.ndim:
        y = spread(y, part)
    if part is x:
        return x + y if adds else T.zeros_like(x) + y
    return T.inc_subtensor(part, y) if adds else T.set_subtensor(part, y)


class Writing(Indexing, OverwritesFirst):
    """A tensor where a part is replaced, or increased."""

    def __init__(
        self, idx_list: Sequence[Any], inplace: bool = False, set_instead_of_inc: bool = False,
        destroyhandler_tolerate_aliased: Any = None,
    ) -> None:  # fmt: skip
        del destroyhandler_tolerate_aliased
        super().__init__(idx_list)
        self.inplace, self.set_instead_of_inc = inplace, set_instead_of_inc

    def _props(self) -> tuple[Any, ...] | None:
        return (hashable(self.idx_list), self.inplace, self.set_instead_of_inc)

    def make_node(self, x: Any, y: Any, *inputs: Any) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        return Apply(self, [x, y, *map(self.as_index, inputs)], [x.type()])

    @staticmethod
    def as_index(given: Any) -> Any:
        """A variable in the index, of the type that it has there."""
        return as_tensor_variable(given)

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, y, *values = inputs
        part = x[self.index(known(node.inputs[2:], values))]
        return [_written(x, part, y, not self.set_instead_of_inc)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[True], [True]] + [[False]] * (node.nin - 2)


class IncSubtensor(Writing):
    """A part by numbers and slices."""

    @staticmethod
    def as_index(given: Any) -> Any:
        return as_scalar(given)

    def __str__(self) -> str:
        how = "Set" if self.set_instead_of_inc else "Inc"
        overwriting = "Inplace" if self.inplace else ""
        return f"{type(self).__name__}{{{overwriting}{how};{self.shown_index()}}}"


class AdvancedIncSubtensor(Writing):
    """Elements at arrays of indexes; where one occurs twice, both values are added.

    Without a template the inputs after the value are the entries of the index.
    """

    def __init__(
        self, idx_list: Any = None, inplace: bool = False,
        set_instead_of_inc: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(idx_list, bool):  # Theano has no template: (inplace, set_instead_of_inc)
            idx_list, inplace, set_instead_of_inc = None, idx_list, inplace
        super().__init__(() if idx_list is None else idx_list, inplace, set_instead_of_inc)
        self.bare = idx_list is None

    def __str__(self) -> str:
        name, sets = type(self).__name__, self.set_instead_of_inc
        return f"{name}{{inplace={self.inplace},  set_instead_of_inc={sets}}}"

    def make_node(self, x: Any, y: Any, *inputs: Any) -> Apply:
        if self.bare:
            x = as_tensor_variable(x)
            template, values = split(parsed(tuple(map(unwrapped, inputs)), x.ndim))
            made = of_template(type(self), template, self.inplace, self.set_instead_of_inc)
            return made.make_node(x, y, *values)  # type: ignore[no-any-return]
        return super().make_node(x, y, *inputs)


class AdvancedBooleanIncSubtensor(AdvancedIncSubtensor):
    """Elements where masks are true."""


class AdvancedIncSubtensor1(OverwritesFirst):
    """Rows at a vector of indexes."""

    __props__ = ("inplace", "set_instead_of_inc")

    def __init__(self, inplace: bool = False, set_instead_of_inc: bool = False) -> None:
        self.inplace, self.set_instead_of_inc = inplace, set_instead_of_inc

    def __str__(self) -> str:
        where = "inplace" if self.inplace else "no_inplace"
        return f"{type(self).__name__}{{{where},{'set' if self.set_instead_of_inc else 'inc'}}}"

    def make_node(self, x: Any, y: Any, ilist: Any) -> Apply:
        x, y, rows = as_tensor_variable(x), as_tensor_variable(y), as_tensor_variable(ilist)
        if rows.type.dtype not in integer_dtypes:
            raise TypeError("index must be integers")
        if rows.type.ndim != 1:
            raise TypeError("index must be vector")
        if x.type.ndim == 0:
            raise TypeError("cannot index into a scalar")
        if y.type.ndim > x.type.ndim:
            verb = "set" if self.set_instead_of_inc else "increment"
            raise TypeError(
                f"cannot {verb} x subtensor with ndim={x.type.ndim} by y with ndim={y.type.ndim} "
            )
        return Apply(self, [x, y, rows], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, y, rows = inputs
        return [_written(x, x[rows], y, not self.set_instead_of_inc)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[True], [True], [False]]


advanced_subtensor, advanced_boolean_subtensor = AdvancedSubtensor(), AdvancedBooleanSubtensor()
advanced_inc_subtensor = AdvancedIncSubtensor()
advanced_set_subtensor = AdvancedIncSubtensor(set_instead_of_inc=True)
advanced_boolean_inc_subtensor = AdvancedBooleanIncSubtensor()
advanced_boolean_set_subtensor = AdvancedBooleanIncSubtensor(set_instead_of_inc=True)
advanced_inc_subtensor1 = AdvancedIncSubtensor1()
advanced_set_subtensor1 = AdvancedIncSubtensor1(set_instead_of_inc=True)


def set_subtensor(
    x: Any, y: Any, inplace: bool = False, tolerate_inplace_aliasing: bool = False
) -> Any:
    """The tensor that `x` is a part of, with `y` in that part."""
    return inc_subtensor(x, y, inplace, set_instead_of_inc=True)


def inc_subtensor(
    x: Any, y: Any, inplace: bool = False, set_instead_of_inc: bool = False,
    tolerate_inplace_aliasing: bool = False,
) -> Any:  # fmt: skip
    """The tensor that `x` is a part of, with `y` added to that part."""
    del tolerate_inplace_aliasing
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if y.ndim > x.ndim:
        raise TypeError(
            f"Trying to increment a {x.ndim}-dimensional subtensor with a {y.ndim}-dimensional "
            "value."
        )
    offset = x.ndim - y.ndim
    for axis in range(y.ndim):
        if x.broadcastable[axis + offset] and not y.broadcastable[axis]:
            y = addbroadcast(y, axis)
    if x.owner is None:
        raise TypeError("x must be the result of a subtensor operation")
    return _inc(x, y, inplace, set_instead_of_inc)


def _inc(x: Any, y: Any, inplace: bool, sets: bool) -> Any:
    op, inputs = x.owner.op, x.owner.inputs
    if isinstance(op, Subtensor):
        return IncSubtensor(op.idx_list, inplace, sets)(inputs[0], y, *inputs[1:])
    if isinstance(op, AdvancedSubtensor):
        made = of_template(AdvancedIncSubtensor, op.idx_list, inplace, sets)
        return made(inputs[0], y, *inputs[1:])
    if isinstance(op, AdvancedSubtensor1):
        return AdvancedIncSubtensor1(inplace, sets)(inputs[0], y, inputs[1])
    if isinstance(op, DimShuffle):
        if y.ndim:
            missing = x.ndim - y.ndim
            y = y.dimshuffle(["x"] * missing + list(range(y.ndim)))
            places = [op.new_order.index(axis) for axis in op.shuffle]
            inverse = [places[op.shuffle.index(axis)] for axis in sorted(op.shuffle)]
            dropped = {place for place, axis in enumerate(op.new_order) if axis == "x"}
            y = addbroadcast(y, *dropped).dimshuffle(inverse)
        return inc_subtensor(inputs[0], y, inplace, sets).dimshuffle(op.new_order)
    if isinstance(op, Reshape):
        if not sets and y.ndim == 0:
            return x + y
        inner = inputs[0]
        value = y.reshape(inner.shape, ndim=inner.ndim) if y.ndim else y
        return inc_subtensor(inner, value, inplace, sets)
    raise TypeError("x must be the result of a subtensor operation")


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    """The elements at indexes along an axis; None: of all elements as one row."""
    from symc.theano.tensor import math
    from symc.theano.tensor.shaping import shape

    a, indices = as_tensor_variable(a), as_tensor_variable(indices)
    if axis is None:
        return take(a.flatten(), indices, 0, mode)
    place: int = axis + a.ndim if axis < 0 else axis
    if mode == "clip":
        indices = math.clip(indices, 0, shape(a)[place] - 1)
    elif mode == "wrap":
        indices = indices % shape(a)[place]
    elif mode != "raise":
        raise ValueError(f"mode is 'raise', 'clip' or 'wrap', not {mode!r}")
    entries: list[Any] = [slice(None)] * place + [indices]
    return a[tuple(entries)]
