"""Attention, ``softmax(q k' + bias) v``, in memory that grows with its arguments alone.

The matrix of weights is computed block by block, and again for the gradient; the logarithm
of each row's sum of exponentials is kept for that (`codegen/runtime/nets/attention.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL
from symc.codegen.record import record
from symc.errors import DTypeError, RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.registry import SERVICES
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.build import arange
from symc.tensor.elementwise import cast_to, common, sum_to
from symc.tensor.exponentials import exp, sqrt
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import length, public
from symc.tensor.logic import where
from symc.tensor.matrix_product import blas_suffix, is_blas
from symc.tensor.products import matmul
from symc.tensor.reshape import reshape
from symc.tensor.softmaxes import logsumexp
from symc.tensor.specify import specify_length
from symc.tensor.statistics import wide
from symc.tensor.views import broadcast_to, expand_dims, swapaxes

__all__ = ["attention"]

AttentionResult: TypeAlias = Literal["output", "logs"]
Bar: TypeAlias = Literal["queries", "keys", "values", "bias"]


@record
class Attention(Op):
    """The output for queries [batch, n, d], keys [batch, m, d], values [batch, m, e] and, if it is
    there, a bias [batch or 1, n, m]; or the logarithms of its rows' sums of exponentials.

    `causal`: query i sees the keys up to number i.
    """

    part: AttentionResult
    causal: bool

    def infer(self, *args: Tensor) -> TensorType:
        q, k, v, *bias = args
        for found, wanted, number, axis in _lengths(args):
            if isinstance(found, int) and isinstance(wanted, int) and found != wanted:
                raise ShapeMismatch(_unequal(args, number, axis, (found, wanted)))
        if any(arg.dtype is not q.dtype for arg in (k, v, *bias)) or not q.dtype.is_float:
            raise DTypeError("attention needs arguments of one float dtype")
        batch, n = q.type.shape[:2]
        whole = (batch, n) if self.part == "logs" else (batch, n, v.type.shape[2])
        return TensorType(q.dtype, whole)

    def evaluate(self, *args: Array) -> Array:
        weights, logs = _weights(self.causal, *args)
        result = logs if self.part == "logs" else weights @ args[2]
        return np.asarray(result, dtype=args[0].dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        args = node.args
        if self.part == "logs":
            weights = exp(dense_scores(self.causal, *args[:2], *args[3:]) - expand_dims(node, 2))
            return _split(args, *_to_scores(args, expand_dims(bar, 2) * weights), None)
        known = (*args, node, Attention("logs", self.causal)(*args), bar)
        parts: list[Bar] = ["queries", "keys", "values", "bias"]
        found: list[Tensor | None] = [
            AttentionBar(part, self.causal)(*known) for part in parts[: len(args)]
        ]
        if len(args) > 3:
            found[3] = sum_to(found[3], args[3])
        return found

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return _batched(self, args, batched)

    def expand(self, node: Tensor) -> Tensor | None:
        if is_blas(node.dtype):
            return None
        q, k, v, *bias = node.args
        scores = dense_scores(self.causal, q, k, *bias)
        logs = logsumexp(scores, axis=2)
        return logs if self.part == "logs" else matmul(exp(scores - expand_dims(logs, 2)), v)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        args = node.args
        bias = Argument(3) if len(args) > 3 else Argument(0)
        given = (*map(Argument, range(3)), bias, Argument(-1), Argument(-2))
        results = (Attention("output", self.causal), Attention("logs", self.causal))
        return LibCall(
            f"attention_outputs_{blas_suffix(node.dtype)}",
            (*_sizes(self.causal, args[:3], args[3:], size), *given),
            results,
        )

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for found, wanted, number, axis in _lengths(node.args):
            if found != wanted:
                yield _equal(node.args, number, axis, (found, wanted))


@record
class AttentionBar(Op):
    """The gradient for one of the arguments of `Attention`, given `bar`, that of its output.

    The arguments are those of `Attention`, its output and its logs, and `bar`. The gradient of the
    bias has a batch even if the bias has none.
    """

    part: Bar
    causal: bool

    def infer(self, *args: Tensor) -> TensorType:
        q, k, v = args[:3]
        match self.part:
            case "queries":
                return q.type
            case "keys":
                return k.type
            case "values":
                return v.type
            case "bias":
                return TensorType(q.dtype, (*q.type.shape[:2], k.type.shape[1]))

    def evaluate(self, *args: Array) -> Array:
        *given, _, _, bar = args
        q, k, v = given[:3]
        weights, _ = _weights(self.causal, *given)
        if self.part == "values":
            return np.asarray(weights.swapaxes(1, 2) @ bar, dtype=q.dtype)
        passed = bar @ v.swapaxes(1, 2)
        with np.errstate(all="ignore"):
            back = weights * (passed - (weights * passed).sum(2, keepdims=True))
        match self.part:
            case "queries":
                back = back @ k
            case "keys":
                back = back.swapaxes(1, 2) @ q
            case "bias":
                pass
        return np.asarray(back, dtype=q.dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        *given, _, _, first = node.args

        def definition(slots: Sequence[Tensor]) -> Tensor:
            return self._dense(slots[:-1], slots[-1])

        found = SERVICES["by_arguments"](definition, [*given, first], bar)
        return [*found[:-1], None, None, found[-1]]

    def _dense(self, given: Sequence[Tensor], bar: Tensor) -> Tensor:
        """The same with the whole matrix of weights."""
        q, k, v, *bias = given
        scores = dense_scores(self.causal, q, k, *bias)
        weights = exp(scores - logsumexp(scores, axis=2, keepdims=True))
        if self.part == "values":
            return matmul(swapaxes(weights, 1, 2), bar)
        passed = matmul(bar, swapaxes(v, 1, 2))
        back = weights * (passed - reduce_over("add", weights * passed, (2,), keepdims=True))
        to_q, to_k = _to_scores(given, back)[:2]
        return {"queries": to_q, "keys": to_k, "bias": back}[self.part]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return _batched(self, args, batched)

    def expand(self, node: Tensor) -> Tensor | None:
        *given, _, _, bar = node.args
        return None if is_blas(node.dtype) else self._dense(given, bar)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        args = node.args
        *given, _, _, _ = args
        count = len(given)
        bias = Argument(3) if count > 3 else Argument(0)
        pointers = (*map(Argument, range(3)), bias, *map(Argument, range(count, count + 3)))
        sizes = _sizes(self.causal, given[:3], given[3:], size)
        suffix = blas_suffix(node.dtype)
        if self.part in ("queries", "bias"):
            scores = ir.const(int(self.part == "bias"))
            return LibCall(f"attention_queries_{suffix}", (*sizes, scores, *pointers, Argument(-1)))
        results = (AttentionBar("keys", self.causal), AttentionBar("values", self.causal))
        given_to = (*sizes, *pointers, Argument(-1), Argument(-2))
        return LibCall(f"attention_keys_{suffix}", given_to, results)

    @property
    def label(self) -> str:
        return f"attention_{self.part}"


# --- shared by both ops ---------------------------------------------------------------------------


def dense_scores(causal: bool, q: Tensor, k: Tensor, *bias: Tensor) -> Tensor:
    """The whole matrix ``q k' + bias``."""
    scores = matmul(q, swapaxes(k, 1, 2))
    for more in bias:
        scores = scores + more
    if causal:
        rows, columns = arange(length(q, 1)), arange(length(k, 1))
        seen: Tensor = OPERATORS["ge"](expand_dims(rows, 1), columns)
        scores = where(seen, scores, cast_to(-np.inf, q.dtype))
    return scores


