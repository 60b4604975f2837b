"""Views into and out of loops, branches and routines, which look at memory instead of copying it.

These read and write whole buffers. A state of length 1 in front of a loop's arguments (``x[None]``)
and the last value of its results (``xs[0]``) have the elements of the arrays they are made from, in
the same order: they are that memory under another shape. So has a picture that a convolution takes
for a batch of one.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen import ir
from symc.graph.dims import Dim
from symc.graph.formulas import own_index
from symc.graph.lowering import At, HostCall, LibCall
from symc.graph.node import Tensor
from symc.graph.open_formulas import only_element
from symc.tensor.copies import Copy
from symc.tensor.elementwise import Elementwise
from symc.tensor.positions import Fitted
from symc.tensor.reshape import Reshape
from symc.tensor.specify import SpecifyShape


def views(order: Sequence[Tensor], roots: Sequence[Tensor]) -> set[Tensor]:
    """The nodes that look at the memory of their first argument, but for reshapes."""
    likely = {node for node in order if _has_lengths_of_argument(node)}
    readers = [node for node in order if not likely.isdisjoint(node.args)]
    wanted = {arg for node in readers if has_whole_buffers(node) for arg in node.args}
    wanted -= set(roots)
    return {node for node in likely if is_result_view(node) or (node in wanted and is_view(node))}


def has_whole_buffers(node: Tensor) -> bool:
    """Whether a node is computed from buffers and into one: a loop, a branch or a routine."""
    if node.op.is_control:
        return True
    if not node.args or isinstance(node.op, Elementwise):
        return False
    return isinstance(node.op.lower(node, _length), LibCall | HostCall)


def _has_lengths_of_argument(node: Tensor) -> bool:
    """Whether a node has the lengths of its first argument, but for some of 1.

    It is a condition that those have them which say what lengths another tensor has.
    """
    if not node.args:
        return False
    if isinstance(node.op, SpecifyShape | Fitted):
        return True
    own, given = node.type.shape, node.args[0].type.shape
    return [n for n in own if n != 1] == [n for n in given if n != 1]


def memory_read(node: Tensor) -> Sequence[Tensor]:
    """The arguments of a loop or branch that are read: of others it needs the lengths alone."""
    if not node.op.is_control:
        return node.args
    from symc.loops.reads import elements_read  # late: most programs have no loops or branches

    return elements_read(node)


def has_memory_of_argument(node: Tensor) -> bool:
    """Whether a node looks at memory, whoever reads it."""
    return isinstance(node.op, Reshape) or is_result_view(node)


def is_result_view(node: Tensor) -> bool:
    """Whether a node is a view of a result of a loop, a branch or a routine."""
    return _has_lengths_of_argument(node) and has_whole_buffers(node.args[0]) and is_view(node)


def is_view(node: Tensor) -> bool:
    """Whether a node has the elements of its first argument, all of them in their order."""
    if not node.args or node.dtype is not node.args[0].dtype or isinstance(node.op, Copy):
        return False
    if not node.args[0].args and not node.args[0].ndim:
        return False  # a number that is given need not be in memory, or not in a device's
    if isinstance(node.op, SpecifyShape | Fitted):
        return True
    lowering = node.op.lower(node, _length)
    if not isinstance(lowering, At):
        return False
    own = own_index(node.ndim)
    index = [ir.const(0) if d == 1 else i for d, i in zip(node.type.shape, own, strict=True)]
    read = only_element(lowering.element, tuple(index))
    if read is None:
        return False
    long = [(dim, i) for dim, i in zip(node.type.shape, own, strict=True) if dim != 1]
    axes = zip(node.args[0].type.shape, read, strict=True)
    return [(dim, i) for dim, i in axes if dim != 1] == long


def _length(dim: Dim) -> ir.Expr:
    return ir.const(dim) if isinstance(dim, int) else ir.Var(f"({dim!r})")
