"""Arrays of truth values of which each byte is 0 or 1, since only the program writes to them.

A bool of the caller's may be any byte, and gcc's bools of memory are taken for what comparisons
give only after a test (`Lang.truth`). Where all that meets is exact, ``&``, ``|`` and ``^`` are
those of the bytes: no test, and as many numbers in a vector register as it has bytes.

What a program writes is exact, but for what it copies as it is. So this follows copies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from symc.codegen.blocks import every_step, written
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Cast,
    Expr,
    Kernel,
    Launch,
    Load,
    Pointer,
    Program,
    PythonCall,
    Routine,
    Step,
    Store,
    Var,
)
from symc.codegen.passes.kernels.memory import wholes
from symc.codegen.passes.walk import names_in, statements

LOGIC = frozenset({"and", "or", "xor"})

UNKNOWN = ""  # a source that may hold any bytes: no buffer has this name


def exact_bools(program: Program, mended: Collection[Step] = ()) -> frozenset[str]:
    """The buffers of truth values that hold only 0 and 1; steps in `mended` would copy as such."""
    whole = wholes(program)
    exact = {
        buffer.name
        for buffer in program.buffers
        if buffer.dtype is BOOL and buffer.role in ("temp", "output") and not buffer.given
    }
    if not exact:
        return frozenset()
    kernels = {kernel.name: kernel for kernel in program.kernels}
    flows = {name: _copied(kernel) for name, kernel in kernels.items()}
    sources: dict[str, set[str]] = {}
    for step in every_step(program.steps):
        if step not in mended:
            for target, source in _writes(step, kernels, flows):
                sources.setdefault(whole.get(target, target), set()).add(whole.get(source, source))
    pending = True
    while pending:
        left = {name for name in exact if sources.get(name, set()) <= exact}
        pending, exact = left != exact, left
    rows = {buffer.name for buffer in program.buffers if whole.get(buffer.name) in exact}
    return frozenset(exact | rows)


def exact_params(program: Program, mended: Collection[Step] = ()) -> dict[str, frozenset[str]]:
    """For each kernel, its parameters that are such buffers in all its launches."""
    exact = exact_bools(program, mended)
    kernels = {kernel.name: kernel for kernel in program.kernels}
    found: dict[str, frozenset[str]] = {}
    for step in every_step(program.steps) if exact else ():
        if isinstance(step, Launch):
            pairs = zip(kernels[step.kernel].params, step.buffers, strict=True)
            names = frozenset(param.name for param, buffer in pairs if buffer in exact)
            found[step.kernel] = found.get(step.kernel, names) & names
    return found


def is_of_exact_bytes(value: Expr, exact: Collection[str], varying: Collection[str] | None) -> bool:
    """Whether a value is logic of elements of exact arrays, and of nothing that compares.

    `varying` has the variables that are others in each lane of a vector register; None: all may be.
    """
    if not isinstance(value, Binary):
        return False
    stack: list[Expr] = [value]
    loads = False
    while stack:
        node = stack.pop()
        match node:
            case Binary(op, left, right) if op in LOGIC and left.dtype is BOOL is right.dtype:
                stack += (left, right)
            case Load(buffer, index, dtype) if dtype is BOOL and buffer in exact:
                loads |= varying is None or not names_in(index).isdisjoint(varying)
            case Var(name) if varying is not None and name not in varying:
                pass
            case _:
                return False
    return loads


def _writes(
    step: Step, kernels: dict[str, Kernel], flows: dict[str, dict[str, set[str]]]
) -> Iterable[tuple[str, str]]:
    """The arrays that a step writes, each with those it copies elements of as they are."""
    match step:
        case Launch(kernel, buffers):
            names = {p.name: b for p, b in zip(kernels[kernel].params, buffers, strict=True)}
            for target, sources in flows[kernel].items():
                for source in sources:
                    yield names[target], names.get(source, UNKNOWN)
        case Routine("copy_bytes", (Pointer(target), Pointer(source), _)):
            yield target, source
        case Routine() | PythonCall():
            yield from ((target, UNKNOWN) for target in written(step, None))
        case _:
            pass


def _copied(kernel: Kernel) -> dict[str, set[str]]:
    """For the parameters that a kernel writes bools to: those it copies them from as they are."""
    params = {param.name for param in kernel.params}
    flows: dict[str, set[str]] = {}
    for stmt in statements(kernel.body):
        match stmt:
            case Store(name, _, value) | Accumulate(name, value=value) if value.dtype is BOOL:
                flows.setdefault(name, set()).update(_as_they_are(value))
            case Alloc(buffer, value) if value is not None and value.dtype is BOOL:
                flows.setdefault(buffer.name, set()).update(_as_they_are(value))
            case _:
                pass
    inner = [name for name in flows if name not in params]
    for name in inner:  # what comes by way of a local comes from where that is from
        through = flows.pop(name) - {name}
        for sources in flows.values():
            if name in sources:
                sources.remove(name)
                sources |= through
    return flows


def _as_they_are(value: Expr) -> set[str]:
    """The arrays whose elements a truth value may be, byte by byte: logic asks what they are."""
    found: set[str] = set()
    stack = [value]
    while stack:
        match stack.pop():
            case Load(name):
                found.add(name)
            case Cast(x) if x.dtype is BOOL:
                stack.append(x)
            case _:
                pass
    return found
