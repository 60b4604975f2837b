"""`map_variables`: graphs with each variable replaced, also within loops and `OpFromGraph`s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symc.codegen.record import replace
from symc.theano.compile.builders import OpFromGraph
from symc.theano.compile.sharedvalue import SharedVariable
from symc.theano.gof.graph import Apply, Constant, inputs, io_toposort
from symc.theano.scan_module.scan_op import Scan, Step


def map_variables(
    replacer: Callable[[Any], Any], graphs: Sequence[Any], additional_inputs: Sequence[Any] = ()
) -> list[Any]:
    """The graphs, in which ``replacer(v)`` stands for each variable v, from inputs to outputs.

    Raises NotImplementedError where an inner graph would get a shared variable with an update.

    >>> import symc.theano as theano
    >>> x, y = theano.tensor.dscalars("x", "y")
    >>> (found,) = map_variables(lambda v: y if v is x else v, [theano.tensor.exp(x)])
    >>> found.owner.inputs
    [y]
    """
    memo: dict[Any, Any] = {each: each for each in additional_inputs}
    for node in io_toposort([], graphs):
        for each in node.inputs:
            if each not in memo:
                memo[each] = replacer(each)
        made = _rebuilt(node, [memo[each] for each in node.inputs], replacer)
        for old, new in zip(node.outputs, made, strict=True):
            memo[old] = replacer(new)
    for each in graphs:
        if each not in memo:
            memo[each] = replacer(each)
    return [memo[each] for each in graphs]


def _rebuilt(node: Apply, news: list[Any], replacer: Callable[[Any], Any]) -> list[Any]:
    match node.op:
        case Scan():
            changed = _mapped_scan(node.op, news, replacer)
        case OpFromGraph():
            changed = _mapped_part(node.op, news, replacer)
        case _:
            changed = None
    if changed is not None:
        return changed
    if all(new is old for new, old in zip(news, node.inputs, strict=True)):
        return list(node.outputs)
    return list(node.clone_with_new_inputs(news).outputs)


def _checked(leaves: Sequence[Any]) -> list[Any]:
    for each in leaves:
        if isinstance(each, SharedVariable) and getattr(each, "update", None) is not None:
            raise NotImplementedError(f"map_variables: {each} has an update, in an inner graph")
    return list(leaves)


def _mapped_scan(op: Scan, news: list[Any], replacer: Callable[[Any], Any]) -> list[Any] | None:
    step = op.step
    ends = [] if step.condition is None else [step.condition]
    symbols = [each for rows in step.rows for each in rows]
    symbols += [each for earlier in step.earlier for each in earlier or ()]
    roots = [*step.outputs, *ends]
    mapped = map_variables(replacer, roots, symbols)
    if all(new is old for new, old in zip(mapped, roots, strict=True)):
        return None
    found = [
        each for each in inputs(mapped, [*symbols, *step.leaves])
        if each not in symbols and not isinstance(each, Constant)
    ]  # fmt: skip
    further = [each for each in dict.fromkeys(found) if each not in step.leaves]
    _checked([*further, *step.leaves])
    changed: Step = replace(
        step, outputs=tuple(mapped[: len(step.outputs)]),
        condition=mapped[-1] if ends else None, leaves=(*step.leaves, *further),
    )  # fmt: skip
    made = Scan(changed, op.counted, op.go_backwards, op.truncate_gradient, op.name)
    results: list[Any] = made(*news, *further, return_list=True)
    return results


def _mapped_part(
    op: OpFromGraph, news: list[Any], replacer: Callable[[Any], Any]
) -> list[Any] | None:
    mapped = map_variables(replacer, op.outputs, op.inputs)
    if all(new is old for new, old in zip(mapped, op.outputs, strict=True)):
        return None
    found = [each for each in inputs(mapped, op.inputs) if not isinstance(each, Constant)]
    _checked(found)
    further = [
        each for each in dict.fromkeys(found)
        if each not in op.inputs and not isinstance(each, SharedVariable)
    ]  # fmt: skip
    made = OpFromGraph([*op.inputs, *further], mapped, op.is_inline, name=op.name, **op.kwargs)
    results: list[Any] = made(*news[: len(op.inputs)], *further, return_list=True)
    return results
