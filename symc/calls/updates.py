"""The updates of a function: `updates=` as users write it, default updates, and checks of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from symc.codegen.record import record
from symc.errors import BadUpdate, FunctionError, ShapeMismatch
from symc.graph.dims import Dim
from symc.graph.inputs import SharedVariable, advanced, constant_value, tensor_like
from symc.graph.node import Requirement, Tensor, TensorLike
from symc.graph.passing import Passing
from symc.graph.provenance import warn
from symc.graph.types import to_numpy
from symc.graph.values import held
from symc.graph.walks import walk
from symc.tensor.broadcast import describe

Updates: TypeAlias = (
    "Mapping[SharedVariable, TensorLike] | Iterable[tuple[SharedVariable, TensorLike]]"
)


def pairs_of(given: Any, error: type[FunctionError], needs: str) -> Iterator[tuple[Any, Any]]:
    """The pairs of a mapping or a list of pairs. Raises `error` about a value that is no pair."""
    items = cast("Mapping[object, object]", given).items() if isinstance(given, Mapping) else given
    for pair in cast("Iterable[Any]", items):
        if not isinstance(cast("object", pair), tuple | list) or len(pair) != 2:
            raise error(f"{needs}, not {pair!r}")
        yield pair[0], pair[1]


def as_updates(updates: Updates) -> list[tuple[SharedVariable, Tensor]]:
    """Shared variables and their new values, each variable once."""
    pairs: list[tuple[SharedVariable, Tensor]] = []
    needs = "updates= needs pairs (shared variable, new value)"
    for target, new in pairs_of(updates, BadUpdate, needs):
        if not isinstance(target, SharedVariable):
            raise BadUpdate(f"only shared variables can be updated, not {target!r}")
        if any(target is other for other, _ in pairs):
            raise BadUpdate(f"{target!r} is updated twice")
        pairs.append(
            (
                target,
                tensor_like(new, target.dtype, f"the new value of {target.name or repr(target)}"),
            )
        )
    return pairs


def checked_update(target: SharedVariable, new: Tensor) -> tuple[SharedVariable, Tensor]:
    """The update, converted where that loses nothing, or an error with both lines."""
    from symc.tensor.elementwise import cast_to

    lines = f"\n  shared {describe(target)}\n  new    {describe(new)}"
    if new.ndim != target.ndim:
        raise BadUpdate(f"the new value has {new.ndim} axes, its variable {target.ndim}{lines}")
    if new.dtype is not target.dtype:
        dtype, value = to_numpy(target.dtype), constant_value(new)
        safe = np.can_cast(to_numpy(new.dtype), dtype, "safe")
        if not safe or (value is not None and held(value, value, dtype) is None):
            raise BadUpdate(
                f"the new value is {new.dtype} and would lose precision as {target.dtype}{lines}\n"
                f"  convert it: T.cast(new, {target.dtype.name!r})"
            )
        new = cast_to(new, target.dtype)
    for axis, (declared, dim) in enumerate(zip(target.op.declared, new.type.shape, strict=True)):
        if declared is not None and isinstance(dim, int) and dim != declared:
            raise BadUpdate(
                f"axis {axis} of the new value is {dim}, of its variable {declared}{lines}"
            )
    known = all(isinstance(dim, int) for dim in new.type.shape)
    return target, new if known else NewValue(target)(new)


@record
class NewValue(Passing):
    """The new value of a shared variable, checked at run time to have its declared lengths."""

    variable: SharedVariable

    def require(self, node: Tensor) -> Iterable[Requirement]:
        lengths = zip(self.variable.op.declared, node.type.shape, strict=True)
        for axis, (declared, dim) in enumerate(lengths):
            if declared is not None:
                yield self._requirement(node.args[0], axis, declared, dim)

    def _requirement(self, new: Tensor, axis: int, declared: int, dim: Dim) -> Requirement:
        return Requirement(
            (dim, declared),
            ShapeMismatch,
            lambda value: (
                f"axis {axis} of the new value is {value(dim)}, of its variable "
                f"{declared}\n  shared {describe(self.variable)}\n  new    {describe(new)}\n"
                "  a variable whose lengths change: symc.shared(value, shape=(None, ...))"
            ),
        )


def add_default_updates(
    results: Sequence[Tensor],
    pairs: list[tuple[SharedVariable, Tensor]],
    without: bool | Sequence[SharedVariable],
    replace: Mapping[Tensor, Tensor],
) -> None:
    """Adds the default updates of all shared variables reached, those of the updates included."""
    if without is True:
        return
    excluded = set(without or ())
    taken = {target for target, _ in pairs} | excluded
    pending: list[Tensor] = [*results, *(new for _, new in pairs), *replace.values()]
    while pending:
        order = walk(pending)
        found = [node for node in order if isinstance(node, SharedVariable)]
        pending = []
        for variable, new in advanced(order).items():
            if variable not in taken:
                taken.add(variable)
                pairs.append((variable, new))
                pending.append(new)
        for node in found:
            if node not in taken and node.default_update is not None:
                taken.add(node)
                pairs.append((node, node.default_update))
                pending.append(node.default_update)


def warn_of_frozen(results: Sequence[Tensor], updated: set[SharedVariable]) -> None:
    """Warns when a loop changes a shared variable and its update was not passed on."""
    for node in walk(results):
        for variable, _ in node.op.changes(node):
            if variable not in updated:
                warn(
                    f"a loop changes {variable!r}, but the function does not update it: pass on "
                    f"the updates that scan returned\n  shared {describe(variable)}\n"
                    f"  loop   {describe(node)}"
                )
                return
