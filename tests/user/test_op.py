"""`symc.op`: functions in Python as ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import CannotSave, DTypeError, GradientError, RankError, ShapeMismatch
from symc.graph.inputs import scalar_constant
from symc.graph.node import Tensor
from symc.graph.types import TensorType
from symc.saved.document import Document
from symc.user.spec import as_spec
from tests.ops.harness import check


@symc.op(inputs=["float64[n, m]", "float64[m]"], output="float64[n]")
def times(a: Any, x: Any) -> Any:
    return a @ x


@times.grad
def _(bar: Tensor, a: Tensor, x: Tensor) -> list[Tensor]:
    return [T.outer(bar, x), times(a.T, bar)]


@symc.op(inputs=["float64[n]"], output=["float64[n]", "float64[2*n + 1]", "int64"])
def several(x: Any) -> Any:
    return x**3, np.concatenate([x, x**2, [1.0]]), x.size


@several.grad
def _(bars: list[Tensor], x: Tensor) -> Tensor:
    n = x.shape[0]
    return 3 * x**2 * bars[0] + bars[1][:n] + 2 * x * bars[1][n : 2 * n]


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (3, 0), (0, 2)])
def test_values_and_derivatives(shape: tuple[int, int]) -> None:
    arrays = RNG.standard_normal(shape), RNG.standard_normal(shape[1])
    check(times, *arrays, oracle=np.matmul, compiled=shape == (2, 3), saves=False)


def test_several_results() -> None:
    def parts(x: Tensor) -> Any:
        cubes, longer, count = several(x)
        return [cubes, longer * 2, count]

    check(parts, RNG.standard_normal(3), saves=False)
    check(parts, np.zeros(0), compiled=False, saves=False)


def test_a_function_is_called_once_for_all_results() -> None:
    calls: list[int] = []

    @symc.op(inputs=["float64[n]"], output=["float64[n]", "float64[]"])
    def both(x: Any) -> Any:
        calls.append(len(x))
        return 2 * x, x.sum()

    x = T.vector("x")
    twice, total = both(x)
    f = symc.function([x], twice * total)
    assert f([1.0, 2.0]).tolist() == [6.0, 12.0]
    assert calls == [2]


def test_closures_that_look_the_same_are_different() -> None:
    def adding(k: int) -> Any:
        @symc.op(inputs=["float64[n]"], output="float64[n]")
        def add(x: Any) -> Any:
            return x + k

        return add

    x = T.vector("x")
    ops = [adding(k) for k in range(3)]
    f = symc.function([x], [op(x) for op in ops])
    assert [value.tolist() for value in f([1.0])] == [[1.0], [2.0], [3.0]]


def test_types_may_follow_from_the_tensors() -> None:
    def like(x: Tensor) -> Any:
        return x.sum(axis=0)

    @symc.op(output=like)
    def total(x: Any) -> Any:
        return x.sum(axis=0)

    for x, value in (
        (T.matrix("x"), np.ones((2, 3))),
        (T.tensor3("x", dtype="float32"), np.ones((2, 1, 2), np.float32)),
    ):
        for mode in ("compile", "python"):
            result = symc.function([x], total(x), mode=mode)(value)
            assert result.dtype == value.dtype
            np.testing.assert_array_equal(result, value.sum(axis=0))


@pytest.mark.parametrize("mode", ["python", "default", "debug"])
def test_types_as_text_without_inputs(mode: str) -> None:
    """A type without names follows from no input, and takes arguments of any shape."""

    @symc.op(output="float64[2]")
    def ends(x: Any) -> Any:
        return x.reshape(-1)[[0, -1]]

    @symc.op(output=["float64", "int64"])
    def all_of(*arrays: Any) -> Any:
        return sum(float(a.sum()) for a in arrays), len(arrays)

    x, y = T.matrix("x"), T.vector("y")
    f = symc.function([x, y], [ends(x), ends(y) + 1, *all_of(x, y)], mode=mode)
    found = f([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0, 7.0])
    assert [np.asarray(value).tolist() for value in found] == [[1, 4], [6, 8], 28, 2]
    with pytest.raises(ValueError, match="'n' is no length of theirs"):
        symc.op(output="float64[n]")(np.sort)


def test_python_numbers_are_results_and_arguments() -> None:
    @symc.op(inputs=["float32", "int64"], output=T.fscalar())
    def scaled(x: Any, k: Any) -> Any:
        return float(x) * int(k)

    assert scaled(1.5, 2).eval() == np.float32(3.0)
    k = T.tensor("int8", (), name="k")  # fits into int64
    assert symc.function([k], scaled(1.5, k))(4) == np.float32(6.0)


@symc.op(inputs=["float64[n]"], output="float64[n]", name="odd")
def odd(x: Any) -> Any:
    if x[0] == 1:
        return x[:-1]
    if x[0] == 2:
        return x.astype("float32")
    x[0] = 5.0
    return x


@pytest.mark.parametrize("mode", ["compile", "python"])
def test_wrong_results_are_reported(mode: str) -> None:
    x = T.vector("x")
    f = symc.function([x], odd(x), mode=mode)
    with pytest.raises(ShapeMismatch, match=r"odd gave an array of shape \(1,\), .*\(2,\)"):
        f([1.0, 0.0])
    with pytest.raises(DTypeError, match="odd gave float32, declared as float64"):
        f([2.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        f([3.0, 0.0])


def test_wrong_arguments_are_reported() -> None:
    a, x = T.matrix("a"), T.vector("x")
    with pytest.raises(TypeError, match="times takes 2 arguments, not 1"):
        times(a)
    with pytest.raises(RankError, match=r"argument 1 is declared as float64\[m\], not with 2 axes"):
        times(a, a)
    narrow = symc.op(lambda x: x, inputs=["int8[n]"], output="int8[n]")
    with pytest.raises(DTypeError, match=r"argument 0 is declared as int8\[n\]"):
        narrow(T.lvector())
    with pytest.raises(ShapeMismatch, match="axis 0 of argument 1 is 4, declared as 3"):
        times(T.tensor("float64", (2, 3)), T.tensor("float64", (4,)))
    f = symc.function([a, x], times(a, x), mode="compile")
    with pytest.raises(ShapeMismatch, match="axis 0 of argument 1 is 2, declared as 3"):
        f(np.ones((2, 3)), np.ones(2))


def test_a_gradient_must_be_given_and_fit() -> None:
    x = T.vector("x")
    with pytest.raises(GradientError, match="odd has no gradient; give it one"):
        symc.grad(odd(x).sum(), x)
    wrong = symc.op(lambda x: x, inputs=["float64[n]"], output="float64[n]", grad=lambda bar, x: [])
    with pytest.raises(GradientError, match="must be a tensor for each of the 1 arguments, not 0"):
        symc.grad(wrong(x).sum(), x)
    flat = symc.op(
        lambda x: x, inputs=["float64[n]"], output="float64[n]", grad=lambda bar, x: bar.sum()
    )
    with pytest.raises(RankError, match="has 0 axes, its argument 1"):
        symc.grad(flat(x).sum(), x)


def test_declarations_that_say_too_little() -> None:
    with pytest.raises(TypeError, match=r"symc\.op needs output="):
        symc.op(lambda x: x)
    with pytest.raises(ValueError, match="'k' is no length of theirs"):
        symc.op(lambda x: x, inputs=["float64[n]"], output="float64[k]")
    with pytest.raises(ValueError, match="':' is no length of theirs"):
        symc.op(lambda x: x, inputs=["float64[:]"], output=T.vector())
    for text, message in [
        ("float64[n", "a type is written like"), ("float64[n!]", "is no length"),
        ("float64[n/2]", "is no length"), ("float64[1.5]", "is no length"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            as_spec(text)


def test_declared_types_are_shown_as_they_are_written() -> None:
    for text in ("float64[n, (2 * m)]", "int8[]", "bool[:, 3]", "float32[((n + 1) // 2)]"):
        assert str(as_spec(text)) == text
    assert as_spec(TensorType(T.scalar().dtype, (3,))) == as_spec("float64[3]")
    assert as_spec(scalar_constant(1, T.iscalar().dtype)) == as_spec("int32")


def test_files_cannot_hold_a_function() -> None:
    a, x = T.matrix("a"), T.vector("x")
    with pytest.raises(CannotSave, match="times"):
        Document().add([times(a, x)])
