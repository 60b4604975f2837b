"""Connectionist temporal classification: the loss of sequences that are not aligned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import FLOAT32, INT64
from symc.codegen.record import record
from symc.codegen.routines import declare
from symc.errors import BadIndex, DTypeError, GradientError, RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import METHODS, OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.build import arange
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import tensor_of
from symc.tensor.logic import where
from symc.tensor.math import as_float
from symc.tensor.matrix_product import blas_suffix, is_blas
from symc.tensor.reshape import reshape
from symc.tensor.views import broadcast_to, expand_dims, moveaxis

__all__ = ["ctc_loss"]

# Nobody states a usual count of its operations.
declare(
    "ctc", "steps batch classes longest blank p* targets* spans* counts* loss! posterior! work!"
)

CtcResult: TypeAlias = Literal["loss", "posterior", "work"]


@record
class Ctc(Op):
    """Of class log-probabilities [steps, batch, classes], targets [batch, longest], and how long
    each example and each target is: the loss [batch], or how probable each class is at each step if
    the target comes out. (`work` is the routine's own.)
    """

    part: CtcResult
    blank: int

    def infer(self, *args: Tensor) -> TensorType:
        p, targets = args[:2]
        steps, batch, _ = p.type.shape
        if self.part == "posterior":
            return p.type
        width = dims.add(dims.mul(targets.type.shape[1], 2), 3)
        work = (batch, dims.add(steps, 3), width)
        return TensorType(p.dtype, (batch,) if self.part == "loss" else work)

    def evaluate(self, *args: Array) -> Array:
        p, targets, spans, counts = args
        if self.part == "work":
            return np.zeros((p.shape[1], p.shape[0] + 3, 2 * targets.shape[1] + 3), p.dtype)
        losses, posterior = np.empty(p.shape[1]), np.zeros(p.shape)
        for b, (span, count) in enumerate(zip(spans, counts, strict=True)):
            labels = np.full(2 * count + 1, self.blank)
            labels[1::2] = targets[b, :count]
            losses[b], posterior[:span, b] = _align(p[:span, b].astype(np.float64), labels)
        result = losses if self.part == "loss" else posterior
        return np.asarray(result, dtype=p.dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        if self.part != "loss":
            raise GradientError(
                "the second derivative of ctc_loss is not defined here\n"
                f"  asked for through  {describe(node)}"
            )
        posterior = Ctc("posterior", self.blank)(*node.args)
        return [-expand_dims(expand_dims(bar, 1), 0) * posterior, None, None, None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        first = args[batched.index(True)].type.shape[0]
        own = args[2].type.shape[1 if batched[2] else 0]
        joined: list[Tensor] = []
        for number, (arg, flag) in enumerate(zip(args, batched, strict=True)):
            axis = 1 if number == 0 else 0  # of the examples
            wide = arg if flag else broadcast_to(expand_dims(arg, 0), (first, *arg.type.shape))
            moved = moveaxis(wide, 0, axis)
            shape = moved.type.shape
            joined.append(reshape(moved, (*shape[:axis], dims.mul(first, own), *shape[axis + 2 :])))
        result = self(*joined)
        axis = 1 if self.part == "posterior" else 0
        shape = result.type.shape
        return moveaxis(reshape(result, (*shape[:axis], first, own, *shape[axis + 1 :])), axis, 0)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        p, targets = node.args[:2]
        lengths = (*p.type.shape, targets.type.shape[1])
        results = tuple(Ctc(part, self.blank) for part in ("loss", "posterior", "work"))
        pointers = (*map(Argument, range(4)), *map(Argument, (-1, -2, -3)))
        sizes = (*map(size, lengths), ir.const(self.blank))
        return LibCall(f"ctc_{blas_suffix(node.dtype)}", (*sizes, *pointers), results)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        p, targets, spans, counts = node.args
        classes, longest = dims.sub(p.type.shape[2], 1), targets.type.shape[1]
        for number, given in enumerate((targets, spans, counts)):
            if given.type.shape[0] != p.type.shape[1]:
                yield _as_many(number, given, p)
        yield _within("an input's length", spans, spans, p.type.shape[0])
        yield _within("a target's length", counts, counts, longest)
        counted = OPERATORS["lt"](arange(tensor_of(longest)), expand_dims(counts, 1))
        yield _within("a target", targets, where(counted, targets, 0), classes)

    @property
    def label(self) -> str:
        return "ctc_loss" if self.part == "loss" else f"ctc_{self.part}"


def _within(name: str, given: Tensor, counted: Tensor, most: Dim) -> Requirement:
    """The requirement that the integers that count are from 0 to a length."""
    limit = tensor_of(most)
    ge, le = OPERATORS["ge"](counted, 0), OPERATORS["le"](counted, limit)

    def message(value: Callable[[Any], Any]) -> str:
        found = np.asarray(value(counted))
        wrong = found[(found < 0) | (found > value(limit))]
        return (
            f"ctc_loss: {name} is {wrong.flat[0]}, but must be from 0 to {value(limit)}\n"
            f"  given  {describe(given)}"
        )

    holds: Tensor = METHODS["all"](OPERATORS["logical_and"](ge, le))
    return Requirement(holds, BadIndex, message)


def _as_many(number: int, given: Tensor, p: Tensor) -> Requirement:
    from symc.errors import ShapeMismatch

    names = ("targets", "input_lengths", "target_lengths")
    found, wanted = given.type.shape[0], p.type.shape[1]
    return Requirement(
        (found, wanted),
        ShapeMismatch,
        lambda value: (
            f"ctc_loss: there are {value(found)} {names[number]} for {value(wanted)} "
            f"examples\n  given  {describe(given)}"
        ),
    )


def _align(p: Array, labels: Array) -> tuple[float, Array]:
    """The loss of one example, and the posterior, over all ways to go through the labels."""
    steps, places = len(p), len(labels)
    posterior = np.zeros(p.shape)
    if steps == 0:
        return 0.0 if places == 1 else np.inf, posterior
    skips = np.zeros(places, bool)
    skips[3::2] = labels[3::2] != labels[1:-2:2]
    with np.errstate(all="ignore"):
        forward = np.full((steps, places), -np.inf)
        forward[0, :2] = p[0, labels[:2]]
        for t in range(1, steps):
            forward[t] = _moved(forward[t - 1], skips) + p[t, labels]
        total = np.logaddexp.reduce(forward[-1, -2:])
        backward = np.full((steps, places), -np.inf)
        backward[-1, -2:] = 0
        for t in range(steps - 2, -1, -1):
            on = backward[t + 1] + p[t + 1, labels]
            backward[t] = _moved(on[::-1], np.roll(skips, -2)[::-1])[::-1]
        if np.isfinite(total):
            np.add.at(posterior.T, labels, np.exp(forward + backward - total).T)
    return -total, posterior


def _moved(row: Array, skips: Array) -> Array:
    """The sums over staying at a place, coming from the one before, and from the second before."""
    one = np.concatenate([[-np.inf], row[:-1]])
    two = np.concatenate([[-np.inf, -np.inf], row[:-2]])[: len(row)]
    stay = np.logaddexp(row, one)
    return np.asarray(np.where(skips, np.logaddexp(stay, two), stay))


def ctc_loss(
    log_probabilities: TensorLike,
    targets: TensorLike,
    input_lengths: TensorLike,
    target_lengths: TensorLike,
    *,
    blank: int = 0,
) -> Tensor:
    """Minus the log-probability of each target, over all its alignments (Graves et al., 2006).

    `log_probabilities` is (steps, examples, classes), such as a `log_softmax` gives; `targets`
    (examples, longest) are classes, of which the first `target_lengths` count (whatever comes after
    them), and of the steps the first `input_lengths`. An alignment says every class one or more
    times in a row, and `blank` in between, which it must between equal ones. Where there is no
    alignment the loss is inf and its gradient 0. Second derivatives raise `GradientError`. Raises
    `IndexError`, when it runs, for classes and lengths out of range.

    >>> import symc.tensor as T
    >>> p = T.log(T.constant([[[0.5, 0.5]], [[0.25, 0.75]]]))
    >>> T.exp(-T.nnet.ctc_loss(p, [[1]], [2], [1])).eval()  # 1 - P(blank, blank)
    array([0.875])
    """
    p = as_float(as_tensor(log_probabilities))
    p = p if is_blas(p.dtype) else cast_to(p, FLOAT32)
    rest = [as_tensor(x) for x in (targets, input_lengths, target_lengths)]
    for x, rank, name in zip((p, *rest), (3, 2, 1, 1), _NAMES, strict=True):
        if x.ndim != rank:
            raise RankError(f"ctc_loss: {name} must have {rank} axes\n  given  {describe(x)}")
    for x, name in zip(rest, _NAMES[1:], strict=True):
        if not x.dtype.is_integer:
            raise DTypeError(f"ctc_loss: {name} must be integers\n  given  {describe(x)}")
    classes = p.type.shape[2]
    if blank < 0 or (isinstance(classes, int) and blank >= classes):
        raise BadIndex(f"ctc_loss: blank is {blank}, but there are {classes} classes")
    return Ctc("loss", blank)(p, *(cast_to(x, INT64) for x in rest))


_NAMES = ("log_probabilities", "targets", "input_lengths", "target_lengths")
