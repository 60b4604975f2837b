"""What a kernel is: one computation, written once for each contestant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Program = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A computation of scientific codes, as functions of the same arrays.

    - `given`: the arrays, for a size; `size` is the one that is timed, `small` that of tests.
    - `symc`: of symbolic tensors. `numpy`: of arrays. `loops`: of arrays, as loops, for numba, and
      the oracle where there is no form for NumPy. `jax`: of JAX's arrays.
    - `rtol`: how far results may be from the oracle's, relative to its largest number.
    """

    name: str
    given: Callable[[int], tuple[Any, ...]]
    size: int
    small: int
    symc: Program
    numpy: Program | None = None
    loops: Program | None = None
    jax: Program | None = None
    rtol: float = 1e-9

    @property
    def oracle(self) -> Program:
        """The form that the others are compared with."""
        found = self.numpy or self.loops
        assert found is not None, self.name
        return found


def numbers(*shape: int, seed: int = 0) -> Any:
    """Numbers between 0 and 1."""
    return np.random.default_rng(seed).random(shape)


def places(bound: int, *shape: int, seed: int = 0) -> Any:
    """Whole numbers from 0 up to `bound`."""
    return np.random.default_rng(seed).integers(0, bound, shape)
