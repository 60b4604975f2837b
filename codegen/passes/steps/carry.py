"""What one step of a loop stores and the next one loads goes from one to the other in a register.

A loop whose step is a short kernel, ``u[i, j] = f(u[i, j-1], ...)``, would wait in every step for
the memory that it has just written. The kernel gets one more buffer of one element, which the host
keeps in a variable, and loads that instead: from the second step on, or from the first, where what
it loads then can be loaded before the loop. What follows from the number is computed in an order in
which it waits for it as briefly as may be (`waiting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from symc.codegen.blocks import every_step, written
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Alloc,
    Binary,
    Branch,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Param,
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
)
from symc.codegen.passes.expressions.fold import fold
from symc.codegen.passes.kernels.following import varying_sizes
from symc.codegen.passes.kernels.inlined import inlined_kernels, is_short, launched_once
from symc.codegen.passes.steps.waiting import waiting_briefly
from symc.codegen.passes.walk import (
    bound,
    expressions,
    fresh,
    index_names,
    names_in,
    nodes,
    rebuild,
    substitute,
)
from symc.codegen.record import record, replace
from symc.codegen.verify.polynomials import added, polynomial

_ZERO = const(0)


def carry(program: Program) -> Program:
    """The program with what such loops store handed on: a number of each buffer."""
    while (changed := _one_more(program)) is not None:
        program = changed
    return program


def _one_more(program: Program) -> Program | None:
    """The program with one more number handed on in a register, if there is one."""
    short = inlined_kernels(program) & launched_once(program)
    for repeat in every_step(program.steps):
        if isinstance(repeat, Repeat):
            for step in repeat.steps:
                if isinstance(step, Launch) and step.kernel in short:
                    found = _found(program, repeat, step)
                    changed = None if found is None else _with_register(program, step, found)
                    if changed is not None:
                        return changed
    return None


@record
class _Carried:
    """A kernel's only store into a buffer, at `at`, which the next step loads from `index`."""

    store: Store
    at: int
    index: Expr
    step: Var
    """The kernel's name for the number of the step."""
    first: Expr | None
    """The index of the first step's load, in sizes, if that may come before the loop."""


def _found(program: Program, repeat: Repeat, launch: Launch) -> _Carried | None:
    """What a kernel stores in a step of a loop for itself in the next one."""
    kernel = next(kernel for kernel in program.kernels if kernel.name == launch.kernel)
    if not all(isinstance(stmt, Let | Store) for stmt in kernel.body):
        return None
    varying = varying_sizes(program, repeat)
    sizes = list(zip(kernel.sizes, launch.sizes, strict=True))
    counters = [size for size, value in sizes if value == Var(repeat.var)]
    if len(counters) != 1 or counters[0].dtype is not INT64:
        return None
    if any(size != counters[0] and varying & names_in(value) for size, value in sizes):
        return None
    for at, store in enumerate(kernel.body):
        if not isinstance(store, Store) or store.value.dtype.is_only_stored:
            continue
        if not _is_number(program, launch, kernel, store.buffer) and _is_alone(
            program, repeat, launch, kernel, store.buffer
        ):
            index = _carried_index(kernel.body[: at + 1], store, counters[0])
            if index is not None:
                first = _first(kernel.body[:at], index, counters[0])
                early = all(isinstance(step, Launch) for step in repeat.steps)
                return _Carried(store, at, index, counters[0], first if early else None)
    return None


def _first(body: Sequence[Stmt], index: Expr, step: Var) -> Expr:
    """An index in the first step of a loop, names written out."""

    def folded(expr: Expr) -> Expr:
        new = rebuild(expr, folded)
        return fold(new, {}) if isinstance(new, Binary) else new

    return folded(substitute(substitute(index, index_names(tuple(body))), {step.name: _ZERO}))


def _is_number(program: Program, launch: Launch, kernel: Kernel, param: str) -> bool:
    """Whether a buffer is one number, and so in a register already."""
    names = [other.name for other in kernel.params]
    if param not in names:
        return False
    name = launch.buffers[names.index(param)]
    return any(buffer.name == name and not buffer.shape for buffer in program.buffers)


def _is_alone(program: Program, repeat: Repeat, launch: Launch, kernel: Kernel, param: str) -> bool:
    """Whether one store of the kernel is all that a loop does to a buffer."""
    stores = [s for s in kernel.body if isinstance(s, Store) and s.buffer == param]
    names = [other.name for other in kernel.params]
    if len(stores) != 1 or param not in names:
        return False
    buffer = launch.buffers[names.index(param)]
    buffers = {each.name: each for each in program.buffers}
    of = buffers[buffer].of
    if of is not None and varying_sizes(program, repeat) & names_in(of.offset):
        return False  # each step has another row
    whole = _whole(buffers, buffer)
    kernels = {each.name: each for each in program.kernels}
    others = {
        name
        for step in every_step(repeat.steps)
        if isinstance(step, Launch | Routine | PythonCall) and step is not launch
        for name in written(step, kernels.get(step.kernel) if isinstance(step, Launch) else None)
    }
    return all(_whole(buffers, other) != whole for other in others)


def _whole(buffers: Mapping[str, Buffer], name: str) -> str:
    """The buffer that this one is, or is a row of."""
    of = buffers[name].of
    return name if of is None else _whole(buffers, of.buffer)


