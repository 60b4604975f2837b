"""Tables of which elements are gathered: which of them are stored (`schedule/tables.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

import symc
import symc.tensor as T

X, AT, N = T.dvector("x"), T.lvector("at"), T.lscalar("n")
RNG = np.random.default_rng(0)


def divides_where_it_gathers(f: Any) -> bool:
    """Whether a loop that reads at places divides, too."""
    kernels = f.source[f.source.index("/* ---- kernels") : f.source.index("/* ---- host")]
    loops = [text for text in kernels.split("for (")[1:] if "symc_place" in text or "at[" in text]
    return any(" / " in text.split("}")[0].split("{", 1)[-1] for text in loops)


def test_quotients_of_all_pages_are_stored() -> None:
    """A page rank divided once for each link, which took it half of its time."""
    degree = T.dvector("degree")

    def step(_: Any, rank: Any) -> Any:
        return 0.1 + T.zeros(rank.shape[0])[AT].inc((rank / degree)[AT])

    f = symc.function([X, AT, degree, N], symc.fori_loop(0, N, step, X))
    assert not divides_where_it_gathers(f)
    x, at, d = RNG.random(5), RNG.integers(0, 5, 40), RNG.random(5) + 1
    wanted: Any = x
    for _ in range(3):
        wanted = 0.1 + np.bincount(at, (wanted / d)[at], 5)
    np.testing.assert_allclose(f(x, at, d, 3), wanted)


def test_what_is_gathered_of_a_given_table_is_computed_where_it_is_read() -> None:
    """It may be few elements of many."""
    scale = T.dvector("scale")
    f = symc.function([X, AT, scale], (X / scale)[AT])
    assert divides_where_it_gathers(f)
    x, at, s = RNG.random(5), RNG.integers(0, 5, 3), RNG.random(5) + 1
    np.testing.assert_allclose(f(x, at, s), (x / s)[at])


def test_a_step_that_sets_few_elements_computes_few() -> None:
    def step(i: Any, x: Any) -> Any:
        return x[AT].inc((x / (1 + x * x))[AT])

    f = symc.function([X, AT, N], symc.fori_loop(0, N, step, X))
    assert divides_where_it_gathers(f)
    x, at = RNG.random(6), np.array([1, 4])
    wanted = x.copy()
    for _ in range(3):
        wanted[at] += (wanted / (1 + wanted * wanted))[at]
    np.testing.assert_allclose(f(x, at, 3), wanted)
