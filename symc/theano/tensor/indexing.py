"""Indexes as ops hold them: a template with holes, and the variables that fill the holes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from symc.theano.gof.graph import Constant, Variable
from symc.theano.gof.type import Type
from symc.theano.scalar.dtypes import discrete_dtypes, integer_dtypes
from symc.theano.scalar.types import Scalar, ScalarConstant, as_scalar, get_scalar_type
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType
from symc.theano.tensor.type_other import NoneTypeT

# The stand-in for a variable in a template, as Theano has it there: a type.
HOLE = TensorType("int64", ())
MASK = TensorType("bool", (False,))


class AdvancedIndexingError(TypeError):
    """An index needs advanced indexing, where only the basic one can be."""


def filled(template: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
    """The index of a template, values in its holes."""
    rest = iter(values)
    return with_leaves(template, lambda entry: next(rest) if isinstance(entry, Type) else entry)


def with_leaves(entries: Sequence[Any], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    """An index whose entries, and the bounds of its slices, are changed."""

    def changed(entry: Any) -> Any:
        if isinstance(entry, slice):
            return slice(changed(entry.start), changed(entry.stop), changed(entry.step))
        return change(entry)

    return tuple(changed(entry) for entry in entries)


def known(variables: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """The values of variables in an index: numbers for those that are constant numbers."""
    pairs = zip(variables, values, strict=True)
    return [int(v.data) if isinstance(v, ScalarConstant) else value for v, value in pairs]


def make_constant(args: Sequence[Any]) -> tuple[Any, ...]:
    """An index whose numbers are constants, as Theano's graphs have them."""

    def conv(entry: Any) -> Any:
        number = isinstance(entry, int | np.integer) and not isinstance(entry, bool)
        return ScalarConstant(get_scalar_type("int64"), entry) if number else entry

    return with_leaves(args, conv)


def get_idx_list(inputs: Sequence[Any], idx_list: Sequence[Any], get_count: bool = False) -> Any:
    """The index of an application: the variables in it in the places of their types."""
    index = filled(idx_list, inputs[1:])
    holes: list[Any] = []
    with_leaves(idx_list, lambda entry: holes.append(entry) if isinstance(entry, Type) else None)
    return (index, len(holes)) if get_count else index


