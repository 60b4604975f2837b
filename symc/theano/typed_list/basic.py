"""Ops of lists. Positions are int64 scalars; an item is found by its type's `values_eq`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType
from symc.theano.tensor.type_other import SliceType, slicetype
from symc.theano.typed_list.type import TypedListType


class TypedListOperators:
    """What lists answer to in expressions."""

    type: Any

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __len__(self) -> Any:
        return length(self)

    def append(self, toAppend: Any) -> Any:
        """The list with an item more."""
        return append(self, toAppend)

    def extend(self, toAppend: Any) -> Any:
        """The list with those of another behind it."""
        return extend(self, toAppend)

    def insert(self, index: Any, toInsert: Any) -> Any:
        """The list with an item more before a position."""
        return insert(self, index, toInsert)

    def remove(self, toRemove: Any) -> Any:
        """The list without the first item of that value."""
        return remove(self, toRemove)

    def reverse(self) -> Any:
        """The list backwards."""
        return reverse(self)

    def count(self, elem: Any) -> Any:
        """How many items have that value."""
        return count(self, elem)

    def ind(self, elem: Any) -> Any:
        """The position of the first item of that value."""
        return index_(self, elem)

    @property
    def ttype(self) -> Any:
        """The type of the items."""
        return self.type.ttype

    @property
    def dtype(self) -> Any:
        """The dtype of the items."""
        return self.type.ttype.dtype

    @property
    def ndim(self) -> int:
        """One more than the items have."""
        found: int = self.type.ttype.ndim + 1
        return found


class TypedListVariable(TypedListOperators, Variable):
    """A variable whose values are lists."""


class TypedListConstant(TypedListOperators, Constant):
    """A list that is known."""


TypedListType.Variable = TypedListVariable
TypedListType.Constant = TypedListConstant


def _position(index: Any) -> Any:
    if not isinstance(index, Variable):
        return as_tensor_variable(np.asarray(index, dtype="int64"), ndim=0)
    if not isinstance(index.type, TensorType) or index.ndim or index.dtype != "int64":
        raise TypeError("Expected scalar or slice as index.")
    return index


def _item(x: Any, given: Any) -> Any:
    """A value as a variable of the type of a list's items."""
    if not isinstance(given, Variable):
        given = x.ttype.make_constant(given)
    if given.type != x.ttype:
        raise TypeError(f"a list of {x.ttype} has no items of {given.type}")
    return given


def _place(x: Any, values: Sequence[Any], wanted: Any) -> int:
    same = x.type.ttype.values_eq
    for position, each in enumerate(values):
        if same(each, wanted):
            return position
    raise ValueError("the item is not in the list")


class ListOp(Op):
    """An op of a list; `inplace` ones may change it."""

    __props__: ClassVar[Any] = ()

    def _checked(self, x: Any) -> Any:
        if not isinstance(getattr(x, "type", None), TypedListType):
            raise TypeError(f"{self}: {x} is no typed list")
        return x

    def __str__(self) -> str:
        return type(self).__name__


class GetItem(ListOp):
    """An item, or a part of a list for a slice."""

    view_map: ClassVar[dict[int, list[int]]] = {0: [0]}

    def make_node(self, x: Any, index: Any) -> Apply:
        self._checked(x)
        if isinstance(index, slice):
            index = slicetype.make_constant(index)
        if isinstance(index, Variable) and isinstance(index.type, SliceType):
            return Apply(self, [x, index], [x.type()])
        return Apply(self, [x, _position(index)], [x.ttype()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        values, index = inputs
        output_storage[0][0] = values[index if isinstance(index, slice) else int(index)]


class ChangingOp(ListOp):
    """An op whose result is the list changed."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}  # type: ignore[misc]

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        values = inputs[0] if self.inplace else list(inputs[0])
        self.change(node, values, [copy.deepcopy(each) for each in inputs[1:]])
        output_storage[0][0] = values

    def change(self, node: Apply, values: list[Any], rest: Sequence[Any]) -> None:
        """Changes the list."""
        raise NotImplementedError


class Append(ChangingOp):
    """An item more at the end."""

    def make_node(self, x: Any, toAppend: Any) -> Apply:
        return Apply(self, [self._checked(x), _item(x, toAppend)], [x.type()])

    def change(self, node: Apply, values: list[Any], rest: Sequence[Any]) -> None:
        values.append(rest[0])


class Extend(ChangingOp):
    """The items of another list at the end."""

    def make_node(self, x: Any, toAppend: Any) -> Apply:
        if not isinstance(toAppend, Variable):
            toAppend = x.type.make_constant(toAppend)
        if self._checked(x).type != toAppend.type:
            raise TypeError(f"{x.type} cannot be extended by {toAppend.type}")
        return Apply(self, [x, toAppend], [x.type()])

    def change(self, node: Apply, values: list[Any], rest: Sequence[Any]) -> None:
        values.extend(rest[0])


class Insert(ChangingOp):
    """An item more before a position."""

    def make_node(self, x: Any, index: Any, toInsert: Any) -> Apply:
        return Apply(self, [self._checked(x), _position(index), _item(x, toInsert)], [x.type()])

    def change(self, node: Apply, values: list[Any], rest: Sequence[Any]) -> None:
        values.insert(int(rest[0]), rest[1])


class Remove(ChangingOp):
    """Without the first item of a value."""

    def make_node(self, x: Any, toRemove: Any) -> Apply:
        return Apply(self, [self._checked(x), _item(x, toRemove)], [x.type()])

    def change(self, node: Apply, values: list[Any], rest: Sequence[Any]) -> None:
        del values[_place(node.inputs[0], values, rest[0])]


class Reverse(ChangingOp):
    """Backwards."""

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [self._checked(x)], [x.type()])

    def change(self, node: Apply, values: list[Any], rest: Sequence[Any]) -> None:
        values.reverse()


class NumberOp(ListOp):
    """An op whose result is an integer."""

    def make_node(self, x: Any, elem: Any) -> Apply:
        return Apply(self, [self._checked(x), _item(x, elem)], [TensorType("int64", ())()])


class Index(NumberOp):
    """The position of the first item of a value. Raises ValueError where there is none."""

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        found = _place(node.inputs[0], inputs[0], inputs[1])
        output_storage[0][0] = np.asarray(found, dtype="int64")


class Count(NumberOp):
    """How many items have a value."""

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        same = node.inputs[0].type.ttype.values_eq
        found = sum(bool(same(each, inputs[1])) for each in inputs[0])
        output_storage[0][0] = np.asarray(found, dtype="int64")


class Length(ListOp):
    """How many items there are."""

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [self._checked(x)], [TensorType("int64", ())()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        output_storage[0][0] = np.asarray(len(inputs[0]), dtype="int64")


class MakeList(ListOp):
    """A list of variables or values, which must be of one type."""

    def make_node(self, a: Any) -> Apply:
        if not isinstance(a, list | tuple):
            raise TypeError(f"make_list: a list is wanted, not {a!r}")
        items = [each if isinstance(each, Variable) else as_tensor_variable(each) for each in a]
        if not items or any(each.type != items[0].type for each in items):
            raise TypeError("MakeList need all input variable to be of the same type.")
        return Apply(self, items, [TypedListType(items[0].type)()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        output_storage[0][0] = [copy.copy(each) for each in inputs]


getitem, append, extend, insert, remove = GetItem(), Append(), Extend(), Insert(), Remove()
reverse, index_, count, length, make_list = Reverse(), Index(), Count(), Length(), MakeList()
