"""columns: steps that read and write columns run to the end for a few rows, then for the next.

A step that computes one column of some arrays from the one before has each of its elements in
another cache line, and finds it gone when the next step wants the next element of it. If no row
meets another one, all steps may be done for a strip of rows whose lines stay in the cache:

    repeat k in m:                                       kernel(x, y; n, m)
      kernel(x, y; k, n, m)                                for strip in parallel(n // 32):
        for i in parallel(n): y[i*m + k] = y[i*m + k - 1]    for k in serial(m):
                               + x[i*m + k]                    for i in the strip: ... as before

Rows do not meet where the columns that steps touch lie in a row (``0 <= k < m``), or, in arrays
that are written along rows, where a row is as long as there are iterations. Nobody but the call
knows this of lengths: it is asked before the loop, which else runs as it was.

What was transposed to be gone through row by row is gone through in this way as it lies:
`transposed.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Accumulate,
    Binary,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Repeat,
    Select,
    Step,
    Store,
    Var,
    binary,
    const,
    sub,
)
from symc.codegen.passes.expressions.conditions import both, either
from symc.codegen.passes.expressions.fold import fold
from symc.codegen.passes.loops.fuse import fused
from symc.codegen.passes.steps.in_kernel import (
    LaunchesInKernel,
    change_loops,
    launches_in_kernel,
    never_read,
    only_here,
    without_unread,
)
from symc.codegen.passes.steps.transposed import as_it_lies
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.vectors.vectorize import NEAR, dearest
from symc.codegen.passes.walk import (
    Block,
    fresh,
    index_names,
    loads_of,
    names_in,
    nodes,
    own_names,
    substitute,
    written,
)
from symc.codegen.record import record
from symc.codegen.verify.polynomials import (
    Monomial,
    Polynomial,
    added,
    by,
    expression,
    polynomial,
    product,
)

ROWS = 16  # of a strip: as many as hide how long the next step waits for one
WAITING = 32  # where that has functions to wait for
COSTLY = 10  # operations of such a function
MEETING = 8  # where lines of all rows fall on the same places of a first cache
PAGE = 4096  # bytes from one such place to the next
FEWEST = 4  # steps: of fewer not much of a line is used
_ZERO = const(0)


def columns(program: Program) -> Program:
    """The program with such loops as kernels."""
    return change_loops(as_it_lies(program, _goes_along_rows), _changed)


def _goes_along_rows(program: Program, step: Repeat) -> bool:
    kernels = {kernel.name: kernel for kernel in program.kernels}
    return _changed(program, step, kernels, set(kernels)) is not step


def _changed(program: Program, step: Repeat, kernels: dict[str, Kernel], taken: set[str]) -> Step:
    """The launch of a kernel in place of a loop, or the step as it is."""
    found = launches_in_kernel(program, step, kernels)
    if found is None:
        return step
    rows = _RowsOfSteps.of(found)
    if rows is None or not rows.has_columns:
        return step
    apart = rows.apart()
    if apart is None:
        return step
    name = fresh(found.last.kernel, taken)
    strips = rows.strips(step.note, only_here(program, step) | never_read(program))
    enough = binary("ge", found.extent, const(FEWEST))
    body: Block = (If(both([enough, *apart]), (strips,), rows.one_by_one(step.note)),)
    kernels[name], launch = found.launch(name, body, set())
    return launch


@record
class _Touched:
    """An access to an element of a buffer in an iteration: how far rows and steps move it."""

    buffer: str
    far: Polynomial
    """From one row to the next."""
    rest: Polynomial


class _RowsOfSteps:
    """A loop of steps that are loops over the same rows, without others in them."""

    def __init__(self, steps: LaunchesInKernel, loops: Sequence[Loop], lets: Block) -> None:
        self.steps, self.loops, self.lets = steps, loops, lets
        self.taken = steps.made.taken
        self.row = Var(fresh("row", self.taken))
        self.names = index_names((*steps.inside, *lets))
        self.accesses: list[_Touched] = []
        """All accesses whose place is understood."""
        self.unknown: set[str] = set()
        """Buffers with other accesses."""
        for loop in loops:
            self._look(loop)

    @classmethod
    def of(cls, steps: LaunchesInKernel) -> _RowsOfSteps | None:
        """The rows of a loop of steps; None if the steps are others."""
        loops = [stmt for stmt in steps.made.body if isinstance(stmt, Loop)]
        lets = tuple([stmt for stmt in steps.made.body if isinstance(stmt, Let)])
        if not loops or len(loops) + len(lets) < len(steps.made.body):
            return None
        changed = written(tuple(steps.made.body))
        names = index_names((*steps.inside, *lets))
        extents = {_flat(substitute(loop.extent, names)) for loop in loops}
        inside = {steps.counter.name} | {let.var.name for let in steps.inside}
        if len(extents) > 1 or inside & names_in(substitute(loops[0].extent, names)):
            return None
        if any(load.buffer in changed for let in lets for load in loads_of(let)):
            return None
        if any(isinstance(n, Load) for n in nodes(loops[0].extent)):
            return None
        plain = (Let, Store, Accumulate)
        if not all(
            loop.kind == "parallel"
            and loop.cut is None
            and all(isinstance(stmt, plain) for stmt in loop.body)
            for loop in loops
        ):
            return None
        return cls(steps, loops, lets)

    @property
    def extent(self) -> Expr:
        """How many rows there are."""
        return substitute(self.loops[0].extent, self.names)

    def _look(self, loop: Loop) -> None:
        names = {**self.names, loop.var.name: self.row, **index_names(loop.body)}
        known = {name: substitute(value, names) for name, value in names.items()}
        others = {let.var.name for let in (*self.lets, *loop.body) if isinstance(let, Let)}
        others -= known.keys()

        def note(buffer: str, index: Expr) -> None:
            place = substitute(index, known)
            split = by(polynomial(place), self.row)
            is_known = others.isdisjoint(names_in(place))
            if split is None or not is_known or any(isinstance(n, Load) for n in nodes(place)):
                self.unknown.add(buffer)
            else:
                self.accesses.append(_Touched(buffer, *split))

        for stmt in loop.body:
            for load in loads_of(stmt):
                note(load.buffer, load.index)
            if isinstance(stmt, Store | Accumulate):
                note(stmt.buffer, stmt.index)

    @property
    def has_columns(self) -> bool:
        """Whether steps go along lines of which each row has others."""
        return any(map(self._is_along, self.accesses))

    def _is_along(self, one: _Touched) -> bool:
        """Whether an access goes along a line, of which each row has another one."""
        is_far = any(one.far) or abs(one.far.get((), 0)) > NEAR
        return is_far and self._step(one.rest) in (1, -1)

    def _step(self, rest: Polynomial) -> int | None:
        """How far an element moves from step to step; None if that is no number."""
        split = by(rest, self.steps.counter)
        if split is None or not split[0].keys() <= {()}:
            return None
        return split[0].get((), 0)

    # --- whether rows meet ------------------------------------------------------------------------

    def apart(self) -> list[Expr] | None:
        """Conditions before the loop on which no row touches what another one writes, if known."""
        asked: dict[Expr, None] = {}
        changed = written(tuple(self.steps.made.body))
        if changed & self.unknown:
            return None
        for buffer in sorted(changed):
            own = [one for one in self.accesses if one.buffer == buffer]
            if any(one.far != own[0].far for one in own):
                return None
            found = self._along(own) if own[0].far == {(): 1} else self._across(own)
            if found is None:
                return None
            asked.update(dict.fromkeys(found))
        return list(asked)

    def _across(self, own: Sequence[_Touched]) -> list[Expr] | None:
        """Conditions for columns: all lie in the same row, ``far`` long."""
        far = own[0].far
        if len(far) != 1:
            return None
        ((length, times),) = far.items()
        if length != () and times != 1:
            return None
        whole = 0 if length == () else self._whole(own, length)
        if whole is None:
            return None
        asked: list[Expr] = []
        for one in own:
            place = added(one.rest, {length: whole}, -1) if whole else one.rest
            step = self._step(place)
            if step is None:
                return None
            first, last = (
                expression(polynomial(substitute(expression(place), {self.steps.counter.name: at})))
                for at in (_ZERO, sub(self.steps.extent, const(1)))
            )
            low, high = (first, last) if step >= 0 else (last, first)
            end = product(length, times)
            asked += [binary("ge", low, _ZERO), binary("lt", high, end)]
        asked = list(map(_folded, asked))
        if Const(False, BOOL) in asked:
            return None
        return [condition for condition in asked if condition != Const(True, BOOL)]

    def _whole(self, own: Sequence[_Touched], length: Monomial) -> int | None:
        """How many lines come before the first row; None if these are of several rows."""
        whole = own[0].rest.get(length, 0)
        if any(one.rest.get(length, 0) != whole for one in own):
            return None
        is_from_end = any(self._is_from_end(added(one.rest, {length: whole}, -1)) for one in own)
        return whole - 1 if is_from_end else whole

    def _is_from_end(self, place: Polynomial) -> bool:
        """Whether a column is counted from the end of its row."""
        step = self._step(place)
        return place.get((), 0) < 0 or (step is not None and step < 0)

    def _along(self, own: Sequence[_Touched]) -> list[Expr] | None:
        """Conditions for rows of memory: they are a number of rows apart, as steps are."""
        moves: list[Polynomial] = [added(one.rest, own[0].rest, -1) for one in own]
        split = [by(one.rest, self.steps.counter) for one in own]
        if any(each is None for each in split):
            return None
        moves += [each[0] for each in split if each is not None]
        lengths = {length for move in moves for length in move}
        if not lengths:
            return []
        if len(lengths) > 1 or () in lengths:
            return None
        return [binary("le", self.extent, product(lengths.pop()))]

    # --- the statements ---------------------------------------------------------------------------

    def strips(self, note: str, temporary: set[str]) -> Loop:
        """The loop over strips of rows."""
        row, extent = self.row, self.extent
        body = [
            stmt
            for loop in self.loops
            for stmt in own_names(loop.body, self.taken, {loop.var.name: row})
        ]
        number = Var(fresh("strip", self.taken))
        place = Var(fresh("row_in_strip", self.taken))
        cut = StripMining(number, extent, self.rows_of_strip())
        inner = cut.inner(place, "parallel", (Let(row, cut.at(place)), *body))
        in_step = (*self.steps.inside, *self.lets, inner)
        steps = Loop(self.steps.counter, self.steps.extent, "serial", in_step)
        made = self.steps.made
        whole = Kernel(
            "", tuple(made.buffers.values()), (), (cut.loop("parallel", (steps,), note),)
        )
        (loop_of,) = without_unread(made, fused(whole), temporary)
        assert isinstance(loop_of, Loop)
        return loop_of

    def rows_of_strip(self) -> Expr:
        """How many rows are done at a time."""
        if max(dearest(loop.body) for loop in self.loops) >= COSTLY:
            return const(WAITING)
        bytes_of = {param.name: param.dtype.bytes for param in self.steps.made.buffers.values()}
        given = {name.name: value for name, value in self.steps.given.items()}
        rests = [
            binary(
                "mod", substitute(expression(one.far), given), const(PAGE // bytes_of[one.buffer])
            )
            for one in self.accesses
            if self._is_along(one)
        ]
        met = [_folded(binary("eq", _folded(rest), _ZERO)) for rest in dict.fromkeys(rests)]
        if all(isinstance(each, Const) for each in met):
            return const(MEETING if Const(True, BOOL) in met else ROWS)
        meet = either(met)
        rows = Var(fresh("rows", self.taken))
        self.steps.given[rows] = Select(meet, const(MEETING), const(ROWS), INT64)
        return rows

    def one_by_one(self, note: str) -> Block:
        """The steps as they were, with names of their own."""
        steps = self.steps
        body = (*steps.inside, *steps.made.body)
        return own_names((Loop(steps.counter, steps.extent, "serial", body, note),), self.taken)


def _folded(expr: Expr) -> Expr:
    return fold(expr, {}) if isinstance(expr, Binary) else expr


def _flat(expr: Expr) -> frozenset[tuple[tuple[Expr, ...], int]]:
    return frozenset(polynomial(expr).items())
