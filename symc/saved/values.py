"""The parameters of ops as JSON, and back.

    None, bool, int, str     as they are
    float                    {"float": "0x1.8p+1"}     exact, NaN and infinities included
    complex                  {"complex": [re, im]}
    tuple                    [...]
    list                     {"list": [...]}
    slice                    {"slice": [start, stop, step]}
    element type             {"dtype": "float64"}
    elementwise op           {"elementwise": "exp"}
    GIVEN in slices          {"mark": "given"}
    record or named tuple    {"record": "symc.tensor.reduce:Reduce", "fields": [...]}
    node                     {"node": 7}               by its position in the document
    array                    {"array": 0}              by its position beside the document

Nothing else can be written, and nothing else is read. A record is made of a class of symc that was
defined as one, of fields of the types that it promises: no code runs but symc's own constructors.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import MISSING
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from symc.codegen.dtypes import BY_NAME, DType
from symc.errors import BadFile, CannotSave
from symc.graph.node import Array, Tensor
from symc.tensor.elementwise import ELEMENTWISE, Elementwise
from symc.tensor.spans import GIVEN

HOMES = (
    "symc.tensor.", "symc.loops.", "symc.derivatives.changed", "symc.calls.updates", "symc.user.",
    "symc.distributed.ops", "symc.distributed.pending",
)  # fmt: skip
# The names of records never change, as files of all versions have them: a module that has moved
# stands here with the name that it had first.
FIRST_NAMES = {"symc.derivatives.changed": "symc.grad", "symc.calls.updates": "symc.updates"}
MOVED = {first: now for now, first in FIRST_NAMES.items()}
# So do classes that have been renamed.
FIRST_CLASSES = {
    "symc.grad:ChangedGradient": "symc.grad:_Passing",
    "symc.loops.build:LoopParts": "symc.loops.build:Plan",
    "symc.tensor.complex_numbers:ComplexPart": "symc.tensor.complex_numbers:Part",
    "symc.tensor.nnet.convolution:LengthPair": "symc.tensor.nnet.convolution:Lengths",
    "symc.loops.scan:BodyLayout": "symc.loops.scan:Layout",
    "symc.tensor.spans:SliceLayout": "symc.tensor.spans:Layout",
    "symc.tensor.sorting.order:InverseOrder": "symc.tensor.sorting.order:Inverse",
    "symc.user.declared:UserResult": "symc.user.declared:Part",
}
RENAMED = {first: now for now, first in FIRST_CLASSES.items()}


class ValueWriter:
    """Turns values into JSON; `number` gives a node's position, arrays are collected."""

    def __init__(self, number: Callable[[Tensor], int]) -> None:
        self._number = number
        self.arrays: list[Array] = []

    def array(self, value: Array) -> dict[str, int]:
        """The place of an array."""
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def __call__(self, value: Any) -> Any:
        """A value as JSON. Raises `CannotSave` for values without a form there."""
        match value:
            case DType():
                return {"dtype": value.name}
            case None | bool() | int() | str():
                return value
            case float():
                return {"float": value.hex()}
            case complex():
                return {"complex": [value.real.hex(), value.imag.hex()]}
            case tuple() if type(value) is tuple:
                return [self(item) for item in value]
            case list():
                return {"list": [self(item) for item in value]}
            case slice():
                return {"slice": [self(part) for part in (value.start, value.stop, value.step)]}
            case Tensor():
                return {"node": self._number(value)}
            case np.ndarray():
                return self.array(value)
            case Elementwise():
                return {"elementwise": value.name}
            case _ if value is GIVEN:
                return {"mark": "given"}
            case _ if _is_record(type(value)):
                kind = type(value)
                fields = [self(getattr(value, name)) for name in _fields(kind)]
                return {"record": name_of(kind), "fields": fields}
            case _:
                raise CannotSave(f"symc has no form for {value!r} in a file")


def name_of(kind: Any) -> str:
    """The name of a record in files."""
    home = str(kind.__module__)
    name = f"{FIRST_NAMES.get(home, home)}:{kind.__qualname__}"
    return FIRST_CLASSES.get(name, name)


