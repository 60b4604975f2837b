"""Each family of Ops against PyTensor's own Python: values, dtypes, shapes."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.tensor.basic import choose
from pytensor.tensor.extra_ops import fill_diagonal, fill_diagonal_offset
from pytensor.tensor.linalg.decomposition.lu import pivot_to_permutation
from pytensor.tensor.sort import argsort, sort

import symc.pytensor
from tests.pytensor.compare import QUICK, compare

R = np.random.default_rng(0)
X, Y = R.normal(size=(3, 4)), R.uniform(0.2, 0.8, size=(3, 4))
V, I = R.normal(size=5), np.array([2, 0, 2, 1])  # noqa: E741 -- indices


def test_elementwise() -> None:
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    unary = [
        pt.exp, pt.log1p, pt.sqrt, pt.sqr, pt.sin, pt.tanh, pt.arctan, pt.erf, pt.erfc, pt.erfcx,
        pt.gammaln, pt.digamma, pt.tri_gamma, pt.sigmoid, pt.softplus, pt.reciprocal, pt.sign,
        pt.ceil, pt.floor, pt.trunc, pt.isnan, pt.isinf, pt.expm1, pt.log2, pt.neg, pt.abs,
    ]  # fmt: skip
    binary = [
        pt.add, pt.sub, pt.mul, pt.true_div, pt.pow, pt.maximum, pt.minimum, pt.arctan2, pt.lt,
        pt.ge, pt.eq, pt.neq, pt.mod, pt.int_div, pt.gammainc, pt.gammaincc,
    ]  # fmt: skip
    outputs = [f(y) for f in unary] + [f(y, y + 0.5) for f in binary]
    outputs += [pt.switch(x > 0, x, y), pt.clip(x, -0.5, 0.5), pt.log1mexp(-y), x * y[0]]
    outputs += [pt.second(x, 1.0), pt.round(x), pt.xor(x > 0, y > 0.5), pt.cast(x, "int8")]
    compare([x, y], outputs, [X, Y])


def test_integers_divided_by_zero_give_zero() -> None:
    a, b = pt.lvector("a"), pt.lvector("b")
    values = [np.array([7, -7, 5]), np.array([2, 2, 0])]
    with np.errstate(all="ignore"):
        compare([a, b], [a // b, a % b], values)


def test_truth_values_are_divided_as_numbers() -> None:
    """They were refused, as symc has no quotient of them."""
    p, q = pt.bvector("p") > 0, pt.bvector("q") > 0
    inputs = [p.owner.inputs[0], q.owner.inputs[0]]
    values = [np.array([0, 0, 1, 1], np.int8), np.array([0, 1, 0, 1], np.int8)]
    compare(inputs, [p // q, p % q], values)


def test_absolute_values_and_maxima_of_complex_numbers() -> None:
    """The first was refused as a loss of digits; NumPy's order is performed by PyTensor."""
    x, y = pt.zvector("x"), pt.zvector("y")
    values = [np.array([3 + 4j, -1j, 2]), np.array([3 + 5j, 1j, 1])]
    compare([x, y], pt.abs(x * y), values)
    compare([x, y], pt.maximum(x, y), values, host=1)


def test_integers_to_negative_powers_are_cut_off() -> None:
    a, b = pt.lvector("a"), pt.lvector("b")
    f = pytensor.function([a, b], a**b, mode=QUICK)
    powers = f(np.array([3, 3, 1, -1, -1, 0, 0, 2]), np.array([2, -1, -7, -3, -4, 0, -1, -1]))
    np.testing.assert_array_equal(powers, [9, 0, 1, -1, 1, 1, 0, 0])
    assert powers.dtype == "int64"


SPECIAL = {
    "erfcinv": pt.erfcinv,
    "gammaincinv": lambda y: pt.gammaincinv(1.5, y),
    "gammainccinv": lambda y: pt.gammainccinv(1.5, y),
    "betainc": lambda y: pt.betainc(1.5 + y, 2.5 - y, y),
    "betaincinv": lambda y: pt.betaincinv(1.5, 2.5, y),
    "polygamma": lambda y: pt.polygamma(2, 1.5 + y),
    "owens_t": lambda y: pt.owens_t(1.5 + y, 2.5 - y),
    "jv": lambda y: pt.jv(1.5, 2.5 - y),
    "ive": lambda y: pt.ive(1.5, 2.5 - y),
    "kve": lambda y: pt.kve(1.5, 2.5 - y),
    "hyp2f1": lambda y: pt.hyp2f1(1.5, 2.5, 4.0, y),
}
# Their derivatives are PyTensor's graphs of the same Ops; the others' are sums of series, in loops.
WITH_GRADIENT = [
    "erfcinv", "gammaincinv", "gammainccinv", "betaincinv", "polygamma", "owens_t", "jv", "ive",
    "kve", "hyp2f1",
]  # fmt: skip


