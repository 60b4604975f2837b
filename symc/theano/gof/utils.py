"""Small things that the graph classes share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any


class MethodNotDefined(Exception):
    """An op or a type lacks a method that was needed."""


class NoGradient(MethodNotDefined, AttributeError):
    """An op has no `grad`: an AttributeError, as Theano's ops have no such attribute then."""


class TestValueError(Exception):
    """A test value is missing or does not fit."""


class scratchpad:
    """A place for annotations: whatever attributes programs put there."""

    def clear(self) -> None:
        """Forget all annotations."""
        self.__dict__.clear()

    def __update__(self, other: Any) -> scratchpad:
        self.__dict__.update(other.__dict__)
        return self

    def __str__(self) -> str:
        return f"scratchpad{self.__dict__}"

    def __repr__(self) -> str:
        return str(self)


class Named:
    """Equality by the attributes named in ``__props__``, where a class has that.

    Types and ops without it are equal to themselves only.
    """

    def _props(self) -> tuple[Any, ...] | None:
        names = getattr(self, "__props__", None)
        return None if names is None else tuple(getattr(self, name) for name in names)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        own = self._props()
        return own is not None and type(self) is type(other) and own == _props_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        own = self._props()
        return object.__hash__(self) if own is None else hash((type(self), own))

    def __str__(self) -> str:
        names = getattr(self, "__props__", None)
        if not names:
            return type(self).__name__
        return f"{type(self).__name__}{{{', '.join(f'{n}={getattr(self, n)!r}' for n in names)}}}"


def _props_of(other: Any) -> Any:
    return other._props()


def remove(predicate: Callable[[Any], bool], coll: Iterable[Any]) -> list[Any]:
    """The items for which the predicate does not hold."""
    return [item for item in coll if not predicate(item)]


def unique(x: Sequence[Any]) -> bool:
    """Whether no item is there twice."""
    return len(set(x)) == len(x)


def hash_from_code(msg: str | bytes) -> str:
    """A name made from a text or bytes."""
    return f"m{hashlib.sha256(msg.encode() if isinstance(msg, str) else msg).hexdigest()}"


def flatten(nested: Any) -> list[Any]:
    """The items of lists, tuples and sets within each other, in order."""
    if isinstance(nested, list | tuple | set):
        return [item for part in nested for item in flatten(part)]
    return [nested]


def give_variables_names(variables: Any) -> list[str]:
    """Names of their own for all variables; those that have one which is unique keep it."""
    listed = list(variables)
    names = [variable.name for variable in listed]
    for position, name in enumerate(names):
        if not name or names.count(name) > 1:
            names[position] = f"{name or 'variable'}_{position}"
    for variable, name in zip(listed, names, strict=True):
        variable.name = name
    return names
