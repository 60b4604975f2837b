"""Products of rows of sequences leave the loop: one product of all rows, before it.

``dot(x[t], w)`` needs nothing that the loop computes. For all steps at once it is one product of
large matrices, which takes a fraction of the time of many small ones.
"""

from __future__ import annotations

from symc.derivatives.batch import batch
from symc.errors import NotBatchable
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.build import Reading, row_of
from symc.loops.opened import OpenLoop, is_free
from symc.loops.scan import Rows
from symc.tensor.lengths import tensor_of
from symc.tensor.matrix_product import MatMul, MatVec


def is_product(node: Tensor) -> bool:
    """Whether a node is worth to be computed for all steps at once."""
    return isinstance(node.op, MatMul | MatVec) and node.dtype.is_float


def hoist(loop: OpenLoop) -> None:
    """Moves products of rows of sequences out of a loop."""
    if loop.condition is not None or not any(map(is_product, walk(loop.results()))):
        return
    for node, slots in _found(loop).items():
        made = _outside(loop, node, slots)
        if made is not None:
            loop.reads.append(made)
            loop.replace({node: made.slots[0]})


def _found(loop: OpenLoop) -> dict[Tensor, list[Tensor]]:
    """The outermost products that depend on sequences alone, and the slots that each needs."""
    order = walk(loop.results())
    readings = {slot for read in loop.reads for slot in read.slots}
    moving = {loop.plan.step, *loop.slots()}
    from_rows: set[Tensor] = set()
    for node in order:
        varying = [arg for arg in node.args if arg in moving]
        if varying:
            moving.add(node)
            if all(arg in readings or arg in from_rows for arg in varying) and is_free(node):
                from_rows.add(node)
    found: dict[Tensor, list[Tensor]] = {}
    for node in walk(loop.results(), stop=lambda node: node in from_rows and is_product(node)):
        if node in from_rows and is_product(node):
            found[node] = [part for part in walk([node]) if part in readings]
    return found


def _outside(loop: OpenLoop, node: Tensor, slots: list[Tensor]) -> Reading | None:
    """The reading of the rows that the product of all rows has."""
    of_slot = {slot: read for read in loop.reads for slot in read.slots}
    backwards = of_slot[slots[0]].rows.backwards
    arrays: dict[Tensor, Tensor] = {}
    for slot in slots:
        rows = loop.rows_read(of_slot[slot], slot)
        arrays[slot] = rows if of_slot[slot].rows.backwards == backwards else rows[::-1]
    try:
        array = batch([node], arrays, tensor_of(loop.done))[0]
    except NotBatchable:
        return None
    return Reading(array, Rows((0,), backwards), (row_of(array, node.name),))
