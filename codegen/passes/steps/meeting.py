"""Whether iterations of several loops over one range meet, if the loops become one.

The elements of an array that a loop touches lie at ``f*j + a`` in iteration j, and those that
another one touches at ``f*j + b``. They are never the same element in different iterations,

- if the array has as many elements as all iterations are f apart: nothing is read or written
  outside of an array, so that both are the same element of each f, which begin at 0;
- if ``b - a`` is a number of rows that have f elements for each iteration, or more, and less than f
  beside them: it is less than f, or more than all iterations take;
- if ``b - a`` is less than f, or no less than what all iterations take, which the program can ask.

Of loops in loops, as over ``g*i + f*j``, the second of these says that j is the same, if g is a
number of rows, too. Then each of them may say it of i.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, combinations

from symc.codegen.ir import Buffer, Const, Expr, Program, Var, binary, const
from symc.codegen.passes.kernels.lengths import GivenLengths
from symc.codegen.passes.walk import substitute
from symc.codegen.record import record, replace
from symc.codegen.signs import natural_names
from symc.codegen.verify.bounds import Bounds
from symc.codegen.verify.polynomials import (
    ONE,
    Polynomial,
    added,
    expression,
    multiplied,
    polynomial,
)

MOST = 4  # comparisons that are worth asking


@record
class RowAccess:
    """An element that an iteration reads or writes: `rest`, and `far` more for each one before.

    There are several of these for loops in loops, that of the outermost first.
    """

    buffer: str
    far: tuple[Polynomial, ...]
    rest: Polynomial
    writes: bool


class Meetings:
    """What keeps iterations apart in one kernel: `extents` of them, in arrays of the program.

    `sizes` has the program's expressions for the kernel's sizes, `buffers` what parameters are.
    """

    def __init__(
        self, program: Program, sizes: Mapping[str, Expr], buffers: Mapping[str, Buffer],
        extents: Sequence[Expr],
    ) -> None:  # fmt: skip
        self._bounds = Bounds(natural_names(program), {}, ())
        self._sizes = sizes
        self._buffers = buffers
        self._extents = [polynomial(extent) for extent in extents]
        self._given = GivenLengths(program)

    def conditions(self, accesses: Sequence[RowAccess]) -> list[Expr] | None:
        """Conditions on which no iteration touches what another one writes; None if it might.

        What is read and not written must lie above all that is written, or below, as `verify`
        takes only what an iteration writes for its own.
        """
        asked: dict[Expr, None] = {}
        for buffer in dict.fromkeys(access.buffer for access in accesses if access.writes):
            own = [access for access in accesses if access.buffer == buffer]
            writes = [access for access in own if access.writes]
            far, rests = writes[0].far, [access.rest for access in writes]
            if any(access.far != far for access in writes) or not all(far):
                return None
            others = [one for one in own if one.far != far or one.rest not in rests]
            if any(not self._never_meet(one, other) for one in others for other in writes):
                return None
            distances: list[Polynomial] = [{}]
            for one, other in combinations(rests, 2):
                there, back = added(other, one, -1), added(one, other, -1)
                if there not in distances and back not in distances:
                    distances.append(there)
                    found = self._apart(buffer, far, there)
                    if found is None:
                        return None
                    asked.update(dict.fromkeys(found))
        return list(asked) if len(asked) <= MOST else None

    def _never_meet(self, one: RowAccess, other: RowAccess) -> bool:
        """Whether all elements of one access lie above all of another one, or below."""
        extents: dict[str, Expr] = {}

        def index(access: RowAccess, mark: str) -> Expr:
            place = self._flat(access.rest)
            for level, far in enumerate(access.far):
                variable = Var(f"{mark}{level}")
                extents[variable.name] = expression(self._flat(self._extents[level]))
                place = added(place, multiplied(self._flat(far), polynomial(variable)))
            return expression(place)

        first, second = index(one, "@"), index(other, "'")
        bounds = replace(self._bounds, extents=extents)
        return bounds.is_above(first, second) or bounds.is_above(second, first)

    def _apart(
        self, buffer: str, far: Sequence[Polynomial], distance: Polynomial
    ) -> list[Expr] | None:
        """Conditions on which elements at a distance are not those of another iteration."""
        for level in range(len(far) - 1, 0, -1):
            if not self._is_rows(buffer, far[level], self._extents[level], distance, far[:level]):
                return None
        outermost, extent = far[0], self._extents[0]
        if self._is_whole(buffer, outermost) or self._is_rows(buffer, outermost, extent, distance):
            return []
        return _asked(outermost, extent, distance)

    def _is_whole(self, buffer: str, far: Polynomial) -> bool:
        """Whether a buffer has no more elements than all iterations are apart."""
        *_, volume = self._rows(buffer)
        return self._flat(multiplied(far, self._extents[0])) == volume

    def _is_rows(
        self, buffer: str, far: Polynomial, extent: Polynomial, distance: Polynomial,
        outside: Sequence[Polynomial] = (),
    ) -> bool:  # fmt: skip
        """Whether a distance is a number of rows that iterations fit into, and a little more.

        And whether what loops outside move is a number of such rows.
        """
        if far.keys() != {()}:
            return False
        step = abs(far[()])
        last = expression(multiplied({(): step}, added(self._flat(extent), ONE, -1)))
        for row in self._rows(buffer):
            beside = _remainder(self._flat(distance), row)
            if (
                beside is not None
                and abs(beside) < step
                and all(_remainder(self._flat(by), row) == 0 for by in outside)
                and self._bounds.is_above(expression(added(row, {(): abs(beside)}, -1)), last)
            ):
                return True
        return False

    def _rows(self, buffer: str) -> Iterator[Polynomial]:
        """How many elements the last axis of a buffer has, the last two and so on, and all."""
        of = self._buffers[buffer]
        components: Polynomial = {(): 2} if of.dtype.is_complex else ONE
        lengths = [self._flat(polynomial(length)) for length in reversed(of.shape)]
        return accumulate(lengths, multiplied, initial=components)

    def _flat(self, poly: Polynomial) -> Polynomial:
        """An integer of the kernel in lengths of the program."""
        return polynomial(self._given.written_out(substitute(expression(poly), self._sizes)))


def _asked(far: Polynomial, extent: Polynomial, distance: Polynomial) -> list[Expr] | None:
    """What a program can ask about a distance; None if that is known not to hold."""
    step = expression(far)
    if isinstance(step, Const):
        step = const(abs(int(step.value)))
        if distance.keys() == {()}:
            return [] if abs(distance[()]) < step.value else None
    whole = expression(multiplied(polynomial(step), extent))
    there, back = expression(distance), expression(added({}, distance, -1))
    near = binary("and", binary("lt", there, step), binary("lt", back, step))
    beyond = binary("or", binary("ge", there, whole), binary("ge", back, whole))
    asked: list[Expr] = [binary("or", near, beyond)]
    return asked if isinstance(step, Const) else [binary("ge", step, const(1)), *asked]


def _remainder(distance: Polynomial, row: Polynomial) -> int | None:
    """What is left of a distance but a number of rows; None if that is no number."""
    if len(row) != 1:
        return None
    ((atoms, length),) = row.items()
    rest = dict(distance)
    beside = 0
    if atoms:
        beside = rest.pop((), 0)
    elif length:
        beside = (rest.pop((), 0) + length // 2) % length - length // 2
    if not length or any(
        factor % length or Counter(atoms) - Counter(monomial) for monomial, factor in rest.items()
    ):
        return None
    return beside