def test_special_functions_and_their_gradients() -> None:
    y = pt.dvector("y")
    values = {name: function(y) for name, function in SPECIAL.items()}
    outputs = [*values.values(), *(pt.grad(values[name].sum(), y) for name in WITH_GRADIENT)]
    f = compare([y], outputs, [Y[0]], rtol=1e-9)
    (made,) = symc.pytensor.functions(f)
    assert "called in Python" not in made.explain()


def test_functions_that_scipy_computes() -> None:
    y = pt.dvector("y")
    compare([y], pt.ndtri_exp(-y), [Y[0]], rtol=1e-9)


def test_reductions() -> None:
    x = pt.dmatrix("x")
    outputs = [
        x.sum(), x.sum(axis=0), x.prod(axis=1), x.max(axis=0), x.min(), x.mean(axis=1), x.var(),
        pt.argmax(x), pt.argmax(x, axis=1), (x > 0).all(axis=0), (x > 0).any(),
        pt.argmin(x, axis=0),
        pt.prod(x, no_zeros_in_input=True), pt.logsumexp(x, axis=1), pt.special.softmax(x, axis=1),
        pt.special.log_softmax(x, axis=0), pt.cumsum(x, axis=1), pt.cumprod(x, axis=0),
        x.astype("float32").sum(), (x > 0).sum(), x.astype("int8").sum(axis=0),
    ]  # fmt: skip
    compare([x], outputs, [X], rtol=1e-6)


