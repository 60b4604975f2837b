"""Random bits in NumPy, whole arrays at once: Philox 4x32-10 and numbers made of one value each.

The bits are those of `philox.h`, which says how a key and an index make a counter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symc.graph.node import Array

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox(key: int, high: int, low: Array) -> tuple[Array, Array]:
    """Blocks for counters with these lower halves: words 0 and 1 of each, and words 2 and 3."""
    x0, x1 = low & _MASK, low >> _HALF
    x2, x3 = np.full_like(low, high & 0xFFFFFFFF), np.full_like(low, high >> 32)
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * x0, np.uint64(0xCD9E8D57) * x2
        x0, x1 = q >> _HALF ^ x1 ^ np.uint64(k0), q & _MASK
        x2, x3 = p >> _HALF ^ x3 ^ np.uint64(k1), p & _MASK
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return x0 | x1 << _HALF, x2 | x3 << _HALF


def _keys(key: int, high: int, i: Array) -> Array:
    first, second = philox(key, high, _half(i) | np.uint64(0xFFFF << 48))
    return np.where(i & 1, second, first)


def _bits(key: int, high: int, i: Array) -> Array:
    first, second = philox(key, high, _half(i))
    return np.where(i & 1, second, first)


def _words(key: int, high: int, i: Array) -> Array:
    pairs = _bits(key, high, i >> 1)
    return np.where(i & 1, pairs >> _HALF, pairs & _MASK).astype(np.uint32)


def _half(i: Array) -> Array:
    return i.astype(np.uint64) >> np.uint64(1)


def _unit(bits: Array) -> Array:
    result: Array = (bits >> np.uint64(11)) * 2.0**-53
    return result


def _uniform(key: int, high: int, i: Array) -> Array:
    return _unit(_bits(key, high, i))


def _uniform32(key: int, high: int, i: Array) -> Array:
    result: Array = (_words(key, high, i) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return result


def _box_muller(u: Array, turns: Array) -> Array:
    result: Array = np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * turns)
    return result


def _normal(key: int, high: int, i: Array) -> Array:
    radius, angle = philox(key, high, _half(i))
    return _box_muller(1 - _unit(radius), _unit(angle) - 0.25 * (i & 1))


def _normal32(key: int, high: int, i: Array) -> Array:
    pair = _bits(key, high, i >> 1)
    u = ((pair & _MASK) // np.uint64(2) + np.uint64(1)) * 2.0**-31
    turns = (pair >> np.uint64(40)) * 2.0**-24 - 0.25 * (i & 1)
    return _box_muller(u, turns).astype(np.float32)


VECTORISED: dict[str, Callable[[int, int, Array], Array]] = {
    "random_key": _keys,
    "random_bits": _bits,
    "random_word": _words,
    "random_uniform": _uniform,
    "random_uniform32": _uniform32,
    "random_normal": _normal,
    "random_normal32": _normal32,
}
"""Those functions of `codegen/math.py` that NumPy computes for an array of indexes."""


def numbers(function: str, key: Array, index: Array, parameters: list[Array]) -> Array:
    """The values of a function of `codegen/math.py` for a key, at each index."""
    low, high = map(int, key)
    known = VECTORISED.get(function)
    if known is not None:
        return known(low, high, index)
    from symc.codegen.math import FUNCTIONS
    from symc.codegen.meaning.arithmetic import fit

    row = FUNCTIONS[function]
    into = fit(row.types[-1])
    arrays: Any = np.broadcast_arrays(index, *parameters)
    flat = (
        into(row.python(low, high, *args))
        for args in zip(*(a.ravel().tolist() for a in arrays), strict=True)
    )
    return np.array(list(flat), dtype=row.types[-1].name).reshape(arrays[0].shape)
