"""Indexing against NumPy: a table of indexes on several shapes, random ones, reading and writing.

Every index is tried with numbers that are known when the graph is built, and as inputs; lengths of
the tensor too. The compiled function computes a whole table at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DTypeError, ShapeMismatch
from symc.evaluate import evaluate
from symc.graph import Tensor
from tests.ops.harness import check, same
from tests.ops.reader_check import check_lowering, check_nodes, enforce

S = np.s_

VECTOR = [
    S[0], S[-1], S[2], S[4], S[-5], S[:], S[...], S[()], S[None], S[..., None], S[None, :, None],
    S[1:], S[:-1], S[::2], S[::-1], S[::-2], S[1:3], S[3:1], S[3:1:-1], S[-2:], S[:-2], S[-100:100],
    S[100:], S[:-100], S[100::-1], S[:-100:-1], S[-1:0:-1], S[1:4:3], S[4:0:-3], S[2:2], S[0:1],
    S[[0]], S[[]], S[[0, 0, 2]], S[[-1, 1]], S[[[0, 1], [2, -2]]], S[[True, False, True, True, False]],
    S[np.array([3, 1], "int32")], S[np.array(2)], S[np.uint8([1, 4])], S[np.int16(-2)],
    S[None, [1, 2]], S[[1, 2], None], S[np.zeros(5, bool)], S[True], S[False], S[True, 1:],
    S[np.zeros((0, 2), int)], S[range(3)], S[..., [0, 1]],
]  # fmt: skip
MATRIX = [
    S[0], S[1:], S[:, 0], S[0, 1], S[-1, -1], S[1, ::-1], S[::-1, ::-1], S[:, 1:3], S[1:, :-1],
    S[..., 0], S[..., 1:], S[0, ...], S[None, 0, None, :, None], S[:, None], S[:, :], S[2:0:-1, ::2],
    S[[0, 2]], S[:, [0, 2, 0]], S[[0, 1], [1, 2]], S[[0, 1, 0], 1], S[1, [0, 1, 0]], S[[0, 1], 1:],
    S[1:, [0, 1]], S[::-1, [[0], [3]]], S[[[0], [1]], [0, 1]], S[None, [0, 1], ..., [0, 1]],
    S[None, [0, 1], [0, 1]], S[[0, 1], None, [0, 1]], S[[0, 1], ..., 1:], S[[True, False, True]],
    S[:, [True, False, True, False]], S[[True, False, True], 1], S[[True, False, True], 1:3],
    S[[True, False, True], [0, 1]], S[np.arange(12).reshape(3, 4) % 3 == 0], S[np.ones((3, 4), bool)],
    S[np.arange(12).reshape(3, 4) > 90], S[None, np.eye(3, 4, dtype=bool), None], S[True, [0, 1]],
    S[[0, 1], True], S[:, True], S[:0, [0, 1]], S[3:, ::-1], S[np.arange(3), [3, 0, 3]],
    S[[1], np.arange(4)], S[[0, 0], :], S[[-1], ::-2],
]  # fmt: skip
CUBE = [
    S[0], S[:, 0], S[..., 0], S[0, 0, 0], S[1, :, 2], S[:, ::-1, 1:], S[::-1, None, 0, ::2],
    S[[0, 1]], S[:, [0, 2]], S[:, :, [0, 3, 0]], S[0, :, [0, 1]], S[:, 0, [0, 1]], S[[0, 1], :, 0],
    S[[0, 1], :, [0, 1]], S[[0, 1], 1:, [0, 1]], S[1:, [0, 1], [0, 1]], S[::-1, [0, 1], 1::2],
    S[[0, 1], 1:, ::-1], S[1:, ::-1, [0, 1]], S[:, 1:, [[0, 1], [2, 3]]], S[[[0], [1]], :, [0, 1, 2]],
    S[[[0], [1]], [0, 1, 2]], S[:, [[0], [1]], [0, 1, 2]], S[[0, 1], [1, 2], [2, 3]], S[0, [1, 2], 3],
    S[None, [0, 1], :, None, [0, 1]], S[:, None, [0, 1], [0, 1]], S[..., [0, 1], None, 0],
    S[np.arange(6).reshape(2, 3) % 2 == 0], S[:, np.arange(12).reshape(3, 4) % 5 == 0],
    S[np.arange(6).reshape(2, 3) % 2 == 0, 1], S[np.arange(6).reshape(2, 3) % 2 == 0, 1:],
    S[np.arange(6).reshape(2, 3) % 3 == 0, [0, 1]], S[[True, False], :, [0, 2]],
    S[[True, True], [0, 2], ::-1], S[np.arange(24).reshape(2, 3, 4) % 7 == 0], S[1, True, :, [1, 1]],
]  # fmt: skip
ONE = [
    S[0], S[:], S[::-1], S[1:], S[:, 0], S[[0, 0]], S[:, [2, 1]], S[[True]], S[0, [0, 1]], S[[0], 1:],
    S[[[0]], [0, 1]], S[None, :, 1], S[[False]], S[0:1, ::-2],
]  # fmt: skip
EMPTY = [
    S[:], S[::-1], S[1:], S[:, 0], S[:, [0, 2]], S[[]], S[:0], S[..., ::-2], S[np.zeros(0, bool)],
    S[np.zeros((0, 3), bool)], S[:, [True, False, True]], S[[], 1:], S[None], S[-1:, [[0], [1]]],
]  # fmt: skip
TABLE: list[tuple[tuple[int, ...], list[Any]]] = [
    ((5,), VECTOR), ((3, 4), MATRIX), ((2, 3, 4), CUBE), ((1, 4), ONE), ((0, 3), EMPTY),
    ((), [S[()], S[...], S[None], S[True], S[..., None], S[False]]),
    ((3, 1, 2), [S[:, 0], S[[0, 2], 0], S[..., [0, 0], 1], S[:, ::-1, 1:], S[0, [[0]], [0, 1]]]),
]  # fmt: skip
OUTSIDE: list[tuple[tuple[int, ...], list[Any]]] = [
    ((5,), [S[5], S[-6], S[[0, 5]], S[[-6]], S[0, 0], S[..., 0, 1], S[[True] * 4], S[[5], None]]),
    ((3, 4), [S[3], S[0, 4], S[:, -5], S[[0, 3]], S[1:, [0, 4]], S[[0, 1], [0, -5]], S[:, :, 0],
              S[[True, False]], S[np.ones((4, 3), bool)], S[np.ones((3, 4), bool), 0]]),
    ((0, 3), [S[0], S[-1], S[[0]], S[:, 3], S[[0], 1:]]),
    ((), [S[0], S[[0]], S[:]]),
]  # fmt: skip


def values_for(shape: tuple[int, ...], seed: int = 0) -> Any:
    """A random array of a shape."""
    return np.random.default_rng(seed).standard_normal(shape)


class Inputs:
    """Replaces the numbers of an index by inputs, and keeps their values."""

    def __init__(self) -> None:
        self.values: dict[Tensor, Any] = {}

    def __call__(self, index: Any) -> Any:
        """The index with symbolic numbers."""
        if isinstance(index, tuple):
            return tuple(map(self, index))
        if isinstance(index, slice):
            return slice(*(self(bound) for bound in (index.start, index.stop, index.step)))
        if index is None or index is Ellipsis:
            return index
        array = np.asarray(index)
        if array.dtype == np.bool_ and array.sum() == 1:
            return index  # a length that turns out to be 1 does not broadcast
        if not array.size and array.dtype.kind == "f":
            array = array.astype(np.int64)
        shape = tuple(n if n == 1 else None for n in array.shape)
        symbol = T.tensor(array.dtype.name, shape, name=f"i{len(self.values)}")
        self.values[symbol] = array
        return symbol


def cases(
    shape: tuple[int, ...], indexes: Sequence[Any], kind: str
) -> tuple[Tensor, list[Any], dict[Tensor, Any]]:
    """A tensor, the indexes as `kind` says, and the values of all inputs."""
    lengths = shape if kind == "static" else tuple(n if n == 1 else None for n in shape)
    x = T.tensor("float64", lengths, name="x")
    inputs = Inputs()
    used = [inputs(i) for i in indexes] if kind == "inputs" else list(indexes)
    return x, used, {x: values_for(shape), **inputs.values}


def compiled(outputs: Sequence[Tensor], values: dict[Tensor, Any]) -> list[Any]:
    """What one compiled function gives for all outputs."""
    function = symc.function(list(values), list(outputs), on_unused_input="ignore")
    return function(*values.values())


def chosen(array: Any, index: Any) -> Any:
    """Positions in row-major order that an index selects: the oracle of everything written."""
    return np.arange(array.size).reshape(array.shape)[index]


def written(array: Any, index: Any, values: Any, mode: str) -> Any:
    """The array with values set or added where an index reads, in row-major order."""
    where = chosen(array, index)
    result = array.ravel().copy()
    flat = np.broadcast_to(values, np.shape(where)).ravel()
    if mode == "set":
        for place, value in zip(np.ravel(where), flat, strict=True):
            result[place] = value
    else:
        np.add.at(result, np.ravel(where), flat)
    return result.reshape(array.shape)


KINDS = ["static", "symbolic", "inputs"]
each_table = pytest.mark.parametrize(("shape", "indexes"), TABLE, ids=[str(s) for s, _ in TABLE])
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
@each_table
def test_reading(shape: tuple[int, ...], indexes: list[Any], kind: str) -> None:
    x, used, values = cases(shape, indexes, kind)
    outputs = [x[index] for index in used]
    check_nodes(outputs, values)
    enforce(outputs, values)
    wanted = [np.asarray(values[x][index]) for index in indexes]
    for index, value, expected in zip(indexes, evaluate(outputs, values), wanted, strict=True):
        assert value.shape == expected.shape, index
        same(value, expected, 0.0)
    for value, expected in zip(compiled(outputs, values), wanted, strict=True):
        same(value, expected, 0.0)


@each_kind
@each_table
def test_gradients(shape: tuple[int, ...], indexes: list[Any], kind: str) -> None:
    x, used, values = cases(shape, indexes, kind)
    outputs, wanted = [], []
    for number, (index, concrete) in enumerate(zip(used, indexes, strict=True)):
        part = x[index]
        weight = values_for(values[x][concrete].shape, number)
        outputs.append(symc.grad((part * T.constant(weight)).sum(), x))
        wanted.append(written(np.zeros(shape), concrete, weight, "inc"))
    check_nodes(outputs, values)
    for value, expected in zip(evaluate(outputs, values), wanted, strict=True):
        same(value, expected, 1e-15)
    for value, expected in zip(compiled(outputs, values), wanted, strict=True):
        same(value, expected, 1e-15)


@pytest.mark.parametrize("mode", ["set", "inc"])
@each_kind
@each_table
def test_writing(shape: tuple[int, ...], indexes: list[Any], kind: str, mode: str) -> None:
    pairs = [i for i in indexes if not _single_bool(i) and not _only_new(i)]
    x, used, values = cases(shape, pairs, kind)
    outputs, wanted = [], []
    for number, (index, concrete) in enumerate(zip(used, pairs, strict=True)):
        part = x[index]
        new = values_for(values[x][concrete].shape, number)
        for given in (new, 2.5, new[-1:] if new.ndim and len(new) == 1 else new):
            outputs.append(getattr(part, mode)(given))
            wanted.append(written(values[x], concrete, given, mode))
    check_nodes(outputs, values)
    for value, expected in zip(evaluate(outputs, values), wanted, strict=True):
        same(value, expected, 1e-15)
    for value, expected in zip(compiled(outputs, values), wanted, strict=True):
        same(value, expected, 1e-15)


def _single_bool(index: Any) -> bool:
    return any(isinstance(part, bool) for part in (index if isinstance(index, tuple) else (index,)))


def _only_new(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    full = (slice(None), Ellipsis)
    return None in [p for p in parts if p is None] and all(
        part is None or (not isinstance(part, list | np.ndarray) and part in full) for part in parts
    )


@each_kind
@pytest.mark.parametrize(
    ("shape", "index"), [(s, i) for s, table in OUTSIDE for i in table], ids=str
)
def test_what_numpy_refuses(shape: tuple[int, ...], index: Any, kind: str) -> None:
    with pytest.raises(IndexError):
        values_for(shape)[index]
    x, (used,), values = cases(shape, [index], kind)
    with pytest.raises(BadIndex):
        enforce([x[used]], values)


# --- random indexes -------------------------------------------------------------------------------


def random_index(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A random index that fits a shape, of every kind of part."""
    block = tuple(rng.integers(0, 4, rng.integers(0, 3)).tolist())
    items: list[Any] = []
    axis = 0
    stop = int(rng.integers(0, len(shape) + 1))
    while axis < stop:
        n = shape[axis]
        kind = rng.choice(["int", "slice", "slice", "array", "mask", "new", "full"])
        if kind == "int" and n:
            items.append(int(rng.integers(-n, n)))
        elif kind == "array" and (n or 0 in block):
            # A length 1 is only given where it is known, as unknown ones do not broadcast.
            items.append(rng.integers(-n, n, block) if n else np.zeros(block, int))
        elif kind == "mask" and 1 <= len(block) and not any(isinstance(i, np.ndarray) for i in items):
            items.append(rng.random(n) < 0.5)
            block = (int(items[-1].sum()),)
        elif kind == "new":
            items.append(None)
            continue
        elif kind == "slice":
            bounds = [None if rng.random() < 0.3 else int(b) for b in rng.integers(-n - 2, n + 3, 2)]
            items.append(slice(*bounds, rng.choice([None, 1, 2, -1, -2, 3])))
        else:
            items.append(slice(None))
        axis += 1
    if rng.random() < 0.3:
        items.append(Ellipsis)
        items += [slice(None, None, -1)] * int(rng.integers(0, len(shape) - axis + 1))
    return tuple(items)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_random_indexes(seed: int, kind: str) -> None:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.choice([2, 3, 4, 5], rng.integers(1, 5)))
    indexes = [random_index(rng, shape) for _ in range(25)]
    x, used, values = cases(shape, indexes, kind)
    outputs, wanted = [], []
    for number, (index, concrete) in enumerate(zip(used, indexes, strict=True)):
        part = x[index]
        weight = values_for(values[x][concrete].shape, number)
        outputs += [part, symc.grad((part * T.constant(weight)).sum(), x)]
        wanted += [values[x][concrete], written(np.zeros(shape), concrete, weight, "inc")]
        if not _only_new(concrete):
            for mode in ("set", "inc"):
                outputs.append(getattr(part, mode)(weight))
                wanted.append(written(values[x], concrete, weight, mode))
    check_nodes(outputs, values)
    enforce(outputs, values)
    for value, expected in zip(evaluate(outputs, values), wanted, strict=True):
        same(value, np.asarray(expected), 1e-15)
    for value, expected in zip(compiled(outputs, values), wanted, strict=True):
        same(value, np.asarray(expected), 1e-15)


