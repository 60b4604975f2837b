"""Products summed over any axes: `einsum`, `tensordot` and `inner`.

Axes have labels. A product of two factors sums over the labels that nothing later needs; where
each factor also has labels of its own this is a matrix product, with the others as rows, columns
and batch. Several factors are multiplied two at a time, in an order that keeps results small.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from symc.errors import RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.node import Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.diagonals import diagonal
from symc.tensor.elementwise import common
from symc.tensor.lengths import normal_axes
from symc.tensor.matrix_product import (
    Agree,
    MatMul,
    MatVec,
    agreed,
    check_lengths,
    summed,
    summed_products,
)
from symc.tensor.reshape import reshape
from symc.tensor.views import dimshuffle, moveaxis, squeeze, transpose

__all__ = ["einsum", "inner", "tensordot"]

Labels: TypeAlias = tuple[str, ...]
Factor: TypeAlias = tuple[Tensor, Labels]

# The value assumed for a length known only at run time, while the order of products is chosen.
TYPICAL = 64


# --- a product of two factors ---------------------------------------------------------------------


def contract(left: Factor, right: Factor, kept: Collection[str]) -> Factor:
    """The product, summed over the labels that are not in `kept`. Lengths must agree already."""
    (a, la), (b, lb) = (
        _sum_out(factor, {*other[1], *kept}) for factor, other in ((left, right), (right, left))
    )
    batch = [x for x in la if x in lb and x in kept]
    inner = [x for x in la if x in lb and x not in kept]
    rows = [x for x in la if x not in lb]
    columns = [x for x in lb if x not in la]
    result = (*batch, *rows, *columns)
    if inner and rows and columns:
        return _matrix_product((a, la), (b, lb), batch, inner, rows, columns), result
    if inner and not batch and rows:
        return _matrix_vector((a, la), (b, lb), inner, rows), result
    if inner and not batch and columns:
        return _matrix_vector((b, lb), (a, la), inner, columns), result
    order = (*result, *inner)
    aligned = _aligned((a, la), order), _aligned((b, lb), order)
    return summed_products(*aligned, range(len(result), len(order))), result


def _sum_out(factor: Factor, needed: Collection[str]) -> Factor:
    x, labels = factor
    axes = [axis for axis, label in enumerate(labels) if label not in needed]
    return (summed(x, axes) if axes else x), tuple(label for label in labels if label in needed)


def _aligned(factor: Factor, order: Sequence[str]) -> Tensor:
    x, labels = factor
    return dimshuffle(x, [labels.index(label) if label in labels else "x" for label in order])


def _matrix_product(
    left: Factor, right: Factor, batch: list[str], inner: list[str], rows: list[str],
    columns: list[str],
) -> Tensor:  # fmt: skip
    a, trans_a = _as_matrices(left, batch, rows, inner)
    b, trans_b = _as_matrices(right, batch, inner, columns)
    product = MatMul(trans_a, trans_b)(a, b)
    shape = [_length(left, x) for x in (*batch, *rows)] + [_length(right, x) for x in columns]
    return reshape(product, tuple(shape))


def _matrix_vector(left: Factor, right: Factor, inner: list[str], rows: list[str]) -> Tensor:
    a, trans = _as_matrices(left, [], rows, inner)
    x = _aligned(right, inner)
    vector = reshape(x, (dims.product(x.type.shape),))
    return reshape(MatVec(trans)(a, vector), tuple(_length(left, x) for x in rows))


def _as_matrices(
    factor: Factor, batch: list[str], rows: list[str], columns: list[str]
) -> tuple[Tensor, bool]:
    """The factor with merged rows and columns; or transposed, if nothing must be moved for that."""
    labels = factor[1]
    trans = labels == (*batch, *columns, *rows) and labels != (*batch, *rows, *columns)
    first, second = (columns, rows) if trans else (rows, columns)
    moved = _aligned(factor, [*batch, *first, *second])
    merged = (dims.product(_length(factor, label) for label in part) for part in (first, second))
    return reshape(moved, (*(_length(factor, label) for label in batch), *merged)), trans


def _length(factor: Factor, label: str) -> Dim:
    x, labels = factor
    return x.type.shape[labels.index(label)]


# --- tensordot ------------------------------------------------------------------------------------


def tensordot(
    a: TensorLike, b: TensorLike, axes: int | Sequence[int | Sequence[int]] = 2
) -> Tensor:
    """The sum over axes of `a` and as many of `b`: NumPy's ``tensordot``.

    `axes` is a pair of axis lists, or a number: that many last axes of `a` and first of `b`. The
    result has the other axes of `a`, then those of `b`. Raises `ShapeMismatch`, at run time if need
    be, when lengths differ.

    >>> import symc.tensor as T
    >>> T.tensordot(T.tensor("float64", (2, 3, 4)), T.tensor("float64", (3, 4, 5)))
    <reshape(?) @ reshape(?) float64[2, 5]>
    """
    a, b = common((a, b), "same", "tensordot")
    if isinstance(axes, int | np.integer):
        axes = (tuple(range(a.ndim - int(axes), a.ndim)), tuple(range(int(axes))))
    if not isinstance(cast("object", axes), list | tuple) or len(axes) != 2:
        raise TypeError(
            "tensordot: axes is a number, or a pair of axes, one or a list of the left and as many "
            f"of the right, not {axes!r}"
        )
    first = normal_axes("tensordot", axes[0], a.ndim, a)
    second = normal_axes("tensordot", axes[1], b.ndim, b)
    if len(first) != len(second):
        raise ValueError(
            f"tensordot: {len(first)} axes of the left but {len(second)} of the right in {axes!r}\n"
            f"  left   {describe(a)}\n  right  {describe(b)}"
        )
    for axis_a, axis_b in zip(first, second, strict=True):
        a, b = agreed("tensordot", a, axis_a, b, axis_b)
    labels_a = tuple(f"a{axis}" for axis in range(a.ndim))
    labels_b = tuple(
        f"a{first[second.index(axis)]}" if axis in second else f"b{axis}" for axis in range(b.ndim)
    )
    kept = {*labels_a} ^ {*labels_b}
    return contract((a, labels_a), (b, labels_b), kept)[0]


def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """The sums over the last axes of both; with a scalar, the product.

    Raises ShapeMismatch, at run time if need be, when the last axes differ in length.

    >>> import symc.tensor as T
    >>> T.inner([[1, 2], [3, 4]], [10, 1]).eval()
    array([12, 34])
    """
    a, b = common((a, b), "same", "inner")
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return tensordot(a, b, ([-1], [-1]))


# --- einsum ---------------------------------------------------------------------------------------


def einsum(subscripts: str, *operands: TensorLike, optimize: Any = True) -> Tensor:
    """Products summed over labelled axes, as NumPy's ``einsum``: ``"ij,jk->ik"`` is ``a @ b``.

    Each letter is an axis. Letters that are not in the output are summed over; without ``->`` the
    output has the letters that occur once, in alphabetical order. ``...`` stands for further axes,
    which broadcast. The order of several products is chosen by their sizes, whatever NumPy's
    `optimize` says. A letter twice in one operand takes its diagonal. Raises ValueError for bad
    subscripts, `RankError` when an operand has the wrong number of axes and `ShapeMismatch`, at run
    time if need be, when axes of one letter differ in length.

    >>> import symc.tensor as T
    >>> x = T.tensor("float64", (2, 3), "x")
    >>> T.einsum("ij,kj->ik", x, x), T.einsum("ii", T.eye(3))
    (<x @ x.T float64[2, 2]>, <sum(diagonal(... == ...)) float64[]>)
    """
    del optimize
    if not isinstance(cast("object", subscripts), str):
        raise TypeError(
            f'einsum takes its subscripts as text, like "ij,jk->ik", not {subscripts!r}'
        )
    if not operands:
        raise ValueError(f"einsum: {subscripts!r} has no operands")
    tensors = common(operands, "same", "einsum")
    inputs, output = _parse(subscripts, tensors)
    factors = [_unrepeated(x, labels) for x, labels in zip(tensors, inputs, strict=True)]
    factors = _one_length_each(_without_ones(factors, output))
    while len(factors) > 1:
        i, j = _next_pair(factors, output)
        left, right = factors[i], factors[j]
        rest = [factor for n, factor in enumerate(factors) if n not in (i, j)]
        needed = {*output, *(label for _, labels in rest for label in labels)}
        factors = [*rest, contract(left, right, needed)]
    x, labels = _sum_out(factors[0], output)
    return transpose(x, [labels.index(label) for label in output]) if output else x


_SUBSCRIPTS = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*\Z")


def _parse(subscripts: str, operands: Sequence[Tensor]) -> tuple[list[Labels], Labels]:
    """The labels of the operands' axes and of the result's; those for ``...`` are ``.0 .1 ...``."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    if not all(_SUBSCRIPTS.match(part) for part in [*parts, right]):
        raise ValueError(f"einsum: {subscripts!r} is not made of letters, '...', ',' and '->'")
    if len(parts) != len(operands):
        raise ValueError(f"einsum: {subscripts!r} has {len(parts)} operands, not {len(operands)}")
    inputs = [_labels(part, x) for part, x in zip(parts, operands, strict=True)]
    counts = Counter(label for labels in inputs for label in labels)
    dots = sorted((label for label in counts if label[0] == "."), key=lambda x: -int(x[1:]))
    if not arrow:
        once = sorted(label for label, count in counts.items() if count == 1 and label[0] != ".")
        return inputs, (*dots, *once)
    if dots and "..." not in right:
        raise ValueError(f"einsum: the output of {subscripts!r} lacks the '...' of its operands")
    before, ellipsis, after = right.partition("...")
    output = (*before, *(dots if ellipsis else ()), *after)
    unknown = [label for label in output if label not in counts]
    if unknown or len(set(output)) < len(output):
        what = f"{unknown[0]!r}, which no operand has" if unknown else "a letter twice"
        raise ValueError(f"einsum: the output of {subscripts!r} has {what}")
    return inputs, output


