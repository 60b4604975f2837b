"""Functions that say the types of a scalar op's results: `output_types_preference`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.theano.scalar import rules
from symc.theano.scalar.types import Scalar, get_scalar_type

__all__ = [
    "float_out",
    "float_out_nocomplex",
    "int_or_nothing",
    "int_out",
    "real_out",
    "same_out",
    "same_out_float_only",
    "same_out_min8",
    "same_out_nobool",
    "same_out_nocomplex",
    "specific_out",
    "transfer_type",
    "unary_out_lookup",
    "upcast_out",
    "upcast_out_min8",
    "upcast_out_no_complex",
    "upcast_out_nobool",
    "upgrade_to_float",
    "upgrade_to_float64",
    "upgrade_to_float_no_complex",
]  # fmt: skip


def _preference(name: str, rule: rules.Rule) -> Callable[..., tuple[Scalar, ...]]:
    def prefer(*types: Scalar) -> tuple[Scalar, ...]:
        return (get_scalar_type(rule(*(each.dtype for each in types))),)

    prefer.__name__ = prefer.__qualname__ = name
    return prefer


upcast_out = _preference("upcast_out", rules.upcast_out)
upcast_out_nobool = _preference("upcast_out_nobool", rules.upcast_out_nobool)
upcast_out_min8 = _preference("upcast_out_min8", rules.upcast_out_min8)
upcast_out_no_complex = _preference("upcast_out_no_complex", rules.upcast_out_nocomplex)
upgrade_to_float = _preference("upgrade_to_float", rules.upgrade_to_float)
upgrade_to_float_no_complex = _preference(
    "upgrade_to_float_no_complex", rules.upgrade_to_float_no_complex
)
same_out = _preference("same_out", rules.same_out)
same_out_nobool = _preference("same_out_nobool", rules.same_out_nobool)
same_out_nocomplex = _preference("same_out_nocomplex", rules.same_out_nocomplex)
same_out_min8 = _preference("same_out_min8", rules.upcast_out_min8)
real_out = _preference("real_out", rules.real_of)


def upgrade_to_float64(*types: Scalar) -> tuple[Scalar, ...]:
    """float64, or complex128 for complex numbers."""
    wide = any(each.dtype.startswith("complex") for each in types)
    return (get_scalar_type("complex128" if wide else "float64"),)


def float_out(*types: Scalar) -> tuple[Scalar, ...]:
    """float64."""
    del types
    return (get_scalar_type("float64"),)


def float_out_nocomplex(*types: Scalar) -> tuple[Scalar, ...]:
    """float64, for what complex numbers have no meaning in."""
    if any(each.dtype.startswith("complex") for each in types):
        raise TypeError("complex argument not supported")
    return float_out()


def int_out(*types: Scalar) -> tuple[Scalar, ...]:
    """int64."""
    del types
    return (get_scalar_type("int64"),)


def int_or_nothing(*types: Scalar) -> tuple[Scalar, ...]:
    """The integers' common type; TypeError for others."""
    return (get_scalar_type(rules.bits_out(*(each.dtype for each in types))),)


def same_out_float_only(kind: Scalar) -> tuple[Scalar, ...]:
    """The operand's type, which is of floats."""
    if not kind.dtype.startswith("float"):
        raise TypeError("only float type is supported")
    return (kind,)


def specific_out(*kinds: Scalar) -> Callable[..., tuple[Scalar, ...]]:
    """Always these types."""

    def prefer(*types: Scalar) -> tuple[Scalar, ...]:
        del types
        return kinds

    return prefer


class transfer_type:
    """The types of the operands at some positions."""

    def __init__(self, *transfer: Any) -> None:
        self.transfer = transfer

    def __call__(self, *types: Scalar) -> tuple[Scalar, ...]:
        joined = get_scalar_type(rules.upcast_out(*(each.dtype for each in types)))
        return tuple(joined if i is None else types[i] for i in self.transfer)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, transfer_type) and self.transfer == other.transfer

    def __hash__(self) -> int:
        return hash(self.transfer)


class unary_out_lookup:
    """The type that a table has for the operand's."""

    def __init__(self, table: dict[Any, Any]) -> None:
        self.table = table

    def __call__(self, *types: Scalar) -> tuple[Scalar, ...]:
        if types[0] not in self.table:
            raise TypeError(types[0])
        found = self.table[types[0]]
        return tuple(found) if isinstance(found, list | tuple) else (found,)
