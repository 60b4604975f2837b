"""The rows of `gpu.py`: computation, check against NumPy, and goal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from gpu_measure import MIB, Line, Setting, bandwidth, check, compare, in_turn, spread, wall
from gpu_models import MODELS, symc_step
from gpu_peers import compiled_by_torch, steps, torch_matmul
from gpu_peers import layer_norm as torch_layer_norm
from gpu_peers import softmax as torch_softmax

import symc
import symc.cuda
import symc.tensor as T

Rows = Iterator[Line]


def elementwise(setting: Setting) -> Rows:
    """``2 x + y^2 / 2`` and ``tanh(3 x + y) exp(-y^2)`` on arrays of 256 MiB."""
    count = setting.elements(64 * MIB)
    x, y = T.fvector("x"), T.fvector("y")
    sets = [(setting.array(count, seed=k), setting.array(count, seed=k + 5)) for k in range(2)]
    a, b = (array.to_numpy().astype(float) for array in sets[0])
    cases = [
        ("elementwise", x * 2 + T.sqr(y) * np.float32(0.5), a * 2 + b * b / 2),
        ("elementwise, tanh and exp", T.tanh(x * 3 + y) * T.exp(-T.sqr(y)),
         np.tanh(a * 3 + b) * np.exp(-b * b)),
    ]  # fmt: skip
    for name, output, wanted in cases:
        f = setting.compiled([x, y], output)
        setting.poison(4 * count)
        check(name, f(*sets[0]).to_numpy(), wanted)
        yield bandwidth(setting, name, f, sets, 3 * 4 * count, 0.95)[0]


def reductions(setting: Setting) -> Rows:
    """Sums of everything, of rows and of columns of 256 MiB."""
    rows, columns = (64, 64) if setting.tiny else (16384, 4096)
    x = T.fmatrix("x")
    sets = [(setting.array(rows, columns, seed=k),) for k in range(2)]
    plain = sets[0][0].to_numpy().astype(float)
    cases = [
        ("full sum", x.sum(), plain.sum(), 0.95), ("row sums", x.sum(1), plain.sum(1), 0.90),
        ("column sums", x.sum(0), plain.sum(0), 0.85),
    ]  # fmt: skip
    for name, output, wanted, goal in cases:
        f = setting.compiled([x], output)
        setting.poison(4 * wanted.size)
        check(name, f(*sets[0]).to_numpy(), wanted, 1e-4)
        yield bandwidth(setting, name, f, sets, 4 * rows * columns, goal)[0]


def layer_norm(x: Any) -> Any:
    """Rows with mean 0 and variance 1."""
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / T.sqrt(T.sqr(centred).mean(axis=1, keepdims=True) + np.float32(1e-5))


def rows(length: int, setting: Setting) -> Rows:
    """softmax and layer norm of rows of one length, 256 MiB in all, and torch.compile."""
    width = min(length, 512) if setting.tiny else length
    count = 3 if setting.tiny else 64 * MIB // length
    x = T.fmatrix("x")
    sets = [(setting.array(count, width, seed=k),) for k in range(2)]
    plain = sets[0][0].to_numpy().astype(float)
    e = np.exp(plain - plain.max(1, keepdims=True))
    centred = plain - plain.mean(1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    cases = [
        ("softmax", T.softmax(x, axis=1), e / e.sum(1, keepdims=True), torch_softmax),
        ("layer norm", layer_norm(x), centred / deviation, torch_layer_norm),
    ]
    for name, output, wanted, theirs in cases:
        title = f"{name} {length}"
        f = setting.compiled([x], output)
        setting.poison(4 * wanted.size)
        check(title, f(*sets[0]).to_numpy(), wanted)
        notes: list[str] = []
        peers = compiled_by_torch(setting, sets, theirs, wanted, notes)
        line, seconds = bandwidth(setting, title, f, sets, 8 * count * width, 0.85, peers)
        line.notes += notes
        line.goal += ", >= 0.95 x torch.compile"
        if "torch.compile" in seconds:
            line.more["torch.compile"] = seconds["torch.compile"] / line.seconds
            line.reached = line.reached and line.more["torch.compile"] >= 0.95
        yield line


def matmul(setting: Setting) -> Rows:
    """Square matrices of float32, without TF32: by cuBLAS, if it is there, and by our kernel."""
    side = 64 if setting.tiny else 8192
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = setting.compiled([a, b], a @ b)
    device = setting.device
    left, right = setting.array(side, side), setting.array(side, side, seed=1)
    some = slice(None, None, max(side // 64, 1))
    wanted = left.to_numpy()[some].astype(float) @ right.to_numpy()
    theirs = torch_matmul(setting, left, right)
    blas, flop = device.blas, 2 * side**3
    for name in ["matmul, cuBLAS", "matmul, own kernel"] if blas else ["matmul, own kernel"]:
        device.use_blas(blas if name == "matmul, cuBLAS" else None)
        setting.poison(4 * side**2)
        check(name, f(left, right).to_numpy()[some], wanted)
        found = compare(setting, {"symc": [lambda: f(left, right)], **theirs})
        seconds = median(found["symc"])
        more = {"TFLOP/s": flop / seconds / 1e12, "spread": spread(found["symc"])}
        goal = 0.98 if name == "matmul, cuBLAS" else 0.60
        ratio = median(found["torch.matmul"]) / seconds if theirs else 0.0
        against = "torch.matmul" if theirs else "nobody"
        yield Line(name, seconds, against, ratio, f">= {goal:.0%}", ratio >= goal, more)
    device.use_blas(blas)


def at_most(name: str, seconds: float, goal: float) -> Line:
    """A row with a goal in seconds."""
    return Line(name, seconds, "goal", seconds / goal, f"<= {goal * 1e6:.4g} us", seconds <= goal)


def calls(setting: Setting) -> Rows:
    """How long a call takes to return: one small kernel, and twenty, launched and as a graph."""
    x = T.fvector("x")
    small = setting.array(1024)
    plain = small.to_numpy().astype(float)
    one = setting.compiled([x], x * 2 + 1)
    check("one small function", one(small).to_numpy(), plain * 2 + 1)
    yield at_most("one small function, to return", wall(setting, lambda: one(small), 50), 5e-6)
    deep: Any = x
    for _ in range(10):  # a sum over everything cannot share a kernel with its users
        deep = deep - deep.mean()
    chain = setting.compiled([x], deep)
    check("20 small kernels", chain(small).to_numpy(), plain - plain.mean(), 1e-4)
    count = len(chain.facts["steps"])  # launches: kernels that are equal share their code
    kept = symc.config.cuda_graphs
    try:
        symc.config.cuda_graphs = False
        seconds = wall(setting, lambda: chain(small), 20)
        yield at_most(f"{count} small kernels, launched", seconds, 45e-6 * count / 20)
        symc.config.cuda_graphs = True
        seconds = wall(setting, lambda: chain(small), 20)
        line = at_most(f"{count} small kernels, as a graph", seconds, 15e-6)
        if not chain.runner.call.replayed:
            line.reached = False
            line.notes.append("no graph was launched: its kernels were, one by one")
        yield line
    finally:
        symc.config.cuda_graphs = kept


def compiling(setting: Setting) -> Rows:
    """One fused kernel from the expression to a function, cache empty and filled: medians of 5."""
    x, y = T.fvector("x"), T.fvector("y")
    setting.compiled([x], x + 1)  # imports, and starts the compilers once
    found: dict[bool, list[float]] = {False: [], True: []}
    for number in range(5):
        for hit in (False, True):
            started = time.perf_counter()
            output = T.tanh(x * (3 + number) + y) * T.exp(-y * y)
            f = setting.compiled([x, y], output, name=f"fused_kernel_{number}")
            found[hit].append(time.perf_counter() - started)
            if f.hit != hit:
                raise AssertionError(f"the cache was {'filled' if f.hit else 'empty'}")
    yield at_most("compile, cache empty", median(found[False]), 0.25)
    yield at_most("compile, from the cache", median(found[True]), 0.005)


def training(name: str, setting: Setting) -> Rows:
    """A training step, which waits for the device, beside those of the peers."""
    for model in MODELS[name](setting.tiny):
        plain = [value.astype(float) for value in model.parameters]
        wanted = model.numpy_loss(plain, model.data)
        step = symc_step(model, setting.device.name)
        data = [symc.cuda.asarray(array, device=setting.device) for array in model.data]
        check(model.name, step(*data).to_numpy(), wanted, 1e-4)

        def once(step: Any = step, data: Any = data) -> None:
            step(*data)
            setting.device.synchronize()

        notes: list[str] = []
        peers = steps(setting, model, wanted, notes)
        seconds = in_turn(setting, {"symc": once, **peers}, 5)
        own = seconds.pop("symc")
        against = min(seconds, key=lambda name: seconds[name], default="nobody")
        ratio = seconds[against] / own if seconds else 0.0
        more = {name: found / own for name, found in seconds.items()}
        yield Line(model.name, own, against, ratio, ">= 1", ratio >= 1, more, notes)


ROWS: dict[str, Callable[[Setting], Rows]] = {
    "elementwise": elementwise, "reductions": reductions, "matmul": matmul, "calls": calls,
    "compiling": compiling, **{f"rows{n}": partial(rows, n) for n in (256, 1024, 4096, 16384)},
    **{name: partial(training, name) for name in MODELS},
}  # fmt: skip
"""By name, the important ones first: time may run out."""