def _is_record(kind: Any) -> bool:
    """Whether a class is one of symc's records or named tuples."""
    return hasattr(kind, "__match_args__") and str(kind.__module__).startswith(HOMES)


def _fields(kind: Any) -> tuple[str, ...]:
    """The names of a record's fields, in the order of its constructor."""
    return tuple(kind.__match_args__)


class ValueReader:
    """Turns JSON back into values. Raises `BadFile` for anything that no `ValueWriter` writes."""

    def __init__(self, nodes: list[Tensor], arrays: list[Array]) -> None:
        self._nodes = nodes
        self._arrays = arrays

    def array(self, number: Any) -> Array:
        """The array at a place."""
        return self._arrays[whole(number, len(self._arrays))]

    def __call__(self, value: Any) -> Any:
        """The value of some JSON."""
        match value:
            case None | bool() | int() | str():
                return value
            case list():
                return tuple(self(item) for item in value)
            case {"float": str(digits)}:
                return float.fromhex(digits)
            case {"complex": [str(real), str(imag)]}:
                return complex(float.fromhex(real), float.fromhex(imag))
            case {"list": list(items)}:
                return [self(item) for item in items]
            case {"slice": [start, stop, step]}:
                return slice(self(start), self(stop), self(step))
            case {"dtype": str(name)} if name in BY_NAME:
                return BY_NAME[name]
            case {"node": number}:
                return self._nodes[whole(number, len(self._nodes))]
            case {"array": number}:
                return self.array(number)
            case {"elementwise": str(name)} if (op := ELEMENTWISE.find(name)) is not None:
                return op
            case {"mark": "given"}:
                return GIVEN
            case {"record": str(name), "fields": list(fields)}:
                return _made(class_named(name), [self(item) for item in fields])
            case _:
                raise BadFile(f"no value has this form: {value!r:.80}")


def whole(number: Any, count: int) -> int:
    """A position below `count`."""
    if type(number) is not int or not 0 <= number < count:
        raise BadFile(f"there is no number {number!r:.80} among {count}")
    return number


def class_named(name: str) -> Any:
    """The class of a record by its name in files. Raises `BadFile` if there is none."""
    home, _, kind = RENAMED.get(name, name).partition(":")
    home = MOVED.get(home, home)
    if home.startswith(HOMES):
        try:
            found = getattr(importlib.import_module(home), kind, None)
        except ImportError:
            found = None
        if isinstance(found, type) and found.__module__ == home and _is_record(found):
            return found
    raise BadFile(f"this symc has no {name!r:.80}")


def _made(kind: Any, fields: list[Any]) -> Any:
    """A record whose fields are of the types that its class promises."""
    names = _fields(kind)
    later = names[len(fields) :]  # fields that a later version added have defaults
    if len(fields) > len(names) or not all(_has_default(kind, name) for name in later):
        raise BadFile(f"{kind.__name__} has {len(names)} fields, not {len(fields)}")
    for name, value in zip(names, fields, strict=False):
        hint = _hints(kind).get(name, Any)
        if not _conforms(value, hint):
            raise BadFile(f"{kind.__name__}.{name} is {hint}, which {value!r:.80} is not")
    return kind(*fields)


def _has_default(kind: Any, name: str) -> bool:
    field = kind.__dataclass_fields__[name]
    return field.default is not MISSING or field.default_factory is not MISSING


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _conforms(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, as far as types can be told from values."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any or isinstance(hint, TypeVar):
        return True
    if origin is Literal:
        return value in args and any(type(value) is type(arg) for arg in args)
    if origin in (Union, UnionType):
        return any(_conforms(value, arg) for arg in args)
    if origin is tuple:
        if type(value) is not tuple:
            return False
        items = value
        if len(args) == 2 and args[1] is Ellipsis:
            return all(_conforms(item, args[0]) for item in items)
        return len(items) == len(args) and all(map(_conforms, items, args))
    if hint is None or hint is type(None):
        return value is None
    if hint is float:
        return type(value) in (int, float)
    if hint in (bool, int, str):
        return type(value) is hint
    kind = origin or hint
    return not isinstance(kind, type) or isinstance(value, kind)
