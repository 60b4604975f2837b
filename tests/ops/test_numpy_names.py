"""Functions with NumPy's names agree with NumPy: values, dtypes, shapes, derivatives."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, DTypeError, RankError, ShapeMismatch
from tests.ops.harness import check, inputs_for, is_wide, same
from tests.ops.numpy_cases import GROUPS, NAN, ROUGH, Case, flat

EVERY = [case for cases in GROUPS.values() for case in cases]


def numpys(case: Case) -> list[Any]:
    _, call, arrays = case
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = call(np, *arrays)
    return flat(result)


def is_finite(values: Any) -> bool:
    return bool(np.isfinite(values).all())


def has_derivatives(case: Case, wanted: list[Any]) -> bool:
    name, _, arrays = case
    known = all(is_finite(w) for w in wanted if np.asarray(w).dtype.kind in "fc")
    return known and name not in ROUGH and any(is_wide(np.asarray(a)) for a in arrays)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case[0])
def test_values_and_derivatives(case: Case) -> None:
    _, call, arrays = case
    wanted = numpys(case)
    check(
        lambda *xs: flat(call(T, *xs)), *arrays, oracle=lambda *_: wanted, compiled=False,
        grad=has_derivatives(case, wanted), rtol=1e-11,
    )  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_compiled(group: str) -> None:
    """The first case of each function of a module, for arguments of unknown lengths, in one."""
    inputs: list[Any] = []
    given: list[Any] = []
    outputs: list[Any] = []
    wanted: list[Any] = []
    for case in {case[0].split()[0]: case for case in reversed(GROUPS[group])}.values():
        _, call, arrays = case
        symbols = inputs_for(arrays)
        outputs += [T.as_tensor(each) for each in flat(call(T, *symbols))]
        inputs += symbols
        given += arrays
        wanted += numpys(case)
    f = symc.function(inputs, outputs, mode="compile", on_unused_input="ignore")
    for got, expected in zip(f(*given), wanted, strict=True):
        same(got, np.asarray(expected), 1e-11)


# --- gradients at the points where they could be something else -----------------------------------


@pytest.mark.parametrize(
    ("cost", "at", "wanted"),
    [
        (T.nanmax, [1.0, NAN, 2.0, 2.0], [0, 0, 0.5, 0.5]),
        (T.nanmax, [NAN, -np.inf, -np.inf], [0, 0.5, 0.5]),
        (T.nanmin, [NAN, NAN], [0, 0]),
        (T.nanstd, [2.0, NAN, 2.0], [0, 0, 0]),
        (T.nanprod, [0.0, NAN, 3.0, 2.0], [6, 0, 0, 0]),
        (lambda x: T.nan_to_num(x).sum(), [1.0, NAN, np.inf], [1, 0, 0]),
        (lambda x: T.nansum(T.sqrt(x)), [4.0, -1.0, NAN], [0.25, 0, 0]),
        (lambda x: T.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 0.0]).sum(),
         [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0], [0, 2, -1, -1, 0, 0]),
        (lambda x: T.sinc(x).sum(), [0.0, 1e-9], [0, -2e-9 * np.pi**2 / 6]),
        (lambda x: symc.grad(T.sinc(x).sum(), x).sum(), [0.0, 1e-9], [-(np.pi**2) / 3] * 2),
        (lambda x: T.modf(x)[0].sum(), [1.5, -2.0, 3.0], [1, 1, 1]),
        (lambda x: T.heaviside(x, 2 * x).sum(), [-1.0, 0.0, 1.0], [0, 2, 0]),
        (lambda x: T.piecewise(x, [x > 0], [T.log, 0.0]).sum(), [-1.0, 0.0, 2.0], [0, 0, 0.5]),
    ],
)  # fmt: skip
def test_gradients_at_awkward_points(cost: Any, at: list[float], wanted: list[float]) -> None:
    x = T.vector("x")
    for mode in ("compile", "python"):
        got = symc.function([x], symc.grad(cost(x), x), mode=mode)(at)
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-300)


def test_gradients_of_interpolation_reach_its_points() -> None:
    x, p, f = T.vectors("x", "p", "f")
    y = T.interp(x, p, f).sum()
    given = {x: [-1.0, 0.25, 9.0], p: [0.0, 1.0, 2.0], f: [1.0, 3.0, 0.0]}
    assert symc.grad(y, f).eval(given).tolist() == [1.75, 0.25, 1.0]
    assert symc.grad(y, p).eval(given).tolist() == [-1.5, -0.5, 0.0]


# --- refused arguments ---
# ---------------------------------------------------------------------------


def test_what_numpy_refuses_is_refused() -> None:
    x, m = T.vector("x"), T.matrix("m")
    wrong: Any = {"ddof": 1.5, "mode": "all"}
    k = T.lvector("k")
    refused: list[tuple[Any, type[Exception], str]] = [
        (lambda: T.nanmax(T.tensor("float64", (0,))), ValueError, "no elements"),
        (lambda: T.nanvar(x, dtype="int32"), DTypeError, "float dtype"),
        (lambda: T.cov(T.tensor3("t")), RankError, "vector or a matrix"),
        (lambda: T.cov(m, fweights=[1.5, 1.0]), DTypeError, "fweights must be integers"),
        (lambda: T.cov(m, ddof=wrong["ddof"]), ValueError, "ddof must be an integer"),
        (lambda: T.cross(T.tensor("float64", (4,)), x), ShapeMismatch, "length 2 or 3"),
        (lambda: T.gradient(T.tensor("float64", (1,))), ValueError, "needs 2 elements"),
        (lambda: T.gradient(m, 1.0, 2.0, 3.0), TypeError, "3 distances for 2 axes"),
        (lambda: T.interp(x, m, x), RankError, "points must be vectors"),
        (lambda: T.interp(x, [1.0, 2.0], [1.0]), ShapeMismatch, "2 points for 1 values"),
        (lambda: T.convolve(x, m), RankError, "a vector is needed"),
        (lambda: T.convolve(x, np.zeros(0)), ValueError, "a vector is empty"),
        (lambda: T.convolve(x, x, mode=wrong["mode"]), ValueError, "'full', 'same' or 'valid'"),
        (lambda: T.polyfit(x, x, -1), ValueError, "must not be negative"),
        (lambda: T.polyval(m, x), RankError, "must be a vector"),
        (lambda: T.vander(m), RankError, "a vector is needed"),
        (lambda: T.block([[x], x]), ValueError, "equally deep"),
        (lambda: T.block([]), ValueError, "empty"),
        (lambda: T.insert([1.0, 2.0], 3, 0.0), BadIndex, "position 3 is out of bounds"),
        (lambda: T.delete([1.0, 2.0], 2), IndexError, "out of bounds"),
        (lambda: T.rot90(m, axes=(0, -2)), ValueError, "both axes are 0"),
        (lambda: T.hsplit(T.scalar("s"), 2), RankError, "at least 1 axes"),
        (lambda: T.fill_diagonal(x, 0.0), RankError, "at least 2 axes"),
        (lambda: T.ix_(m), RankError, "ix_ takes vectors"),
        (lambda: T.unravel_index(x, (2, 3)), DTypeError, "must be integers"),
        (lambda: T.ravel_multi_index((k,), (2, 3)), ValueError, "1 positions for 2 lengths"),
        (lambda: T.piecewise(x, [x > 0], [1, 2, 3]), ValueError, "3 functions for 1 conditions"),
        (lambda: T.ldexp(x, 1.5), DTypeError, "must be integers"),
        (lambda: T.gcd(x, 2), DTypeError, "gcd needs integers"),
        (lambda: T.heaviside(T.zscalar("z"), 1.0), DTypeError, "complex"),
        (lambda: T.histogramdd(m), ShapeMismatch, "known number of columns"),
        (lambda: T.lexsort([]), TypeError, "at least one key"),
        (lambda: T.nanquantile(x, 0.5, method="best"), ValueError, "no method 'best'"),
        (lambda: T.linalg.tensorinv(m, ind=3), ValueError, "ind=3"),
        (lambda: T.linalg.cond(m, 7), ValueError, "7 is no norm"),
    ]
    for call, error, text in refused:
        with pytest.raises(error, match=text):
            call()


def in_space(x: Any, axis: int) -> Any:
    """Vectors of length 2 with a third element of 0, along the last axis."""
    x = np.moveaxis(x, axis, -1)
    return np.pad(x, [*[(0, 0)] * (x.ndim - 1), (0, 1)]) if x.shape[-1] == 2 else x


def cross(x: Any, y: Any, axis: int | None = None, **axes: int) -> Any:
    """``np.cross``, as it was before NumPy 2.5: then it refuses vectors in the plane."""
    a, b, c = (axes.get(f"axis{n}", -1) if axis is None else axis for n in "abc")
    result = np.cross(in_space(x, a), in_space(y, b))
    flat = x.shape[a] == y.shape[b] == 2
    return result[..., 2] if flat else np.moveaxis(result, -1, c)


@pytest.mark.parametrize("axes", [{}, {"axis": 0}, {"axisa": 0, "axisb": -1, "axisc": 0}])
def test_cross_products_in_the_plane_and_in_space(axes: dict[str, int]) -> None:
    """Vectors known to have length 2 have a third element of 0, beside those of length 3."""
    shapes = [(3,), (2,), (4, 3), (4, 2), (3, 4), (2, 4), (3, 3), (2, 2), (1, 3), (2, 1, 3)]
    products = 0
    for number, (one, other) in enumerate(itertools.product(shapes, shapes)):
        x, y = np.cos(np.arange(np.prod(one))), np.arange(0.5, np.prod(other))
        x, y = x.reshape(one), y.reshape(other)
        try:
            wanted = cross(x, y, **axes)
        except ValueError:  # of other lengths, or shapes that do not broadcast
            with pytest.raises(ShapeMismatch):
                T.cross(x, y, **axes)
            continue
        products += 1
        check(
            lambda x, y: T.cross(x, y, **axes), x, y, oracle=lambda x, y, w=wanted: w,
            static=True, compiled=number % 10 == 0, grad=number % 5 == 0,
        )  # fmt: skip
    assert products > 15


def test_what_is_known_when_it_runs_is_refused_then() -> None:
    x, k = T.vector("x"), T.lvector("k")
    refused: list[tuple[Any, dict[Any, Any], type[Exception], str]] = [
        (T.nanargmax(x), {x: [NAN, NAN]}, ValueError, "is NaN"),
        (T.nanmin(x), {x: []}, ValueError, "no elements"),
        (T.cross(x, x), {x: [1.0, 2.0]}, ShapeMismatch, "3"),
        (T.unravel_index(k, (2, 3))[0], {k: [6]}, ValueError, "below the size"),
        (T.ravel_multi_index((k, k), (2, 3)), {k: [2]}, ValueError, "below the length"),
        (T.gradient(x), {x: [1.0]}, IndexError, "out of bounds"),
        (T.convolve(x, x), {x: []}, ValueError, "a vector is empty"),
    ]
    for tensor, given, error, text in refused:
        with pytest.raises(error, match=text):
            tensor.eval(given)


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "wrap"), [((3, 3), False), ((2, 4), False), ((7, 3), False),
                                             ((7, 3), True), ((2, 2, 2), False)])  # fmt: skip
def test_fill_diagonal(shape: tuple[int, ...], wrap: bool) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    wanted = array.copy()
    np.fill_diagonal(wanted, -1.0, wrap=wrap)
    check(lambda x: T.fill_diagonal(x, -1.0, wrap=wrap), array, oracle=lambda _: wanted)


def test_fill_diagonal_with_a_vector() -> None:
    wanted = np.array([[7.0, 1, 1], [1, 8, 1]])
    check(T.fill_diagonal, np.ones((2, 3)), np.array([7.0, 8.0]), oracle=lambda *_: wanted)


@pytest.mark.parametrize("axis", [0, -1, None])
def test_put_along_axis(axis: int | None) -> None:
    array, places = np.arange(12.0).reshape(3, 4), np.array([[1, 0, 2, 3]])
    places = places % 3 if axis == 0 else places[:, :3].T if axis else places[0]
    values = -1.0 - np.arange(places.size).reshape(places.shape)
    wanted = array.copy()
    np.put_along_axis(wanted, places, values, axis)
    check(
        lambda x, i, v: T.put_along_axis(x, i, v, axis), array, places, values,
        oracle=lambda *_: wanted, compiled=axis == 0,
    )  # fmt: skip


def test_ldexp_rounds_once_and_frexp_is_exact() -> None:
    rng = np.random.default_rng(5)
    a = np.ldexp(rng.normal(size=3000), rng.integers(-1070, 1020, 3000))
    a = np.concatenate([a, [5e-324, -2.5e-323, 1.7976931348623157e308, 2.2250738585072014e-308]])
    n = rng.integers(-2200, 2200, a.size)
    n[::2] //= 16
    x, k = T.vector("x"), T.lvector("k")
    for mode in ("compile", "python"):
        f = symc.function([x, k], [T.ldexp(x, k), *T.frexp(x)], mode=mode)
        with np.errstate(all="ignore"):
            for got, wanted in zip(f(a, n), [np.ldexp(a, n), *np.frexp(a)], strict=True):
                np.testing.assert_array_equal(got, wanted)


# --- dtypes of two arguments ----------------------------------------------------------------------

INTEGERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize(
    "name", ["arctan2", "hypot", "logaddexp", "logaddexp2", "copysign", "nextafter", "heaviside"]
)
def test_floats_of_two_integers_are_numpys(name: str) -> None:
    """int8 with uint8 gave float32, as both are int16; each of them is float16."""
    for left, right in itertools.product([*INTEGERS, "float16", "float32"], INTEGERS):
        with np.errstate(all="ignore"):
            wanted = getattr(np, name)(np.ones(1, left), np.ones(1, right)).dtype
        got = getattr(T, name)(T.tensor(left, (1,)), T.tensor(right, (1,)))
        assert got.dtype.name == wanted.name, (left, right)


# --- products with logarithms ---------------------------------------------------------------------

# By mpmath 1.3 with 30 digits, or by definition.
LOGARITHMIC: list[tuple[Any, list[float], list[float]]] = [
    (T.entr, [0.0, 1.0, 0.5, -1.0, NAN], [0.0, 0.0, 0.34657359027997264, -np.inf, NAN]),
    (T.logit, [0.0, 0.25, 1.0, 2.0], [-np.inf, -1.0986122886681098, np.inf, NAN]),
    (T.expit, [0.0, 2.0], [0.5, 0.8807970779778824]),
    (T.ndtr, [-40.0, -10.0, 0.0, 1.0],
     [3.655893540915029e-350, 7.619853024160526e-24, 0.5, 0.8413447460685429]),
    (T.log_ndtr, [-1e4, -10.0, 0.0, 1.0, 10.0],
     [-50000010.129278915, -53.23128515051247, -0.6931471805599453, -0.17275377902344985,
      -7.619853024160526e-24]),
    (T.factorial, [0.0, 3.0, 0.5, -1.0], [1.0, 6.0, 0.886226925452758, 0.0]),
    (lambda x: T.multigammaln(x, 3), [2.5, 7.0], [1.8809954616117741, 18.74639984342339]),
    (lambda x: T.xlogy(x, [0.0, 2.0, NAN]), [0.0, 3.0, 0.0], [0.0, 2.0794415416798357, NAN]),
    (lambda x: T.xlog1py(x, [-1.0, 2.0, 0.5]), [0.0, 3.0, 0.0], [0.0, 3.295836866004329, 0.0]),
    (lambda x: T.rel_entr(x, [1.0, 0.0, 0.0, -1.0]), [2.0, 0.0, 1.0, 1.0],
     [1.3862943611198906, 0.0, np.inf, np.inf]),
    (lambda x: T.kl_div(x, [1.0, 0.0]), [2.0, 0.0], [0.3862943611198906, 0.0]),
]  # fmt: skip


def test_products_with_logarithms() -> None:
    x = T.vector("x")
    for mode in ("compile", "python"):
        for build, at, wanted in LOGARITHMIC:
            got = symc.function([x], build(x), mode=mode)(at)
            np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-320)


@pytest.mark.parametrize(
    ("build", "at"),
    [
        (T.entr, [0.3, 2.0]), (T.logit, [0.2, 0.9]), (T.ndtr, [-1.5, 0.0, 2.0]),
        (T.log_ndtr, [-30.0, -0.5, 0.0, 2.0]), (T.factorial, [0.4, 3.0]),
        (lambda x: T.multigammaln(x, 3), [2.5, 7.0]), (lambda x: T.xlogy(x, x + 1), [0.0, 2.0]),
        (lambda x: T.xlog1py(x, x), [0.0, 2.0]), (lambda x: T.rel_entr(x, 2 - x), [0.5, 1.5]),
        (lambda x: T.kl_div(x, 2 - x), [0.5, 1.5]),
    ],
)  # fmt: skip
def test_derivatives_of_products_with_logarithms(build: Any, at: list[float]) -> None:
    check(build, np.array(at), compiled=False)


@pytest.mark.parametrize("mode", ["default", "python"])
def test_a_polynomial_of_no_coefficients_is_zero(mode: str) -> None:
    """Where their number is unknown, the last step of Horner's scheme was out of bounds."""
    p, x = T.dvector("p"), T.dmatrix("x")
    value = T.polyval(p, x)
    f = symc.function([p, x], [value, *symc.grad(value.sum(), [p, x])], mode=mode)
    for shape in ((2, 2), (0, 0)):
        for result, like in zip(f([], np.ones(shape)), ((*shape,), (0,), shape), strict=True):
            np.testing.assert_array_equal(result, np.zeros(like))
    assert f([1.0, 2.0], [[3.0]])[0] == 5.0


