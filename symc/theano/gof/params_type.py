"""`theano.gof.params_type`: the parameters of an op as one value with named parts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from symc.theano.gof.enums import EnumType
from symc.theano.gof.type import Type

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KEYWORDS = (
    "alignas", "alignof", "and", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "class", "compl", "const", "constexpr", "continue", "decltype", "default",
    "delete", "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float",
    "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public",
    "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "template", "this", "throw", "true", "try", "typedef", "typeid", "typename", "typeof",
    "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor",
)  # fmt: skip
"""Of C and C++."""


class Params(dict[str, Any]):
    """Values by name, as attributes as well. They cannot be changed."""

    def __init__(self, params_type: Any, **kwargs: Any) -> None:
        if not isinstance(params_type, ParamsType):
            raise TypeError("Params: 1st constructor argument should be a ParamsType.")
        for field in params_type.fields:
            if field not in kwargs:
                raise TypeError(f'Params: ParamsType attribute "{field}" not in Params args.')
        super().__init__(**kwargs)
        self.__dict__["__params_type__"] = params_type

    def __getattr__(self, key: str) -> Any:
        if key not in self:
            raise AttributeError(f'Params: attribute "{key}" does not exist.')
        return self[key]

    def __setattr__(self, key: str, value: Any) -> None:
        raise NotImplementedError("Params is immutable")

    def __setitem__(self, key: str, value: Any) -> None:
        raise NotImplementedError("Params is immutable")

    def __delitem__(self, key: str) -> None:
        raise NotImplementedError("Params is immutable")

    def __reduce__(self) -> Any:
        return _params, (self.__dict__["__params_type__"], dict(self))

    def __eq__(self, other: object) -> bool:
        if (
            not isinstance(other, Params)
            or self.__dict__["__params_type__"] != other.__dict__["__params_type__"]
        ):
            return False
        return bool(self.__dict__["__params_type__"].values_eq(self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]
        kind = self.__dict__["__params_type__"]
        parts = [
            each.make_constant(self[field]).signature()
            for field, each in zip(kind.fields, kind.types, strict=True)
        ]
        return hash((Params, kind, *parts))

    def __repr__(self) -> str:
        parts = (f"{k}:{type(v).__name__}:{v}" for k, v in sorted(self.items()))
        return f"Params({', '.join(parts)})"


def _params(kind: ParamsType, values: dict[str, Any]) -> Params:
    return Params(kind, **values)


class ParamsType(Type):
    """The types of named parts: ``ParamsType(a=T.dscalar, kind=EnumList("SUM", "MEAN"))``.

    Constants of enumerations among them are attributes. Raises AttributeError for names that are
    no identifiers, SyntaxError for keywords of C, TypeError for parts that are no types.
    """

    def __init__(self, **kwargs: Any) -> None:
        if not kwargs:
            raise ValueError("Cannot create ParamsType from empty data.")
        for name, kind in kwargs.items():
            if not _IDENTIFIER.match(name):
                raise AttributeError(
                    f'ParamsType: attribute "{name}" should be a valid identifier.'
                )
            if name in _KEYWORDS:
                raise SyntaxError(
                    f'ParamsType: "{name}" is a potential C/C++ keyword and should not be used as '
                    "attribute name."
                )
            if not isinstance(kind, Type):
                raise TypeError(
                    f'ParamsType: attribute "{name}" should inherit from Theano Type, got '
                    f'"{type(kind).__name__}".'
                )
        self.fields = tuple(sorted(kwargs))
        self.types = tuple(kwargs[field] for field in self.fields)
        self.length = len(self.fields)
        text = ",".join(f"{f}:{t}" for f, t in zip(self.fields, self.types, strict=True))
        self.name = f"_Params_{hashlib.sha256(text.encode()).hexdigest()}"
        enums = [each for each in self.types if isinstance(each, EnumType)]
        constants = [name for each in enums for name in each]
        aliases = [name for each in enums for name in each.aliases]
        if len(set(constants)) < len(constants):
            raise AttributeError(
                "ParamsType: found different enum types with common constants names."
            )
        if len(set(aliases)) < len(aliases):
            raise AttributeError(
                "ParamsType: found different enum types with common constants aliases."
            )
        if set(aliases) & set(constants):
            raise AttributeError("ParamsType: found aliases that have same names as constants.")
        self.enums = {name: each for each in enums for name in (*each, *each.aliases)}

    def __getattr__(self, key: str) -> Any:
        enum = self.__dict__.get("enums", {}).get(key)
        if enum is None or key not in enum:
            raise AttributeError(f"ParamsType has no attribute {key!r}", name=key, obj=self)
        return enum[key]

    def _props(self) -> tuple[Any, ...]:
        return (self.fields, self.types)

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def has_type(self, theano_type: Type) -> bool:
        """Whether a part has this type."""
        return theano_type in self.types

    def get_type(self, field_name: str) -> Type:
        """The type of a part."""
        found: Type = self.types[self.fields.index(field_name)]
        return found

    def get_field(self, theano_type: Type) -> str:
        """The name of the first part of this type."""
        return self.fields[self.types.index(theano_type)]

    def get_enum(self, key: str) -> Any:
        """The constant of this name. Raises KeyError where no enumeration has it."""
        return self.enums[key][key]

    def enum_from_alias(self, alias: str) -> Any:
        """The constant of this name or second name."""
        return self.enums[alias].fromalias(alias)

    def get_params(self, *objects: Any, **kwargs: Any) -> Params:
        """The parts as attributes of objects or given by name; the last one that has it counts."""
        found: dict[str, Any] = {}
        for source in objects:
            found |= {
                field: getattr(source, field) for field in self.fields if hasattr(source, field)
            }
        found |= {field: kwargs[field] for field in self.fields if field in kwargs}
        made: Params = self.filter(Params(self, **found), strict=False, allow_downcast=True)
        return made

    def extended(self, **kwargs: Any) -> ParamsType:
        """This type with further parts, or other types of those there are."""
        return type(self)(**(dict(zip(self.fields, self.types, strict=True)) | kwargs))

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """The parts, each as its type filters it."""
        if strict and not isinstance(data, Params):
            raise TypeError(f"ParamsType: a Params is wanted, not a {type(data).__name__}")
        return Params(self, **{
            field: kind.filter(getattr(data, field), strict, allow_downcast)
            for field, kind in zip(self.fields, self.types, strict=True)
        })  # fmt: skip

    def _all(self, compare: str, a: Any, b: Any) -> bool:
        return all(
            getattr(kind, compare)(getattr(a, field), getattr(b, field))
            for field, kind in zip(self.fields, self.types, strict=True)
        )

    def values_eq(self, a: Any, b: Any) -> bool:  # type: ignore[override]
        """Whether all parts are the same."""
        return self._all("values_eq", a, b)

    def values_eq_approx(self, a: Any, b: Any) -> bool:  # type: ignore[override]
        """Whether all parts are nearly the same."""
        return self._all("values_eq_approx", a, b)

    def __str__(self) -> str:
        parts = (f"{f}:{t}" for f, t in zip(self.fields, self.types, strict=True))
        return f"ParamsType<{', '.join(parts)}>"
