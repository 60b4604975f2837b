"""Functions of complex numbers whose parts are infinite, NaN, zeros of a sign, tiny or huge."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

NAMES = (
    "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sign", "abs",
    "angle", "conj", "real", "imag", "isnan", "isinf", "isfinite",
)  # fmt: skip


def corners(dtype: str) -> Any:
    """All pairs of parts."""
    info = np.finfo(dtype)
    ends = [float(info.smallest_subnormal), float(info.max)]
    parts = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, *ends]
    return np.array([complex(re, im) for re, im in product(parts, repeat=2)], dtype)


def parts(values: Any) -> Any:
    return np.stack([values.real, values.imag])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", NAMES)
def test_as_numpy_has_it_at_the_ends(name: str, dtype: str) -> None:
    """Parts were NaN where NumPy has numbers, or infinite where these are not.

    NumPy's sign and log1p lose subnormal numbers, its sign those of an infinite absolute value;
    the sign of a zero beside NaN is no one's.
    """
    z, x = corners(dtype), T.tensor(dtype, (None,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = parts(getattr(np, name)(z))
    found = parts(symc.function([x], getattr(T, name)(x), mode="compile")(z))
    judged = np.full(z.shape, True)
    if name in ("sign", "log1p"):
        judged &= ~(np.abs(z) < np.finfo(dtype).tiny) | (z == 0)
    if name == "sign":
        judged &= ~(np.isinf(np.abs(z)) & np.isfinite(z))
    digits = 4 * float(np.finfo(dtype).eps)
    for one, other, beside in zip(found, right, right[::-1], strict=True):
        np.testing.assert_allclose(one[judged], other[judged], rtol=digits, atol=0)
        signed = judged & (other == 0) & ~np.isnan(beside)
        np.testing.assert_array_equal(np.signbit(one[signed]), np.signbit(other[signed]))


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_directions_of_tiny_numbers(mode: str) -> None:
    z = T.zvector("z")
    f = symc.function([z], T.sign(z), mode=mode)
    root = 0.5**0.5
    found = f(np.array([5e-324 + 5e-324j, -1e-310j, 0]))
    np.testing.assert_allclose(found, [complex(root, root), -1j, 0], rtol=1e-15)