# --- derivatives of everything --------------------------------------------------------------------

ROWS = np.array([2, 0, 2, 1])
MASK = np.array([True, False, True])
DERIVATIVES: list[tuple[str, Callable[..., Any]]] = [
    ("slice", lambda x, v: T.exp(x)[1:, ::-2]),
    ("int", lambda x, v: T.exp(x)[-1] * x[0]),
    ("gather", lambda x, v: T.exp(x)[ROWS]),
    ("gather behind", lambda x, v: T.exp(x)[:, [3, 0, 3]]),
    ("pairs", lambda x, v: T.exp(x)[T.arange(x.shape[0]), [3, 0, 3]]),
    ("mixed", lambda x, v: T.exp(x)[1:, [3, 0, 3]]),
    ("mask", lambda x, v: T.exp(x)[MASK]),
    ("run-time mask", lambda x, v: T.exp(x)[x > 0]),
    ("set slice", lambda x, v: (T.exp(x)[1:, 0].set(v[0, :2] ** 2)) ** 2),
    ("inc slice", lambda x, v: (T.exp(x)[:, ::2].inc(v[:, :2] ** 2)) ** 2),
    ("set rows", lambda x, v: (T.exp(x)[[2, 0]].set(v[:2] ** 2)) ** 2),
    ("inc rows", lambda x, v: (T.exp(x)[ROWS].inc(v[ROWS] ** 2)) ** 2),
    ("inc with broadcasting", lambda x, v: (T.exp(x)[ROWS].inc(v[0] ** 2)) ** 2),
    ("set pairs", lambda x, v: (T.exp(x)[T.arange(x.shape[0]), [3, 0, 3]].set(v[:, 0] ** 2)) ** 2),
    ("set mask", lambda x, v: (T.exp(x)[MASK].set(v[0] ** 2)) ** 2),
    ("inc mask", lambda x, v: (T.exp(x)[x > 0].inc(v[0, 0] ** 2)) ** 2),
    ("guarded", lambda x, v: T.where(x[1:] > 0, T.sqrt(T.abs(x[1:])), 0.0)[ROWS % 2]),
]


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("name", "build"), DERIVATIVES, ids=[name for name, _ in DERIVATIVES])
def test_derivatives(name: str, build: Callable[..., Any], static: bool) -> None:
    check(build, values_for((3, 4), 1), values_for((3, 4), 2), static=static)
    check_lowering(build, values_for((3, 4), 1), values_for((3, 4), 2), static=static)


