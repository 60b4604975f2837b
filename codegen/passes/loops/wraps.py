"""wraps: a loop that reads round the end of an axis goes in parts, up to where it begins anew.

    for i in vector(n): y[i] = x[select(i - k < 0, i - k + n, i - k)]

    alloc next = 0
    for part in serial(2):
      let begin = next[0]
      let end = min(n, select(k > begin, k, n))
      let first = select(begin - k < 0, begin - k + n, begin - k) - begin
      next[0] = end
      for place in vector(end - begin): let i = begin + place; y[i] = x[first + i]

Vectors are gathered by a selected index, or put together of single elements where they are bytes.
So they are by the remainder of an index, for which there is a division for each element, too: that
is taken once for a part, which ends where the remainder would be 0 again.
Each part goes to the nearest place at which one of the selections turns, so that there is one text
of the body for all of them, whatever their order and however many are in reach. Numbers of rows
that are selected, and are the same in the whole loop, are named before it. Loops over short rows
stay as they are: to begin the parts would take longer.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    add,
    binary,
    ceiling,
    const,
    mul,
    sub,
)
from symc.codegen.passes.expressions.conditions import both
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.strips import length_of
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    index_names,
    map_kernels,
    names_in,
    nodes,
    own_names,
    rebuild,
    rebuild_statement,
    statements,
    substitute,
    written,
)
from symc.codegen.record import record
from symc.codegen.verify.polynomials import by, expression, polynomial

MOST = 6  # places at which a loop is cut
SHORT = 20  # iterations for each of these: fewer are not cut
BRIEF = 8  # and for each remainder, as divisions take longer than selections
LONG = 128  # operations of a body that is not written twice, to have one for few iterations
FAR = 1 << 61  # integers beyond this may leave 64 bits in a loop
_ZERO = const(0)


def wraps(program: Program) -> Program:
    """The program with its vector loops in parts where they read by selected indexes."""
    if not any(
        node.dtype is INT64 and (isinstance(node, Select) or _is_remainder(node))
        for kernel in program.kernels
        for stmt in statements(kernel.body)
        for expr in expressions(stmt)
        for node in nodes(expr)
    ):
        return program
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    taken = bound(kernel)

    def block(body: Block) -> Block:
        return tuple([part for stmt in body for part in statement(stmt)])

    def statement(stmt: Stmt) -> Block:
        if isinstance(stmt, Loop) and stmt.kind == "vector" and _is_plain(stmt.body):
            return _LoopInParts(stmt, taken).statements()
        return (rebuild_statement(stmt, lambda expr: expr, block),)

    return block(kernel.body)


class _LoopInParts:
    """One loop, on its way to a loop over parts of it."""

    def __init__(self, loop: Loop, taken: set[str]) -> None:
        self.loop, self.taken = loop, taken
        self.names: Mapping[str, Expr] = index_names(loop.body)
        self.own = {stmt.var.name for stmt in loop.body if isinstance(stmt, Let)}
        self.own.add(loop.var.name)
        self.changed = written(loop.body)
        self.places: dict[Expr, None] = {}
        """Where selections turn."""
        self.firsts: dict[Expr, Let] = {}
        """Selected indexes, each with how far it is from the loop's variable in a part."""
        self.fixed: dict[Expr, Let] = {}
        """Selected numbers that are the same in the whole loop."""
        self.remainders: dict[Expr, _Remainder] = {}
        self.begin = Var(fresh("begin", taken))

    def statements(self) -> Block:
        """What is in place of the loop."""
        body = tuple([self.statement(stmt) for stmt in self.loop.body])
        short = SHORT * len(self.places) + BRIEF * len(self.remainders)
        most = self.loop.extent if self.loop.cut is None else length_of(self.loop.cut)
        if not short or (isinstance(most, Const) and most.value < short):
            return (self.loop,)
        is_long = sum(map(weight, self.loop.body)) > LONG
        if self.remainders and is_long:
            return (self.loop,)
        if is_long or (isinstance(most, Const) and not self.remainders):
            return self.in_parts(body)
        least = self.loop.extent
        for room in dict.fromkeys(each.room(self.loop.var) for each in self.remainders.values()):
            least = binary("min", least, room)
        few = binary("lt", least, const(short))
        return (If(few, own_names((self.loop,), self.taken), self.in_parts(body)),)

    def in_parts(self, body: Block) -> Block:
        """The loop over parts, whose iterations have this body."""
        loop, begin, before = self.loop, self.begin, list(self.fixed.values())
        extent = self.named("length", loop.extent, before)
        following = fresh("next", self.taken)
        part, end, place = (Var(fresh(name, self.taken)) for name in ("part", "end", "place"))
        nearest = extent
        count: Expr = const(len(self.places) + 1)
        for place_of_turn in self.places:
            turn = self.named("turn", place_of_turn, before)
            reached = Select(binary("gt", turn, begin), turn, extent, INT64)
            nearest = binary("min", nearest, reached)
        for each in self.remainders.values():
            nearest = binary("min", nearest, each.end(begin))
            count = add(count, ceiling(extent, each.of))
        inner = Loop(place, sub(end, begin), "vector", (Let(loop.var, add(begin, place)), *body))
        steps: Block = (
            Let(begin, Load(following, _ZERO, INT64)),
            *(each.let for each in self.remainders.values()),
            Let(end, nearest),
            *self.firsts.values(),
            Store(following, _ZERO, end),
            inner,
        )
        return (
            *before,
            Alloc(Buffer(following, INT64, (), "local")),
            Store(following, _ZERO, _ZERO),
            Loop(part, count, "serial", steps, loop.note),
        )

    def named(self, name: str, value: Expr, before: list[Let]) -> Expr:
        """A name for a value, if it has none, that is given before the parts."""
        if isinstance(value, Var | Const):
            return value
        before.append(Let(Var(fresh(name, self.taken)), value))
        return before[-1].var

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement of a part."""
        match stmt:
            case Let(var, value):
                is_index = var.name in self.names and var.dtype is INT64
                return Let(var, self.index(value) if is_index else self.visit(value))
            case Store(buffer, index, value):
                return Store(buffer, self.index(index), self.visit(value))
            case Accumulate(buffer, index, op, value, atomic):
                return Accumulate(buffer, self.index(index), op, self.visit(value), atomic)
            case _:
                return stmt

    def visit(self, expr: Expr) -> Expr:
        """A value, with other indexes of what it loads."""
        if isinstance(expr, Load):
            index = self.index(expr.index)
            return expr if index is expr.index else Load(expr.buffer, index, expr.dtype)
        return self.remainder(expr) or rebuild(expr, self.visit)

    def index(self, expr: Expr) -> Expr:
        """An index without selections."""
        if isinstance(expr, Load):
            return self.visit(expr)
        if not isinstance(expr, Select) or expr.dtype is not INT64:
            return self.remainder(expr) or rebuild(expr, self.index)
        whole = substitute(expr, self.names)
        if not self.is_known(whole):
            return expr
        if self.loop.var.name not in names_in(whole):
            if whole not in self.fixed:
                self.fixed[whole] = Let(Var(fresh("row", self.taken)), whole)
            return self.fixed[whole].var
        found = _turn(whole, self.loop.var) if isinstance(whole, Select) else None
        if found is None or (found[0] not in self.places and len(self.places) >= MOST):
            return rebuild(expr, self.index)
        turn, slope = found
        self.places[turn] = None
        if whole not in self.firsts:
            there = substitute(whole, {self.loop.var.name: self.begin})
            self.firsts[whole] = self.first(there, slope)
        return add(self.firsts[whole].var, mul(self.loop.var, const(slope)))

    def is_known(self, expr: Expr) -> bool:
        """Whether an integer follows from the loop's variable and from names before the loop."""
        return (self.own - {self.loop.var.name}).isdisjoint(names_in(expr)) and not any(
            isinstance(node, Load) and node.buffer in self.changed for node in nodes(expr)
        )

    def first(self, there: Expr, slope: int) -> Let:
        """A name for how far an integer is from the loop's variable, if it is `there` at first."""
        return Let(Var(fresh("first", self.taken)), sub(there, mul(self.begin, const(slope))))

    def remainder(self, expr: Expr) -> Expr | None:
        """A remainder of an integer that moves with the loop, without the division."""
        whole = substitute(expr, self.names) if _is_remainder(expr) else expr
        if not isinstance(whole, Binary) or not _is_remainder(whole) or not self.is_known(whole):
            return None
        var = self.loop.var
        slope = _slope(whole.left, var)
        if var.name in names_in(whole.right) or slope not in (1, -1):
            return None
        if whole not in self.remainders:
            if len(self.remainders) >= MOST:
                return None
            there = substitute(whole.left, {var.name: self.begin})
            rest = Var(fresh("rest", self.taken))
            let = Let(rest, Binary("mod", there, whole.right, INT64))
            self.remainders[whole] = _Remainder(whole.left, whole.right, slope, let)
            self.firsts[whole] = self.first(rest, slope)
        return add(self.firsts[whole].var, mul(var, const(slope)))


