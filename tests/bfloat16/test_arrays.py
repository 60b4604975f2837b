"""bfloat16 in arrays: reductions, products, places, loops, gradients, shared variables, files."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symc
import symc.tensor as T
from symc.errors import BadUpdate, DTypeError
from symc.graph.node import Tensor

Array = npt.NDArray[Any]
B: Any = ml_dtypes.bfloat16
RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 8)).astype(B)
Y = RNG.standard_normal((6, 8)).astype(B)


def matrices() -> tuple[Tensor, Tensor]:
    return T.matrix("x", dtype="bfloat16"), T.matrix("y", dtype="bfloat16")


EXACT: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "max": (lambda x, y: x.max(0), lambda x, y: x.max(0)),
    "min": (lambda x, y: x.min(), lambda x, y: x.min()),
    "argmax": (lambda x, y: x.argmax(1), lambda x, y: x.argmax(1)),
    "sort": (lambda x, y: T.sort(x), lambda x, y: np.sort(x)),
    "argsort": (lambda x, y: T.argsort(x, 0), lambda x, y: np.argsort(x, 0, kind="stable")),
    "topk": (lambda x, y: T.topk(x, 2)[0], lambda x, y: np.sort(x)[:, :-3:-1]),
    "unique": (lambda x, y: T.unique(T.round(x)), lambda x, y: np.unique(np.rint(x))),
    "searchsorted": (
        lambda x, y: T.searchsorted(T.sort(x[0]), y[0]),
        lambda x, y: np.searchsorted(np.sort(x[0]), y[0]),
    ),
    "index": (lambda x, y: x[1::2, ::-1], lambda x, y: x[1::2, ::-1]),
    "gather": (lambda x, y: x[[0, 2, 2]], lambda x, y: x[[0, 2, 2]]),
    "mask": (lambda x, y: x[x > 0], lambda x, y: x[x > 0]),
    "set": (lambda x, y: x[1].set(0.3), lambda x, y: _changed(x, np.array(0.3, B))),
    "concatenate": (lambda x, y: T.concatenate([x, y]), lambda x, y: np.concatenate([x, y])),
    "pad": (lambda x, y: T.pad(x, 1), lambda x, y: np.pad(x, 1)),
    "tril": (lambda x, y: T.tril(x), lambda x, y: np.tril(x)),
    "where": (lambda x, y: T.where(x > y, x, y), lambda x, y: np.where(x > y, x, y)),
    "any": (lambda x, y: x.any(0), lambda x, y: (x != 0).any(0)),
    "isnan": (lambda x, y: T.isnan(x / 0), lambda x, y: x == 0),
    "repeat": (lambda x, y: T.repeat(x, 2, 1), lambda x, y: np.repeat(x, 2, 1)),
    "transpose": (lambda x, y: x.T.reshape((6, 8)), lambda x, y: x.T.reshape(6, 8)),
}


def _changed(x: Array, value: Array) -> Array:
    result = x.copy()
    result[1] = value
    return result


@pytest.mark.parametrize("name", EXACT)
def test_values_that_are_not_computed(name: str) -> None:
    x, y = matrices()
    made, expected = EXACT[name]
    for mode in ("default", "python"):
        found = symc.function([x, y], made(x, y), mode=mode, on_unused_input="ignore")(X, Y)
        right = np.asarray(expected(X, Y))
        assert found.dtype == right.dtype
        np.testing.assert_array_equal(found, right)


ROUNDED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda x, y: x.sum(0), lambda x, y: x.sum(0)),
    "sum of all": (lambda x, y: x.sum(), lambda x, y: x.sum()),
    "mean": (lambda x, y: x.mean(1), lambda x, y: x.mean(1)),
    "var": (lambda x, y: x.var(1), lambda x, y: x.var(1)),
    "prod": (lambda x, y: x.prod(0), lambda x, y: x.prod(0)),
    "cumsum": (lambda x, y: T.cumsum(x, 1), lambda x, y: x.cumsum(1)),
    "product": (lambda x, y: x @ y.T, lambda x, y: x @ y.T),
    "matrix and vector": (lambda x, y: x @ y[0], lambda x, y: x @ y[0]),
    "dot": (lambda x, y: T.dot(x[0], y[0]), lambda x, y: x[0] @ y[0]),
    "einsum": (lambda x, y: T.einsum("ij,kj->ik", x, y), lambda x, y: x @ y.T),
    "softmax": (
        lambda x, y: T.softmax(x, 1), lambda x, y: np.exp(x) / np.exp(x).sum(1, keepdims=True)
    ),
    "logsumexp": (lambda x, y: T.logsumexp(x, 1), lambda x, y: np.log(np.exp(x).sum(1))),
    "norm": (lambda x, y: T.linalg.norm(x), lambda x, y: np.sqrt((x * x).sum())),
    "median": (lambda x, y: T.median(x, 0), lambda x, y: np.median(x, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROUNDED)
def test_values_rounded_at_the_end(name: str) -> None:
    x, y = matrices()
    made, expected = ROUNDED[name]
    wide = np.asarray(expected(X.astype(np.float64), Y.astype(np.float64)))
    scale = np.abs(wide).max()
    for mode in ("default", "python"):
        found = symc.function([x, y], made(x, y), mode=mode, on_unused_input="ignore")(X, Y)
        assert found.dtype == B
        error = np.abs(found.astype(np.float64) - wide)
        assert (error <= 2.0**-8 * np.abs(wide) + 2.0**-9 * scale).all(), (mode, error.max())


def test_sums_are_of_float32() -> None:
    x = T.vector("x", dtype="bfloat16")
    a = np.full(40000, 0.1, B)  # in bfloat16 the sum would stay at 32
    expected = np.array(a.astype(np.float64).sum()).astype(B)
    assert symc.function([x], x.sum())(a) == expected
    b = T.matrix("b", dtype="bfloat16")
    ones = np.ones((300, 300), B)
    assert (symc.function([b], b @ b)(ones) == np.array(300, B)).all()


def test_repeated_places_add_up() -> None:
    x, y = matrices()
    places = [0, 0, 3, 0, 5, 5]
    found = symc.function([x, y], x[places].inc(y))(X, Y)
    expected = X.copy()
    np.add.at(expected, places, Y)
    np.testing.assert_array_equal(found, expected)


def test_gradients_are_near_those_of_float64() -> None:
    x, y = matrices()
    wide_x, wide_y = T.matrix("x"), T.matrix("y")

    def loss(a: Any, b: Any) -> Any:
        return (T.log(T.softmax(a @ b.T, 1))[:, 0]).sum() + (T.tanh(a) * b).max(1).sum()

    found = symc.function([x, y], symc.grad(loss(x, y), [x, y]))(X, Y)
    wide = symc.function([wide_x, wide_y], symc.grad(loss(wide_x, wide_y), [wide_x, wide_y]))
    for part, right in zip(found, wide(X, Y), strict=True):
        assert part.dtype == B
        np.testing.assert_allclose(part.astype(np.float64), right, rtol=0.1, atol=0.1)


def test_scan_keeps_its_states_in_bfloat16() -> None:
    x, _ = matrices()
    states, _ = symc.scan(
        lambda row, state: state * 0.5 + row,
        sequences=x,
        outputs_info=T.zeros((8,), dtype="bfloat16"),
    )
    found = symc.function([x], states)(X)
    state = np.zeros(8, B)
    for row, right in zip(X, found, strict=True):
        state = state * np.array(0.5, B) + row
        np.testing.assert_array_equal(right, state)
    slope = symc.function([x], symc.grad(states[-1].sum(), x))(X)
    np.testing.assert_array_equal(slope[:, 0], 0.5 ** np.arange(5, -1, -1))


def test_branches() -> None:
    x, y = matrices()
    f = symc.function([x, y], symc.ifelse(x.sum() > 100, x, y * 2))
    np.testing.assert_array_equal(f(X, Y), Y * np.array(2, B))


def test_shared_variables() -> None:
    w = symc.shared(np.array([1, 2, 3], B), name="w")
    assert w.dtype == "bfloat16"
    step = symc.function([], w.sum(), updates=[(w, w * 1.5)])
    assert step() == 6
    np.testing.assert_array_equal(w.get_value(), np.array([1.5, 3, 4.5], B))
    w.set_value([0.1, 0.2, 0.3])
    np.testing.assert_array_equal(w.get_value(), np.array([0.1, 0.2, 0.3], B))
    with pytest.raises(DTypeError, match="would lose precision"):
        w.set_value(np.array([0.1, 0.2, 0.3]))
    with pytest.raises(BadUpdate, match="float32 and would lose precision as bfloat16"):
        symc.function([], [], updates=[(w, w * np.float32(2))])


def test_arguments_are_converted_without_loss() -> None:
    x = T.vector("x", dtype="bfloat16")
    f = symc.function([x], x + x)
    assert f([1, 0.1]).dtype == B
    np.testing.assert_array_equal(f(np.array([3, -4], np.int8)), [6, -8])
    with pytest.raises(DTypeError):
        f(np.array([1.5], np.float32))
    loose = symc.function([symc.In(x, allow_downcast=True)], x + x)
    np.testing.assert_array_equal(loose(np.array([0.1], np.float32)), np.array([0.2], B))
    wide = T.vector("w", dtype="float32")
    np.testing.assert_array_equal(symc.function([wide], wide * 1)(X[0]), X[0].astype(np.float32))


def test_every_way_to_make_one() -> None:
    made = [
        T.zeros((3,), dtype="bfloat16"), T.full((3,), 1.3, dtype="bfloat16"),
        T.arange(3, dtype="bfloat16"), T.linspace(0, 1, 3, dtype="bfloat16"),
        T.constant([1.5, 2, 3], dtype="bfloat16"), T.constant(np.array([1, 2, 3], B)),
        T.as_tensor(np.array([1, 2, 3], B)), T.tensor(B, (3,)).zeros_like(),
        T.cast([1, 2, 3], "bfloat16"),
    ]  # fmt: skip
    assert [value.dtype for value in made] == ["bfloat16"] * len(made)
    values = [value.eval() for value in made]
    assert all(value.dtype == B for value in values)
    np.testing.assert_array_equal(values[1], np.full(3, 1.3, B))
    assert repr(T.vector("x", dtype=B)) == "<x bfloat16[x.shape[0]]>"


def test_files_and_pickles(tmp_path: Path) -> None:
    w = symc.shared(np.array([1.5, 2.25], B), name="w")
    x = T.vector("x", dtype="bfloat16")
    f = symc.function([x], x * w + np.array([3, 4], B))
    argument = np.array([2, 3], B)
    expected = np.array([6, 10.75], B)
    symc.save(f, tmp_path / "f.symc")
    for found in (symc.load(tmp_path / "f.symc"), pickle.loads(pickle.dumps(f))):
        np.testing.assert_array_equal(found(argument), expected)
        assert found(argument).dtype == B


def test_functions_of_the_users() -> None:
    seen: list[Any] = []

    def double(array: Array) -> Array:
        seen.append(array.dtype)
        return array + array

    op = symc.op(double, inputs=["bfloat16[n]"], output="bfloat16[n]")
    x = T.vector("x", dtype="bfloat16")
    argument = np.array([1.5, 2], B)
    for mode in ("default", "python"):
        np.testing.assert_array_equal(symc.function([x], op(x), mode=mode)(argument), [3, 4])
    assert set(seen) == {np.dtype(B)}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_expression_agrees_with_its_interpretation(data: st.DataObject) -> None:
    x, y = matrices()
    values = [x, y, x * 2.0]
    for _ in range(data.draw(st.integers(1, 5))):
        a, b = (data.draw(st.sampled_from(values)) for _ in range(2))
        values.append(
            data.draw(
                st.sampled_from(
                    [
                        a + b, a * b, a - b, abs(a), -a, T.maximum(a, b), T.where(a > b, a, b),
                        a[::-1], a.astype("float32").astype("bfloat16"), T.sqrt(abs(a)), T.sort(a),
                        a - a.max(1, keepdims=True), a[[0, 1, 1, 2, 3, 5]], T.floor(a),
                    ]
                )
            )
        )  # fmt: skip
    compiled = symc.function([x, y], values[-1], on_unused_input="ignore")
    read = symc.function([x, y], values[-1], on_unused_input="ignore", mode="python")
    np.testing.assert_array_equal(compiled(X, Y), read(X, Y))


def test_without_ml_dtypes_the_error_says_what_to_install() -> None:
    program = """
import sys
sys.modules["ml_dtypes"] = None
import symc
import symc.tensor as T
x = T.vector("x", dtype="bfloat16")
print((x * x).dtype)
try:
    symc.function([x], x * x)
except symc.errors.DTypeError as error:
    print(error)
"""
    found = _run(program)
    assert found.stdout.startswith("bfloat16\narrays of bfloat16 need the package ml_dtypes")
    assert "pip install ml_dtypes" in found.stdout


def test_ml_dtypes_is_imported_for_bfloat16_alone() -> None:
    program = "import sys, symc; symc.tensor.vector('x').sum(); print('ml_dtypes' in sys.modules)"
    found = _run(program)
    assert found.stdout == "False\n"


def _run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
