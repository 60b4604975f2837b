"""Fourier transforms against NumPy's: lengths of every kind, axes, norms, gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import DTypeError
from tests.ops.harness import check, same

RNG = np.random.default_rng(11)
NORMS = ("backward", "ortho", "forward")
# Every factor that has a pass of its own, other primes, and those done by a convolution.
SHORT = [*range(1, 33), 47, 49, 53, 59, 60, 64, 81, 97, 106, 121, 125, 128]
LONG = [1000, 1009, 1024, 2187, 3125, 4096, 5000, 6007, 8191, 10007, 65536]


def draw(*shape: int) -> Any:
    """Complex normal numbers."""
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


def error(value: Any, wanted: Any) -> float:
    """The distance in relation to the size of the right result."""
    assert value.shape == wanted.shape
    assert value.dtype == wanted.dtype
    return float(np.linalg.norm(value - wanted)) / max(float(np.linalg.norm(wanted)), 1e-300)


def in_floats(n: int) -> float:
    """The error allowed of a transform of n numbers that is computed in float32."""
    return float(np.finfo(np.float32).eps) / 2 * (1 + math.log2(n))


@pytest.fixture(scope="module")
def transforms() -> Any:
    """All transforms along each axis of three, for both precisions."""
    made: dict[str, Any] = {}
    for dtype, real in (("complex128", "float64"), ("complex64", "float32")):
        z = T.tensor(dtype, (None,) * 3, "z")
        x = T.tensor(real, (None,) * 3, "x")
        n = T.lscalar("n")
        outputs = [
            transform
            for axis in range(3)
            for transform in (
                T.fft.fft(z, axis=axis), T.fft.ifft(z, axis=axis), T.fft.rfft(x, axis=axis),
                T.fft.irfft(z, n, axis=axis),
            )
        ]  # fmt: skip
        made[dtype] = symc.function([z, x, n], outputs)
    return made


def oracle(z: Any, x: Any, n: int) -> list[Any]:
    """NumPy's functions for `transforms`."""
    return [
        transform
        for axis in range(3)
        for transform in (
            np.fft.fft(z, axis=axis), np.fft.ifft(z, axis=axis), np.fft.rfft(x, axis=axis),
            np.fft.irfft(z, n, axis=axis),
        )
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_every_length(transforms: Any, dtype: str) -> None:
    for number, n in enumerate(SHORT):
        shape = ((n, 2, 3), (3, n, 2), (2, 9, n))[number % 3]
        z = draw(*shape).astype(dtype)
        results = transforms[dtype](z, z.real.copy(), n)
        exact = oracle(z.astype(complex), z.real.astype(float), n)
        for value, wanted in zip(results, exact, strict=True):
            assert (value.dtype.itemsize == wanted.dtype.itemsize) == (dtype == "complex128")
            allowed = 1.2e-15 if dtype == "complex128" else in_floats(max(shape))
            assert error(value.astype(wanted.dtype), wanted) < allowed, (n, shape, wanted.shape)


def test_long_lengths() -> None:
    z, x, n = T.zvector("z"), T.dvector("x"), T.lscalar("n")
    function = symc.function([z, x, n], [T.fft.fft(z), T.fft.rfft(x), T.fft.irfft(z, n)])
    for length in LONG:
        values = draw(length)
        count = 2 * length - 1
        results = function(values, values.real.copy(), count)
        wanted = [np.fft.fft(values), np.fft.rfft(values.real), np.fft.irfft(values, count)]
        for value, expected in zip(results, wanted, strict=True):
            assert error(value, expected) < 3e-15, length


def test_long_lengths_of_floats() -> None:
    """One sequence, and more than a block of them, there and back."""
    z, x, n = T.cmatrix("z"), T.fmatrix("x"), T.lscalar("n")
    function = symc.function(
        [z, x, n], [T.fft.fft(z), T.fft.ifft(z), T.fft.rfft(x), T.fft.irfft(z, n)]
    )
    for length in LONG:
        values = draw(1 if length > 5000 else 9, length).astype("complex64")
        for count in (2 * length - 2, 2 * length - 1):
            results = function(values, values.real.copy(), count)
            exact = values.astype(complex)
            wanted = [np.fft.fft(exact), np.fft.ifft(exact), np.fft.rfft(exact.real),
                      np.fft.irfft(exact, count)]  # fmt: skip
            for value, expected in zip(results, wanted, strict=True):
                assert error(value.astype(expected.dtype), expected) < in_floats(count), length


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_what_is_computed_in_floats(dtype: str) -> None:
    """Short types too, whose transforms are complex64; norms, several axes and gradients."""
    y = T.fmatrix("y")
    x = T.cast(y, dtype)
    outputs = [T.fft.fft2(x, norm="ortho"), T.fft.ifft(x, axis=0, norm="forward")]
    real_too = T.fft.irfft(T.fft.rfft(y, norm="ortho"), 7, norm="forward")
    slope = symc.grad((abs(T.fft.rfft(y, axis=0)) ** 2).sum(), y)
    values = RNG.integers(-9, 9, (20, 12)).astype("float32")
    function = symc.function([y], [*outputs, real_too, slope])
    results = function(values)
    exact, signs = values.astype(float), (-1.0) ** np.arange(20)[:, None]
    wanted = [
        np.fft.fft2(exact, norm="ortho"), np.fft.ifft(exact, axis=0, norm="forward"),
        np.fft.irfft(np.fft.rfft(exact, norm="ortho"), 7, norm="forward"),
        # Of all 20 frequencies the sum is 20 sums of squares; the first and the last count twice.
        20 * exact + exact.sum(0) + signs * (signs * exact).sum(0),
    ]  # fmt: skip
    for value, expected in zip(results, wanted, strict=True):
        assert value.dtype.itemsize * 2 == expected.dtype.itemsize
        assert error(value.astype(expected.dtype), expected) < in_floats(240)


@pytest.mark.parametrize(
    ("dtype", "other"), [("complex64", "_f64"), ("float32", "_f64"), ("float64", "_f32")]
)
def test_a_program_has_the_routines_of_its_type_alone(dtype: str, other: str) -> None:
    """They are in single precision for single precision, and gcc reads no others."""
    x = T.tensor(dtype, (None, None), "x")
    source = symc.function([x], T.fft.ifft(x), device="cpu").source  # cards have the host do it
    assert "symc_fft_complex" in source
    assert other not in source


def test_more_rows_than_a_block() -> None:
    """Blocks of neighbours along the axes before and after, the last one not full."""
    x = RNG.standard_normal((13, 24, 11))
    check(lambda x: [T.fft.fft(x, axis=axis) for axis in range(3)], x, grad=False,
          oracle=lambda x: [np.fft.fft(x, axis=axis) for axis in range(3)])  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_long_sequences_with_few_neighbours_or_many(transforms: Any, dtype: str) -> None:
    """By themselves, also where they lie apart, and in blocks, of which the last is not full."""
    for shape in ((2, 720, 3), (3, 361, 2), (2, 1024, 21), (3, 590, 40), (35, 2, 625),
                  (20, 1, 2048), (41, 3, 96), (35, 1, 100), (9, 2, 2 * 331)):  # fmt: skip
        z = draw(*shape).astype(dtype)
        n = 2 * max(shape) - 2
        results = transforms[dtype](z, z.real.copy(), n)
        exact = oracle(z.astype(complex), z.real.astype(float), n)
        for value, wanted in zip(results, exact, strict=True):
            allowed = 2e-15 if dtype == "complex128" else in_floats(n)
            assert error(value.astype(wanted.dtype), wanted) < allowed, (shape, wanted.shape)


NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")


def of(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Our function and NumPy's."""
    return getattr(T.fft, name), getattr(np.fft, name)


@pytest.mark.parametrize("name", NAMES)
def test_lengths_and_norms(name: str) -> None:
    """Cut, filled up, of odd and even length; derivatives of first and second order."""
    ours, theirs = of(name)
    x = RNG.standard_normal((3, 6)) if name in ("rfft", "ihfft") else draw(3, 6)
    options = [
        {"n": n, "axis": axis, "norm": norm}
        for n, axis, norm in [(None, -1, "ortho"), (5, -1, None), (8, 1, "forward"), (2, 0, None)]
    ]
    check(lambda x: [ours(x, **o) for o in options], x, compiled=False,
          oracle=lambda x: [theirs(x, **o) for o in options])  # fmt: skip


def test_a_length_below_one_is_refused() -> None:
    """It once cut elements from the end, as an index would."""
    x, z, n = T.vector("x"), T.zvector("z"), T.lscalar("n")
    for transform, signal in ((T.fft.fft, z), (T.fft.rfft, x), (T.fft.irfft, z), (T.fft.hfft, z)):
        for length in (0, -1):
            with pytest.raises(ValueError, match=f"needs at least one point, not {length}"):
                transform(signal, length)
            function = symc.function([signal, n], transform(signal, n), mode="python")
            with pytest.raises(ValueError, match=str(length)):
                function(np.ones(3), length)


@pytest.mark.parametrize("name", SEVERAL)
def test_minus_one_in_s_is_the_own_length(name: str) -> None:
    ours, theirs = of(name)
    x = draw(2, 3, 4).real if name.startswith("rfft") else draw(2, 3, 4)
    for s in ((-1, 2), (5, -1)):
        check(lambda x, s=s: ours(x, s=s, axes=(1, 2)), x, compiled=False, grad=False,
              oracle=lambda x, s=s: theirs(x, s=s, axes=(1, 2)))  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str) -> None:
    ours, theirs = of(name)
    x = RNG.standard_normal((2, 4, 3)) if name[0] == "r" else draw(2, 4, 3)
    options: list[dict[str, Any]] = [{"norm": "ortho"}, {"s": (3, 5), "axes": (0, 1)}]
    check(lambda x: [ours(x, **o) for o in options], x, compiled=False,
          oracle=lambda x: [theirs(x, **o) for o in options])  # fmt: skip


def test_compiled_with_gradients() -> None:
    z, x = draw(4, 6), RNG.standard_normal((4, 5))

    def build(z: Any, x: Any) -> list[Any]:
        return [T.fft.fft2(z), T.fft.rfft(x, axis=0), T.fft.irfft(z, 7), abs(T.fft.rfft2(x)) ** 2]

    def expected(z: Any, x: Any) -> list[Any]:
        return [np.fft.fft2(z), np.fft.rfft(x, axis=0), np.fft.irfft(z, 7),
                abs(np.fft.rfft2(x)) ** 2]  # fmt: skip

    check(build, z, x, oracle=expected)


def test_lengths_given_at_run_time() -> None:
    """Whether the axis is cut or filled up is decided by each call."""
    x, n = T.dvector("x"), T.lscalar("n")
    outputs = [T.fft.fft(x, n), T.fft.rfft(x, n, norm="ortho"), T.fft.irfft(x, n)]
    gradient = symc.grad(abs(outputs[1]).sum(), x)
    function = symc.function([x, n], [*outputs, gradient])
    values = RNG.standard_normal(6)
    for length in (4, 6, 9):
        *results, slope = function(values, length)
        wanted = [np.fft.fft(values, length), np.fft.rfft(values, length, norm="ortho"),
                  np.fft.irfft(values, length)]  # fmt: skip
        for value, expected in zip(results, wanted, strict=True):
            same(value, expected, 1e-14)
        assert slope.shape == (6,)
        assert np.all(slope[length:] == 0)


def test_frequencies_and_shifts() -> None:
    for n in (1, 4, 7):
        same(T.fft.fftfreq(n, 0.5).eval(), np.fft.fftfreq(n, 0.5), 1e-15)
        same(T.fft.rfftfreq(n).eval(), np.fft.rfftfreq(n), 1e-15)
    x = RNG.standard_normal((4, 5))
    check(lambda x: [T.fft.fftshift(x), T.fft.ifftshift(x), T.fft.fftshift(x, axes=1)], x,
          oracle=lambda x: [np.fft.fftshift(x), np.fft.ifftshift(x), np.fft.fftshift(x, axes=1)],
          )  # fmt: skip


def test_dtypes_are_those_of_numpy() -> None:
    for name in ("bool", "int8", "int32", "float16", "float32", "float64", "complex64"):
        x = np.ones(4, name)
        assert T.fft.fft(T.tensor(name, (4,))).dtype.name == np.fft.fft(x).dtype.name
    assert T.fft.irfft(T.fvector()).dtype.name == "float32"


def test_a_round_trip_has_the_gradient_of_the_identity() -> None:
    x = T.dvector("x")
    back = T.fft.irfft(T.fft.rfft(x), x.shape[0])
    gradient = symc.grad((back * T.arange(7)).sum(), x)
    np.testing.assert_allclose(gradient.eval({x: RNG.standard_normal(7)}), np.arange(7), atol=1e-14)


def test_refused() -> None:
    z = T.zvector("z")
    with pytest.raises(DTypeError, match=r"rfft is of real numbers; use fft\n  given  z"):
        T.fft.rfft(z)
    with pytest.raises(ValueError, match="needs at least one point, not 0"):
        T.fft.fft(z, 0)
    with pytest.raises(ValueError, match=r'norm is "backward", "ortho" or "forward", not \'x\''):
        T.fft.fft(z, norm="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 lengths in s for 2 axes"):
        T.fft.fftn(T.zmatrix(), s=(3,), axes=(0, 1))
    with pytest.raises(ValueError, match="needs at least one point, not 0"):
        symc.function([z], T.fft.fft(z))(np.zeros(0))
