"""Loops that are faster without vector registers: copies of elements at places that are read.

``table[places]`` computes nothing, and to gather elements for a register takes as long as to move
them one after another: with AVX-512 as long for doubles, 1.4 times where places count from the end,
and 2.7 times for elements of a byte, which no processor gathers.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.ir import Cast, Expr, Let, Load, Loop, Store, Var
from symc.codegen.passes.walk import index_names, nodes, substitute


def only_gathers(loop: Loop) -> bool:
    """Whether each iteration copies an element, or the parts of one, from a place that it reads."""
    values = {stmt.var.name: stmt.value for stmt in loop.body if isinstance(stmt, Let)}
    stores = [stmt for stmt in loop.body if isinstance(stmt, Store)]
    if not stores or len(values) + len(stores) != len(loop.body):
        return False
    return all(_is_gathered(store.value, values, loop) for store in stores)


def _is_gathered(copied: Expr, values: Mapping[str, Expr], loop: Loop) -> bool:
    """Whether this is an element at a place that an iteration reads for itself."""
    while isinstance(copied, Cast) or (isinstance(copied, Var) and copied.name in values):
        copied = copied.x if isinstance(copied, Cast) else values[copied.name]
    if not isinstance(copied, Load):
        return False
    index = substitute(copied.index, index_names(loop.body))
    places = [node for node in nodes(index) if isinstance(node, Load)]
    return any(loop.var in nodes(place.index) for place in places)
