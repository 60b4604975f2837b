"""symc's own random streams under PyTensor's: Generators outside of a call, keys inside.

A key has 128 bits, and so has the state of a Generator of the kind PCG64. So a Generator becomes a
key at the start of a call, a key becomes a Generator at its end, and one that went both ways is
itself again: functions that draw one after another go on, whichever of them are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor.random.type import RandomType

from symc.graph.node import Array

# PCG64 adds this in each step, after Generators that are made here; it has to be odd.
_INCREMENT = 0x5851F42D4C957F2D14057B7EF767814F
_WORD = (1 << 64) - 1


def is_generator(variable: Any) -> bool:
    """Whether a variable's values are Generators."""
    return isinstance(variable.type, RandomType)


def key_of(generator: Any) -> Array:
    """The key of a Generator: its state, as two numbers of 64 bits.

    >>> import numpy as np
    >>> key_of(generator_of(np.array([1, 2], dtype=np.uint64)))
    array([1, 2], dtype=uint64)

    Raises TypeError for other bit generators than PCG64 and PCG64DXSM.
    """
    state: dict[str, Any] = generator.bit_generator.state
    if not state["bit_generator"].startswith("PCG64"):
        raise TypeError(
            'random="symc" takes Generators of PCG64, as numpy.random.default_rng makes them, not '
            f'of {state["bit_generator"]}; use random="numpy" for these'
        )
    # Generators that differ in their increments alone have other streams.
    bits = state["state"]["state"] ^ state["state"]["inc"] ^ _INCREMENT
    return np.array([bits & _WORD, bits >> 64], dtype=np.uint64)


def generator_of(key: Array) -> Any:
    """The Generator whose key this is."""
    made = np.random.PCG64(0)
    made.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(key[0]) | int(key[1]) << 64, "inc": _INCREMENT},
        "has_uint32": 0,
        "uinteger": 0,
    }
    return np.random.Generator(made)
