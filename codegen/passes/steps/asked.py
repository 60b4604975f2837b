"""What a loop checks in each step, as conditions that can be tested before its first step.

A condition on sizes that moves evenly with the counter, ``step + 1 < n``, holds in all steps if it
does in the first and in the last one. One on elements that the loop reads and does not write,
``0 <= x[step] < n``, is tested for each step. The conditions of a check are tested after those of
the checks before it, which are why elements that it is about lie within their arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Binary,
    Branch,
    Check,
    Const,
    Expr,
    Launch,
    Length,
    Load,
    Program,
    Repeat,
    Select,
    Step,
    Unary,
    Var,
    add,
    binary,
    const,
)
from symc.codegen.passes.expressions.conditions import both, conjuncts
from symc.codegen.passes.kernels.following import varying_sizes
from symc.codegen.passes.kernels.in_program import InProgram, is_long
from symc.codegen.passes.kernels.memory import buffers_of
from symc.codegen.passes.steps.proven import Elements, Proofs
from symc.codegen.passes.steps.started import StepOfLoop
from symc.codegen.passes.steps.states import in_rows, integer_states, stored_once, writes
from symc.codegen.passes.steps.turning import turned
from symc.codegen.passes.steps.varying import fixed_buffers, varying_values
from symc.codegen.passes.walk import (
    expressions,
    nodes,
    parts,
    rebuild,
    statements,
    substitute,
)
from symc.codegen.passes.walk import written as stored
from symc.codegen.record import record, replace
from symc.codegen.verify.polynomials import Polynomial, added, by, polynomial

STEEP = 1 << 20  # how far an index may move in a step
_ZERO = const(0)


@record
class Question:
    """What a check of a loop asks, over sizes and elements of the program's buffers."""

    check: Check
    once: tuple[Expr, ...]
    """Conditions before the loop. If they hold, so does what they stand for, in each step."""
    each: Expr | None
    """A condition of each step, over the loop's counter."""


