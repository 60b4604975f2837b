"""`symc.dask.map_blocks` against the function of whole arrays."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadArgument, DTypeError, FunctionError, RankError, ShapeMismatch

da = pytest.importorskip("dask.array")

X = np.arange(24.0).reshape(6, 4) / 7
x, y, t = T.matrix("x"), T.vector("y"), T.tensor("float64", (None, 2), "t")


def blocks(*chunks: Any) -> Any:
    return da.from_array(X, chunks=chunks)


ALIGNED: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "elements": (T.sin(x), [blocks(2, 3)], [X]),
    "rows": (x.sum(axis=1), [blocks((1, 2, 3), 4)], [X]),
    "columns": (x.sum(axis=0), [blocks(6, (1, 3))], [X]),
    "turned": (x.T[:, :, None], [blocks(2, 2)], [X]),
    "one more column": (T.concatenate([x, x[:, :1]], axis=1), [blocks(2, 4)], [X]),
    "a new axis": (T.stack([x, 2 * x]), [blocks(2, 2)], [X]),
    "whole": (x * y, [blocks(2, 4), [1.0, 2.0, 3.0, 4.0]], [X, [1.0, 2.0, 3.0, 4.0]]),
    "product": (x @ y, [blocks(2, 4), da.from_array(X[0], chunks=4)], [X, X[0]]),
    "other blocks": (x * y, [blocks(2, 3), da.from_array(X[0], chunks=2)], [X, X[0]]),
    "declared": (t + 1, [da.from_array(X[:, :2], chunks=(4, 2))], [X[:, :2]]),
    "half as many": (x[::2], [blocks(2, 2)], [X]),
}


@pytest.mark.parametrize("name", ALIGNED)
def test_blocks_give_what_the_whole_gives(name: str) -> None:
    output, given, whole = ALIGNED[name]
    inputs = [x, y] if len(given) == 2 else [t] if name == "declared" else [x]
    f = symc.function(inputs, output, mode="python")
    result, wanted = symc.dask.map_blocks(f, *given), f(*whole)
    assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    computed = result.compute(scheduler="sync")
    np.testing.assert_array_equal(computed, wanted)
    for index in np.ndindex(*result.numblocks):  # lengths are right block by block
        assert result.blocks[index].compute(scheduler="sync").shape == result.blocks[index].shape


def test_several_results_come_from_one_call_each() -> None:
    f = symc.function([x], {"twice": 2 * x, "sums": T.cast(x.sum(axis=1), "float32")})
    found = symc.dask.map_blocks(f, blocks(2, 4))
    assert found["sums"].dtype == np.float32
    both = da.compute(*found.values(), scheduler="threads")
    np.testing.assert_array_equal(both[0], 2 * X)
    np.testing.assert_allclose(both[1], X.sum(axis=1), rtol=1e-6)
    listed = symc.dask.map_blocks(symc.function([x], [x, -x]), blocks(3, 4))
    assert [each.numblocks for each in listed] == [(2, 1), (2, 1)]


def test_shared_variables_keep_their_values_and_lengths_may_be_unknown() -> None:
    w = symc.shared(2.0, "w")
    positive = da.from_array(X.ravel(), chunks=5)
    positive = positive[positive > 1]
    scaled = symc.dask.map_blocks(symc.function([y], w * y), positive)
    w.set_value(100.0)
    assert np.isnan(scaled.shape[0])
    np.testing.assert_array_equal(scaled.compute(scheduler="sync"), 2 * X[X > 1])


def of(f: Callable[[], Any], *given: Any) -> Callable[[], Any]:
    return lambda: symc.dask.map_blocks(f(), *given)


state = symc.shared(0.0, "state")
REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (of(lambda: symc.function([x], x.sum(axis=1)), blocks(2, 2)),
     ShapeMismatch, r"part of axis 1 of x(.|\n)*test_map_blocks.py(.|\n)*rechunk\(\{1: -1\}\)"),
    (of(lambda: symc.function([x], x.ravel()), blocks(2, 2)), ShapeMismatch, "several axes"),
    (of(lambda: symc.function([y], T.outer(y, y)), blocks(2, 4)[:, 0]), ShapeMismatch, "twice"),
    (of(lambda: symc.function([x, y], x * y), blocks(2, 4), np.ones(3)),
     ShapeMismatch, "argument 1 has 3 elements, and axis 1 of argument 0 has 4"),
    (of(lambda: symc.function([t], t), blocks(2, 4)), ShapeMismatch, "was declared 2"),
    (of(lambda: symc.function([y], y), blocks(2, 4)), RankError, "of 2 axes, not 1"),
    (of(lambda: symc.function([y], y), blocks(2, 4)[0] * 1j), DTypeError, "imaginary"),
    (of(lambda: symc.function([y], y), X[0]), BadArgument, "none of the arguments"),
    (of(lambda: symc.function([y], y), blocks(2, 4)[0], 1), BadArgument, "takes 1 argument"),
    (of(lambda: symc.function([x, y], x * y), blocks(2, 4)), BadArgument, "missing input 1"),
    (of(lambda: symc.function([y], y, updates=[(state, state + 1)]), blocks(2, 4)[0]),
     FunctionError, "updates shared variables(.|\n)*state"),
    (lambda: symc.function([x], x)(blocks(2, 4)), BadArgument, "is a dask.Array(.|\n)*map_blocks"),
    (lambda: symc.function([x], x)([blocks(2, 4)[0]]), BadArgument, "holds a dask.Array"),
    (lambda: T.exp(blocks(2, 4)), DTypeError, r"map_blocks\(f, x\)"),
    (lambda: symc.shared(X).set_value(blocks(2, 4)), DTypeError, "map_blocks"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_cannot_be_done_by_blocks_is_refused(number: int) -> None:
    attempt, error, message = REFUSED[number]
    with pytest.raises(error, match=message):
        attempt()


def killed_once(block: Any, folder: str) -> Any:
    """The block; the first process that comes here is killed."""
    try:
        os.mkdir(f"{folder}/killed")  # noqa: PTH102 - who makes it first is known
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.filterwarnings("ignore")  # Dask's, of ports and of workers that have gone
def test_a_killed_worker_is_replaced(tmp_path: Any) -> None:
    """Dask computes its tasks again in a new process, which makes the function again."""
    distributed = pytest.importorskip("distributed")
    f = symc.frozen(symc.function([x], T.exp(x) * symc.shared(3.0), name="survives"))
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, worker_dashboard_address=None
    )
    with cluster, distributed.Client(cluster):
        before = set(cluster.scheduler.workers)
        given = blocks(2, 4).map_blocks(killed_once, str(tmp_path), meta=X[:0, :0])
        result = symc.dask.map_blocks(f.function, given).compute()
        assert set(cluster.scheduler.workers) != before
    np.testing.assert_allclose(result, 3 * np.exp(X))


def test_frozen_functions_are_functions() -> None:
    """They were refused; their variables keep the values of when they were frozen."""
    w = symc.shared(2.0, "w")
    f = symc.frozen(symc.function([x], x * w))
    w.set_value(5.0)
    found = symc.dask.map_blocks(f, blocks(2, 2)).compute(scheduler="sync")
    np.testing.assert_array_equal(found, X * 2)
