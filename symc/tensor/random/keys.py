"""Keys, from which random numbers follow. A key is two numbers of 64 bits, as a uint64 vector."""

from __future__ import annotations

import os
from typing import cast

import numpy as np

from symc.codegen.dtypes import INT64, UINT64
from symc.errors import DTypeError, RankError
from symc.graph.inputs import as_tensor, constant
from symc.graph.node import Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.build import arange
from symc.tensor.elementwise import cast_to
from symc.tensor.random.draw import Derive, checked_key
from symc.tensor.shape import stack

__all__ = ["fold_in", "key", "split"]


def seed_words(seed: int | None) -> tuple[int, int]:
    """A seed of up to 128 bits as two of 64; None takes them from the operating system."""
    if seed is None:
        return int.from_bytes(os.urandom(8), "little"), 0
    if isinstance(seed, bool) or not isinstance(cast("object", seed), int | np.integer):
        raise TypeError(f"a seed must be an integer, not {seed!r}")
    seed = int(seed)
    if not 0 <= seed < 1 << 128:
        raise ValueError(f"a seed must be from 0 to 2**128 - 1, not {seed}")
    return seed & 0xFFFFFFFFFFFFFFFF, seed >> 64


def key(seed: int | Tensor | None = None) -> Tensor:
    """A key made of a seed: an integer, a symbolic integer scalar, or None for a fresh one.

    Samplers are pure functions of their key: the same key gives the same numbers. For other numbers
    make other keys, by `split` and `fold_in`.

    >>> import symc.tensor as T
    >>> T.random.normal(T.random.key(0), size=3).eval()
    array([-1.62496344, -1.2683492 ,  0.92258139])
    """
    if not isinstance(seed, Tensor):
        return constant(np.array(seed_words(seed), dtype=np.uint64))
    if seed.ndim or not seed.dtype.is_integer:
        raise TypeError(f"a seed must be an integer scalar\n  given  {describe(seed)}")
    return stack([cast_to(seed, UINT64), cast_to(constant(0), UINT64)])


def fold_in(key: Tensor, data: TensorLike) -> Tensor:
    """A key for each integer of `data`: one for each step of a loop, or for each of several draws.

    A scalar gives a key; a tensor gives keys of its shape with a last axis of length 2. Numbers
    that differ by a multiple of 2**48 give the same key.

    >>> import symc.tensor as T
    >>> keys = [T.random.fold_in(T.random.key(0), step) for step in range(3)]
    """
    numbers = as_tensor(data)
    if not numbers.dtype.is_integer:
        raise DTypeError(f"fold_in: integers are needed, not {numbers.dtype}")
    return Derive()(checked_key(key, "fold_in"), cast_to(numbers, INT64))


def split(key: Tensor, num: int | Tensor = 2) -> Tensor:
    """`num` new keys: row i is ``fold_in(key, i)``. Afterwards do not use `key` itself again.

    The keys are uint64, of shape (num, 2).

    >>> import symc.tensor as T
    >>> T.random.split(T.random.key(0), 3)
    <key(constant, arange(0, 1, 3)) uint64[3, 2]>
    """
    count = as_tensor(num)
    if count.ndim:
        raise RankError(f"split: the number of keys must be a scalar, not {count.type}")
    return fold_in(key, arange(count))
