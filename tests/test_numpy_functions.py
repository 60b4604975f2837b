"""NumPy's functions on tensors agree with those on arrays; all others are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.tensor import numpy_calls
from tests.ops.harness import inputs_for
from tests.ops.numpy_cases import GROUPS, flat

V = np.array([3.0, -1.5, 2.25, 0.5])
M = np.array([[1.0, 2.0, -3.0], [4.0, 0.5, 6.0], [-7.0, 8.0, 9.5]])
K = np.array([2, 0, 1, 1])
SQUARE = M @ M.T + np.eye(3)

Call = Callable[[Any, Any, Any], Any]

# By name, calls with a vector, a matrix and a vector of integers.
FUNCTIONS: dict[str, Call] = {
    "all": lambda v, m, k: np.all(m > 0, axis=1),
    "allclose": lambda v, m, k: np.allclose(v, v + 1e-9),
    "amax": lambda v, m, k: np.amax(m, 0),
    "amin": lambda v, m, k: np.amin(m, axis=1, keepdims=True),
    "angle": lambda v, m, k: np.angle(v),
    "any": lambda v, m, k: np.any(m > 5, 0),
    "apply_along_axis": lambda v, m, k: np.apply_along_axis(lambda r: r * r[0], 1, m),
    "apply_over_axes": lambda v, m, k: np.apply_over_axes(np.sum, m, [0, 1]),
    "argmax": lambda v, m, k: np.argmax(m, 1),
    "argmin": lambda v, m, k: np.argmin(v),
    "argpartition": lambda v, m, k: np.take(v, np.argpartition(v, 1)[:1]),
    "argsort": lambda v, m, k: np.argsort(m, axis=0),
    "argwhere": lambda v, m, k: np.argwhere(m > 2),
    "array_split": lambda v, m, k: np.array_split(m, [1, -1], axis=1)[1],
    "atleast_1d": lambda v, m, k: np.atleast_1d(v[0]),
    "atleast_2d": lambda v, m, k: np.atleast_2d(v),
    "average": lambda v, m, k: np.average(m, axis=0, weights=m[0] ** 2),
    "bincount": lambda v, m, k: np.bincount(k, minlength=5),
    "broadcast_to": lambda v, m, k: np.broadcast_to(v, (2, 4)),
    "choose": lambda v, m, k: np.choose(k, [v, v * 2, v * 3]),
    "clip": lambda v, m, k: np.clip(v, -1, 2),
    "compress": lambda v, m, k: np.compress([True, False, True], m, axis=1),
    "concatenate": lambda v, m, k: np.concatenate([v, k]),
    "count_nonzero": lambda v, m, k: np.count_nonzero(k),
    "cumprod": lambda v, m, k: np.cumprod(m, axis=1),
    "cumsum": lambda v, m, k: np.cumsum(m),
    "diag": lambda v, m, k: np.diag(v, 1),
    "diagonal": lambda v, m, k: np.diagonal(m, -1),
    "diff": lambda v, m, k: np.diff(m, n=2, axis=0),
    "digitize": lambda v, m, k: np.digitize(v, np.array([0.0, 1.0, 2.5])),
    "dot": lambda v, m, k: np.dot(m, m),
    "dstack": lambda v, m, k: np.dstack([m, m]),
    "einsum": lambda v, m, k: np.einsum("ij,jk->ik", m, m, optimize=True),
    "empty_like": lambda v, m, k: np.empty_like(m) * 0,
    "expand_dims": lambda v, m, k: np.expand_dims(m, (0, 2)),
    "extract": lambda v, m, k: np.extract(v > 0, v),
    "flatnonzero": lambda v, m, k: np.flatnonzero(m > 2),
    "flip": lambda v, m, k: np.flip(m, 1),
    "fliplr": lambda v, m, k: np.fliplr(m),
    "flipud": lambda v, m, k: np.flipud(m),
    "full_like": lambda v, m, k: np.full_like(v, 7),
    "histogram": lambda v, m, k: np.histogram(v, bins=3)[0],
    "hstack": lambda v, m, k: np.hstack([m, m]),
    "i0": lambda v, m, k: np.i0(v),
    "imag": lambda v, m, k: np.imag(v * 1j),
    "inner": lambda v, m, k: np.inner(m, m),
    "iscomplexobj": lambda v, m, k: v + np.iscomplexobj(v),
    "isclose": lambda v, m, k: np.isclose(v, v + 1e-7, atol=1e-6),
    "isrealobj": lambda v, m, k: v + np.isrealobj(v),
    "kron": lambda v, m, k: np.kron(m, v),
    "max": lambda v, m, k: np.max(m, axis=(0, 1)),
    "mean": lambda v, m, k: np.mean(m, axis=0),
    "median": lambda v, m, k: np.median(m, axis=1),
    "meshgrid": lambda v, m, k: np.meshgrid(v, k, indexing="ij")[1],
    "min": lambda v, m, k: np.min(v),
    "moveaxis": lambda v, m, k: np.moveaxis(m, 0, 1),
    "ndim": lambda v, m, k: v + np.ndim(m),
    "nonzero": lambda v, m, k: np.nonzero(k)[0],
    "ones_like": lambda v, m, k: np.ones_like(k),
    "outer": lambda v, m, k: np.outer(v, k),
    "pad": lambda v, m, k: np.pad(m, ((1, 0), (0, 2)), mode="edge"),
    "partition": lambda v, m, k: np.partition(v, 2)[2],
    "percentile": lambda v, m, k: np.percentile(v, 30.0),
    "prod": lambda v, m, k: np.prod(m, axis=1),
    "ptp": lambda v, m, k: np.ptp(m, axis=0),
    "quantile": lambda v, m, k: np.quantile(v, 0.4),
    "ravel": lambda v, m, k: np.ravel(m),
    "real": lambda v, m, k: np.real(v),
    "repeat": lambda v, m, k: np.repeat(m, 2, axis=1),
    "reshape": lambda v, m, k: np.reshape(v, (2, -1)),
    "roll": lambda v, m, k: np.roll(m, 1, axis=0),
    "round": lambda v, m, k: np.round(v, 1),
    "searchsorted": lambda v, m, k: np.searchsorted(np.sort(v), 1.0, side="right"),
    "select": lambda v, m, k: np.select([v > 2, v > 0], [v, -v], 9.0),
    "shape": lambda v, m, k: np.shape(m)[1],
    "size": lambda v, m, k: v + np.size(m, 1),
    "sort": lambda v, m, k: np.sort(m, axis=0),
    "squeeze": lambda v, m, k: np.squeeze(m[None], axis=0),
    "stack": lambda v, m, k: np.stack([v, v], axis=1),
    "std": lambda v, m, k: np.std(m, axis=0, ddof=1),
    "sum": lambda v, m, k: np.sum(m, axis=0, keepdims=True),
    "swapaxes": lambda v, m, k: np.swapaxes(m, 0, 1),
    "take": lambda v, m, k: np.take(m, k, axis=1),
    "take_along_axis": lambda v, m, k: np.take_along_axis(m, np.argsort(m, axis=1), axis=1),
    "tensordot": lambda v, m, k: np.tensordot(m, m, axes=([1], [0])),
    "tile": lambda v, m, k: np.tile(v, (2, 3)),
    "trace": lambda v, m, k: np.trace(m),
    "transpose": lambda v, m, k: np.transpose(m),
    "tril": lambda v, m, k: np.tril(m, -1),
    "triu": lambda v, m, k: np.triu(m),
    "unique": lambda v, m, k: np.unique(k),
    "var": lambda v, m, k: np.var(m, 0),
    "vdot": lambda v, m, k: np.vdot(v, k),
    "vstack": lambda v, m, k: np.vstack([v, k]),
    "where": lambda v, m, k: np.where(v > 0, v, 0),
    "zeros_like": lambda v, m, k: np.zeros_like(m),
}
LINALG: dict[str, Call] = {
    "cholesky": lambda v, m, k: np.linalg.cholesky(m @ m.T + np.eye(3)),
    "det": lambda v, m, k: np.linalg.det(m),
    "eig": lambda v, m, k: np.linalg.eig(m).eigenvalues + 0j,
    "eigh": lambda v, m, k: np.linalg.eigh(m + m.T).eigenvalues,
    "eigvals": lambda v, m, k: np.linalg.eigvals(m) + 0j,
    "eigvalsh": lambda v, m, k: np.linalg.eigvalsh(m + m.T),
    "inv": lambda v, m, k: np.linalg.inv(m),
    "lstsq": lambda v, m, k: np.linalg.lstsq(m, m[0], rcond=None)[0],
    "matrix_norm": lambda v, m, k: np.linalg.matrix_norm(m),
    "matrix_power": lambda v, m, k: np.linalg.matrix_power(m, -2),
    "matrix_rank": lambda v, m, k: np.linalg.matrix_rank(m),
    "multi_dot": lambda v, m, k: np.linalg.multi_dot([m, m, m[0]]),
    "norm": lambda v, m, k: np.linalg.norm(m, axis=1),
    "pinv": lambda v, m, k: np.linalg.pinv(m[:2]),
    "qr": lambda v, m, k: abs(np.linalg.qr(m).R),
    "slogdet": lambda v, m, k: np.linalg.slogdet(m).logabsdet,
    "solve": lambda v, m, k: np.linalg.solve(m, m[0]),
    "svd": lambda v, m, k: np.linalg.svd(m).S,
    "svdvals": lambda v, m, k: np.linalg.svdvals(m),
    "trace": lambda v, m, k: np.linalg.trace(m),
}
TWO = ("fft2", "fftn", "ifft2", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn")
UNARY = {
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil",
    "conjugate", "cos", "cosh", "deg2rad", "degrees", "exp", "exp2", "expm1", "fabs", "floor",
    "frexp", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not", "modf",
    "negative", "positive", "rad2deg", "radians", "rint", "sign", "signbit", "sin", "sinh",
    "spacing", "sqrt", "square", "tan", "tanh", "trunc",
}  # fmt: skip
INTEGER = {
    "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "left_shift", "right_shift",
}  # fmt: skip


def computed(call: Call) -> Any:
    v, m, k = T.vector("v"), T.matrix("m"), T.lvector("k")
    result = call(v, m, k)
    outputs = list(result) if isinstance(result, tuple) else [result]
    f = symc.function([v, m, k], outputs, mode="python", on_unused_input="ignore")
    return f(V, M, K)


def same(call: Call) -> None:
    with np.errstate(all="ignore"):
        wanted = call(V, M, K)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for got, expected in zip(computed(call), wanted, strict=True):
        assert got.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    same(FUNCTIONS[name])


@pytest.mark.parametrize("name", LINALG)
def test_linear_algebra(name: str) -> None:
    same(LINALG[name])


@pytest.mark.parametrize("name", sorted(numpy_calls.FFT))
def test_fourier_transforms(name: str) -> None:
    same(lambda v, m, k: getattr(np.fft, name)(m if name in TWO else v))


@pytest.mark.parametrize("name", sorted(numpy_calls.UFUNCS))
def test_ufuncs(name: str) -> None:
    ufunc: Any = getattr(np, name)
    if name in UNARY:
        same(lambda v, m, k: ufunc(v))
    elif name in ("matmul", "vecdot"):
        same(lambda v, m, k: ufunc(m, m))
        same(lambda v, m, k: ufunc(M, m))
    elif name in ("invert", "bitwise_count"):
        same(lambda v, m, k: ufunc(k))
    elif name in INTEGER:
        same(lambda v, m, k: ufunc(k, K))
    else:
        same(lambda v, m, k: ufunc(v, k + 2))
        same(lambda v, m, k: ufunc(V, k + 2))


FURTHER = {case[0]: case for cases in GROUPS.values() for case in cases}
NAMES = {name: name.split()[0].removeprefix("linalg.") for name in FURTHER}
MADE = {"block mixed", "ix_"}  # of arrays, too, that NumPy makes
LISTED = numpy_calls.FUNCTIONS | numpy_calls.LINALG | numpy_calls.UFUNCS


@pytest.mark.parametrize(
    "name", [n for n, f in NAMES.items() if f in LISTED and FURTHER[n][2] and n not in MADE]
)
def test_further_functions(name: str) -> None:
    """The cases that compare `T` with NumPy, called by NumPy's functions: the same tensors."""
    _, call, arrays = FURTHER[name]
    inputs = inputs_for(arrays)
    by_numpy, by_t = flat(call(np, *inputs)), flat(call(T, *inputs))
    for got, wanted in zip(by_numpy, by_t, strict=True):
        assert got is wanted


