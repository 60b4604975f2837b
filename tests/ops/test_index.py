"""Indexing against NumPy: tables of indexes on several shapes, and random ones.

Every index is tried with numbers that are known when the graph is built, and with inputs for them.
One compiled function computes a whole table.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DTypeError, ShapeMismatch
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from tests.ops.harness import same
from tests.ops.index_cases import (
    KINDS,
    OUTSIDE,
    TABLE,
    agree,
    cases,
    compiled,
    message,
    only_new,
    random_index,
    single_bool,
    values_for,
    written,
)
from tests.ops.lowering_check import check_nodes, enforce

each_table = pytest.mark.parametrize(("shape", "indexes"), TABLE, ids=[str(s) for s, _ in TABLE])
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
@each_table
def test_reading(shape: tuple[int, ...], indexes: list[Any], kind: str) -> None:
    x, used, values = cases(shape, indexes, kind)
    agree([x[index] for index in used], values, [values[x][index] for index in indexes])


@each_kind
@each_table
def test_gradients(shape: tuple[int, ...], indexes: list[Any], kind: str) -> None:
    x, used, values = cases(shape, indexes, kind)
    outputs: list[Tensor] = []
    wanted: list[Any] = []
    for number, (index, concrete) in enumerate(zip(used, indexes, strict=True)):
        weight = values_for(values[x][concrete].shape, number)
        outputs.append(symc.grad((x[index] * T.constant(weight)).sum(), x))
        wanted.append(written(np.zeros(shape), concrete, weight, "inc"))
    agree(outputs, values, wanted)


@pytest.mark.parametrize("mode", ["set", "inc"])
@each_kind
@each_table
def test_writing(shape: tuple[int, ...], indexes: list[Any], kind: str, mode: str) -> None:
    writable = [index for index in indexes if not single_bool(index) and not only_new(index)]
    x, used, values = cases(shape, writable, kind)
    outputs: list[Tensor] = []
    wanted: list[Any] = []
    for number, (index, concrete) in enumerate(zip(used, writable, strict=True)):
        new = values_for(values[x][concrete].shape, number)
        for given in (new, 2.5):
            outputs.append(getattr(x[index], mode)(given))
            wanted.append(written(values[x], concrete, given, mode))
    agree(outputs, values, wanted)


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_random_indexes(seed: int, kind: str) -> None:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.choice([2, 3, 4, 5], rng.integers(1, 5)))
    indexes = [random_index(rng, shape) for _ in range(12)]
    x, used, values = cases(shape, indexes, kind)
    outputs: list[Tensor] = []
    wanted: list[Any] = []
    for number, (index, concrete) in enumerate(zip(used, indexes, strict=True)):
        part = x[index]
        weight = values_for(values[x][concrete].shape, number)
        outputs += [part, symc.grad((part * T.constant(weight)).sum(), x)]
        wanted += [values[x][concrete], written(np.zeros(shape), concrete, weight, "inc")]
        if not only_new(concrete):
            for mode in ("set", "inc"):
                outputs.append(getattr(part, mode)(weight))
                wanted.append(written(values[x], concrete, weight, mode))
    agree(outputs, values, wanted)


# --- lengths --------------------------------------------------------------------------------------


def test_lengths_that_mean_the_same_are_the_same() -> None:
    x = T.vector("x")
    n = x.shape[0]
    assert x[1:].type.shape == x[:-1].type.shape == x[: n - 1].type.shape
    assert x[1:].type.shape == T.arange(1, n).type.shape
    assert x[1:-1].type.shape == x[2:].type.shape == x[1:][:-1].type.shape == x[1:][1:].type.shape
    assert x[-3:].type.shape == x[:3].type.shape == x[:-4:-1].type.shape
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
        for results in compiled(parts, values):
            for value, expected in zip(results, wanted, strict=True):
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


# --- messages -------------------------------------------------------------------------------------


def test_messages_of_the_graph() -> None:
    x, m = T.tensor("float64", (3, 4), "x"), T.matrix("m")
    outside = "is out of bounds for axis"
    assert message(BadIndex, lambda: x[3]) == f"index 3 {outside} 0 with length 3"
    assert message(BadIndex, lambda: x[:, -5]) == f"index -5 {outside} 1 with length 4"
    assert message(BadIndex, lambda: x[:, [0, 9]]) == f"index 9 {outside} 1 with length 4"
    assert message(BadIndex, lambda: x[[0, -4], 1]) == f"index -4 {outside} 0 with length 3"
    assert message(BadIndex, lambda: m[0, 0, 0]) == "too many indexes: 3 for 2 axes"
    assert message(BadIndex, lambda: m[..., ...]) == "an index can have only one ellipsis (...)"
    assert message(BadIndex, lambda: x[[True, False]]) == (
        "a mask's axis 0 has length 2, and the axis it indexes 3"
    )
    assert message(DTypeError, lambda: m[operator.eq(m, 0)]).startswith(
        "False is no index; for a mask,"
    )
    expected = "an index must be integers, bools, slices, None or ..., not float64"
    assert message(DTypeError, lambda: m[1.0]) == expected
    assert message(DTypeError, lambda: m[T.vector("v")]) == expected
    assert message(DTypeError, lambda: m[: T.vector("v")]).startswith(
        "a slice's bound must be an integer scalar, not float64"
    )
    assert message(DTypeError, lambda: m["a":]).startswith(
        "a slice's bound must be an integer scalar, not 'a'"
    )
    assert message(ValueError, lambda: m[::0]) == "a slice's step cannot be zero"
    assert message(ShapeMismatch, lambda: x[[0, 1], [0, 1, 2]]).startswith("getitem: axis 0 is 2 ")


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


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_unsigned_indexes_beyond_int64_are_out_of_bounds(mode: str) -> None:
    """They became negative ones, which count from the end."""
    x, i, at = T.vector("x"), T.tensor("uint64", ()), T.tensor("uint64", (None,))
    many = [x[at], T.take(x, at), x[at].set(0.0), T.take(x, at[:1])]
    values = np.arange(3.0)
    functions: list[tuple[Any, tuple[int, ...]]]
    functions = [(symc.function([x, at], each, mode=mode), (1,)) for each in many]
    functions.append((symc.function([x, i], x[i], mode=mode), ()))
    for f, shape in functions:
        f(values, np.full(shape, 2, "uint64"))
        for index in (2**64 - 1, 2**63, 2**64 - 3):
            with pytest.raises(BadIndex):
                f(values, np.full(shape, index, "uint64"))
    for constant in (np.array([2**64 - 1], "uint64"), np.uint64(2**64 - 1)):
        with pytest.raises(BadIndex):
            symc.function([x], x[constant], mode=mode)(values)
