"""Results of a step function: outputs, updates of shared variables, and whether to stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, cast

from symc.codegen.dtypes import BOOL, DType
from symc.codegen.record import record
from symc.errors import LoopError
from symc.graph.inputs import SharedVariable, as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to


@record
class Until:
    """The condition after which a loop ends; see `until`."""

    condition: Tensor


def until(condition: TensorLike) -> Until:
    """Returned by the function of a `scan`, last: the loop ends after the step where it is true.

    That step is part of the results.

    `condition` is a scalar; any number that is not zero counts as true.

    >>> import symc, symc.tensor as T
    >>> powers, _ = symc.scan(
    ...     lambda x: (x * 2, symc.until(x * 2 > 20)), outputs_info=1, n_steps=100
    ... )
    >>> powers.eval()
    array([ 2,  4,  8, 16, 32])
    """
    node = as_tensor(condition)
    if node.ndim:
        raise LoopError(f"until needs a scalar condition\n  given  {describe(node)}")
    return Until(cast_to(node, BOOL))


@record
class Outcome:
    """A step's outputs, the new values of shared variables, and the condition for ending."""

    outputs: tuple[Tensor, ...]
    updates: dict[SharedVariable, Tensor]
    condition: Tensor | None


def outcome(returned: Any, states: Sequence[DType | None] = ()) -> Outcome:
    """The result of a scan's function, in any form that it may have.

    Outputs come first, then updates (a dict or a list of pairs), then the condition; all of them
    can be left out. Python numbers among the outputs are weak beside the dtypes of their `states`.
    """
    outputs: list[Any] = []
    updates: dict[SharedVariable, Tensor] = {}
    condition: Tensor | None = None
    for part in _parts(returned):
        if isinstance(part, Until):
            if condition is not None:
                raise LoopError("scan: the function returned until(...) twice; combine them: a | b")
            condition = part.condition
        elif _is_updates(part):
            updates.update(_pairs(part))
        elif isinstance(part, list | tuple):
            outputs += cast("Sequence[Any]", part)
        else:
            outputs.append(part)
    pairs = zip(outputs, chain(states, repeat(None)), strict=False)
    return Outcome(tuple(_output(value, like) for value, like in pairs), updates, condition)


def _parts(returned: Any) -> Sequence[Any]:
    if returned is None:
        return ()
    if isinstance(returned, list | tuple) and not _is_updates(returned):
        return cast("Sequence[Any]", returned)
    return (cast("Any", returned),)


def _is_updates(part: Any) -> bool:
    if isinstance(part, Mapping):
        return True
    items = cast("Sequence[Any]", part) if isinstance(part, list | tuple) else ()
    return bool(items) and all(
        isinstance(item, list | tuple)
        and len(cast("Sequence[Any]", item)) == 2
        and isinstance(item[0], SharedVariable)
        for item in items
    )


def _pairs(part: Any) -> Iterator[tuple[SharedVariable, Tensor]]:
    items: Any = dict(part).items()
    for variable, new in items:
        if not isinstance(variable, SharedVariable):
            raise LoopError(f"scan: only shared variables can be updated, not {variable!r}")
        yield variable, as_tensor(new, variable.dtype)


def _output(value: Any, like: DType | None) -> Tensor:
    try:
        return as_tensor(value, like)
    except Exception as error:
        raise LoopError(
            f"scan: the function must return tensors, updates and until(...), not {value!r}"
        ) from error
