"""The random numbers of MRG31k3p (P. L'Ecuyer and R. Touzin, 2000), bit for bit as Theano's.

A stream's state is six numbers, three of each of two recurrences; streams start far apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import symc
import symc.tensor as T
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.gradient_types import DisconnectedType
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.shaping import as_lengths, vector_length
from symc.theano.tensor.type import TensorType

M1, M2 = 2147483647, 2147462579
_A1 = ((0, 4194304, 129), (1, 0, 0), (0, 1, 0))
_A2 = ((32768, 0, 32769), (1, 0, 0), (0, 1, 0))
_SCALE = {"float32": np.float32(4.6566126e-10), "float64": np.float64(4.656612873077392578125e-10)}


@cache
def _power(matrix: tuple[tuple[int, ...], ...], doublings: int, modulus: int) -> Any:
    """The matrix to the power 2**doublings."""
    result = np.array(matrix, dtype=object)
    for _ in range(doublings):
        result = result.dot(result) % modulus
    return result


def jumped(state: Any, doublings: int) -> Any:
    """A state 2**doublings numbers later."""
    first = _power(_A1, doublings, M1).dot(state[:3].astype(object)) % M1
    second = _power(_A2, doublings, M2).dot(state[3:].astype(object)) % M2
    return np.array([*first, *second], dtype="int64").astype("int32")


def ff_2p72(rstate: Any) -> Any:
    """The state of the next stream, 2**72 numbers later."""
    return jumped(np.asarray(rstate), 72)


def ff_2p134(rstate: Any) -> Any:
    """The state from which the next variable's streams start, 2**134 numbers later."""
    return jumped(np.asarray(rstate), 134)


def streams(start: Any, count: int) -> Any:
    """The states of so many streams, the first of which is `start`."""
    found = np.zeros((count, 6), dtype="int32")
    found[0] = start
    first, second = _power(_A1, 72, M1), _power(_A2, 72, M2)
    a, b = first.astype("int64"), second.astype("int64")
    row = start.astype("int64")
    for number in range(1, count):
        # The products fit into 64 bits, their sums only after the remainder.
        row = np.concatenate([(a * row[:3] % M1).sum(1) % M1, (b * row[3:] % M2).sum(1) % M2])
        found[number] = row
    return found


def following(state: Tensor) -> tuple[Tensor, Tensor]:
    """The next states of all streams, and the numbers that they give: integers up to M1."""
    x11, x12, x13, x21, x22, x23 = (T.cast(state[:, n], "int64") for n in range(6))
    y = ((x12 & 511) << 22) + (x12 >> 9) + ((x13 & 16777215) << 7) + (x13 >> 24)
    y = _within(_within(y, M1) + x13, M1)
    a = _within(((x21 & 65535) << 15) + 21069 * (x21 >> 16), M2)
    b = _within(((x23 & 65535) << 15) + 21069 * (x23 >> 16), M2)
    z = _within(_within(b + x23, M2) + a, M2)
    news = T.stack([y, x11, x12, z, x21, x22], axis=1)
    return T.cast(news, "int32"), T.where(T.le(y, z), y - z + M1, y - z)


def _within(x: Tensor, modulus: int) -> Tensor:
    return T.where(T.ge(x, modulus), x - modulus, x)


class mrg_uniform(Op):
    """Numbers between 0 and 1 in a given shape: gives the new states of the streams, and them."""

    __props__ = ("output_type",)
    makes_symbols = True

    def __init__(self, output_type: TensorType) -> None:
        self.output_type = output_type

    @classmethod
    def new(cls, rstate: Any, ndim: int | None, dtype: str, size: Any) -> Any:
        """The new states and the numbers of a shape, whose rank a size that is a tuple tells."""
        size = as_tensor_variable(size)
        ndim = vector_length(size) if ndim is None else ndim
        return cls(TensorType(dtype, (False,) * ndim))(rstate, size)

    def make_node(self, rstate: Any, size: Any) -> Apply:
        return Apply(self, [rstate, size], [rstate.type(), self.output_type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        state, size = inputs
        lengths = as_lengths(size, self.output_type.ndim)
        total: Any = 1
        for each in lengths:
            total = total * each
        count = T.shape(state)[0]
        steps = (total + count - 1) // count
        if not isinstance(steps, int):  # no numbers at all still have the state they leave
            steps = T.maximum(steps, 1)
        numbers = T.arange(count)

        def step(number: Tensor, before: Tensor) -> Any:
            after, drawn = following(before)
            going = T.lt(number * count + numbers, total)
            return [T.where(T.expand_dims(going, 1), after, before), drawn]

        known = steps if isinstance(steps, int) else constant_value(steps)
        if known is not None and int(known) == 1:
            last, drawn = step(T.constant(0), state)
        else:
            (states, rows), _ = symc.scan(
                step, sequences=T.arange(steps), outputs_info=[state, None], return_list=True
            )
            last, drawn = states[-1], T.ravel(rows)
        dtype = self.output_type.dtype
        wide = "float32" if dtype in ("float16", "float32") else "float64"
        values = T.cast(drawn[:total], wide) * T.constant(_SCALE[wide])
        return [last, T.reshape(T.cast(values, dtype), lengths)]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        return [DisconnectedType()() for _ in inputs]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Random numbers have no gradient."""
        return [[False, False], [False, False]]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        return [None, None]


class DotModulo(Op):
    """Two products of a matrix and a vector, each modulo a number of its own, one after the other.

    Matrices of int64 and vectors of int32 with elements below 2**31: each product of two elements
    fits into 64 bits, and so do the sums of remainders.
    """

    __props__ = ()

    def make_node(self, A: Any, s: Any, m: Any, A2: Any, s2: Any, m2: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (A, s, m, A2, s2, m2)]
        return Apply(self, given, [given[1].type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        parts = []
        for matrix, vector, modulus in (inputs[:3], inputs[3:]):
            wide = T.cast(modulus, "int64")
            terms = T.cast(matrix, "int64") * T.expand_dims(T.cast(vector, "int64"), 0) % wide
            parts.append(T.sum(terms, axis=1) % wide)
        return [T.cast(T.concatenate(parts), node.outputs[0].dtype)]


def matVecModM(A: Any, s: Any, m: Any) -> Any:
    """The product of a matrix and a vector of NumPy modulo a number, as int32."""
    wide = np.asarray(A, dtype="int64") * np.asarray(s, dtype="int64") % m
    return np.int32(np.sum(wide, 1) % m)


def multMatVect(v: Any, A: Any, m1: Any, B: Any, m2: Any) -> Any:
    """Both halves of a state, each times a matrix modulo a number."""
    half = len(v) // 2
    return np.concatenate([matVecModM(A, v[:half], m1), matVecModM(B, v[half:], m2)])
