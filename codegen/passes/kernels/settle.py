"""settle: an array that is only copied into a larger one is made there.

A concatenation writes what it computes itself straight into its place. A part that has a kernel or
a routine of its own, such as a running sum or a product of matrices, was an array of its own, and
a copy. It becomes a row of the whole.

    kernel sums(x, part): ...                        kernel sums(x, part): ...
    kernel join(part, whole):
      whole[0] = 0                                   kernel join(whole):
      for i in n: whole[i + 1] = part[i]               whole[0] = 0

    part: temp [n]                                   part: row [n] of whole + 1

The kernel that joins must write its array piece by piece, each after the one before, so that none
is written twice; and the array must not be used earlier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from symc.codegen.blocks import every_step
from symc.codegen.ir import (
    Binary,
    Buffer,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Pointer,
    Program,
    Routine,
    Step,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.kernels.lengths import GivenLengths
from symc.codegen.passes.kernels.memory import buffers_of, is_known, prepared
from symc.codegen.passes.walk import expressions, names_in, nodes, statements, substitute
from symc.codegen.record import record, replace
from symc.codegen.verify.polynomials import Polynomial, added, polynomial


def settle(program: Program) -> Program:
    """The program with parts made where they are wanted."""
    launches = [step for step in every_step(program.steps) if isinstance(step, Launch)]
    count = Counter(launch.kernel for launch in launches)
    joining = {k.name: k for k in program.kernels if count[k.name] == 1 and _may_join(k)}
    for step in program.steps:
        if isinstance(step, Launch) and step.kernel in joining:
            program = _settled(program, step, joining[step.kernel])
    return program


def _may_join(kernel: Kernel) -> bool:
    """Whether a kernel writes one array by several statements."""
    stmts = [stmt for stmt in kernel.body if not isinstance(stmt, Let)]
    if len(stmts) < 2 or not all(isinstance(stmt, Store | Loop) for stmt in stmts):
        return False
    return [param.written for param in kernel.params].count(True) == 1


@record
class _Piece:
    """What a statement of a kernel that joins writes: `length` elements from `start` on."""

    stmt: Stmt
    start: Expr
    length: Expr
    copied: str | None
    """The array of which it is a copy."""


def _settled(program: Program, launch: Launch, kernel: Kernel) -> Program:
    """The program with what one launch copies made in its place."""
    written = next(param.name for param in kernel.params if param.written)
    given = dict(zip([param.name for param in kernel.params], launch.buffers, strict=True))
    buffers = {buffer.name: buffer for buffer in program.buffers}
    whole = buffers[given[written]]
    pieces = _pieces(kernel, written, launch)
    if (
        all(piece.copied is None for piece in pieces)
        or not _follow(program, pieces)
        or not _is_new(program, whole, launch)
    ):
        return program
    for piece in pieces:
        if piece.copied is None or _reads(kernel, piece.copied) != 1:
            continue
        part = buffers[given[piece.copied]]
        if not _may_move(program, part, whole, launch):
            continue
        if _flat(program, _volume(part)) == _flat(program, piece.length):
            row = replace(part, role="row", of=Pointer(whole.name, piece.start))
            program, launch = _without(program, launch, piece.stmt, piece.copied, row)
    return program


# --- the kernel -----------------------------------------------------------------------------------


def _pieces(kernel: Kernel, whole: str, launch: Launch) -> list[_Piece]:
    """The pieces that a kernel writes, in the program's sizes; none if it does anything else."""
    known = dict(zip([size.name for size in kernel.sizes], launch.sizes, strict=True))
    found: list[_Piece] = []
    for stmt in kernel.body:
        if isinstance(stmt, Let):
            known[stmt.var.name] = substitute(stmt.value, known)
            continue
        piece = _piece(stmt, whole, known)
        if piece is None:
            return []
        found.append(piece)
    return found


def _piece(stmt: Stmt, whole: str, known: dict[str, Expr]) -> _Piece | None:
    """What a store, or a nest of loops around one, writes without gaps."""
    place: Expr = const(0)
    length: Expr = const(1)
    names: set[str] = set()
    body: tuple[Stmt, ...] = (stmt,)
    while isinstance(body[-1], Loop):
        loop = body[-1]
        if loop.kind != "parallel" or loop.cut is not None or len(body) > 1:
            return None
        place, length = add(mul(place, loop.extent), loop.var), mul(length, loop.extent)
        names.add(loop.var.name)
        body = loop.body
    *lets, last = body
    if not isinstance(last, Store) or last.buffer != whole:
        return None
    for let in lets:
        if not isinstance(let, Let):
            return None
        names.add(let.var.name)
    start = _at_zero(last.index, names)
    if polynomial(last.index) != added(polynomial(start), polynomial(place)):
        return None
    match last.value:
        case Load(source, index) if not lets and polynomial(index) == polynomial(place):
            copied: str | None = source
        case _:
            copied = None
    piece = _Piece(stmt, substitute(start, known), substitute(length, known), copied)
    parts = (*nodes(piece.start), *nodes(piece.length))
    plain = all(isinstance(part, Const | Var | Binary) for part in parts)
    return piece if plain and names.isdisjoint(names_in(length) | names_in(start)) else None