def _weights(causal: bool, q: Array, k: Array, v: Array, *bias: Array) -> tuple[Array, Array]:
    """The weights, and the logarithms of the sums that they were divided by, in NumPy."""
    wide = np.float32 if q.dtype == np.float16 else q.dtype
    with np.errstate(all="ignore"):
        scores = q.astype(wide) @ k.astype(wide).swapaxes(1, 2)
        for more in bias:
            scores = scores + more
        if causal:
            scores = np.where(np.tri(q.shape[1], k.shape[1], dtype=bool), scores, -np.inf)
        top = scores.max(2, keepdims=True, initial=-np.inf)
        powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
        total = powers.sum(2, keepdims=True)
        logs = (np.log(total) + np.where(np.isfinite(top), top, 0))[:, :, 0]
        return powers / total, logs


def _to_scores(args: Sequence[Tensor], back: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients for queries, keys and bias, given that of the scores."""
    q, k = args[:2]
    return matmul(back, k), matmul(swapaxes(back, 1, 2), q), back


def _split(
    args: Sequence[Tensor], to_q: Tensor, to_k: Tensor, back: Tensor, to_v: Tensor | None
) -> list[Tensor | None]:
    return [to_q, to_k, to_v, *(sum_to(back, bias) for bias in args[3:])]


def _batched(op: Op, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
    """The batch joins the batch that is there."""
    first = args[batched.index(True)].type.shape[0]
    own = args[0].type.shape[1 if batched[0] else 0]
    joined: list[Tensor] = []
    for arg, flag in zip(args, batched, strict=True):
        rest = arg.type.shape[2 if flag else 1 :]
        wide = broadcast_to(arg if flag else expand_dims(arg, 0), (first, own, *rest))
        joined.append(reshape(wide, (dims.mul(first, own), *rest)))
    result = op(*joined)
    return reshape(result, (first, own, *result.type.shape[1:]))


def _sizes(
    causal: bool, args: Sequence[Tensor], bias: Sequence[Tensor], size: SizeOf
) -> tuple[ir.Expr, ...]:
    q, k, v = (arg.type.shape for arg in args)
    shared = bool(bias) and bias[0].type.shape[0] == 1
    flags = (int(causal), int(bool(bias)), int(shared))
    return (*map(size, (*q[:2], k[1], q[2], v[2])), *map(ir.const, flags))


def _lengths(args: Sequence[Tensor]) -> Iterator[tuple[Dim, Dim, int, int]]:
    """Conditions on lengths of arguments: found, wanted, whose, and which axis."""
    (batch, n, d), k, v = (arg.type.shape for arg in args[:3])
    yield from ((k[0], batch, 1, 0), (v[0], batch, 2, 0), (k[2], d, 1, 2), (v[1], k[1], 2, 1))
    for bias in args[3:4]:
        shape = bias.type.shape
        if shape[0] != 1:
            yield shape[0], batch, 3, 0
        yield from ((shape[1], n, 3, 1), (shape[2], k[1], 3, 2))


_NAMES = ("queries", "keys", "values", "mask")


def _unequal(args: Sequence[Tensor], number: int, axis: int, lengths: tuple[object, object]) -> str:
    lines = "".join(
        f"\n  {name:<8} {describe(arg)}" for name, arg in zip(_NAMES, args, strict=False)
    )
    found, wanted = lengths
    return (
        f"attention: axis {axis - 3} of the {_NAMES[number]} is {found}, but the others ask for "
        f"{wanted}{lines}"
    )


def _equal(args: Sequence[Tensor], number: int, axis: int, lengths: tuple[Dim, Dim]) -> Requirement:
    found, wanted = lengths

    def message(value: Callable[[Dim], object]) -> str:
        return _unequal(args, number, axis, (value(found), value(wanted)))

    return Requirement(lengths, ShapeMismatch, message)


# --- functions for users --------------------------------------------------------------------------
# ---------------------------------------------------------------------------


def attention(
    queries: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    *,
    mask: TensorLike | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """``softmax(scale * queries @ keys.mT + mask) @ values``, without that matrix in memory.

    The last two axes are (n, d) of queries, (m, d) of keys and (m, e) of values, those before them
    the same for all, such as images and heads; the result has (n, e). `mask` has the last axes
    (n, m) or all: a bool, True where a query sees a key, or floats that are added. With `causal`,
    query i sees the keys up to number i. `scale` is ``1 / sqrt(d)`` if not given. Memory besides
    the result is one number for each query. Of float16 and bfloat16 all is computed in float32, and
    the result rounded once. A query that sees nothing gives NaN. Raises
    `ShapeMismatch`, at run time if need be, when lengths do not fit, and `DTypeError` for a mask of
    integers, which may be meant either way.

    >>> import symc.tensor as T
    >>> x = T.constant([[1.0, 0.0], [0.0, 1.0]])
    >>> T.nnet.attention(x, x, x, causal=True, scale=0.0).eval()
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    q, k, v = common([queries, keys, values], "float", "attention")
    if q.ndim < 2 or not q.ndim == k.ndim == v.ndim:
        raise RankError(
            "attention: queries, keys and values must have the same axes, at least 2\n"
            f"  queries  {describe(q)}\n  keys     {describe(k)}\n  values   {describe(v)}"
        )
    keep = q.dtype
    # Scores that are rounded to 16 bits change the weights by as much as their size times an ulp.
    q, k, v = wide(q), wide(k), wide(v)
    depth = q.type.shape[-1]
    factor = scale if scale is not None else 1 / sqrt(cast_to(public(depth), q.dtype))
    lead = q.type.shape[:-2]
    args = [_flat(q * factor, lead), _flat(k, lead), _flat(v, lead)]
    if mask is not None:
        args.append(_bias(as_tensor(mask), q, k, lead))
    result = Attention("output", causal)(*args)
    return cast_to(reshape(result, (*lead, *result.type.shape[1:])), keep)


def _flat(x: Tensor, lead: tuple[Dim, ...]) -> Tensor:
    """`x` with one batch axis instead of its leading ones."""
    own = x.type.shape
    for axis, (found, wanted) in enumerate(zip(own[:-2], lead, strict=True)):
        if isinstance(found, int) and isinstance(wanted, int) and found != wanted:
            raise ShapeMismatch(
                f"attention: axis {axis} is {found}, but for the queries it is {wanted}\n"
                f"  given  {describe(x)}"
            )
    for axis, wanted in enumerate(lead):  # else only their product would be compared
        x = specify_length(x, axis, wanted) if len(lead) > 1 else x
    return reshape(x, (dims.product(x.type.shape[:-2]), *own[-2:]))


def _bias(mask: Tensor, q: Tensor, k: Tensor, lead: tuple[Dim, ...]) -> Tensor:
    """The bias of the scores; with an axis for the batch, of length 1 where all have the same."""
    if mask.ndim not in (2, q.ndim):
        raise RankError(f"attention: mask must have 2 axes or {q.ndim}\n  mask  {describe(mask)}")
    if mask.dtype is BOOL:
        bias = where(mask, cast_to(0, q.dtype), cast_to(-np.inf, q.dtype))
    elif mask.dtype.is_float:
        bias = cast_to(mask, q.dtype)
    else:
        raise DTypeError(
            f"attention: mask must be bool or floats, not {mask.dtype}\n  mask  {describe(mask)}\n"
            "  of ones and zeros `mask != 0` makes a bool"
        )
    last = (q.type.shape[-2], k.type.shape[-2])
    if mask.ndim == 2:
        return expand_dims(broadcast_to(bias, last), 0)
    return reshape(broadcast_to(bias, (*lead, *last)), (dims.product(lead), *last))
