"""Ops with graphs inside, branches, and Ops applied to each element of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import IfElse, LazyIfElse
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot

from symc import tensor as T
from symc.derivatives.vectorize import vmap
from symc.graph.node import Tensor
from symc.loops.branch import ifelse
from symc.pytensor.conversion import as_bool, register, symc_funcify
from symc.pytensor.convert.linalg import BATCHED


@register(OpFromGraph)
def inlined(op: Any, conversion: Any, **_: Any) -> Callable[..., Any]:
    """The inner graph in the place of its Op."""
    return lambda *args: conversion.graph(op.fgraph, args)


# --- branches -------------------------------------------------------------------------------------


@register(IfElse)
def _ifelse(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    def compute(condition: Tensor, *values: Tensor) -> list[Tensor]:
        pairs = zip(values[: op.n_outs], values[op.n_outs :], strict=True)
        return _branch(condition, list(pairs), node)

    return compute


def _branch(condition: Tensor, pairs: Sequence[tuple[Tensor, Tensor]], node: Any) -> list[Tensor]:
    test = as_bool(condition)
    return [_chosen(test, a, b, _lengths(v)) for (a, b), v in zip(pairs, node.outputs, strict=True)]


def _lengths(variable: Any) -> Sequence[int | None]:
    """The lengths that PyTensor knows; a Generator is a key of two numbers."""
    found: Sequence[int | None] = getattr(variable.type, "shape", (2,))
    return found


def _chosen(test: Tensor, then: Tensor, otherwise: Tensor, static: Sequence[int | None]) -> Tensor:
    """One of two values, whose lengths may differ: then both are laid into the longer one's."""
    lengths = list(zip(then.type.shape, otherwise.type.shape, static, strict=True))
    if all(a == b or known is not None for a, b, known in lengths):
        return _either(test, then, otherwise)
    pairs = list(zip(T.shape(then), T.shape(otherwise), strict=True))
    longest = tuple(T.maximum(a, b) for a, b in pairs)
    whole = _either(test, _laid_into(longest, then), _laid_into(longest, otherwise))
    return whole[tuple(slice(0, T.where(test, a, b)) for a, b in pairs)]


def _either(test: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
    result: Tensor = ifelse(test, then, otherwise)
    return result


def _laid_into(shape: tuple[Any, ...], x: Tensor) -> Tensor:
    place = tuple(slice(0, length) for length in T.shape(x))
    region: Any = T.zeros(shape, dtype=x.dtype)[place]
    result: Tensor = region.set(x)
    return result


@register(LazyIfElse)
def _lazy_ifelse(op: Any, node: Any, conversion: Any, **_: Any) -> Callable[..., Any]:
    def compute(condition: Tensor, *args: Tensor) -> list[Tensor]:
        sides = [
            conversion.graph(branch.fgraph, args) for branch in (op.true_branch, op.false_branch)
        ]
        return _branch(condition, list(zip(*sides, strict=True)), node)

    return compute


# --- batches --------------------------------------------------------------------------------------


@register(Blockwise)
def _blockwise(op: Any, node: Any, conversion: Any, **_: Any) -> Callable[..., Any]:
    core = op.core_op
    if isinstance(core, Dot):
        return T.matmul
    core_node = op._create_dummy_core_node(node.inputs, propagate_unbatched_core_inputs=True)
    if isinstance(core, BATCHED):
        compute: Callable[..., Any] = symc_funcify(core, node=node, conversion=conversion)
        return compute
    depth = op.batch_ndim(node)
    ranks = [len(signature) for signature in op.inputs_sig]

    def apply(level: int, args: Sequence[Tensor]) -> list[Tensor]:
        if level == 0:
            return list(conversion.node(core_node, args))
        mapped = [
            x.ndim > rank and x.type.shape[0] != 1 for x, rank in zip(args, ranks, strict=True)
        ]
        given = [
            x[0] if not many and x.ndim == rank + level else x
            for x, many, rank in zip(args, mapped, ranks, strict=True)
        ]
        if not any(mapped):
            return [x[None] for x in apply(level - 1, given)]
        axes = tuple(0 if many else None for many in mapped)
        made = vmap(lambda *rows: apply(level - 1, rows), in_axes=axes)(*given)
        return list(made)

    # Before anything is mapped, so that what has no conversion is performed as it stands.
    symc_funcify(core, node=core_node, conversion=conversion)
    return lambda *args: apply(depth, args)
