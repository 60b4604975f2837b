"""Bounds of integers of a loop's steps that follow from how they are computed.

``min(k, n - 1)`` is below n whatever k is, and ``k % n`` is, if n is above 0. What remains to be
tested are conditions on what no step changes, once, before the loop. So are bounds of a state: if
``0 <= s < n`` before the loop, and a step makes ``s + 1 < n ? s + 1 : 0`` of it, then it holds in
all steps.

Integers wrap: nothing is concluded about a sum before it is known to fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import TypeAlias

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    Select,
    Unary,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.walk import nodes
from symc.codegen.record import record
from symc.codegen.verify.polynomials import added, polynomial

Conditions: TypeAlias = list[Expr]
Elements: TypeAlias = Collection[Expr]
Facts: TypeAlias = tuple[Expr, ...]
Proof: TypeAlias = "Callable[[Expr, Expr, Facts, int], Conditions | None]"

DEEP = 12  # operations on top of each other: deeper ones are not looked at
FEW = 8  # by how much a state may grow in a step
MANY = 1 << 40  # steps, of which no program does more
CANDIDATES = 12  # bounds that are tried for a state
MOST = 2**63 - 1
_ZERO = const(0)
_HOLDS: dict[str, Callable[[int, int], bool]] = {"lt": lt, "le": le, "gt": gt, "ge": ge}

OPPOSITE: dict[BinaryOp, BinaryOp] = {
    "eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"
}  # fmt: skip


@record
class KeptBounds:
    """Bounds of a state when steps begin: it is in ``[0, below)`` if these conditions hold before.

    `always`: also after a step that ends the loop.
    """

    below: Expr
    once: tuple[Expr, ...]
    always: bool


class Proofs:
    """What holds in all steps of a loop, from conditions before it.

    `is_fixed` says whether an integer is the same in all steps, and known before the first; `even`
    has conditions from which comparisons of integers follow that move evenly from step to step;
    `is_steady` whether memory that it is about is the same in all steps, but for given elements.
    `states` has the integers that one statement changes in a step, after all that is proven of
    them, with what it makes of them. `bounds` are tried for them. There are so many `steps`, if
    that is known. `begun` are comparisons that hold when a step begins, if `first`, what they say
    of the first one, does.
    """

    def __init__(
        self, is_fixed: Callable[[Expr], bool], is_steady: Callable[[Expr, Elements], bool],
        even: Callable[[Expr], Conditions | None], states: Mapping[Expr, Expr],
        bounds: Sequence[Expr], steps: Expr | None = None, begun: Facts = (), first: Facts = (),
    ) -> None:  # fmt: skip
        self._bounded = Bounded(is_fixed, is_steady, even, begun)
        self._states = states
        self.first = first
        self.kept: dict[Expr, KeptBounds] = {}
        for state, new in states.items():
            found = _induced(Bounded(is_fixed, is_steady, even), state, new, bounds)
            if found is None and begun:
                found = _induced(Bounded(is_fixed, is_steady, even, begun), state, new, bounds)
            if found is None and steps is not None:
                found = _counted(state, new, steps)
            if found is not None:
                self.kept[state] = found
        self._bounded.states = {state: kept.below for state, kept in self.kept.items()}

    def of(self, comparison: Expr) -> Conditions | None:
        """Conditions before the loop from which a comparison follows in each step, if there are."""
        found = self._bounded.of(comparison)
        used = [state for state in self.kept if state in nodes(comparison)]
        more = [condition for state in used for condition in self.kept[state].once]
        return None if found is None else list(dict.fromkeys([*self.first, *found, *more]))

    def is_about_old_states(self, expr: Expr) -> bool:
        """Whether something is chosen by a state: then all is to be read in one moment."""
        return any(
            isinstance(node, Select) and any(part in self._states for part in nodes(node.condition))
            for node in nodes(expr)
        )


def _induced(bounded: Bounded, state: Expr, new: Expr, bounds: Sequence[Expr]) -> KeptBounds | None:
    """Bounds that a state keeps: if it has them before a step, then after it.

    Of several, those that need the fewest other conditions.
    """
    sides = [side for expr in (new, *bounded.begun) for side in _sides_of(expr)]
    own = [side for side in sides if bounded.is_fixed(side)]
    behind = [add(side, const(1)) for side in own if not isinstance(side, Const)]
    best: KeptBounds | None = None
    for bound in list(dict.fromkeys([*own, *behind, *bounds]))[:CANDIDATES]:
        if isinstance(bound, Const) and bound.value <= 1:
            continue
        bounded.states = {}
        begins_below, begins_natural = bounded.below(state, bound), bounded.at_least(state, _ZERO)
        bounded.states = {state: bound}
        found = all_of(
            bounded.below(new, bound) if begins_below is None else begins_below,
            bounded.at_least(new, _ZERO) if begins_natural is None else begins_natural,
        )
        if found is not None:
            first = [binary("ge", state, _ZERO), binary("lt", state, bound)]
            once = tuple(dict.fromkeys([*first, *found]))
            if best is None or len(once) < len(best.once):
                best = KeptBounds(bound, once, always=not bounded.begun)
    return best


def _counted(state: Expr, new: Expr, steps: Expr) -> KeptBounds | None:
    """Bounds of a state that no step makes less, and each makes more by a few at most.

    When a step begins, there were fewer steps than there will be.
    """
    most = _growth(state, new)
    if most is None or most > FEW:
        return None
    below = add(state, mul(steps, const(max(most, 1))))
    once = (
        binary("ge", state, _ZERO), binary("le", state, const(MANY)),
        binary("le", steps, const(MANY)),
    )  # fmt: skip
    return KeptBounds(below, once, always=False)


def _growth(state: Expr, new: Expr) -> int | None:
    """How far a natural number moves up at most, if it does not become less, or becomes 0."""
    match new:
        case _ if new in (state, _ZERO):
            return 0
        case Binary("add", left, Const(int() as by)) if by >= 0:
            more: int | None = by
        case Binary("add", left, Cast(x)) | Binary("add", Cast(x), left) if x.dtype is BOOL:
            more = 1
        case Select(_, then, otherwise):
            left, more = then, _growth(state, otherwise)
        case _:
            return None
    other = _growth(state, left)
    if more is None or other is None:
        return None
    return max(more, other) if isinstance(new, Select) else more + other


def _sides_of(new: Expr) -> Iterator[Expr]:
    """Integers that others are compared with, or divided by."""
    for node in nodes(new):
        match node:
            case Binary("mod", _, right) if right.dtype is INT64:
                yield right
            case Binary(op, left, right) if op in OPPOSITE and right.dtype is INT64:
                yield from (right, left)
            case _:
                pass


class Bounded:
    """Conditions from which bounds of integers follow, if `states` are natural and below others.

    And if the comparisons in `begun` hold.
    """

    def __init__(
        self, is_fixed: Callable[[Expr], bool], is_steady: Callable[[Expr, Elements], bool],
        even: Callable[[Expr], Conditions | None], begun: Facts = (),
    ) -> None:  # fmt: skip
        self.begun = begun
        self.is_fixed = is_fixed
        self._is_steady = is_steady
        self._even = even
        self.states: Mapping[Expr, Expr] = {}

    def of(self, comparison: Expr) -> Conditions | None:
        """Conditions from which a comparison with something fixed follows."""
        match comparison:
            case Binary("lt", left, right) | Binary("gt", right, left) if self._is_bound(right):
                return self.below(left, right)
            case Binary("ge", left, right) | Binary("le", right, left) if self._is_bound(right):
                return self.at_least(left, right)
            case _:
                return None

    def _is_bound(self, expr: Expr) -> bool:
        return expr.dtype is INT64 and self.is_fixed(expr)

    def below(
        self, expr: Expr, bound: Expr, facts: Facts = (), deep: int = DEEP
    ) -> Conditions | None:
        """Conditions under which ``expr < bound``, where the bound is fixed."""
        if self.is_fixed(expr):
            return _possible(binary("lt", expr, bound))
        for low, high, strict in self._orders(facts):
            if same(low, expr) and self.is_fixed(high):
                found = _possible(binary("le" if strict else "lt", high, bound))
                if found is not None:
                    return found
        beside = self._below_what_it_is_not(expr, bound, facts, deep)
        if beside is not None:
            return beside
        if expr in self.states:
            return _possible(binary("le", self.states[expr], bound))
        ends = self._at_ends(binary("lt", expr, bound))
        if ends is not None or deep == 0:
            return ends
        match expr:
            case Binary("min", left, right):
                return self._either(self.below, (right, left), bound, facts, deep)
            case Binary("max", left, right):
                sides = (self.below(side, bound, facts, deep - 1) for side in (left, right))
                return all_of(*sides)
            case Select():
                return self._sides(self.below, expr, bound, facts, deep)
            case Binary("mod", _, right) if self.is_fixed(right):
                return _possible(binary("gt", right, _ZERO), binary("le", right, bound))
            case Binary("band", left, right):
                mask = next(filter(self.is_fixed, (right, left)), const(-1))
                return _possible(binary("ge", mask, _ZERO), binary("lt", mask, bound))
            case Binary("add", left, Const(int() as more)) if more > 0:
                found = self.below(left, sub(bound, const(more)), facts, deep - 1)
                return all_of(found, _possible(binary("ge", bound, _ZERO)))
            case Binary("add", left, Const()):  # no more than a natural number
                natural = self.at_least(left, _ZERO, facts, deep - 1)
                return all_of(natural, self.below(left, bound, facts, deep - 1))
            case Binary("floordiv" | "shr", left, Const(int() as by)) if 0 < by < 64:
                least = self.at_least(left, _ZERO, facts, deep - 1)
                if least is None:  # what is below zero remains there
                    least = _possible(binary("ge", bound, _ZERO))
                return all_of(least, self.below(left, bound, facts, deep - 1))
            case Cast(x, dtype) if dtype is INT64 and values_of(x):
                return _possible(binary("ge", bound, const(values_of(x))))
            case _:
                return None

    def at_least(
        self, expr: Expr, bound: Expr, facts: Facts = (), deep: int = DEEP
    ) -> Conditions | None:
        """Conditions under which ``expr >= bound``, where the bound is fixed."""
        if self.is_fixed(expr):
            return _possible(binary("ge", expr, bound))
        for low, high, strict in self._orders(facts):
            if same(high, expr) and self.is_fixed(low):
                least = add(low, const(1)) if strict and isinstance(low, Const) else low
                found = _possible(binary("ge", least, bound))
                if found is not None:
                    return found
            if self.is_fixed(low) and same(sub(high, low), expr):  # of naturals: it does not wrap
                return _possible(binary("ge", low, _ZERO), binary("le", bound, _ZERO))
        natural = _possible(binary("le", bound, _ZERO))  # is enough for what is natural
        if expr in self.states:
            is_other = binary("ne", expr, _ZERO) in facts
            return [] if is_other and bound == const(1) else natural
        ends = self._at_ends(binary("ge", expr, bound))
        if ends is not None or deep == 0:
            return ends
        match expr:
            case Binary("max", left, right):
                return self._either(self.at_least, (right, left), bound, facts, deep)
            case Binary("min", left, right):
                sides = (self.at_least(side, bound, facts, deep - 1) for side in (left, right))
                return all_of(*sides)
            case Select():
                return self._sides(self.at_least, expr, bound, facts, deep)
            case Binary("mod", _, right) if self.is_fixed(right):
                return all_of(natural, _possible(binary("gt", right, _ZERO)))
            case Binary("band", left, right):
                mask = next(filter(self.is_fixed, (right, left)), const(-1))
                return all_of(natural, _possible(binary("ge", mask, _ZERO)))
            case Binary("add", left, Const(int() as more)) if more > 0:
                fits = self.below(left, const(MOST - more + 1), facts, deep - 1)
                return all_of(fits, self.at_least(left, bound, facts, deep - 1))
            case Binary("add", left, Const(int() as more)):
                return all_of(
                    natural, self.at_least(left, sub(bound, const(more)), facts, deep - 1)
                )
            case Binary("add", left, right) if self.is_fixed(left) or self.is_fixed(right):
                by, moves = (left, right) if self.is_fixed(left) else (right, left)
                fits = self.below(moves, sub(const(MOST), by), facts, deep - 1)
                kept = self.at_least(moves, bound, facts, deep - 1)
                return all_of(_possible(binary("ge", by, _ZERO)), fits, kept)
            case Binary("floordiv" | "shr", left, Const(int() as by)) if 0 < by < 64:
                return all_of(natural, self.at_least(left, _ZERO, facts, deep - 1))
            case Cast(x, dtype) if dtype is INT64 and values_of(x):
                return natural
            case _:
                return None

    def _at_ends(self, comparison: Expr) -> Conditions | None:
        """What a comparison says of the first and the last step, if its sides move evenly."""
        found = self._even(comparison)
        return None if found is None else _possible(*found)

    def _below_what_it_is_not(
        self, expr: Expr, bound: Expr, facts: Facts, deep: int
    ) -> Conditions | None:
        """The same where it is known that ``expr != n``, and it cannot be above n."""
        for fact in facts:
            match fact:
                case Binary("ne", left, right) | Binary("ne", right, left) if left == expr:
                    pass
                case _:
                    continue
            if not self.is_fixed(right) or not self._is_steady(fact, self.states.keys()):
                continue
            match expr:
                case Binary("add", before, Const(1)) if deep:
                    at_most = self.below(before, right, facts, deep - 1)
                case _ if expr in self.states:
                    at_most = _possible(binary("le", add(self.states[expr], const(-1)), right))
                case _:
                    continue
            return all_of(at_most, _possible(binary("le", right, bound)))
        return None

    def _either(
        self, proof: Proof, sides: tuple[Expr, Expr], bound: Expr, facts: Facts, deep: int
    ) -> Conditions | None:
        """What is needed for one of two sides, the first if there is something for it."""
        found = (proof(side, bound, facts, deep - 1) for side in sides)
        return next((one for one in found if one is not None), None)

    def _sides(
        self, proof: Proof, choice: Select, bound: Expr, facts: Facts, deep: int
    ) -> Conditions | None:
        """What is needed for both sides of a choice, each where the condition chooses it."""
        then = (*facts, *compared(choice.condition, holds=True))
        otherwise = (*facts, *compared(choice.condition, holds=False))
        return all_of(
            proof(choice.then, bound, then, deep - 1),
            proof(choice.otherwise, bound, otherwise, deep - 1),
        )

    def _orders(self, facts: Facts) -> Iterator[tuple[Expr, Expr, bool]]:
        """Comparisons as the lower side, the higher one, and whether they differ.

        None about memory that changes otherwise: it may be read at another time.
        """
        held = [fact for fact in facts if self._is_steady(fact, self.states.keys())]
        for fact in (*held, *self.begun):
            assert isinstance(fact, Binary)
            match fact.op:
                case "lt" | "le":
                    yield fact.left, fact.right, fact.op == "lt"
                case "gt" | "ge":
                    yield fact.right, fact.left, fact.op == "gt"
                case "eq":
                    yield fact.left, fact.right, False
                    yield fact.right, fact.left, False
                case _:
                    pass


def all_of(*found: Conditions | None) -> Conditions | None:
    """All of these conditions, unless one is missing."""
    conditions: Conditions = []
    for one in found:
        if one is None:
            return None
        conditions += one
    return conditions


def compared(condition: Expr, *, holds: bool) -> Iterator[Expr]:
    """Comparisons that hold where a condition does, or does not."""
    match condition:
        case Unary("not", x):
            yield from compared(x, holds=not holds)
        case Binary("and", left, right) if holds:
            yield from compared(left, holds=True)
            yield from compared(right, holds=True)
        case Binary("or", left, right) if not holds:
            yield from compared(left, holds=False)
            yield from compared(right, holds=False)
        case Binary(op, left, right) if op in OPPOSITE and left.dtype is INT64:
            yield condition if holds else binary(OPPOSITE[op], left, right)
        case _:
            pass


def same(one: Expr, other: Expr) -> bool:
    """Whether two integers are surely the same: sums wrap as their parts do."""
    if one == other or one.dtype is not INT64 or other.dtype is not INT64:
        return one == other
    return not added(polynomial(one), polynomial(other), -1)


def values_of(x: Expr) -> int:
    """How many values an integer of a narrow type has, if none is negative; else 0."""
    if x.dtype is BOOL:
        return 2
    return 1 << x.dtype.bits if x.dtype.kind == "uint" and x.dtype.bits < 64 else 0


def _possible(*conditions: Expr) -> Conditions | None:
    """The conditions that are not surely true; None if one is surely false."""
    left: Conditions = []
    for condition in conditions:
        assert isinstance(condition, Binary)
        one, other = condition.left, condition.right
        rest = added(polynomial(one), polynomial(other), -1)
        holds = _HOLDS[condition.op](rest.get((), 0), 0)
        if rest.keys() <= {()} and not holds:
            return None
        if one != other and not (isinstance(one, Const) and isinstance(other, Const)):
            left.append(condition)
    return left
