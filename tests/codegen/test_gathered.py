"""Copies of elements at places that are read go one by one (`passes/kernels/gathered.py`)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(0)


def kernels(source: str) -> str:
    return source[source.index("/* ---- kernels") : source.index("/* ---- host")]


@pytest.mark.parametrize(
    ("table", "place"),
    list(itertools.product(["uint8", "float64", "complex64", "bool"], ["uint8", "int64"])),
)
def test_no_vectors(table: str, place: str) -> None:
    """Elements of a byte took 2.7 times as long in vector registers."""
    x, at = T.vector("x", dtype=table), T.vector("at", dtype=place)
    f = symc.function([x, at], x[at])
    assert "omp simd" not in kernels(f.source).split("getitem_kernel")[-1]
    for length in (0, 1, 5, 70_000):
        values = RNG.integers(0, 2, 200).astype(table)
        places = RNG.integers(0 if place == "uint8" else -200, 200, length).astype(place)
        np.testing.assert_array_equal(f(values, places), values[places])


def test_threads_share_it() -> None:
    x, at = T.dvector("x"), T.lvector("at")
    f = symc.function([x, at], x[at])
    assert "omp parallel for" in f.source
    given, places = RNG.normal(size=1000), RNG.integers(0, 1000, 1_000_000)
    np.testing.assert_array_equal(f(given, places), given[places])


def test_arithmetic_with_gathered_elements_has_vectors() -> None:
    x, at = T.dvector("x"), T.lvector("at")
    f = symc.function([x, at], T.sqrt(x[at]) * 2)
    assert "omp simd" in kernels(f.source)


def test_rows_at_places_have_vectors() -> None:
    x, at = T.dmatrix("x"), T.lvector("at")
    f = symc.function([x, at], x[at])
    assert "omp simd" in kernels(f.source)
    given, places = RNG.normal(size=(30, 9)), RNG.integers(-30, 30, 100)
    np.testing.assert_array_equal(f(given, places), given[places])
