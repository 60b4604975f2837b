"""Creation, counting, diagonals, triangles and constructors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.config import config
from symc.errors import BadIndex, RankError, ShapeMismatch
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from tests.ops.harness import check, same
from tests.ops.lowering_check import check_lowering, check_nodes, enforce
from tests.ops.shape_cases import Case, draw, verify

N: Any = np  # without the overloads of its annotations

CASES: list[Case] = [
    ("full", lambda v: T.full((2, 3), v * v), (np.float64(1.5),), lambda v: np.full((2, 3), v * v)),
    ("full row", lambda v: T.full((2, 3), v), (draw(3),), lambda v: np.full((2, 3), v)),
    ("full dtype", lambda v: T.full(2, v, dtype="int32"), (np.float64(1.5),),
     lambda v: np.full(2, v, "int32")),
    ("full empty", lambda v: T.full((0, 2), v), (np.float64(1.5),), lambda v: np.full((0, 2), v)),
    ("alloc", lambda x, v: T.alloc(v, x.shape[0], 2), (draw(3), np.float64(2.0)),
     lambda x, v: np.full((3, 2), v)),
    ("like", lambda x: [T.zeros_like(x), T.ones_like(x), T.full_like(x, 7), T.empty_like(x) * 0],
     (draw(2, 3),),
     lambda x: [np.zeros_like(x), np.ones_like(x), np.full_like(x, 7), np.zeros_like(x)]),
    ("like dtype", lambda x: [T.zeros_like(x,
     "int8"), T.ones_like(x, bool), T.full_like(x, 3, int)],
     (draw(2, 3),),
     lambda x: [np.zeros_like(x, "int8"), np.ones_like(x, bool), np.full_like(x, 3, int)]),
    ("like int", lambda x: [T.zeros_like(x), T.full_like(x, 2.7)], (draw(2, dtype="int16"),),
     lambda x: [np.zeros_like(x), np.full_like(x, 2.7)]),
    ("fill", lambda x, v: x.fill(v * v), (draw(2, 3), draw(3)),
     lambda x, v: np.broadcast_to(v * v, (2, 3))),
    ("arange symbolic", lambda n: T.arange(n), (np.array(4),), N.arange),
    ("arange int8", lambda n: T.arange(n), (np.array(4, "int8"),), lambda n: N.arange(int(n))),
    ("arange negative", lambda n: T.arange(n), (np.array(-2),), N.arange),
    ("arange bounds", lambda a, b: T.arange(a, b, 3), (np.array(-2), np.array(6)),
     lambda a, b: N.arange(a, b, 3)),
    ("arange backwards", lambda a, b: T.arange(a, b, -2), (np.array(5), np.array(-2)),
     lambda a, b: N.arange(a, b, -2)),
    ("arange step", lambda a, b, s: T.arange(a, b, s), (np.array(7), np.array(-2), np.array(-4)),
     lambda a, b, s: N.arange(a, b, s)),
    ("arange step up", lambda a, b, s: T.arange(a, b, s), (np.array(1), np.array(7), np.array(3)),
     lambda a, b, s: N.arange(a, b, s)),
    ("arange of a shape", lambda x: T.arange(1, x.shape[0], 2), (draw(6),),
     lambda x: N.arange(1, 6, 2)),
    ("arange float", lambda a, b: T.arange(a, b, 0.5), (np.float64(0.3), np.float64(2.6)),
     lambda a, b: N.arange(a, b, 0.5)),
    ("arange float step", lambda s: T.arange(0.1, 1.95, s * s), (np.float64(0.5),),
     lambda s: N.arange(0.1, 1.95, s * s)),
    ("arange float empty", lambda a: T.arange(a, -3.0), (np.float64(0.3),),
     lambda a: N.arange(a, -3.0)),
    ("linspace", lambda a, b: T.linspace(a, b, 5), (np.float64(0.3), np.float64(-2.6)),
     lambda a, b: N.linspace(a, b, 5)),
    ("linspace open", lambda a, b: T.linspace(a, b, 4, endpoint=False),
     (np.float64(0.3), np.float64(2.6)), lambda a, b: N.linspace(a, b, 4, endpoint=False)),
    ("linspace tensors", lambda a, b: T.linspace(a, b, 4), (draw(2, 1), draw(3)),
     lambda a, b: N.linspace(a, b, 4)),
    ("linspace symbolic", lambda a, n: T.linspace(a, 2.0, n), (np.float64(0.5), np.array(6)),
     lambda a, n: N.linspace(a, 2.0, n)),
    ("linspace symbolic 1", lambda a, n: T.linspace(a, 2.0, n), (np.float64(0.5), np.array(1)),
     lambda a, n: N.linspace(a, 2.0, n)),
    ("linspace 1", lambda a: T.linspace(a, 2.0, 1), (np.float64(0.5),),
     lambda a: N.linspace(a, 2.0, 1)),
    ("linspace 0", lambda a: T.linspace(a, 2.0, 0), (np.float64(0.5),),
     lambda a: N.linspace(a, 2.0, 0)),
    ("linspace int", lambda a: T.linspace(a, 10, 4, dtype="int32"), (np.float64(0.5),),
     lambda a: N.linspace(a, 10, 4, dtype="int32")),
    ("eye like", lambda x: T.identity_like(x) * x, (draw(2, 3),), lambda x: np.eye(2, 3) * x),
    ("eye symbolic", lambda n: [T.eye(n), T.eye(n, 2, 1), T.identity(n, "int32")], (np.array(3),),
     lambda n: [np.eye(n), np.eye(n, 2, 1), np.identity(n, "int32")]),
    ("eye k", lambda k: T.eye(3, 4, k), (np.array(-1),), lambda k: np.eye(3, 4, -1)),
    ("tri", lambda n: [T.tri(n), T.tri(n, 4, -1, dtype="int8"), T.tri(n, n + 1, 1)], (np.array(3),),
     lambda n: [np.tri(n), np.tri(n, 4, -1, dtype="int8"), np.tri(n, n + 1, 1)]),
    ("tril", lambda x: [T.tril(x), T.tril(x, -1), T.tril(x * x, 1)], (draw(3, 4),),
     lambda x: [np.tril(x), np.tril(x, -1), np.tril(x * x, 1)]),
    ("triu", lambda x: [T.triu(x), T.triu(x, 1), T.triu(x * x, -1)], (draw(2, 3, 2),),
     lambda x: [np.triu(x), np.triu(x, 1), np.triu(x * x, -1)]),
    ("triangles of ints", lambda x: [T.tril(x), T.triu(x > 0)], (draw(3, 3, dtype="int8"),),
     lambda x: [np.tril(x), np.triu(x > 0)]),
    ("diagonal", lambda x: [T.diagonal(x), x.diagonal(1), x.diagonal(-1), x.diagonal(5)],
     (draw(3, 4),), lambda x: [x.diagonal(), x.diagonal(1), x.diagonal(-1), x.diagonal(5)]),
    ("diagonal axes", lambda x: x.diagonal(1, 2, 0), (draw(3, 2, 4),),
     lambda x: x.diagonal(1, 2, 0)),
    ("diag of matrix", lambda x: T.diag(x * x, -1), (draw(3, 2),), lambda x: np.diag(x * x, -1)),
    ("diag", lambda v: [T.diag(v), T.diag(v * v, 2), T.diag(v, -1)], (draw(3),),
     lambda v: [np.diag(v), np.diag(v * v, 2), np.diag(v, -1)]),
    ("diag empty", lambda v: [T.diag(v), T.diag(v, 1)], (draw(0),),
     lambda v: [np.diag(v), np.diag(v, 1)]),
    ("diag dtypes", lambda v: [T.diag(v), T.diag(v > 0)], (draw(3, dtype="int8"),),
     lambda v: [np.diag(v), np.diag(v > 0)]),
    ("diag there and back", lambda v: T.diag(T.diag(v)) ** 2, (draw(3),), lambda v: v**2),
    ("trace", lambda x: [T.trace(x * x), x.trace(1), T.trace(x, -5)], (draw(3, 4),),
     lambda x: [np.trace(x * x), x.trace(1), np.trace(x, -5)]),
    ("trace int", lambda x: T.trace(x), (draw(3, 3, dtype="int8"),), np.trace),
    ("meshgrid", lambda x, y: T.meshgrid(x, y), (draw(2), draw(3)), lambda x, y: N.meshgrid(x, y)),
    ("meshgrid ij", lambda x, y: T.meshgrid(x, y, x, indexing="ij"), (draw(2), draw(3)),
     lambda x, y: N.meshgrid(x, y, x, indexing="ij")),
    ("meshgrid sparse", lambda x, y: T.meshgrid(x, y, x, sparse=True), (draw(2), draw(3)),
     lambda x, y: N.meshgrid(x, y, x, sparse=True)),
    ("meshgrid scalar", lambda x, y: T.meshgrid(x, y), (np.float64(1.0), draw(3)),
     lambda x, y: N.meshgrid(x, y)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "build", "arrays", "oracle"), CASES, ids=[c[0] for c in CASES])
def test_values_and_derivatives(
    name: str, build: Callable[..., Any], arrays: tuple[Any, ...], oracle: Callable[..., Any]
) -> None:
    del name
    verify(build, *arrays, oracle=oracle)


FIXED: list[tuple[Callable[[], Tensor], Any]] = [
    (lambda: T.zeros((2, 3)), np.zeros((2, 3))),
    (lambda: T.zeros(2, dtype="int8"), np.zeros(2, "int8")),
    (lambda: T.ones((2, 1), bool), np.ones((2, 1), bool)),
    (lambda: T.ones(()), np.ones(())),
    (lambda: T.empty((0, 2)), np.zeros((0, 2))),
    (lambda: T.full((2,), 3), np.full((2,), 3)),
    (lambda: T.zeros(np.array([2, 1])), np.zeros((2, 1))),
    (lambda: T.zeros(T.constant([2, 1])), np.zeros((2, 1))),
    (lambda: T.arange(5), N.arange(5)),
    (lambda: T.arange(5.0), N.arange(5.0)),
    (lambda: T.arange(2, 5, dtype="float32"), N.arange(2, 5, dtype="float32")),
    (lambda: T.arange(0, 200, 30, dtype="uint8"), N.arange(0, 200, 30, dtype="uint8")),
    (lambda: T.arange(2, dtype=bool), N.arange(2, dtype=bool)),
    (lambda: T.arange(5, 0), N.arange(5, 0)),
    (lambda: T.arange(5, 0, -2), N.arange(5, 0, -2)),
    (lambda: T.arange(0, 1, 0.1), N.arange(0, 1, 0.1)),
    (lambda: T.arange(np.float32(3)), N.arange(np.float32(3))),
    (lambda: T.arange(0, 3, 0.25, dtype="float16"), N.arange(0, 3, 0.25, dtype="float16")),
    (lambda: T.linspace(0, 1, 7, dtype="float32"), N.linspace(0, 1, 7, dtype="float32")),
    (lambda: T.linspace(np.float32(0), 1, 7), N.linspace(np.float32(0), 1, 7)),
    (lambda: T.linspace(-3, 3, 7, dtype=int), N.linspace(-3, 3, 7, dtype=int)),
    (lambda: T.eye(3), np.eye(3)),
    (lambda: T.eye(2, 4, k=-1, dtype="bool"), np.eye(2, 4, k=-1, dtype="bool")),
    (lambda: T.tri(3, 4, 1), np.tri(3, 4, 1)),
]


@pytest.mark.parametrize("number", range(len(FIXED)))
def test_without_inputs(number: int) -> None:
    build, wanted = FIXED[number]
    check(build, oracle=lambda: wanted)
    check_lowering(build)
    assert build().type.shape == wanted.shape


def test_floatx_is_the_dtype_of_constructors() -> None:
    with config.set(floatX="float32"):
        made = [T.zeros(2), T.ones(2), T.eye(2), T.vector("v"), T.scalar(), T.empty(1)]
        assert {t.dtype.name for t in made} == {"float32"}
        assert T.full(2, 1.5).dtype.name == "float64"


def test_known_lengths() -> None:
    x = T.matrix("x")
    n, m = x.shape
    assert T.arange(n).shape[0] is n
    assert T.arange(1, n + 1).shape[0] is n
    assert T.arange(n, 2 * n).shape[0] is n
    assert T.eye(n, m).type.shape == x.type.shape
    assert T.diag(T.diagonal(T.eye(n))).type.shape == (x.type.shape[0],) * 2
    assert T.diag(x[0], 2).shape[0] is (m + 2)
    assert T.zeros((n, 1)).type.shape[1] == 1
    assert T.arange(n) is T.arange(0, n, 1)


def test_a_counted_index_needs_no_check() -> None:
    x = T.matrix("x")
    picked = x[T.arange(x.shape[0])]
    assert list(picked.op.require(picked)) == []


def test_gradients_of_float_bounds_flow() -> None:
    a, s = T.dscalars("a", "s")
    total = (T.arange(a, 2.0, s) ** 2).sum()
    values = evaluate(symc.grad(total, [a, s]), {a: np.array(0.0), s: np.array(0.5)})
    np.testing.assert_allclose(values, [2 * 3.0, 2 * 0.5 * 14])


# --- constructors ---------------------------------------------------------------------------------


RANKS = {
    "scalar": (), "vector": (None,), "matrix": (None,) * 2, "row": (1, None), "col": (None, 1),
    "tensor3": (None,) * 3, "tensor4": (None,) * 4, "tensor5": (None,) * 5,
}  # fmt: skip
DTYPES = {
    "": "float64", "b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32",
    "d": "float64",
}  # fmt: skip


@pytest.mark.parametrize("kind", RANKS)
@pytest.mark.parametrize("prefix", DTYPES)
def test_constructors(kind: str, prefix: str) -> None:
    make = getattr(T, prefix + kind)
    x = make("x")
    assert x.name == "x"
    assert x.dtype.name == DTYPES[prefix]
    wanted = [repr(d or f"x.shape[{axis}]").strip("'") for axis, d in enumerate(RANKS[kind])]
    assert list(map(repr, x.type.shape)) == wanted
    assert make() is not make()
    plural = getattr(T, prefix + ("matrices" if kind == "matrix" else kind + "s"))
    assert [v.name for v in plural("a", "b")] == ["a", "b"]
    assert [v.type.ndim for v in plural(3)] == [x.ndim] * 3


def test_constructors_take_shapes_and_dtypes() -> None:
    assert T.matrix("x", "int16", (2, None)).type.shape[0] == 2
    assert T.fvector("x", shape=(4,)).type.shape == (4,)
    assert T.row(shape=(1, 3)).type.shape == (1, 3)
    assert T.tensor("int8", (None, 2), "x").dtype.name == "int8"


def test_as_tensor_variable() -> None:
    x = T.vector("x")
    assert T.as_tensor_variable(x) is x
    assert T.as_tensor_variable(x, ndim=3).type.shape[:2] == (1, 1)
    assert T.as_tensor_variable([1, 2], dtype="float32").dtype.name == "float32"
    assert T.as_tensor_variable([1, 2.5], name="c").name == "c"
    with pytest.raises(RankError, match="more than 0 axes"):
        T.as_tensor_variable(x, ndim=0)


# --- messages -------------------------------------------------------------------------------------

ERRORS: list[tuple[Callable[[Tensor], Any], type[Exception], str]] = [
    (lambda v: T.vector("x", shape=(2, 3)), RankError, "vector has 1 axes; shape=(2, 3) has 2"),
    (lambda v: T.vector(cast("Any", (3,))), TypeError,
     "vector: the name must be a string, not (3,)"),
    (lambda v: T.zeros((2, -1)), ShapeMismatch, "broadcast_to: a length cannot be -1"),
    (lambda v: T.zeros(2.5), TypeError, "a length must be an integer or an integer scalar tensor"),
    (lambda v: T.full((2, 4), v), ShapeMismatch, "broadcast_to: axis 1 is 3 and cannot become 4"),
    (lambda v: T.arange(1, 2, 0), ZeroDivisionError, "arange: the step is zero"),
    (lambda v: T.arange(0, 3, T.scalar("b", "int64") * 0), ZeroDivisionError,
     "arange: the step is zero\n  step   mul"),
    (lambda v: T.arange(v), RankError, "arange: bounds must be scalars"),
    (lambda v: T.linspace(0, 1, -1), ValueError, "linspace: num=-1 is negative"),
    (lambda v: T.tril(v), RankError, "tril: at least 2 axes are needed\n  given  v "),
    (lambda v: T.identity_like(v), RankError, "identity_like: a matrix is needed"),
    (lambda v: T.diagonal(v), RankError, "diagonal: at least 2 axes are needed"),
    (lambda v: T.diagonal(T.eye(3), 0, 1, -1), ValueError,
     "diagonal: axis1 and axis2 are the same"),
    (lambda v: T.diagonal(T.eye(3), 0, 0, 2), BadIndex, "diagonal: there is no axis 2"),
    (lambda v: T.diag(T.zeros((2, 2, 2))), RankError, "diag: a vector or a matrix is needed"),
    (lambda v: T.meshgrid(v, indexing=cast("Any", "yx")), ValueError,
     'meshgrid: indexing must be "xy" or "ij", not \'yx\''),
]  # fmt: skip


@pytest.mark.parametrize(("build", "error", "message"), ERRORS, ids=[e[2][:40] for e in ERRORS])
def test_errors(build: Callable[[Tensor], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        build(T.tensor("float64", (3,), "v"))
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_step_of_zero_at_run_time(dtype: str) -> None:
    s = T.scalar("s", dtype)
    output = T.arange(0, 5, s)
    check_nodes([output], {s: np.array(2, dtype)})
    with pytest.raises(ZeroDivisionError):
        enforce([output], {s: np.array(0, dtype)})
    for mode in ("default", "python"):
        function = symc.function([s], output, mode=mode)
        same(function(np.array(2, dtype)), N.arange(0, 5, 2, dtype), 0)
        with pytest.raises(ZeroDivisionError):
            function(np.array(0, dtype))


def test_a_range_starts_from_a_scalar_in_damaged_files_too() -> None:
    """A file made the start a matrix, and the interpreter found another rank than was promised."""
    op, one = T.arange(3).op, T.constant(1)
    with pytest.raises(RankError, match="arange: the start must be a scalar"):
        op(T.lmatrix("m"), one, one)
    with pytest.raises(RankError, match="arange: the step must be a scalar"):
        op(one, T.lvector("v"), one)
