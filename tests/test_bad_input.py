"""Bad input: the right error, the user's line, and nothing changed. Odd input: NumPy's answer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import (
    BadArgument,
    BadIndex,
    DisconnectedInput,
    DivisionByZero,
    DTypeError,
    GradientError,
    RankError,
    ShapeMismatch,
    SymcError,
)

V = np.array([1.0, 2.0, 3.0])
MODES = ("default", "python")
LINE = r"test_bad_input\.py:\d+"


# --- calls that fail ------------------------------------------------------------------------------

# Each: the inputs, the expression (a scalar is summed from it), arguments, the symc class, the
# builtin class, and the words the message must have, in this order.
Call = tuple[
    Callable[..., Any], tuple[Any, ...], type[SymcError] | None, type[Exception], list[str]
]


def xy(build: Callable[..., Any]) -> Callable[[], Any]:
    def made() -> Any:
        x, y = T.vector("x"), T.vector("y")
        return [x, y], build(x, y)

    return made


def xk(build: Callable[..., Any]) -> Callable[[], Any]:
    def made() -> Any:
        x, k = T.vector("x"), T.lvector("k")
        return [x, k], build(x, k)

    return made


def kn(build: Callable[..., Any]) -> Callable[[], Any]:
    def made() -> Any:
        k, n = T.lvector("k"), T.lvector("n")
        return [k, n], build(k, n)

    return made


def mm(build: Callable[..., Any]) -> Callable[[], Any]:
    def made() -> Any:
        a, b = T.matrix("a"), T.matrix("b")
        return [a, b], build(a, b)

    return made


I3, E3 = np.arange(3), np.eye(3)
CALLS: dict[str, Call] = {
    "dtype": (xk(lambda x, k: x[k]), (V, V), DTypeError, TypeError, ["argument 1", "float64", "k"]),
    "rank": (xy(lambda x, y: x + y), (V, E3), RankError, TypeError, ["argument 1", "2 axes", "y"]),
    "rank 0": (xy(lambda x, y: x + y), (1.0, V), RankError, TypeError, ["argument 0", "0 axes"]),
    "text": (xy(lambda x, y: x + y), (V, "a"), BadArgument, TypeError, ["argument 1", "<U1", "y"]),
    "None": (xy(lambda x, y: x + y), (None, V), BadArgument, TypeError, ["argument 0", "is None"]),
    "ragged": (xy(lambda x, y: x + y), ([[1], [1, 2]], V), BadArgument, TypeError, ["no array"]),
    "complex": (xy(lambda x, y: x + y), (V + 1j, V), DTypeError, TypeError, ["imaginary part"]),
    "symbolic": (xy(lambda x, y: x + y), (T.vector(), V), BadArgument, TypeError, ["symbolic"]),
    "two lengths": (
        xy(lambda x, y: x + y), (V, V[:2]), ShapeMismatch, ValueError,
        ["add", "axis 0 is 3", "and 2", "x .*" + LINE, "y .*" + LINE],
    ),
    "no broadcasting at run time": (
        xy(lambda x, y: x * y), (V, V[:1]), ShapeMismatch, ValueError, ["mul", "3", "1"],
    ),
    "derived lengths": (
        xy(lambda x, y: x[1:] + y), (V, V), ShapeMismatch, ValueError, ["axis 0 is 2", "and 3"],
    ),
    "three": (
        xy(lambda x, y: T.where(x > 0, y, y[::2])), (V, V), ShapeMismatch, ValueError, ["where"],
    ),
    "product": (
        mm(lambda a, b: a @ b), (np.ones((2, 3)), np.ones((2, 3))), ShapeMismatch, ValueError,
        ["matmul", "3", "2", "a .*" + LINE, "b .*" + LINE],
    ),
    "join": (
        mm(lambda a, b: T.concatenate([a, b])), (np.ones((2, 3)), np.ones((2, 2))),
        ShapeMismatch, ValueError, ["3", "2", LINE],
    ),
    "reshape": (
        mm(lambda a, b: a.reshape((b.shape[0], -1))), (np.ones((2, 3)), np.ones((4, 1))),
        ShapeMismatch, ValueError, ["reshape", "6 elements", LINE],
    ),
    "index": (
        xk(lambda x, k: x[k]), (V, [0, 3]), BadIndex, IndexError,
        ["index 3", "axis 0", "length 3", "x .*" + LINE, LINE],
    ),
    "negative index": (
        xk(lambda x, k: x[k]), (V, [0, -4]), BadIndex, IndexError, ["index -4", "length 3", LINE],
    ),
    "one index": (
        xk(lambda x, k: x[k.sum()]), (V, [5]), BadIndex, IndexError, ["index 5", "length 3", LINE],
    ),
    "fixed index": (xy(lambda x, y: x[2] + y), (V[:2], V), BadIndex, IndexError, ["2", LINE]),
    "index of nothing": (xk(lambda x, k: x[k]), ([], [0]), BadIndex, IndexError, ["length 0"]),
    "index along 1": (
        xk(lambda x, k: T.outer(x, x)[:, k]), (V, [3]), BadIndex, IndexError, ["axis 1", "3"],
    ),
    "take": (xk(lambda x, k: T.take(x, k)), (V, [3]), BadIndex, IndexError, ["3", LINE]),
    "set": (xk(lambda x, k: x[k].set(1.0)), (V, [3]), BadIndex, IndexError, ["3", LINE]),
    "division": (
        kn(lambda k, n: k // n), (I3, [1, 0, 1]), DivisionByZero, ZeroDivisionError,
        ["integer division", "k .*" + LINE, "n .*" + LINE],
    ),
    "modulo": (
        kn(lambda k, n: k % n), (I3, [1, 1, 0]), DivisionByZero, ZeroDivisionError, [LINE],
    ),
    "division by a constant": (
        kn(lambda k, n: k // 0 + n), (I3, I3), DivisionByZero, ZeroDivisionError, [LINE],
    ),
    "power": (kn(lambda k, n: k**n), (I3, [0, 1, -2]), None, ValueError, ["-2", LINE]),
    "max of nothing": (xy(lambda x, y: x.max() + y), ([], []), None, ValueError, ["max", LINE]),
    "argmin of nothing": (
        mm(lambda a, b: a.argmin(axis=1) + b.sum()), (np.ones((2, 0)), E3), None, ValueError,
        ["argmin", LINE],
    ),
    "negative length": (
        kn(lambda k, n: T.zeros(k.sum()) + n.sum()), ([-3], I3), ShapeMismatch, ValueError, ["-3"],
    ),
    "repeat": (
        xk(lambda x, k: T.repeat(x, k)), (V, [1, -1, 1]), None, ValueError, [LINE],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CALLS)
def test_a_call_that_fails_changes_nothing(case: str, mode: str) -> None:
    """The error is right, shared variables keep their values, and the next call works as before."""
    make, args, kind, builtin, words = CALLS[case]
    inputs, result = make()
    before = symc.shared(V, name="before")  # its new value needs nothing of the part that fails
    count = symc.shared(0, name="count")
    rows = symc.shared(np.ones((4, 2)), name="rows")
    after = symc.shared(np.zeros(()), name="after")
    f = symc.function(
        inputs, [result, before],
        updates=[
            (before, before + 1), (count, count + 1), (rows, rows[1].inc(1.0)),
            (after, after + T.cast(result, "float64").sum()),
        ],
        mode=mode,
    )  # fmt: skip
    state = [s.get_value().tobytes() for s in (before, count, rows, after)]
    for _ in range(2):
        with pytest.raises(builtin) as caught:
            f(*args)
        assert isinstance(caught.value, kind or builtin)
        text = str(caught.value)
        assert re.search(".*".join(words), text, re.DOTALL), text
        if case != "negative length":  # it names the line of another constant 0
            assert re.search(LINE, text), text
        assert [s.get_value().tobytes() for s in (before, count, rows, after)] == state


def test_declared_lengths() -> None:
    x = T.tensor("float64", (None, 3), name="x")
    for mode in MODES:
        f = symc.function([x], x.sum(), mode=mode)
        with pytest.raises(ShapeMismatch, match=rf"length 2 along axis 1(?s:.*){LINE}"):
            f(np.ones((4, 2)))
        assert f(np.ones((4, 3))) == 12


# --- graphs that cannot be built ------------------------------------------------------------------

X, Y, M = T.vector("X"), T.vector("Y"), T.matrix("M")
K = T.lvector("K")
X3, X4 = T.tensor("float64", (3,), name="X3"), T.tensor("float64", (4,), name="X4")
M34, M44 = T.tensor("float64", (3, 4), name="M34"), T.tensor("float64", (3, 3), name="M44")

BUILDS: dict[str, tuple[Callable[[], Any], type[Exception], type[Exception], list[str]]] = {
    "lengths": (
        lambda: X3 + X4, ShapeMismatch, ValueError, ["3", "4", "X3 .*" + LINE, "X4 .*" + LINE],
    ),
    "product": (lambda: M34 @ M44, ShapeMismatch, ValueError, ["4", "3", "M34", "M44"]),
    "product's rank": (lambda: T.dot(X3, X4), ShapeMismatch, ValueError, ["3", "4"]),
    "join": (lambda: T.concatenate([M34, M44]), ShapeMismatch, ValueError, ["4", "3", LINE]),
    "join of ranks": (lambda: T.concatenate([X, M]), SymcError, Exception, [LINE]),
    "index": (lambda: X3[3], BadIndex, IndexError, ["3", LINE]),
    "indexes": (lambda: X[0, 0], BadIndex, IndexError, [LINE]),
    "float index": (lambda: X[1.5], SymcError, Exception, [""]),
    "axis": (lambda: X.sum(axis=1), Exception, Exception, ["1"]),
    "axes": (lambda: M.transpose((0, 0)), Exception, Exception, [""]),
    "reshape": (lambda: X4.reshape((3, 2)), ShapeMismatch, ValueError, ["4", LINE]),
    "truth": (lambda: bool(X > 0), TypeError, TypeError, ["truth"]),
    "loop": (lambda: list(X), TypeError, TypeError, ["length"]),
    "array": (lambda: np.asarray(X), TypeError, TypeError, ["has no values"]),
    "and": (lambda: X & X, DTypeError, TypeError, ["float64"]),
    "shift": (lambda: K << X, DTypeError, TypeError, ["float64"]),
    "text": (lambda: X + "a", Exception, Exception, [""]),
    "gradient of a vector": (lambda: symc.grad(X, X), GradientError, ValueError, ["scalar", LINE]),
    "unknown wrt": (
        lambda: symc.grad(X.sum(), Y), DisconnectedInput, ValueError,
        ["Y .*" + LINE, "disconnected"],
    ),
    "wrt a name": (
        lambda: symc.grad(X.sum(), cast("Any", "X")), TypeError, TypeError, ["'X'"],
    ),
    "no cost": (lambda: symc.grad(None, X), GradientError, ValueError, ["cost"]),
    "unknown mode": (
        lambda: symc.function([X], X, mode="quick"), ValueError, ValueError, ["'fast'"],
    ),
    "dtype": (lambda: T.vector(dtype="text"), Exception, Exception, ["text"]),
    "negative length": (lambda: T.tensor("int8", (-1,)), ValueError, ValueError, ["negative"]),
    "shared": (lambda: symc.shared(X), TypeError, TypeError, ["symbolic"]),
    "shared text": (lambda: symc.shared("a"), DTypeError, TypeError, [""]),
    "name of a shared variable": (
        lambda: symc.shared(1.0, name=cast("Any", 7)), TypeError, TypeError, ["a string, not 7"],
    ),
    "name of a constant": (
        lambda: T.constant(1.0, name=cast("Any", b"c")), TypeError, TypeError, ["string, not b'c'"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BUILDS)
def test_graphs_that_cannot_be_built(case: str) -> None:
    build, kind, builtin, words = BUILDS[case]
    with pytest.raises(kind) as caught:
        build()
    assert isinstance(caught.value, builtin)
    assert re.search(".*".join(words), str(caught.value), re.DOTALL), str(caught.value)


# --- nothing at all -------------------------------------------------------------------------------

NOTHING: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "elementwise": (lambda x: T.exp(x) * 2 + x, lambda x: np.exp(x) * 2 + x),
    "sum": (lambda x: x.sum(), lambda x: x.sum()),
    "sum 0": (lambda x: x.sum(axis=0), lambda x: x.sum(axis=0)),
    "sum 1": (lambda x: x.sum(axis=1, keepdims=True), lambda x: x.sum(axis=1, keepdims=True)),
    "prod": (lambda x: x.prod(axis=0), lambda x: x.prod(axis=0)),
    "mean": (lambda x: x.mean(axis=1), lambda x: x.mean(axis=1)),
    "std": (lambda x: x.std(axis=0), lambda x: x.std(axis=0)),
    "any": (lambda x: T.any(x > 0, axis=1), lambda x: (x > 0).any(axis=1)),
    "all": (lambda x: T.all(x > 0), lambda x: (x > 0).all()),
    "count": (lambda x: T.count_nonzero(x), lambda x: np.array(np.count_nonzero(x))),
    "cumsum": (lambda x: T.cumsum(x, axis=1), lambda x: x.cumsum(axis=1)),
    "softmax": (lambda x: T.softmax(x, axis=1), lambda x: x),
    "log_softmax": (lambda x: T.log_softmax(x, axis=0), lambda x: x),
    "logsumexp": (
        lambda x: T.logsumexp(x, axis=1), lambda x: np.log(np.exp(x).sum(axis=1)),
    ),
    "norm": (lambda x: T.norm(x), lambda x: np.array(np.sqrt((x * x).sum()))),
    "transpose": (lambda x: x.T, lambda x: x.T),
    "flat": (lambda x: x.ravel(), lambda x: x.ravel()),
    "reshape": (lambda x: x.reshape((-1, 1, 1)), lambda x: x.reshape(x.size, 1, 1)),
    "join": (lambda x: T.concatenate([x, x], axis=1), lambda x: np.concatenate([x, x], axis=1)),
    "stack": (lambda x: T.stack([x, x]), lambda x: np.stack([x, x])),
    "tile": (lambda x: T.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3))),
    "repeat": (lambda x: T.repeat(x, 2, axis=0), lambda x: np.repeat(x, 2, axis=0)),
    "roll": (lambda x: T.roll(x, 1, axis=0), lambda x: np.roll(x, 1, axis=0)),
    "flip": (lambda x: x[::-1, ::-2], lambda x: x[::-1, ::-2]),
    "slice": (lambda x: x[1:, :-1], lambda x: x[1:, :-1]),
    "pad": (lambda x: T.pad(x, 1), lambda x: np.pad(x, 1)),
    "gather": (lambda x: x[T.arange(x.shape[0])], lambda x: x),
    "mask": (lambda x: x[x > 0], lambda x: x[x > 0]),
    "nonzero": (lambda x: T.nonzero(x)[1], lambda x: np.nonzero(x)[1]),
    "inc": (lambda x: x[:, :1].inc(1.0), lambda x: np.concatenate([x[:, :1] + 1, x[:, 1:]], 1)),
    "product": (lambda x: x @ x.T, lambda x: x @ x.T),
    "product, turned": (lambda x: x.T @ x, lambda x: x.T @ x),
    "vector product": (lambda x: x @ T.ones(x.shape[1]), lambda x: x @ np.ones(x.shape[1])),
    "einsum": (lambda x: T.einsum("ij,ij->i", x, x), lambda x: (x * x).sum(axis=1)),
    "outer": (lambda x: T.outer(x[:, 0:1].ravel(), x.ravel()),
              lambda x: np.outer(x[:, 0:1].ravel(), x.ravel())),
    "tril": (lambda x: T.tril(x), np.tril),
    "where": (lambda x: T.where(x > 0, x, -x), lambda x: np.where(x > 0, x, -x)),
    "gradient": (
        lambda x: symc.grad((T.softmax(x, axis=1) * T.cumsum(x, axis=0)).sum(), x), lambda x: x,
    ),
    "gradient of a product": (
        lambda x: symc.grad((x @ x.T).sum(), x), lambda x: 2 * np.ones_like(x) * x.sum(axis=0),
    ),
    "max 0 or 1": (
        lambda x: T.concatenate([x, T.ones_like(x[:, :1])], axis=1).max(axis=1),
        lambda x: np.concatenate([x, np.ones_like(x[:, :1])], axis=1).max(axis=1, initial=-9),
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_axes_of_length_0(shape: tuple[int, int]) -> None:
    """All at once in one compiled function, and one after the other in the interpreter."""
    x = T.matrix("x")
    value = np.zeros(shape)
    cases = {
        name: case
        for name, case in NOTHING.items()
        if not (name.startswith("max") and shape[1] == 0)
    }
    results = [build(x) for build, _ in cases.values()]
    compiled = symc.function([x], results)(value)
    interpreted = symc.function([x], results, mode="python")(value)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's "mean of empty slice"
        wanted = [oracle(value) for _, oracle in cases.values()]
    for name, *values, expected in zip(cases, compiled, interpreted, wanted, strict=True):
        for got in values:
            assert got.shape == np.shape(expected), name
            np.testing.assert_array_equal(got, expected, err_msg=name)


def test_sizes_1_and_0_that_are_declared() -> None:
    row, none = T.tensor("float64", (1, 3), name="row"), T.tensor("float64", (0, 3), name="none")
    f = symc.function([row, none], [row + none, none.sum(axis=0) + row[0], none.max(axis=1)])
    a, b, c = f(np.ones((1, 3)), np.zeros((0, 3)))
    assert a.shape == (0, 3)
    assert b.tolist() == [1, 1, 1]
    assert c.shape == (0,)


# --- NaN and infinities ---------------------------------------------------------------------------

ODD = np.array([1.0, -0.0, 0.0, np.inf, -np.inf, np.nan, 3.0, np.nan, -5e-324, 1.7e308])
NONFINITE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "max": (lambda x: x.max(), np.max),
    "min": (lambda x: x.min(), np.min),
    "argmax": (lambda x: x.argmax(), np.argmax),
    "argmin": (lambda x: x.argmin(), np.argmin),
    "max of numbers": (lambda x: x[:5].max(), lambda x: x[:5].max()),
    "argmin of numbers": (lambda x: x[:5].argmin(), lambda x: x[:5].argmin()),
    "ptp": (lambda x: T.ptp(x[:3]), lambda x: np.ptp(x[:3])),
    "sum": (lambda x: x.sum(), np.sum),
    "prod": (lambda x: x[3:5].prod(), lambda x: x[3:5].prod()),
    "cummax": (lambda x: T.cummax(x), np.maximum.accumulate),
    "cumsum": (lambda x: T.cumsum(x), np.cumsum),
    "maximum": (lambda x: T.maximum(x, x[::-1]), lambda x: np.maximum(x, x[::-1])),
    "minimum": (lambda x: T.minimum(x, 1.0), lambda x: np.minimum(x, 1.0)),
    "fmax": (lambda x: T.fmax(x, x[::-1]), lambda x: np.fmax(x, x[::-1])),
    "fmin": (lambda x: T.fmin(x, 0.5), lambda x: np.fmin(x, 0.5)),
    "clip": (lambda x: T.clip(x, -1, 2), lambda x: np.clip(x, -1, 2)),
    "<": (lambda x: x < x[::-1], lambda x: x < x[::-1]),
    ">=": (lambda x: x >= x, lambda x: x >= x),
    "eq": (lambda x: T.eq(x, x), lambda x: x == x),
    "neq": (lambda x: T.neq(x, x), lambda x: x != x),
    "isnan": (lambda x: T.isnan(x), np.isnan),
    "isinf": (lambda x: T.isinf(x), np.isinf),
    "isfinite": (lambda x: T.isfinite(x), np.isfinite),
    "sign": (lambda x: T.sign(x), np.sign),
    "all": (lambda x: T.all(x), lambda x: np.array(bool(x.all()))),
    "nonzero": (lambda x: T.nonzero(x)[0], lambda x: np.nonzero(x)[0]),
    "where": (lambda x: T.where(x > 0, x, -x), lambda x: np.where(x > 0, x, -x)),
    "x - x": (lambda x: x - x, lambda x: x - x),
    "x / x": (lambda x: x / x, lambda x: x / x),
    "x * 0": (lambda x: x * 0, lambda x: x * 0),
    "x + 0": (lambda x: x + 0, lambda x: x + 0),
    "0 - x": (lambda x: 0 - x, lambda x: 0 - x),
    "x ** 0": (lambda x: x**0, lambda x: x**0),
    "x ** 2": (lambda x: x**2, lambda x: x**2),
    "sqrt": (lambda x: T.sqrt(x), np.sqrt),
    "abs": (lambda x: abs(x), np.abs),
    "//": (lambda x: x // 2.0, lambda x: x // 2.0),
    "%": (lambda x: x % 2.0, lambda x: x % 2.0),
    "floor": (lambda x: T.floor(x), np.floor),
    "round": (lambda x: T.round(x), np.round),
    "exp": (lambda x: T.exp(x), np.exp),
    "log": (lambda x: T.log(x), np.log),
    "log1p": (lambda x: T.log1p(x), np.log1p),
    "tanh": (lambda x: T.tanh(x), np.tanh),
    "hypot": (lambda x: T.hypot(x, x[::-1]), lambda x: np.hypot(x, x[::-1])),
    "arctan2": (lambda x: T.arctan2(x, x[::-1]), lambda x: np.arctan2(x, x[::-1])),
    "copysign": (lambda x: T.copysign(1.0, x), lambda x: np.copysign(1.0, x)),
    "logaddexp": (lambda x: T.logaddexp(x, x[::-1]), lambda x: np.logaddexp(x, x[::-1])),
    "sigmoid": (lambda x: T.sigmoid(x), lambda x: 1 / (1 + np.exp(-x))),
    "relu": (lambda x: T.relu(x), lambda x: np.maximum(x, 0)),
    "softplus": (lambda x: T.softplus(x), lambda x: np.logaddexp(x, 0)),
    "cast": (lambda x: T.cast(x, "float32"), lambda x: x.astype("f4")),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_nan_and_infinities(dtype: str) -> None:
    x = T.vector("x", dtype=dtype)
    results = [build(x) for build, _ in NONFINITE.values()]
    with np.errstate(all="ignore"):
        value = ODD.astype(dtype)
        wanted = [np.asarray(oracle(value)) for _, oracle in NONFINITE.values()]
    for mode in ("default", "compile", "python"):
        got = symc.function([x], results, mode=mode)(value)
        for name, result, expected in zip(NONFINITE, got, wanted, strict=True):
            assert result.dtype == expected.dtype, name
            np.testing.assert_allclose(
                result, expected, rtol=1e-14 if dtype == "float64" else 3e-7, atol=1e-320,
                err_msg=f"{name} {mode}",
            )  # fmt: skip
            zeros = (expected == 0) & (expected.dtype.kind == "f")
            signs = np.signbit(result[zeros].astype("f8")), np.signbit(expected[zeros].astype("f8"))
            if name not in ("maximum", "minimum", "fmax", "fmin", "clip", "relu", "max", "min",
                            "max of numbers", "cummax", "x + 0", "0 - x"):  # fmt: skip
                assert np.array_equal(*signs), f"the sign of zero: {name} {mode}"


@pytest.mark.parametrize("mode", MODES)
def test_a_bug_errors_between_slots_of_a_loop_had_no_line(mode: str) -> None:
    """Arguments that are parts of a loop have no lines; then the message says that of the op."""
    x, y = T.vector("x"), T.vector("y")
    steps: list[Callable[[Any, Any], Any]] = [
        lambda i, state: state + y,
        lambda i, state: state[i:].set(y),
    ]
    for step in steps:
        f = symc.function([x, y], symc.fori_loop(1, 2, step, x), mode=mode)
        with pytest.raises(ShapeMismatch, match=LINE):
            f(V, V[:1] if step is steps[0] else V)
