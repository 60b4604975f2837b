"""exact: truth values of the caller's are made 0 or 1 where a loop's arrays begin with them.

    copy_bytes(D, A, n*n)                          exact_kernel(A, D; n*n): D[i] = bool(A[i])
    repeat step: kernel(D): D[i] = D[i] | D[j]     repeat step: kernel(D): D[i] = D[i] | D[j]

The logic of a step need not ask any more which bytes are true (`kernels/exact_bools.py`).
"""

from __future__ import annotations

from symc.codegen.blocks import repeated_kernels
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Const,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Param,
    Pointer,
    Program,
    Routine,
    Step,
    Store,
    Var,
)
from symc.codegen.passes.kernels.exact_bools import exact_params, is_of_exact_bytes
from symc.codegen.passes.walk import fresh, statements
from symc.codegen.record import replace

KERNEL = "exact_kernel"


def exact(program: Program) -> Program:
    """The program with such copies, where a step's logic is of bytes by them."""
    bools = {buffer.name for buffer in program.buffers if buffer.dtype is BOOL}
    copies = [step for step in program.steps if _is_copy(step, bools)]
    if not copies or not _gains(program, copies):
        return program
    name = fresh(KERNEL, {kernel.name for kernel in program.kernels})
    steps = tuple(_launch(name, step) if step in copies else step for step in program.steps)
    return replace(program, kernels=(*program.kernels, _kernel(name)), steps=steps)


def _is_copy(step: Step, bools: set[str]) -> bool:
    """Whether a step copies truth values, from the beginning of an array to that of another."""
    match step:
        case Routine("copy_bytes", (Pointer(to, Const(0)), Pointer(source, Const(0)), count)):
            return {to, source} <= bools and not isinstance(count, Pointer)
        case _:
            return False


def _gains(program: Program, copies: list[Step]) -> bool:
    """Whether a loop's kernels have logic of bytes that they have not without such copies."""
    before, after = exact_params(program), exact_params(program, copies)
    repeated = repeated_kernels(program)
    for kernel in program.kernels:
        now, then = before.get(kernel.name, frozenset()), after.get(kernel.name, frozenset())
        if kernel.name not in repeated or now == then:
            continue
        for stmt in statements(kernel.body):
            # any variable but the loops' is taken for one of the row
            if isinstance(stmt, Store) and is_of_exact_bytes(stmt.value, then, _varying(kernel)):
                return True
    return False


def _varying(kernel: Kernel) -> set[str]:
    """The variables of a kernel's loops."""
    return {stmt.var.name for stmt in statements(kernel.body) if isinstance(stmt, Loop)}


def _launch(name: str, step: Step) -> Step:
    """The launch instead of a copy."""
    match step:
        case Routine(args=(Pointer(to), Pointer(source), count)) if not isinstance(count, Pointer):
            return Launch(name, (source, to), (count,))
        case _:
            raise AssertionError(step)


def _kernel(name: str) -> Kernel:
    """The kernel: what is named has been asked whether it is true."""
    i, count, x = Var("i", INT64), Var("n", INT64), Var("truth", BOOL)
    body = Let(x, Load("x", i, BOOL)), Store("out", i, x)
    params = Param("x", BOOL, written=False), Param("out", BOOL, written=True)
    loop = Loop(i, count, "parallel", body)
    return Kernel(name, params, (count,), (loop,), "bytes that are not 0 are 1")
