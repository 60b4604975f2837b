"""Complex numbers: values against NumPy, compiled and not, and gradients by central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import DTypeError, GradientError
from symc.graph.interpreter import evaluate
from tests.ops.harness import check, same
from tests.ops.lowering_check import check_lowering

RNG = np.random.default_rng(7)


def draw(*shape: int) -> Any:
    """Complex normal numbers."""
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


# Not near 1, -1, i and -i, where inverse functions have derivatives without bounds.
Z = np.array([0.7 + 0.4j, -0.3 + 0.5j, 1.5 - 0.8j, -1.2 - 1.1j, 0.3 - 0.4j])
W = np.array([1.1 - 0.3j, -0.6 + 0.9j, 0.5 + 0.7j, -0.8 - 0.4j, 0.9 + 1.2j])
REAL = np.array([0.8, -1.3, 0.6, -0.9, 1.7])
# Zeros of both signs, the branch cuts, near-singular numbers, large and small ones.
CORNERS = np.array([
    complex(re, im)
    for re in (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 2.0, 1e-9, 30.0, -30.0)
    for im in (0.0, -0.0, 1.0, -1.0, 1e-9, -0.5, 2.0)
])  # fmt: skip
EXTREME = np.array([1e200 + 1e200j, 1e-200 - 1e-200j, 3e307 + 4e307j, -1e300j])

NUMPY = {"sqr": "square", "neg": "negative"}
UNARY: dict[str, Any] = {
    name: getattr(np, NUMPY.get(name, name))
    for name in (
        "neg", "sqr", "reciprocal", "conj", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10",
        "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan",
        "arcsinh", "arccosh", "arctanh", "abs", "angle", "real", "imag", "sign",
    )
}  # fmt: skip
BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (T.add, np.add),
    "sub": (T.sub, np.subtract),
    "mul": (T.mul, np.multiply),
    "div": (T.div, np.divide),
    "pow": (T.pow, np.power),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    """Values and gradients of first and second order, without a compiler."""
    check(getattr(T, name), Z, oracle=UNARY[name], compiled=False)
    check(getattr(T, name), Z.astype("complex64"), oracle=UNARY[name], compiled=False)
    check_lowering(getattr(T, name), Z)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    build, oracle = BINARY[name]
    check(build, Z, W, oracle=oracle, compiled=False)
    check(build, Z, np.abs(REAL), oracle=oracle, compiled=False)
    check(build, np.abs(REAL), W, oracle=oracle, compiled=False)


def test_compiled_elementwise() -> None:
    """All functions at once, at ordinary numbers, with gradients of all."""

    def build(z: Any, w: Any) -> list[Any]:
        unary = [getattr(T, name)(z) for name in UNARY]
        return [*unary, *(function(z, w) for function, _ in BINARY.values())]

    def oracle(z: Any, w: Any) -> list[Any]:
        return [*(f(z) for f in UNARY.values()), *(f(z, w) for _, f in BINARY.values())]

    z = symc.tensor.zvector("z")
    w = symc.tensor.zvector("w")
    outputs = build(z, w)
    costs = [T.abs(output).sum() for output in outputs]
    gradients = [symc.grad(cost, z) for cost in costs]
    function = symc.function([z, w], [*outputs, *gradients], on_unused_input="ignore")
    results = function(Z, W)
    for name, value, wanted in zip([*UNARY, *BINARY], results, oracle(Z, W), strict=False):
        try:
            same(value, wanted, 1e-14)
        except AssertionError as error:
            raise AssertionError(name) from error
    for value, gradient in zip(results[len(outputs) :], gradients, strict=True):
        wanted = evaluate([gradient], {z: Z, w: W})[0]
        np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12)


def test_corners() -> None:
    """Zeros of both signs and branch cuts: the value, and on which side of the cut it is."""
    names = [name for name in UNARY if name not in ("arctanh", "arctan", "log1p", "expm1", "sign")]
    z = T.zvector("z")
    function = symc.function([z], [getattr(T, name)(z) for name in names])
    with np.errstate(all="ignore"):
        for name, value in zip(names, function(CORNERS), strict=True):
            wanted = UNARY[name](CORNERS)
            finite = np.isfinite(wanted)
            error = np.abs(value - wanted)[finite] / np.maximum(np.abs(wanted[finite]), 1e-300)
            assert error.max() < 3e-15, (name, CORNERS[finite][error.argmax()], error.max())


def test_overflow_and_underflow() -> None:
    """Squares of the parts would overflow; the results do not."""
    z = T.zvector("z")
    function = symc.function([z], [z / (z * 2), abs(z), T.sqrt(z), 1 / z])
    with np.errstate(all="ignore"):
        wanted = [EXTREME / (EXTREME * 2), abs(EXTREME), np.sqrt(EXTREME), 1 / EXTREME]
    for value, expected in zip(function(EXTREME), wanted, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-14)


def test_division_by_zero_and_infinity() -> None:
    a = np.array([1 + 1j, 0, 1 + 1j, -1 + 2j, 1, complex(np.inf, 1), complex(np.nan, 1)])
    b = np.array([0, 0, complex(-0.0, -0.0), complex(np.inf, 0), complex(0, np.inf), 2, 2])
    z, w = T.zvectors("z", "w")
    outputs = [z / w, z * w, z + w, T.isnan(z), T.isinf(z / w), T.isfinite(z), T.eq(z, w)]
    with np.errstate(all="ignore"):
        wanted = [a / b, a * b, a + b, np.isnan(a), np.isinf(a / b), np.isfinite(a), a == b]
    for value, expected in zip(symc.function([z, w], outputs)(a, b), wanted, strict=True):
        np.testing.assert_array_equal(value, expected)


def test_a_number_divided_by_nan_is_nan() -> None:
    """It was infinite where the other part of NaN was 0."""
    nan = np.array(
        [complex(np.nan, 0), complex(0, np.nan), complex(np.nan, 2), complex(-3, np.nan)]
    )
    z = T.zvector("z")
    value: Any
    for value in symc.function([z], [(1 + 2j) / z, 1 / z, z / z])(nan):
        assert np.isnan(value.real).all()
        assert np.isnan(value.imag).all()


def test_arctanh_beside_its_poles_and_at_infinity() -> None:
    """The square of the term beside 1 vanished, which gave infinity; as in NumPy now."""
    sides = [complex(x, y) for x in (1, -1) for y in (1e-300, -1e-200, 1e-154, 1e-11, -1e-9, 0.0)]
    values = np.array([*sides, complex(0, np.inf), complex(2, -np.inf), 1e200j, 1e300 + 1e300j])
    beside = np.array([complex(z.imag, -z.real) for z in sides])
    z, w = T.zvectors("z", "w")
    found = symc.function([z, w], [T.arctanh(z), T.arctan(w)])(values, beside)
    with np.errstate(all="ignore"):
        wanted = [np.arctanh(values), np.arctan(beside)]
    for value, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-15, atol=1e-300)


def test_whole_powers_are_products() -> None:
    """As in NumPy: of i and of whole numbers they are exact, and quick."""
    values = np.array([1j, -2j, 3, 2 - 1j, 0, 0.3 + 4j])
    z = T.zvector("z")
    for count in (3, 4, 5, 99, -2, -3, 7.0):
        power = symc.function([z], z**count, mode="compile")
        assert "log" not in power.source
        with np.errstate(all="ignore"):
            wanted = values**count
        np.testing.assert_allclose(power(values)[[0, 1, 2]], wanted[[0, 1, 2]], rtol=1e-15, atol=0)
        np.testing.assert_allclose(power(values), wanted, rtol=1e-13)


def test_reductions() -> None:
    x = draw(4, 6)

    def build(z: Any) -> list[Any]:
        return [
            z.sum(), z.sum(axis=0), z.prod(axis=1), z.mean(axis=0), z.var(axis=1), T.norm(z),
            T.cumsum(z, axis=1), T.cumprod(z, axis=0), (z.sum(axis=1) * z.mean()),
        ]  # fmt: skip

    def oracle(z: Any) -> list[Any]:
        return [
            z.sum(), z.sum(axis=0), z.prod(axis=1), z.mean(axis=0), z.var(axis=1),
            np.linalg.norm(z), np.cumsum(z, axis=1), np.cumprod(z, axis=0),
            z.sum(axis=1) * z.mean(),
        ]  # fmt: skip

    check(build, x, oracle=oracle)


def test_any_and_all() -> None:
    x = np.array([[0, 1j, 0], [0, 0, -0.0]])
    check(
        lambda z: [z.any(axis=1), z.all(), z.any(axis=0), T.count_nonzero(z)],
        x,
        oracle=lambda z: [z.any(axis=1), z.all(), z.any(axis=0), np.count_nonzero(z)],
    )


def test_long_sums_of_both_dtypes() -> None:
    """More elements than a chunk has, folded in chunks and along either axis."""
    x = draw(300, 200)
    for array in (x, x.astype("complex64")):
        check(lambda z: [z.sum(), z.sum(axis=0), z.sum(axis=1), z.prod()], array * 0.5, grad=False,
              oracle=lambda z: [z.sum(dtype=complex).astype(z.dtype),
                                z.sum(axis=0, dtype=complex).astype(z.dtype),
                                z.sum(axis=1, dtype=complex).astype(z.dtype),
                                z.prod(dtype=complex).astype(z.dtype)])  # fmt: skip


def test_products() -> None:
    a, b, v = draw(3, 4), draw(4, 2), draw(4)

    def build(a: Any, b: Any, v: Any) -> list[Any]:
        return [a @ b, a @ v, v @ b, T.vdot(v, v), T.einsum("ij,jk,j->ik", a, b, v),
                T.outer(v, v), T.vecdot(a, a)]  # fmt: skip

    def oracle(a: Any, b: Any, v: Any) -> list[Any]:
        return [a @ b, a @ v, v @ b, np.vdot(v, v), np.einsum("ij,jk,j->ik", a, b, v),
                np.outer(v, v), (a.conj() * a).sum(-1)]  # fmt: skip

    check(build, a, b, v, oracle=oracle)


def test_large_products() -> None:
    """Those that BLAS multiplies: transposed, in a batch, and a vector."""
    a, b, v, c = (3 + draw(*shape) for shape in ((40, 30), (30, 50), (30,), (4, 30, 20)))
    for dtype in ("complex128", "complex64"):
        arrays = [x.astype(dtype) for x in (a, b, v, c)]
        check(
            lambda a, b, v, c: [a @ b, b.T @ a.T, a @ v, v @ b, T.swapaxes(c, 1, 2) @ c, a @ c],
            *arrays, grad=False,
            oracle=lambda a, b, v, c: [a @ b, b.T @ a.T, a @ v, v @ b, np.swapaxes(c, 1, 2) @ c,
                                       a @ c],
        )  # fmt: skip


def test_views_and_writes() -> None:
    x, y = draw(4, 3), draw(3)

    def build(x: Any, y: Any) -> list[Any]:
        return [
            x[1:, ::-1], x.T, x[[2, 0, 2]], T.concatenate([x, x]), T.where(x.real > 0, x, y),
            T.set_subtensor(x[1], y), T.inc_subtensor(x[[1, 1]], y), T.stack([y, y * 2j]),
            x.reshape((6, 2)), T.diag(y), T.zeros_like(x), T.full((2, 2), 1 + 2j), T.roll(y, 1),
        ]  # fmt: skip

    def oracle(x: Any, y: Any) -> list[Any]:
        placed, added = x.copy(), x.copy()
        placed[1] = y
        np.add.at(added, [1, 1], y)
        return [
            x[1:, ::-1], x.T, x[[2, 0, 2]], np.concatenate([x, x]), np.where(x.real > 0, x, y),
            placed, added, np.stack([y, y * 2j]), x.reshape((6, 2)), np.diag(y), np.zeros_like(x),
            np.full((2, 2), 1 + 2j), np.roll(y, 1),
        ]  # fmt: skip

    check(build, x, y, oracle=oracle)


def test_parts_and_pairs() -> None:
    check(lambda a, b: [T.complex(a, b), T.complex(a, b).conj().imag, abs(T.complex(a, 2.0))],
          REAL, REAL[::-1], oracle=lambda a, b: [a + 1j * b, -b, abs(a + 2j)])  # fmt: skip


def test_abs_and_angle_have_gradient_zero_at_the_origin() -> None:
    z = T.zvector("z")
    at = np.array([0j, 1j])
    cost = abs(z).sum() + T.angle(z).sum()
    np.testing.assert_array_equal(symc.grad(cost, z).eval({z: at}), [0, 1j - 1])


def test_convention_of_gradients() -> None:
    """``dC/dre + 1j dC/dim``: a step against it descends."""
    z = T.zscalar("z")
    same(symc.grad(abs(z - (1 + 2j)) ** 2, z).eval({z: 0j}), np.array(-2 - 4j), 1e-15)
    x = T.dscalar("x")  # a real input of a complex expression has a real gradient
    same(symc.grad((x * (2 + 3j)).imag, x).eval({x: 1.0}), np.array(3.0), 1e-15)


def test_refused() -> None:
    z = T.zvector("z")
    with pytest.raises(GradientError, match=r"grad needs a real cost.*\n  cost .*test_complex"):
        symc.grad(z.sum(), z)
    with pytest.raises(GradientError, match="jacobian needs a real expression"):
        symc.jacobian(z, z)
    wrong: Any
    for wrong in (T.maximum, T.lt, T.floordiv, T.arctan2, T.hypot, T.mod, T.logaddexp):
        with pytest.raises(DTypeError, match="of complex numbers is not defined"):
            wrong(z, z)
    for wrong in (T.floor, T.cbrt, T.sigmoid, T.erf, T.softmax, T.log_softmax, T.logsumexp,
                  T.nnet.layer_norm, lambda z: T.nnet.max_pool1d(z[None, None], 2)):  # fmt: skip
        with pytest.raises(DTypeError, match="of complex numbers is not defined"):
            wrong(z)
    for wrong in (T.max, T.argmin, T.cummax):
        with pytest.raises(DTypeError, match="complex numbers have no order"):
            wrong(z)
    with pytest.raises(DTypeError, match=r"does not become a float64 without loss"):
        z.astype("float64")
    with pytest.raises(DTypeError, match="parts must be real"):
        T.complex(z, z)


def test_python_numbers_are_weak() -> None:
    c, f, i = T.cvector("c"), T.fvector("f"), T.ivector("i")
    assert [(x * 1j).dtype.name for x in (c, f, i)] == ["complex64", "complex64", "complex128"]
    assert (c * 2.0).dtype.name == "complex64"
    assert (c * T.dscalar("d")).dtype.name == "complex128"


def test_arguments() -> None:
    z = T.zvector("z")
    double = symc.function([z], z * 2)
    np.testing.assert_array_equal(double([1, 2.5, 3j]), [2, 5, 6j])
    np.testing.assert_array_equal(double(np.array([1.5, 2])), [3, 4])
    np.testing.assert_array_equal(double(np.array([1j], dtype="complex64")), [2j])
    x = T.fvector("x")
    with pytest.raises(DTypeError, match="imaginary part"):
        symc.function([x], x * 2)([1j])
    s = T.zscalar("s")
    assert symc.function([s], s * s)(1 + 2j) == (1 + 2j) ** 2


def test_shared_variables_and_updates() -> None:
    total = symc.shared(np.zeros(3, complex), name="total")
    z = T.zvector("z")
    step = symc.function([z], total.sum(), updates={total: total + z * 1j})
    step(np.ones(3))
    step(np.ones(3))
    np.testing.assert_array_equal(total.get_value(), [2j, 2j, 2j])
    assert symc.function([], total.sum())() == 6j


def test_rules_of_real_numbers_leave_complex_ones_alone() -> None:
    """``sqrt(x * x)`` is no absolute value, ``exp(log)`` stays on its branch, and so on."""
    z = T.zvector("z")
    outputs = [T.sqrt(z * z), T.log(T.exp(z)), T.sqr(abs(z)), T.log(z * z), z / z, (z * 2j) * 3j,
               T.conj(T.conj(z)), T.neg(-z), z - 0, z**2, z**0, z**3, T.log(1 + z)]  # fmt: skip
    x = np.array([-1 + 1j, -2j, 3 + 40j, -0.5 + 1e-3j])
    wanted = [np.sqrt(x * x), np.log(np.exp(x)), abs(x) ** 2, np.log(x * x), x / x, x * 2j * 3j,
              x, x, x, x**2, x**0, x**3, np.log(1 + x)]  # fmt: skip
    for mode in ("compile", "fast"):
        function = symc.function([z], outputs, mode=mode)
        for value, expected in zip(function(x), wanted, strict=True):
            same(value, expected, 1e-14)
