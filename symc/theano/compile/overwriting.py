"""What a call leaves in its arguments: the results of ops that overwrite what they are given.

An op's `destroy_map` says which of its outputs lie in the memory of which inputs. symc computes
into memory of its own, so a call copies into an argument what such ops would have left there. As in
Theano, a function has them only with ``accept_inplace=True``, or where a program's rewrites put
them in; and an elementwise result of an argument that may be overwritten, ``In(x, mutable=True)``,
takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import Any

from symc.codegen.record import replace
from symc.theano.compile.definition import Definition
from symc.theano.compile.sharedvalue import SharedVariable
from symc.theano.gof.fg import InconsistencyError
from symc.theano.gof.graph import Apply, io_toposort
from symc.theano.tensor.elemwise import DimShuffle, Elemwise
from symc.theano.tensor.shaping import Reshape
from symc.theano.tensor.subtensor import IncSubtensor, Subtensor


def check_in_place(made: Definition) -> None:
    """Raises TypeError where an op of the definition overwrites something."""
    for node in _nodes(made):
        if next(_overwritten(node), None) is not None:
            raise TypeError(
                "Graph must not contain inplace operations", node, node.op.destroy_map
            )  # fmt: skip


def with_overwrites(made: Definition) -> Definition:
    """The definition with what calls leave in arguments and in shared variables."""
    left = contents(_nodes(made))
    targets = {target for target, _ in made.updates}
    further = [
        (each, _as(each.type, content))
        for each, content in left.items()
        if isinstance(each, SharedVariable) and each not in targets
    ]
    own: list[tuple[int, Any]] = []
    placed: dict[Any, Any] = {}
    for position, each in enumerate(made.ins):
        content = left.get(each.variable)
        if content is None and each.mutable and each.update is None:
            content = _in_the_place_of(each.variable, made.outputs, placed)
            if content is not None:
                placed[each.variable] = content
        if content is not None:
            own.append((position, _as(each.variable.type, content)))
    return replace(made, updates=(*made.updates, *further), overwrites=tuple(own))


def contents(nodes: Sequence[Apply]) -> dict[Any, Any]:
    """What is in the memory of variables in the end, for those that ops overwrite.

    The nodes are in the order of the graph. Raises `InconsistencyError` where two overwrite the
    same.
    """
    found: dict[Any, Any] = {}
    by: dict[Any, Apply] = {}
    for node in reversed(nodes):
        for place, output in _overwritten(node):
            x = node.inputs[place]
            if by.setdefault(x, node) is not node:
                raise InconsistencyError(f"Multiple destroyers of {x}", [by[x], node])
            if node.outputs[output].type == x.type:
                found[x] = found.get(node.outputs[output], node.outputs[output])
        for output, places in getattr(node.op, "view_map", {}).items():
            content = found.get(node.outputs[output])
            if content is not None and len(places) == 1 and not _copies(node):
                x = node.inputs[places[0]]
                found[x] = _seen_from(node, found.get(x, x), content)
    return found


def _nodes(made: Definition) -> list[Apply]:
    return io_toposort([each.variable for each in made.ins], made.roots)


def _overwritten(node: Apply) -> Iterator[tuple[int, int]]:
    """The inputs that a node overwrites, each with the output that then is in its memory."""
    for output, places in (getattr(node.op, "destroy_map", None) or {}).items():
        for place in places:
            yield place, output


def _copies(node: Apply) -> bool:
    """Whether a reshape has to copy: what it is given lies in memory in another order, or apart."""
    x = node.inputs[0]
    return isinstance(node.op, Reshape) and x.ndim > 1 and not _lies_in_order(x)


def _lies_in_order(x: Any) -> bool:
    """Whether all elements follow each other in memory, if those of arguments do."""
    owner: Any = x.owner
    if owner is None:
        return True
    op = owner.op
    if isinstance(op, DimShuffle):
        kept = [axis for axis in op.new_order if axis != "x"]
        return kept == sorted(kept) and _lies_in_order(owner.inputs[0])
    if isinstance(op, Subtensor):
        rest = list(dropwhile(lambda each: not isinstance(each, slice), op.idx_list))
        in_order = not rest or (
            rest[0].step is None and all(each == slice(None) for each in rest[1:])
        )
        return in_order and _lies_in_order(owner.inputs[0])
    return not isinstance(op, Reshape) or _lies_in_order(owner.inputs[0])


def _seen_from(node: Apply, whole: Any, part: Any) -> Any:
    """A variable whose view by a node has become `part`."""
    op = node.op
    if isinstance(op, Subtensor):
        return IncSubtensor(op.idx_list, set_instead_of_inc=True)(whole, part, *node.inputs[1:])
    if isinstance(op, DimShuffle):
        order = op.new_order
        axes = [order.index(axis) if axis in order else "x" for axis in range(whole.ndim)]
        return part.dimshuffle(axes)
    return part.reshape(whole.shape, ndim=whole.ndim) if isinstance(op, Reshape) else part


def _in_the_place_of(x: Any, outputs: Sequence[Any], placed: dict[Any, Any]) -> Any:
    """The first output that an elementwise op computes of `x` with the type of `x`, or None.

    `placed` has the outputs that other arguments gave their place to: no output is in two places,
    and of two that both read two arguments only one can be computed before these are overwritten.
    """
    if x in outputs:
        return None
    for each in outputs:
        node = each.owner
        if node is None or not isinstance(node.op, Elemwise) or x not in node.inputs:
            continue
        if each.type != x.type or each in placed.values():
            continue
        if not any(v in placed and x in placed[v].owner.inputs for v in node.inputs):
            return each
    return None


def _as(kind: Any, content: Any) -> Any:
    return kind.filter_variable(content)
