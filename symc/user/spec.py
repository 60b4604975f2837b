"""Types as users declare them: ``"float64[n, 2*m + 1]"``.

A name stands for one length wherever it occurs. The arguments bind the names; the lengths of
results are arithmetic on them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from symc.codegen.dtypes import DType
from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph.node import Tensor
from symc.graph.types import TensorType, as_dtype
from symc.tensor.broadcast import describe

_N = TypeVar("_N")
# A length: a number, None for any, a name, or an operation on lengths.
Length: TypeAlias = "int | str | tuple[str, Length, Length] | None"

_FORM = re.compile(r"\s*(\w+)\s*(?:\[(.*)\])?\s*\Z", re.S)
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//"
}  # fmt: skip


@record
class Spec:
    """A declared type: a dtype, and the length of each axis."""

    dtype: DType
    lengths: tuple[Length, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(_shown, self.lengths))}]"


def as_spec(value: Any) -> Spec:
    """The declared type that a text, a tensor or a dtype stands for.

    Of a tensor, lengths that are not known are any lengths.

    >>> as_spec("float64[n, :]"), as_spec("int64")
    (Spec(dtype=float64, lengths=('n', None)), Spec(dtype=int64, lengths=()))
    """
    if isinstance(value, Spec):
        return value
    if isinstance(value, Tensor):
        value = value.type
    if isinstance(value, TensorType):
        return Spec(value.dtype, tuple(d if isinstance(d, int) else None for d in value.shape))
    if not isinstance(value, str):
        return Spec(as_dtype(value), ())
    found = _FORM.match(value)
    if found is None:
        raise ValueError(f'a type is written like "float64[n, 3]", not {value!r}')
    dtype, inside = found.groups()
    lengths = [text.strip() for text in (inside or "").split(",")] if (inside or "").strip() else []
    return Spec(as_dtype(dtype), tuple(_parsed(text, value) for text in lengths))


def _parsed(text: str, whole: str) -> Length:
    if text == ":":
        return None
    try:
        return _length(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        raise ValueError(
            f"{text!r} in {whole!r} is no length: use numbers, names, + - * // and :"
        ) from None


def _length(tree: ast.expr) -> Length:
    match tree:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return name
        case ast.BinOp(left, op, right) if type(op) in _SIGNS:
            return (_SIGNS[type(op)], _length(left), _length(right))
        case _:
            raise ValueError


def names_of(length: Length) -> Iterator[str]:
    """The names in a length."""
    match length:
        case str():
            yield length
        case (_, left, right):
            yield from names_of(left)
            yield from names_of(right)
        case _:
            pass


def value_of(length: Length, names: Mapping[str, _N]) -> _N | int:
    """The value of a length, given those of its names."""
    match length:
        case int():
            return length
        case str():
            return names[length]
        case (sign, left, right):
            a, b = cast("Any", value_of(left, names)), cast("Any", value_of(right, names))
            results = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}
            return cast("_N", results.get(sign, lambda: a // b)())
        case _:
            raise ValueError("a length of a result must be a number or have a name")


def _shown(length: Length) -> str:
    match length:
        case None:
            return ":"
        case (sign, left, right):
            return f"({_shown(left)} {sign} {_shown(right)})"
        case _:
            return str(length)


# --- matching -------------------------------------------------------------------------------------


@record
class Bound:
    """Names and their values, and the lengths that must be equal: given, wanted, where."""

    names: Mapping[str, Any]
    equal: Sequence[tuple[Any, Any, str]]


def bind(specs: Sequence[Spec], shapes: Sequence[tuple[Any, ...]]) -> Bound:
    """Binds names to given lengths (dims, or numbers)."""
    names: dict[str, Any] = {}
    later: list[tuple[Any, Length, str]] = []
    for number, (spec, shape) in enumerate(zip(specs, shapes, strict=True)):
        for axis, (length, given) in enumerate(zip(spec.lengths, shape, strict=True)):
            if isinstance(length, str) and length not in names:
                names[length] = given
            elif length is not None:
                later.append((given, length, f"axis {axis} of argument {number}"))
    equal = [(given, value_of(length, names), where) for given, length, where in later]
    return Bound(names, [item for item in equal if item[0] != item[1]])


def check(label: str, specs: Sequence[Spec], args: Sequence[Tensor]) -> Bound:
    """Binds names to the lengths of tensors. Raises where these contradict the declaration."""
    for number, (spec, arg) in enumerate(zip(specs, args, strict=True)):
        if arg.ndim != len(spec.lengths):
            raise RankError(
                f"{label}: argument {number} is declared as {spec}, not with {arg.ndim} axes\n"
                f"  given  {describe(arg)}"
            )
    bound = bind(specs, [arg.type.shape for arg in args])
    for given, wanted, where in bound.equal:
        if isinstance(given, int) and isinstance(wanted, int):
            raise ShapeMismatch(mismatch(label, given, wanted, where, args))
    return bound


def mismatch(label: str, given: int, wanted: int, where: str, args: Sequence[Tensor]) -> str:
    """The message for a length that contradicts the declaration."""
    shown = "".join(f"\n  given  {describe(arg)}" for arg in args)
    return f"{label}: {where} is {given}, declared as {wanted}{shown}"
