"""Ops that Theano has beside its functions: `Tile`, `Choose`, `Tri`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.lenient import alike, lengths_vary
from symc.theano.scalar.dtypes import discrete_dtypes, upcast
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.elemwise import DimShuffle
from symc.theano.tensor.math import cast
from symc.theano.tensor.shaping import Reshape, element, shape_padleft
from symc.theano.tensor.type import TensorType

__all__ = ["Choose", "Tile", "Tri", "choose", "is_flat"]


class Tile(Op):
    """A tensor repeated along its axes, as often as a vector says."""

    __props__ = ("ndim",)

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim

    def make_node(self, x: Any, reps: Any) -> Apply:
        x, reps = as_tensor_variable(x), as_tensor_variable(reps)
        return Apply(self, [x, reps], [TensorType(x.type.dtype, [False] * self.ndim)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, reps = inputs
        counts: Any = tuple(element(reps, position) for position in range(self.ndim))
        return [T.tile(x, counts)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Counts have no gradient."""
        return [[True], [False]]


class Choose(Op):
    """Elements of several tensors, chosen by an index for each.

    For an index outside, `mode` "raise" raises, "wrap" counts around and "clip" takes the nearest.
    The inputs are the index, and a tensor with the others as its rows.
    """

    __props__ = ("mode",)

    def __init__(self, mode: str) -> None:
        assert mode in ("raise", "wrap", "clip")
        self.mode: Any = mode

    def make_node(self, a: Any, choices: Any) -> Apply:
        a = as_tensor_variable(a)
        if a.dtype not in discrete_dtypes:
            raise TypeError(f"choose first argument must have an [u]int* dtype. Got {a.dtype}.")
        if isinstance(choices, list | tuple):
            return ChooseOfSeveral(self.mode).make_node(a, choices)
        many = as_tensor_variable(choices)
        if many.ndim < 1:
            raise TypeError("choices needs an axis to choose along")
        own = (True,) * (many.ndim - 1 - a.ndim) + tuple(a.broadcastable)
        its = (True,) * (len(own) - many.ndim + 1) + tuple(many.broadcastable[1:])
        flags = [p and q for p, q in zip(own, its, strict=True)]
        return Apply(self, [a, many], [TensorType(many.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [self._chosen(inputs[0], inputs[1], node.inputs[1].broadcastable)]

    def _chosen(self, a: Tensor, many: Tensor, flags: Sequence[bool]) -> Tensor:
        """Elements of the rows of a tensor; `flags` says which of its axes broadcast."""
        count = T.shape(many)[0]
        places = T.cast(a, "int64")
        if self.mode == "clip":
            places = T.clip(places, 0, count - 1)
        elif self.mode == "wrap":
            places = places % count
        else:
            places = T.where(places < 0, count, places)  # NumPy takes none from the end here
        most = max(places.ndim, many.ndim - 1)
        if places.ndim < most:
            places = T.expand_dims(places, tuple(range(most - places.ndim)))
        rows: list[Any] = [places]
        lengths = T.shape(many)
        for axis in range(1, many.ndim):
            place = most - many.ndim + axis
            own = T.zeros((1,), dtype="int64") if flags[axis] else T.arange(lengths[axis])
            rows.append(T.reshape(own, [-1 if k == place else 1 for k in range(most)]))
        return many[tuple(rows)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[False], *([True] for _ in node.inputs[1:])]


class ChooseOfSeveral(Choose):
    """The same of tensors that are inputs each by itself, and broadcast against each other."""

    def make_node(self, a: Any, choices: Any) -> Apply:
        a, *many = (as_tensor_variable(each) for each in (a, *choices))
        if a.dtype not in discrete_dtypes:
            raise TypeError(f"choose first argument must have an [u]int* dtype. Got {a.dtype}.")
        most = max(each.ndim for each in (a, *many))
        dtype = upcast(*(each.dtype for each in many))
        wide = [shape_padleft(x, most - x.ndim) for x in (a, *(cast(x, dtype) for x in many))]
        flags = [all(column) for column in zip(*(x.broadcastable for x in wide), strict=True)]
        return Apply(self, wide, [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, *choices = alike(inputs) if lengths_vary() else inputs
        rows = T.stack(list(T.broadcast_arrays(*choices)))
        return [self._chosen(a, rows, (False,) * rows.ndim)]


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Elements of several tensors, chosen by an index for each."""
    assert out is None, "choose has no out="
    return Choose(mode)(a, choices)


class Tri(Op):
    """Ones on and below a diagonal."""

    __props__ = ("dtype",)

    def __init__(self, dtype: Any = None) -> None:
        from symc.theano.configparser import config

        self.dtype = config.floatX if dtype is None else dtype

    def make_node(self, N: Any, M: Any, k: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (N, M, k)]
        assert all(each.ndim == 0 for each in given)
        return Apply(self, given, [TensorType(self.dtype, (False, False))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        rows, columns, k = inputs
        down = T.expand_dims(T.arange(T.cast(rows, "int64")), 1)
        across = T.expand_dims(T.arange(T.cast(columns, "int64")), 0)
        return [T.cast(across - down <= k, node.outputs[0].dtype)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Counts have no gradient."""
        return [[False]] * 3


def is_flat(var: Any, ndim: int | None = None, outdim: int | None = None) -> bool:
    """Whether a variable was flattened to a number of axes, by default one."""
    wanted = ndim if ndim is not None else outdim if outdim is not None else 1
    if var.ndim == wanted:
        return True
    owner = var.owner
    return owner is not None and isinstance(owner.op, Reshape | DimShuffle) and var.ndim == wanted
