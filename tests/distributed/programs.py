"""Programs that the tests start on several processes; process 0 prints "agreed" after all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.distributed as D
import symc.tensor as T
from symc.errors import FunctionError, ProgramsDiffer, ShapeMismatch

RANK, SIZE = D.rank(), D.size()
PROGRAMS: dict[str, Callable[[], None]] = {}


def program(function: Callable[[], None]) -> Callable[[], None]:
    PROGRAMS[function.__name__] = function
    return function


def of(rank: int) -> Any:
    """The array that a process has."""
    return np.random.default_rng(rank).normal(size=3)


EVERY = [of(rank) for rank in range(SIZE)]
HALVES = [each.astype(np.float16) for each in EVERY]
X, M = T.vector("x"), T.matrix("m")


@program
def values() -> None:
    """All operations against NumPy, compiled and interpreted."""
    wanted: list[tuple[Any, Any]] = [
        (D.all_reduce(X), sum(EVERY)),
        (D.all_reduce(X, "mean"), np.mean(EVERY, axis=0)),
        (D.all_reduce(X, "max"), np.max(EVERY, axis=0)),
        (D.all_reduce(X, "min"), np.min(EVERY, axis=0)),
        (D.all_reduce(X > 0), np.sum(np.stack(EVERY) > 0, axis=0)),
        (D.all_reduce(X > 0, "max"), np.any(np.stack(EVERY) > 0, axis=0)),
        (D.all_reduce(T.cast(X, "float16")), sum(half.astype(np.float32) for half in HALVES)),
        (D.all_reduce(T.cast(10 * X, "int32")), sum((10 * e).astype(np.int32) for e in EVERY)),
        (D.all_reduce(X * 1j), sum(EVERY) * 1j),
        (D.all_gather(X), np.stack(EVERY)),
        (D.all_gather(X, axis=0), np.concatenate(EVERY)),
        (D.broadcast(X, root=SIZE - 1), EVERY[-1]),
        (D.shift(X), EVERY[RANK - 1]),
        (D.shift(X, -1), EVERY[(RANK + 1) % SIZE]),
        (D.shift(X, wrap=False), EVERY[RANK - 1] if RANK else np.zeros(3)),
        (D.reduce_scatter(D.all_gather(X)), SIZE * EVERY[RANK][None]),
        (symc.vmap(D.all_reduce)(T.outer(X, X)), sum(np.outer(e, e) for e in EVERY)),
        (symc.vmap(D.all_gather)(T.outer(X, X)),
         np.stack([np.outer(e, e) for e in EVERY], axis=1)),
    ]  # fmt: skip
    for mode in ("default", "python"):
        f = symc.function([X], [value for value, _ in wanted], mode=mode)
        for result, (value, right) in zip(f(of(RANK)), wanted, strict=True):
            np.testing.assert_allclose(result, right, rtol=1e-3 if value.dtype == "float16" else 0,
                                       atol=1e-14, err_msg=str(value))  # fmt: skip


@program
def gradients() -> None:
    """What flows back is the gradient of the sum of all processes' costs."""
    weight = symc.shared(np.cos(np.arange(3.0) + RANK), "weight")
    costs = {
        "sum": (D.all_reduce(X) * weight).sum(),
        "mean": (D.all_reduce(X**2, "mean") * weight).sum(),
        "max": (D.all_reduce(T.sin(X), "max") * weight).sum(),
        "gather": (D.all_gather(X) ** 2 * weight).sum(),
        "scatter": (D.reduce_scatter(D.all_gather(T.exp(X))) * weight).sum(),
        "broadcast": (D.broadcast(X**2, root=SIZE - 1) * weight).sum(),
        "shift": (D.shift(X**3, wrap=False) * weight).sum(),
    }
    for name, cost in costs.items():
        summed = symc.function([X], D.all_reduce(cost))
        gradient = symc.function([X], symc.grad(cost, X), on_unused_input="ignore")(of(RANK))
        for rank in range(SIZE):
            for place in range(3):
                step = np.zeros(3)
                step[place] = 1e-6 * (rank == RANK)
                slope = (summed(of(RANK) + step) - summed(of(RANK) - step)) / 2e-6
                if rank == RANK:
                    np.testing.assert_allclose(gradient[place], slope, atol=1e-7, err_msg=name)


