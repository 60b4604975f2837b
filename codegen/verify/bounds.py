"""Whether an integer is never negative, from lengths, loops, and what the program has checked.

The integer is a polynomial over atoms (`polynomials.py`). It is made smaller, a step at a time,
until every term is natural, or nothing is left to try:

- The variable of a loop is at one of its ends, ``0`` and ``extent - 1``, where the polynomial is
  linear in it. As the loop runs, a length ``max(0, count)`` in its extent is the count.
- Of a minimum that is added both operands must do, of one that is subtracted either; of a maximum
  the other way round; of a choice both, each where its condition holds.
- ``c*(x // c)`` is no more than x, and no less than ``x - c + 1``; ``x % c`` is below c.
- A comparison that is known to hold, as one number that is not negative, is taken away.

So an index of row 1, ``n + j``, lies above one of row 0, ``i``, if i is a variable with n values,
and not if it goes through the whole array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from symc.codegen.ir import Binary, Const, Expr, Select, Var
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.walk import names_in
from symc.codegen.record import field, record
from symc.codegen.signs import is_natural
from symc.codegen.verify.polynomials import (
    ONE,
    Monomial,
    Polynomial,
    added,
    by,
    differences,
    multiplied,
    opposite,
    polynomial,
)

_STEPS = 300  # polynomials looked at for one question
_FACTS = 2  # that are used in one proof
_PARTS = 16  # facts that follow from one


@record
class Bounds:
    """What is known of names."""

    natural: AbstractSet[str] = frozenset()
    """Those that are never negative."""
    extents: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    """Variables of loops, with how many values they have."""
    facts: tuple[Expr, ...] = ()
    """Comparisons that hold."""

    def is_above(self, one: Expr, other: Expr) -> bool:
        """Whether an integer is surely larger than another one."""
        least = added(added(polynomial(one), polynomial(other), -1), ONE, -1)
        proof = _Proof(self, least)
        return any(proof.begins(least, taking) for taking in range(_FACTS + 1))


class _Proof:
    """The search for one proof."""

    def __init__(self, bounds: Bounds, about: Polynomial) -> None:
        self.extents = bounds.extents
        self.natural = {*bounds.natural, *bounds.extents}
        self.left = 0
        self.facts: list[Polynomial] = []
        self.running: set[Expr] = set()  # maxima of 0 and something that are above 0
        for known in bounds.facts:
            self.learn(differences(known))
        names = {name for monomial in about for atom in monomial for name in names_in(atom)}
        for name in sorted(names & bounds.extents.keys()):  # whose loops are running
            self.learn([added(polynomial(bounds.extents[name]), ONE, -1)])

    def learn(self, least: list[Polynomial]) -> None:
        """Note what follows from polynomials that are not negative."""
        pending = list(least)
        count = len(self.facts) + _PARTS
        while pending and len(self.facts) < count:
            poly = pending.pop()
            self.facts.append(poly)
            match [monomial for monomial, factor in poly.items() if factor > 0]:
                case [(Var(name),) as one] if all(self.is_natural(m) for m in poly if m != one):
                    self.natural.add(name)  # as it is no less than what is not negative
                case _:
                    pass
            for monomial, factor in poly.items():
                if len(monomial) == 1 and factor > 0:
                    rest = {other: times for other, times in poly.items() if other != monomial}
                    pending += self.parts(monomial[0], factor, rest)

    def parts(self, atom: Expr, factor: int, rest: Polynomial) -> Iterator[Polynomial]:
        """What follows from ``factor*atom + rest`` not being negative."""
        missing = -rest.get((), 0)
        is_positive = missing > 0 and all(
            times < 0 and self.is_natural(monomial) for monomial, times in rest.items()
        )
        match atom:
            case Binary("min", left, right):
                yield added(rest, polynomial(left), factor)
                yield added(rest, polynomial(right), factor)
            case Binary("max", Const(0), count) | Binary("max", count, Const(0)) if is_positive:
                self.running.add(atom)
                yield added(rest, polynomial(count), factor)
            case Binary("floordiv", number, Const(int() as by)) if is_positive and by > 0:
                yield added(polynomial(number), ONE, by * (missing // -factor))
            case _:
                pass

    def begins(self, poly: Polynomial, taking: int) -> bool:
        """Whether a polynomial is never negative, in a search of limited length."""
        self.left = _STEPS
        return self.holds(poly, taking)

    def holds(self, poly: Polynomial, taking: int) -> bool:
        """Whether a polynomial is never negative; facts may be taken away as often as that."""
        self.left -= 1
        if self.left < 0:
            return False
        if all(factor > 0 and self.is_natural(monomial) for monomial, factor in poly.items()):
            return True
        if not taking and not any(factor > 0 for factor in poly.values()):
            return False
        for atom, times, rest, sign in self.candidates(poly):
            found = self.without(atom, times, rest, sign, taking)
            if found:
                return True
            if found is not None and not isinstance(atom, Binary):
                break  # of extremes, another one may have to be replaced first
        return taking > 0 and any(
            self.holds(added(poly, fact, -1), taking - 1)
            for fact in list(self.facts)
            if any(factor < 0 and poly.get(monomial, 0) < 0 for monomial, factor in fact.items())
        )

    def without(
        self, atom: Expr, times: Polynomial, rest: Polynomial, sign: int, taking: int
    ) -> bool | None:
        """Whether ``times*atom + rest`` is never negative, with bounds in place of the atom.

        `times` is of one sign. None if there are no bounds.
        """

        def with_value(value: Polynomial) -> bool:
            return self.holds(added(rest, multiplied(times, value)), taking)

        match atom:
            case Var(name):
                extent = polynomial(self.extents[name])
                return with_value({} if sign > 0 else added(extent, ONE, -1))
            case Binary("max", Const(0), count) | Binary("max", count, Const(0)) if (
                atom in self.running
            ):
                return with_value(polynomial(count))
            case Binary("min" | "max" as op, left, right):
                values = map(with_value, (polynomial(left), polynomial(right)))
                return all(values) if (op == "min") == (sign > 0) else any(values)
            case Binary("mod", _, right) if sign < 0:
                largest = added(polynomial(right), ONE, -1)
                return (self.holds(largest, taking) and with_value(largest)) or None
            case Binary("floordiv", number, Const(int() as by)) if by > 0:
                if any(factor % by for factor in times.values()):
                    return None
                part = {monomial: factor // by for monomial, factor in times.items()}
                bound = added(polynomial(number), ONE, 1 - by if sign > 0 else 0)
                return self.holds(added(rest, multiplied(part, bound)), taking) or None
            case Select(condition, then, otherwise):
                return self.where(condition, with_value, polynomial(then)) and self.where(
                    opposite(condition), with_value, polynomial(otherwise)
                )
            case _:
                return None

    def where(
        self, condition: Expr, holds: Callable[[Polynomial], bool], value: Polynomial
    ) -> bool:
        """Whether something holds of a value that is taken where a condition holds."""
        facts, running, natural = list(self.facts), set(self.running), set(self.natural)
        self.learn(differences(condition))
        found = holds(value)
        self.facts, self.running, self.natural = facts, running, natural
        return found

    def candidates(self, poly: Polynomial) -> list[tuple[Expr, Polynomial, Polynomial, int]]:
        """The atoms that may be replaced by a bound, with factor, rest, and the factor's sign.

        Variables of inner loops come first, then atoms whose operands must all do, as what is
        chosen of others may depend on them, and atoms before their parts.
        """
        atoms = list(dict.fromkeys(atom for monomial in poly for atom in monomial))
        variables = [atom for atom in atoms if isinstance(atom, Var) and atom.name in self.extents]
        used = {name for var in variables for name in names_in(self.extents[var.name])}
        inner = [var for var in variables if var.name not in used]
        found: list[tuple[Expr, Polynomial, Polynomial, int]] = []
        for atom in atoms:
            if isinstance(atom, Binary | Select) or atom in inner:
                split = by(poly, atom)
                sign = 0 if split is None else self.sign(split[0])
                if split is not None and sign:
                    found.append((atom, *split, sign))
        return sorted(found, key=lambda each: (_rank(each[0], each[3]), -operations(each[0])))

    def sign(self, times: Polynomial) -> int:
        """1 or -1 for a factor that is never negative or never above 0, 0 for others."""
        if not all(map(self.is_natural, times)):
            return 0
        signs = {factor > 0 for factor in times.values()}
        return 0 if len(signs) != 1 else 1 if True in signs else -1

    def is_natural(self, monomial: Monomial) -> bool:
        """Whether a product is of numbers that are never negative."""
        return all(self.is_natural_atom(atom) for atom in monomial)

    def is_natural_atom(self, atom: Expr) -> bool:
        """Whether an atom is never negative."""
        match atom:
            case Binary("mod", _, right):
                return is_natural(right, self.natural)  # by 0 it gives 0
            case _:
                return is_natural(atom, self.natural)


def _rank(atom: Expr, sign: int) -> int:
    """When an atom is replaced: variables, then where all operands must do, then others."""
    match atom:
        case Var():
            return 0
        case Binary("min" | "max" as op) if (op == "min") != (sign > 0):
            return 2
        case _:
            return 1
