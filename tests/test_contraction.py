"""Multiplications and additions in one instruction, and values rounded to whole numbers."""

from __future__ import annotations

import numpy as np

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
    for result, loses in ((T.floor(x), True), (T.cast(x, "int32"), True), (x * x + 1, False)):
        request = Request("f", (x,), (), (result,), ())
        options = getattr(target_for(request), "options")  # noqa: B009 -- the C target's own
        assert (NO_CONTRACTION in options) is loses


def test_functions_that_round_keep_symcs_threads() -> None:
    """They ran on OpenMP's, which signals do not stop and which are gone in the child of a fork."""
    found = compiler.find_compiler()
    assert found is not None
    assert team.applies(found, (NO_CONTRACTION,)) is team.applies(found, ())
