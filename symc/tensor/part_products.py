"""Products with a part of a matrix, read where it lies: `MatVecPart`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from symc.codegen import ir
from symc.codegen.record import record
from symc.errors import NotBatchable
from symc.graph import dims
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.matrix_product import SMALL_VECTOR, MatVec, blas_suffix, is_blas, multiply
from symc.tensor.slices import Slice, entry_requirements
from symc.tensor.spans import Entries, Range, layout, numpy_index

__all__: list[str] = []


@record
class MatVecPart(Op):
    """The product of a part of a matrix, transposed if the flag says so, and a vector.

    The arguments are the whole matrix, the vector, and the numbers that `entries` lack. The part
    has neighbours in a row: BLAS reads it where it lies, and there is no copy of it.
    """

    trans: bool
    entries: Entries

    def infer(self, *args: Tensor) -> TensorType:
        a, x, *given = args
        return MatVec(self.trans).infer(Slice(self.entries)(a, *given), x)

    def evaluate(self, *args: Array) -> Array:
        a, x, *given = args
        part = a[numpy_index(self.entries, given)]
        with np.errstate(all="ignore"):
            return multiply(part.T if self.trans else part, x)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        raise AssertionError("rewriting comes after derivatives")

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        raise NotBatchable("a product with a part of a matrix")

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        a, _, *given = node.args
        rows, columns = layout(self.entries, a, given, 2).axes
        assert isinstance(rows, Range)
        assert isinstance(columns, Range)
        width = size(a.type.shape[1])
        start = ir.add(ir.mul(size(rows.start), width), size(columns.start))
        alpha, beta = ir.Const(1.0, node.dtype), ir.Const(0.0, node.dtype)
        return LibCall(
            f"gemv_{blas_suffix(node.dtype)}",
            (
                ir.const(int(self.trans)), size(rows.length), size(columns.length),
                alpha, Argument(0, offset=start), width, Argument(1), beta, Argument(-1),
            ),
        )  # fmt: skip

    def require(self, node: Tensor) -> Iterable[Requirement]:
        a, x, *given = node.args
        yield from entry_requirements(node, self.entries, a, given)
        yield from MatVec(self.trans).require(MatVec(self.trans)(Slice(self.entries)(a, *given), x))

    @property
    def label(self) -> str:
        return "matvec"


def part_product(node: Tensor) -> Tensor | None:
    """A product of a vector and a part of a matrix; None if that is not for BLAS."""
    assert isinstance(node.op, MatVec)
    part, x = node.args
    if not isinstance(part.op, Slice) or not is_blas(node.dtype):
        return None
    a, *given = part.args
    axes = layout(part.op.entries, a, given, 1).axes
    if len(axes) != 2 or not all(isinstance(axis, Range) and axis.step == 1 for axis in axes):
        return None
    work = dims.product(part.type.shape)
    if isinstance(work, int) and work <= SMALL_VECTOR:
        return None
    return MatVecPart(node.op.trans, part.op.entries)(a, x, *given)
