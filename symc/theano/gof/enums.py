"""Enumerations as types of an op's parameters: `EnumType`, `EnumList`, `CEnumType`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from symc.theano.gof.type import Type

_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class EnumType(Type):
    """Named numbers: ``EnumType(A=1, B=("second", 2.5))``; the text is a second name of ``B``.

    Raises AttributeError for names that are not in capitals and TypeError for values that are no
    numbers.

    >>> from symc.theano.gof import EnumType
    >>> kinds = EnumType(SUM=0, MEAN=("average", 1))
    >>> kinds.MEAN, kinds.fromalias("average"), kinds.filter("SUM")
    (1, 1, 0)
    """

    default_ctype = "double"

    def __init__(self, **kwargs: Any) -> None:
        own = self.__dict__
        ctype = str(kwargs.pop("ctype", self.default_ctype)).split()
        if not all(map(_IDENTIFIER.match, ctype)):
            raise TypeError(f"{type(self).__name__}: invalid C type.")
        cname = str(kwargs.pop("cname", "_".join(ctype)))
        if not _IDENTIFIER.match(cname):
            raise TypeError(f"{type(self).__name__}: invalid C name.")
        own["ctype"], own["cname"] = " ".join(ctype), cname
        own["aliases"], own["constants"] = {}, {}
        for name, value in kwargs.items():
            self._enter(name, value)
        if set(self.aliases) & set(self.constants):
            raise TypeError(f"{type(self).__name__}: some aliases have same names as constants.")

    def _enter(self, name: str, value: Any) -> None:
        kind = type(self).__name__
        if not _NAME.match(name):
            raise AttributeError(
                f'{kind}: invalid enum name: "{name}". Only capital letters, underscores and '
                "digits are allowed."
            )
        if isinstance(value, list | tuple):
            if len(value) != 2:
                raise TypeError(f'{kind}: constant "{name}": expected an alias and a value.')
            alias, value = value
            if not isinstance(alias, str):
                raise TypeError(f'{kind}: constant alias should be a string, got "{alias}".')
            if alias == name or alias in self.aliases:
                raise TypeError(f'{kind}: the alias "{alias}" is a name already.')
            self.aliases[alias] = name
        if not isinstance(value, int | float):
            raise TypeError(
                f'{kind}: constant "{name}": expected integer or floating value, got '
                f'"{type(value).__name__}".'
            )
        self.constants[name] = int(value) if isinstance(value, bool) else value

    # --- a mapping --------------------------------------------------------------------------------

    def __getattr__(self, key: str) -> Any:
        constants = self.__dict__.get("constants", {})
        if key in constants:
            return constants[key]
        raise AttributeError(f"{type(self).__name__} has no constant {key!r}", name=key, obj=self)

    def __setattr__(self, key: str, value: Any) -> None:
        if key in self.__dict__.get("constants", {}):
            raise NotImplementedError("constant values are immutable.")
        super().__setattr__(key, value)

    def __setitem__(self, key: str, value: Any) -> None:
        raise NotImplementedError("constant values are immutable.")

    __delitem__ = __delattr__ = __setitem__  # type: ignore[assignment]

    def __getitem__(self, key: str) -> Any:
        return self.constants[key]

    def __contains__(self, key: object) -> bool:
        return key in self.constants

    def __iter__(self) -> Iterator[str]:
        return iter(self.constants)

    def __len__(self) -> int:
        return len(self.constants)

    def keys(self) -> Any:
        """The names."""
        return self.constants.keys()

    def values(self) -> Any:
        """The numbers."""
        return self.constants.values()

    def items(self) -> Any:
        """Names and numbers."""
        return self.constants.items()

    def fromalias(self, alias: str) -> Any:
        """The number of a second name, or of a name."""
        return self.constants[self.aliases.get(alias, alias)]

    def has_alias(self, alias: str) -> bool:
        """Whether this is a second name."""
        return alias in self.aliases

    def get_aliases(self) -> tuple[str, ...]:
        """All second names, in order."""
        return tuple(sorted(self.aliases))

    # --- a type -----------------------------------------------------------------------------------

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """A number of the enumeration, for it or, unless `strict`, for a name of it."""
        if not strict and isinstance(data, str):
            data = self.fromalias(data)
        elif not strict and isinstance(data, bool):
            data = int(data)
        assert data in self.constants.values()
        return data

    def _props(self) -> tuple[Any, ...]:
        return (
            self.ctype,
            tuple(sorted(self.constants.items())),
            tuple(sorted(self.aliases.items())),
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._props() == getattr(other, "_props")()  # noqa: B009

    def __hash__(self) -> int:
        return hash((type(self), self._props()))

    def __str__(self) -> str:
        second = {name: f"({alias})" for alias, name in self.aliases.items()}
        listed = (f"{n}{second.get(n, '')}:{v}" for n, v in sorted(self.constants.items()))
        return f"{type(self).__name__}<{self.ctype}>({', '.join(listed)})"


class EnumList(EnumType):
    """Names numbered from 0: ``EnumList("A", ("B", "second name of B"))``."""

    default_ctype = "int"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if set(kwargs) - {"ctype", "cname"}:
            raise TypeError(
                f"{type(self).__name__}: expected 0 keyword arguments, or only \"ctype\" or "
                f'"cname", got {list(kwargs)}.'
            )  # fmt: skip
        named: dict[str, Any] = {}
        for number, each in enumerate(args):
            if isinstance(each, list | tuple) and len(each) != 2:
                raise TypeError(f"{type(self).__name__}: expected a name and an alias, got {each}.")
            name, alias = each if isinstance(each, list | tuple) else (each, None)
            if not isinstance(name, str):
                raise TypeError(f"{type(self).__name__}: constant name should be a string.")
            if name in named:
                raise TypeError(f'{type(self).__name__}: constant name already used ("{name}").')
            named[name] = number if alias is None else (alias, number)
        super().__init__(**named, **kwargs)


class CEnumType(EnumList):
    """Names of constants in C; in Python they are numbered from 0, as in `EnumList`."""