def test_the_gradient_of_set_reaches_every_duplicate() -> None:
    x, v = T.vector("x"), T.vector("v")
    y = x[[0, 0, 1]].set(v) * T.constant([10.0, 20.0, 30.0])
    gx, gv = symc.grad(y.sum(), [x, v])
    values = {x: np.ones(3), v: np.ones(3)}
    same(evaluate([gx], values)[0], np.array([0.0, 0.0, 30.0]), 0.0)
    same(evaluate([gv], values)[0], np.array([10.0, 10.0, 20.0]), 0.0)


def test_no_nan_leaks_through_an_index() -> None:
    x = T.vector("x")
    y = T.where(x > 0, T.log(x), 0.0)[[0, 1, 1, 2]][::-1]
    g = symc.grad(y[1:].set(y[1:] * 2).sum(), x)
    wanted = np.array([2.0, 2 * 2 / 2.0, 0.0])
    same(evaluate([g], {x: np.array([1.0, 2.0, 0.0])})[0], wanted, 1e-15)
    inner = symc.grad(T.where(x[::-1] > 0, T.sqrt(x[::-1]), 0.0)[[0, 0, 2]].sum(), x)
    same(evaluate([inner], {x: np.array([1.0, 2.0, 0.0])})[0], np.array([0.5, 0.0, 0.0]), 1e-15)
    z = T.sqrt(x)  # its derivative at 0 is infinite, and must meet a mask
    g = symc.grad(T.where(z[[0, 2]] > 0, T.log(z[[0, 2]]), 0.0).sum(), x)
    value = evaluate([g], {x: np.array([4.0, 2.0, 0.0])})[0]
    same(value, np.array([0.125, 0.0, 0.0]), 1e-15)


