"""Code moved after the loop, where only an output needs it: products, and sequences' rows.

``dot(g[t], w.T)``, as in the gradient of a sequence: the loop gives g instead, and one product of
all rows comes after it, unless it is a vector made of a matrix that would be kept for it in each
step. Rows that are read to be given are those of the sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from symc.derivatives.batch import batch
from symc.errors import NotBatchable
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.build import Reading
from symc.loops.hoist import is_product
from symc.loops.opened import Get, OpenLoop, is_free
from symc.loops.scan import Part
from symc.tensor.lengths import tensor_of
from symc.tensor.slices import Slice
from symc.tensor.spans import WHOLE
from symc.tensor.views import expand_dims


def postpone(loop: OpenLoop) -> None:
    """Takes products that no step reads out of a loop."""
    if loop.condition is not None:
        return
    moving = {loop.plan.step, *loop.slots()}
    for node in walk(loop.results()):
        if any(arg in moving for arg in node.args):
            moving.add(node)
    for number, node in enumerate(list(loop.collected)):
        part = Part("collected", number)
        if part not in loop.wanted or not is_product(node) or not is_free(node):
            continue
        others = [carry.result for carry in loop.carries.values()]
        others += [other for n, other in enumerate(loop.collected) if n != number]
        leaves = [arg for arg in node.args if arg in moving]
        if node in walk(others) or not leaves or not _is_batchable(node, leaves):
            continue
        if any(_is_large(leaf, node, loop) for leaf in leaves):
            continue
        turned = number in loop.reverse
        rows = {leaf: loop.gather(leaf, turned) for leaf in leaves}
        loop.follow(part, partial(_product_of_all, loop, node, rows))


def _is_large(leaf: Tensor, product: Tensor, loop: OpenLoop) -> bool:
    """Whether a factor would be kept for all steps, of which the product is a small part.

    As a matrix that each step changes, of which a vector is made: all of them would be written to
    memory, and read again for products that are no fewer. Rows of sequences are there in any case.
    """
    is_there = isinstance(loop.slots().get(leaf), Reading) or leaf in loop.collected
    return not is_there and leaf.ndim > max(product.ndim, 1)


def pass_on(loop: OpenLoop) -> None:
    """Takes rows of sequences that are outputs as they are out of a loop."""
    if loop.condition is not None:
        return
    slots = loop.slots()
    for number, node in enumerate(loop.collected):
        part, row = Part("collected", number), _without_whole_slices(node)
        if part in loop.wanted and isinstance(slots.get(row), Reading):
            loop.follow(part, loop.gather(row, number in loop.reverse))


def _without_whole_slices(node: Tensor) -> Tensor:
    """``x`` of ``x[:]``, which are the rows of a loop in a step of this one."""
    while isinstance(node.op, Slice) and all(entry == WHOLE for entry in node.op.entries):
        node = node.args[0]
    return node


def _is_batchable(node: Tensor, leaves: list[Tensor]) -> bool:
    try:
        batch([node], {leaf: expand_dims(leaf, 0) for leaf in leaves}, tensor_of(1))
    except NotBatchable:
        return False
    return True


def _product_of_all(
    loop: OpenLoop, node: Tensor, rows: dict[Tensor, Callable[[Get], Tensor]], get: Get
) -> Tensor:
    arrays = {leaf: found(get) for leaf, found in rows.items()}
    return batch([node], arrays, tensor_of(loop.done))[0]
