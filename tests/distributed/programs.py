"""Programs that the tests start on several processes; process 0 prints "agreed" after all."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.distributed as D
import symc.tensor as T
from symc.codegen.targets.mpi import COMMUNICATORS
from symc.distributed.pending import sum_meanwhile
from symc.errors import BadFile, FunctionError, ProgramsDiffer, ShapeMismatch, WrongProcesses

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
        (D.shift(X, SIZE + 1), EVERY[RANK - 1]),
        (D.all_reduce(T.as_tensor(2.0)) * X, 2 * SIZE * of(RANK)),
        (sum_meanwhile(X, D.world()) * sum_meanwhile(2 * X, D.world()), 2 * sum(EVERY) ** 2),
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
        "batched": (symc.vmap(D.shift)(T.outer(X, X)) * weight).sum(),
    }
    summed = symc.function([X], D.all_reduce(T.stack(list(costs.values()))))
    gradient = symc.function([X], [symc.grad(cost, X) for cost in costs.values()])(of(RANK))
    curvature = symc.function([X], symc.hessian(D.all_reduce((X**3).sum()), X))(of(RANK))
    np.testing.assert_allclose(curvature, np.diag(6 * SIZE * of(RANK)), rtol=1e-12)
    for rank in range(SIZE):
        for place in range(3):
            step = np.zeros(3)
            step[place] = 1e-6 * (rank == RANK)
            slopes = (summed(of(RANK) + step) - summed(of(RANK) - step)) / 2e-6
            if rank == RANK:
                for name, found, slope in zip(costs, gradient, slopes, strict=True):
                    np.testing.assert_allclose(found[place], slope, atol=1e-7, err_msg=name)


ROWS = np.random.default_rng(0)
POINTS, LABELS = ROWS.normal(size=(10, 4)), ROWS.normal(size=10)
CUTS = [0, *(3 + k for k in range(SIZE - 1)), 10]
MINE = slice(CUTS[RANK], CUTS[RANK + 1])


def model(**options: Any) -> tuple[list[Any], Any]:
    """Parameters of a network, and its step on the rows of all processes."""
    y, start = T.vector("y"), np.random.default_rng(1)
    params = [symc.shared(start.normal(size=(4, 5)), "w1"), symc.shared(start.normal(size=5), "w2")]
    loss = ((T.tanh(M @ params[0]) @ params[1] - y) ** 2).mean()
    if options.pop("alone", False):
        updates = symc.optim.adam(loss, params, 0.05)
        return params, symc.function([M, y], loss, updates=updates, **options)
    step = D.data_parallel(loss, params, adam, inputs=[M, y], **options)
    return params, step


def adam(gradients: Any, params: Any) -> Any:
    return symc.optim.adam(gradients, params, 0.05)


@program
def training() -> None:
    """Unequal shards give what one process with all rows gives, sharded memory or not."""
    one_params, one = model(alone=True)
    many = [model(bucket_bytes=64), model(shard=True), model(shard=True, bucket_bytes=64)]
    for _ in range(20):
        alone = one(POINTS, LABELS)
        for _, step in many:
            np.testing.assert_allclose(step(POINTS[MINE], LABELS[MINE]), alone, rtol=1e-9)
    for params, step in many:
        for ours, theirs in zip(params, one_params, strict=True):
            np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-6, atol=1e-9)
        if step is not many[0][1]:
            kept = sum(each.get_value().size for each in step.shared if "mean" in each.name)
            assert kept <= -(-20 // SIZE) + -(-5 // SIZE)


@program
def without_rows() -> None:
    """Processes without rows add nothing: their means of no rows made the step of all NaN."""
    one_params, one = model(alone=True)
    running = symc.shared(np.zeros(4), "running")
    params, step = model(updates=[(running, M.mean(axis=0))])
    mine = slice(0, None if RANK == 0 else 0)
    for _ in range(3):
        alone = one(POINTS, LABELS)
        np.testing.assert_allclose(step(POINTS[mine], LABELS[mine]), alone, rtol=1e-9)
    for ours, theirs in zip(params, one_params, strict=True):
        np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(running.get_value(), POINTS.mean(axis=0), rtol=1e-9)


@program
def meanwhile() -> None:
    """Buckets of gradients travel while those of earlier layers are computed."""
    params = [symc.shared(np.eye(3) + k, f"w{k}") for k in range(3)]
    hidden = M
    for each in params:
        hidden = T.tanh(hidden @ each)
    step = D.data_parallel(
        hidden.mean(), params, lambda g, p: symc.optim.sgd(g, p, 0.1), inputs=[M], bucket_bytes=72
    )
    step(np.ones((2, 3)))
    lines = step.explain().split("\n")
    begun, ended = ([k for k, line in enumerate(lines) if f"  {name}_sum(" in line]
                    for name in ("begin", "end"))  # fmt: skip
    products = [k for k, line in enumerate(lines) if " @ " in line and "_sum" not in line]
    assert len(begun) == len(ended) == 3
    assert begun[0] < products[-1]
    assert max(begun) < min(ended)


@program
def normalised() -> None:
    """Running means are those of all rows; means over all rows in the loss are differentiated."""
    start = np.random.default_rng(2).normal(size=4)
    running, w = symc.shared(np.zeros(4), "running"), symc.shared(start, "w")
    rows = T.cast(M.shape[0], "float64")

    def cost(count: Any, mean: Any) -> Any:
        return ((((M - mean) * w) ** 3).sum(axis=1)).sum() / count

    mean = D.all_reduce(M.sum(axis=0)) / D.all_reduce(rows)
    step = D.data_parallel(
        cost(rows, mean), [w], lambda g, p: symc.optim.sgd(g, p, 0.1), inputs=[M],
        updates=[(running, 0.9 * running + 0.1 * M.mean(axis=0))],
    )  # fmt: skip
    step(POINTS[MINE])
    alone = cost(rows, M.mean(axis=0))
    w.set_value(start)
    wanted = symc.function([M], w - 0.1 * symc.grad(alone, w))(POINTS)
    w.set_value(start)
    step(POINTS[MINE])
    np.testing.assert_allclose(w.get_value(), wanted, rtol=1e-9)
    np.testing.assert_allclose(running.get_value(), 0.19 * POINTS.mean(axis=0), rtol=1e-9)


@program
def elementwise_optimisers() -> None:
    """A norm of a part is refused; that of all parts is right."""
    params, _ = model(mode="python")
    w = params[1]
    cost = (T.exp(w) * X[0]).sum()

    def clipped(gradients: Any, params: Any, total: Any = lambda x: x) -> Any:
        norm = T.sqrt(total(sum((g**2).sum() for g in gradients)))
        return [(p, p - g / norm) for g, p in zip(gradients, params, strict=True)]

    with pytest.raises(FunctionError, match=r"combines elements(.|\n)*programs.py"):
        D.data_parallel(cost, [w], clipped, inputs=[X], shard=True)
    before = w.get_value()
    step = D.data_parallel(
        cost, [w], lambda g, p: clipped(g, p, D.all_reduce), inputs=[X], shard=True, mode="python"
    )
    step(np.ones(1))
    wanted = before - np.exp(before) / np.linalg.norm(np.exp(before))
    np.testing.assert_allclose(w.get_value(), wanted, rtol=1e-9)


@program
def goes_on() -> None:
    """A job that goes on where another one ended, as if it had not ended."""
    folder, until = Path(os.environ["FOLDER"]), int(os.environ["UNTIL"])
    params, step = model(shard=True, mode="python")
    run = D.checkpoint(step, folder / "run.symc", every=3)
    print(f"{RANK} begins at {run.done}", flush=True)
    for number in run.steps(12):
        if number == until and RANK == SIZE - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        step(POINTS[MINE], LABELS[MINE])
    _, one = model(alone=True, mode="python")
    for _ in range(12):
        one(POINTS, LABELS)
    for ours, theirs in zip(params, one.shared, strict=False):
        np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-6, atol=1e-9)


@program
def streams_go_on() -> None:
    """Random numbers after a restart are those that would have come."""
    place = Path(os.environ["FOLDER"]) / "streams.symc"

    def made() -> tuple[Any, Any]:
        w = symc.shared(np.zeros(3), "w")
        noise = T.random.RandomStream(3).normal(size=(3,))
        cost = (w * noise * X[0]).sum()
        return w, D.data_parallel(
            cost, [w], lambda g, p: symc.optim.sgd(g, p, 1.0), inputs=[X], mode="python"
        )

    w, step = made()
    run = D.checkpoint(step, place, every=2)
    for _ in run.steps(5):
        step(np.ones(1))
    place.unlink() if RANK == 0 else None
    again, other = made()
    for _ in D.checkpoint(other, place, every=2).steps(2):
        other(np.ones(1))
    third, rest = made()
    for _ in D.checkpoint(rest, place, every=2).steps(5):
        rest(np.ones(1))
    assert (third.get_value() == w.get_value()).all()
    assert not (again.get_value() == w.get_value()).all()
    _, wrong = model(mode="python")
    with pytest.raises(BadFile, match="another step"):
        D.checkpoint(wrong, place)


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
    with pytest.raises(
        ProgramsDiffer,
        match=r"different functions 'scaled'; (.|\n)*process 0: .* \* 1\.0  float64\[.*programs",
    ):
        f(of(RANK))
    for mode in ("default", "python"):
        g = symc.function([X], D.all_reduce(X), mode=mode)
        with pytest.raises(ShapeMismatch, match=f"of 3 to {2 + SIZE} elements"):
            g(np.ones(3 + RANK))
        np.testing.assert_allclose(g(of(RANK)), sum(EVERY))


@program
def checked() -> None:
    """Debug mode runs such functions, too; what is no group is said to be none."""
    f = symc.function([X], D.all_reduce(X) * D.shift(X), mode="debug")
    np.testing.assert_allclose(f(of(RANK)), sum(EVERY) * EVERY[RANK - 1])
    with pytest.raises(TypeError, match="is no group of processes"):
        D.all_reduce(X, group=D.world().communicator)


@program
def saved() -> None:
    """Functions with operations of all kinds come back from files and pickles, updates too."""
    place = Path(os.environ["FOLDER"]) / f"saved{RANK}.symc"
    results = [
        D.all_reduce(X, "max"), D.all_gather(X), D.broadcast(X, root=SIZE - 1), D.shift(X, 2),
        symc.grad(D.broadcast(X).sum() * D.reduce_scatter(T.tile(X, SIZE)).sum(), X),
    ]  # fmt: skip
    f = symc.function([X], results, name="exchanging")
    symc.save(f, place)
    for again in (symc.load(place), pickle.loads(pickle.dumps(f))):
        for new, old in zip(again(of(RANK)), f(of(RANK)), strict=True):
            np.testing.assert_array_equal(new, old)
    _, step = model(bucket_bytes=16)
    symc.save(step, place)
    loaded = symc.load(place)
    rows = POINTS[MINE], LABELS[MINE]
    assert step(*rows) == loaded(*rows)
    assert step(*rows) == loaded(*rows)
    halves = D.group(D.world().communicator.Split(RANK % 2))
    symc.save(symc.function([X], D.all_reduce(X, group=halves)), place)
    symc.load(place)
    COMMUNICATORS.pop()
    with pytest.raises(WrongProcesses, match="group 1 of processes, which is not there"):
        symc.load(place)


@program
def fails_on_one() -> None:
    """An exception on one process ends the job."""
    f = symc.function([X], D.all_reduce(X))
    f(of(RANK))
    if RANK == SIZE - 1:
        raise ArithmeticError("only here")
    f(of(RANK))


@program
def once_compiled() -> None:
    f = symc.function([X], D.all_reduce(T.cosh(X)), name="cold")
    np.testing.assert_allclose(f(of(RANK)), sum(np.cosh(each) for each in EVERY))


if __name__ == "__main__":
    for each in sys.argv[1:]:
        PROGRAMS[each]()
    if RANK == 0:
        print("agreed")
