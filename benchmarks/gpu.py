"""Measures symc on a graphics card against a device copy and its peers, and prints one table.

    python benchmarks/gpu.py                           on the first card, all rows
    python benchmarks/gpu.py --only softmax matmul     some rows
    python benchmarks/gpu.py --json figures.json       also as a file
    python benchmarks/gpu.py --device cuda:sim --tiny  tries every row on the simulator; no figures

Times of kernels are taken by events on the device, after warming up, on as many sets of arrays in
turn as do not fit the card's cache. A row's time is the median of its repetitions. Bandwidth counts
the bytes that must be read and written once; the copy it is compared with is cuMemcpyDtoDAsync over
arrays of the same size in the same run. Every result is checked against NumPy first. PyTorch
(compiled) and JAX take part where they are installed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from gpu_models import Model, jax_step, models, symc_step, torch_step

import symc
import symc.cuda
import symc.tensor as T

MIB = 1 << 20


@dataclass
class Line:
    """One row: how long symc takes, what that is compared with, and the goal for the ratio."""

    name: str
    seconds: float
    against: str
    ratio: float
    goal: str
    reached: bool
    more: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Setting:
    """What to measure on, and how much."""

    device: symc.cuda.Device
    tiny: bool
    repetitions: int

    def elements(self, count: int) -> int:
        """A number of elements, on the simulator a small one."""
        return min(count, 4096) if self.tiny else count

    def array(self, *shape: int, seed: int = 0) -> symc.cuda.DeviceArray:
        """A device array of float32 between -1 and 1."""
        rng = np.random.default_rng(seed)
        return symc.cuda.asarray(rng.uniform(-1, 1, shape).astype(np.float32), device=self.device)

    def timed(self, calls: Sequence[Callable[[], object]]) -> float:
        """The median of the seconds on the device of one of these calls, which take turns."""
        driver, device = self.device.driver, self.device
        for call in calls:
            call()
        device.synchronize()
        seconds: list[float] = []
        with device:
            start, end = driver.event_create(timing=True), driver.event_create(timing=True)
            for repetition in range(self.repetitions):
                call = calls[repetition % len(calls)]
                driver.event_record(start, device.stream)
                kept = call()
                driver.event_record(end, device.stream)
                driver.event_synchronize(end)
                seconds.append(driver.milliseconds(start, end) / 1e3)
                del kept
            driver.event_destroy(start)
            driver.event_destroy(end)
        return median(seconds)


def check(name: str, got: Any, wanted: Any, tolerance: float = 2e-5) -> None:
    """Raise unless a result is what NumPy computes in float64."""
    value, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    scale = float(np.abs(wanted).max()) or 1.0
    error = float(np.abs(value - wanted).max()) / scale
    if value.shape != wanted.shape or not error <= tolerance:
        raise AssertionError(f"{name}: wrong result, error {error}")


def copy_bandwidth(setting: Setting, count: int) -> float:
    """Bytes a second of a device copy, read and written."""
    pairs = [(setting.array(count, seed=k), setting.array(count, seed=k + 9)) for k in range(2)]
    driver, stream = setting.device.driver, setting.device.stream

    def copy(source: symc.cuda.DeviceArray, target: symc.cuda.DeviceArray) -> None:
        with setting.device:
            driver.copy(target.ptr, source.ptr, source.nbytes, stream)

    seconds = setting.timed([partial(copy, *pair) for pair in pairs])
    return 2 * 4 * count / seconds


def bandwidth_row(
    setting: Setting, name: str, function: Callable[..., Any],
    inputs: Sequence[Sequence[symc.cuda.DeviceArray]], moved: int, copied: float, goal: float,
) -> Line:  # fmt: skip
    """A row for a function that memory should limit."""
    seconds = setting.timed([partial(function, *arrays) for arrays in inputs])
    ratio = moved / seconds / copied
    goal_text = f">= {goal:.0%} of a copy"
    more = {"GB/s": moved / seconds / 1e9, "copy GB/s": copied / 1e9}
    return Line(name, seconds, "device copy", ratio, goal_text, ratio >= goal, more)


def compiled(setting: Setting, inputs: Sequence[Any], outputs: Any, **more: Any) -> Any:
    """A function whose arrays stay on the device."""
    return symc.function(list(inputs), outputs, device=setting.device.name, on_device=True, **more)


def elementwise(setting: Setting) -> list[Line]:
    """``tanh(a*x + b) * exp(-y*y)`` on arrays of 256 MiB."""
    count = setting.elements(64 * MIB)
    x, y = T.fvector("x"), T.fvector("y")
    f = compiled(setting, [x, y], x * 2 + T.sqr(y) * np.float32(0.5))
    sets = [(setting.array(count, seed=k), setting.array(count, seed=k + 5)) for k in range(2)]
    a, b = (array.to_numpy().astype(float) for array in sets[0])
    check("elementwise", f(*sets[0]).to_numpy(), a * 2 + b * b / 2)
    copied = copy_bandwidth(setting, count)
    return [bandwidth_row(setting, "elementwise", f, sets, 3 * 4 * count, copied, 0.95)]


def reductions(setting: Setting) -> list[Line]:
    """Sums of everything, of rows and of columns of 256 MiB."""
    rows, columns = (64, 64) if setting.tiny else (16384, 4096)
    x = T.fmatrix("x")
    sets = [(setting.array(rows, columns, seed=k),) for k in range(2)]
    plain = sets[0][0].to_numpy().astype(float)
    copied = copy_bandwidth(setting, rows * columns)
    cases = [
        ("full sum", x.sum(), plain.sum(), 0.95), ("row sums", x.sum(1), plain.sum(1), 0.90),
        ("column sums", x.sum(0), plain.sum(0), 0.85),
    ]  # fmt: skip
    lines: list[Line] = []
    for name, output, wanted, goal in cases:
        f = compiled(setting, [x], output)
        check(name, f(*sets[0]).to_numpy(), wanted)
        lines.append(bandwidth_row(setting, name, f, sets, 4 * rows * columns, copied, goal))
    return lines


def layer_norm(x: Any) -> Any:
    """Rows with mean 0 and variance 1."""
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / T.sqrt(T.sqr(centred).mean(axis=1, keepdims=True) + np.float32(1e-5))


def rows(setting: Setting) -> list[Line]:
    """softmax and layer norm of rows of 256 to 16,384, 256 MiB in all, and torch.compile."""
    lines: list[Line] = []
    for length in (256, 1024, 4096, 16384):
        width = setting.elements(length)
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
        copied = copy_bandwidth(setting, count * width)
        for name, output, wanted, peer in cases:
            title = f"{name} {length}"
            f = compiled(setting, [x], output)
            check(title, f(*sets[0]).to_numpy(), wanted)
            line = bandwidth_row(setting, title, f, sets, 8 * count * width, copied, 0.85)
            theirs = peer(setting, [arrays[0] for arrays in sets])
            if theirs is not None:
                line.more["torch.compile"] = theirs / line.seconds
                line.goal += ", >= 0.95 x torch.compile"
                line.reached = line.reached and theirs / line.seconds >= 0.95
            lines.append(line)
    return lines


def matmul(setting: Setting) -> list[Line]:
    """Square matrices of float32, without TF32."""
    side = 64 if setting.tiny else 8192
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = compiled(setting, [a, b], a @ b)
    left, right = setting.array(side, side), setting.array(side, side, seed=1)
    check(
        "matmul",
        f(left, right).to_numpy()[:8],
        left.to_numpy()[:8].astype(float) @ right.to_numpy(),
    )
    seconds = setting.timed([lambda: f(left, right)])
    rate = {"TFLOP/s": 2 * side**3 / seconds / 1e12}
    theirs = torch_matmul(setting, left, right)
    if theirs is None:
        return [Line("matmul", seconds, "torch.matmul: not installed", 0.0, ">= 98 %", False, rate)]
    ratio = theirs / seconds
    return [Line("matmul", seconds, "torch.matmul", ratio, ">= 98 %", ratio >= 0.98, rate)]


def wall(setting: Setting, call: Callable[[], object], times: int) -> float:
    """Seconds of the host until a call returns, the median of rounds that are then waited for."""
    found: list[float] = []
    for _ in range(max(3, setting.repetitions // 4)):
        call()
        setting.device.synchronize()
        started = time.perf_counter()
        for _ in range(times):
            call()
        found.append((time.perf_counter() - started) / times)
        setting.device.synchronize()
    return median(found)


def calls(setting: Setting) -> list[Line]:
    """How long a call takes to return: one small kernel, and twenty, launched and as a graph."""
    x = T.fvector("x")
    small = setting.array(1024)
    one = compiled(setting, [x], x * 2 + 1)
    check("one small function", one(small).to_numpy(), small.to_numpy() * 2.0 + 1)
    lines = [at_most("one small function, to return", wall(setting, lambda: one(small), 50), 5e-6)]
    deep: Any = x
    for _ in range(10):  # a sum over everything cannot share a kernel with what needs it
        deep = deep - deep.mean()
    chain = compiled(setting, [x], deep)
    check(
        "20 small kernels",
        chain(small).to_numpy(),
        small.to_numpy() - small.to_numpy().mean(),
        1e-4,
    )
    kept = symc.config.cuda_graphs
    try:
        symc.config.cuda_graphs = False
        launched = wall(setting, lambda: chain(small), 20)
        symc.config.cuda_graphs = True
        replayed = wall(setting, lambda: chain(small), 20)
    finally:
        symc.config.cuda_graphs = kept
    count = len(chain.facts["steps"])  # launches: kernels that are equal share their code
    lines.append(at_most(f"{count} small kernels, launched", launched, 45e-6 * count / 20))
    lines.append(at_most(f"{count} small kernels, as a graph", replayed, 15e-6))
    return lines


def at_most(name: str, seconds: float, goal: float) -> Line:
    """A row with a goal in seconds."""
    return Line(name, seconds, "goal", seconds / goal, f"<= {goal * 1e6:.4g} us", seconds <= goal)


def compiling(setting: Setting) -> list[Line]:
    """One fused kernel from the expression to a function, cache empty and filled."""
    x, y = T.fvector("x"), T.fvector("y")
    lines: list[Line] = []
    for name, goal in (("compile, cache empty", 0.25), ("compile, from the cache", 0.005)):
        started = time.perf_counter()
        f = compiled(setting, [x, y], T.tanh(x * 3 + y) * T.exp(-y * y), name="one_fused_kernel")
        seconds = time.perf_counter() - started
        if f.hit != name.endswith("from the cache"):
            raise AssertionError(f"{name}: the cache was {'filled' if f.hit else 'empty'}")
        lines.append(at_most(name, seconds, goal))
    return lines


def training(setting: Setting) -> list[Line]:
    """Training steps: one hidden layer, an LSTM, LeNet; each waits for the device."""
    lines: list[Line] = []
    for model in models(setting.tiny):
        plain = [value.astype(float) for value in model.parameters]
        wanted = model.numpy_loss(plain, model.data)
        step = symc_step(model, setting.device.name)
        data = [symc.cuda.asarray(array, device=setting.device) for array in model.data]
        check(model.name, step(*data).to_numpy(), wanted, 1e-4)

        def once(step: Any = step, data: Any = data) -> None:
            step(*data)
            setting.device.synchronize()

        seconds = wall(setting, once, 5)
        theirs = {**torch_training(setting, model, wanted), **jax_training(setting, model, wanted)}
        best = min(theirs.values(), default=0.0)
        against = min(theirs, key=lambda name: theirs[name], default="nobody is installed")
        more = {name: found / seconds for name, found in theirs.items()}
        ratio, reached = best / seconds, best >= seconds
        lines.append(Line(model.name, seconds, against, ratio, ">= 1", reached, more))
    return lines


# --- peers ----------------------------------------------------------------------------------------


def torch_on(setting: Setting) -> Any | None:
    """PyTorch, if it is installed and sees the same card."""
    if setting.device.is_simulator:
        return None
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def torch_rows(setting: Setting, arrays: Sequence[Any], function: Any) -> float | None:
    """The seconds of a function of rows that torch.compile compiled."""
    torch = torch_on(setting)
    if torch is None:
        return None
    tensors = [torch.from_dlpack(array) for array in arrays]
    compiled_ = torch.compile(function, dynamic=False)
    return setting.timed([partial(compiled_, tensor) for tensor in tensors])


def torch_softmax(setting: Setting, arrays: Sequence[Any]) -> float | None:
    """softmax of rows."""
    return torch_rows(setting, arrays, lambda x: x.softmax(1))


def torch_layer_norm(setting: Setting, arrays: Sequence[Any]) -> float | None:
    """Layer norm of rows."""

    def norm(x: Any) -> Any:
        centred = x - x.mean(1, keepdim=True)
        return centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()

    return torch_rows(setting, arrays, norm)


def torch_matmul(setting: Setting, left: Any, right: Any) -> float | None:
    """A product without TF32."""
    torch = torch_on(setting)
    if torch is None:
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.from_dlpack(left), torch.from_dlpack(right)
    return setting.timed([lambda: a @ b])


def torch_training(setting: Setting, model: Model, wanted: float) -> dict[str, float]:
    """The seconds of a step by torch.compile."""
    torch = torch_on(setting)
    if torch is None:
        return {}
    step = torch_step(torch, model, "cuda")
    check(f"{model.name}, PyTorch", float(step()), wanted, 1e-3)

    def once() -> None:
        step()
        torch.cuda.synchronize()

    for _ in range(3):
        once()
    return {"torch.compile": wall(setting, once, 5)}


def jax_training(setting: Setting, model: Model, wanted: float) -> dict[str, float]:
    """The seconds of a step by jax.jit, where JAX sees a card."""
    if setting.device.is_simulator:
        return {}
    try:
        import jax
    except ImportError:
        return {}
    if jax.default_backend() != "gpu":
        return {}
    step = jax_step(jax, model)
    check(f"{model.name}, JAX", float(step()), wanted, 1e-3)
    for _ in range(3):
        step()
    return {"jax.jit": wall(setting, lambda: step().block_until_ready(), 5)}


# --- the table ------------------------------------------------------------------------------------

ROWS: dict[str, Callable[[Setting], list[Line]]] = {
    "elementwise": elementwise, "reductions": reductions, "rows": rows, "matmul": matmul,
    "calls": calls, "compiling": compiling, "training": training,
}  # fmt: skip


def shown(line: Line) -> str:
    """A line of the table."""
    mark = "ok" if line.reached else "NOT REACHED"
    more = "  ".join(f"{name} {value:.4g}" for name, value in line.more.items())
    return (
        f"{line.name:<34} {line.seconds * 1e6:>12.1f} us  {line.ratio:>7.3f} x {line.against:<26}"
        f" {line.goal:<38} {mark:<12} {more}"
    )


def main() -> int:
    """Runs the rows that the command line asks for; 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description="symc on a graphics card, against its goals")
    parser.add_argument("--device", default="cuda", help='"cuda" (default), "cuda:1", "cuda:sim"')
    parser.add_argument("--only", nargs="*", choices=list(ROWS), help="these rows only")
    parser.add_argument("--tiny", action="store_true", help="small arrays, which show nothing")
    parser.add_argument("--repeat", type=int, default=40, help="repetitions (default 40)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYMC_CACHE_DIR"] = folder  # before anything opens the user's
        reason = symc.cuda.why_missing(options.device)
        if reason is not None:
            print(f"no figures: {reason}")
            return 1
        setting = Setting(symc.cuda.device(options.device), options.tiny, options.repeat)
        title = f"{setting.device.title}, symc {symc.__version__}"
        print(title)
        lines: list[Line] = []
        for name in options.only or ROWS:
            for line in ROWS[name](setting):
                print(shown(line), flush=True)
                lines.append(line)
    if options.json:
        figures = {"device": setting.device.title, "lines": [asdict(line) for line in lines]}
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0 if all(line.reached for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
