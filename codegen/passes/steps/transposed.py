"""What is transposed before or after a loop of steps is read and written by these as it lies.

    transpose(x, y; n, m): y[i*m + j] = x[j*n + i]
    repeat step in n: kernel(row of y; m)             repeat step in n: kernel(x; step, n, m)
      for j in parallel(m): ... row[j] ...              for j in parallel(m): ... x[j*n + step] ...

Arrays go through memory once then, instead of three times. That alone is no gain, as what a step
reads comes to lie in as many lines of the cache: it is for loops that become kernels along these
lines (`columns.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from symc.codegen.blocks import every_step, map_blocks, map_steps, written
from symc.codegen.ir import (
    Accumulate,
    Branch,
    Buffer,
    Const,
    Expr,
    Kernel,
    Launch,
    Load,
    Loop,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.kernels.memory import buffers_of, used_buffers, wholes
from symc.codegen.passes.steps.varying import moving_buffers
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    names_in,
    rebuild,
    rebuild_statement,
    substitute,
)
from symc.codegen.record import record, replace
from symc.codegen.verify.polynomials import Polynomial, expression, polynomial

IsBetter = Callable[[Program, Repeat], bool]


def as_it_lies(program: Program, is_better: IsBetter) -> Program:
    """The program with loops that need no transposed arrays, where they are better for it."""
    if not any(map(_transposition, program.kernels)):
        return program
    for loop in [step for step in every_step(program.steps) if isinstance(step, Repeat)]:
        found = _moved(program, loop)
        if found is not None and is_better(*found):
            program = _without_unread(found[0])
    return program


def _without_unread(program: Program) -> Program:
    """The program without transposed arrays that nothing reads any more, and unused kernels."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    used = Counter(used_buffers(program, program.steps))

    def change(step: Step) -> list[Step]:
        if not isinstance(step, Launch) or _transposition(kernels[step.kernel]) is None:
            return [step]
        (turned,) = written(step, kernels[step.kernel])
        return [step] if used[turned] > 1 or turned not in temps else []

    temps = {buffer.name for buffer in program.buffers if buffer.role == "temp"}
    steps = map_steps(program.steps, change)
    called = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kept = tuple([kernel for kernel in program.kernels if kernel.name in called])
    return replace(program, kernels=kept, steps=steps)


def _moved(program: Program, loop: Repeat) -> tuple[Program, Repeat] | None:
    """A loop of launches without rows that move from step to step; None if none is transposed."""
    launches = [step for step in loop.steps if isinstance(step, Launch)]
    block = _block_of(program.steps, loop)
    if len(launches) < len(loop.steps) or block is None:
        return None
    rows, places = MovingRows(program, block, loop), dict[str, RowPlace]()
    for name in dict.fromkeys(name for launch in launches for name in launch.buffers):
        if name in rows.moving:
            place = rows.place(rows.buffers[name])
            if place is None:
                return None
            places[name] = place
    changed = {name for step in launches for name in written(step, rows.kernels[step.kernel])}
    if not rows.transposed or any(places[name].step == const(1) for name in changed & set(places)):
        return None  # results that lie along the rows of steps are best made so
    kernels, steps, taken = list(program.kernels), list[Step](), set(rows.kernels)
    for launch in launches:
        kernel = rows.kernels[launch.kernel]
        kernel, step = _at_places(launch, kernel, places, fresh(kernel.name, taken))
        kernels.append(kernel)
        steps.append(step)
    made = [launch for launch in rows.transposed if block.index(launch) > block.index(loop)]
    new = replace(loop, steps=tuple(steps))

    def change(steps: Sequence[Step]) -> list[Step]:
        return [new if step == loop else step for step in steps if step not in made]

    blocks = map_blocks(program.steps, change)
    return replace(program, kernels=tuple(kernels), steps=blocks), new


def _block_of(steps: Sequence[Step], loop: Repeat) -> Sequence[Step] | None:
    """The steps of which a loop is one, at any depth."""
    if loop in steps:
        return steps
    for step in steps:
        match step:
            case Repeat(steps=body):
                found = _block_of(body, loop)
            case Branch(_, then, otherwise):
                found = _block_of(then, loop) or _block_of(otherwise, loop)
            case _:
                found = None
        if found is not None:
            return found
    return None


# --- where rows are -------------------------------------------------------------------------------


@record
class _Transposition:
    """The names of a kernel that does no more than ``turned[i*m + j] = upright[j*n + i]``."""

    turned: str
    upright: str
    rows: Expr
    columns: Expr


def _transposition(kernel: Kernel) -> _Transposition | None:
    match kernel.body:
        case (Loop(i, n, body=(Loop(j, m, body=(Store(to, place, Load(of, index)),)),)),):
            found = polynomial(place), polynomial(index)
            wanted = add(mul(i, m), j), add(mul(j, n), i)
            is_one = found == tuple(map(polynomial, wanted))
            return _Transposition(to, of, n, m) if is_one else None
        case _:
            return None


@record
class RowPlace:
    """Where element i of a row is: ``buffer[first + i*step]``."""

    buffer: str
    first: Expr
    step: Expr


