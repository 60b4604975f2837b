"""What the parts of a concatenation need at several places is computed once, as without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T


def stepped(xp: Any, q: Any) -> Any:
    """A step of a conservation law with fluxes between cells, of which those at the ends stay."""
    first = q if q.ndim == 1 else q[0]
    speed = xp.sqrt(abs(first) + 1) / (first * first + 1)
    flux = xp.maximum(speed[1:], speed[:-1]) * (q[..., 1:] - q[..., :-1])
    inside = q[..., 1:-1] - 0.01 * (flux[..., 1:] - flux[..., :-1])
    return xp.concatenate([q[..., :1], inside, q[..., -1:]], -1)


@pytest.mark.parametrize("ndim", [1, 2])
def test_what_one_of_several_parts_needs_at_several_places_is_stored(ndim: int) -> None:
    """Three places in one of three parts were taken for one: it took up to 5 times as long."""
    x = T.tensor("float64", (None,) * ndim)
    f = symc.function([x], stepped(T, x))
    lines = [line.strip() for line in f.source.splitlines() if "= sqrt(" in line]
    assert len(lines) == 1, f.source
    given = np.random.default_rng(0).normal(size=(40,) if ndim == 1 else (3, 40))
    np.testing.assert_allclose(f(given), stepped(np, given), rtol=1e-12)


def test_what_each_part_needs_at_one_place_is_not_stored() -> None:
    x = T.dvector("x")
    f = symc.function([x], T.concatenate([T.exp(x), T.exp(-x), T.exp(x) + 1]))
    assert "temp" not in f.program
    given = np.random.default_rng(0).normal(size=20)
    wanted = np.concatenate([np.exp(given), np.exp(-given), np.exp(given) + 1])
    np.testing.assert_allclose(f(given), wanted, rtol=1e-12)
