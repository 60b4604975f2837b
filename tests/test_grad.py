"""Derivatives as users ask for them: gradients, blocked ones, forward, reverse, in full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import DisconnectedInput, DTypeError, GradientError, SymcError
from symc.graph.node import Op, Tensor
from symc.graph.types import TensorType
from symc.testing import verify_grad

V, W = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 4.0])
M = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]])


def x_and_y() -> tuple[Any, Any]:
    return T.vector("x"), T.vector("y")


def values(expressions: Any, **inputs: Any) -> Any:
    """The value of compiled code and of the interpreter, which must agree."""
    outputs = expressions if isinstance(expressions, list) else [expressions]
    given = {name: value for name, value in inputs.items() if name != "of"}
    symbols = list(inputs["of"])
    results = [
        symc.function(symbols, outputs, mode=mode, on_unused_input="ignore")(*given.values())
        for mode in ("default", "python")
    ]
    for compiled, interpreted in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, interpreted, rtol=1e-12, atol=1e-16)
    return results[0] if isinstance(expressions, list) else results[0][0]


# --- gradients that flow, and none ---
# --------------------------------------------------------------

# d/dx at x = V, y = W
FLOWS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "plain": (lambda x, y: symc.grad((x * x * y).sum(), x), 2 * V * W),
    "intermediate": (lambda x, y: (lambda z: symc.grad((z * z * y).sum(), z))(x * 2), 4 * V * W),
    "the cost itself": (lambda x, y: (lambda c: symc.grad(c, c))(x.sum()), np.array(1.0)),
    "constant path": (
        lambda x, y: (lambda z: symc.grad((z * x).sum(), x, consider_constant=[z]))(x * x), V**2,
    ),
    "known": (
        lambda x, y: (lambda z: symc.grad(None, x, known_grads={z: y}))(x * x), 2 * V * W,
    ),
    "known and cost": (
        lambda x, y: (lambda z: symc.grad((z * 3).sum(), x, known_grads={z: y}))(x * x),
        2 * V * (3 + W),
    ),
    "known of the cost": (
        lambda x, y: (lambda c: symc.grad(c, x, known_grads={c: T.constant(4.0)}))((x * y).sum()),
        5 * W,
    ),
    "disconnected": (
        lambda x, y: symc.grad((symc.disconnected_grad(x * y) * x).sum(), x), V * W,
    ),
    "clipped": (
        lambda x, y: symc.grad((symc.grad_clip(x, -3, 4) ** 2 * y).sum(), x),
        np.clip(2 * V * W, -3, 4),
    ),
    "scaled": (lambda x, y: symc.grad((symc.grad_scale(x, -2.0) ** 2 * y).sum(), x), -4 * V * W),
    "unknown as zero": (lambda x, y: symc.grad(x.sum(), y, disconnected="zero"), 0 * V),
    "twice in the cost": (
        lambda x, y: symc.grad(x.sum() + x.sum() + x[0], x), np.array([3.0, 2, 2]),
    ),
    "second": (lambda x, y: symc.grad(symc.grad((x**4 * y).sum(), x).sum(), x), 12 * V**2 * W),
    "through ints": (lambda x, y: symc.grad((T.cast(x, "int64") * y).sum(), x), 0 * V),
    "through comparisons": (lambda x, y: symc.grad(((x > y) * x).sum(), x), (V > W) * 1.0),
    "float32 inside": (
        lambda x, y: symc.grad(T.cast(T.cast(x, "float32") ** 2, "float64").sum(), x), 2 * V,
    ),
    "of a constant cost": (lambda x, y: symc.grad((x * 0).sum(), x), 0 * V),
    "ties of max": (lambda x, y: symc.grad((x * 0 + 1).max() + x[0], x), np.array([1.0, 0, 0])),
    "ties share": (lambda x, y: symc.grad(T.maximum(x, x * 1.0).sum(), x), np.ones(3)),
    "abs at 0": (lambda x, y: symc.grad(abs(x - 2).sum(), x), np.array([-1.0, 0, 1])),
    "relu at 0": (lambda x, y: symc.grad(T.relu(x - 2).sum(), x), np.array([0.0, 0, 1])),
}  # fmt: skip


@pytest.mark.parametrize("case", FLOWS)
def test_what_flows(case: str) -> None:
    build, wanted = FLOWS[case]
    x, y = x_and_y()
    got = values(build(x, y), x=V, y=W, of=[x, y])
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_what_changes_the_gradient_changes_no_value() -> None:
    x = T.vector("x")
    outputs = [symc.disconnected_grad(x), symc.grad_clip(x, 0, 1), symc.grad_scale(x, 3)]
    for value in values(outputs, x=V, of=[x]):
        assert value.tolist() == V.tolist()


def test_disconnected() -> None:
    x, y = x_and_y()
    cases: list[tuple[Any, Any, dict[str, Any]]] = [
        (x.sum(), y, {}),
        (x.sum(), [x, y], {}),
        ((symc.disconnected_grad(x) ** 2).sum(), x, {}),  # the only path
        ((x * x).sum(), x, {"consider_constant": [x * x]}),
        (None, x, {"known_grads": {y * 2: y}}),
        (T.constant(1.0), x, {}),
    ]
    for cost, wrt, more in cases:
        with pytest.raises(DisconnectedInput, match=r"(?s)test_grad.py:\d+.*disconnected="):
            symc.grad(cost, wrt, **more)
        symc.grad(cost, wrt, disconnected="ignore", **more)
        with pytest.warns(UserWarning, match="does not influence") as seen:
            symc.grad(cost, wrt, disconnected="warn", **more)
        assert seen[0].filename == __file__
        zero = symc.grad(cost, wrt, disconnected="zero", **more)
        zero = zero[1] if isinstance(zero, list) else zero
        assert values(zero, x=V, y=W, of=[x, y]).tolist() == [0, 0, 0]
    wrong: Any = "perhaps"
    with pytest.raises(ValueError, match="disconnected"):
        symc.grad(x.sum(), x, disconnected=wrong)


def test_dtypes_of_gradients() -> None:
    x, k, h = T.vector("x", dtype="float32"), T.lvector("k"), T.vector("h", dtype="float16")
    cost = (x * k).sum() + T.cast(h, "float32").sum()
    by_x, by_k, by_h = symc.grad(cost, [x, k, h], disconnected="zero")
    assert [g.dtype.name for g in (by_x, by_k, by_h)] == ["float32", "float64", "float16"]
    with symc.config.set(floatX="float32"):
        assert symc.grad(cost, k, disconnected="zero").dtype.name == "float32"
    got = values([by_x, by_k, by_h], x=V.astype("f4"), k=[1, 2, 3], h=V.astype("f2"), of=[x, k, h])
    assert [g.tolist() for g in got] == [[1, 2, 3], [0, 0, 0], [1, 1, 1]]
    by_k = symc.grad(k.sum(), k, disconnected="zero")
    assert values(by_k, k=[1, 2], of=[k]).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint32", "bool"])
def test_bug_gradients_by_integers_were_silently_zero(dtype: str) -> None:
    """In all ways to ask, also of computed tensors; the message says what to do instead."""
    k, x = T.vector("k", dtype), T.vector("x")
    w = symc.shared(np.ones(2, dtype), name="w")
    cost = (T.cast(k, "float64") * x).sum()
    several = symc.scan(lambda t, total: total + t, k.astype("int64"), T.constant(0))[0]
    asked: list[tuple[str, Callable[[], Any]]] = [
        ("k", lambda: symc.grad(cost, k)),
        ("k", lambda: symc.grad(cost, [x, k])),
        ("k", lambda: symc.grad(cost, k, disconnected="raise")),
        ("k", lambda: symc.Lop(x * k, k, x)),
        ("k", lambda: symc.Rop(x * k, k, x)),
        ("k", lambda: symc.jacobian(x * k, k)),
        ("k", lambda: symc.jacobian(cost, k)),
        ("k", lambda: symc.hessian(cost, k)),
        ("k", lambda: symc.grad(T.cast(several[-1], "float64"), k)),
        ("w", lambda: symc.grad((x * w).sum(), w)),
        ("argmax", lambda: (lambda best: symc.grad((x * best).sum(), best))(T.argmax(x))),
    ]
    for name, ask in asked:
        with pytest.raises(
            GradientError, match=rf"{name} .*no derivative\n.*test_grad.py:\d+\n.*fl"
        ):
            ask()
    with pytest.raises(DTypeError, match="must be of floats"):
        symc.optim.sgd((x * w).sum(), [w], 0.1)
    with pytest.warns(UserWarning, match="k is of .* no derivative"):
        symc.grad(cost, k, disconnected="warn")
    by_float = T.cast(k, "float64")
    total = (by_float * x).sum()
    assert values(symc.grad(total, by_float), k=np.ones(3, dtype), x=V, of=[k, x]).tolist() == [
        1, 2, 3,
    ]  # fmt: skip


def test_what_cannot_be_asked() -> None:
    x, y = x_and_y()
    m = T.matrix("m")
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: symc.grad(x, x), GradientError, r"(?s)scalar.*x .*test_grad.py:\d+"),
        (lambda: symc.grad(None, x), GradientError, "known_grads"),
        (lambda: symc.hessian(x, x), GradientError, "scalar"),
        (lambda: symc.Rop(x, [x, y], [x]), GradientError, "2 wrt but 1"),
        (lambda: symc.Rop(x * 2, x, m), GradientError, "2 axes"),
        (lambda: symc.Lop(x * 2, x, m), GradientError, "2 axes"),
        (lambda: symc.Lop([x, y], x, [x]), GradientError, "2 f but 1"),
        (lambda: symc.grad_clip(x, 1, 0), ValueError, "above"),
    ]
    for ask, error, message in cases:
        with pytest.raises(error, match=message) as caught:
            ask()
        assert isinstance(caught.value, SymcError | ValueError)


# --- where never leaks ----------------------------------------------------------------------------


def log_of_positive(x: Any) -> Any:
    return T.where(x > 0, T.log(x), 0)


# Functions whose derivative in the branch not taken is not finite; at [-1, 0, 2].
SAFE: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "log": (log_of_positive, [0, 0, 0.5]),
    "sqrt": (lambda x: T.where(x > 0, T.sqrt(x), x), [1, 1, 0.5 / 2**0.5]),
    "division": (
        lambda x: T.where(T.eq(x, 0), 1.0, T.sin(x) / x),
        [np.sin(1) - np.cos(1), 0, (np.cos(2) * 2 - np.sin(2)) / 4],
    ),
    "product outside": (lambda x: log_of_positive(x) * 3 * x, [0, 0, 3 * (1 + np.log(2))]),
    "product inside": (lambda x: T.where(x > 0, T.log(x) * T.log(x) * x, 0),
                       [0, 0, 2 * np.log(2) + np.log(2) ** 2]),
    "power inside": (lambda x: T.where(x > 0, x**0.5 * 5, 0), [0, 0, 2.5 / 2**0.5]),
    "summed": (lambda x: log_of_positive(x).sum() * x[2], [0, 0, 1 + np.log(2)]),
    "views": (lambda x: (log_of_positive(x)[::-1][None] * T.ones((2, 1))).T, [0, 0, 1]),
    "stack": (lambda x: T.stack([log_of_positive(x), x])[0], [0, 0, 0.5]),
    "gather": (lambda x: log_of_positive(x)[np.array([2, 2, 1])], [0, 0, 1]),
    "broadcast": (lambda x: log_of_positive(x)[:, None] * T.ones(3)[None], [0, 0, 1.5]),
    "product with a matrix": (lambda x: T.ones((2, 3)) @ log_of_positive(x), [0, 0, 1]),
    "other side": (lambda x: T.where(x <= 0, 0, 1 / x), [0, 0, -0.25]),
    "one condition for all": (lambda x: T.where(x.sum() > 5, T.log(x), x * 2), [2, 2, 2]),
    "switch": (lambda x: T.switch(x > 0, T.log(x), x * 0), [0, 0, 0.5]),
    "two masks": (lambda x: log_of_positive(x) + T.where(x > 1, T.sqrt(x - 1), 0), [0, 0, 1.0]),
}  # fmt: skip


@pytest.mark.parametrize("case", SAFE)
def test_where_never_leaks_nan(case: str) -> None:
    build, wanted = SAFE[case]
    x = T.vector("x")
    with np.errstate(all="ignore"):
        for mode in ("default", "compile", "python"):
            f = symc.function([x], symc.grad(build(x).sum(), x), mode=mode)
            np.testing.assert_allclose(f([-1.0, 0.0, 2.0]), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda x: T.where(x > -0.5, T.where(x > 0, T.log(x) * T.log(x), 0) + x, 0),
         [0, 1, np.log(2) + 1]),
        (lambda x: T.where(x > -0.5, T.where(x < 1, T.log(x + 0.5) * T.log(1 - x), 1.0), 0),
         [0, np.log(2), 0]),
    ],
)  # fmt: skip
def test_where_inside_where_never_leaks_nan(build: Any, wanted: list[float]) -> None:
    x = T.vector("x")
    g = symc.grad(build(x).sum(), x).eval({x: [-1.0, 0.0, 2.0]})
    np.testing.assert_allclose(g, wanted, atol=1e-15)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: T.max(x, axis=1),
        lambda x: T.prod(x, axis=1),
        lambda x: T.logsumexp(x, axis=1),
        lambda x: T.softmax(x, axis=1)[:, 0],
        lambda x: T.dot(x, x[0]),
        lambda x: T.sort(x, axis=1)[:, 1],
    ],
)
def test_one_condition_for_a_vector_of_values(build: Any) -> None:
    """The mask of the gradient had no axes, and the rules wanted to see as many as values have."""
    c, x = T.scalar("c"), T.matrix("x")
    values = build(x)
    some = symc.grad(T.where(c > 0, values, 0.0).sum(), x)
    f = symc.function([c, x], [some, symc.grad(values.sum(), x)], mode="python")
    given = np.random.default_rng(0).standard_normal((3, 4))
    found, wanted = f(1.0, given)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_array_equal(f(-1.0, given)[0], np.zeros((3, 4)))


# --- Jacobians ------------------------------------------------------------------------------------

JACOBIANS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "vector": lambda x, y, m: T.tanh(x * y) + x[::-1],
    "scalar": lambda x, y, m: (x * T.exp(y)).sum() * m.mean(),
    "matrix": lambda x, y, m: T.outer(x, y) @ m.T,
    "softmax": lambda x, y, m: T.softmax(m * x, axis=1),
    "gather": lambda x, y, m: (x * y)[np.array([0, 2, 2, 1])] * m[0, 1],
    "cumsum": lambda x, y, m: T.cumsum(x * y) + m.sum(axis=0),
    "fold": lambda x, y, m: T.logsumexp(m * x + y, axis=1),
    "three axes": lambda x, y, m: m[:, :, None] * x + y[None, :, None],
    "set": lambda x, y, m: m[1].set(x * x)[:, 1:].inc(y[1:]),
    "norm": lambda x, y, m: m / T.sqrt((m * m).sum(axis=1, keepdims=True)) * x + y,
}


def differences(build: Callable[..., Any], point: list[Any]) -> list[Any]:
    """Dense Jacobians by central differences: shape of the value + shape of each argument."""
    symbols = [T.vector("x"), T.vector("y"), T.matrix("m")]
    f = symc.function(symbols, build(*symbols), mode="python", on_unused_input="ignore")
    step, result = 1e-6, []
    for position, array in enumerate(point):
        columns = []
        for flat in range(array.size):
            high, low = (
                f(*[a + sign * step * (np.arange(a.size) == flat).reshape(a.shape) * (i == position)
                    for i, a in enumerate(point)])
                for sign in (1, -1)
            )  # fmt: skip
            columns.append((high - low) / (2 * step))
        result.append(np.stack(columns, axis=-1).reshape(columns[0].shape + array.shape))
    return result


@pytest.mark.parametrize("case", JACOBIANS)
def test_dense_jacobians(case: str) -> None:
    """`jacobian`, rows of `Lop`, columns of `Rop`, and `hessian` of a scalar made of it."""
    build = JACOBIANS[case]
    x, y, m = T.vector("x"), T.vector("y"), T.matrix("m")
    inputs, point = [x, y, m], [V, W, M]
    output = build(x, y, m)
    dense = differences(build, point)
    whole = values(symc.jacobian(output, inputs, disconnected="zero"), x=V, y=W, m=M, of=inputs)
    for got, wanted in zip(whole, dense, strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-7)
    rng = np.random.default_rng(1)
    shape = dense[0].shape[: output.ndim]
    u = rng.standard_normal(shape)
    vs = [rng.standard_normal(array.shape) for array in point]
    us = T.tensor("float64", (None,) * output.ndim, name="u")
    directions = [T.tensor("float64", (None,) * a.ndim, name="v") for a in point]
    pulled = symc.Lop(output, inputs, us, disconnected="zero")
    pushed = symc.Rop(output, inputs, directions, disconnected="zero")
    f = symc.function([*inputs, us, *directions], [*pulled, pushed], on_unused_input="ignore")
    *rows, along = f(*point, u, *vs)
    for row, matrix in zip(rows, whole, strict=True):
        np.testing.assert_allclose(row, np.tensordot(u, matrix, u.ndim), rtol=1e-12, atol=1e-13)
    wanted_along = sum(np.tensordot(j, v, v.ndim) for j, v in zip(whole, vs, strict=True))
    np.testing.assert_allclose(along, wanted_along, rtol=1e-12, atol=1e-13)
    # Second order: the Hessian is the Jacobian of the gradient, and symmetric.
    cost = (output**2).sum()
    (hessian,) = symc.hessian(cost, [x], disconnected="zero")
    gradient = symc.grad(cost, x, disconnected="zero")
    got, product = values(
        [hessian, symc.Rop(gradient, x, y, disconnected="zero")], x=V, y=W, m=M, of=inputs
    )
    np.testing.assert_allclose(got, got.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(product, got @ W, rtol=1e-11, atol=1e-12)


def test_shapes_of_jacobians_and_hessians() -> None:
    x, m = T.vector("x"), T.matrix("m")
    f = symc.function(
        [x, m],
        [symc.jacobian(m * 2, m), *symc.jacobian(T.outer(x, x), [x, m], disconnected="zero"),
         symc.hessian((m**3).sum(), m), *symc.hessian((m @ x).sum(), [m, x]),
         symc.jacobian(x.sum(), x), symc.jacobian(x[:0], x)],
    )  # fmt: skip
    shapes = [value.shape for value in f(V, M)]
    assert shapes == [(2, 3, 2, 3), (3, 3, 3), (3, 3, 2, 3), (2, 3, 2, 3), (2, 3, 2, 3), (3, 3),
                      (3,), (0, 3)]  # fmt: skip
    empty = f(np.zeros(0), np.zeros((2, 0)))
    assert [value.shape for value in empty[:2]] == [(2, 0, 2, 0), (0, 0, 0)]


def test_a_jacobian_is_one_pass() -> None:
    """Its graph does not grow with the number of rows."""
    from symc.graph.walks import walk

    sizes = []
    for n in (3, 300):
        x = T.tensor("float64", (n,), name="x")
        sizes.append(len(walk([symc.jacobian(T.tanh(x) * x.sum(), x)])))
    assert sizes[0] == sizes[1]


class Twice(Op):
    """An op of a user, with a gradient that can be wrong and no rule for batches."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Any) -> Any:
        return args[0] * 2

    def grad(self, node: Tensor, bar: Tensor) -> list[Tensor | None]:
        return [Twice(self.factor)(bar) * (self.factor / 2)]