def test_a_bug_the_next_float16_was_the_number_itself_in_compiled_code() -> None:
    """It was that of float32, which rounds back. Of all numbers, towards and away from all."""
    x, y = T.vector("x", "float16"), T.vector("y", "float16")
    numbers = np.arange(2**16, dtype=np.uint16).view(np.float16)
    f = symc.function([x, y], [T.nextafter(x, y), T.spacing(x)])
    for other in (numbers[::-1], np.roll(numbers, 1), np.zeros_like(numbers)):
        following, distance = f(numbers, other)
        with np.errstate(all="ignore"):
            wanted = np.nextafter(numbers, other)
        np.testing.assert_array_equal(following, wanted)
        same = np.signbit(following) == np.signbit(wanted)
        assert (same | np.isnan(wanted)).all()
    assert distance[1:0x7BFF].tolist() == np.spacing(numbers[1:0x7BFF]).tolist()


def test_rounding_bool_gives_float16() -> None:
    """It stayed bool, of which NumPy's functions of whole numbers give float16."""
    given = np.array([True, False])
    found = symc.function([], T.round(T.constant(given)))()
    np.testing.assert_array_equal(found, np.round(given))
    assert found.dtype == np.round(given).dtype
    with pytest.raises(DTypeError, match="bool has no decimals"):
        T.round(T.constant(given), 1)


