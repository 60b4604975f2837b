"""Functions in pools of processes: made once a process, compiled once a machine."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import FunctionError
from symc.saved import frozen as module

x = T.vector("x")


def test_a_pickle_without_state_is_read_once() -> None:
    text = pickle.dumps((x, symc.function([x], T.exp(x) + 1, mode="python")))
    symbol, f = pickle.loads(text)
    assert symbol is x
    assert f is pickle.loads(text)[1]
    np.testing.assert_array_equal(f([0.0]), [2.0])


def test_an_input_of_another_name_is_another() -> None:
    named = T.vector("before")
    text = pickle.dumps(named)
    named.name = "after"
    assert pickle.loads(text).name == "before"
    assert pickle.loads(pickle.dumps(named)) is named


def test_pickles_with_state_are_independent() -> None:
    w = symc.shared(1.0, "w")
    f = symc.function([x], x * w, mode="python")
    first, second = (pickle.loads(pickle.dumps(f)) for _ in range(2))
    first.shared[0].set_value(5.0)
    assert f([1.0]) == second([1.0]) == 1.0
    assert copy.deepcopy(f).shared[0] is not w


def test_frozen_functions_keep_their_values_and_are_read_once() -> None:
    w = symc.shared(2.0, "w")
    f = symc.frozen(symc.function([x], x * w, mode="python"))
    w.set_value(3.0)
    assert pickle.loads(pickle.dumps(f)) is f
    np.testing.assert_array_equal(f([1.0]), [2.0])
    np.testing.assert_array_equal(f(x=[1.0]), [2.0])
    changes = symc.function([], w, updates=[(w, w + 1)], mode="python")
    with pytest.raises(FunctionError, match=r"updates shared variables(.|\n)*test_pools.py"):
        symc.frozen(changes)
    with pytest.raises(TypeError, match="needs a function"):
        symc.frozen(len)  # type: ignore[arg-type]


def test_a_process_keeps_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_made", {})
    for number in range(module.MOST + 3):
        assert module.once(number, lambda: object()) is module.once(number, lambda: None)
    assert len(vars(module)["_made"]) == module.MOST


def told(f: Any, value: float) -> tuple[float, tuple[int, int]]:
    """A task: the result, and which object of which process computed it."""
    return float(f([value])[0]), (os.getpid(), id(f))


def test_a_pool_compiles_once_and_reads_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read the function cost 17 ms for each task, however short."""
    monkeypatch.setenv("SYMC_CACHE_DIR", str(tmp_path))  # of the processes: nothing is in it
    compiled = symc.frozen(symc.function([x], T.tanh(x) * symc.shared(2.0) + 1, name="pooled"))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        values = [k / 8 for k in range(8)]
        found = list(pool.map(told, [compiled] * 8, values))
    np.testing.assert_allclose([value for value, _ in found], 2 * np.tanh(values) + 1)
    assert len({where for _, where in found}) == len({pid for _, (pid, _) in found})
    assert len(list(tmp_path.rglob("function.txt"))) == 1
