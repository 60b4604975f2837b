"""Rules of matrix products.

Canonical: transposes of factors, and of a product, are the product's own flags.
"""

from __future__ import annotations

import numpy as np

from symc.graph.inputs import Constant, constant_value
from symc.graph.node import Tensor
from symc.rewrite.rule import EXACT, FINITE, ROUNDS, Rules
from symc.tensor.diagonals import Diagonal
from symc.tensor.elementwise import ELEMENTWISE, conjugated
from symc.tensor.matrix_product import MatMul, MatVec, summed_products
from symc.tensor.part_products import part_product
from symc.tensor.slices import Slice
from symc.tensor.views import BroadcastTo, DimShuffle, expand_dims

_mul, _div = ELEMENTWISE["mul"], ELEMENTWISE["div"]

PRODUCTS = Rules("products")
structural = PRODUCTS.structural


def is_transpose(node: Tensor) -> bool:
    """Whether a node exchanges the last two axes of its argument and does nothing else."""
    rank = node.ndim
    return (
        isinstance(node.op, DimShuffle)
        and rank >= 2
        and node.args[0].ndim == rank
        and node.op.order == (*range(rank - 2), rank - 1, rank - 2)
    )


@structural("a product of transposed factors", MatMul, valid=EXACT, inner=[DimShuffle])
def _transposed_factors(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, MatMul)
    flags = [node.op.trans_a, node.op.trans_b]
    args = list(node.args)
    for number, arg in enumerate(node.args):
        if is_transpose(arg):
            args[number], flags[number] = arg.args[0], not flags[number]
    return MatMul(*flags)(*args)


@structural(
    "a product with a factor stretched by a length", MatMul, valid=EXACT, inner=[BroadcastTo]
)
def _unstretched_factors(node: Tensor) -> Tensor | None:
    """A call says that the batch is as long as another: nothing is copied for that."""
    product = node.op(*map(_unstretched, node.args))
    return product if product.type == node.type else None


def _unstretched(factor: Tensor) -> Tensor:
    if not isinstance(factor.op, BroadcastTo) or factor.args[0].ndim < factor.ndim:
        return factor
    lengths = zip(factor.args[0].type.shape, factor.type.shape, strict=True)
    return factor if any(own == 1 != wanted for own, wanted in lengths) else factor.args[0]


@structural("a transposed matrix times a vector", MatVec, valid=EXACT, inner=[DimShuffle])
def _transposed_matrix(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, MatVec)
    a, x = node.args
    return MatVec(not node.op.trans)(a.args[0], x) if is_transpose(a) else None


@structural("a part of a matrix times a vector", MatVec, valid=EXACT, inner=[Slice])
def _part_times_vector(node: Tensor) -> Tensor | None:
    return part_product(node) if isinstance(node.args[0].op, Slice) else None


@structural(
    "a scaled matrix times a vector", MatVec, valid=ROUNDS, inner=[_mul, _div, ELEMENTWISE["neg"]]
)
def _scaled_matrix(node: Tensor) -> Tensor | None:
    """The vector is scaled instead. Of products of three numbers only the order changes."""
    a, x = node.args
    match a.args if a.op in (_mul, _div, ELEMENTWISE["neg"]) else ():
        case [whole]:
            return node.op(whole, -x)
        case [whole, factor] if _scales(factor, whole):
            return node.op(whole, a.op(x, factor))
        case [factor, whole] if a.op is _mul and _scales(factor, whole):
            return node.op(whole, factor * x)
        case _:
            return None


@structural("a conjugated matrix times a vector", MatVec, valid=ROUNDS, inner=[ELEMENTWISE["conj"]])
def _conjugated_matrix(node: Tensor) -> Tensor | None:
    """The vector is conjugated instead, and the product: the matrix is read where it lies."""
    a, x = node.args
    if a.op is not ELEMENTWISE["conj"] or not node.dtype.is_complex:
        return None
    return conjugated(node.op(a.args[0], conjugated(x)))


def _scales(factor: Tensor, whole: Tensor) -> bool:
    return factor.ndim == 0 and whole.ndim == 2 and factor.dtype == whole.dtype


def _scaled_twin(node: Tensor) -> tuple[Tensor, Tensor] | None:
    """Of ``(s * x) @ x.T`` or ``(s * x).T @ x``, or s on the other side, x and s."""
    if not isinstance(node.op, MatMul) or node.op.trans_a == node.op.trans_b:
        return None
    for scaled, plain in (node.args, node.args[::-1]):
        if scaled.op is _mul:
            for whole, factor in (scaled.args, scaled.args[::-1]):
                if whole is plain and _scales(factor, whole):
                    return whole, factor
    return None


@structural("a scaled matrix times its transpose", MatMul, valid=FINITE, inner=[_mul])
def _scaled_square(node: Tensor) -> Tensor | None:
    """The product is scaled: of one that is symmetric half is computed."""
    found = _scaled_twin(node)
    return None if found is None else found[1] * node.op(found[0], found[0])


