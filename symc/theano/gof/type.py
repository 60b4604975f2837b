"""The types of variables: the values they accept and the form these have in symc."""

from __future__ import annotations

from typing import Any, ClassVar

from symc.graph.node import Tensor
from symc.theano.gof.graph import Constant, Variable
from symc.theano.gof.utils import MethodNotDefined, Named


class Type(Named):
    """The kind of a variable's values."""

    lengths: ClassVar[tuple[int, ...] | None] = None
    """The lengths of symc's arrays, where all values of the type have the same."""
    Variable: ClassVar[Any] = Variable
    Constant: ClassVar[Any] = Constant

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """The value as one of this type. Raises TypeError for other values."""
        raise MethodNotDefined("filter", type(self), type(self).__name__)

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Any:
        """A variable of this type for a value or variable. Raises TypeError where there is none."""
        if not isinstance(other, Variable):
            other = type(self).Constant(type=self, data=other)
        if other.type != self and allow_convert:
            converted = self.convert_variable(other)
            if converted is not None:
                return converted
        if other.type != self:
            raise TypeError(
                f"Cannot convert Type {other.type} (of Variable {other}) into Type {self}. You can "
                f"try to manually convert {other} into a {self}."
            )
        return other

    def convert_variable(self, var: Any) -> Any:
        """The variable with this type, None if it cannot have it."""
        return var if self == var.type else None

    def is_valid_value(self, a: Any) -> bool:
        """Whether a value is one of this type as it is."""
        try:
            self.filter(a, strict=True)
        except (TypeError, ValueError):
            return False
        return True

    def value_validity_msg(self, a: Any) -> str:
        """The reason why a value is none of this type."""
        del a
        return "none"

    def make_variable(self, name: str | None = None) -> Any:
        """A new variable of this type."""
        return type(self).Variable(self, name=name)

    def make_constant(self, value: Any, name: str | None = None) -> Any:
        """A constant of this type."""
        return type(self).Constant(type=self, data=value, name=name)

    def __call__(self, name: str | None = None) -> Any:
        return self.make_variable(name)

    @classmethod
    def values_eq(cls, a: Any, b: Any) -> bool:
        """Whether two values are the same."""
        return bool(a == b)

    @classmethod
    def values_eq_approx(cls, a: Any, b: Any) -> bool:
        """Whether two values are nearly the same."""
        return cls.values_eq(a, b)

    def clone(self) -> Any:
        """This type; a type has no identity."""
        return self

    # --- how symc sees values of this type --------------------------------------------------------

    def symbol(self, name: str | None) -> Tensor:
        """A symc input for values of this type."""
        raise NotImplementedError(f"symc cannot compile with {self}, the type of {name}")

    def encoded(self, value: Any) -> Any:
        """The value as symc's array."""
        return value

    def decoded(self, array: Any) -> Any:
        """The value that symc's array stands for."""
        return array

    def overwrite(self, argument: Any, new: Any) -> None:
        """Puts the value that symc's array `new` stands for in the place of an encoded argument."""

    def __repr__(self) -> str:
        return str(self)


class Generic(Type):
    """Any Python object."""

    __props__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data

    def is_valid_value(self, a: Any) -> bool:
        return True

    def __str__(self) -> str:
        return "Generic"


generic = Generic()


class CDataType(Type):
    """Pointers of C, which symc has none of."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("symc.theano has no CDataType; use a tensor or symc.c_op")


def __getattr__(name: str) -> Any:
    if name in ("EnumType", "EnumList", "CEnumType"):
        from symc.theano.gof import enums  # which needs `Type`

        return getattr(enums, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