class Questions:
    """The checks of one loop whose answers can be known before it, and the flags they read."""

    def __init__(self, program: Program, repeat: Repeat) -> None:
        self.repeat = repeat
        self.counter = Var(repeat.var)
        self.fixed = fixed_buffers(program, repeat)
        self.varying = varying_sizes(program, repeat)
        self.sizes = {size.var.name for size in program.sizes}
        self.numbers = {b.name for b in program.buffers if all(n == const(1) for n in b.shape)}
        self.values = varying_values(program, repeat)
        self.held = self._held(program)
        self.flags = self._flags(program)
        self.proofs = self._proofs(program)
        self.asked = self._asked()
        self.natural = self._naturals(self._places(program))

    @property
    def are_all(self) -> bool:
        """Whether the loop, and loops in it, check nothing else."""
        checks = [step for step in every_step(self.repeat.steps) if isinstance(step, Check)]
        return len(checks) == len(self.asked)

    def _flags(self, program: Program) -> dict[str, Expr]:
        """The bools that only checks of the loop read, as conditions on what is in the program."""
        kernels = {kernel.name: kernel for kernel in program.kernels}
        launches = [step for step in inside(self.repeat.steps) if isinstance(step, Launch)]
        found: dict[str, Expr] = {}
        for launch in launches:
            found.update(stored_once(launch, kernels[launch.kernel], BOOL))
        temps = {b.name for b in program.buffers if b.role == "temp" and b.dtype is BOOL}
        checks = [step for step in inside(self.repeat.steps) if isinstance(step, Check)]
        uses = [
            name
            for step in every_step(program.steps)
            if not any(step is check for check in checks)
            for name in buffers_of(step)
        ]
        rows = {buffer.of.buffer for buffer in program.buffers if buffer.of is not None}
        return {
            name: value
            for name, value in found.items()
            if name in temps - rows and uses.count(name) == 1
        }

    def _held(self, program: Program) -> dict[str, Expr]:
        """The integers that a step stores before anything of it reads them, as what they are.

        None that share memory with other buffers: those may be written under another name.
        """
        kernels = {kernel.name: kernel for kernel in program.kernels}
        shared = in_rows(program)
        inside = list(every_step(self.repeat.steps))
        found: dict[str, Expr] = {}
        used: set[str] = set()
        for step in self.repeat.steps:
            if isinstance(step, Launch):
                stored = stored_once(step, kernels[step.kernel], INT64)
                for name, value in stored.items():
                    writers = [one for one in inside if writes(one, name, kernels)]
                    if (
                        name in self.numbers - used - shared
                        and writers == [step]
                        and not is_long(value)
                    ):
                        found[name] = _with(value, found)
            used.update(*[buffers_of(one) for one in every_step([step])])
        return found

    def _proofs(self, program: Program) -> Proofs:
        """What holds in all steps because of how integers are computed, and states changed."""
        asked = [part for flag in self.flags.values() for part in conjuncts(self._in_program(flag))]
        bounds = [p.right for p in asked if isinstance(p, Binary) and p.op == "lt"]
        states = integer_states(program, self.repeat, self.numbers, self._in_program)
        fixed = [bound for bound in bounds if bound.dtype is INT64 and self._is_fixed(bound)]
        step = StepOfLoop(program, self.repeat, self.numbers, self.fixed, self.values)
        begun = tuple(fact for fact in step.holds() if self._is_known(fact, states.keys()))
        first = tuple(map(self.first, begun))
        steps = self.repeat.extent if self.repeat.stop is None else None
        return Proofs(
            self._is_fixed, self._is_known, self._even, states, fixed, steps, begun, first
        )

    def _even(self, comparison: Expr) -> list[Expr] | None:
        """Conditions from which a comparison follows, if it is about the counter alone."""
        about_it = self._moves(comparison) and self._is_known(comparison)
        return self.ends(comparison) if about_it else None

    def _is_fixed(self, expr: Expr) -> bool:
        """Whether something is the same in all steps, and known before the first."""
        return self._is_known(expr) and not self._moves(expr)

    def _places(self, program: Program) -> list[Expr]:
        """The indexes of the loop's kernels that may count from the end.

        If the loop may stop, none that is about states, and read after one has changed.
        """
        kernels = {kernel.name: kernel for kernel in program.kernels}
        states = {load for load in self.proofs.kept if isinstance(load, Load)}
        found: dict[Expr, None] = {}
        late: set[Expr] = set()
        changed = False
        for launch in inside(self.repeat.steps):
            if isinstance(launch, Launch):
                kernel = kernels[launch.kernel]
                there = InProgram(launch, kernel)
                for stmt in statements(kernel.body):
                    for node in (node for expr in expressions(stmt) for node in nodes(expr)):
                        place = from_the_end(node)
                        if place is not None:
                            found[there.of(place)] = None
                            late.update([there.of(place)] if changed else [])
                    names = {there.buffers.get(buffer) for buffer in stored((stmt,))}
                    changed = changed or any(state.buffer in names for state in states)
        if self.repeat.stop is None:
            return list(found)
        return [place for place in found if place not in late or states.isdisjoint(nodes(place))]

    def _asked(self) -> list[Question]:
        found: list[Question] = []
        surely = True  # all checks so far are among those found
        for step in self.repeat.steps:
            if isinstance(step, Check):
                asked = self._question(step)
                if asked is not None and (surely or not self._reads(asked)):
                    found.append(asked)
                else:
                    surely = False
            elif isinstance(step, Branch):  # one side of it may never run: what is always right
                checks = [one for one in inside([step]) if isinstance(one, Check)]
                plain = [self._question(check) for check in checks]
                held = {part for one in found for part in _each(one)} if surely else set[Expr]()
                plain = [_without(one, held) if one is not None else None for one in plain]
                found += [one for one in plain if one is not None and not self._reads(one)]
        return found

    def _reads(self, asked: Question) -> bool:
        """Whether conditions read elements that may lie outside of their arrays."""
        return asked.each is not None or any(map(self.is_risky, asked.once))

    def is_risky(self, condition: Expr) -> bool:
        """Whether a condition reads an element other than a buffer's only one."""
        return any(
            isinstance(node, Load) and not (node.index == _ZERO and node.buffer in self.numbers)
            for node in nodes(condition)
        )

    def _question(self, check: Check) -> Question | None:
        condition = self.written_out(check)
        if is_long(condition):
            return None
        once: list[Expr] = []
        each: list[Expr] = []
        for part in conjuncts(condition):
            ends = self.ends(part) if self._moves(part) else [part]
            is_known = self._is_known(part)
            if ends is None or not is_known:
                ends = self.proofs.of(part)
            if ends is not None:
                once += ends
            elif is_known and self.repeat.stop is None:
                each.append(self._from_the_beginning(part, once))
            else:
                return None
        if any(map(self._moves, once)) or not all(map(_reads, each)):
            return None
        return Question(check, tuple(once), both(each) if each else None)

    def written_out(self, check: Check) -> Expr:
        """The condition of a check, without flags, and sizes that follow from the counter."""
        return self._in_program(_with(check.condition, self.flags))

    def _in_program(self, expr: Expr) -> Expr:
        """An expression without sizes that follow from the counter, and numbers of the step."""
        return substitute(_with(expr, self.held), self.values)

    def _is_known(self, condition: Expr, elements: Elements = ()) -> bool:
        """Whether a condition is about nothing else than the counter, and what no step changes.

        And those elements.
        """
        for node in nodes(condition):
            match node:
                case Var(name):
                    inside = name in self.sizes and name not in self.varying
                    if not inside and node != self.counter:
                        return False
                case Load(buffer) if buffer not in self.fixed and node not in elements:
                    return False
                case Length():
                    return False
                case _:
                    pass
        return True

    def _moves(self, expr: Expr) -> bool:
        return self.counter in nodes(expr)

    def ends(self, condition: Expr) -> list[Expr] | None:
        """Conditions without the counter that a comparison follows from, if it moves evenly.

        It may be asked in some case alone, as of an inner loop that has steps.
        """
        match condition:
            case Binary("or", left, right) if not self._moves(left):
                inner = [self.ends(part) if self._moves(part) else [part]
                         for part in conjuncts(right)]  # fmt: skip
                parts = [part for found in inner for part in found or ()]
                return None if None in inner else [binary("or", left, both(parts))]
            case Binary("lt" | "le" | "gt" | "ge" | "eq", left, right) if left.dtype is INT64:
                pass
            case _:
                return None
        one, other = self.slope(left), self.slope(right)
        if one is None or other is None:
            return None
        found = [self.first(condition), self.last(condition)]
        if self.repeat.stop is not None:  # nobody knows the last step: it has to be no worse
            if condition.op == "eq" or (one < other) != (condition.op in ("lt", "le")):
                return None
            del found[1]
        for side, slope in ((left, one), (right, other)):
            found += self._without_wrapping(side, slope)
        return found

    def _without_wrapping(self, side: Expr, slope: int) -> list[Expr]:
        """Conditions under which an integer does not leave 64 bits from the first to the last step.

        It moves less far than they reach, so its order tells.
        """
        if slope == 0 or side == self.counter:
            return []
        order = binary("ge" if slope > 0 else "le", self.last(side), self.first(side))
        few = binary("le", self.repeat.extent, const(1 << 40))
        return [order] if abs(slope) == 1 else [order, few]

    def slope(self, expr: Expr) -> int | None:
        """How far an integer moves from one step to the next, if that is a constant and small."""
        found = by(polynomial(expr), self.counter)
        if found is None:
            return None
        factor: Polynomial = found[0]
        more = factor.get((), 0)
        return more if not added(factor, {(): more}, -1) and abs(more) <= STEEP else None

    def first(self, expr: Expr) -> Expr:
        """An expression in the first step."""
        return substitute(expr, {self.counter.name: _ZERO})

    def last(self, expr: Expr) -> Expr:
        """An expression in the last step."""
        return substitute(expr, {self.counter.name: add(self.repeat.extent, const(-1))})

    def _from_the_beginning(self, expr: Expr, once: list[Expr]) -> Expr:
        """The expression with even indexes that do not count from the end, if `once` holds too."""

        def visit(part: Expr) -> Expr:
            new = rebuild(part, visit)
            place = from_the_end(new)
            ends = None if place is None or not self.slope(place) else self._not_negative(place)
            if place is None or ends is None:
                return new
            once.extend(end for end in ends if end not in once)
            return place

        return visit(expr)

    def _not_negative(self, place: Expr) -> list[Expr] | None:
        """Conditions under which an even index is not negative, unless it surely is."""
        ends = self.ends(binary("ge", place, _ZERO))
        for end in (self.first(place), self.last(place)):
            known = polynomial(end)
            if known.keys() <= {()} and known.get((), 0) < 0:
                return None
        return ends

    def _naturals(self, places: Iterable[Expr]) -> set[Expr]:
        """The integers of these that are not negative where all that is asked holds.

        Most programs have no indexes that count from the end in arrays, so that is asked, too.
        """
        found: set[Expr] = set()
        for place in map(self._in_program, places):
            if is_long(place):
                continue
            for number, asked in enumerate(self.asked):
                more = self._asked_also(asked, place)
                if more is not None:
                    self.asked[number] = more
                    found.add(place)
                    break
        return found

    def is_natural(self, place: Expr) -> bool:
        """Whether an integer is not negative where all that is asked holds."""
        return self._in_program(place) in self.natural

    def _asked_also(self, asked: Question, place: Expr) -> Question | None:
        """What is asked, and that an integer that it is about is not negative."""
        once = list(asked.once)
        plain = self._from_the_beginning(place, once)
        proven = self._proven_natural(plain)
        if proven is not None:
            return replace(asked, once=tuple(dict.fromkeys([*once, *proven])))
        if not self._moves(plain) or not self._is_known(plain):
            return None
        if self.slope(plain):
            ends = None if self.is_risky(plain) else self._not_negative(plain)
            if ends is None:
                return None
            return replace(asked, once=(*once, *(end for end in ends if end not in once)))
        if asked.each is None or plain not in nodes(asked.each):
            return None
        kept = [part for part in conjuncts(asked.each) if not _is_weaker(part, plain)]
        natural = binary("ge", plain, _ZERO)
        return replace(asked, once=tuple(once), each=both([*kept, natural]))

    def _proven_natural(self, place: Expr) -> list[Expr] | None:
        """Conditions under which an index is not negative because of how it is computed.

        Kernels may read it after states have changed. So none may choose what it is.
        """
        if self._is_fixed(place) or self.proofs.is_about_old_states(place):
            return None
        return self.proofs.of(binary("ge", place, _ZERO))

    def turned(self, expr: Expr, inside: InProgram) -> Expr | None:
        """The next place of an index that goes round, by a jump, where all that is asked holds."""
        once = {condition for asked in self.asked for condition in asked.once}
        all_kept = self.proofs.kept.items()
        kept = {s: bounds for s, bounds in all_kept if bounds.always and once >= set(bounds.once)}
        if not kept:
            return None
        return turned(expr, lambda part: self._in_program(inside.of(part)), kept, self._is_fixed)


