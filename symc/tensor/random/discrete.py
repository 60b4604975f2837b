"""Whole numbers and truth values. Nothing is differentiated through them.

Each sampler takes a key; `size` is the shape of the result, by default that of the parameters,
which must broadcast to it. Parameters outside their range raise ValueError, at run time if need be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.codegen.dtypes import FLOAT64, INT64, UINT64, DType
from symc.errors import DTypeError
from symc.graph.inputs import as_tensor, constant_value
from symc.graph.node import OPERATORS, Array, Tensor, TensorLike
from symc.graph.types import as_dtype, to_numpy
from symc.tensor.broadcast import describe
from symc.tensor.checked import Checked
from symc.tensor.elementwise import cast_to
from symc.tensor.exponentials import log1p
from symc.tensor.math import ceil, maximum, minimum
from symc.tensor.random.draw import draw
from symc.tensor.random.parameters import demand, fit, shape_for
from symc.tensor.views import broadcast_to

__all__ = ["bernoulli", "binomial", "bits", "geometric", "integers", "poisson"]

# Above this a Poisson number might not fit an int64; the other is the largest float that does.
_LARGEST = 9.2e18
_MOST = float(2**63 - 1024)


def bits(key: Tensor, size: Any = (), dtype: Any = "uint64") -> Tensor:
    """Random bits, as uint64 or uint32: the words of Philox 4x32-10 in order.

    >>> import symc.tensor as T
    >>> T.random.bits(T.random.key(0), 2).eval()
    array([16242730742183356629, 11169168799798111308], dtype=uint64)
    """
    wanted = as_dtype(dtype)
    if wanted.name not in ("uint32", "uint64"):
        raise DTypeError(f"bits: the dtype is uint32 or uint64, not {wanted}")
    name = "random_bits" if wanted is UINT64 else "random_word"
    return draw(name, key, shape_for("bits", size, []), label="bits")


def integers(
    key: Tensor,
    low: TensorLike,
    high: TensorLike | None = None,
    size: Any = None,
    dtype: Any = "int64",
    endpoint: bool = False,
) -> Tensor:
    """Whole numbers in ``[low, high)``, or with `endpoint` in ``[low, high]``, all equally likely.

    ``integers(key, n)`` is in ``[0, n)``. The bounds are less than 2**63 apart. Raises ValueError
    where there is no number to choose.

    >>> import symc.tensor as T
    >>> T.random.integers(T.random.key(0), 6, size=8).eval().max() < 6
    np.True_
    """
    wanted = as_dtype(dtype)
    if not wanted.is_integer:
        raise DTypeError(f"integers: the dtype must be one of integers, not {wanted}")
    if high is None:
        low, high = 0, low
    ends = [_whole("integers", end) for end in (low, high)]
    shape = shape_for("integers", size, ends)
    start, stop = (end if end.ndim == 0 else broadcast_to(end, shape) for end in ends)
    count = stop - start + 1 if endpoint else stop - start
    known = [constant_value(start), constant_value(stop)]
    if (
        known[0] is not None
        and known[1] is not None
        and np.any(known[0] + (not endpoint) > known[1])
    ):
        raise ValueError(
            f"integers: there is no number from {known[0]} to {known[1]}\n  given  {describe(stop)}"
        )
    _check_fits(wanted, known[0], known[1], endpoint)
    if any(value is None for value in known):
        count = Checked("integers: there is no number to choose from")(count, count > 0)
    offset = draw("random_below", key, shape, cast_to(count, UINT64), label="integers")
    return cast_to(start + cast_to(offset, INT64), wanted)


def bernoulli(key: Tensor, p: TensorLike = 0.5, size: Any = None, dtype: Any = "bool") -> Tensor:
    """True with probability `p`, as bool or 0 and 1 of another dtype.

    `size` is the shape, that of `p` unless given.

    >>> import symc.tensor as T
    >>> T.random.bernoulli(T.random.key(0), 0.3, size=5).eval()
    array([False, False, False,  True, False])
    """
    shape, chance = _chance("bernoulli", p, size)
    name = "random_uniform" if chance.dtype is FLOAT64 else "random_uniform32"
    return cast_to(OPERATORS["lt"](draw(name, key, shape, label="bernoulli"), chance), dtype)


def binomial(
    key: Tensor,
    n: TensorLike = 1,
    p: TensorLike = 0.5,
    size: Any = None,
    dtype: Any = "int64",
) -> Tensor:
    """How many of `n` trials succeed, each with probability `p`.

    `size` is the shape, that of the parameters unless given; `dtype` is int64 unless given.

    >>> import symc.tensor as T
    >>> T.random.binomial(T.random.key(0), 10, 0.5, size=5).eval()
    array([7, 4, 4, 5, 6])
    """
    count = demand("binomial", "n", _whole("binomial", n), lambda n: n >= 0, "at least 0")
    chance = cast_to(as_tensor(p, FLOAT64), FLOAT64)
    chance = demand("binomial", "p", chance, _is_chance, "from 0 to 1")
    shape = shape_for("binomial", size, [count, chance])
    return cast_to(draw("random_binomial", key, shape, count, chance), dtype)


def poisson(key: Tensor, lam: TensorLike = 1.0, size: Any = None, dtype: Any = "int64") -> Tensor:
    """Poisson with mean `lam`: how many of many rare events happen.

    `size` is the shape, that of `lam` unless given; `dtype` is int64 unless given.

    >>> import symc.tensor as T
    >>> T.random.poisson(T.random.key(0), 4.0, size=5).eval()
    array([6, 3, 3, 3, 5])
    """
    mean = cast_to(as_tensor(lam, FLOAT64), FLOAT64)
    words = "at least 0, and below 9.2e18"
    mean = demand("poisson", "lam", mean, lambda lam: (lam >= 0) & (lam < _LARGEST), words)
    return cast_to(draw("random_poisson", key, shape_for("poisson", size, [mean]), mean), dtype)


def geometric(key: Tensor, p: TensorLike, size: Any = None, dtype: Any = "int64") -> Tensor:
    """How many trials it takes to the first success, each with probability `p`: at least 1.

    Where `p` is so small that the number does not fit, it is the largest one.

    `size` is the shape, that of `p` unless given; `dtype` is int64 unless given.

    >>> import symc.tensor as T
    >>> T.random.geometric(T.random.key(0), 0.25, size=5).eval()
    array([8, 4, 2, 1, 2])
    """
    shape, chance = _chance("geometric", p, size, above=True)
    u = draw("random_uniform", key, shape, label="geometric")
    trials = ceil(log1p(-u) / log1p(-cast_to(chance, FLOAT64)))
    return cast_to(cast_to(minimum(maximum(trials, 1.0), _MOST), INT64), dtype)


def _whole(label: str, number: TensorLike) -> Tensor:
    tensor = as_tensor(number)
    if tensor.dtype.is_float:
        raise DTypeError(f"{label}: integers are needed\n  given  {describe(tensor)}")
    return cast_to(tensor, INT64)


def _is_chance(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


def _chance(label: str, p: TensorLike, size: Any, above: bool = False) -> tuple[Any, Tensor]:
    chance = as_tensor(p, FLOAT64)
    if not chance.dtype.is_float:
        chance = cast_to(chance, FLOAT64)
    if above:
        words = "above 0 and at most 1"
        chance = demand(label, "p", chance, lambda p: (p > 0) & (p <= 1), words)
    else:
        chance = demand(label, "p", chance, _is_chance, "from 0 to 1")
    shape, (fitted,) = fit(label, size, chance.dtype, chance)
    return shape, fitted


def _check_fits(dtype: DType, low: Array | None, high: Array | None, endpoint: bool) -> None:
    """Raises `ValueError` if numbers are asked for that a dtype does not have."""
    limits = np.iinfo(to_numpy(dtype))
    if low is not None and np.any(low < limits.min):
        raise ValueError(f"integers: {dtype} has no numbers below {limits.min}")
    if high is not None and np.any(high - (not endpoint) > limits.max):
        raise ValueError(f"integers: {dtype} has no numbers above {limits.max}")