@structural("a matrix times a constant times its transpose", MatMul, valid=ROUNDS, inner=[_mul])
def _scaled_square_by_constant(node: Tensor) -> Tensor | None:
    """As the rule above: a factor of ordinary size makes no infinity of what is none."""
    found = _scaled_twin(node)
    value = None if found is None else constant_value(found[1])
    if value is None or value.dtype.kind != "f" or value.dtype.itemsize < 4:
        return None
    return _scaled_square(node) if 1e-30 < value < 1e30 else None


@structural("a transposed product", DimShuffle, valid=ROUNDS, inner=[MatMul])
def _transposed_product(node: Tensor) -> Tensor | None:
    product = node.args[0]
    if not is_transpose(node) or not isinstance(product.op, MatMul):
        return None
    a, b = product.args
    return MatMul(not product.op.trans_b, not product.op.trans_a)(b, a)


@structural("a product over one element", MatMul, valid=ROUNDS)
def _outer_product(node: Tensor) -> Tensor | None:
    """A column times a row: whoever reads an element multiplies two numbers."""
    assert isinstance(node.op, MatMul)
    a, b = node.args
    if a.type.shape[-2 if node.op.trans_a else -1] != 1:
        return None
    product = (_flipped(a) if node.op.trans_a else a) * (_flipped(b) if node.op.trans_b else b)
    return product + 0 if node.dtype.is_inexact else product  # sums start from 0.0


@structural("a matrix times a column or a row", MatMul, valid=ROUNDS)
def _column_or_row(node: Tensor) -> Tensor | None:
    """A matrix times a vector: routines for products of matrices have few lanes to fill then."""
    op, (a, b) = node.op, node.args
    assert isinstance(op, MatMul)
    rows, columns = node.type.shape[-2:]
    if node.ndim != 2 or 1 not in (rows, columns):
        return None
    if columns == 1:
        return expand_dims(MatVec(op.trans_a)(a, DimShuffle((int(op.trans_b),))(b)), 1)
    return expand_dims(MatVec(not op.trans_b)(b, DimShuffle((int(not op.trans_a),))(a)), 0)


@structural("a batch of matrices times vectors", MatMul, valid=ROUNDS)
def _batched_vectors(node: Tensor) -> Tensor | None:
    """Sums of products, whose loops go through the whole batch: BLAS begins for each matrix."""
    op, (a, b) = node.op, node.args
    assert isinstance(op, MatMul)
    rows, columns = node.type.shape[-2:]
    inner = a.type.shape[-2 if op.trans_a else -1], b.type.shape[-1 if op.trans_b else -2]
    if node.ndim < 3 or 1 not in (rows, columns) or 1 in inner:
        return None
    if any((p == 1) != (q == 1) for p, q in zip(a.type.shape[:-2], b.type.shape[:-2], strict=True)):
        return None  # a call must see that they are equal
    last, before = node.ndim - 1, node.ndim - 2
    if columns == 1:
        axis = before if op.trans_a else last
        vectors = b if op.trans_a != op.trans_b else _flipped(b)
        return expand_dims(summed_products(a, vectors, (axis,)), last)
    axis = last if op.trans_b else before
    vectors = a if op.trans_a != op.trans_b else _flipped(a)
    return expand_dims(summed_products(vectors, b, (axis,)), before)


@structural("a diagonal of a product", Diagonal, valid=ROUNDS, inner=[MatMul])
def _diagonal_of_product(node: Tensor) -> Tensor | None:
    """The sums of an elementwise product: elements beside the diagonal are not computed."""
    product = node.args[0]
    rows, columns = product.type.shape[-2:]
    if node.op != Diagonal(0) or not isinstance(product.op, MatMul) or rows != columns:
        return None
    a, b = product.args
    left = _flipped(a) if product.op.trans_a else a
    right = b if product.op.trans_b else _flipped(b)
    return summed_products(left, right, (left.ndim - 1,))


@structural("a product with the identity", MatMul, MatVec, valid=FINITE, inner=[Constant])
def _identity(node: Tensor) -> Tensor | None:
    match node.op:
        case MatVec():
            return node.args[1] if _is_identity(node.args[0]) else None
        case MatMul(trans_a=trans_a, trans_b=trans_b):
            a, b = node.args
            if _is_identity(a):
                return _flipped(b) if trans_b else b
            if _is_identity(b):
                return _flipped(a) if trans_a else a
        case _:
            pass
    return None


def _is_identity(node: Tensor) -> bool:
    value = constant_value(node)
    if value is None or value.ndim != 2 or value.shape[0] != value.shape[1]:
        return False
    return np.array_equal(value, np.eye(len(value)))


def _flipped(node: Tensor) -> Tensor:
    return DimShuffle((*range(node.ndim - 2), node.ndim - 1, node.ndim - 2))(node)
