"""The rule of `program.py` on the extents of loops that are parts of a strip-mined one.

Such a loop has the extent that its `cut` gives it, whatever the sizes of the program. Both are
computed for some sizes, and must be equal. Where an extent is not known in sizes of the program,
because launches differ or it is read from memory, the interpreter alone compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.ir import Cut, Expr, Kernel, Length, Let, Load, Loop, Program, Strip, Strips, Var
from symc.codegen.meaning.closures import ClosureCompiler
from symc.codegen.passes.strips import extent_of
from symc.codegen.passes.walk import names_in, nodes, statements, substitute
from symc.codegen.verify.expressions import Broken
from symc.codegen.verify.known import Sizes, resolved

_TRIED: tuple[Callable[[int], int], ...] = (
    lambda _: 1,
    lambda _: 7,
    lambda _: 1024,
    lambda _: 99_991,
    lambda place: 5 + 3 * place,
    lambda place: 20_011 + 977 * place,
    lambda place: 3 + 50_021 * (place % 2),
    lambda place: 3 + 50_021 * ((place + 1) % 2),
)
"""Values for the names of an extent, of which this is the place in the alphabet."""


def derived_sizes(program: Program) -> frozenset[str]:
    """The sizes of a program that follow from others."""
    return frozenset(
        size.var.name
        for size in program.sizes
        if size.value is not None and not isinstance(size.value, Length)
    )


def check_cuts(kernel: Kernel, sizes: Sizes, derived: AbstractSet[str]) -> None:
    """Raise `Broken` if the extent of a loop is not what its part in strip-mining makes it.

    `derived` are the sizes of the program that follow from others.
    """
    unknown = {size.name for size in kernel.sizes} - sizes.values.keys()
    values: dict[str, Expr] = {}
    for stmt in statements(kernel.body):
        match stmt:
            case Let(var, value) if var.dtype.is_integer:
                values[var.name] = substitute(value, values)
            case Loop(var, extent, cut=cut):
                values[var.name] = Var(f"{var.name}@", var.dtype)  # a name that no size has
                if cut is not None:
                    sides = [substitute(side, values) for side in (extent, *_wanted(cut))]
                    if all(unknown.isdisjoint(names_in(side)) for side in sides):
                        seen = [resolved(side, sizes.values, sizes.elements) for side in sides]
                        _compare(stmt, seen, sizes.facts, derived)
            case _:
                pass


def _wanted(cut: Cut) -> tuple[Expr, ...]:
    """The extent by a cut; of a strip, its number and that of all strips, too."""
    match cut:
        case Strips():
            return (extent_of(cut),)
        case Strip(number, strips):
            return (extent_of(cut), number, extent_of(strips))


def _compare(
    loop: Loop, sides: Sequence[Expr], facts: tuple[Expr, ...], derived: AbstractSet[str]
) -> None:
    """Raise `Broken` if two extents, in sizes of the program, are different for some sizes."""
    if any(isinstance(node, Load) for expr in sides for node in nodes(expr)):
        return
    names = frozenset[str]().union(*map(names_in, (*sides, *facts)))
    if names & derived:
        return
    given, wanted, *strip = sides
    for tried in _TRIED:
        known = {name: tried(place) for place, name in enumerate(sorted(names))}
        match strip:
            case [Var(name), strips]:  # no strip lies beyond the last
                known[name] %= max(_value(strips, known), 1)
            case _:
                pass
        if not all(_value(fact, known) for fact in facts):
            continue
        has, needs = _value(given, known), _value(wanted, known)
        if has != needs:
            where = ", ".join(f"{name.rstrip('@')} = {n}" for name, n in known.items())
            what = f"{loop.var.name} has {has} iterations, by its cut {needs}"
            raise Broken(loop, what + (f", for {where}" if where else ""))


def _value(expr: Expr, known: Mapping[str, int]) -> int:
    """An expression for these values of names."""
    compiler = ClosureCompiler("", {})
    value = compiler.expr(expr)
    return int(value([known[name] for name in compiler.registers]))
