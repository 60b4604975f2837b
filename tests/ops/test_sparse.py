"""`T.sparse`: matrices of which only some elements are stored; SciPy is the oracle."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadArgument, BadIndex, DTypeError, RankError, ShapeMismatch, UnusedInput
from tests.near import assert_near
from tests.ops.harness import check

sp: Any = pytest.importorskip("scipy.sparse")
ROWS, COLUMNS = 7, 5
RNG = np.random.default_rng(4)


def matrix(format: str = "csr", dtype: str = "float64", rows: int = ROWS) -> Any:
    """With an empty row and column, and an element that is stored twice."""
    dense = np.where(RNG.random((rows, COLUMNS)) < 0.5, RNG.random((rows, COLUMNS)) * 9, 0)
    dense[2], dense[:, 3] = 0, 0
    dense[0, 0] = 2
    coo = sp.coo_array(dense)
    row, column = (np.append(x, 0) for x in coo.coords)
    data = np.append(coo.data, 1.0).astype(dtype)
    made = sp.csr_array((rows, COLUMNS), dtype=dtype)
    order = np.argsort(row, kind="stable")
    made.indptr = np.append(0, np.cumsum(np.bincount(row, minlength=rows))).astype(np.int32)
    made.indices, made.data = column[order].astype(np.int32), data[order]
    return made if format == "csr" else made.tocsc()


def symbol(value: Any, name: str = "a") -> T.sparse.SparseMatrix:
    make = T.sparse.csr_matrix if value.format == "csr" else T.sparse.csc_matrix
    return make(name, value.dtype)


def dense(value: Any) -> Any:
    return value.toarray() if sp.issparse(value) else np.asarray(value)


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda a: a.T,
    lambda a: -a,
    lambda a: a * 3.0,
    lambda a: 2.0 * a,
    lambda a: a / 4.0,
    lambda a: abs(a),
    lambda a: a + a,
    lambda a: a - a * 3.0,
    lambda a: a.sum(),
    lambda a: a.sum(axis=0),
    lambda a: a.sum(axis=1),
    lambda a: a.mean(axis=-1),
    lambda a: a.mean(),
    lambda a: a.diagonal(),
    lambda a: a.toarray(),
    lambda a: a.astype("float32"),
    lambda a: a.multiply(np.arange(5.0)),
    lambda a: a.multiply(np.arange(7.0)[:, None]),
    lambda a: a.multiply(np.arange(35.0).reshape(7, 5)),
    lambda a: a + np.ones((7, 5)),
    lambda a: np.ones((7, 5)) - a,
]


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("mode", [None, "python"])
def test_functions_are_those_of_scipy(format: str, mode: str | None) -> None:
    value = matrix(format)
    a = symbol(value)
    f = symc.function([a], [function(a) for function in FUNCTIONS], mode=mode)
    got: Any
    for got, function in zip(f(value), FUNCTIONS, strict=True):
        assert_near(dense(got), dense(function(value)), rtol=1e-13)
        assert not sp.issparse(got) or got.format in ("csr", "csc")


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("width", [None, 0, 1, 2, 7, 8, 45])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_are_those_of_scipy(format: str, width: int | None, dtype: str) -> None:
    value = matrix(format, dtype)
    a = symbol(value)
    more = () if width is None else (width,)
    right = RNG.random((COLUMNS, *more)).astype(dtype)
    left = RNG.random((*more, ROWS)).astype(dtype)
    x, y = T.tensor(dtype, (None,) * right.ndim, "x"), T.tensor(dtype, (None,) * left.ndim, "y")
    f = symc.function([a, x, y], [a @ x, y @ a, a.T @ y.T, x.T @ a.T])
    wanted = value @ right, left @ value, value.T @ left.T, right.T @ value.T
    for got, expected in zip(f(value, right, left), wanted, strict=True):
        assert got.dtype == dtype
        assert_near(got, expected, rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("dtype", ["int32", "int64", "complex128", "bool"])
def test_products_of_other_dtypes(dtype: str) -> None:
    value = matrix(dtype="float64")
    value.data = np.round(value.data).astype(dtype)
    a, x = symbol(value), T.matrix("x", dtype="complex128" if dtype == "complex128" else "float32")
    right = RNG.integers(0, 5, (COLUMNS, 3)).astype(x.dtype)
    got = symc.function([a, x], a @ x)(value, right)
    whole: Any = np.zeros((ROWS, COLUMNS), "complex128")
    np.add.at(whole, value.tocoo().coords, value.data)
    wanted = whole @ right
    assert_near(got, wanted if dtype == "complex128" else wanted.real, rtol=1e-5)


@pytest.mark.parametrize("kind", ["dot", "vector", "back", "samples"])
def test_gradients(kind: str) -> None:
    value = matrix()
    parts = value.data, value.indices, value.indptr.astype(np.int64)
    left, right = RNG.random((ROWS, 3)), RNG.random((COLUMNS, 3))

    def of(data: Any, indices: Any, indptr: Any) -> T.sparse.SparseMatrix:
        return T.sparse.csr_from_parts(data, indices, indptr, COLUMNS)

    if kind == "dot":
        check(lambda d, i, p, x: of(d, i, p) @ x, *parts, right, oracle=lambda *_: value @ right)
    elif kind == "vector":
        vector = right[:, 0].copy()
        check(lambda d, i, p, x: of(d, i, p) @ x, *parts, vector, oracle=lambda *_: value @ vector)
    elif kind == "back":
        check(lambda d, i, p, x: of(d, i, p).T @ x, *parts, left, oracle=lambda *_: value.T @ left)
    else:
        rows, columns = np.repeat(np.arange(ROWS), np.diff(value.indptr)), value.indices
        check(
            lambda d, i, p, x, y: T.sparse.sampled_dot(x, y.T, of(d, i, p)).data * d,
            *parts, left, right,
            oracle=lambda *_: (left[rows] * right[columns]).sum(axis=1) * value.data,
        )  # fmt: skip


def test_second_derivatives_and_batches() -> None:
    value = matrix()
    a = symbol(value)
    x = T.vector("x")
    energy = (a @ x) ** 3 / 6
    point = RNG.random(COLUMNS)
    hessian = symc.function([a, x], symc.hessian(energy.sum(), x))(value, point)
    whole = value.toarray()
    assert_near(hessian, whole.T @ np.diag(whole @ point) @ whole, rtol=1e-12)


def test_arguments_of_all_kinds() -> None:
    """Other formats are converted, as are `*_matrix`, indices of 64 bits and room at the end."""
    value = matrix()
    a, x = symbol(value), T.vector("x")
    f = symc.function([x, a], a @ x)
    point = RNG.random(COLUMNS)
    wide, roomy = value.copy(), value.copy()
    wide.indices, wide.indptr = wide.indices.astype("int64"), wide.indptr.astype("int64")
    roomy.data, roomy.indices = np.append(roomy.data, 7.0), np.append(roomy.indices, 1)
    given = [value.tocsc(), value.tocoo(), sp.csr_matrix(value), value.astype("float32"), wide]
    for each in [*given, roomy]:
        assert_near(f(point, each), value @ point, rtol=1e-6)
    assert_near(f(a=value, x=point), value @ point, rtol=1e-13)
    assert_near(f(point, a=value), value @ point, rtol=1e-13)
    for wrong in (value.toarray(), 3.0, None):
        with pytest.raises(BadArgument, match="sparse"):
            f(point, wrong)
    with pytest.raises(BadArgument, match="takes 2 arguments, not 3"):
        f(point, value, 1)
    with pytest.raises(BadArgument, match="missing input"):
        f(point)
    with pytest.raises(DTypeError):
        f(point, value.astype("complex128"))


def test_parts_that_are_no_matrix_are_refused() -> None:
    data, indices, indptr = T.vector("d"), T.vector("i", dtype="int64"), T.lvector("p")
    a = T.sparse.csr_from_parts(data, indices, indptr, 3)
    x = T.vector("x")
    f = symc.function([data, indices, indptr, x], [a @ x, a.toarray()])
    good = [1.0, 2.0], [0, 2], [0, 1, 2], [1.0, 1.0, 1.0]
    assert_near(f(*good)[0], [1.0, 2.0], rtol=0)
    for number, bad in (
        (1, [0, 3]), (1, [-1, 0]), (1, [0, 2**32]), (2, [0, 2, 1]), (2, [1, 1, 2]), (2, [0, 0, 1]),
        (2, []),
    ):  # fmt: skip
        args: list[Any] = list(good)
        args[number] = np.array(bad, dtype="int64")
        with pytest.raises((BadIndex, ShapeMismatch, ValueError)):
            f(*args)
    for number, wrong in ((0, [1.0]), (3, [1.0, 1.0])):
        args = list(good)
        args[number] = wrong
        with pytest.raises(ShapeMismatch):
            f(*args)


def test_a_vector_that_is_too_short_is_never_read_beyond() -> None:
    """Lengths that are values are compared after the product: it looks at indices by its own."""
    value = sp.csr_array((np.ones(1), [2_000_000], [0, 1]), shape=(1, 2_000_001))
    a, x = T.sparse.csr_matrix("a"), T.vector("x")
    with pytest.raises(ShapeMismatch, match="2000001 columns"):
        symc.function([a, x], a @ x)(value, [1.0])


def test_mistakes_have_errors_that_say_what_to_do() -> None:
    a, b, x = T.sparse.csr_matrix("a"), T.sparse.csr_matrix("b"), T.vector("x")
    with pytest.raises(TypeError, match="structured"):
        T.exp(a)  # type: ignore[arg-type]  # that is the mistake
    with pytest.raises(TypeError, match="same structure"):
        _ = a * b
    with pytest.raises(ValueError, match="lengths differ"):
        symc.function([a, b], a @ b)(matrix(), matrix())
    with pytest.raises(ValueError, match="lengths differ"):
        symc.function([a, b], a + b)(matrix(), matrix(rows=3))
    with pytest.raises(BadIndex, match="slices or by vectors"):
        _ = a[1]
    with pytest.raises(BadIndex, match="two axes"):
        _ = a[:1, :1, :1]
    with pytest.raises(TypeError, match="toarray"):
        _ = a + 1.0
    with pytest.raises(RankError):
        _ = a @ T.tensor3("t")
    with pytest.raises(RankError):
        a.with_data(T.matrix("m"))
    with pytest.raises(RankError):
        T.sparse.csr_from_dense(x)
    with pytest.raises(DTypeError):
        T.sparse.csr_from_parts(x, x, [0, 1], 3)
    with pytest.raises(UnusedInput):
        symc.function([a, x], x)


def test_structured_functions_and_scaling() -> None:
    value = matrix()
    a, r, c = symbol(value), T.vector("r"), T.vector("c")
    rows, columns = RNG.random(ROWS), RNG.random(COLUMNS)
    b = T.sparse.structured(lambda x, y: T.exp(x) * y, a, a)
    f = symc.function([a, r, c], {"scaled": a.scale_rows(r).scale_columns(c), "b": b})
    got = f(value, rows, columns)
    whole = rows[:, None] * value.toarray() * columns
    assert_near(got["scaled"].toarray(), whole, rtol=1e-13)
    assert_near(got["b"].data, np.exp(value.data) * value.data, rtol=1e-13)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_dense_matrices_become_sparse(format: str) -> None:
    whole = matrix().toarray()
    x = T.matrix("x")
    make = T.sparse.csr_from_dense if format == "csr" else T.sparse.csc_from_dense
    got = symc.function([x], make(x))(whole)
    assert got.format == format
    assert got.nnz == np.count_nonzero(whole)
    assert_near(got.toarray(), whole, rtol=0)


def test_shared_matrices_are_trained() -> None:
    value = matrix()
    w, x = T.sparse.shared(value, "w"), T.vector("x")
    weights = w.data
    assert isinstance(weights, symc.SharedVariable)
    target = RNG.random(ROWS)
    loss = ((w @ x - target) ** 2).sum()
    step = symc.function([x], loss, updates=[(weights, w.data - 0.01 * symc.grad(loss, w.data))])
    point = RNG.random(COLUMNS)
    losses = [float(step(point)) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)
    assert w.eval().nnz == value.nnz


def test_a_function_keeps_its_matrices_in_files_and_pickles(tmp_path: Path) -> None:
    value = matrix()
    a, x = symbol(value), T.vector("x")
    f = symc.function([a, x], [a @ x, a * 2.0])
    symc.save(f, tmp_path / "f.symc")
    point = RNG.random(COLUMNS)
    for g in (symc.load(tmp_path / "f.symc"), pickle.loads(pickle.dumps(f)), f.copy(name="g")):
        product, double = g(value, x=point)
        assert_near(product, value @ point, rtol=1e-13)
        assert_near(double.toarray(), (value * 2).toarray(), rtol=1e-13)


def test_constants_and_large_products_by_threads() -> None:
    value = sp.random_array((300, 200), density=0.1, rng=np.random.default_rng(1), format="csr")
    a, x = T.sparse.as_sparse(value), T.matrix("x")
    right, left = RNG.random((200, 40)), RNG.random((300, 40))
    y = T.matrix("y")
    f = symc.function([x, y], [a @ x, a.T @ y, T.sparse.sampled_dot(y, x.T, a)])
    product, back, samples = f(right, left)
    assert_near(product, value @ right, rtol=1e-12)
    assert_near(back, value.T @ left, rtol=1e-12)
    assert_near(samples.toarray(), (left @ right.T) * (value.toarray() != 0), rtol=1e-12)


def test_a_bug_small_integers_divided_became_float16() -> None:
    """As NumPy's and SciPy's do, and dense ones, they become float64."""
    a, x = T.sparse.csr_matrix("a", "int8"), T.bmatrix("x")
    assert {str(m.dtype) for m in (a / 2, a / x, x / 2)} == {"float64"}
    value = sp.csr_array(np.array([[0, 100], [1, 0]], np.int8))
    assert_near(symc.function([a], a / 3)(value).toarray(), value.toarray() / 3, rtol=1e-15)


def test_a_bug_examples_with_sparse_matrices_were_refused(tmp_path: Path) -> None:
    """By `export`, as an array that they are not, and by `report`, as too many arguments."""
    value, a, x = matrix(), T.sparse.csr_matrix("a"), T.vector("x")
    f = symc.function([a, x], {"product": a @ x, "turned": 2 * a.T}, device="cpu")
    f.export(tmp_path, example=(value, np.ones(COLUMNS)))
    subprocess.run(["make", "test"], cwd=tmp_path, check=True, capture_output=True)
    interpreted = symc.function([a, x], a @ x, mode="python")
    interpreted.report(tmp_path / "report.html", example=(value, np.ones(COLUMNS)))


def test_a_bug_parts_that_do_not_fit_were_returned_to_scipy() -> None:
    """Which writes where the indices say: `toarray` of the result crashed."""
    indices, starts, count = T.ivector("indices"), T.ivector("starts"), T.lscalar("count")
    made = T.sparse.csr_from_parts([1.0, 2.0, 3.0], indices, starts, count)
    f = symc.function([indices, starts, count], [made, made.T.scale_rows([1.0, 10.0, 100.0])])
    same, scaled = f([0, 2, 1], [0, 2, 3], 3)
    assert same.toarray().tolist() == [[1, 0, 2], [0, 3, 0]]
    assert scaled.toarray().tolist() == [[1, 0], [0, 30], [200, 0]]
    for wrong in (([0, 3, 1], [0, 2, 3]), ([0, -1, 1], [0, 2, 3]), ([0, 2, 1], [0, 5, 3]),
                  ([0, 2, 1], [1, 2, 3]), ([0, 2, 1], [0, 2, 2]), ([0, 2, 1], [])):  # fmt: skip
        with pytest.raises(BadIndex):
            f(*wrong, 3)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_a_bug_a_negative_index_was_scaled_by_the_last_factor(format: str) -> None:
    k, factors = T.lvector("k"), T.vector("factors")
    make = T.sparse.csr_from_parts if format == "csr" else T.sparse.csc_from_parts
    a = make([1.0, 2.0, 3.0], k, [0, 2, 3], 3)
    scaled = a.scale_columns(factors) if format == "csr" else a.scale_rows(factors)
    f = symc.function([k, factors], scaled.data)
    assert f([0, 2, 1], [1.0, 10.0, 100.0]).tolist() == [1.0, 200.0, 30.0]
    with pytest.raises(IndexError, match="negative"):
        f([0, -1, 1], [1.0, 10.0, 100.0])


def test_scipy_is_imported_only_for_results() -> None:
    code = (
        "import sys, symc, symc.tensor as T; a = T.sparse.csr_matrix('a'); "
        "symc.function([a], a.sum()); assert 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("wanted", ["cuda:sim"])
def test_on_a_device_python_computes_products(wanted: str) -> None:
    value = matrix()
    a, x = symbol(value), T.vector("x")
    cost = (T.sin(a @ x) ** 2).sum()
    both = [cost, *symc.grad(cost, [a.data, x])]
    point = RNG.random(COLUMNS)
    there = symc.function([a, x], both, device=wanted)(value, point)
    for got, expected in zip(there, symc.function([a, x], both)(value, point), strict=True):
        assert_near(got, expected, rtol=1e-12)
