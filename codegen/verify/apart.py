"""Whether two elements of a buffer differ, whatever the variables in their indexes are.

An index is a row of some length and a column, as in ``i*n + column``, perhaps a row of rows. Two
indexes differ if their rows or their columns do; and two sums of multiples of variables that are
never negative do if one is always above the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from symc.codegen.blocks import every_step
from symc.codegen.ir import Binary, Const, Expr, Launch, Program, Var, add, const
from symc.codegen.passes.inline import operations
from symc.codegen.passes.walk import substitute
from symc.codegen.record import field, record
from symc.codegen.signs import natural_names

_LARGE = 64  # operations; longer expressions are not written out


@record
class Sizes:
    """The values of a kernel's sizes: in sizes of the program, and which are not negative.

    Of a kernel that is launched several times, the values that all launches agree on.
    """

    values: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    natural: AbstractSet[str] = frozenset()


def sizes_of(program: Program) -> dict[str, Sizes]:
    """The sizes of each kernel of a program."""
    natural = natural_names(program)
    values: dict[str, Expr] = {}
    for size in program.sizes:
        if size.value is not None and _is_sum(size.value):
            written = substitute(size.value, values)
            if operations(written) <= _LARGE:
                values[size.var.name] = written
    parameters = {kernel.name: kernel.sizes for kernel in program.kernels}
    found: dict[str, dict[str, Expr]] = {}
    for step in every_step(program.steps):
        if not isinstance(step, Launch) or step.kernel not in parameters:
            continue
        given = {
            size.name: substitute(value, values)
            for size, value in zip(parameters[step.kernel], step.sizes, strict=False)
        }
        known = found.setdefault(step.kernel, given)
        found[step.kernel] = {name: e for name, e in known.items() if given.get(name) == e}
    return {name: Sizes(given, frozenset(natural)) for name, given in found.items()}


def _is_sum(value: Expr) -> bool:
    """Whether a value is that of other sizes, added up: lengths and extremes stay names."""
    match value:
        case Const() | Var():
            return True
        case Binary("add" | "sub" | "mul", left, right):
            return _is_sum(left) and _is_sum(right)
        case _:
            return False


def differ(one: Expr, other: Expr, natural: AbstractSet[str]) -> bool:
    """Whether two indexes, written out, are never equal."""
    first, second = multiples(one), multiples(other)
    if first is not None and second is not None:
        return _is_above(first, second, natural) or _is_above(second, first, natural)
    for row, length, column in _rows(one):
        for another, same, beside in _rows(other):
            if length == same and (
                differ(row, another, natural) or differ(column, beside, natural)
            ):
                return True
    return False


def _is_above(one: dict[str, int], other: dict[str, int], natural: AbstractSet[str]) -> bool:
    """Whether a sum is larger than another one."""
    rest = dict(one)
    for name, factor in other.items():
        rest[name] = rest.get(name, 0) - factor
    return rest.pop("", 0) > 0 and all(
        factor == 0 or (factor > 0 and name in natural) for name, factor in rest.items()
    )


def _rows(index: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    """The ways to see an index as the number of a row, the length of rows, and a column."""
    parts = terms(index)
    lengths = [length for length in map(_length, parts) if length is not None]
    for length in dict.fromkeys(lengths):
        row: Expr = const(0)
        column: Expr = const(0)
        for part in parts:
            match part:
                case Binary("mul", left, right) if right == length:
                    row = add(row, left)
                case _:
                    column = add(column, part)
        yield row, length, column


def _length(part: Expr) -> Expr | None:
    """The factors of a variable: perhaps the length of a row."""
    match part:
        case Binary("mul", _, right) if not isinstance(right, Const):
            return right
        case _:
            return None


def multiples(index: Expr) -> dict[str, int] | None:
    """How often each variable occurs in a sum, "" for the number that is added; None if in none."""
    match index:
        case Const(int() as value):
            return {"": value}
        case Var(name):
            return {name: 1}
        case Binary("add" | "sub" as op, left, right):
            one, other = multiples(left), multiples(right)
            if one is None or other is None:
                return None
            sign = 1 if op == "add" else -1
            for name, factor in other.items():
                one[name] = one.get(name, 0) + sign * factor
            return {name: factor for name, factor in one.items() if factor}
        case Binary("mul", left, Const(int() as value)) | Binary(
            "mul", Const(int() as value), left
        ):
            one = multiples(left)
            return None if one is None else {name: value * f for name, f in one.items() if value}
        case _:
            return None


def terms(index: Expr) -> list[Expr]:
    """The terms of an index."""
    match index:
        case Binary("add", left, right):
            return terms(left) + terms(right)
        case _:
            return [index]