def _each(asked: Question) -> list[Expr]:
    return [] if asked.each is None else conjuncts(asked.each)


def _without(asked: Question, held: AbstractSet[Expr]) -> Question:
    """What is asked without conditions of each step that hold in each step."""
    left = [part for part in _each(asked) if part not in held]
    return replace(asked, each=both(left) if left else None)


def _is_weaker(condition: Expr, place: Expr) -> bool:
    """Whether a condition says that an index does not count further than from the end."""
    match condition:
        case Binary("ge", left, Const(bound)):
            return left == place and bound <= 0
        case Binary("ge", left, Unary("neg", Var())):
            return left == place
        case _:
            return False


def _reads(expr: Expr) -> bool:
    """Whether an expression has elements of arrays in it."""
    return any(isinstance(node, Load) for node in nodes(expr))


def inside(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps, and those in branches."""
    for step in steps:
        yield step
        if isinstance(step, Branch):
            yield from inside((*step.then, *step.otherwise))


def element_of(condition: Expr, counter: Var) -> Load | None:
    """The only element that a condition is about besides what no step changes, if it is one."""
    found: set[Load] = set()

    def look(expr: Expr) -> bool:
        """Whether the counter is nowhere but in elements."""
        if isinstance(expr, Load):
            if counter in nodes(expr.index):
                found.add(expr)
            return True
        return expr != counter and all(map(look, parts(expr)))

    return next(iter(found)) if look(condition) and len(found) == 1 else None


def _with(expr: Expr, numbers: Mapping[str, Expr]) -> Expr:
    """An expression with numbers replaced by what they are."""
    if isinstance(expr, Load) and expr.index == _ZERO and expr.buffer in numbers:
        return numbers[expr.buffer]
    return rebuild(expr, lambda part: _with(part, numbers))


def from_the_end(expr: Expr) -> Expr | None:
    """The integer of which an expression is ``v < 0 ? v + n : v``, if it is that of one."""
    match expr:
        case Select(Binary("lt", place, Const(0)), Binary("add", again, _), other) if (
            place == again == other and place.dtype is INT64
        ):
            return place
        case _:
            return None