# --- lengths --------------------------------------------------------------------------------------


def test_lengths_that_mean_the_same_are_the_same() -> None:
    x = T.vector("x")
    n = x.shape[0]
    assert x[1:].type.shape == x[:-1].type.shape == x[: n - 1].type.shape == T.arange(1, n).type.shape
    assert x[1:-1].type.shape == x[2:].type.shape == x[1:][:-1].type.shape == x[1:][1:].type.shape
    assert x[::2].type.shape == x[::-2].type.shape
    assert x[::-1].type.shape == x[:n].type.shape == x[0:].type.shape == x.type.shape
    assert T.tensor("float64", (5,))[1:-1].type.shape == (3,)


def test_a_whole_slice_is_a_node_of_its_own_that_stands_for_its_argument() -> None:
    x = T.vector("x")
    for whole in (x[:], x[...], x[()], x[: x.shape[0]], x[0:]):
        assert whole.op.expand(whole) is x
    value = evaluate([x[:].set(1.0), x[...].inc(1.0)], {x: np.arange(3.0)})
    assert [v.tolist() for v in value] == [[1, 1, 1], [1, 2, 3]]


def test_a_scalar_mask_takes_all_or_nothing() -> None:
    x, b = T.matrix("x"), T.scalar("b", "bool")
    parts = [x[b], x[:, b], x[b, 1:, 0]]
    for flag in (np.array(True), np.array(False)):
        values = {x: values_for((2, 3)), b: flag}
        check_nodes(parts, values)
        wanted = [values[x][flag], values[x][:, flag], values[x][flag, 1:, 0]]
        for value, expected in zip(compiled(parts, values), wanted, strict=True):
            same(value, expected, 0.0)