def split(entries: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """A template of an index, and the variables that belong into its holes."""
    found: list[Any] = []

    def take(entry: Any) -> Any:
        if not isinstance(entry, Variable):
            return entry
        found.append(entry)
        if isinstance(entry.type, Scalar):
            return entry.type
        return MASK if entry.type.dtype == "bool" else HOLE

    return with_leaves(entries, take), found


def as_numbers(entries: Sequence[Any]) -> tuple[Any, ...]:
    """A basic index whose numbers and tensors are variables of Theano's scalar types."""
    return with_leaves(
        make_constant(entries),
        lambda entry: as_scalar(entry) if isinstance(entry, Variable) else entry,
    )


def hashable(template: Sequence[Any]) -> tuple[Any, ...]:
    """A template that can be hashed, which slices cannot be."""
    return tuple(
        ("slice", entry.start, entry.stop, entry.step) if isinstance(entry, slice) else entry
        for entry in template
    )


def parsed(index: Any, ndim: int) -> list[Any]:
    """The entries of ``x[index]``, ``...`` replaced by slices.

    Numbers are Python's, tensors are variables. Raises IndexError and TypeError as Theano does.
    """
    parts = isinstance(index, tuple) or (
        isinstance(index, list) and any(isinstance(each, slice) for each in index)
    )  # NumPy once took a list of slices as it takes a tuple
    given = list(index) if parts else [index]
    dots = [place for place, each in enumerate(given) if each is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single Ellipsis (`...`)")
    entries = [each if each is Ellipsis else _entry(each) for each in given]
    used = sum(_axes_used(each) for each in entries)
    if used > ndim:
        raise IndexError("too many indices for array")
    place = dots[0] if dots else len(entries)
    entries[place : place + 1] = [slice(None)] * (ndim - used)
    return entries


def _axes_used(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if is_mask(entry) else 1


def is_mask(entry: Any) -> bool:
    """Whether an entry is a tensor of bools."""
    return isinstance(entry, Variable) and entry.type.dtype == "bool"


def _is_none(given: Any) -> bool:
    """Whether an entry is None, or a variable whose value is always None."""
    return given is None or (isinstance(given, Variable) and isinstance(given.type, NoneTypeT))


def _entry(given: Any) -> Any:
    if _is_none(given):
        return None
    if isinstance(given, slice) and given == slice(None):
        return given
    if isinstance(given, slice):
        return slice(_bound(given.start), _bound(given.stop), _bound(given.step))
    if isinstance(given, bool | np.bool_):
        raise TypeError(
            "TensorType does not support Python bools for indexing, such as tensor[True]"
        )
    if isinstance(given, int | np.integer):
        return _whole(given)
    if isinstance(given, list | tuple):
        if any(isinstance(each, bool | np.bool_) for each in _leaves(given)):
            raise TypeError(
                "TensorType does not support Python bools for indexing, such as "
                "tensor[[True, False]]. To use a boolean mask, convert the mask to a NumPy array "
                "first, e.g., tensor[numpy.array([True, False])]."
            )
        if not given:
            given = np.zeros((0,), dtype="int64")
    return _tensor(given)


def _whole(given: Any) -> int:
    if not -(2**63) <= int(given) < 2**63:
        raise OverflowError(f"the index {given} does not fit into int64")
    return int(given)


def _leaves(nested: Any) -> Iterator[Any]:
    for each in nested:
        if isinstance(each, list | tuple):
            yield from _leaves(each)
        else:
            yield each


def _tensor(given: Any) -> Any:
    if isinstance(given, Variable) and not isinstance(given.type, TensorType | Scalar):
        raise TypeError("Expected an integer", given)
    found = as_tensor_variable(given)
    if found.dtype not in discrete_dtypes:
        raise TypeError("Expected an integer", given)
    if found.ndim == 0 and isinstance(found, Constant) and found.dtype in integer_dtypes:
        return int(found.data)
    return found


def _bound(given: Any) -> Any:
    if _is_none(given):
        return None
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return _whole(given)
    found = as_tensor_variable(given)
    if found.ndim or found.dtype not in integer_dtypes or found.dtype == "uint64":
        raise TypeError("Expected an integer", given)
    return int(found.data) if isinstance(found, Constant) else found


def is_advanced(entries: Sequence[Any]) -> bool:
    """Whether an index gathers, rather than being a view."""
    return any(
        isinstance(entry, Variable) and (entry.ndim > 0 or not _signed(entry)) for entry in entries
    )


def _signed(entry: Any) -> bool:
    return str(entry.type.dtype).startswith("int")


# --- which axes of the result broadcast -----------------------------------------------------------


def basic_flags(template: Sequence[Any], flags: Sequence[bool]) -> list[bool]:
    """The flags of ``x[index]`` for numbers and slices."""
    found: list[bool] = []
    for position, flag in enumerate(flags):
        entry = template[position] if position < len(template) else slice(None)
        if isinstance(entry, slice):
            found.append(flag and _keeps_one(entry))
    return found


def _keeps_one(entry: slice) -> bool:
    start, stop = entry.start, entry.stop
    if isinstance(start, Variable) or start not in (None, 0):
        return False
    return stop is None or (isinstance(stop, int) and stop > 0)


def advanced_flags(entries: Sequence[Any], flags: Sequence[bool]) -> list[bool]:
    """The flags of ``x[index]`` where arrays are in the index, as NumPy puts the axes."""
    arrays: list[Any] = []
    blocks: list[bool | str] = []
    axis = 0
    for entry in entries:
        if entry is None:
            blocks.append(True)
        elif isinstance(entry, slice):
            blocks.append(flags[axis] and _keeps_one(entry))
            axis += 1
        else:
            arrays.append(entry)
            blocks.append("array")
            axis += entry.ndim if is_mask(entry) else 1
    gathered = _joined_flags(arrays)
    places = [place for place, block in enumerate(blocks) if block == "array"]
    together = places[-1] - places[0] + 1 == len(places)
    at = places[0] if together else 0
    before = [block for block in blocks[:at] if isinstance(block, bool)]
    after = [block for block in blocks[at:] if isinstance(block, bool)]
    return [*before, *gathered, *after]


def _joined_flags(arrays: Sequence[Any]) -> list[bool]:
    patterns = [
        (False,) if is_mask(each) else tuple(each.type.broadcastable)
        for each in arrays
        if isinstance(each, Variable)
    ]
    most = max((len(each) for each in patterns), default=0)
    padded = [(True,) * (most - len(each)) + each for each in patterns]
    return [all(column) for column in zip(*padded, strict=True)]


def without_none(entries: Sequence[Any], dimshuffle: Callable[[list[Any]], Any]) -> Any:
    """A tensor with an axis for each None of a basic index, and the index with slices there."""
    order: list[Any] = []
    rest: list[Any] = []
    axis = 0
    for entry in entries:
        if entry is None:
            order.append("x")
            rest.append(slice(None))
        else:
            order.append(axis)
            rest.append(entry)
            axis += 1
    return dimshuffle(order), rest
