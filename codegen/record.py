"""`@record`: a slotted dataclass, frozen unless it says otherwise, that is cheap to define.

`@dataclass(slots=True)` takes about 1 ms a class, most of it to compile the text of methods; symc
has a hundred such classes, and importing it must cost 20 ms. `record` compiles ``__init__`` alone,
and only for classes that prove to be used much. Type checkers see a dataclass, and
`dataclasses.fields` and the like work; `replace` is here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    import dataclasses  # not at run time: it takes 2 ms to import

T = TypeVar("T")

FEW = 25  # objects: to compile ``__init__`` takes about as long as to make so many without it
_ABSENT: Any = object()


class Field:
    """The properties of a field besides its name and type."""

    __slots__ = ("compare", "default", "default_factory", "repr")

    def __init__(self, default: Any, default_factory: Any, compare: bool, repr: bool) -> None:
        self.default = default
        self.default_factory = default_factory
        self.compare = compare
        self.repr = repr


_PLAIN = Field(_ABSENT, _ABSENT, compare=True, repr=True)


def field(
    *,
    default: Any = _ABSENT,
    default_factory: Any = _ABSENT,
    compare: bool = True,
    repr: bool = True,
) -> Any:
    """A field with a default, as in `dataclasses`; ``compare=False`` leaves it out of ``==``, and
    ``repr=False`` out of the text."""
    return Field(default, default_factory, compare, repr)


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool = True, frozen: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T] | None = None, /, *, eq: bool = True, frozen: bool = True) -> Any:
    """Make a class whose annotated names are fields: set once, compared, hashed and printed.

    With ``eq=False``, objects are compared and hashed by identity. With ``frozen=False``, so they
    are, too, and fields can be set again.

    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1)
    Point(x=1, y=0)
    >>> Point(1) == Point(1, 0), hash(Point(1)) == hash(Point(1))
    (True, True)
    """
    if cls is None:
        return partial(_record, eq=eq and frozen, frozen=frozen)
    return _record(cls, eq and frozen, frozen)


def replace(given: T, /, **changes: Any) -> T:
    """A record with other values in some fields: `dataclasses.replace` takes 2 ms to import.

    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> replace(Point(1, 2), x=3)
    Point(x=3, y=2)
    """
    names: tuple[str, ...] = getattr(given, "__match_args__", ())
    values = [changes.pop(name) if name in changes else getattr(given, name) for name in names]
    return type(given)(*values, **changes)  # what is left is refused


def _record(cls: type[Any], eq: bool, frozen: bool) -> type[Any]:
    described = cls.__dict__
    annotations = described.get("__annotations__")
    if annotations is None:  # there are none, or Python makes them when they are asked for
        annotations = inspect.get_annotations(cls)
    own = {n: _field(cls, n) for n, text in annotations.items() if not _is_of_class(text)}
    fields: dict[str, Field] = {}
    types: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        known = base.__dict__.get("__dataclass_fields__")
        if known is not None:
            fields.update(known.fields)
            types.update(known.types)
    fields.update(own)
    types.update(annotations)
    namespace = {name: value for name, value in described.items() if name not in own}
    namespace.pop("__dict__", None)
    namespace.pop("__weakref__", None)
    namespace["__slots__"] = tuple(own)
    namespace["__match_args__"] = tuple(fields)
    namespace["__dataclass_fields__"] = _Fields(fields, types)
    namespace["__qualname__"] = cls.__qualname__
    return _with_methods(cls, namespace, fields, eq, frozen)


def _is_of_class(annotation: Any) -> bool:
    """Whether a name belongs to the class, not to its objects."""
    text = annotation if isinstance(annotation, str) else str(annotation)
    return text.startswith("ClassVar")


def _field(cls: type[Any], name: str) -> Field:
    # A slot of the same name would hide a default in the class.
    given = cls.__dict__.get(name, _ABSENT)
    if given is _ABSENT:
        return _PLAIN
    if isinstance(given, Field):
        return given
    if type(given).__module__ == "dataclasses":
        raise TypeError(f"{cls.__name__}.{name}: a record's fields are made with record's field()")
    return Field(given, _ABSENT, compare=True, repr=True)


class _Fields:
    """``__dataclass_fields__``, which `dataclasses.replace` and others read: made when they do."""

    __slots__ = ("fields", "types")

    def __init__(self, fields: dict[str, Field], types: dict[str, Any]) -> None:
        self.fields = fields
        self.types = types

    def __get__(self, instance: object, owner: type[Any]) -> dict[str, dataclasses.Field[Any]]:
        import dataclasses

        made: dict[str, dataclasses.Field[Any]] = {}
        for name, known in self.fields.items():
            options: dict[str, Any] = {"compare": known.compare, "repr": known.repr}
            if known.default is not _ABSENT:
                options["default"] = known.default
            if known.default_factory is not _ABSENT:
                options["default_factory"] = known.default_factory
            found = made[name] = dataclasses.field(**options)
            found.name = name
            found.type = self.types[name]
            found._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
        return made


def _with_methods(
    plain: type[Any], namespace: dict[str, Any], fields: dict[str, Field], eq: bool, frozen: bool
) -> type[Any]:
    """The class, made anew from this namespace: methods that are set later take longer."""
    names = tuple(fields)
    compared = tuple(name for name, known in fields.items() if known.compare)
    shown = tuple(name for name, known in fields.items() if known.repr)
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
        if made > FEW or not is_clear:  # the compiled one has factories, and reports errors
            cls.__init__ = _init(cls, fields, frozen)
            cls.__init__(self, *args, **kwargs)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    def represent(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    def equal(self: Any, other: object) -> Any:
        if self is other:
            return True
        return key(self) == key(other) if type(self) is type(other) else NotImplemented

    def hashed(self: Any) -> int:
        return hash(key(self))

    def reduce(self: Any) -> Any:
        return type(self), tuple(getattr(self, name) for name in names)

    methods: dict[str, Any] = {"__init__": create, "__repr__": represent, "__reduce__": reduce}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if eq:
        methods |= {"__eq__": equal, "__hash__": hashed}
    for name, method in methods.items():
        # Methods in the class body stay; with __eq__ and no __hash__ it has __hash__ = None.
        if namespace.get(name) is None:
            namespace[name] = method
    cls: type[Any] = type(plain.__name__, plain.__bases__, namespace)
    return cls


def _defaults(fields: dict[str, Field]) -> dict[str, Any]:
    return {name: known.default for name, known in fields.items() if known.default is not _ABSENT}


def _init(cls: type[Any], fields: dict[str, Field], frozen: bool) -> Any:
    """``__init__`` as text: the one method whose arguments must be named."""
    scope: dict[str, Any] = {}
    parameters: list[str] = []
    body: list[str] = []
    for name, known in fields.items():
        if frozen:  # __setattr__ refuses
            slot = next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
            scope[f"set_{name}"] = slot.__set__
        value = name
        if known.default is not _ABSENT:
            scope[f"default_{name}"] = known.default
            parameters.append(f"{name}=default_{name}")
        elif known.default_factory is not _ABSENT:
            scope[f"make_{name}"] = known.default_factory
            parameters.append(f"{name}=None")
            value = f"make_{name}() if {name} is None else {name}"
        else:
            parameters.append(name)
        body.append(f" set_{name}(self, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    lines = [f"def __init__({', '.join(['self', *parameters])}):", *(body or [" pass"])]
    exec("\n".join(lines), scope)  # as dataclasses does
    return scope["__init__"]


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")
