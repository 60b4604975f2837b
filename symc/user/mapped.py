"""An op applied to each element of a batch, for ops that have no rule of their own for batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symc import tensor as T
from symc.codegen.record import record
from symc.derivatives.batch import batch
from symc.derivatives.reverse import placeholder
from symc.graph.lowering import HostCall, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import TensorType, to_numpy
from symc.tensor.lengths import length


@record
class Mapped(Op):
    """`op` on each element along the leading axis that the `batched` arguments have."""

    op: Op
    batched: tuple[bool, ...]

    def infer(self, *args: Tensor) -> TensorType:
        inner = self.op.infer(*self._elements(args))
        return TensorType(inner.dtype, (args[self.batched.index(True)].type.shape[0], *inner.shape))

    def _elements(self, args: Sequence[Tensor]) -> list[Tensor]:
        """Inputs like one element of each batched argument; the other arguments as they are."""
        return [
            placeholder(TensorType(arg.dtype, arg.type.shape[1:])) if flag else arg
            for arg, flag in zip(args, self.batched, strict=True)
        ]

    @property
    def takes_bfloat16(self) -> bool:
        return True

    def evaluate(self, *args: Array) -> Array:
        count = args[self.batched.index(True)].shape[0]
        rows = [
            self.op.evaluate(*(a[k] if f else a for a, f in zip(args, self.batched, strict=True)))
            for k in range(count)
        ]
        if rows:
            return np.stack(rows)
        stand_ins = [T.tensor(array.dtype, array.shape) for array in args]
        kind = self.infer(*stand_ins)
        return np.empty([d if isinstance(d, int) else 0 for d in kind.shape], to_numpy(kind.dtype))

    def expand(self, node: Tensor) -> Tensor | None:
        elements = self._elements(node.args)
        inner = self.op.expand(self.op(*elements))
        if inner is None:
            return None
        over = {e: arg for e, arg in zip(elements, node.args, strict=True) if e is not arg}
        return batch([inner], over, length(node, 0))[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        elements = self._elements(node.args)
        inner = self.op(*elements)
        seed = placeholder(inner.type)
        found = self.op.grad(inner, seed)
        over = {e: arg for e, arg in zip(elements, node.args, strict=True) if e is not arg}
        wanted = [value for value in found if value is not None]
        pulled = iter(batch(wanted, {**over, seed: bar}, length(bar, 0)))
        results = [None if value is None else next(pulled) for value in found]
        return [
            value if value is None or flag else value.sum(axis=0)
            for value, flag in zip(results, self.batched, strict=True)
        ]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return Mapped(self, tuple(batched))(*args)

    def lower(self, node: Tensor, size: SizeOf) -> HostCall:
        return HostCall()

    def key(self) -> str:
        return f"Mapped({self.op.key()}, {self.batched})"

    @property
    def label(self) -> str:
        return f"{self.op.label}_of_each"
