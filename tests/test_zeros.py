"""Signs of zeros: NumPy's in every mode but "fast", through rewrites, builders and generated C."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T

ZEROS = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -3.0])
PAIRS = [axis.ravel().copy() for axis in np.meshgrid(ZEROS, ZEROS)]

Expression = Callable[[Any, Any, Any], Any]
# Each with `T` or `np`, and two vectors of 36 elements. ``-(x - x)`` is -0.0 everywhere.
EXPRESSIONS: dict[str, Expression] = {
    "0 - x": lambda n, x, y: 0 - x,
    "x + 0": lambda n, x, y: x + 0,
    "0.0 + x": lambda n, x, y: 0.0 + x,
    "x - 0": lambda n, x, y: x - 0,
    "x - -0.0": lambda n, x, y: x - -0.0,
    "x + -0.0": lambda n, x, y: x + -0.0,
    "-0.0 - x": lambda n, x, y: -0.0 - x,
    "x * 0": lambda n, x, y: x * 0,
    "x * -1": lambda n, x, y: x * -1,
    "x / -2": lambda n, x, y: x / -2,
    "0 / x": lambda n, x, y: 0 / x,
    "-(x - y)": lambda n, x, y: -(x - y),
    "-(x + y)": lambda n, x, y: -(x + y),
    "-x + y": lambda n, x, y: -x + y,
    "-x - y": lambda n, x, y: -x - y,
    "x - -y": lambda n, x, y: x - -y,
    "-x * y": lambda n, x, y: -x * y,
    "-(x * 3)": lambda n, x, y: -(x * 3),
    "-(2 / x)": lambda n, x, y: -(2 / x),
    "sum of a list": lambda n, x, y: sum([x, y]),
    "x ** 3": lambda n, x, y: x**3,
    "x ** -3": lambda n, x, y: x**-3,
    "sqrt(x) ** 2": lambda n, x, y: n.sqrt(x) ** 2,
    "round": lambda n, x, y: n.round(x * 0.04, 1),
    "trunc": lambda n, x, y: n.trunc(x * 0.1),
    "ceil": lambda n, x, y: n.ceil(x * 0.1),
    "mod": lambda n, x, y: x % y,
    "fmod": lambda n, x, y: n.fmod(x, y),
    "floordiv": lambda n, x, y: x // y,
    "sign": lambda n, x, y: n.sign(x),
    "modf": lambda n, x, y: n.modf(x)[0],
    "where": lambda n, x, y: n.where(x > 0, x, y),
    "clip": lambda n, x, y: n.clip(x, -1, 1),
    "exp(x) - 1": lambda n, x, y: n.exp(x) - 1,
    "1 - exp(x)": lambda n, x, y: 1 - n.exp(x),
    "log(1 + x)": lambda n, x, y: n.log(1 + x),
    "log(1 - x)": lambda n, x, y: n.log(1 - x),
    "log(1 - -x)": lambda n, x, y: n.log(1 - -x),
    "log(exp(x))": lambda n, x, y: n.log(n.exp(x)),
    "expm1": lambda n, x, y: n.expm1(x),
    "log1p": lambda n, x, y: n.log1p(x),
    "arctan2": lambda n, x, y: n.arctan2(x, y),
    "sum of -0.0": lambda n, x, y: (-(x - x)).sum(),
    "sum of negatives": lambda n, x, y: (-(x - x) * -1).sum(),
    "sum of multiples": lambda n, x, y: ((x - x) * -2).sum(),
    "sum of quotients": lambda n, x, y: ((x - x) / -2.0).sum(),
    "sum times a sum": lambda n, x, y: ((x - x) * (y.sum() - 100)).sum(),
    "negative of a sum": lambda n, x, y: -((x - x).sum()),
    "mean": lambda n, x, y: (-(x - x)).mean(),
    "sum along an axis of length 1": lambda n, x, y: x[:, None].sum(axis=1),
    "mean along an axis of length 1": lambda n, x, y: x[:, None].mean(axis=1),
    "nansum along an axis of length 1": lambda n, x, y: n.nansum(x[:, None], axis=1),
    "prod along an axis of length 1": lambda n, x, y: x[:, None].prod(axis=1),
    "sum of what repeats": lambda n, x, y: n.broadcast_to(x, (4, 36)).sum(axis=0),
    "cumsum": lambda n, x, y: n.cumsum(-(x - x)),
    "cumsum along rows": lambda n, x, y: n.cumsum(-(x - x)[:, None] * y, axis=1),
    "cumsum of float32": lambda n, x, y: n.cumsum((-(x - x)).astype("float32")),
    "nancumsum": lambda n, x, y: n.nancumsum(-(x - x)),
    "cumprod": lambda n, x, y: n.cumprod(x),
    "median of one": lambda n, x, y: n.median(x[1:2]),
    "median": lambda n, x, y: n.median(-(x - x)),
    "nanmedian": lambda n, x, y: n.nanmedian(-(x - x)),
    "outer": lambda n, x, y: n.outer(x, y),
    "matrix product over one": lambda n, x, y: n.matmul(x[:, None], y[None]),
    "float32": lambda n, x, y: 0 - x.astype("float32"),
    "complex": lambda n, x, y: 0 - (x + 1j * y),
    "complex product": lambda n, x, y: (x + 1j * y) * (y - 1j * x),
}


def numbers(name: str) -> Any:
    """NumPy's results."""
    with np.errstate(all="ignore"):
        return np.asarray(EXPRESSIONS[name](np, *PAIRS))


@cache
def values(mode: str) -> dict[str, Any]:
    """symc's results, of one function for all."""
    x, y = T.tensor("float64", (36,), "x"), T.vector("y", shape=(36,))
    outputs = {name: build(T, x, y) for name, build in EXPRESSIONS.items()}
    results: dict[str, Any] = symc.function([x, y], outputs, mode=mode)(*PAIRS)
    return results


def check(got: Any, wanted: Any) -> None:
    """Zeros have the same signs, in both parts of complex numbers."""
    for left, right in ((got.real, wanted.real), (got.imag, wanted.imag)):
        other = (left == 0) & (right == 0) & (np.signbit(left) != np.signbit(right))
        assert not other.any(), (np.argwhere(other)[0], left[other], right[other])


@pytest.mark.parametrize("mode", ["default", "compile", "python"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_zeros_have_numpys_signs(name: str, mode: str) -> None:
    check(values(mode)[name], numbers(name))


def test_bug_zero_minus_x_became_the_negative_of_x() -> None:
    """`1 / (0.0 - x)` was -inf at 0."""
    x = T.vector("x")
    point = np.array([0.0, -0.0])
    for expression in (1 / (0.0 - x), 1 / (0 - x), 1 / (x + 0), 1 / (0 + x)):
        assert symc.function([x], expression)(point).tolist() == [np.inf, np.inf]
    assert symc.function([x], 1 / -(x - x))(point).tolist() == [-np.inf, -np.inf]
    assert symc.function([x], 1 / (0 - x), mode="fast")(point).tolist() == [-np.inf, np.inf]


def test_gradients_of_regions_add_zeros_as_numpy_does() -> None:
    """Zeros with a region written into, added: a -0.0 there becomes 0.0."""
    x = T.vector("x")
    zeros = T.zeros_like(x)
    total = zeros[:2].set(x[:2]) + zeros[2:].set(x[2:])
    point = np.array([-0.0, 0.0, -0.0, -1.0])
    for mode in ("default", "python"):
        check(symc.function([x], total, mode=mode)(point), np.array([0.0, 0.0, 0.0, -1.0]))
