"""Indexes to test with: tables for several shapes, random ones, and the oracle of writing.

Every index can be tried with numbers that are known when the graph is built, and with inputs for
them; lengths of the tensor too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from tests.ops.harness import called, same
from tests.ops.lowering_check import check_nodes, enforce

S = np.s_
YES, NO = np.True_, np.False_

VECTOR: list[Any] = [
    S[0], S[-1], S[2], S[4], S[-5], S[:], S[...], S[()], S[None], S[..., None], S[None, :, None],
    S[1:], S[:-1], S[::2], S[::-1], S[::-2], S[1:3], S[3:1], S[3:1:-1], S[-2:], S[:-2], S[-100:100],
    S[100:], S[:-100], S[100::-1], S[:-100:-1], S[-1:0:-1], S[1:4:3], S[4:0:-3], S[2:2], S[0:1],
    S[[0]], S[[]], S[[0, 0, 2]], S[[-1, 1]], S[[[0, 1], [2, -2]]],
    S[[True, False, True, True, False]],
    S[np.array([3, 1], "int32")], S[np.array(2)], S[np.array([1, 4], "uint8")], S[np.int16(-2)],
    S[None, [1, 2]], S[[1, 2], None], S[np.zeros(5, bool)], S[YES], S[NO], S[YES, 1:],
    S[np.zeros((0, 2), int)], S[range(3)], S[..., [0, 1]],
]  # fmt: skip
MATRIX: list[Any] = [
    S[0], S[1:], S[:, 0], S[0, 1], S[-1, -1], S[1, ::-1], S[::-1, ::-1], S[:, 1:3], S[1:, :-1],
    S[..., 0], S[..., 1:], S[0, ...], S[None, 0, None, :, None], S[:, None], S[:, :],
    S[2:0:-1, ::2],
    S[[0, 2]], S[:, [0, 2, 0]], S[[0, 1], [1, 2]], S[[0, 1, 0], 1], S[1, [0, 1, 0]], S[[0, 1], 1:],
    S[1:, [0, 1]], S[::-1, [[0], [3]]], S[[[0], [1]], [0, 1]], S[None, [0, 1], ..., [0, 1]],
    S[None, [0, 1], [0, 1]], S[[0, 1], None, [0, 1]], S[[0, 1], ..., 1:], S[[True, False, True]],
    S[:, [True, False, True, False]], S[[True, False, True], 1], S[[True, False, True], 1:3],
    S[[True, False, True], [0, 1]], S[np.arange(12).reshape(3, 4) % 3 == 0],
    S[np.ones((3, 4), bool)],
    S[np.arange(12).reshape(3, 4) > 90], S[None, np.eye(3, 4, dtype=bool), None], S[YES, [0, 1]],
    S[[0, 1], YES], S[:, YES], S[:0, [0, 1]], S[3:, ::-1], S[np.arange(3), [3, 0, 3]],
    S[[1], np.arange(4)], S[[0, 0], :], S[[-1], ::-2],
]  # fmt: skip
CUBE: list[Any] = [
    S[0], S[:, 0], S[..., 0], S[0, 0, 0], S[1, :, 2], S[:, ::-1, 1:], S[::-1, None, 0, ::2],
    S[[0, 1]], S[:, [0, 2]], S[:, :, [0, 3, 0]], S[0, :, [0, 1]], S[:, 0, [0, 1]], S[[0, 1], :, 0],
    S[[0, 1], :, [0, 1]], S[[0, 1], 1:, [0, 1]], S[1:, [0, 1], [0, 1]], S[::-1, [0, 1], 1::2],
    S[[0, 1], 1:, ::-1], S[1:, ::-1, [0, 1]], S[:, 1:, [[0, 1], [2, 3]]],
    S[[[0], [1]], :, [0, 1, 2]],
    S[[[0], [1]], [0, 1, 2]], S[:, [[0], [1]], [0, 1, 2]], S[[0, 1], [1, 2], [2, 3]],
    S[0, [1, 2], 3],
    S[None, [0, 1], :, None, [0, 1]], S[:, None, [0, 1], [0, 1]], S[..., [0, 1], None, 0],
    S[np.arange(6).reshape(2, 3) % 2 == 0], S[:, np.arange(12).reshape(3, 4) % 5 == 0],
    S[np.arange(6).reshape(2, 3) % 2 == 0, 1], S[np.arange(6).reshape(2, 3) % 2 == 0, 1:],
    S[np.arange(6).reshape(2, 3) % 3 == 0, [0, 1]], S[[True, False], :, [0, 2]],
    S[[True, True], [0, 2], ::-1], S[np.arange(24).reshape(2, 3, 4) % 7 == 0], S[1, YES, :, [1, 1]],
]  # fmt: skip
ONE: list[Any] = [
    S[0], S[:], S[::-1], S[1:], S[:, 0], S[[0, 0]], S[:, [2, 1]], S[[True]], S[0, [0, 1]],
    S[[0], 1:],
    S[[[0]], [0, 1]], S[None, :, 1], S[[False]], S[0:1, ::-2],
]  # fmt: skip
EMPTY: list[Any] = [
    S[:], S[::-1], S[1:], S[:, 0], S[:, [0, 2]], S[[]], S[:0], S[..., ::-2], S[np.zeros(0, bool)],
    S[np.zeros((0, 3), bool)], S[:, [True, False, True]], S[[], 1:], S[None], S[-1:, [[0], [1]]],
]  # fmt: skip
TABLE: list[tuple[tuple[int, ...], list[Any]]] = [
    ((5,), VECTOR), ((3, 4), MATRIX), ((2, 3, 4), CUBE), ((1, 4), ONE), ((0, 3), EMPTY),
    ((), [S[()], S[...], S[None], S[YES], S[..., None], S[NO]]),
    ((3, 1, 2), [S[:, 0], S[[0, 2], 0], S[..., [0, 0], 1], S[:, ::-1, 1:], S[0, [[0]], [0, 1]]]),
]  # fmt: skip
OUTSIDE: list[tuple[tuple[int, ...], list[Any]]] = [
    ((5,), [S[5], S[-6], S[[0, 5]], S[[-6]], S[0, 0], S[..., 0, 1], S[[True] * 4], S[[5], None]]),
    ((3, 4), [S[3], S[0, 4], S[:, -5], S[[0, 3]], S[1:, [0, 4]], S[[0, 1], [0, -5]], S[:, :, 0],
              S[[True, False]], S[np.ones((4, 3), bool)], S[np.ones((3, 4), bool), 0]]),
    ((0, 3), [S[0], S[-1], S[[0]], S[:, 3], S[[0], 1:]]),
    ((), [S[0], S[[0]], S[:]]),
]  # fmt: skip


KINDS = ["static", "symbolic", "inputs"]


def values_for(shape: tuple[int, ...], seed: int = 0) -> Any:
    """A random array of a shape."""
    return np.random.default_rng(seed).standard_normal(shape)


class Inputs:
    """Replaces the numbers of an index by inputs, and keeps their values."""

    def __init__(self) -> None:
        self.values: dict[Tensor, Any] = {}

    def __call__(self, index: Any) -> Any:
        """The index with symbolic numbers."""
        if isinstance(index, tuple):
            return tuple(map(self, as_parts(index)))
        if isinstance(index, slice):
            cut: Any = index
            return slice(self(cut.start), self(cut.stop), self(cut.step))
        if index is None or index is Ellipsis:
            return index
        array = np.asarray(index)
        if array.dtype == np.bool_ and array.sum() == 1:
            return index  # a length that turns out to be 1 does not broadcast
        if not array.size and array.dtype.kind == "f":
            array = array.astype(np.int64)
        shape = tuple(n if n == 1 else None for n in array.shape)
        symbol = T.tensor(array.dtype.name, shape, name=f"i{len(self.values)}")
        self.values[symbol] = array
        return symbol


def cases(
    shape: tuple[int, ...], indexes: Sequence[Any], kind: str
) -> tuple[Tensor, list[Any], dict[Tensor, Any]]:
    """A tensor, the indexes as `kind` says, and the values of all inputs."""
    lengths = shape if kind == "static" else tuple(n if n == 1 else None for n in shape)
    x = T.tensor("float64", lengths, name="x")
    inputs = Inputs()
    used = [inputs(i) for i in indexes] if kind == "inputs" else list(indexes)
    return x, used, {x: values_for(shape), **inputs.values}


def compiled(outputs: Sequence[Tensor], values: dict[Tensor, Any]) -> Iterator[Sequence[Any]]:
    """The results of each call of one compiled function; see `called`."""
    function = symc.function(list(values), list(outputs), on_unused_input="ignore")
    return called(function, list(values.values()))


def chosen(array: Any, index: Any) -> Any:
    """Positions in row-major order that an index selects: the oracle of everything written."""
    return np.arange(array.size).reshape(array.shape)[index]


def written(array: Any, index: Any, values: Any, mode: str) -> Any:
    """The array with values set or added where an index reads, in row-major order."""
    where = chosen(array, index)
    result = array.ravel().copy()
    flat = np.broadcast_to(values, np.shape(where)).ravel()
    if mode == "set":
        for place, value in zip(np.ravel(where), flat, strict=True):
            result[place] = value
    else:
        np.add.at(result, np.ravel(where), flat)
    return result.reshape(array.shape)


def agree(outputs: Sequence[Tensor], values: dict[Tensor, Any], wanted: Sequence[Any]) -> None:
    """Checks values, lowerings, requirements and compiled code of all outputs at once."""
    check_nodes(outputs, values)
    enforce(outputs, values)
    for value, expected in zip(evaluate(outputs, values), wanted, strict=True):
        same(value, np.asarray(expected), 1e-15)
    for results in compiled(outputs, values):
        for value, expected in zip(results, wanted, strict=True):
            same(value, np.asarray(expected), 1e-15)


def single_bool(index: Any) -> bool:
    """Whether an index has a scalar mask."""
    return any(isinstance(part, np.bool_) for part in as_parts(index))


def as_parts(index: Any) -> tuple[Any, ...]:
    """The parts of an index."""
    parts: tuple[Any, ...] = index if isinstance(index, tuple) else (index,)
    return parts


def only_new(index: Any) -> bool:
    """Whether an index only makes new axes, so that there is nothing to write into."""
    parts = as_parts(index)
    whole = (slice(None), Ellipsis, None)
    plain = all(not isinstance(part, list | np.ndarray) and part in whole for part in parts)
    return plain and any(part is None for part in parts)


def random_index(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A random index that fits a shape, of every kind of part."""
    block = tuple(rng.integers(0, 4, rng.integers(0, 3)).tolist())
    items: list[Any] = []
    axis = 0
    stop = int(rng.integers(0, len(shape) + 1))
    while axis < stop:
        n = shape[axis]
        kind = rng.choice(["int", "slice", "slice", "array", "mask", "new", "full"])
        if kind == "int" and n:
            items.append(int(rng.integers(-n, n)))
        elif kind == "array" and (n or 0 in block):
            # A length 1 is only given where it is known, as unknown ones do not broadcast.
            items.append(rng.integers(-n, n, block) if n else np.zeros(block, int))
        elif kind == "mask" and block and not any(isinstance(i, np.ndarray) for i in items):
            items.append(rng.random(n) < 0.5)
            block = (int(items[-1].sum()),)
        elif kind == "new":
            items.append(None)
            continue
        elif kind == "slice":
            ends = [int(end) for end in rng.integers(-n - 2, n + 3, 2)]
            first, last = (None if rng.random() < 0.3 else end for end in ends)
            items.append(slice(first, last, (None, 1, 2, -1, -2, 3)[rng.integers(6)]))
        else:
            items.append(slice(None))
        axis += 1
    if rng.random() < 0.3:
        items.append(Ellipsis)
        items += [slice(None, None, -1)] * int(rng.integers(0, len(shape) - axis + 1))
    return tuple(items)


def message(error: type[Exception], f: Callable[[], Any]) -> str:
    """The first line of the error that `f` raises."""
    with pytest.raises(error) as caught:
        f()
    return str(caught.value).splitlines()[0]
