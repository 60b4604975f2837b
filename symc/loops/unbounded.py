"""Loops that end when their condition says so, and not before."""

from __future__ import annotations

from symc.graph import Tensor
from symc.tensor.checks import bounds

MANY = 2**63 - 1  # steps


def is_unbounded(steps: Tensor) -> bool:
    """Whether a loop may take so many steps that rows for all of them cannot be kept."""
    return bounds(steps)[1] == MANY