def _carried_index(body: Sequence[Stmt], store: Store, step: Var) -> Expr | None:
    """The index of a load, before a store, that is the store's index of the step before."""
    values: dict[str, Expr] = {}
    for stmt in body:
        if isinstance(stmt, Let) and stmt.var.dtype is INT64:
            values[stmt.var.name] = substitute(stmt.value, values)
    wanted = polynomial(substitute(store.index, values))
    for load in _loads(body, store.buffer):
        later = substitute(substitute(load.index, values), {step.name: add(step, const(1))})
        reads = any(isinstance(node, Load) for node in nodes(later))
        if not reads and not added(polynomial(later), wanted, -1):
            return load.index
    return None


def _loads(body: Sequence[Stmt], buffer: str) -> Iterator[Load]:
    for stmt in body:
        for expr in expressions(stmt):
            for node in nodes(expr):
                if isinstance(node, Load) and node.buffer == buffer:
                    yield node


def _with_register(program: Program, launch: Launch, found: _Carried) -> Program | None:
    """The program with one more buffer, and the kernel and its launch that use it.

    None if the kernel would be too long to be compiled into the loop.
    """
    kernel = next(kernel for kernel in program.kernels if kernel.name == launch.kernel)
    store = found.store
    dtype = store.value.dtype
    inside = bound(kernel)
    own = fresh(f"{store.buffer}_before", inside)
    taken = {b.name for b in program.buffers} | {size.var.name for size in program.sizes}
    name = fresh(own, taken)
    last, stored = fresh("last", inside), Var(fresh("stored", inside), dtype)
    old, found_last = Load(store.buffer, found.index, dtype), Load(last, _ZERO, dtype)
    choice: tuple[Stmt, ...] = (  # no Select, which reads both, and so waits for the memory
        Alloc(Buffer(last, dtype, (), "local")),
        If(
            Binary("gt", found.step, _ZERO, BOOL),
            (Store(last, _ZERO, Load(own, _ZERO, dtype)),),
            (Store(last, _ZERO, old),),
        ),
    )
    if found.first is not None:
        choice, found_last = (), Load(own, _ZERO, dtype)

    def replaced(expr: Expr) -> Expr:
        return found_last if expr == old else rebuild(expr, replaced)

    body: list[Stmt] = []
    is_named = False
    for stmt in kernel.body[: found.at]:
        if not is_named and old in [node for e in expressions(stmt) for node in nodes(e)]:
            body += choice
            is_named = True
        match stmt:
            case Let(var, value):
                body.append(Let(var, replaced(value)))
            case Store(buffer, index, value):
                body.append(Store(buffer, replaced(index), replaced(value)))
            case _:
                raise AssertionError(stmt)
    if not is_named:
        body += choice
    body += [
        Let(stored, replaced(store.value)),
        Store(store.buffer, store.index, stored),
        Store(own, _ZERO, stored),
        *kernel.body[found.at + 1 :],
    ]
    brief = waiting_briefly(body, found_last, inside)
    changed = replace(kernel, params=(*kernel.params, Param(own, dtype, True)), body=brief)
    if not is_short(changed):
        return None
    given = replace(launch, buffers=(*launch.buffers, name))
    begun = fresh(f"{name}_start", {each.name for each in program.kernels})
    start, begin = _start(kernel, launch, found, begun, Buffer(name, dtype, (), "temp"))
    return replace(
        program,
        buffers=(*program.buffers, Buffer(name, dtype, (), "temp")),
        kernels=(*[changed if each is kernel else each for each in program.kernels], start),
        steps=_replaced_step(program.steps, launch, given, begin),
    )


def _start(
    kernel: Kernel, launch: Launch, found: _Carried, name: str, number: Buffer
) -> tuple[Kernel, Callable[[Expr], Launch]]:
    """A kernel that gives the number its value before the loop, and its launch for so many steps.

    That is what the first step loads, if there is one, or anything.
    """
    dtype = number.dtype
    nothing = Const(0.0 if dtype.is_float else False if dtype is BOOL else 0, dtype)
    own = Param(number.name, dtype, True)
    zero = Store(own.name, _ZERO, nothing)
    if found.first is None:
        return Kernel(name, (own,), (), (zero,)), lambda _: Launch(name, (number.name,), ())
    sizes = {
        size: value
        for size, value in zip(kernel.sizes, launch.sizes, strict=True)
        if size.name in names_in(found.first)
    }
    read = Param(fresh(found.store.buffer, {own.name, *(s.name for s in sizes)}), dtype, False)
    steps = Var(fresh("steps", {own.name, read.name, *(size.name for size in sizes)}))
    place = [param.name for param in kernel.params].index(found.store.buffer)
    load = Store(own.name, _ZERO, Load(read.name, found.first, dtype))
    body = (If(Binary("gt", steps, _ZERO, BOOL), (load,), (zero,)),)
    buffers = (number.name, launch.buffers[place])
    return (
        Kernel(name, (own, read), (steps, *sizes), body),
        lambda extent: Launch(name, buffers, (extent, *sizes.values())),
    )


def _replaced_step(
    steps: Sequence[Step], old: Launch, new: Launch, start: Callable[[Expr], Launch]
) -> tuple[Step, ...]:
    """The steps with another launch, and one before its loop: what lives from one round to the
    next one must exist before them."""
    found: list[Step] = []
    for step in steps:
        match step:
            case Repeat():
                if any(inner is old for inner in step.steps):
                    found.append(start(step.extent))
                found.append(replace(step, steps=_replaced_step(step.steps, old, new, start)))
            case Branch(_, then, otherwise):
                blocks = (then, otherwise)
                one, other = (_replaced_step(block, old, new, start) for block in blocks)
                found.append(replace(step, then=one, otherwise=other))
            case _:
                found.append(new if step is old else step)
    return tuple(found)