def test_equal_indexes_are_one_node() -> None:
    x, y = T.vector("x"), T.tensor("float64", (5,))
    assert x[1:] is x[1:None:1]
    assert x[[0, 1]] is x[np.array([0, 1], "int32")]
    assert y[-1] is y[4]
    assert y[1:4:2] is y[1:10:2] is y[-4:-1:2]
    assert y[2:3] is y[2:1:-1]


def test_given_numbers_may_be_replaced() -> None:
    x, i, n = T.vector("x"), T.lscalar("i"), T.lscalar("n")
    f = symc.function([x, n], [x[i:], x[i]], givens={i: n - 1})
    first, second = f(np.arange(5.0), 3)
    assert first.tolist() == [2, 3, 4]
    assert second == 2


# --- writing: dtypes, shapes, order ---------------------------------------------------------------


def test_set_takes_the_last_of_duplicates_and_inc_all() -> None:
    x, i, v = T.vector("x"), T.lvector("i"), T.vector("v")
    f = symc.function([x, i, v], [x[i].set(v), x[i].inc(v), x[i].set(7.0)])
    rng = np.random.default_rng(0)
    index, new = rng.integers(0, 10, 1000), rng.standard_normal(1000)
    replaced, added, seven = f(np.zeros(10), index, new)
    same(replaced, written(np.zeros(10), index, new, "set"), 0.0)
    same(added, written(np.zeros(10), index, new, "inc"), 1e-14)
    assert (seven == 7).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32"])