@pytest.mark.parametrize("mode", ["compile", "python"])
def test_polyval_of_uint64_wraps(mode: Any) -> None:
    """It was computed in float64, where the number of coefficients was not known."""
    p, x = T.vector("p", "uint64"), T.vector("x", "uint64")
    given = np.array([2**63 + 1, 2**62 + 3, 2**61 + 5, 7], "uint64"), np.array([2, 3], "uint64")
    found = symc.function([p, x], T.polyval(p, x), mode=mode)(*given)
    np.testing.assert_array_equal(found, np.polyval(*given))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool", "complex128"])
def test_polyval_takes_any_number_of_coefficients(dtype: str) -> None:
    """It stored points x coefficients, and took 12 times as long as a loop that does not."""
    p, x = T.vector("p", dtype), T.vector("x", dtype)
    f = symc.function([p, x], T.polyval(p, x))
    some = np.random.default_rng(7)
    points = (some.normal(size=9) * 2).astype(dtype)
    for n in (1, 2, 7, 8, 9, 16, 17, 40):
        given = (some.normal(size=n) * 3).astype(dtype)
        want = np.polyval(given, points)
        scale = np.polyval(abs(given), abs(points)) if x.dtype.is_inexact else 0
        error = np.abs(np.asarray(f(given, points)) - want) if dtype != "bool" else 0
        assert np.all(error <= 1e-5 * scale if dtype == "float32" else error <= 1e-13 * scale)
        if not x.dtype.is_inexact:
            np.testing.assert_array_equal(f(given, points), want)


