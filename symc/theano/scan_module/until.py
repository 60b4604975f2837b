"""The end of a loop by a condition."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor.convert import as_tensor_variable


class until:
    """The loop ends after the step in which the condition is true."""

    def __init__(self, condition: Any) -> None:
        self.condition = as_tensor_variable(condition)
        assert self.condition.ndim == 0