@pytest.mark.parametrize("mode", ["set", "inc"])
def test_dtypes_are_kept(dtype: str, mode: str) -> None:
    array = (np.arange(12).reshape(3, 4) % 3).astype(dtype)
    given = np.array([1, 0, 2]).astype(dtype)

    def build(x: Tensor, v: Tensor) -> list[Tensor]:
        parts = [x[:, 1], x[[2, 0, 1], 0]]
        return [*(getattr(part, mode)(v) for part in parts), getattr(x[1:, [0, 1]], mode)(True)]

    def oracle(x: Any, v: Any) -> list[Any]:
        return [
            written(x, S[:, 1], v, mode),
            written(x, S[[2, 0, 1], 0], v, mode),
            written(x, S[1:, [0, 1]], np.asarray(1, x.dtype), mode),
        ]

    check(build, array, given, oracle=oracle)


def test_literal_numbers_of_the_same_kind_convert() -> None:
    x = T.vector("x", "float32")
    for given in (1, 1.5, np.float64(1.5), [1.0, 2.5], np.int64(3), True):
        assert x[:2].set(given).dtype == x.dtype
    i = T.vector("i", "uint8")
    assert i[0].set(255).dtype == i.dtype
    with pytest.raises(DTypeError):
        i[0].set(256)
    with pytest.raises(DTypeError):
        i[0].set(1.0)
    with pytest.raises(DTypeError):
        x[0].set(np.zeros(1))
    with pytest.raises(DTypeError):
        x[0].set(T.scalar("a", "float64"))


