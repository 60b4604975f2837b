"""Matrices that stay the same in all steps, and are multiplied transposed: turned before the loop.

    each step    h @ w.T         w_turned = copy(w.T)     each step    h @ w_turned

BLAS packs the right matrix for every product. Of a transposed one it reads columns, for which it
needs 1.1 to 1.9 times as long where the left one has few rows: a batch, as in the gradients of
recurrent networks. The copy takes as long as some steps gain. Sums may be rounded otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.codegen.record import replace
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild, walk
from symc.loops.body import Body, slot
from symc.loops.scan import Scan
from symc.tensor.copies import Copy
from symc.tensor.lengths import dim_of
from symc.tensor.matrix_product import MatMul, is_blas
from symc.tensor.views import swapaxes

FEW = 3  # steps in which a copy does not pay


def turn_before(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots with loops whose products read such matrices as they lie in memory."""
    order = walk(roots)
    if not any(isinstance(node.op, Scan) for node in order):
        return list(roots)
    known: dict[Any, tuple[Body, tuple[Tensor, ...]]] = {}
    done: dict[Tensor, Tensor] = {}
    for node in order:
        args = tuple([done[arg] for arg in node.args])
        done[node] = rebuild(node, args)
        if not isinstance(node.op, Scan):
            continue
        key = (node.op.common(), *args)
        if key not in known:
            known[key] = _turned(node.op, args, node)
        body, copies = known[key]
        if copies:
            with located_at(node.where):
                done[node] = replace(node.op, body=body)(*args, *copies)
            done[node].name = done[node].name or node.name
    return [done[root] for root in roots]


def _turned(op: Scan, args: Sequence[Tensor], where: Tensor) -> tuple[Body, tuple[Tensor, ...]]:
    """The body with further slots for turned matrices, and what is given for them."""
    steps, *_, others = op.split(args)
    slots = op.body.slots
    given = dict(zip(slots[len(slots) - len(others) :], others, strict=True))
    order = walk(op.body.results)
    turned: dict[Tensor, Tensor] = {}
    count = dim_of(steps)
    if not isinstance(count, int) or count > FEW:
        for node in order:
            if _reads_turned(node) and node.args[1] in given:
                matrix = node.args[1]
                number = len(slots) + len(turned)
                lengths = tuple(reversed(matrix.type.shape))
                turned.setdefault(matrix, slot(number, matrix.dtype, lengths, matrix.name))
    if not turned:
        return op.body, ()
    done: dict[Tensor, Tensor] = {}
    for node in order:
        changed = [done[arg] for arg in node.args]
        if _reads_turned(node) and node.args[1] in turned:
            with located_at(node.where):
                done[node] = replace(node.op, trans_b=False)(changed[0], turned[node.args[1]])
        else:
            done[node] = rebuild(node, changed)
    results = tuple([done[result] for result in op.body.results])
    with located_at(where.where):
        copies = tuple([Copy(0)(swapaxes(given[matrix], 0, 1)) for matrix in turned])
    return Body((*slots, *turned.values()), results), copies


def _reads_turned(node: Tensor) -> bool:
    """Whether a node is a product by BLAS of a matrix with another, transposed one."""
    op = node.op
    if not isinstance(op, MatMul) or not op.trans_b or node.ndim != 2:
        return False
    return is_blas(node.dtype) and not op.is_small(node)
