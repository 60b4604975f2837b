"""Single steps of a program as C statements; `functions.py` prints blocks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen.emit.expressions import SHIFT, UNARY
from symc.codegen.ir import (
    Binary,
    Branch,
    Check,
    Const,
    Expr,
    Launch,
    Load,
    Measure,
    Pointer,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Step,
    Var,
    binary,
    const,
)
from symc.codegen.passes.walk import collect, rebuild
from symc.codegen.status import Status
from symc.codegen.targets.host.writer import bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.targets.host.writer import HostWriter

OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def emit_step(host: HostWriter, step: Launch | Routine | PythonCall | Check | Measure) -> None:
    """The statements of one step that has no others inside."""
    match step:
        case Launch():
            host.dialect.launch(host, step)
        case Routine():
            host.dialect.routine(host, step)
        case PythonCall():
            emit_python_call(host, step)
        case Check(condition, code, note):
            host.fail(negated(host, readable(host, condition)), code, note)
        case Measure(size, buffer):
            host.put(f"const int64_t {host.printer.vars[size]} = {first_element(host, buffer)};")
        case _:
            assert_never(step)


def negated(host: HostWriter, condition: Expr) -> str:
    """The text of the opposite of a condition."""
    match condition:
        case Binary(op, left, right) if op in OPPOSITE and left.dtype.kind == "int":
            turned = binary(OPPOSITE[op], left, right)  # type: ignore[arg-type]
            return host.printer.text(turned)
        case _:
            return "!" + host.printer.text(condition, UNARY)


def first_element(host: HostWriter, buffer: str) -> str:
    """The first element of an array, copied to a variable of the host if need be."""
    name, array = host.printer.buffers[buffer], host.buffers[buffer]
    if host.dialect.is_readable(array):
        return f"{name}[0]"
    value = host.printer.vars[host.printer.fresh(f"{name}_value")]
    host.put(f"{host.kind(array.dtype)} {value};")
    host.dialect.read(host, Pointer(buffer, const(0)), value)
    return value


def readable(host: HostWriter, condition: Expr) -> Expr:
    """The condition with variables for the elements that the host cannot read where they are."""
    loads: list[Load] = []
    collect(condition, [], loads)
    names: dict[str, Var] = {}
    for load in loads:
        if not host.dialect.is_readable(host.buffers[load.buffer]) and load.buffer not in names:
            names[load.buffer] = Var(f"{load.buffer}:value", load.dtype)
            host.printer.vars[names[load.buffer].name] = first_element(host, load.buffer)

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.buffer in names:
            return names[expr.buffer]
        return rebuild(expr, visit)

    return visit(condition) if names else condition


def routine_arguments(host: HostWriter, routine: Routine) -> list[str]:
    """The addresses and numbers that a routine is given."""
    return [
        host.address(arg) if isinstance(arg, Pointer) else host.printer.text(arg, SHIFT)
        for arg in routine.args
    ]


def emit_python_call(host: HostWriter, step: PythonCall) -> None:
    """A call of a function in Python."""
    if host.dialect.reports:
        host.announce(f"{step.name}, on the host  {step.note}")
    host.remark(step.note)
    arguments = ", ".join(["call->context", str(step.number), *regions(host, step.args)])
    host.fail(f"call->host({arguments})", Status.STOPPED, f"{step.name} has raised an exception")


def regions(host: HostWriter, args: Sequence[Region | Const]) -> tuple[str, str]:
    """Tables of the addresses and of the lengths of arrays."""
    arrays: list[str] = []
    lengths: list[str] = []
    for arg in args:
        if isinstance(arg, Region):
            arrays.append(host.address(arg.pointer))
            lengths += [host.printer.text(length) for length in arg.shape]
        else:
            arrays.append(constant_array(host, arg))
    return (
        f"(const void *const[]){{{', '.join(arrays)}}}",
        f"(const int64_t[]){{{', '.join(lengths) or '0'}}}",
    )


def constant_array(host: HostWriter, constant: Const) -> str:
    """The address of a number; of the two parts of a complex one."""
    values, kind = [constant.value], constant.dtype
    if kind.is_complex:
        number = complex(constant.value)
        values, kind = [number.real, number.imag], kind.component
    parts = ", ".join(host.printer.text(Const(value, kind)) for value in values)
    return f"({host.kind(kind)}[]){{{parts}}}"


def step_expressions(host: HostWriter, step: Step) -> Sequence[Expr]:
    """Every expression over sizes that the text of a step may contain."""
    match step:
        case Launch(kernel):
            return [*step.sizes, *bound(host, step, host.dialect.launch_sizes(kernel))]
        case Routine(_, args):
            return [arg.offset if isinstance(arg, Pointer) else arg for arg in args]
        case PythonCall(_, _, args):
            found = [arg for arg in args if isinstance(arg, Region)]
            return [expr for arg in found for expr in (arg.pointer.offset, *arg.shape)]
        case Check(condition):
            return [condition]
        case Repeat(extent=extent):
            return [extent]
        case Measure() | Branch():
            return []
        case _:
            assert_never(step)
