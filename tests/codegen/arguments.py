"""Arguments for functions under test, made of a seed."""

from __future__ import annotations

from typing import Any

import numpy as np


def arguments(inputs: list[Any], n: int, below: int = 200) -> list[Any]:
    """An array for each vector, or matrix of 3 rows, n long; integers from 0, under `below`."""
    rng = np.random.default_rng(n)
    made: list[Any] = []
    for node in inputs:
        shape = (n,) if node.ndim == 1 else (3, n)
        values = rng.normal(size=shape)
        if node.dtype.name == "bool":
            made.append(values > 0)
        elif node.dtype.is_integer:
            made.append(rng.integers(0, below, shape).astype(node.dtype.name))
        else:
            made.append(values.astype(node.dtype.name))
    return made
