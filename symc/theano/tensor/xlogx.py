"""Products with logarithms that are 0 where the first factor is."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable


def xlogx(x: Any) -> Any:
    """``x * log(x)``, 0 at 0."""
    return xlogy0(x, x)


def xlogy0(x: Any, y: Any) -> Any:
    """``x * log(y)``, 0 where `x` is."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    absent = math.eq(x, 0)
    return math.switch(absent, 0.0, x * math.log(math.switch(absent, 1.0, y)))
