"""The lengths that must be small for the kernels of a device to have 32-bit indexes (`narrow`).

The host tests them before a call: where one is not small, a program with 64-bit indexes runs. The
tests cannot wrap: products stop at 2^60.
"""

from __future__ import annotations

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT32, INT64
from symc.codegen.ir import (
    Binary,
    Cast,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Repeat,
    Strips,
    Var,
    mul,
)
from symc.codegen.passes.walk import expressions, names_in, nodes, parts, statements, substitute
from symc.codegen.record import record

EXACT = frozenset({"floordiv", "mod", "min", "max"})
ORDER = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def lengths_of(program: Program) -> list[Expr]:
    """The lengths that must be small, in the sizes of a program, those of whole arrays apart."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    found: dict[Expr, None] = {}
    for step in every_step(program.steps):
        match step:
            case Launch(kernel, _, sizes):
                names = [size.name for size in kernels[kernel].sizes]
                bound = dict(zip(names, sizes, strict=True))
                asked = (substitute(each, bound) for each in limits(kernels[kernel]))
                found.update((each, None) for each in asked if not _is_from_memory(each))
            case Repeat(extent=extent):
                found[extent] = None
            case _:
                pass
    return list(found)


def narrow_sizes(program: Program) -> list[Var]:
    """The sizes that kernels are given with 32 bits, lengths or not: starts and steps of slices.

    Of a number that does not fit, sums and products are right even so, but no quotient is and no
    comparison. The number of a loop's step is below an extent among `lengths_of`.
    """
    kernels = {kernel.name: kernel for kernel in program.kernels}
    counters = {step.var for step in every_step(program.steps) if isinstance(step, Repeat)}
    found: dict[str, None] = {}
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            for size, value in zip(kernels[step.kernel].sizes, step.sizes, strict=True):
                if size.dtype is INT32 and not names_in(value) & counters:
                    found.update(dict.fromkeys(names_in(value)))
    return [Var(name) for name in found]


def limits(kernel: Kernel) -> list[Expr]:
    """The lengths and products, in the sizes of a kernel, that must be small for it to be narrow.

    Those are the lengths of loops; of lengths that are computed, the products in them; and the
    products in what is divided, compared, or the least or greatest of two. An upper bound of a
    product stands for it where it is not made of sizes alone; one that is no product is small.
    """
    sizes = {size.name for size in kernel.sizes}
    bounds = bounds_of(kernel)
    values = {s.var.name: s.value for s in statements(kernel.body) if isinstance(s, Let)}
    found: dict[Expr, None] = {}

    def look(expr: Expr) -> None:
        pending = [expr]
        named: set[str] = set()
        while pending:
            expr = pending.pop()
            if is_product(expr) and expr.dtype in (INT32, INT64):
                bound = expr if names_in(expr) <= sizes else bound_of(expr, bounds)
                if bound is not None and is_product(bound) and names_in(bound):
                    found[bound] = None
            if isinstance(expr, Var) and expr.name in values and expr.name not in named:
                named.add(expr.name)
                pending.append(values[expr.name])
            pending.extend(parts(expr))

    for stmt in statements(kernel.body):
        if isinstance(stmt, Loop) and not isinstance(stmt.extent, Const):
            if names_in(stmt.extent) <= sizes:
                found[stmt.extent] = None
            look(stmt.extent)
        for expr in expressions(stmt):
            for node in nodes(expr):
                if isinstance(node, Binary) and node.op in EXACT | ORDER:
                    look(node)
    return list(found)


def _is_from_memory(expr: Expr) -> bool:
    """Whether a length depends on a number in memory, which is not known before a call.

    Such a number says where in an array something is, and arrays are small.
    """
    return any(isinstance(node, Load) for node in nodes(expr))


def is_product(expr: Expr) -> bool:
    """Whether an expression is a product."""
    return isinstance(expr, Binary) and expr.op == "mul"


@record
class UpperBounds:
    """What is known of a kernel's indexes, in its sizes."""

    names: dict[str, Expr]
    """Upper bounds of names."""
    starts: dict[Expr, Expr]
    """First iterations of strips, with the number of all iterations: a strip has one at least."""


def bounds_of(kernel: Kernel) -> UpperBounds:
    """Upper bounds of a kernel's names, in its sizes, as far as they are known."""
    bounds = UpperBounds({size.name: size for size in kernel.sizes}, {})
    for stmt in statements(kernel.body):
        if isinstance(stmt, Let | Loop):
            bound = bound_of(stmt.value if isinstance(stmt, Let) else stmt.extent, bounds)
            if bound is not None:
                bounds.names[stmt.var.name] = bound
        if isinstance(stmt, Loop) and isinstance(stmt.cut, Strips):
            bounds.starts[mul(stmt.var, stmt.cut.length)] = stmt.cut.whole
    return bounds


def bound_of(expr: Expr, bounds: UpperBounds) -> Expr | None:
    """An upper bound of an index in which nothing is negative, or None."""
    start = bounds.starts.get(expr)
    if start is not None:
        return bound_of(start, bounds)
    match expr:
        case Const():
            return expr
        case Var(name):
            return bounds.names.get(name)
        case Cast(x) if x.dtype in (INT32, INT64):
            return bound_of(x, bounds)
        case Binary("min", left, right):
            bound = bound_of(left, bounds)
            return bound_of(right, bounds) if bound is None else bound
        case Binary("sub", left):
            return bound_of(left, bounds)
        case Binary("floordiv", left, right):
            match bound_of(left, bounds):
                case Binary("mul", quotient, stride) if stride == right:
                    return quotient
                case None:
                    return None
                case bound if isinstance(right, Const) and right.value > 0:
                    return Binary("floordiv", bound, right, expr.dtype)
                case bound:
                    return bound
        case Binary("mod", _, right):
            return bound_of(right, bounds)
        case Binary("add" | "mul" as op, left, right):
            low, high = bound_of(left, bounds), bound_of(right, bounds)
            match op, low, high:
                case _, None, _:
                    return None
                case _, _, None:
                    return None
                case "mul", Binary("floordiv", whole, length), _ if length == high:
                    return whole
                case _:
                    return Binary(op, low, high, expr.dtype)
        case _:
            return None