@program
def training() -> None:
    """Unequal shards give what one process with all rows gives."""
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(10, 4)), rng.normal(size=10)
    cuts = [0, *(3 + k for k in range(SIZE - 1)), 10]
    mine = slice(cuts[RANK], cuts[RANK + 1])

    def model() -> tuple[Any, Any, Any, list[Any]]:
        y, start = T.vector("y"), np.random.default_rng(1)
        w1 = symc.shared(start.normal(size=(4, 5)), "w1")
        w2 = symc.shared(start.normal(size=5), "w2")
        return y, ((T.tanh(M @ w1) @ w2 - y) ** 2).mean(), None, [w1, w2]

    y, loss, _, params = model()
    step = D.data_parallel(loss, params, lambda g, p: symc.optim.adam(g, p, 0.05), inputs=[M, y],
                           bucket_bytes=64)  # fmt: skip
    z, one_loss, _, one_params = model()
    one = symc.function([M, z], one_loss, updates=symc.optim.adam(one_loss, one_params, 0.05))
    for _ in range(20):
        together, alone = step(points[mine], labels[mine]), one(points, labels)
        np.testing.assert_allclose(together, alone, rtol=1e-9)
    for ours, theirs in zip(params, one_params, strict=True):
        np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-6, atol=1e-9)


@program
def random() -> None:
    """Streams differ between processes, and parameters start as process 0's."""
    stream, w = T.random.RandomStream(3), symc.shared(of(RANK), "w")
    noise = stream.normal(size=(3,))
    seen = symc.function([], D.all_gather(noise))
    cost = ((X * w + noise) ** 2).sum()
    step = D.data_parallel(cost, [w], lambda g, p: symc.optim.sgd(g, p, 0.1), inputs=[X])
    assert (w.get_value() == EVERY[0]).all()
    step(of(RANK))
    rows = seen()
    assert SIZE == 1 or abs(rows[0] - rows[1]).min() > 0
    assert abs(symc.function([], D.all_gather(w))() - w.get_value()).max() == 0


@program
def loops() -> None:
    """In a scan of fixed length, and in a loop that ends for all at once."""
    last, _ = symc.scan(lambda v: D.all_reduce(v, "mean") + 1, outputs_info=[X], n_steps=4)
    np.testing.assert_allclose(symc.function([X], last[-1])(of(RANK)), np.mean(EVERY, axis=0) + 4)
    big = D.all_reduce(X.sum(), "max")
    chosen = symc.ifelse(big > 0, D.all_reduce(X), X)
    wanted = sum(EVERY) if max(e.sum() for e in EVERY) > 0 else of(RANK)
    np.testing.assert_allclose(symc.function([X], chosen)(of(RANK)), wanted)


@program
def refused() -> None:
    """Branches that processes may take differently, and programs that differ."""
    with pytest.raises(FunctionError, match="condition of this ifelse may differ"):
        symc.function([X], symc.ifelse(X.sum() > 0, D.all_reduce(X), X))
    steps = symc.scan(lambda v: D.all_reduce(v), outputs_info=[X], n_steps=X.shape[0])[0][-1]
    with pytest.raises(FunctionError, match="number of steps of this loop may differ"):
        symc.function([X], steps)
    if SIZE == 1:
        return
    f = symc.function([X], D.all_reduce(X) * (1.0 + RANK), name="scaled")
    with pytest.raises(ProgramsDiffer, match=r"different functions 'scaled'; (.|\n)*process 0:"):
        f(of(RANK))
    for mode in ("default", "python"):
        g = symc.function([X], D.all_reduce(X), mode=mode)
        with pytest.raises(ShapeMismatch, match=f"of 3 to {2 + SIZE} elements"):
            g(np.ones(3 + RANK))
        np.testing.assert_allclose(g(of(RANK)), sum(EVERY))


@program
def fails_on_one() -> None:
    """An exception on one process ends the job."""
    f = symc.function([X], D.all_reduce(X))
    f(of(RANK))
    if RANK == SIZE - 1:
        raise ArithmeticError("only here")
    f(of(RANK))


if __name__ == "__main__":
    for each in sys.argv[1:]:
        PROGRAMS[each]()
    if RANK == 0:
        print("agreed")