def _at_zero(index: Expr, names: set[str]) -> Expr:
    """An index where the variables of loops are 0."""
    match index:
        case Var(name) if name in names:
            return const(0)
        case Binary("add", left, right):
            return add(_at_zero(left, names), _at_zero(right, names))
        case Binary("mul", left, right):
            return mul(_at_zero(left, names), _at_zero(right, names))
        case _:
            return index


def _reads(kernel: Kernel, source: str) -> int:
    """How often an array is read in the text of a kernel."""
    exprs = [e for stmt in statements(kernel.body) for e in expressions(stmt)]
    loads = [node for e in exprs for node in nodes(e) if isinstance(node, Load)]
    return [load.buffer for load in loads].count(source)


# --- the program ----------------------------------------------------------------------------------


def _is_new(program: Program, whole: Buffer, launch: Launch) -> bool:
    """Whether nobody used an array before a launch, and there is memory for it from the start."""
    if whole.role not in ("temp", "output") or whole.dtype.is_complex:
        return False
    known = prepared(program)[1]
    if not all(is_known(length, known) for length in whole.shape):
        return False
    before = program.steps[: program.steps.index(launch)]
    parts = {b.name for b in program.buffers if b.of is not None and b.of.buffer == whole.name}
    return not any({whole.name, *parts} & set(buffers_of(step)) for step in every_step(before))


def _may_move(program: Program, part: Buffer, whole: Buffer, launch: Launch) -> bool:
    """Whether a part is made by steps that do not use what else becomes of the whole."""
    at = program.steps.index(launch)
    if part.role != "temp" or part.dtype is not whole.dtype:
        return False
    if any(b.of is not None and b.of.buffer == part.name for b in program.buffers):
        return False
    others = {b.name for b in program.buffers if b.of is not None and b.of.buffer == whole.name}
    using = [(n, step) for n, step in enumerate(program.steps) if _uses(step, part.name)]
    return all(
        n <= at
        and isinstance(step, Launch | Routine)
        and (n == at or others.isdisjoint(buffers_of(step)))
        for n, step in using
    )


def _uses(step: Step, buffer: str) -> bool:
    return any(buffer in buffers_of(one) for one in every_step([step]))


def _volume(buffer: Buffer) -> Expr:
    volume: Expr = const(1)
    for length in buffer.shape:
        volume = mul(volume, length)
    return volume


def _follow(program: Program, pieces: Sequence[_Piece]) -> bool:
    """Whether several pieces each begin where the one before ends."""
    end: Polynomial = {}
    for piece in pieces:
        if _flat(program, piece.start) != end:
            return False
        end = added(end, _flat(program, piece.length))
    return len(pieces) > 1


def _flat(program: Program, length: Expr) -> Polynomial:
    """A length in the lengths of arguments."""
    return polynomial(GivenLengths(program).written_out(length))


def _without(
    program: Program, launch: Launch, copy: Stmt, source: str, row: Buffer
) -> tuple[Program, Launch]:
    """The program without one copy, and what is left of the launch."""
    kernel = next(k for k in program.kernels if k.name == launch.kernel)
    number = [param.name for param in kernel.params].index(source)
    params = (*kernel.params[:number], *kernel.params[number + 1 :])
    body = tuple([stmt for stmt in kernel.body if stmt is not copy])
    left = replace(launch, buffers=(*launch.buffers[:number], *launch.buffers[number + 1 :]))
    made = replace(kernel, params=params, body=body)
    empty = all(isinstance(stmt, Let) for stmt in body)
    kernels = [made if k is kernel else k for k in program.kernels if not (empty and k is kernel)]
    steps = [left if s is launch else s for s in program.steps if not (empty and s is launch)]
    buffers = [b for b in program.buffers if b.name != row.name]
    assert row.of is not None
    place = [b.name for b in buffers].index(row.of.buffer) + 1
    buffers.insert(place, row)
    done = replace(program, kernels=tuple(kernels), steps=tuple(steps), buffers=tuple(buffers))
    return done, left
