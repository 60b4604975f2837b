"""Logarithms of softmaxes, sigmoids and sums of exponentials in the forms that do not saturate.

Theano rewrites a whole compiled graph, gradients included. Here gradients are built op by op, and
the step of a saturated ``log`` would divide by zero before anything could rewrite it. So `grad`
and the translation ask for the stable form first: a variable with the value of the logarithm,
computed from what was before the softmax, sigmoid or exponential.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Constant
from symc.theano.tensor import math
from symc.theano.tensor.careduce import NamedReduction, axes_of
from symc.theano.tensor.elemwise import DimShuffle, Elemwise
from symc.theano.tensor.nnet.nnet import (
    CrossentropyCategorical1Hot,
    Softmax,
    logsoftmax_op,
)
from symc.theano.tensor.reductions import Sum, makeKeepDims
from symc.theano.tensor.shaping import Rebroadcast, Reshape, SpecifyShape
from symc.theano.tensor.subtensor import AdvancedSubtensor, AdvancedSubtensor1, Subtensor

_VIEWS = (
    AdvancedSubtensor, AdvancedSubtensor1, DimShuffle, Rebroadcast, Reshape, SpecifyShape,
    Subtensor,
)  # fmt: skip


class LogSumExp(NamedReduction):
    """The logarithm of the sum of exponentials along some axes."""

    by = "add"

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.logsumexp(x, axis=axis)


def stable_form(node: Apply, kept: Collection[Any] = ()) -> Any:
    """A variable with the value of the node's output, None where the node has no stable form.

    Variables in `kept` are asked for themselves, so nothing is taken together across them.
    """
    if isinstance(node.op, CrossentropyCategorical1Hot):
        return _picked(node, kept)
    name = _scalar(node)
    if name == "log":
        return _through_views(node.inputs[0], kept, _log)
    return _through_views(node.inputs[0], kept, _log1p) if name == "log1p" else None


def _picked(node: Apply, kept: Collection[Any]) -> Any:
    probabilities, classes = node.inputs
    rows = _through_views(probabilities, kept, _log)
    if rows is None:
        return None
    from symc.theano.tensor.creation import arange

    return -rows[arange(classes.shape[0]), classes]


def _through_views(variable: Any, kept: Collection[Any], form: Any) -> Any:
    views: list[Apply] = []
    while variable not in kept and variable.owner is not None:
        owner = variable.owner
        if not isinstance(owner.op, _VIEWS):
            found = form(owner, kept)
            for view in reversed(views if found is not None else []):
                found = view.op(found, *view.inputs[1:])
            return found
        views.append(owner)
        variable = owner.inputs[0]
    return None


def _log(node: Apply, kept: Collection[Any]) -> Any:
    """The logarithm of a node's output."""
    op = node.op
    if isinstance(op, Softmax):
        return logsoftmax_op(node.inputs[0])
    name = _scalar(node)
    if name == "sigmoid" and _is_float(node):
        return -math.softplus(-node.inputs[0])
    if name == "sub" and _is_one(node.inputs[0]):
        inner = _argument(node.inputs[1], "sigmoid", kept)
        return None if inner is None else -math.softplus(inner)
    if name == "add" and len(node.inputs) == 2:
        return _log_of_one_and_exponential(node, kept)
    if name == "true_div":
        return _log_of_share(node, kept)
    if isinstance(op, Sum) and op.dtype in (None, node.inputs[0].dtype):
        inner = _argument(node.inputs[0], "exp", kept)
        return None if inner is None else LogSumExp(op.axis)(inner)
    return None


def _log1p(node: Apply, kept: Collection[Any]) -> Any:
    """The logarithm of one more than a node's output."""
    name = _scalar(node)
    if name == "exp" and _is_float(node):
        return math.softplus(node.inputs[0])
    if name == "neg":
        inner = _argument(node.inputs[0], "sigmoid", kept)
        return None if inner is None else -math.softplus(inner)
    return None


def _log_of_one_and_exponential(node: Apply, kept: Collection[Any]) -> Any:
    for one, other in (node.inputs, node.inputs[::-1]):
        inner = _argument(other, "exp", kept)
        if inner is not None and _is_one(one):
            return math.softplus(inner)
    return None


def _log_of_share(node: Apply, kept: Collection[Any]) -> Any:
    """Of exponentials divided by their sum along axes that are kept with length 1."""
    inner = _argument(node.inputs[0], "exp", kept)
    total = node.inputs[1]
    if inner is None or total in kept or total.owner is None:
        return None
    shuffle = total.owner
    if not isinstance(shuffle.op, DimShuffle) or shuffle.inputs[0] in kept:
        return None
    summed = shuffle.inputs[0].owner
    if summed is None or not isinstance(summed.op, Sum):
        return None
    if _argument(summed.inputs[0], "exp", kept) is not inner:
        return None
    gone = axes_of(summed.op.axis, inner.ndim)
    gone = tuple(range(inner.ndim)) if gone is None else gone
    if shuffle.op.new_order != _order_with(gone, inner.ndim):
        return None
    return inner - makeKeepDims(inner, LogSumExp(gone)(inner), gone)


def _order_with(gone: Sequence[int], ndim: int) -> tuple[Any, ...]:
    places = iter(range(ndim))
    return tuple("x" if axis in gone else next(places) for axis in range(ndim))


def _scalar(node: Apply) -> str | None:
    # A program's own scalar op may lack a name.
    return getattr(node.op.scalar_op, "name", None) if isinstance(node.op, Elemwise) else None


def _is_float(node: Apply) -> bool:
    return bool(node.inputs[0].dtype == node.outputs[0].dtype)


def _argument(variable: Any, name: str, kept: Collection[Any]) -> Any:
    """`x` where the variable is the named function of `x`, else None."""
    owner = variable.owner
    if variable in kept or owner is None or _scalar(owner) != name or not _is_float(owner):
        return None
    return owner.inputs[0]


def _is_one(variable: Any) -> bool:
    while variable.owner is not None and isinstance(variable.owner.op, DimShuffle):
        variable = variable.owner.inputs[0]
    return isinstance(variable, Constant) and bool(np.all(variable.data == 1))