def test_gradients_of_polyval_with_many_coefficients() -> None:
    p, x = T.dvector("p"), T.dvector("x")
    value = (T.polyval(p, x) * T.sin(x)).sum()
    slopes = symc.function([p, x], [*symc.grad(value, [p, x])])
    twice = symc.function([p, x], symc.grad(symc.grad(value, x).sum(), x))
    some = np.random.default_rng(8)
    for n in (1, 5, 8, 9, 20):
        given, points = some.normal(size=n), some.uniform(-1, 1, 6)
        to_p, to_x = slopes(given, points)
        first, second = np.polyder(given), np.polyder(given, 2)
        values = [np.polyval(each, points) for each in (given, first, second)]
        sine, cosine = np.sin(points), np.cos(points)
        np.testing.assert_allclose(to_p, np.vander(points, n).T @ sine, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(to_x, values[1] * sine + values[0] * cosine, rtol=1e-10)
        want = values[2] * sine + 2 * values[1] * cosine - values[0] * sine
        np.testing.assert_allclose(twice(given, points), want, rtol=1e-9, atol=1e-10)


def test_choose_has_the_axes_of_its_choices() -> None:
    """Those of length 1 were lost, where the number chosen by had fewer axes."""
    for number in (0, 1):
        for choices in (([[1.0]], 3.0), ([1.0], [[2.0, 3.0]]), (np.ones((1, 3, 1)), 2.0)):
            found = T.choose(T.constant(number), list(map(T.constant, choices))).eval()
            wanted = np.choose(number, np.broadcast_arrays(*choices))
            assert found.shape == wanted.shape
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("method", ["weibull", "hazen", "averaged_inverted_cdf"])
def test_quantiles_before_the_first_element_are_that_one(method: str) -> None:
    """They were NaN where the second one was infinite."""
    x = np.array([-2.0, np.inf, np.inf])
    assert T.quantile(x, 0.01, method=method).eval() == -2.0


def test_a_row_is_one_observation_where_columns_are_variables() -> None:
    """It was one variable, as in NumPy before 2.3."""
    x = np.array([[1.0, 2.0, 4.0]])
    np.testing.assert_array_equal(T.cov(x, rowvar=False, ddof=0).eval(), np.zeros((3, 3)))


def test_nothing_is_deleted_by_an_empty_list() -> None:
    x = T.vector("x")
    assert T.delete([1, 2], []).eval().tolist() == [1, 2]
    assert T.delete(x, []).eval({x: [1.0, 2.0]}).tolist() == [1.0, 2.0]