@record
class _Remainder:
    """A remainder that is taken once for each part, of an integer that moves by 1 or -1."""

    number: Expr
    of: Expr
    slope: int
    let: Let
    """The remainder at the beginning of a part."""

    def end(self, begin: Expr) -> Expr:
        """Where the part ends."""
        rest = self.let.var
        left = sub(self.of, rest) if self.slope > 0 else add(rest, const(1))
        return add(begin, left)

    def room(self, var: Var) -> Expr:
        """How long parts are, or 0 where the integer, or their end, may leave 64 bits."""
        moving = polynomial(substitute(self.number, {var.name: _ZERO}))
        known = moving.pop((), 0)
        fits = [binary("le", self.of, const(FAR))]
        if moving or abs(known) >= FAR:
            start = expression(moving if abs(known) < FAR else {**moving, (): known})
            fits += [binary("ge", start, const(-FAR)), binary("le", start, const(FAR))]
        return Select(both(fits), self.of, _ZERO, INT64)


def _is_remainder(expr: Expr) -> bool:
    """Whether this is a remainder by a number that is not known."""
    return (
        isinstance(expr, Binary)
        and expr.op == "mod"
        and expr.dtype is INT64
        and not isinstance(expr.right, Const)
    )


def _turn(choice: Select, var: Var) -> tuple[Expr, int] | None:
    """Where a selection of indexes turns, and how far both of them move in an iteration.

    None for a selection that turns more than once, or of indexes that move by different amounts.
    """
    slopes = {_slope(side, var) for side in (choice.then, choice.otherwise)}
    match choice.condition:
        case Binary("lt" | "le" | "gt" | "ge" as op, left, right) if left.dtype is INT64:
            found = by(polynomial(binary("sub", left, right)), var)
        case _:
            return None
    if found is None or len(slopes) > 1 or None in slopes:
        return None
    moved, rest = found
    if moved.keys() != {()}:
        return None
    rises, times = moved[()] > 0, const(abs(moved[()]))
    zero = expression(rest)  # less or more than which the variable is, times so many
    zero = expression(polynomial(sub(_ZERO, zero))) if rises else zero
    is_after = op in ("le", "gt") if rises else op in ("lt", "ge")
    (slope,) = slopes
    assert slope is not None
    if times == const(1):
        return (add(zero, times) if is_after else zero), slope
    turn = add(binary("floordiv", zero, times), const(1)) if is_after else ceiling(zero, times)
    return turn, slope


def _is_plain(body: Block) -> bool:
    return all(isinstance(stmt, Let | Store | Accumulate) for stmt in body)


def _slope(index: Expr, var: Var) -> int | None:
    """How far an index moves with a variable, if that is a number."""
    found = by(polynomial(index), var)
    if found is None or found[0].keys() - {()}:
        return None
    return found[0].get((), 0)
