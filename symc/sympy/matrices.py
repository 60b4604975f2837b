"""SymPy's matrices as tensors: explicit ones, matrix symbols, and expressions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, matmul, mul
from typing import TYPE_CHECKING, Any

import sympy
from sympy.matrices import expressions as matrix
from sympy.matrices.expressions.blockmatrix import BlockMatrix
from sympy.matrices.expressions.hadamard import HadamardPower, HadamardProduct
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.tensor.array.expressions import ArraySymbol
from sympy.tensor.array.expressions.array_expressions import ArrayElement

from symc import tensor as T
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor
from symc.graph.types import promote
from symc.sympy.functions import Value
from symc.tensor import linalg

if TYPE_CHECKING:
    from symc.sympy.to_symc import Converter

Handler = Callable[["Converter", Any], Value]


def _explicit(convert: Converter, expr: Any) -> Tensor:
    """The elements, broadcast against each other, after axes for rows and columns (and so on)."""
    return _arranged(of_one_dtype([convert(each) for each in flat(expr)]), expr.shape)


def flat(expr: Any) -> list[Any]:
    """The elements of a matrix or array, in order."""
    return list(expr.flat()) if isinstance(expr, sympy.MatrixBase) else sympy.flatten(expr.tolist())


def of_one_dtype(elements: list[Value]) -> list[Tensor]:
    """Elements as tensors; Python numbers among them take the dtype of the others."""
    known = [element.dtype for element in elements if isinstance(element, Tensor)]
    like = promote(*known) if known else None
    tensors = [as_tensor(element, like) for element in elements]
    dtypes = [tensor.dtype for tensor in tensors]
    return [T.cast(tensor, promote(*dtypes)) for tensor in tensors]


def _arranged(elements: list[Tensor], shape: Sequence[Any]) -> Tensor:
    """Elements of one dtype and shape, stacked along new leading axes."""
    lengths = tuple(map(int, shape))
    if not elements:
        return T.zeros(lengths)
    # Adding all, times zero, would break on infinities: a choice has the shape that is needed.
    chosen = T.constant(True)
    common = reduce(lambda x, y: T.where(chosen, x, y), elements)
    stacked = T.stack([T.where(chosen, element, common) for element in elements])
    return T.reshape(stacked, (*lengths, *stacked.shape[1:]))


def _matrix_product(convert: Converter, expr: Any) -> Value:
    numbers = [convert(arg) for arg in expr.args if not arg.is_Matrix]
    matrices = [convert(arg) for arg in expr.args if arg.is_Matrix]
    return reduce(mul, [*numbers, reduce(matmul, matrices)])


def _matrix_power(convert: Converter, expr: Any) -> Value:
    base, power = expr.args
    if not power.is_Integer:
        raise NotImplementedError(f"only whole powers of matrices can be computed, not {expr}")
    value = convert(base)
    if power < 0:
        value, power = linalg.inv(value), -power
    return linalg.matrix_power(value, int(power))


def _element(convert: Converter, expr: Any) -> Value:
    base, row, column = expr.args
    return as_tensor(convert(base))[convert(row), convert(column)]


def _slice(convert: Converter, expr: Any) -> Value:
    rows, columns = (slice(*map(convert, part)) for part in (expr.rowslice, expr.colslice))
    return as_tensor(convert(expr.parent))[rows, columns]


def _blocks(convert: Converter, expr: Any) -> Value:
    blocks = expr.blocks
    rows = [
        T.concatenate([as_tensor(convert(blocks[i, j])) for j in range(blocks.shape[1])], axis=1)
        for i in range(blocks.shape[0])
    ]
    return T.concatenate(rows, axis=0)


def _of(function: Callable[..., Value]) -> Handler:
    """A function of all arguments."""
    return lambda convert, expr: function(*map(convert, expr.args))


def _fold(operator: Callable[[Value, Value], Value]) -> Handler:
    return lambda convert, expr: reduce(operator, map(convert, expr.args))


MATRICES: dict[type, Handler] = {
    sympy.MatrixBase: _explicit,
    sympy.NDimArray: _explicit,
    sympy.Tuple: lambda convert, expr: T.stack([as_tensor(convert(item)) for item in expr]),
    sympy.MatrixSymbol: lambda convert, expr: _matrix_symbol(convert, expr),
    MatrixElement: _element,
    matrix.slice.MatrixSlice: _slice,
    sympy.MatAdd: _fold(add),
    sympy.MatMul: _matrix_product,
    sympy.MatPow: _matrix_power,
    sympy.Inverse: lambda convert, expr: linalg.inv(convert(expr.args[0])),
    matrix.transpose.Transpose: lambda convert, expr: as_tensor(convert(expr.args[0])).T,
    sympy.Adjoint: lambda convert, expr: T.conj(as_tensor(convert(expr.args[0])).T),
    sympy.Trace: _of(T.trace),
    sympy.Determinant: lambda convert, expr: linalg.det(convert(expr.args[0])),
    HadamardProduct: _fold(mul),
    HadamardPower: _of(T.pow),
    sympy.KroneckerProduct: _fold(T.kron),
    sympy.DotProduct: lambda convert, expr: T.sum(
        as_tensor(convert(expr.args[0])).ravel() * as_tensor(convert(expr.args[1])).ravel()
    ),
    ArraySymbol: lambda convert, expr: convert(expr.name),
    ArrayElement: lambda convert, expr: as_tensor(convert(expr.name))[
        tuple(map(convert, expr.indices))
    ],
    BlockMatrix: _blocks,
    sympy.Identity: lambda convert, expr: T.eye(convert(expr.args[0])),
    sympy.ZeroMatrix: lambda convert, expr: T.zeros(tuple(map(convert, expr.args))),
    sympy.OneMatrix: lambda convert, expr: T.ones(tuple(map(convert, expr.args))),
}
"""By class."""


def _matrix_symbol(convert: Converter, expr: Any) -> Value:
    found = convert.symbols.get(expr.name)
    if found is None:
        raise KeyError(f"no tensor was given for the matrix {expr}")
    return found
