"""The normal distribution within bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from symc.codegen.dtypes import FLOAT64
from symc.graph.node import Tensor, TensorLike
from symc.tensor.elementwise import cast_to, masked, peel, sum_to
from symc.tensor.exponentials import exp
from symc.tensor.logic import where
from symc.tensor.random.continuous import placed
from symc.tensor.random.draw import GRADIENTS
from symc.tensor.random.parameters import fit, float_dtype, refuse, wide
from symc.tensor.special_functions import erfc, erfcx

__all__ = ["truncated_normal"]


def truncated_normal(
    key: Tensor,
    low: TensorLike = -2.0,
    high: TensorLike = 2.0,
    loc: TensorLike = 0.0,
    scale: TensorLike = 1.0,
    size: Any = None,
    dtype: Any = None,
) -> Tensor:
    """Normal with mean `loc` and standard deviation `scale`, given that it is in ``[low, high]``.

    Either bound may be infinite; far out in a tail they work as well. NaN unless ``low <= high``.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.truncated_normal(T.random.key(0), 0.0, 1.0, size=3).eval()
    array([0.8805202 , 0.36209112, 0.31944577])
    """
    kind = float_dtype("truncated_normal", dtype, (low, high, loc, scale))
    shape, given = fit("truncated_normal", size, kind, low, high, loc, scale)
    bottom, top, middle, spread = (cast_to(parameter, FLOAT64) for parameter in given)
    refuse("truncated_normal", "the scale", spread, lambda value: value > 0, "above 0")
    bounds = ((bottom - middle) / spread, (top - middle) / spread)
    standard = wide("truncated_normal", key, shape, FLOAT64, *bounds)
    return cast_to(placed(standard, middle, spread), kind)


def _rule(node: Tensor, bar: Tensor, given: Sequence[Tensor]) -> Sequence[Tensor | None]:
    """By implicit differentiation of ``(F(x) - F(a)) / (F(b) - F(a)) = const``."""
    low, high = given
    mask, inner = peel(bar)
    # Seen from the side where the interval reaches further into the tail: it keeps digits.
    flip = low + high < 0
    a, b = where(flip, -high, low), where(flip, -low, high)
    x = where(flip, -node, node)
    below = _share(a, x) / _share(a, b)
    by_a = (1 - below) * exp((x - a) * (x + a) / 2)
    by_b = below * exp((x - b) * (x + b) / 2)
    slopes = where(flip, by_b, by_a), where(flip, by_a, by_b)
    # An infinite bound gets a mask, not a zero, which would be multiplied by infinity later.
    return [
        sum_to(masked(abs(bound) < math.inf, masked(mask, inner * slope)), bound)
        for bound, slope in zip(given, slopes, strict=True)
    ]


def _share(a: Tensor, b: Tensor) -> Tensor:
    """The normal probability of [a, b], divided by the density at a where that is far out."""
    half = math.sqrt(0.5)
    near = erfc(a * half) - erfc(b * half)
    far = erfcx(a * half) - erfcx(b * half) * exp((a - b) * (a + b) / 2)
    return where(a < 1.0, near, far)


GRADIENTS["random_truncated_normal"] = _rule