def _labels(part: str, x: Tensor) -> Labels:
    before, ellipsis, after = part.partition("...")
    missing = x.ndim - len(before) - len(after)
    if missing < 0 or (missing and not ellipsis):
        raise RankError(
            f"einsum: {part!r} names {len(before) + len(after)} axes of an operand with {x.ndim}\n"
            f"  given  {describe(x)}"
        )
    return (*before, *(f".{n}" for n in reversed(range(missing))), *after)


def _unrepeated(x: Tensor, labels: Labels) -> Factor:
    """Takes diagonals until no label is repeated."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = _diagonal(x, first, second)
            labels = (*labels[:second], *labels[second + 1 :])
    return x, labels


def _diagonal(x: Tensor, first: int, second: int) -> Tensor:
    """The elements whose indexes along two axes are equal, along the first of them."""
    if x.type.shape[first] != x.type.shape[second]:
        check_lengths("einsum", x, first, x, second)
        x = Agree("einsum", second, first, False)(x, x)
    return moveaxis(diagonal(x, 0, first, second), -1, first)


def _without_ones(factors: list[Factor], output: Labels) -> list[Factor]:
    """Drops axes of length 1 along which another factor, or an earlier one, has the label too."""
    result: list[Factor] = []
    for number, (x, labels) in enumerate(factors):
        gone: list[int] = []
        for axis, label in enumerate(labels):
            others = [
                _length(other, label) != 1 or n < number
                for n, other in enumerate(factors)
                if n != number and label in other[1]
            ]
            if x.type.shape[axis] == 1 and any(others):
                gone.append(axis)
        kept = tuple(label for axis, label in enumerate(labels) if axis not in gone)
        result.append((squeeze(x, gone) if gone else x, kept))
    return result


def _one_length_each(factors: list[Factor]) -> list[Factor]:
    """Makes sure that all axes of one label have one length."""
    result = list(factors)
    owner: dict[str, int] = {}
    for number, (_, labels) in enumerate(factors):
        for label in labels:
            first = factors[owner.setdefault(label, number)]
            here, there = _length(factors[number], label), _length(first, label)
            if isinstance(here, int) and not isinstance(there, int):
                owner[label] = number
    for number, (_, labels) in enumerate(factors):
        for axis, label in enumerate(labels):
            other, other_labels = factors[owner[label]]
            if owner[label] != number:
                x = result[number][0]
                _, x = agreed("einsum", other, other_labels.index(label), x, axis)
                result[number] = (x, labels)
    return result


def _next_pair(factors: Sequence[Factor], output: Labels) -> tuple[int, int]:
    """The two factors whose product grows memory the least (and then takes the least work)."""

    def size(labels: Collection[str]) -> float:
        known = [lengths[label] for label in labels]
        return float(np.prod([dim if isinstance(dim, int) else TYPICAL for dim in known]))

    lengths = {label: _length(factor, label) for factor in factors for label in factor[1]}
    best: tuple[float, float, int, int] | None = None
    for i in range(len(factors)):
        for j in range(i + 1, len(factors)):
            left, right = set(factors[i][1]), set(factors[j][1])
            others = {x for n, f in enumerate(factors) if n not in (i, j) for x in f[1]}
            result = (left | right) & (others | set(output))
            cost = (size(result) - size(left) - size(right), size(left | right), i, j)
            best = cost if best is None or cost < best else best
    assert best is not None
    return best[2], best[3]
