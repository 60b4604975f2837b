"""Matrices that stay the same in all steps, and are multiplied, are copied before the loop.

    each step    h @ w.T         w_turned = copy(w.T)     each step    h @ w_turned
    each step    h @ w           w_aligned = copy(w)      each step    h @ w_aligned

BLAS packs the right matrix for every product. Of a transposed one it reads columns, for which it
needs 1.1 to 1.9 times as long where the left one has few rows: a batch, as in the gradients of
recurrent networks. The copy takes as long as some steps gain. Sums may be rounded otherwise.

With so few rows the kernels of BLAS may also read the matrix where it lies, vector by vector. What
a caller gives begins anywhere, mostly 16 bytes after a line of the cache, and then every vector is
of two lines, which takes 1.2 times as long. Copies begin with a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symc.codegen.record import replace
from symc.graph.inputs import Input, Shared
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
    copied: dict[tuple[Tensor, bool], Tensor] = {}
    count = dim_of(steps)
    if not isinstance(count, int) or count > FEW:
        for node in order:
            key = _read_better_copied(node, given)
            if key is not None and key not in copied:
                matrix, is_turned = key
                lengths = tuple(reversed(matrix.type.shape)) if is_turned else matrix.type.shape
                number = len(slots) + len(copied)
                copied[key] = slot(number, matrix.dtype, lengths, matrix.name)
    if not copied:
        return op.body, ()
    done: dict[Tensor, Tensor] = {}
    for node in order:
        changed = [done[arg] for arg in node.args]
        key = _read_better_copied(node, given)
        if key is not None and key in copied:
            with located_at(node.where):
                done[node] = replace(node.op, trans_b=False)(changed[0], copied[key])
        else:
            done[node] = rebuild(node, changed)
    results = tuple([done[result] for result in op.body.results])
    with located_at(where.where):
        copies = tuple(
            [
                Copy(0)(swapaxes(given[matrix], 0, 1) if is_turned else given[matrix])
                for matrix, is_turned in copied
            ]
        )
    return Body((*slots, *copied.values()), results), copies


def _read_better_copied(node: Tensor, given: Mapping[Tensor, Tensor]) -> tuple[Tensor, bool] | None:
    """The matrix by which a node multiplies with BLAS, if a copy suits it; whether to turn it."""
    op = node.op
    if not isinstance(op, MatMul) or node.ndim != 2 or not is_blas(node.dtype) or op.is_small(node):
        return None
    matrix = node.args[1]
    if matrix not in given or not (op.trans_b or isinstance(given[matrix].op, Input | Shared)):
        return None
    return matrix, op.trans_b
