"""Convolutions against windows written out in NumPy, and the C routine against the interpreter."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import DTypeError, RankError, ShapeMismatch
from symc.tensor import nnet
from tests.near import assert_near, size_of
from tests.nnet import oracle
from tests.ops.harness import check

CASES: list[dict[str, Any]] = [
    {},
    {"padding": "full"},
    {"padding": "half"},
    {"padding": "same"},
    {"padding": "same", "stride": 2},
    {"padding": "same", "stride": (1, 3)},
    {"padding": 1},
    {"padding": (0, 2)},
    {"padding": ((1, 0), (0, 2)), "stride": 2},
    {"stride": (2, 1)},
    {"stride": 4},
    {"dilation": 2},
    {"dilation": (1, 2), "stride": (2, 3), "padding": "full"},
    {"dilation": 2, "padding": "half"},
    {"dilation": 3, "padding": "same", "stride": 2},
    {"groups": 2},
    {"groups": 4, "padding": "same", "stride": (2, 1)},
    {"groups": 2, "dilation": (1, 2), "stride": 2, "padding": (2, 1)},
    {"flip_filters": False},
    {"flip_filters": False, "groups": 2, "padding": "half", "stride": 2},
]


def arrays(case: dict[str, Any], rank: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    lengths, sizes = (7, 6)[:rank] if rank < 3 else (3, 3, 2), (3, 2, 2)[:rank]
    x = rng.standard_normal((2, 4, *lengths))
    return x, rng.standard_normal((4, 4 // case.get("groups", 1), *sizes))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values(case: dict[str, Any]) -> None:
    x, w = arrays(case)
    for static in (True, False):
        check(partial(nnet.conv2d, **case), x, w, oracle=partial(oracle.conv, **case),
              static=static, compiled=False, grad=False)  # fmt: skip


@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_derivatives(case: dict[str, Any]) -> None:
    x, w = arrays(case)
    x, w = x[:, :, :, :4], w[:2] if "groups" not in case else w
    check(partial(nnet.conv2d, **case), x, w, compiled=False)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_transposes(case: dict[str, Any]) -> None:
    x, w = arrays(case)
    x = x[:1]
    y = np.random.default_rng(1).standard_normal(oracle.conv(x, w, **case).shape)
    expected = oracle.conv_transpose(y, w, x.shape[2:], **case)
    build = partial(nnet.conv2d_transpose, output_shape=x.shape[2:], **case)
    check(build, y, w, oracle=lambda *_: expected, compiled=False, grad=False)


@pytest.mark.parametrize("case", [CASES[4], CASES[11], CASES[17]], ids=str)
def test_derivatives_of_transposes(case: dict[str, Any]) -> None:
    x, w = arrays(case)
    y = oracle.conv(x, w, **case)[:, :, :2, :2]
    check(partial(nnet.conv2d_transpose, **case), y, w, compiled=False)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("case", [{}, {"padding": "same", "stride": 2, "groups": 2}], ids=str)
def test_other_dimensions(rank: int, case: dict[str, Any]) -> None:
    x, w = arrays(case, rank)
    build = {1: nnet.conv1d, 3: nnet.conv3d}[rank]
    back = {1: nnet.conv1d_transpose, 3: nnet.conv3d_transpose}[rank]
    check(partial(build, **case), x, w, oracle=partial(oracle.conv, **case), compiled=False,
          grad=rank == 1)  # fmt: skip
    y = oracle.conv(x, w, **case)
    expected = oracle.conv_transpose(y, w, x.shape[2:], **case)
    check(partial(back, output_shape=x.shape[2:], **case), y, w, oracle=lambda *_: expected,
          compiled=False, grad=False)  # fmt: skip


def test_length_of_a_transpose() -> None:
    y, w = T.zeros((1, 3, 4, 5)), T.zeros((3, 2, 3, 3))
    made = partial(nnet.conv2d_transpose, y, w, stride=2)
    assert made().type.shape == (1, 2, 9, 11)
    assert made(output_padding=1).type.shape == (1, 2, 10, 12)
    assert made(padding=1, output_padding=(0, 1)).type.shape == (1, 2, 7, 10)
    assert made(padding="same").type.shape == (1, 2, 8, 10)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int64"])
def test_dtypes(dtype: str) -> None:
    x, w = (np.round(4 * a).astype(dtype) for a in arrays({}))
    check(nnet.conv2d, x, w, oracle=oracle.conv, compiled=dtype in ("float16", "int8"))


# Shapes that meet every path of the routine: (images, channels, lengths, features, sizes).
SHAPES = [
    (2, 3, (9, 19), 7, (3, 4)),  # lines longer than a vector, the last vector begins earlier
    (3, 2, (6, 5), 20, (2, 2)),  # lines shorter than a vector: gathered
    (1, 1, (3, 3), 3, (3, 3)),  # one position
    (2, 40, (5, 8), 13, (4, 4)),  # more products than a tile adds at once; several jobs of channels
    (1, 2, (40, 70), 4, (1, 1)),  # more vectors than a job has
    (2, 1, (1, 33), 515, (1, 2)),  # more features than a tile adds at once
    (0, 2, (4, 9), 3, (2, 2)),  # no images
    (2, 3, (9, 19), 1, (3, 4)),  # one filter times six vectors; two that are gathered; two filters,
    (3, 2, (6, 5), 2, (2, 2)),  # more of their elements than are added at once, and several jobs
    (1, 60, (5, 40), 2, (3, 3)),
    (1, 2, (40, 70), 1, (3, 3)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "case", [{}, {"stride": (1, 2), "dilation": (2, 1), "padding": 2}], ids=["plain", "strided"]
)
def test_the_routine_agrees_with_the_interpreter(case: dict[str, Any], dtype: str) -> None:
    x, w, bar = (T.tensor(dtype, (None,) * 4, name) for name in ("x", "w", "bar"))
    y = nnet.conv2d(x, w, **case)
    wanted = [y, *symc.Lop(y, [x, w], bar)]
    compiled = symc.function([x, w, bar], wanted)
    interpreted = symc.function([x, w, bar], wanted, mode="python")
    rng = np.random.default_rng(0)
    for images, channels, lengths, features, sizes in SHAPES:
        a = rng.standard_normal((images, channels, *lengths)).astype(dtype)
        b = rng.standard_normal((features, channels, *sizes)).astype(dtype)
        shape = oracle.conv(a[:1] if images else np.zeros((1, *a.shape[1:])), b, **case).shape
        c = rng.standard_normal((images, *shape[1:])).astype(dtype)
        for got, expected in zip(compiled(a, b, c), interpreted(a, b, c), strict=True):
            assert got.shape == expected.shape
            tolerance = {"float32": 1e-4, "float64": 1e-12}[dtype]
            assert_near(got, expected, 0.0, tolerance * size_of(expected, 1.0))


def test_groups_and_other_dimensions_compiled() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 8, 9, 12)), rng.standard_normal((12, 4, 3, 3))
    deep, cube = rng.standard_normal((8, 1, 3, 3)), rng.standard_normal((4, 2, 2, 2, 2))

    def build(x: Any, w: Any, deep: Any, cube: Any) -> Any:
        return (
            nnet.conv2d(x, w, groups=2, stride=2),
            nnet.conv2d(x, deep, groups=8, padding="same"),
            nnet.conv3d(x.reshape((2, 2, 4, 9, 12)), cube, padding=1),
            nnet.conv1d(x[:, :, 0], w[:, :, 0], groups=2),
        )

    def expected(x: Any, w: Any, deep: Any, cube: Any) -> Any:
        return (
            oracle.conv(x, w, groups=2, stride=2),
            oracle.conv(x, deep, groups=8, padding="same"),
            oracle.conv(x.reshape((2, 2, 4, 9, 12)), cube, padding=1),
            oracle.conv(x[:, :, 0], w[:, :, 0], groups=2),
        )

    check(build, x, w, deep, cube, oracle=expected, grad=False, rtol=1e-12)
    check(lambda *args: build(*args)[0], x, w, deep, cube, static=True, rtol=1e-12)


def test_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = T.ftensor4("x"), T.ftensor4("w")
    y = nnet.conv2d(x, w)
    rng = np.random.default_rng(0)
    a = rng.standard_normal((8, 16, 30, 30)).astype("float32")
    b = rng.standard_normal((24, 16, 3, 3)).astype("float32")
    found = []
    for threads in (1, 2):
        monkeypatch.setattr(symc.config, "threads", threads)
        f = symc.function([x, w], [y, *symc.grad((y * y).sum(), [x, w])])
        found.append(f(a, b))
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


def test_a_batch_of_filters_and_of_images() -> None:
    """Jacobians meet every way in which a batch joins the axes of a convolution."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((1, 4, 3, 4)), rng.standard_normal((4, 2, 2, 2))
    check(lambda x, w: nnet.conv2d(x, w * w, groups=2).sum((2, 3)), x, w, compiled=False)
    both = nnet.conv2d
    check(lambda x, w: both(x * w.sum(), w * x.sum(), groups=2)[:, :, 0, 0], x, w, compiled=False)


