"""The interpreter: a graph computed node by node with NumPy. The oracle of every test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from symc.errors import MissingInput
from symc.graph.bfloat16 import computed, of_all, rounded
from symc.graph.computation import all_of, siblings_in
from symc.graph.inputs import Input, Shared
from symc.graph.loop_lines import naming_line
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import to_numpy
from symc.graph.walks import walk

_watching: ContextVar[Callable[[Tensor, Array], None] | None] = ContextVar("watching", default=None)


def is_watched() -> bool:
    """Whether somebody sees each value, so that all are to be computed by `evaluate`."""
    return _watching.get() is not None


def evaluate(
    outputs: Sequence[Tensor],
    values: Mapping[Tensor, Array],
    after: Callable[[Tensor, Array], None] | None = None,
) -> list[Array]:
    """The values of the outputs, given those of the inputs. `after` sees every computed node.

    In loops and branches it sees those of all steps. Run-time requirements are checked in there;
    of other nodes `graph.conditions` checks them.
    """
    if after is not None:
        token = _watching.set(after)
        try:
            return evaluate(outputs, values)
        finally:
            _watching.reset(token)
    after = _watching.get()
    known: dict[Tensor, Array] = dict(values)
    together: dict[Any, Callable[[Op], Array]] = {}
    order = walk(outputs, stop=lambda node: node in known)
    siblings = siblings_in(order)
    for node in order:
        if node in known:
            continue
        if isinstance(node.op, Input):
            raise MissingInput(f"no value was given for {node!r}")
        known[node] = compute(node, [known[arg] for arg in node.args], together, siblings)
        if after is not None:
            after(node, known[node])
    return [known[output] for output in outputs]


def compute(
    node: Tensor,
    args: Sequence[Array],
    together: dict[Any, Callable[[Op], Array]],
    siblings: Mapping[Any, Sequence[Op]] | None = None,
) -> Array:
    """One node's value, with the dtype and rank that its type promises.

    `siblings` has the ops whose results of one computation are wanted; without it all may be.
    """
    if isinstance(node.op, Shared):
        return node.op.evaluate()
    common = node.op.common()
    if common is None:
        result = np.asarray(naming_line(node, computed(node, node.op.evaluate))(*args))
    else:
        key = (common, *node.args)
        if key not in together:
            of_these = node.op.evaluate_all if siblings is None else all_of(node, siblings)
            together[key] = naming_line(node, of_all(node, of_these))(*args)
        result = rounded(node, together[key](node.op))
    if result.dtype != to_numpy(node.dtype) or result.ndim != node.ndim:
        raise AssertionError(
            f"{node.op!r} promised {node.type} and computed {result.dtype}{result.shape}"
        )
    return result