def test_a_mask_set_to_one_value_needs_no_positions() -> None:
    x, m = T.matrix("x"), T.matrix("m", "bool")
    assert x[m].set(0.0).op.label == "where"
    assert x[m.any(axis=1)].set(T.vector("v")).op.label == "where"
    assert x[m].set(T.vector("v")).op.label == "set_subtensor"
    values = {x: values_for((2, 3)), m: np.array([[True, False, True], [False, True, False]])}
    v = T.vector("v")
    (value,) = evaluate([x[m].set(v)], {**values, v: np.arange(3.0)})
    expected = values[x].copy()
    expected[values[m]] = np.arange(3.0)
    same(value, expected, 0.0)


def test_an_index_through_new_and_moved_axes_can_be_written() -> None:
    def build(x: Tensor, v: Tensor) -> list[Tensor]:
        return [x[None, 1:].set(v[None, 1:]), x[1:].T.inc(v[1:].T), x[:, None, [0, 1]].set(v[:, None, :2])]

    def oracle(x: Any, v: Any) -> list[Any]:
        first, second, third = x.copy(), x.copy(), x.copy()
        first[1:], third[:, :2] = v[1:], v[:, :2]
        second[1:] += v[1:]
        return [first, second, third]

    check(build, values_for((3, 4), 1), values_for((3, 4), 2), oracle=oracle)


def test_pairs_written_into_zeros_are_no_write() -> None:
    from symc.lowering import At, Write

    g, y = T.vector("g"), T.lvector("y")
    x = T.matrix("x")
    rows = T.arange(x.shape[0])
    spread = T.zeros_like(x)[rows, y].inc(g)
    assert isinstance(spread.op.lower(spread, lambda dim: T), At)  # type: ignore[arg-type]
    onto = x[rows, y].inc(g)
    lowered = onto.op.lower(onto, lambda dim: T)  # type: ignore[arg-type]
    assert isinstance(lowered, Write)
    assert lowered.parts[0].parallel
    repeated = x[y, y].inc(g)
    lowered = repeated.op.lower(repeated, lambda dim: T)  # type: ignore[arg-type]
    assert isinstance(lowered, Write)
    assert not lowered.parts[0].parallel


def test_cross_entropy() -> None:
    labels = np.array([2, 0, 1, 1])

    def build(x: Tensor) -> Tensor:
        return -T.log_softmax(x, axis=1)[T.arange(x.shape[0]), labels].mean()

    def oracle(x: Any) -> Any:
        p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        return -np.log(p[np.arange(4), labels]).mean()

    check(build, values_for((4, 3)), oracle=oracle)


# --- messages -------------------------------------------------------------------------------------


def message(error: type[Exception], f: Callable[[], Any]) -> str:
    """The first line of the error that `f` raises."""
    with pytest.raises(error) as caught:
        f()
    return str(caught.value).splitlines()[0]


def test_messages_of_the_graph() -> None:
    x, m = T.tensor("float64", (3, 4), "x"), T.matrix("m")
    assert message(BadIndex, lambda: x[3]) == "index 3 is out of bounds for axis 0 with length 3"
    assert message(BadIndex, lambda: x[:, -5]) == "index -5 is out of bounds for axis 1 with length 4"
    assert message(BadIndex, lambda: x[:, [0, 9]]) == "index 9 is out of bounds for axis 1 with length 4"
    assert message(BadIndex, lambda: m[0, 0, 0]) == "too many indexes: 3 for 2 axes"
    assert message(BadIndex, lambda: m[..., ...]) == "an index can have only one ellipsis (...)"
    assert message(BadIndex, lambda: x[[True, False]]) == (
        "a mask's axis 0 has length 2, and the axis it indexes 3"
    )
    expected = "an index must be integers, bools, slices, None or ..., not float64"
    assert message(DTypeError, lambda: m[1.0]) == expected
    assert message(DTypeError, lambda: m[T.vector("v")]) == expected
    assert message(DTypeError, lambda: m[: T.vector("v")]).startswith(
        "a slice's bound must be an integer scalar, not float64"
    )
    assert message(DTypeError, lambda: m["a":]).startswith(  # type: ignore[misc]
        "a slice's bound must be an integer scalar, not 'a'"
    )
    assert message(ValueError, lambda: m[::0]) == "a slice's step cannot be zero"
    assert message(ShapeMismatch, lambda: x[[0, 1], [0, 1, 2]]).startswith("getitem: axis 0 is 2 ")


