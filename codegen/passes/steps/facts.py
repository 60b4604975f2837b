"""What follows from comparisons of integers that are known to hold.

``0 <= x`` says that ``-n <= x``, ``x < n`` with ``y < n`` that ``max(x, y) < n``, and that
``x // 2 < n``. Integers wrap: what is known of a number says nothing of a sum with it, but of what
is less than a natural number.
"""

from __future__ import annotations

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import Binary, BinaryOp, Const, Expr, Program, Unary, Var, const
from symc.codegen.passes.walk import nodes
from symc.codegen.signs import is_natural, natural_names
from symc.codegen.verify.polynomials import added, polynomial

_ZERO, _TRUE = const(0), Const(value=True, dtype=BOOL)


class Known:
    """What is known at one place of a program."""

    def __init__(self) -> None:
        self.values: dict[str, Expr] = {}  # of buffers of one integer, and of measured sizes
        self.versions: dict[str, int] = {}  # of other buffers
        self.facts: dict[Expr, None] = {}  # comparisons of values
        self.least: dict[Expr, int] = {}  # how long lengths are at least

    def copy(self) -> Known:
        """The same, to be changed."""
        made = Known()
        made.values, made.versions = dict(self.values), dict(self.versions)
        made.facts, made.least = dict(self.facts), dict(self.least)
        return made

    def learn(self, fact: Expr) -> None:
        """Something holds from here on."""
        self.facts[fact] = None
        match fact:
            case Binary("lt", Const(int() as number), length):
                self.is_long(length, number + 1)
            case _:
                pass

    def is_long(self, length: Expr, least: int) -> None:
        """A length is no less than a number."""
        if isinstance(length, Binary) and length.op == "max" and length.right == _ZERO:
            length = length.left if least > 0 else length
        terms = polynomial(length)
        more = terms.pop((), 0)
        match list(terms.items()):
            case [((Var() as name,), 1)]:
                self.least[name] = max(least - more, self.least.get(name, 0))
            case _:
                pass

    def about(self, value: Expr) -> list[Binary]:
        """The comparisons of a value with others."""
        return [fact for fact in self.facts if isinstance(fact, Binary) and fact.left == value]


class Consequences:
    """What follows in one program."""

    def __init__(self, program: Program) -> None:
        self.natural = natural_names(program)
        self.measured = {size.var.name for size in program.sizes if size.value is None}
        self.all_of: dict[Expr, Expr] = {}
        """Of values that are elements, what stands for all elements of the array."""

    def holds(self, known: Known, condition: Expr) -> bool:
        """Whether a condition follows from what is known."""
        if condition in known.facts or condition == _TRUE:
            return True
        match condition:
            case Binary("ge" | "lt" as op, left, right) if self.is_size(right):
                return self.is_bounded(known, left, op, right)
            case _:
                return False

    def is_bounded(self, known: Known, value: Expr, op: BinaryOp, bound: Expr) -> bool:
        """Whether a value is at least a bound, or below it."""
        match value:
            case Binary("max" | "min" as extreme, one, other):
                sides = [self.is_bounded(known, side, op, bound) for side in (one, other)]
                return (any if (extreme == "max") == (op == "ge") else all)(sides)
            case _ if value in self.all_of and self.is_bounded(
                known, self.all_of[value], op, bound
            ):
                return True
            case _ if self.is_smaller(known, value, op, bound):
                return True
            case _ if self.is_size(value):
                if op == "ge":
                    return self.is_least(known, value, bound)
                return self.is_least(known, bound, value, 1)
            case _:
                others = [fact.right for fact in known.about(value) if fact.op == op]
                others = [other for other in others if self.is_size(other)]
                if op == "ge":
                    return any(self.is_least(known, other, bound) for other in others)
                return any(self.is_least(known, bound, other) for other in others)

    def is_smaller(self, known: Known, value: Expr, op: BinaryOp, bound: Expr) -> bool:
        """Whether a value is a part of a number that is at least a bound, or below it."""
        match value:
            case Binary("floordiv" | "shr", whole, Const(int() as by)) if 0 < by < 64:
                # What is below zero remains there, and all else comes nearer to it.
                sides = (bound, _ZERO) if op == "lt" else (_ZERO, bound)
                return self.is_least(known, *sides) and self.is_bounded(known, whole, op, bound)
            case Binary("add", whole, Const(int() as by)) if op == "lt" and by <= 0:
                natural = self.is_bounded(known, whole, "ge", _ZERO)
                return natural and self.is_bounded(known, whole, op, bound)
            case _:
                return False

    def is_size(self, expr: Expr) -> bool:
        """Whether something is a length that is known before all steps, more or less a number.

        Or a number. Sums of several lengths may wrap.
        """
        names = [part.name for part in nodes(expr) if isinstance(part, Var)]
        return (
            len(names) <= 1
            and self.measured.isdisjoint(names)
            and not any(":" in name for name in names)
            and all(isinstance(part, Const | Var | Binary | Unary) for part in nodes(expr))
        )

    def is_least(self, known: Known, one: Expr, other: Expr, by: int = 0) -> bool:
        """Whether a size is surely above another one by that much, or more."""
        terms = added(polynomial(one), polynomial(other), -1)
        least = terms.pop((), 0) - by
        for monomial, factor in terms.items():
            if factor < 0 or not all(is_natural(atom, self.natural) for atom in monomial):
                return False
            least += factor * known.least.get(monomial[0], 0) if len(monomial) == 1 else 0
        return least >= 0
