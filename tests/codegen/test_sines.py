"""Sines and cosines of the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import symc
import symc.tensor as T


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sine_and_a_cosine_are_no_single_call(dtype: str) -> None:
    """gcc joined both into a call of sincos, which has no vector form: 12 times the time."""
    x = T.tensor(dtype, (None,))
    f = symc.function([x], [T.sin(x) + T.cos(x), T.cos(x)])
    given = np.linspace(-9, 9, 1001).astype(dtype)
    tolerance = 1e-6 if dtype == "float32" else 1e-14
    np.testing.assert_allclose(f(given)[0], np.sin(given) + np.cos(given), atol=tolerance)
    np.testing.assert_allclose(f(given)[1], np.cos(given), atol=tolerance)
    assert f.runner.folder is not None
    binaries = [
        path for path in Path(f.runner.folder).iterdir() if path.name.startswith("function")
    ]
    assert any(b"cos" in path.read_bytes() for path in binaries)
    assert not any(b"sincos" in path.read_bytes() for path in binaries)