def test_shapes_and_joins() -> None:
    x, v, n = pt.dmatrix("x"), pt.dvector("v"), pt.lscalar("n")
    outputs = [
        x.T, x.dimshuffle("x", 1, 0), x.reshape((4, 3)), x.reshape((n, -1)), x.flatten(), x.shape,
        x.reshape(pt.stack([n, x.size // n])), pt.alloc(v, n, 5), pt.arange(n), pt.eye(n, 3),
        pt.join(0, x, x), pt.stack([v, v], axis=1), pt.diag(v), pt.diagonal(x), pt.repeat(v, 2),
        pt.tile(v, 2), pt.join_dims(x, 0, 2), pt.split_dims(v[:4], axis=0, shape=(2, 2)),
        pt.zeros((n, 2)),
        *pt.split(v, [2, 3], n_splits=2), fill_diagonal(x, 9.0),
        fill_diagonal_offset(x, 9.0, 1),
        pt.specify_shape(v, (5,)), pt.tril(x), pt.linspace(0.0, 1.0, 5), pt.outer(v, v),
        pt.pad(v, (1, 2), mode="edge"),
    ]  # fmt: skip
    compare([x, v, n], outputs, [X, V, 2])


def test_subtensors() -> None:
    x, v, i, n = pt.dmatrix("x"), pt.dvector("v"), pt.lvector("i"), pt.lscalar("n")
    outputs = [
        v[n], v[1:n], v[::-1], v[n:], x[:, n], x[i], x[:, i], x[i[:3], i[:3] + 1], v[v > 0],
        x[x > 0], x[i, None], v[-2:], v[i].sum(), x[1:, ::2], *pt.nonzero(x > 0),
        v[1:3].set(0.0), v[n].inc(2.0), v[i].inc(1.0), v[i].set(pt.arange(4.0)), x[:, i].inc(1.0),
        x[x > 0].set(1.0), pt.take_along_axis(x, pt.argsort(x, axis=1), axis=1),
    ]  # fmt: skip
    compare([x, v, i, n], outputs, [X, V, I, 2])


def test_axes_of_unknown_lengths_are_dropped() -> None:
    x, v = pt.dtensor3("x"), pt.dvector("v")
    outputs = [v[4:5].squeeze(0), pt.exp(v[:1].squeeze(0)) + v, x[:, 1:2].dimshuffle(2, 0)]
    f = compare([x, v], outputs, [X[:, :, None], V])
    with pytest.raises(ValueError, match="cannot drop axis 0"):
        f(X[:, :, None], V[:3])


def test_sorting_and_places() -> None:
    x, v, i = pt.dmatrix("x"), pt.dvector("v"), pt.lvector("i")
    outputs = [
        sort(x, axis=0), sort(v), argsort(v), pt.searchsorted(sort(v), v), pt.unique(i),
        pt.bincount(i, minlength=5), *pt.unravel_index(i, (2, 2)),
        pt.ravel_multi_index((i, i), (3, 4)), pt.bartlett(4),
    ]  # fmt: skip
    compare([x, v, i], outputs, [X, V, I])


def test_choose_is_performed_where_symc_has_no_form() -> None:
    i, x = pt.lvector("i"), pt.dmatrix("x")
    compare([i, x], choose(i, x, mode="wrap"), [I, X], host=1)


def test_linear_algebra() -> None:
    x, v = pt.dmatrix("x"), pt.dvector("v")
    a = x @ x.T + pt.eye(3)
    batch = pt.stack([a, 2 * a])
    low = pt.linalg.cholesky(a)
    outputs = [
        pt.dot(x, x.T), a @ v[:3], batch @ a, low, pt.linalg.cholesky(batch), pt.linalg.inv(a),
        pt.linalg.solve(a, v[:3]), pt.linalg.solve(a, x, assume_a="pos"), pt.linalg.det(a),
        pt.linalg.solve_triangular(low, x, lower=True), *pt.linalg.slogdet(batch),
        pt.linalg.cho_solve((low, True), v[:3]), pt.linalg.eigvalsh(a), pt.linalg.expm(a / 9),
        pt.linalg.kron(a, a), pt.linalg.block_diag(a, a), pt.linalg.pinv(x),
        pt.linalg.solve(batch, pt.stack([v[:3], v[:3]]), b_ndim=1),
        pt.einsum("ij,kj->ik", x, x), pt.signal.convolve1d(v, v[:2]),
        pt.vectorize(lambda r: pt.cumsum(r) / r.sum(), signature="(n)->(n)")(x),
    ]  # fmt: skip
    compare([x, v], outputs, [X, V], rtol=1e-8)


def test_a_factorisation_that_fails_is_nan() -> None:
    x, b = pt.dmatrix("x"), pt.dvector("b")
    outputs = [
        pt.linalg.cholesky(x), pt.linalg.solve_triangular(x, b), pt.linalg.solve(x, b),
    ]  # fmt: skip
    import pytensor

    f = pytensor.function([x, b], outputs, mode="SYMC")
    for value in f(np.zeros((2, 2)), np.ones(2)):
        assert np.isnan(value).all()


def test_lu() -> None:
    a = pt.tensor("a", shape=(2, 3, 3))
    lu, pivots = pt.linalg.lu_factor(a)
    outputs = [
        *pt.linalg.lu(a), *pt.linalg.lu(a, permute_l=True), *pt.linalg.lu(a, p_indices=True),
        lu, pivots, pivot_to_permutation(pivots[0]),
        pivot_to_permutation(pivots[1], inverse=True),
        pt.grad(sum((m * m).sum() for m in pt.linalg.lu(a[0])[1:]), a),
        pt.linalg.lu_solve((lu[0], pivots[0]), pt.ones(3)),
    ]  # fmt: skip
    compare([a], outputs, [R.normal(size=(2, 3, 3))], rtol=1e-9)


def test_lu_of_a_singular_matrix_is_nan() -> None:
    a = pt.dmatrix("a")
    compare([a], pt.linalg.lu_factor(a), [np.ones((2, 2))])


def test_pseudo_inverse_reads_the_lower_triangle_of_a_hermitian_matrix() -> None:
    a = pt.zmatrix("a")
    square = R.normal(size=(3, 3)) + 1j * R.normal(size=(3, 3))
    compare([a], pt.linalg.pinv(a, hermitian=True), [square], rtol=1e-8)


def test_a_split_that_must_fail_raises_pytensors_error() -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], pt.split(x, [2, -4, 8], n_splits=3), mode=QUICK)
    with pytest.raises(ValueError, match="Split sizes cannot be negative"):
        f(np.zeros(6))


def test_what_symc_lacks_is_performed() -> None:
    x = pt.dmatrix("x")
    compare([x], [2 * m for m in pt.linalg.schur(x)], [X @ X.T], host=1)
