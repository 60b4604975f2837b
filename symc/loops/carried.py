"""Shared variables that a loop changes: they become states of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symc.errors import BadUpdate
from symc.graph.inputs import SharedVariable, advanced
from symc.graph.node import Tensor
from symc.graph.provenance import warn
from symc.graph.types import to_numpy
from symc.graph.walks import substitute, walk
from symc.loops.build import row_of
from symc.loops.outcome import Outcome
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.views import expand_dims


class Updates(dict[SharedVariable, Tensor]):
    """Shared variables and their values after a loop: pass it to ``symc.function(updates=)``.

    Updates of several loops are added: ``updates1 + updates2``.
    """

    def __add__(self, other: Mapping[SharedVariable, Tensor] | Iterable[Any]) -> Updates:
        result = Updates(self)
        result.update(other)
        return result

    def __radd__(self, other: Mapping[SharedVariable, Tensor] | Iterable[Any]) -> Updates:
        result = Updates(other)
        result.update(self)
        return result


def made_before(arguments: Sequence[Tensor]) -> Callable[[Tensor], bool]:
    """A test, to be made before a step is traced: whether a node is the same in all steps.

    So are the arguments of a step, and numbers drawn from a stream outside of it.
    """
    constant = {node for node in arguments if node.args}
    stream: Any = sys.modules.get("symc.tensor.random.stream")  # no streams where it is not needed
    if stream is None:
        return constant.__contains__
    time: int = stream.now()

    def is_constant(node: Tensor) -> bool:
        return node in constant or stream.is_older(node, time)

    return is_constant


def with_default_updates(
    step: Outcome, is_constant: Callable[[Tensor], bool]
) -> dict[SharedVariable, Tensor]:
    """The updates of a step, and the default updates of all shared variables it reaches."""
    updates = dict(step.updates)
    pending = _results(step, updates)
    for variable, new in advanced(walk(pending, stop=is_constant)).items():
        updates.setdefault(variable, new)
    _warn_of_frozen(pending, updates)
    while pending:
        order = walk(pending, stop=is_constant)
        found = [node for node in order if isinstance(node, SharedVariable)]
        pending = list[Tensor]()
        for variable in found:
            if variable not in updates and variable.default_update is not None:
                updates[variable] = variable.default_update
                pending.append(variable.default_update)
    return updates


def _results(step: Outcome, updates: Mapping[SharedVariable, Tensor]) -> list[Tensor]:
    condition = [] if step.condition is None else [step.condition]
    return [*step.outputs, *updates.values(), *condition]


def _warn_of_frozen(results: Sequence[Tensor], updates: Mapping[SharedVariable, Tensor]) -> None:
    """Warns when a loop within the step changes a shared variable that the step leaves alone."""
    for node in walk(results):
        for variable, _ in node.op.changes(node):
            if variable not in updates:
                warn(
                    f"a loop within a step changes {variable!r}, but the step does not: let the "
                    "function of the outer loop return the updates of the inner one\n"
                    f"  shared {describe(variable)}\n  loop   {describe(node)}"
                )
                return


def carried(
    step: Outcome,
    updates: Mapping[SharedVariable, Tensor],
    is_constant: Callable[[Tensor], bool],
) -> tuple[Outcome, dict[SharedVariable, Tensor]]:
    """The step with a slot in place of each variable that it changes; the slots by variable."""
    slots = {variable: row_of(expand_dims(variable, 0), variable.name) for variable in updates}
    order = walk(_results(step, updates), stop=is_constant)
    replace = {node: node for node in order if is_constant(node)} | slots
    checked = [_checked(variable, new) for variable, new in updates.items()]
    conditions = [] if step.condition is None else [step.condition]
    replaced = substitute([*conditions, *checked, *step.outputs], replace)
    condition = replaced.pop(0) if conditions else None
    news = dict(zip(updates, replaced[: len(checked)], strict=True))
    return Outcome(tuple(replaced[len(checked) :]), news, condition), slots


def _checked(variable: SharedVariable, new: Tensor) -> Tensor:
    lines = f"\n  shared {describe(variable)}\n  new    {describe(new)}"
    if new.ndim != variable.ndim:
        raise BadUpdate(
            f"scan: the new value has {new.ndim} axes, its variable {variable.ndim}{lines}"
        )
    if not np.can_cast(to_numpy(new.dtype), to_numpy(variable.dtype), "safe"):
        raise BadUpdate(
            f"scan: the new value is {new.dtype} and would lose precision as {variable.dtype}"
            f"{lines}\n  convert it: T.cast(new, {variable.dtype.name!r})"
        )
    return cast_to(new, variable.dtype)
