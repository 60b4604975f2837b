"""Multiplications and additions in one instruction, and values rounded to whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.targets import compiler, team
from symc.graph.request import Request
from symc.pipeline.library import NO_CONTRACTION, target_for


def test_coordinates_are_the_same_in_all_kernels() -> None:
    """The weights of an interpolation summed to 1 only up to the rounding of the coordinates."""
    image = T.matrix("image", dtype="float32")
    grid = T.vector("grid", dtype="float32")
    width = T.cast(T.shape(image)[1], "float32")
    x = (4 * grid + 1) / np.float32(2) * (width - 1)
    left = T.floor(x)
    first, second = (T.cast(T.clip(each, 0, width - 1), "int64") for each in (left, left + 1))
    result = (left + 1 - x) * image[:, first] + (x - left) * image[:, second]
    f = symc.function([image, grid], result)
    found = f(np.ones((2, 16), "float32"), np.linspace(-1, 1, 16).astype("float32"))
    np.testing.assert_array_equal(found, 1)


def test_only_functions_that_round_lose_the_instruction() -> None:
    x = T.vector("x")
    sums = x * x + T.roll(x, 1)
    for result, loses in (
        (T.floor(x), True), (T.cast(x, "int32"), True), (sums, False),
        (sums > T.roll(sums, 1), True), (sums[1:] < sums[:-1], True), (sums > 1, False),
        (x > T.roll(x, 1), False), (sums > x, False), (sums[:, None] >= sums, True),
        (T.maximum(sums, T.roll(sums, 1)), False),
    ):  # fmt: skip
        request = Request("f", (x,), (), (result,), ())
        options = getattr(target_for(request), "options")  # noqa: B009 -- the C target's own
        assert (NO_CONTRACTION in options) is loses


@pytest.mark.parametrize("axes", [1, 2])
def test_a_bug_elements_were_greater_than_themselves(axes: int) -> None:
    """Of two kernels, or of two places in one, not both made one instruction of both operations.

    Slopes of what is greater followed both sides then, or none.
    """
    x, by = T.tensor("float64", (None,) * axes, "x"), T.lscalar("by")
    sums = x * (x * 0.3) - T.roll(x, -2, 0)
    other = T.roll(sums, by, -1)
    greater = T.where(sums > other, sums, other)
    outputs = [(sums > other).sum(), symc.grad((greater**2).sum(), x)]
    f = symc.function([x, by], outputs)
    plain = symc.function([x, by], outputs, mode="python")
    rng = np.random.default_rng(0)
    for length in range(1, 40):
        given = rng.normal(size=(length,) * axes) * 2
        number, slopes = f(given, 0)
        assert number == 0
        np.testing.assert_allclose(slopes, plain(given, 0)[1])


def test_functions_that_round_keep_symcs_threads() -> None:
    """They ran on OpenMP's, which signals do not stop and which are gone in the child of a fork."""
    found = compiler.find_compiler()
    assert found is not None
    assert team.applies(found, (NO_CONTRACTION,)) is team.applies(found, ())