def test_messages_of_writing() -> None:
    x = T.tensor("float64", (3, 4), "x")
    assert message(TypeError, lambda: x.set(0.0)) == (
        "set_subtensor: this is not the result of indexing, so there is nothing to write into"
    )
    assert message(TypeError, lambda: T.inc_subtensor(3, 4)).startswith(  # type: ignore[arg-type]
        "inc_subtensor needs an indexed tensor"
    )
    assert message(ShapeMismatch, lambda: x[1:].set(np.zeros((3, 4)))) == (
        "set_subtensor: values of shape [3, 4] do not fit the region [2, 4]"
    )
    assert message(ShapeMismatch, lambda: x[0].inc(np.zeros((2, 4)))) == (
        "inc_subtensor: values of shape [2, 4] do not fit the region [4]"
    )
    assert message(TypeError, lambda: x[True].set(0.0)).startswith("set_subtensor: a single bool")
    assert message(DTypeError, lambda: T.vector("i", "int8")[0].set(1.5)) == (
        "set_subtensor: float64 values do not go into int8 without loss"
    )


def test_messages_at_run_time() -> None:
    x, i = T.vector("x"), T.lvector("i")
    y = x[i]
    f = symc.function([x, i], y)
    assert f(np.arange(3.0), [0, -3]).tolist() == [0, 0]
    with pytest.raises(BadIndex) as caught:
        f(np.arange(10.0), [0, 12])
    assert str(caught.value) == (
        "index 12 is out of bounds for axis 0 with length 10\n"
        f"  given  x        float64[x.shape[0]]  {x.where}\n"
        f"  index  i        int64[i.shape[0]]    {i.where}\n"
        f"  at     {y.where}"
    )
    k = T.lscalar("k")
    with pytest.raises(BadIndex, match="index -4 is out of bounds for axis 0 with length 3"):
        symc.function([x, k], x[k])(np.arange(3.0), -4)
    with pytest.raises(BadIndex, match="index 0 is out of bounds for axis 0 with length 0"):
        symc.function([x], x[0])(np.zeros(0))
    with pytest.raises(ValueError, match="a slice's step cannot be zero"):
        symc.function([x, k], x[::k])(np.arange(3.0), 0)
    m = T.vector("m", "bool")
    with pytest.raises(BadIndex, match="a mask's axis 0 has length 2, and the axis it indexes 3"):
        symc.function([x, m], x[m])(np.arange(3.0), np.array([True, False]))
    v = T.vector("v")
    with pytest.raises(ShapeMismatch, match=r"values of shape \[3\] do not fit the region \[2\]"):
        symc.function([x, v], x[1:].set(v))(np.arange(3.0), np.arange(3.0))


def test_what_is_provable_is_not_checked() -> None:
    x, y = T.matrix("x"), T.vector("y", "uint8")
    static = T.tensor("float64", (256, 4), "s")
    rows = T.arange(x.shape[0])

    def requirements(node: Tensor) -> int:
        return len(list(node.op.require(node)))

    assert requirements(x[rows, T.zeros_like(rows)]) == 1  # the second axis may be empty
    assert requirements(x[rows]) == requirements(x[:, T.arange(x.shape[1])[::-1]]) == 0
    assert requirements(static[y]) == requirements(static[[0, 255, -256]]) == 0
    assert requirements(static[T.lvector("i") % 256]) == 0
    assert requirements(x[x[:, 0] > 0]) == requirements(x[x > 0]) == 0
    assert requirements(static[T.clip(T.lvector("i"), 0, 255)]) == 0
    assert requirements(x[T.lvector("i")]) == 1
