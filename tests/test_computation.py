"""Graphs made ready for the interpreter: rows in blocks, conditions, memory of values."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch
from symc.graph import rows as rows_module
from symc.graph.computation import Computation
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.rows import RowBlocks
from symc.tensor.checked import Checked


def graphs() -> dict[str, tuple[list[Tensor], list[Tensor], list[Any]]]:
    """Inputs, outputs and values."""
    rng = np.random.default_rng(0)
    x, y, v, c = T.dmatrix("x"), T.dmatrix("y"), T.dvector("v"), T.dvector("c")
    column = T.expand_dims(c, 1)
    given = [rng.normal(size=(37, 11)), rng.normal(size=(37, 11)), rng.normal(size=11)]
    normed = (x - x.mean(axis=1, keepdims=True)) / T.sqrt(x.var(axis=1, keepdims=True) + 1)
    of_column = rng.normal(size=37)
    return {
        "elementwise": ([x, y, v], [T.exp(x * v) + y, x * v, (x - y).sum()], given),
        "layer norm": ([x, v], [T.erf(normed * v)], [given[0], given[2]]),
        "softmax": ([x, v], [T.softmax(x, axis=1) + v, T.softmax(x, axis=0)], given[::2]),
        "columns": ([x, c], [x * column, (x + column).max(axis=1) * c], [given[0], of_column]),
        "whole and cut": ([x], [x * x.sum(axis=0), x @ x.T, x.T * 2], [given[0]]),
        "square": ([c], [T.expand_dims(c, 1) * c, c * 2], [of_column]),
        "types": ([x], [x.astype("float32") * np.float32(3), T.where(x > 0, x, 0)], [given[0]]),
        "vectors": ([c], [T.tanh(c) * c + 1, -c, c], [of_column]),
        "no rows": ([x, y, v], [T.exp(x * v) + y], [a[:0] for a in given[:2]] + [given[2]]),
        "one row": ([x, y, v], [T.exp(x * v) + y], [a[:1] for a in given[:2]] + [given[2]]),
    }


@pytest.mark.parametrize("name", graphs())
@pytest.mark.parametrize("block", [64, 1000, 10**6])
def test_blocks_of_rows_give_what_single_nodes_give(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the size of the blocks is."""
    monkeypatch.setattr(rows_module, "LARGE", 1)
    monkeypatch.setattr(rows_module, "BLOCK", block)
    inputs, outputs, values = graphs()[name]
    f = symc.function(inputs, outputs, mode="python")
    want = evaluate(outputs, dict(zip(inputs, values, strict=True)))
    for got, expected in zip(f(*values), want, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13)


def test_what_needs_all_rows_stands_between_groups() -> None:
    """A sum over rows, and what subtracts it again."""
    x = T.dmatrix("x")
    made = Computation([x], [T.exp(T.exp(x) - T.exp(x).sum(axis=0))], by_rows=True)
    kinds = [type(step) is RowBlocks for step in made.program]
    assert kinds == [True, False, True]


def test_results_are_nobody_elses() -> None:
    """Neither arguments, nor views of each other, nor shared variables' values."""
    x, w = T.dvector("x"), symc.shared(np.ones(3), name="w")
    outputs = [x, w * 1, w, x + 1, (x + 1)[::-1], T.abs(x), T.abs(x), x.reshape((3, 1))]
    f = symc.function([x], outputs, mode="python")
    given = np.arange(3.0)
    results = [given, w.get_value(borrow=True), *f(given)]
    for number, array in enumerate(results):
        assert not any(np.shares_memory(array, other) for other in results[:number])
        assert array.flags.writeable


def test_values_are_freed_at_their_last_use() -> None:
    """While later nodes are computed."""
    refs: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def kept(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        result = a + 1
        refs.append(weakref.ref(result))
        return result

    def counted(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        gc.collect()
        alive.append(sum(ref() is not None for ref in refs))
        return a + 1

    x = T.dvector("x")
    first = symc.op(kept, inputs=["float64[n]"], output="float64[n]")
    second = symc.op(counted, inputs=["float64[n]"], output="float64[n]")
    f = symc.function([x], second(T.exp(T.exp(first(x)))), mode="python")
    f(np.zeros(3))
    assert alive == [0]


def test_a_condition_is_checked_before_what_it_guards() -> None:
    """Otherwise the error would be NumPy's."""
    x, y, i = T.dvector("x"), T.dvector("y"), T.lvector("i")
    f = symc.function([x, y, i], (x + y)[i] * 2, mode="python")
    with pytest.raises(ShapeMismatch, match="3 on the left and 4 on the right"):
        f(np.ones(3), np.ones(4), np.array([0]))
    with pytest.raises(IndexError, match="index"):
        f(np.ones(3), np.ones(3), np.array([3]))
    assert f(np.ones(3), np.ones(3), np.array([2])).tolist() == [4.0]


def test_lengths_that_change_between_calls() -> None:
    """What is kept of a call's lengths is not taken for those of the next one."""
    x, w = T.dmatrix("x"), symc.shared(np.ones((2, 4)), name="w", shape=(None, 4))
    f = symc.function([x], [x * 2, w.sum(axis=0)], mode="python")
    for rows in (2, 5, 0, 2):
        w.set_value(np.ones((rows, 4)))
        double, total = f(np.ones((rows, 3)))
        assert double.shape == (rows, 3)
        assert total.tolist() == [rows] * 4


def test_numbers_are_not_cut_into_rows() -> None:
    """A sum over no axes of a number, computed for its rows, ended in an IndexError."""
    x, y = T.dscalar("x"), T.dvector("y")
    value = T.minimum(y, T.tanh(T.logsumexp(x, axis=None, keepdims=True)))
    assert symc.function([x, y], value, mode="python")(0.0, [1.0, -1.0]).tolist() == [0.0, -1.0]


def test_results_of_the_interpreter_are_nobody_elses() -> None:
    """Constants that a branch or loop passes on, views and arguments are copied; others are new."""
    x, n = T.vector("x"), T.lscalar("n")
    kept = T.constant(np.arange(3.0))
    outputs = [
        symc.ifelse(n > 0, kept, x), symc.fori_loop(0, n, lambda i, s: s * 2, kept),
        kept, x, x[::-1], T.specify_shape(x, (3,)), T.fft.rfft(x), T.sort(x), x + 1, (x + 1)[:2],
    ]  # fmt: skip
    f = symc.function([x, n], outputs, mode="python")
    given = np.array([3.0, 1.0, 2.0])
    for count in (0, 1):
        want = [np.array(value) for value in f(given, count)]
        results = f(given, count)
        assert all(value.flags.writeable and value.flags.owndata for value in results)
        for value in results:
            value[...] = -7
        assert given.tolist() == [3.0, 1.0, 2.0]
        for got, expected in zip(f(given, count), want, strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("mode", ["python", "default"])
def test_results_that_are_a_shared_variable_are_copies(mode: str) -> None:
    """Ops that give their argument, as checks do, gave the array of the variable away."""
    s = symc.shared(np.arange(3.0), name="s")
    checked = Checked("it must not be negative")(s, T.ge(s.sum(), 0))
    outputs = [symc.disconnected_grad(s), T.specify_shape(s, (3,)), checked]
    for value in symc.function([], outputs, mode=mode)():
        value[...] = -7
    assert s.get_value().tolist() == [0, 1, 2]
