"""Graphs with variables replaced: `givens`, `theano.clone`, and updates that come along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symc.theano.compile.io import In, SymbolicOutput
from symc.theano.compile.sharedvalue import SharedVariable, shared
from symc.theano.gof.graph import Constant, Variable, inputs, io_toposort


def pairs_of(given: Any) -> list[tuple[Any, Any]]:
    """Pairs given as a dict or as a list."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return list(given.items())
    return [(old, new) for old, new in given]


def substituted(
    outputs: Sequence[Any], replace: Sequence[tuple[Any, Any]], strict: bool = True,
    copy_inputs_over: bool = True, fixed: Iterable[Any] = (),
) -> tuple[list[Any], dict[Any, Any]]:  # fmt: skip
    """The outputs with variables replaced, and the replacement of every variable.

    Replacements see earlier replacements, and may not need variables that are replaced after them.
    """
    memo: dict[Any, Any] = {each: each for each in fixed}
    for old, new in replace:
        if not isinstance(old, Variable):
            raise TypeError("theano.function: givens= replaces variables", old)
        if old in memo:
            raise AssertionError(
                "When using 'givens' or 'replace' with several (old_v, new_v) replacement pairs, "
                "you can not have a new_v variable depend on an old_v one. For instance, givens = "
                "{a:b, b:(a+1)} is not allowed. Here, the old_v %s is used to compute other new_v's"
                ", but it is scheduled to be replaced by %s." % (old, new)
            )
        if not isinstance(new, Variable):
            new = shared(new)
        memo[old] = _copied(new, memo, strict, copy_inputs_over)
    return [_copied(each, memo, strict, copy_inputs_over) for each in outputs], memo


def _copied(variable: Any, memo: dict[Any, Any], strict: bool, copy_inputs_over: bool) -> Any:
    for node in io_toposort(list(memo), [variable]):
        if all(each in memo for each in node.outputs):
            continue
        news = [_leaf(each, memo, copy_inputs_over) for each in node.inputs]
        if all(new is old for new, old in zip(news, node.inputs, strict=True)):
            outputs = node.outputs
        else:
            outputs = node.clone_with_new_inputs(news, strict).outputs
        for old, new in zip(node.outputs, outputs, strict=True):
            if old not in memo:
                memo[old] = new
                new.tag, new.name = old.tag, old.name
    return _leaf(variable, memo, copy_inputs_over)


def _leaf(variable: Any, memo: dict[Any, Any], copy_inputs_over: bool) -> Any:
    if variable not in memo:
        same = copy_inputs_over or isinstance(variable, Constant | SharedVariable)
        memo[variable] = variable if same else variable.clone()
    return memo[variable]


def clone(
    output: Any, replace: Any = None, strict: bool = True, share_inputs: bool = True,
    copy_inputs: Any = None,
) -> Any:  # fmt: skip
    """The output(s) with variables replaced."""
    if copy_inputs is not None:
        share_inputs = copy_inputs
    outs = list(output) if isinstance(output, list | tuple) else [output]
    if not all(isinstance(each, Variable) for each in outs):
        raise TypeError("theano.clone: outputs must be variables", outs)
    # By way of new variables: what replaces a variable may itself depend on the outputs.
    pairs = pairs_of(replace)
    holes = [old.type() if isinstance(old, Variable) else old for old, _ in pairs]
    olds, news = [old for old, _ in pairs], [new for _, new in pairs]
    found, _ = substituted(outs, list(zip(olds, holes, strict=True)), strict, share_inputs)
    found, _ = substituted(found, list(zip(holes, news, strict=True)), strict)
    return found if isinstance(output, list | tuple) else found[0]


def checked_updates(updates: Any) -> list[tuple[Any, Any]]:
    """Updates as pairs of a shared variable and a new value of its type."""
    if isinstance(updates, list | tuple) and any(
        not isinstance(pair, tuple | list) or len(pair) != 2 for pair in updates
    ):
        raise ValueError("The updates parameter must be an OrderedDict/dict or a list of pairs")
    found: dict[Any, Any] = {}
    for target, new in pairs_of(updates):
        if not isinstance(target, SharedVariable):
            raise TypeError("update target must be a SharedVariable", target)
        if target in found:
            raise ValueError(
                "this shared variable already has an update expression", (target, found[target])
            )
        found[target] = of_target(target, new)
    return list(found.items())


def of_target(target: Any, new: Any) -> Any:
    """A new value of the type of the shared variable. Raises TypeError where it is none."""
    try:
        if not isinstance(new, Variable):
            new = target.type.filter_variable(new, allow_convert=False)
        return target.type.filter_variable(new, allow_convert=False)
    except TypeError:
        text = (
            "An update must have the same type as the original shared variable (shared_var="
            f"{target}, shared_var.type={target.type}, update_val={new}, update_val.type="
            f"{getattr(new, 'type', None)})."
        )
        hint = " If the difference is related to the broadcast pattern, you can call the "
        hint += "tensor.unbroadcast(var, axis1, ...) function to remove broadcastable dimensions."
        raise TypeError(text + hint) from None


def with_default_updates(
    outputs: Sequence[Any], pairs: list[tuple[Any, Any]], no_default_updates: Any, hidden: Any = ()
) -> list[tuple[Any, Any]]:
    """The updates with those that shared variables bring along, unless these are not wanted."""
    if isinstance(no_default_updates, bool):
        if no_default_updates:
            return pairs
        unwanted: list[Any] = []
    elif isinstance(no_default_updates, list):
        unwanted = no_default_updates
    else:
        raise TypeError("no_default_update should be either a boolean or a list")
    found = dict(pairs)
    pending = [*outputs, *(new for _, new in pairs), *(target for target, _ in pairs)]
    while pending:
        leaves = inputs(pending, hidden)
        pending = []
        for leaf in leaves:
            update = getattr(leaf, "default_update", None)
            if update is None or leaf in found or leaf in unwanted:
                continue
            found[leaf] = of_target(leaf, update)
            pending.append(found[leaf])
    return list(found.items())


def rebuild_collect_shared(
    outputs: Any, inputs: Any = None, replace: Any = None, updates: Any = None,
    rebuild_strict: bool = True, copy_inputs_over: bool = True, no_default_updates: Any = False,
) -> Any:  # fmt: skip
    """Inputs, outputs and updates with variables replaced: Theano's low-level form of `clone`."""
    ins = [each.variable if isinstance(each, In) else each for each in inputs or []]
    outs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    plain = [each.variable if isinstance(each, SymbolicOutput) else each for each in outs]
    pairs = with_default_updates(plain, checked_updates(updates or []), no_default_updates)
    fixed = ins if copy_inputs_over else ()
    roots = [*plain, *(new for _, new in pairs)]
    found, memo = substituted(roots, pairs_of(replace), rebuild_strict, copy_inputs_over, fixed)
    clones, news = found[: len(plain)], found[len(plain) :]
    made_ins = [memo.get(each, each) for each in ins]
    targets = [target for target, _ in pairs]
    shared_inputs = [each for each in memo if isinstance(each, SharedVariable)]
    result = clones if isinstance(outputs, list | tuple) else clones[0]
    new_by = dict(zip(targets, news, strict=True))
    return made_ins, result, [memo, new_by, list(new_by.items()), shared_inputs]