class MovingRows:
    """The rows of the launches in a loop, and the transpositions that it can do without."""

    def __init__(self, program: Program, block: Sequence[Step], loop: Repeat) -> None:
        self.program, self.block, self.loop = program, block, loop
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        self.moving = moving_buffers(program, loop)
        self.transposed: list[Launch] = []
        self._whole = wholes(program)

    def place(self, row: Buffer) -> RowPlace | None:
        """Where the elements of a row lie, in an array that does not move."""
        if row.of is None or row.of.buffer in self._whole or row.dtype.is_complex:
            return None
        launch = self._transposed(row.of.buffer)
        if launch is None:
            return RowPlace(row.of.buffer, row.of.offset, const(1))
        kernel = self.kernels[launch.kernel]
        found = _transposition(kernel)
        assert found is not None
        sizes = dict(zip([size.name for size in kernel.sizes], launch.sizes, strict=True))
        given = self._given(launch)
        along, across = substitute(found.columns, sizes), substitute(found.rows, sizes)
        other = given[found.upright]
        if other == row.of.buffer:
            along, across, other = across, along, given[found.turned]
        number = _quotient(polynomial(row.of.offset), along)
        if number is None or polynomial(_volume(row)) != polynomial(along):
            return None
        if launch not in self.transposed:
            self.transposed.append(launch)
        return RowPlace(other, number, across)

    def _transposed(self, name: str) -> Launch | None:
        """The launch of which an array is the result, or the argument that nothing else needs."""
        used = {buffer for step in self.loop.steps for buffer in buffers_of(step)}
        own = {buffer for buffer in used if self._base(buffer) == name}
        if self.buffers[name].role != "temp" or not own <= self.moving:
            return None
        at = self.block.index(self.loop)
        writers = [step for step in every_step(self.program.steps) if name in self._changed(step)]
        match writers:
            case [Launch() as launch] if launch in self.block[:at]:
                is_free = self._is_read(launch, self.block[self.block.index(launch) + 1 : at + 1])
            case _:
                others = (s for s in every_step(self.program.steps) if s not in self.loop.steps)
                users = [s for s in others if name in map(self._base, buffers_of(s))]
                match users:
                    case [Launch() as launch] if launch in self.block[at:]:
                        is_free = self._is_new(launch, self.block[at : self.block.index(launch)])
                    case _:
                        return None
        return launch if is_free else None

    def _is_read(self, launch: Launch, steps: Sequence[Step]) -> bool:
        """Whether a launch transposes what later steps find as it was."""
        found = _transposition(self.kernels[launch.kernel])
        if found is None:
            return False
        upright = self._base(self._given(launch)[found.upright])
        return not any(upright in self._changed(step) for step in every_step(steps))

    def _is_new(self, launch: Launch, steps: Sequence[Step]) -> bool:
        """Whether a launch transposes into what earlier steps do not use, and nobody has before."""
        found = _transposition(self.kernels[launch.kernel])
        if found is None:
            return False
        turned = self.buffers[self._given(launch)[found.turned]]
        is_ours = turned.role in ("temp", "output") and not turned.is_variable
        return is_ours and turned.name not in used_buffers(self.program, steps)

    def _given(self, launch: Launch) -> dict[str, str]:
        params = self.kernels[launch.kernel].params
        return dict(zip([param.name for param in params], launch.buffers, strict=True))

    def _base(self, buffer: str) -> str:
        """The array that a buffer is a part of."""
        return self._whole.get(buffer, buffer)

    def _changed(self, step: Step) -> set[str]:
        """The arrays that a step itself writes into."""
        if not isinstance(step, Launch | Routine | PythonCall):
            return set()
        kernel = self.kernels[step.kernel] if isinstance(step, Launch) else None
        return set(map(self._base, written(step, kernel)))


def _quotient(value: Polynomial, length: Expr) -> Expr | None:
    """A multiple of a length, divided by it; None if it is none, as far as that is seen."""
    found: Polynomial = {}
    for monomial, factor in value.items():
        match length:
            case Const(int() as known) if known and factor % known == 0:
                found[monomial] = factor // known
            case Var() if length in monomial:
                place = monomial.index(length)
                found[monomial[:place] + monomial[place + 1 :]] = factor
            case _:
                return None
    return expression(found)


def _volume(buffer: Buffer) -> Expr:
    volume: Expr = const(1)
    for length in buffer.shape:
        volume = mul(volume, length)
    return volume


# --- launches without rows ------------------------------------------------------------------------


def _at_places(
    launch: Launch, kernel: Kernel, places: Mapping[str, RowPlace], name: str
) -> tuple[Kernel, Launch]:
    """A launch, and its kernel, with the elements of rows where they lie."""
    taken = bound(kernel)
    pairs = list(zip(kernel.params, launch.buffers, strict=True))
    own = {param.name: places[buffer] for param, buffer in pairs if buffer in places}
    asked = {name: None for p in own.values() for e in (p.first, p.step) for name in names_in(e)}
    names = {size: Var(fresh(size, taken)) for size in asked}

    def at(buffer: str, index: Expr) -> Expr:
        if buffer not in own:
            return index
        first, step = (substitute(each, names) for each in (own[buffer].first, own[buffer].step))
        return add(mul(index, step), first)

    def visit(expr: Expr) -> Expr:
        new = rebuild(expr, visit)
        return replace(new, index=at(new.buffer, new.index)) if isinstance(new, Load) else new

    def block(body: Block) -> Block:
        return tuple(map(statement, body))

    def statement(old: Stmt) -> Stmt:
        new = rebuild_statement(old, visit, block)
        if isinstance(new, Store | Accumulate):
            return replace(new, index=at(new.buffer, new.index))
        return new

    buffers = tuple([places[b].buffer if b in places else b for b in launch.buffers])
    sizes = (*kernel.sizes, *names.values())
    made = Kernel(name, kernel.params, sizes, block(kernel.body), kernel.note)
    return made, Launch(name, buffers, (*launch.sizes, *map(Var, names)))
