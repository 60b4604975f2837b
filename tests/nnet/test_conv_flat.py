"""Convolutions whose rows are joined to lines: few features, short rows, strides, odd lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.fenced import fenced
from tests.near import assert_near, size_of
from tests.nnet import oracle

# (images, groups, channels of a group, lengths, features of a group, sizes)
SHAPES: list[tuple[int, int, int, tuple[int, int], int, tuple[int, int]]] = [
    (3, 2, 1, (14, 14), 1, (3, 3)),  # rows shorter than a vector
    (2, 2, 1, (7, 7), 1, (3, 3)),
    (2, 2, 1, (9, 29), 1, (3, 3)),  # the last vector of a line begins earlier
    (1, 2, 1, (97, 85), 1, (3, 3)),  # several lines for a plane
    (1, 2, 1, (3, 5003), 1, (2, 3)),  # rows that are cut
    (2, 2, 2, (11, 19), 2, (5, 5)),  # as many elements as several rounds of sums
    (2, 2, 3, (13, 21), 1, (1, 4)),
    (2, 2, 1, (13, 21), 4, (3, 1)),
    (2, 2, 8, (13, 21), 8, (3, 3)),  # tiles
    (1, 2, 7, (23, 18), 40, (2, 3)),  # more features than that
    (1, 2, 70, (5, 20), 1, (3, 3)),  # more elements than sums
    (1, 2, 1, (3, 3), 1, (3, 3)),  # planes shorter than a vector
    (0, 2, 1, (8, 20), 1, (3, 3)),  # no images
]
CASES: list[dict[str, Any]] = [
    {},
    {"padding": "same"},
    {"padding": "full", "dilation": 2},
    {"padding": "half", "stride": 2},
    {"padding": ((1, 0), (0, 2)), "stride": (2, 1), "dilation": (1, 2)},
    {"padding": (0, 2), "stride": (1, 3)},
    {"padding": 2, "stride": (4, 5), "flip_filters": False},
]


def _given(shape: Any, case: dict[str, Any], dtype: str) -> tuple[list[Any], dict[str, Any]]:
    images, groups, channels, lengths, features, sizes = shape
    case = case | {"groups": groups}
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, groups * channels, *lengths)).astype(dtype)
    w = rng.standard_normal((groups * features, channels, *sizes)).astype(dtype)
    y = oracle.conv(np.zeros((1, *x.shape[1:])), w, **case)
    return [x, w, rng.standard_normal((images, *y.shape[1:])).astype(dtype)], case


def _functions(groups: int, case: dict[str, Any], types: list[Any]) -> tuple[Any, Any]:
    x, w, bar = types
    options: dict[str, Any] = case | {"groups": groups}
    y = T.nnet.conv2d(x, w, **options)
    wanted = [y, *symc.Lop(y, [x, w], bar)]
    return symc.function([x, w, bar], wanted), symc.function([x, w, bar], wanted, mode="python")


def _check(got: Any, wanted: Any, dtype: str) -> None:
    for one, other in zip(got, wanted, strict=True):
        assert one.shape == other.shape
        tolerance = {"float32": 3e-6, "float64": 1e-14}[dtype]
        assert_near(one, other, 0.0, tolerance * size_of(other, 1.0) * 10)


def _fits(shape: Any, case: dict[str, Any]) -> bool:
    try:
        _given(shape, case, "float64")
    except ValueError:
        return False
    return True


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_gradients(case: dict[str, Any], dtype: str) -> None:
    made: dict[int, Any] = {}
    for shape in SHAPES:
        if not _fits(shape, case):
            continue
        given, full = _given(shape, case, dtype)
        groups = full["groups"]
        if groups not in made:
            types = [T.tensor(dtype, (None,) * 4, name) for name in ("x", "w", "bar")]
            made[groups] = _functions(groups, case, types)
        compiled, interpreted = made[groups]
        wanted = interpreted(*given)
        if given[0].shape[0]:
            assert_near(wanted[0], oracle.conv(given[0], given[1], **full), 0.0, 1e-3)
        _check(compiled(*map(fenced, given)), wanted, dtype)
        _check(compiled(*(fenced(array, front=True) for array in given)), wanted, dtype)


@pytest.mark.parametrize("case", CASES[1:4:2], ids=str)
def test_known_lengths(case: dict[str, Any]) -> None:
    for shape in SHAPES[:3]:
        given, full = _given(shape, case, "float32")
        types = [T.tensor("float32", array.shape) for array in given]
        compiled, interpreted = _functions(full["groups"], case, types)
        _check(compiled(*given), interpreted(*given), "float32")


@pytest.mark.parametrize("case", [{}, {"padding": "same"}, {"stride": 2}], ids=str)
def test_zeros_between_rows_meet_nothing(case: dict[str, Any]) -> None:
    """Numbers that are not finite reach what their windows reach, and nothing else."""
    types = [T.tensor("float32", (None,) * 4, name) for name in ("x", "w", "bar")]
    compiled, interpreted = _functions(3, case, types)
    for number in range(3):
        given, _ = _given((2, 3, 1, (9, 20), 1, (3, 3)), case, "float32")
        given[number].flat[5] = np.inf
        given[number].flat[-1] = np.nan
        for one, other in zip(compiled(*given), interpreted(*given), strict=True):
            np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))


def test_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    given, _ = _given((9, 16, 1, (31, 33), 1, (3, 3)), {"padding": "same"}, "float32")
    for threads in (1, 2):
        monkeypatch.setattr(symc.config, "threads", threads)
        types = [T.tensor("float32", (None,) * 4, name) for name in ("x", "w", "bar")]
        found.append(_functions(16, {"padding": "same"}, types)[0](*given))
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


def test_sums_over_many_outputs_stay_exact() -> None:
    """Sums of vectors are added up as doubles from time to time."""
    x, w = T.ftensor4("x"), T.ftensor4("w")
    f = symc.function([x, w], symc.grad(T.nnet.conv2d(x, w, groups=2).sum(), w))
    given = np.full((4, 2, 900, 900), 0.1, "float32")
    got = f(given, np.ones((2, 1, 3, 3), "float32"))
    np.testing.assert_allclose(got, 4 * 898 * 898 * np.float64(np.float32(0.1)), rtol=5e-5)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("rank", [1, 3])
def test_one_axis_and_three(rank: int, stride: int) -> None:
    rng = np.random.default_rng(rank)
    build = {1: T.nnet.conv1d, 3: T.nnet.conv3d}[rank]
    lengths, sizes = ((71,), (4,)) if rank == 1 else ((5, 6, 43), (2, 3, 3))
    x, w, bar = (T.tensor("float32", (None,) * (rank + 2), name) for name in ("x", "w", "bar"))
    y = build(x, w, groups=3, stride=stride, dilation=1 + rank % 2, padding=1)
    wanted = [y, *symc.Lop(y, [x, w], bar)]
    pictures = rng.standard_normal((2, 6, *lengths)).astype("float32")
    filters = rng.standard_normal((6, 2, *sizes)).astype("float32")
    made = symc.function([x, w], y, mode="python")(pictures, filters)
    given = [pictures, filters, rng.standard_normal(made.shape).astype("float32")]
    interpreted = symc.function([x, w, bar], wanted, mode="python")(*given)
    _check(symc.function([x, w, bar], wanted)(*map(fenced, given)), interpreted, "float32")


def test_both_dtypes_in_one_program() -> None:
    """A constant of the C code was defined for each, and the program did not compile."""
    x, w = T.tensor("float32", (None,) * 4), T.tensor("float32", (None,) * 4)
    single = T.nnet.conv2d(x, w, groups=4)
    wide = T.nnet.conv2d(T.cast(x, "float64"), T.cast(w, "float64"), groups=4)
    f = symc.function([x, w], [single, wide, *symc.grad(single.sum() + wide.sum(), [x, w])])
    g = symc.function([x, w], [single, wide], mode="python")
    rng = np.random.default_rng(3)
    given = [rng.standard_normal(s).astype(np.float32) for s in ((2, 12, 9, 11), (8, 3, 3, 3))]
    for found, wanted in zip(f(*given), g(*given), strict=False):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