# --- errors ---------------------------------------------------------------------------------------


def test_lengths_that_do_not_fit() -> None:
    x = T.tensor("float64", (2, 4, 5, 5), "x")
    with pytest.raises(ShapeMismatch, match=r"conv: axis 1 of the inputs is 4, but .* ask for 3"):
        nnet.conv2d(x, T.zeros((2, 3, 3, 3)))
    with pytest.raises(ShapeMismatch, match=r"axis 0 of the filters is 3, but .* ask for 2"):
        nnet.conv2d(x, T.zeros((3, 2, 3, 3)), groups=2)
    with pytest.raises(ShapeMismatch, match=r"axis 3 has 5 elements, .* a window reaches over 6"):
        nnet.conv2d(x, T.zeros((3, 4, 3, 6)))


def test_lengths_that_do_not_fit_at_run_time() -> None:
    x, w = T.tensor4("x"), T.tensor4("w")
    for mode in ("python", "compile"):
        f = symc.function([x, w], nnet.conv2d(x, w), mode=mode)
        with pytest.raises(ShapeMismatch, match=r"axis 1 of the inputs is 4, but .* ask for 3"):
            f(np.zeros((1, 4, 5, 5)), np.zeros((2, 3, 2, 2)))
        with pytest.raises(
            ShapeMismatch, match=r"axis 2 has 5 elements, .* a window reaches over 6"
        ):
            f(np.zeros((1, 3, 5, 5)), np.zeros((2, 3, 6, 2)))


