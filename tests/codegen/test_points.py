"""Loops over points: versions for three coordinates, where their number is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

RNG = np.random.default_rng(17)
COUNTS = (0, 1, 2, 3, 4, 5, 8, 17)
ROWS = (0, 1, 3, 8, 37, 5000)

Formula = Callable[[Any, Any, Any, Any, Any], Any]


def unit(x: Any, y: Any, i: Any, j: Any, m: Any) -> Any:
    del y, i, j
    return x / m.sqrt(1 + (x * x).sum(axis=1, keepdims=True))


def reflected(x: Any, y: Any, i: Any, j: Any, m: Any) -> Any:
    del i, j, m
    return x - 2 * (x * y).sum(axis=1, keepdims=True) * y


def near(x: Any, y: Any, i: Any, j: Any, m: Any) -> Any:
    return m.exp(-((x[i] - y[j]) ** 2).sum(axis=1))


def larger(x: Any, y: Any, i: Any, j: Any, m: Any) -> Any:
    del j
    return m.maximum(x[i], y).sum(axis=1)


def moved(x: Any, y: Any, i: Any, j: Any, m: Any) -> Any:
    del m
    return x[i] * 2 - x[j] * y


def pushed(x: Any, y: Any, i: Any, j: Any, m: Any) -> Any:
    apart = x[i] - x[j]
    force = apart / (1 + (apart * apart).sum(axis=1, keepdims=True))
    if m is T:
        return y[i].inc(force)[j].inc(-force)
    y = y.copy()
    np.add.at(y, i, force)
    np.add.at(y, j, -force)
    return y


FORMULAS: dict[str, Formula] = {
    each.__name__: each for each in (unit, reflected, near, larger, moved, pushed)
}


def compiled(formula: Formula, dtype: str, count: int | None = None) -> Any:
    x, y = (T.tensor(dtype, (None, count), name) for name in "xy")
    i, j = T.lvectors("i", "j")
    f = symc.function([x, y, i, j], formula(x, y, i, j, T), on_unused_input="ignore")
    verify(f.runner.compilation().optimised)
    return f


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", FORMULAS)
def test_points_of_any_number_of_coordinates(name: str, dtype: str) -> None:
    f = compiled(FORMULAS[name], dtype)
    assert "_points(" in f.source or "== 3) {" in f.source
    for count in COUNTS:
        for rows in ROWS:
            x, y = RNG.standard_normal((2, rows, count)).astype(dtype)
            i, j = RNG.integers(-rows, rows, (2, rows)) if rows else np.zeros((2, 0), np.int64)
            got, wanted = f(x, y, i, j), FORMULAS[name](x, y, i, j, np)
            rtol, atol = (1e-12, 1e-13) if dtype == "float64" else (1e-4, 1e-5)
            np.testing.assert_allclose(got, wanted, rtol, atol, err_msg=f"{rows} x {count}")


def test_a_known_number_of_coordinates_has_one_version() -> None:
    assert "_points(" not in compiled(unit, "float64", 3).source


def test_matrices_that_are_no_points_have_one_version() -> None:
    """Each version is compiled, which takes longer."""
    x = T.matrix("x")
    centred = x - x.mean(axis=1, keepdims=True)
    layer = centred / T.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    stencil = x[1:-1, 1:-1] + x[2:, 1:-1] - x[:-2, 2:]
    for value in (layer, stencil, x[:, 1:] * 2):
        source = symc.function([x], value).source
        assert "_points(" not in source
        assert "== 3" not in source


def test_points_that_are_moved_in_place_step_by_step() -> None:
    begin = RNG.standard_normal((40, 3))
    points = symc.shared(begin, name="points")
    speed = T.matrix("speed")

    def step(_: Any, p: Any) -> Any:
        return p + speed / T.sqrt(1 + (p * p).sum(axis=1, keepdims=True))

    f = symc.function([speed], updates=[(points, symc.fori_loop(0, 5, step, points))])
    v = RNG.standard_normal((40, 3))
    wanted = begin
    for _ in range(5):
        wanted = wanted + v / np.sqrt(1 + (wanted * wanted).sum(axis=1, keepdims=True))
    f(v)
    np.testing.assert_allclose(points.get_value(), wanted, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_pictures_times_masks_and_weights_have_a_version(dtype: str) -> None:
    """Of three unknown channels: 8 times as slow as with the length known, 3 times JAX's time."""
    x, m = T.tensor(dtype, (None, None, None)), T.tensor(dtype, (None, None))
    w = T.tensor(dtype, (None,))
    formulas: list[Callable[[Any, Any, Any, Any], Any]] = [
        lambda xp, x, m, w: x * m[..., None],
        lambda xp, x, m, w: xp.maximum(x, m[..., None]) * w,
    ]
    for formula in formulas:
        out = formula(T, x, m, w)
        f = symc.function([x, m, w], out, on_unused_input="ignore")
        assert any("_points" in k.name for k in f.runner.compilation().optimised.kernels)
        verify(f.runner.compilation().optimised)
        for shape in ((5, 7, 3), (5, 7, 4), (0, 7, 3), (1, 1, 1), (3, 0, 2), (2, 3, 40)):
            given = [
                RNG.integers(0, 9, shape[k:n]).astype(dtype) for k, n in ((0, 3), (0, 2), (2, 3))
            ]
            np.testing.assert_array_equal(f(*given), formula(np, *given))


def test_matrices_have_no_version_for_elementwise_functions() -> None:
    x, w = T.dmatrix("x"), T.dvector("w")
    f = symc.function([x, w], x * w)
    assert not any("_points" in k.name for k in f.runner.compilation().optimised.kernels)
