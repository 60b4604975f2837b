"""Expressions of linear algebra on which its rules fire, and numbers for their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc import tensor as T
from symc.graph.node import Tensor
from symc.tensor.linalg.common import Square
from symc.tensor.linalg.general import Lu
from symc.tensor.matrix_product import MatMul
from symc.tensor.views import DimShuffle

L: Any = T.linalg
RNG = np.random.default_rng(21)
# Well conditioned, so that both sides of a rule agree to the last digits.
M = np.eye(3) + 0.1 * RNG.standard_normal((3, 3))
P = np.eye(3) + 0.1 * RNG.standard_normal((3, 3))
STACK = np.eye(3) + 0.1 * RNG.standard_normal((2, 3, 3))
K = M @ M.T
W = RNG.standard_normal((3, 3))
V = RNG.standard_normal(3)


LINALG_EXAMPLES: dict[str, list[tuple[Any, Any]]] = {
    "a product over one element": [
        (lambda a, b: MatMul()(a[:, :1], b[:1]), [M, P]),
        (lambda a, b: MatMul(True, True)(a[:1], b[:, :1]), [M, P]),
        (lambda a, b: MatMul(False, True)(a[..., :1], b[..., :1]), [STACK, STACK]),
    ],
    "a product with a factor stretched by a length": [
        (lambda a, b: a @ b, [STACK, STACK]),
        (lambda a, b: a.mT @ b, [STACK, STACK]),
    ],
    "a matrix times a column or a row": [
        (lambda a, b: a @ b[:, :1], [M, P]),
        (lambda a, b: a[:1] @ b, [M, P]),
        (lambda a, b: a[:1] @ b[:, :1], [M, P]),
        (lambda a, b: MatMul(True, True)(a, b[1:2]), [M, P]),
        (lambda a, b: MatMul(True, True)(a[:, 1:2], b), [M, P]),
        (lambda a, b: MatMul(False, True)(a[1:2], b), [M.astype("f2"), P.astype("f2")]),
        (lambda a, b: a @ b[:, :1], [M + 1j * P, P - 2j * M]),
        (lambda a, b: a[:1] @ b, [np.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3)]),
    ],
    "a batch of matrices times vectors": [
        (lambda a, b: MatMul()(a, b[..., :1]), [STACK, STACK]),
        (lambda a, b: MatMul(True, True)(a, b[..., :1, :]), [STACK, STACK]),
        (lambda a, b: MatMul(False, True)(a[..., :1, :], b), [STACK, STACK]),
        (lambda a, b: MatMul(True)(a[..., :1], b), [STACK, STACK]),
    ],
    "a diagonal of a product": [
        (lambda a, b: T.trace(a @ b), [M, P]),
        (lambda a, b: T.diagonal(a.T @ b.T), [M, P]),
    ],
    "an inverse times a matrix": [
        (lambda a, b: L.inv(a) @ b, [M, W]),
        (lambda a, b: b @ L.inv(a), [M, W]),
        (lambda a, b: MatMul(True, True)(L.inv(a), b), [STACK, STACK]),
        (lambda a, b: MatMul(True, True)(b, L.inv(a)), [M, W]),
    ],
    "an inverse times a vector": [
        (lambda a, x: L.inv(a) @ x, [M, V]),
        (lambda a, x: x @ L.inv(a), [M, V]),
    ],
    "an inverse of an inverse": [(lambda a: L.inv(L.inv(a)), [M])],
    "an inverse of a transpose": [(lambda a: L.inv(a.T), [M]), (lambda a: L.inv(a.mT), [STACK])],
    "a transpose that is square": [(lambda a: Square("test")(a.T) * 2, [M])],
    "a system with a transpose": [(lambda a, b: L.solve(a.T, b), [M, W])],
    "a triangular system with a transpose": [
        (lambda k, b: L.solve_triangular(L.cholesky(k).T, b), [K, W]),
    ],
    "a system with a triangle": [
        (lambda k, b: L.solve(L.cholesky(k), b), [K, W]),
        (lambda a, b: L.solve(L.qr(a, mode="complete").R, b), [M, W]),
    ],
    "a system with a Cholesky product": [(lambda k, b: _rebuilt_system(L.cholesky(k), b), [K, W])],
    "whether a matrix is regular, known of another": [
        (lambda a: Lu(2)(DimShuffle((1, 0))(a)), [M]),
        (lambda a: Lu(2)(L.inv(a)), [M]),
        (lambda k: Lu(2)(L.cholesky(k)), [K]),
        (lambda k: Lu(2)(_product(L.cholesky(k))), [K]),
        (lambda a: Lu(2)(L.qr(a, mode="complete").R), [M]),
    ],
    "a logarithm of a determinant": [
        (lambda a: T.log(L.det(a)), [M]),
        (lambda a: T.log(abs(L.det(a))), [-M]),
    ],
    "a sign of a determinant": [(lambda a: T.sign(L.det(a)), [STACK])],
    "a determinant times what is divided by it": [
        (lambda a: 3.0 / L.det(a) * L.det(a), [M]),
        (lambda a: 3.0 / abs(L.det(a)) * T.sign(L.det(a)) * L.det(a), [-M]),
    ],
    "a determinant of a triangle": [
        (lambda k: L.det(L.cholesky(k)), [K]),
        (lambda k: L.slogdet(_product(L.cholesky(k))).logabsdet, [K]),
        (lambda k: L.slogdet(_product(L.cholesky(k))).sign, [K]),
        (lambda k: L.det(_product(L.cholesky(k))), [K]),
    ],
    "a determinant of a transpose": [(lambda a: L.det(a.T), [M])],
    "a determinant of an inverse": [
        (lambda a: L.det(L.inv(a)), [M]),
        (lambda a: L.slogdet(L.inv(a)).logabsdet, [M]),
        (lambda a: L.slogdet(L.inv(a)).sign, [-M]),
        (lambda a: L.slogdet(L.inv(a)).sign, [M + 1j * P]),
    ],
    "a determinant of a product": [
        (lambda a, b: L.det(a @ b), [M, P]),
        (lambda a, b: L.slogdet(a @ b).logabsdet, [M, P]),
    ],
}


def _product(factor: Tensor) -> Tensor:
    return MatMul(False, True)(factor, factor)


def _rebuilt_system(factor: Tensor, b: Tensor) -> Tensor:
    result: Tensor = L.solve(_product(factor), b)
    return result
