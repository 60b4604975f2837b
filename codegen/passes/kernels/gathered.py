"""Loops that are faster without vector registers: copies of elements at places that are read.

``table[places]`` computes nothing, and to gather elements for a register takes as long as to move
them one after another: with AVX-512 as long for doubles, 1.4 times where places count from the end,
and 2.7 times for elements of a byte, which no processor gathers.
"""

from __future__ import annotations

from symc.codegen.ir import Cast, Expr, Let, Load, Loop, Store, Var
from symc.codegen.passes.walk import nodes


def only_gathers(loop: Loop) -> bool:
    """Whether each iteration copies one element, from a place that it reads."""
    *lets, last = loop.body or (None,)
    if not isinstance(last, Store) or not all(isinstance(stmt, Let) for stmt in lets):
        return False
    values = {let.var.name: let.value for let in lets if isinstance(let, Let)}
    copied = last.value
    while isinstance(copied, Cast) or (isinstance(copied, Var) and copied.name in values):
        copied = copied.x if isinstance(copied, Cast) else values[copied.name]
    if not isinstance(copied, Load):
        return False
    read = [node for node in _parts(copied.index, values) if isinstance(node, Load)]
    return any(loop.var in _parts(place.index, values) for place in read)


def _parts(expr: Expr, values: dict[str, Expr]) -> list[Expr]:
    """The parts of an expression, and of the values of the variables in it."""
    found = list(nodes(expr))
    named = [values[node.name] for node in found if type(node) is Var and node.name in values]
    return [*found, *(part for value in named for part in _parts(value, values))]