def test_parameters_that_make_no_sense() -> None:
    x, w = T.zeros((1, 1, 5, 5)), T.zeros((1, 1, 3, 3))
    conv = nnet.conv2d
    with pytest.raises(ValueError, match=r"padding must be 'valid', .* not 'vaild'"):
        conv(x, w, padding="vaild")
    with pytest.raises(ValueError, match=r"padding must have one entry for each of 2 axes"):
        conv(x, w, padding=(1, 2, 3))
    with pytest.raises(ValueError, match=r"padding cannot be negative"):
        conv(x, w, padding=-1)
    with pytest.raises(ValueError, match=r"stride must be an integer from 1 on, or 2 of them"):
        conv(x, w, stride=0)
    with pytest.raises(ValueError, match=r"dilation must be an integer from 1 on"):
        conv(x, w, dilation=(1, 2, 3))
    with pytest.raises(ValueError, match=r"groups must be an integer from 1 on"):
        conv(x, w, groups=0)
    with pytest.raises(ValueError, match=r"output_shape must have 2 lengths"):
        nnet.conv2d_transpose(x, w, output_shape=5)
    with pytest.raises(RankError, match=r"the first argument must have 4 axes, not 3"):
        conv(x[0], w)
    with pytest.raises(DTypeError, match=r"conv2d of bool is not defined"):
        conv(x > 0, w > 0)
