"""The rule of `program.py` that nothing a step writes overlaps anything else that it is given.

Rows of one buffer are apart if they are of one length and begin a different number of rows from the
same place: ``(step + 1)*n`` and ``step*n``, or in a ring ``(step + 1) % 3 * n`` and
``step % 3 * n``. Of others nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symc.codegen.ir import Binary, Buffer, Const, Expr, Step, const, mul
from symc.codegen.verify.expressions import Broken


def check_apart(
    step: Step, written: Iterable[str], given: Iterable[str], buffers: Mapping[str, Buffer]
) -> None:
    """Raise `Broken` if a buffer that a step writes may overlap another that it is given."""
    others = list(dict.fromkeys(given))
    if all(buffers[name].of is None for name in others):
        return  # buffers never overlap
    for name in dict.fromkeys(written):
        for other in others:
            if other != name and not _apart(name, other, buffers):
                raise Broken(step, f"{name} is written, and {other} may overlap it")


def _apart(one: str, other: str, buffers: Mapping[str, Buffer]) -> bool:
    """Whether two buffers surely have no element in common."""
    first, second = _chain(one, buffers), _chain(other, buffers)
    if first[0].name != second[0].name:
        return True
    for row, another in zip(first, second, strict=False):
        if row.name != another.name:
            return _are_apart(row, another)
    return False  # one is a part of the other


def _chain(name: str, buffers: Mapping[str, Buffer]) -> list[Buffer]:
    """A buffer and those that it is a part of, the largest first."""
    found = [buffers[name]]
    while found[-1].of is not None:
        found.append(buffers[found[-1].of.buffer])
    return found[::-1]


def _are_apart(row: Buffer, other: Buffer) -> bool:
    """Whether two rows of one buffer are apart."""
    length = _volume(row)
    if const(0) in (length, _volume(other)):
        return True  # they have no elements
    if length != _volume(other) or row.of is None or other.of is None:
        return False
    first, second = _number(row.of.offset, length), _number(other.of.offset, length)
    if first is None or second is None:
        return False
    match first, second:
        case Binary("mod", left, Const(int() as rows)), Binary("mod", right, Const(same)):
            (base, shift), (beside, by) = _shifted(left), _shifted(right)
            return rows == same and base == beside and bool((shift - by) % rows)
        case _:
            (base, shift), (beside, by) = _shifted(first), _shifted(second)
            return base == beside and shift != by


def _volume(buffer: Buffer) -> Expr:
    """How many elements a buffer has."""
    total: Expr = const(1)
    for length in buffer.shape:
        total = mul(total, length)
    return total


def _number(offset: Expr, length: Expr) -> Expr | None:
    """The number of a row, from where it begins."""
    if length == const(1):
        return offset
    match offset, length:
        case Const(int() as place), Const(int() as size) if size and place % size == 0:
            return const(place // size)
        case Const(0), _:
            return offset
        case Binary("mul", number, size), _ if size == length:
            return number
        case _, _ if offset == length:
            return const(1)
        case _:
            return None


def _shifted(index: Expr) -> tuple[Expr, int]:
    """An index as something and a number added to it."""
    match index:
        case Const(int() as shift):
            return const(0), shift
        case Binary("add", base, Const(int() as shift)):
            return base, shift
        case Binary("sub", base, Const(int() as shift)):
            return base, -shift
        case _:
            return index, 0