def test_verify_grad() -> None:
    for function in (T.tanh, lambda x: x * x.sum(), lambda x: T.cumsum(x)[::-1] ** 2):
        verify_grad(function, [V])
        verify_grad(function, [V.astype("f4")])
    verify_grad(lambda x, m: m @ T.exp(x / 10), [V, M])
    verify_grad(Twice(2.0), [V], mode="python")
    with pytest.raises(GradientError, match="apart by"):
        verify_grad(Twice(2.01), [V], mode="python")
    with pytest.raises(GradientError, match="floats"):
        verify_grad(T.tanh, [np.arange(3)])
    x = T.vector("x")
    rows = symc.function([x], symc.jacobian(Twice(2.0)(x), x), mode="python")
    np.testing.assert_array_equal(rows(V), 2 * np.eye(len(V)))


@pytest.mark.parametrize("disconnected", ["raise", "zero"])
def test_a_derivative_by_a_constant_is_refused_and_not_zero(disconnected: Any) -> None:
    x, c = T.vector("x"), T.constant(100.0)
    with pytest.raises(GradientError, match=r"by a constant is not defined.*\n.*wrt .*100"):
        symc.grad((c * x - 100.0).sum(), c, disconnected=disconnected)
    with pytest.raises(GradientError, match="by a constant"):
        symc.Rop(c * x, c, T.scalar("v"))
