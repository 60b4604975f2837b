"""The types of gradients that do not exist, and of those by variables without influence."""

from __future__ import annotations

from typing import Any

from symc.theano.gof.type import Type


class NullType(Type):
    """No values at all; `why_null` says why."""

    def __init__(self, why_null: str = "(no explanation given)") -> None:
        self.why_null = why_null

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise ValueError("No values may be assigned to a NullType")

    def symbol(self, name: str | None) -> Any:
        raise TypeError(f"a gradient that does not exist has no value: {self.why_null}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __str__(self) -> str:
        return "NullType"


null_type = NullType()


class DisconnectedType(Type):
    """The type of gradients by variables without influence."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise AssertionError(
            "If you're assigning to a DisconnectedType you're doing something wrong. It should "
            "only be used as a symbolic placeholder."
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __str__(self) -> str:
        return "DisconnectedType"


null_type = NullType()
