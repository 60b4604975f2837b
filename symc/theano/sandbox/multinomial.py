"""`theano.sandbox.multinomial`: draws from distributions by numbers between 0 and 1."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.types import as_scalar
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = ["ChoiceFromUniform", "MultinomialFromUniform", "MultinomialWOReplacementFromUniform"]


def _applied(op: Any, pvals: Any, unis: Any, n: Any, dtype: str) -> Apply:
    """An op applied to rows of probabilities, to numbers for the draws, and their number a row."""
    pvals, unis = as_tensor_variable(pvals), as_tensor_variable(unis)
    if pvals.ndim != 2:
        raise NotImplementedError("pvals ndim should be 2", pvals.ndim)
    if unis.ndim != 1:
        raise NotImplementedError("unis ndim should be 1", unis.ndim)
    kind = TensorType(dtype, pvals.type.broadcastable)
    return Apply(op, [pvals, unis, as_scalar(n)], [kind()])


def _no_gradients(inputs: Sequence[Any]) -> list[Any]:
    from symc.theano.configparser import config
    from symc.theano.scalar.dtypes import discrete_dtypes
    from symc.theano.tensor.creation import zeros_like

    return [
        zeros_like(each, dtype=config.floatX if each.dtype in discrete_dtypes else each.dtype)
        for each in map(as_tensor_variable, inputs)
    ]


class MultinomialFromUniform(Op):
    """How often `n` draws take each outcome: a row of counts for each row of probabilities.

    `unis` has the numbers of the first draw of all rows, then those of the second. A draw takes
    the first outcome up to which the probabilities sum to more than its number; sums are of
    float64. ``odtype="auto"`` is the dtype of the probabilities. Gradients are zeros.
    """

    __props__: tuple[str, ...] = ("odtype",)

    def __init__(self, odtype: str) -> None:
        self.odtype = odtype

    def make_node(self, pvals: Any, unis: Any, n: Any = 1) -> Apply:
        pvals = as_tensor_variable(pvals)
        return _applied(self, pvals, unis, n, pvals.dtype if self.odtype == "auto" else self.odtype)

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        pvals, unis, n = inputs
        below = T.cumsum(T.cast(pvals, "float64"), axis=1)
        rows = T.reshape(unis, (T.cast(n, "int64"), pvals.shape[0]))
        # Of the draws, how many take an outcome up to each; the differences take it.
        up_to = T.sum(T.cast(below[None] > rows[:, :, None], "int64"), axis=0)
        before = T.concatenate([T.zeros_like(up_to[:, :1]), up_to[:, :-1]], axis=1)
        return [T.cast(T.maximum(up_to - before, 0), node.outputs[0].type.dtype)]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        del output_grads
        return _no_gradients(inputs)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.odtype}}}"


class ChoiceFromUniform(MultinomialFromUniform):
    """The outcomes of `n` draws for each row of probabilities, in the order of the draws.

    Without `replace` an outcome that was drawn gets the probability 0, and the others of its row
    are divided by their sum. Raises ValueError for more draws than there are outcomes.
    """

    __props__ = ("odtype", "replace")

    def __init__(self, odtype: str, replace: bool = False) -> None:
        super().__init__(odtype)
        self.replace = replace

    def make_node(self, pvals: Any, unis: Any, n: Any = 1) -> Apply:
        return _applied(self, pvals, unis, n, "int64" if self.odtype == "auto" else self.odtype)

    meaning = Op.meaning

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> Any:
        """As many rows as there are of probabilities, of as many places as draws."""
        from symc.theano.tensor.scalar_ops import tensor_from_scalar

        return [(shapes[0][0], tensor_from_scalar(node.inputs[2]))]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        given, unis, n = inputs
        if n > given.shape[1]:
            raise ValueError(
                "Cannot sample without replacement n samples bigger than the size of the "
                "distribution."
            )
        if len(unis) != len(given) * n:
            raise ValueError(
                "unis.shape[0] != pvals.shape[0] * n_samples", len(unis), len(given), n
            )
        left = given.copy()
        found = np.full((len(given), n), -1, dtype=node.outputs[0].type.dtype)
        for draw, numbers in enumerate(unis.reshape(n, len(given))):
            reached = np.cumsum(left, axis=1) > numbers[:, None]
            (hit,) = reached.any(axis=1).nonzero()
            drawn = reached[hit].argmax(axis=1)
            found[hit, draw] = drawn
            if not self.replace:
                left[hit, drawn] = 0
                with np.errstate(invalid="ignore"):  # nothing is left: NaN, as in Theano
                    left[hit] /= left[hit].sum(axis=1, keepdims=True)
        output_storage[0][0] = found


class MultinomialWOReplacementFromUniform(ChoiceFromUniform):
    """The former name of `ChoiceFromUniform`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "MultinomialWOReplacementFromUniform is deprecated, use ChoiceFromUniform instead.",
            DeprecationWarning, stacklevel=2,
        )  # fmt: skip
        super().__init__(*args, **kwargs)