def test_all_that_is_listed_is_compared() -> None:
    further = set(NAMES.values())
    assert set(FUNCTIONS) | further >= numpy_calls.FUNCTIONS >= set(FUNCTIONS)
    assert set(LINALG) | further >= numpy_calls.LINALG >= set(LINALG)


def test_operators_with_arrays_on_the_left() -> None:
    same(lambda v, m, k: V + v)
    same(lambda v, m, k: M @ m)
    same(lambda v, m, k: np.float32(2) ** v)
    same(lambda v, m, k: v - 1 < V)


def test_what_numpy_means_otherwise_is_refused() -> None:
    x, array = T.vector("x"), np.zeros(3)
    own_ufunc: Any = vars(np)["frompyfunc"](float, 1, 1)
    for call, text in (
        (lambda: np.split(x, [1, 2]), "numpy.split does not take tensors; see T.split"),
        (lambda: np.polydiv(x, x), "numpy.polydiv does not take tensors"),
        (lambda: np.add.reduce(x), "np.add.reduce does not take tensors; see T.add"),
        (lambda: np.exp(x, dtype="float32"), "np.exp with dtype= does not take tensors"),
        (lambda: np.add(array, x, out=array), "np.add: an array cannot take what is symbolic"),
        (lambda: own_ufunc(x), "does not take tensors"),
        (lambda: np.asarray(x), "is symbolic and has no values"),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_an_array_and_a_tensor_are_not_compared_by_identity() -> None:
    """As `x == y` says whether two tensors are one, `array == x` was False without a word."""
    x: Any = T.vector("x")
    array: Any = np.zeros(3)
    compared: list[Callable[[], Any]] = [
        lambda: array == x, lambda: x == array, lambda: x != np.float64(1)
    ]  # fmt: skip
    for compare in compared:
        with pytest.raises(TypeError, match=r"compared by T\.eq and T\.ne"):
            compare()
