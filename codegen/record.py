"""`@record`: a frozen, slotted dataclass that is cheap to define.

`@dataclass(frozen=True, slots=True)` takes about 1 ms a class, most of it to compile the text of
methods; symc has a hundred such classes, and importing it must cost 20 ms. `record` compiles
``__init__`` alone, and only for classes that prove to be used much. Type checkers see a dataclass,
and `dataclasses.replace` and `dataclasses.fields` work.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform, overload

T = TypeVar("T")

FEW = 50  # objects: as many take as long to make without a compiled ``__init__`` as it to compile


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type[T] | None = None, /, *, eq: bool = True) -> Any:
    """Make a class whose annotated names are fields: set once, compared, hashed and printed.

    With ``eq=False``, objects are compared and hashed by identity.

    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1)
    Point(x=1, y=0)
    >>> Point(1) == Point(1, 0), hash(Point(1)) == hash(Point(1))
    (True, True)
    """
    return partial(_record, eq=eq) if cls is None else _record(cls, eq)


def _record(cls: type[Any], eq: bool) -> type[Any]:
    own = {name: _field(cls, name) for name in inspect.get_annotations(cls)}
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(base.__dict__.get("__dataclass_fields__", {}))
    fields.update(own)
    namespace = {
        name: value
        for name, value in cls.__dict__.items()
        if name not in own and name not in ("__dict__", "__weakref__")
    }
    namespace["__slots__"] = tuple(own)
    namespace["__match_args__"] = tuple(fields)
    namespace["__dataclass_fields__"] = fields
    namespace.setdefault("__qualname__", cls.__qualname__)
    made = type(cls.__name__, cls.__bases__, namespace)
    _add_methods(made, fields, eq)
    return made


def _field(cls: type[Any], name: str) -> Any:
    given = cls.__dict__.get(name, dataclasses.MISSING)
    # A slot of the same name would hide a default in the class.
    whole = isinstance(cast("object", given), dataclasses.Field)
    found: Any = given if whole else dataclasses.field(default=given)
    found.name = name
    found.type = cls.__annotations__[name]
    found._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
    return found


def _add_methods(cls: type[Any], fields: dict[str, Any], eq: bool) -> None:
    names = tuple(fields)
    compared = tuple(name for name, field in fields.items() if field.compare)
    key: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()
    defaults: dict[str, Any] = {}
    made = 0

    def create(self: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal made
        if made == 0:
            defaults.update(_defaults(fields))
        made += 1
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        values = {**defaults, **given}
        is_clear = len(given) == len(args) + len(kwargs) and values.keys() == fields.keys()
        if made > FEW or not is_clear:  # the compiled one has factories, and says what is wrong
            cls.__init__ = _init(cls, fields)
            cls.__init__(self, *args, **kwargs)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    def represent(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    def equal(self: Any, other: object) -> Any:
        if self is other:
            return True
        return key(self) == key(other) if type(self) is type(other) else NotImplemented

    def hashed(self: Any) -> int:
        return hash(key(self))

    def reduce(self: Any) -> Any:
        return type(self), tuple(getattr(self, name) for name in names)

    methods: dict[str, Any] = {
        "__init__": create, "__setattr__": _refuse, "__delattr__": _refuse,
        "__repr__": represent, "__reduce__": reduce,
    }  # fmt: skip
    if eq:
        methods |= {"__eq__": equal, "__hash__": hashed}
    for name, method in methods.items():
        # What the class body has stays; with __eq__ and no __hash__ it has __hash__ = None.
        if cls.__dict__.get(name) is None:
            setattr(cls, name, method)


def _defaults(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: field.default
        for name, field in fields.items()
        if field.default is not dataclasses.MISSING
    }


def _init(cls: type[Any], fields: dict[str, Any]) -> Any:
    """``__init__`` as text: the one method whose arguments must be named."""
    scope: dict[str, Any] = {}
    parameters: list[str] = []
    body: list[str] = []
    for name, field in fields.items():
        slot = next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
        scope[f"set_{name}"] = slot.__set__
        value = name
        if field.default is not dataclasses.MISSING:
            scope[f"default_{name}"] = field.default
            parameters.append(f"{name}=default_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"make_{name}"] = field.default_factory
            parameters.append(f"{name}=None")
            value = f"make_{name}() if {name} is None else {name}"
        else:
            parameters.append(name)
        body.append(f" set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    lines = [f"def __init__({', '.join(['self', *parameters])}):", *(body or [" pass"])]
    exec("\n".join(lines), scope)  # as dataclasses does
    return scope["__init__"]


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")
