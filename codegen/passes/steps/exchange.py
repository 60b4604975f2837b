"""exchange: rows that are set from each other are set by one loop, without arrays beside them.

A row that is overwritten while the other one needs it is computed beside it first, and so is the
other: a loop for each, and one that copies each to its place. But an element needs no others than
those beside it, so that one loop reads the elements of all rows, and then writes them:

    for j in n: p[j] = c*x[k*n + j] - s*x[(k + 1)*n + j]
    for j in n: q[j] = s*x[k*n + j] + c*x[(k + 1)*n + j]
    for j in n: x[k*n + j] = p[j]
    for j in n: x[(k + 1)*n + j] = q[j]

    for j in n:
        let new = s*x[k*n + j] + c*x[(k + 1)*n + j]
        x[k*n + j] = c*x[k*n + j] - s*x[(k + 1)*n + j]
        x[(k + 1)*n + j] = new

Iterations must not meet: two accesses at ``f*j + a`` and ``f*j + b``, of which one writes, are at
the same element in no two iterations. That is so

- along rows of n elements, if a and b are whole rows apart: whichever these are, they are the same
  one or have no element in common;
- along columns of the whole array, as all that is read and written lies in it;
- else if a and b are less than f apart, or as much as all iterations take; then the program asks.

An element that all iterations need, as in ``x[i].set(x[i] - x[i, k] * x[k])``, is read before the
loop. Rows that are the same are written in the same order in each iteration as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial, reduce
from itertools import groupby

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.ir import (
    Accumulate,
    Branch,
    Buffer,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Param,
    Program,
    Repeat,
    Step,
    Stmt,
    Store,
    binary,
    const,
    mul,
)
from symc.codegen.passes.expressions.conditions import both
from symc.codegen.passes.kernels.in_program import UNKNOWN, InProgram
from symc.codegen.passes.kernels.join import MOST, Joined, length_of
from symc.codegen.passes.kernels.memory import buffers_of
from symc.codegen.passes.loops.forward import forward
from symc.codegen.passes.steps.in_kernel import are_apart, sizes_change, without_unread
from symc.codegen.passes.steps.meeting import Meetings, RowAccess
from symc.codegen.passes.walk import (
    Block,
    fresh,
    index_names,
    loads_of,
    map_block,
    names_in,
    nodes,
    own_names,
    rebuild,
    statements,
    substitute,
    written,
)
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import ONE, Polynomial, by, expression, polynomial

_ZERO = const(0)


def exchange(program: Program, *, asks: bool = True) -> Program:
    """The program with such rows set by one loop, in the steps of loops.

    If it is not known whether iterations meet, kernels ask where `asks` is true.
    """
    if not any(isinstance(step, Repeat) for step in every_step(program.steps)):
        return program
    walk = _Exchange(program, asks=asks)
    steps = tuple(map(walk.outside, program.steps))
    if not walk.made:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kernels = tuple([kernel for kernel in walk.kernels.values() if kernel.name in used])
    left = {name for step in every_step(steps) for name in buffers_of(step)}
    gone = walk.temporary & walk.uses.keys() - left
    buffers = tuple([buffer for buffer in walk.program.buffers if buffer.name not in gone])
    return replace(program, buffers=buffers, kernels=kernels, steps=steps)


class _Exchange:
    """The walk over the steps of one program."""

    def __init__(self, program: Program, *, asks: bool) -> None:
        self.program = program
        self.asks = asks
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.taken = set(self.kernels)
        self.made: dict[tuple[tuple[Launch, ...], frozenset[str]], list[Launch]] = {}
        parts = {buffer.of.buffer for buffer in program.buffers if buffer.of is not None}
        self.uses = Counter(name for s in every_step(program.steps) for name in set(buffers_of(s)))
        self.temporary = {b.name for b in program.buffers if b.role == "temp"} - parts
        self.filled = self.temporary - set(self.kept(program.steps))

    def outside(self, step: Step) -> Step:
        """A step outside of all loops."""
        match step:
            case Repeat():
                return replace(step, steps=map_blocks(step.steps, self.block))
            case Branch(_, then, otherwise):
                sides = [tuple(map(self.outside, side)) for side in (then, otherwise)]
                return replace(step, then=sides[0], otherwise=sides[1])
            case _:
                return step

    def block(self, block: Sequence[Step]) -> list[Step]:
        """The steps of a block, with one launch for those that set rows from each other."""
        steps: list[Step] = []
        uses = Counter(name for step in block for name in set(buffers_of(step)))
        for extents, group in groupby(block, self.extents):
            run = list(group)
            launches = [step for step in run if isinstance(step, Launch)]
            steps += run if extents is None else self.run(launches, uses)
        return steps

    def kept(self, block: Sequence[Step]) -> Iterator[str]:
        """The temporaries that a block, or one inside it, may find with values from before it.

        Or with values that a block inside it has left.
        """
        begun: set[str] = set()
        for step in block:
            match step:
                case Repeat(steps=steps):
                    yield from self.kept(steps)
                case Branch(_, then, otherwise):
                    yield from self.kept(then)
                    yield from self.kept(otherwise)
                case _:
                    pass
            for name in buffers_of(step):
                if name in self.temporary and name not in begun:
                    if not self.fills(step, name):
                        yield name
                    begun.add(name)
            if isinstance(step, Repeat | Branch):  # what it leaves is found by who reads next
                begun -= {name for inner in every_step([step]) for name in buffers_of(inner)}

    def fills(self, step: Step, name: str) -> bool:
        """Whether a step stores all elements of a temporary, of which it reads none.

        No iteration of independent loops stores to an element of another one.
        """
        extents = self.extents(step)
        if extents is None or not isinstance(step, Launch):
            return False
        params = self.kernels[step.kernel].params
        own = [param.name for param, b in zip(params, step.buffers, strict=True) if b == name]
        body = nest_of(self.kernels[step.kernel].body)[-1].body
        stored = {index for buffer, index, writes in touched(body) if writes and buffer in own}
        if any(load.buffer in own for stmt in body for load in loads_of(stmt)):
            return False
        (of,) = [buffer for buffer in self.program.buffers if buffer.name == name]
        components = 2 if of.dtype.is_complex else 1
        return len(stored) == components and _volume(of.shape) == _volume(extents)

    def extents(self, step: Step) -> tuple[Expr, ...] | None:
        """The extents of the loops of a launch that does nothing else, in sizes of the program."""
        if not isinstance(step, Launch):
            return None
        kernel = self.kernels[step.kernel]
        nest = nest_of(kernel.body)
        extents = tuple([InProgram(step, kernel).of(loop.extent) for loop in nest])
        loads = [node for e in extents for node in nodes(e) if isinstance(node, Load)]
        if not nest or loads or any(UNKNOWN in names_in(extent) for extent in extents):
            return None
        return extents

    def run(self, launches: Sequence[Launch], uses: Mapping[str, int]) -> list[Step]:
        """Launches of loops over one range, those together that hand on arrays of their own."""
        steps: list[Step] = []
        place = 0
        own = {
            name
            for name, times in Counter(
                name for one in launches for name in set(one.buffers)
            ).items()
            if name in self.temporary
            and (times == self.uses[name] or (times == uses[name] and name in self.filled))
        }
        for first, last in _handed_on(launches, own):
            united = self.united(launches[first : last + 1], own)
            if united is not None:
                steps += [*launches[place:first], *united]
                place = last + 1
        return [*steps, *launches[place:]]

    def united(self, launches: Sequence[Launch], own: set[str]) -> list[Launch] | None:
        """One launch for several, if their iterations do not meet, and one before it for elements.

        Adds their kernels. Nobody else needs what is in the arrays of their `own`.
        """
        if sum(length_of(self.kernels[launch.kernel]) for launch in launches) > MOST:
            return None
        some = tuple(launches), frozenset(own)
        if some in self.made:
            return self.made[some]
        made = Joined(launches, self.kernels)
        if sizes_change(made) or not are_apart(self.program, made):
            return None
        rows = _SetRows(made)
        held = rows.hold({buffer.name for buffer in self.program.buffers})
        new = [Buffer(name, param.dtype, (), "temp") for name, param in held.values()]
        program = replace(self.program, buffers=(*self.program.buffers, *new))
        body = rows.body(program, own, asks=self.asks)
        if body is None:
            return None
        self.program = program
        united = [self.launch(made, launches[-1].kernel, body)]
        if held:
            stores = tuple([Store(param.name, _ZERO, load) for load, (_, param) in held.items()])
            some_iteration = both([binary("ge", extent, const(1)) for extent in rows.extents])
            united.insert(
                0, self.launch(made, "elements_kernel", (If(some_iteration, stores, ()),))
            )
        self.made[some] = united
        return united

    def launch(self, made: Joined, stem: str, body: Block) -> Launch:
        """The launch of a kernel with such a body, which is added."""
        name, changed = fresh(stem, self.taken), written(body)
        used = changed | {load.buffer for s in statements(body) for load in loads_of(s)}
        params = {
            buffer: Param(param.name, param.dtype, param.name in changed)
            for buffer, param in made.buffers.items()
            if param.name in used
        }
        sizes, note = tuple(made.values.values()), "\n".join(made.notes)
        self.kernels[name] = Kernel(name, tuple(params.values()), sizes, body, note)
        return Launch(name, tuple(params), tuple(made.values))


def _volume(lengths: Sequence[Expr]) -> Polynomial:
    return polynomial(reduce(mul, lengths)) if lengths else ONE


def _handed_on(launches: Sequence[Launch], own: AbstractSet[str]) -> list[tuple[int, int]]:
    """The first and the last of the launches that hand on arrays of their own."""
    places: dict[str, list[int]] = {}
    for number, launch in enumerate(launches):
        for name in own & set(launch.buffers):
            places.setdefault(name, []).append(number)
    found: list[tuple[int, int]] = []
    for first, last in sorted((numbers[0], numbers[-1]) for numbers in places.values()):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        elif first < last:
            found.append((first, last))
    return found


class _SetRows:
    """Loops over one range as statements of one kernel."""

    def __init__(self, made: Joined) -> None:
        self.made = made
        self.lets = tuple([stmt for stmt in made.body if isinstance(stmt, Let)])
        self.loops = [stmt for stmt in made.body if isinstance(stmt, Loop)]
        self.nests = [nest_of((loop,)) for loop in self.loops]
        self.changed = written(tuple(made.body))
        names = index_names(self.lets)
        self.extents = [substitute(loop.extent, names) for loop in self.nests[0]]

    def hold(self, taken: set[str]) -> dict[Load, tuple[str, Param]]:
        """The elements that all iterations read, and none has written: numbers take their place.

        Each has a buffer of its own in the program, whose name is new, and a parameter for it.
        """
        found: dict[Load, tuple[str, Param]] = {}
        begun: set[str] = set()
        names: dict[str, Expr] = {}

        def number(expr: Expr) -> Expr:
            element = self.element(expr, names) if isinstance(expr, Load) else None
            if element is None or element.buffer in begun:
                return rebuild(expr, number)
            if element not in found:
                param = Param(fresh("element", self.made.taken), element.dtype, written=False)
                found[element] = fresh("element", taken), param
                self.made.buffers[found[element][0]] = param
            return Load(found[element][1].name, _ZERO, element.dtype)

        for place, nest in enumerate(self.nests):
            names = self.names(nest)
            begun |= written(nest[-1].body)
            inner = replace(nest[-1], body=map_block(nest[-1].body, number))
            self.nests[place] = (*nest[:-1], inner)
        return found

    def element(self, load: Load, names: Mapping[str, Expr]) -> Load | None:
        """An element of a buffer that is written, at one place in all iterations."""
        place = substitute(load.index, names)
        split = self.split(place)
        if load.buffer not in self.changed or split is None or any(split[0]):
            return None
        inside = [node for node in nodes(place) if isinstance(node, Load)]
        if load.dtype.is_only_stored or any(one.buffer in self.changed for one in inside):
            return None
        return Load(load.buffer, place, load.dtype)

    def body(self, program: Program, own: set[str], *, asks: bool) -> Block | None:
        """The statements with all in one loop, that needs none of its `own` buffers; or None.

        They ask whether iterations meet only where `asks` is true.
        """
        around = [stmt for nest in self.nests for loop in nest[:-1] for stmt in loop.body]
        loads = [load for stmt in (*self.lets, *around) for load in loads_of(stmt)]
        accesses = self.accesses()
        if accesses is None or any(load.buffer in self.changed for load in loads):
            return None
        sizes = {var.name: value for value, var in self.made.values.items()}
        of = {buffer.name: buffer for buffer in program.buffers}
        buffers = {param.name: of[name] for name, param in self.made.buffers.items()}
        if any(names_in(extent) - sizes.keys() for extent in self.extents):
            return None
        conditions = Meetings(program, sizes, buffers, self.extents).conditions(accesses)
        if conditions is None or (conditions and not asks):
            return None
        loop = self.one_loop(own)
        handed_on = {param.name for name, param in self.made.buffers.items() if name in own}
        if not handed_on.isdisjoint(written((loop,))):
            return None
        if not conditions:
            return (*self.lets, loop)
        as_they_were = own_names(tuple(self.loops), self.made.taken)
        return (*self.lets, If(both(conditions), (loop,), as_they_were))

    def one_loop(self, own: set[str]) -> Loop:
        """All iterations in one loop: what they hand on to each other has names."""
        body: Block = ()
        for level in reversed(range(len(self.nests[0]))):
            first = self.nests[0][level]
            inside: list[Stmt] = []
            for nest in self.nests:
                names = self.variables(nest)
                plain = [stmt for stmt in nest[level].body if not isinstance(stmt, Loop)]
                inside += map_block(tuple(plain), partial(substitute, values=names))
            notes = dict.fromkeys(nest[level].note for nest in self.nests if nest[level].note)
            loop = Loop(first.var, first.extent, "parallel", (*inside, *body), "\n".join(notes))
            body = (loop,)
        params, sizes = tuple(self.made.buffers.values()), tuple(self.made.values.values())
        kernel = Kernel("", params, sizes, (*self.lets, *body))
        *_, made = without_unread(self.made, forward(kernel, kernel.body), own)
        assert isinstance(made, Loop)
        return made

    def variables(self, nest: Sequence[Loop]) -> dict[str, Expr]:
        """The variables of the first loops, in place of others."""
        pairs = zip(nest, self.nests[0], strict=True)
        return {loop.var.name: first.var for loop, first in pairs}

    def names(self, nest: Sequence[Loop]) -> dict[str, Expr]:
        """What names of integers stand for, in the variables of the first loops."""
        names = {**self.variables(nest), **index_names(self.lets)}
        lets = [let for loop in nest for let in loop.body if isinstance(let, Let)]
        for name, value in index_names(tuple(lets)).items():
            names[name] = substitute(value, names)
        return names

    def accesses(self) -> list[RowAccess] | None:
        """The elements that an iteration touches, of the buffers that are written."""
        found: dict[tuple[str, Expr, bool], RowAccess] = {}
        for nest in self.nests:
            names = self.names(nest)
            for buffer, index, writes in touched(nest[-1].body):
                place = substitute(index, names)
                if buffer not in self.changed or (buffer, place, writes) in found:
                    continue
                loads = [node for node in nodes(place) if isinstance(node, Load)]
                split = self.split(place)
                if split is None or any(load.buffer in self.changed for load in loads):
                    return None
                found[buffer, place, writes] = RowAccess(buffer, *split, writes)
        return list(found.values())

    def split(self, place: Expr) -> tuple[tuple[Polynomial, ...], Polynomial] | None:
        """How far each loop moves an index, and the rest of it; None if that is not so simple."""
        rest = polynomial(place)
        far: list[Polynomial] = []
        for loop in self.nests[0]:
            found = by(rest, loop.var)
            if found is None:
                return None
            far.append(found[0])
            rest = found[1]
        known = {size.name for size in self.made.values.values()}
        is_known = all(names_in(expression(part)) <= known for part in (*far, rest))
        return (tuple(far), rest) if is_known else None


def nest_of(block: Block) -> tuple[Loop, ...]:
    """The independent loops of a block that does nothing else, one in the other; or none."""
    if not block:
        return ()
    *lets, last = block
    if not isinstance(last, Loop) or last.kind != "parallel" or last.cut is not None:
        return ()
    if not all(isinstance(let, Let) for let in lets):
        return ()
    if all(isinstance(stmt, Let | Store | Accumulate) for stmt in last.body):
        return (last,)
    inside = nest_of(last.body)
    return (last, *inside) if inside else ()


def touched(block: Block) -> Iterator[tuple[str, Expr, bool]]:
    """The buffers, indexes and whether they are written, of all accesses of statements."""
    for stmt in block:
        for load in loads_of(stmt):
            yield load.buffer, load.index, False
        if isinstance(stmt, Store | Accumulate):
            yield stmt.buffer, stmt.index, True
