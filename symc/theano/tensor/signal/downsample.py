"""The former name of `theano.tensor.signal.pool`."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor.signal import pool

DownsampleFactorMax = pool.Pool


def max_pool_2d(
    input: Any, ds: Any, ignore_border: bool | None = None, st: Any = None,
    padding: Any = (0, 0), mode: str = "max",
) -> Any:  # fmt: skip
    """Pooling along the last two axes."""
    return pool.pool_2d(input, ds, ignore_border, st, padding, mode)
