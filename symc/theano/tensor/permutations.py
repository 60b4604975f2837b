"""Permutations: their inverses, and rows whose elements take other places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import integer_dtypes
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = ["PermuteRowElements", "inverse_permutation", "permute_row_elements"]


class PermuteRowElements(Op):
    """The rows of `x` with their elements at the places of `y`; or back, where `inverse`."""

    __props__ = ()

    def make_node(self, x: Any, y: Any, inverse: Any) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        back = as_tensor_variable(1 if inverse is True else 0 if inverse is False else inverse)
        assert y.type.dtype in integer_dtypes, "permutations are of integers"
        assert back.type.ndim == 0
        most = max(x.ndim, y.ndim)

        def padded(flags: Sequence[bool]) -> list[bool]:
            return [True] * (most - len(flags)) + list(flags)

        flags = [
            a and b for a, b in zip(padded(x.broadcastable), padded(y.broadcastable), strict=True)
        ]
        return Apply(self, [x, y, back], [TensorType(x.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, y, back = inputs
        most = max(x.ndim, y.ndim)
        x, y = (T.expand_dims(t, tuple(range(most - t.ndim))) for t in (x, y))
        together = T.zeros_like(y) + T.zeros_like(x, dtype=y.dtype)
        places = y + together
        order = T.where(T.ne(back, 0), T.argsort(places, axis=-1), places)
        whole = x + T.cast(together, x.dtype)
        return [T.take_along_axis(whole, order, axis=-1)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Places have no gradient."""
        return [[True], [False], [False]]


_permute_row_elements = PermuteRowElements()


def permute_row_elements(x: Any, y: Any, inverse: Any = 0) -> Any:
    """The rows of `x` with their elements at the places of `y`."""
    return _permute_row_elements(x, y, inverse)


def inverse_permutation(perm: Any) -> Any:
    """For each row, which is a permutation, the one that undoes it."""
    from symc.theano.tensor.creation import arange

    perm = as_tensor_variable(perm)
    return permute_row_elements(
        arange(perm.shape[-1].astype(perm.dtype), dtype=perm.dtype), perm, inverse=True
    )
