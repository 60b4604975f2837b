"""Runs single functions of arrays in symc and its peers, and prints one table, worst rows first.

    python benchmarks/array_functions.py                     all: some minutes
    python benchmarks/array_functions.py --only fft topk     rows with one of these in their names
    python benchmarks/array_functions.py --quick             fewer and shorter rounds

Peers are NumPy or SciPy, PyTorch, JAX and loops for numba, whichever has the function and is
installed. Each has one thread, all take turns in one process, and times are those of the processor.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from one_thread import ONE_THREAD

if __name__ == "__main__":  # before NumPy is imported: its BLAS starts threads at once
    os.environ.update(ONE_THREAD | {"JAX_PLATFORMS": "cpu", "MKL_NUM_THREADS": "1"})

import numpy as np
from array_rows import (
    Program,
    Row,
    moves,
    number_parts,
    numbers,
    short_rows,
    small_products,
    sorted_rows,
    truths,
)
from kernels.contest import Call, Effort, Timed, agree, best, taken
from measure import module, show, stay_on_one_processor

EACH = 1.2  # times the best peer
PEERS = ("NumPy", "PyTorch", "JAX", "numba")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the rows of the command line; 1 if symc is beyond the goal in one."""
    made = argparse.ArgumentParser(description="Measure functions of arrays.")
    made.add_argument("--only", nargs="+", metavar="WORD", help="rows with these in their names")
    made.add_argument("--quick", action="store_true", help="3 rounds, shorter ones")
    made.add_argument("--json", metavar="FILE", help="write all figures there as well")
    options = made.parse_args(arguments)
    effort = Effort(3, 0.02) if options.quick else Effort(7, 0.05)
    stay_on_one_processor()
    with tempfile.TemporaryDirectory(prefix="symc-bench-") as cache:
        os.environ["SYMC_CACHE_DIR"] = cache
        times = {
            row.name: measured(row, effort)
            for row in rows()
            if not options.only or any(word in row.name for word in options.only)
        }
    print(table(times))
    if options.json:
        Path(options.json).write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
    return 1 if any(ratio(found) > EACH for found in times.values()) else 0


def measured(row: Row, effort: Effort) -> dict[str, float]:
    """The best time of each contestant in seconds."""
    wanted = row.numpy(*row.given)
    timed: dict[str, Timed] = {}
    for name, call in contestants(row).items():
        try:
            if row.rtol is not None:
                agree(call(), wanted, row.rtol)
        except Exception as error:  # whatever a library raises: the others go on
            print(f"{row.name}: {name}: {error!r}", file=sys.stderr)
            continue
        call()
        timed[name] = Timed(call, max(1, int(1e-3 / max(taken(call, 1), 1e-8))))
    for _ in range(effort.rounds):
        for one in timed.values():
            one.rounds.append(best(one, effort.length))
    return {name: min(one.rounds) for name, one in timed.items()}


def contestants(row: Row) -> Mapping[str, Call]:
    """A call for each of those that have the function and are installed."""
    import symc
    import symc.tensor as T

    calls: dict[str, Call] = {}
    inputs = [T.tensor(str(x.dtype), (None,) * x.ndim) for x in map(np.asarray, row.given)]
    compiled = symc.function(inputs, row.symc(*inputs))
    calls["symc"] = lambda: compiled(*row.given)
    calls["NumPy"] = lambda: row.numpy(*row.given)
    if row.torch and importlib.util.find_spec("torch"):
        torch = module("torch")
        torch.set_num_threads(1)
        own = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in row.given]
        calls["PyTorch"] = lambda: row.torch(torch, *own)
    if row.jax and importlib.util.find_spec("jax"):
        jax = module("jax")
        jax.config.update("jax_enable_x64", True)
        program = jax.jit(lambda *args: row.jax(jax, *args))
        arrays = [jax.device_put(x) for x in row.given]
        calls["JAX"] = lambda: program(*arrays).block_until_ready()
    if row.loops and importlib.util.find_spec("numba"):
        loops = module("numba").njit(row.loops)
        calls["numba"] = lambda: loops(*row.given)
    return calls


def ratio(times: Mapping[str, float]) -> float:
    """symc's time divided by that of the best peer."""
    peers = [seconds for name, seconds in times.items() if name != "symc"]
    return times["symc"] / min(peers) if peers and "symc" in times else float("inf")


def table(times: Mapping[str, Mapping[str, float]]) -> str:
    """A line for each row, the worst first."""
    lines = [("", "symc", *PEERS, "ratio")]
    for name, found in sorted(times.items(), key=lambda item: -ratio(item[1])):
        all_times = [show(found[who]) if who in found else "" for who in ("symc", *PEERS)]
        lines.append((name, *all_times, f"{ratio(found):.2f}"))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


# --- rows -----------------------------------------------------------------------------------------


def rows() -> list[Row]:
    """All rows."""
    return [
        *transforms(), *products(), *others(), *reductions(), *positions(), *moves(), *truths(),
        *small_products(), *short_rows(), *sorted_rows(), *number_parts(),
    ]  # fmt: skip


def transforms() -> list[Row]:
    """Fourier transforms."""
    import symc.tensor as T

    shapes = [
        (256,), (1000,), (1024,), (4096,), (10_007,), (1 << 16,), (100_000,), (1 << 18,),
        (1 << 20,), (1024, 64), (1024, 1000), (1024, 1024), (64, 4096),
    ]  # fmt: skip
    made: list[Row] = []
    for single in (False, True):
        complexes, reals = ("complex64", "float32") if single else ("complex128", "float64")
        rtol = 1e-5 if single else 1e-9
        for shape in shapes:
            x, y = numbers(*shape, dtype=complexes), numbers(*shape, dtype=reals)
            half, by = np.fft.rfft(y).astype(complexes), "x".join(map(str, shape))
            made += [
                Row(f"fft {complexes} {by}", (x,), T.fft.fft, np.fft.fft,
                    lambda torch, x: torch.fft.fft(x), lambda jax, x: jax.numpy.fft.fft(x),
                    rtol=rtol),
                Row(f"rfft {reals} {by}", (y,), T.fft.rfft, np.fft.rfft,
                    lambda torch, x: torch.fft.rfft(x), lambda jax, x: jax.numpy.fft.rfft(x),
                    rtol=rtol),
            ]  # fmt: skip
            if shape[-1] % 2 == 0:
                made.append(
                    Row(f"irfft {reals} {by}", (half,), T.fft.irfft, np.fft.irfft,
                        lambda torch, x: torch.fft.irfft(x),
                        lambda jax, x: jax.numpy.fft.irfft(x), rtol=rtol)
                )  # fmt: skip
        for shape in [(256, 256), (1024, 1024), (500, 500), (16, 128, 128)]:
            x, by = numbers(*shape, dtype=complexes), "x".join(map(str, shape))
            made += [
                Row(f"fft2 {complexes} {by}", (x,), T.fft.fft2, np.fft.fft2,
                    lambda torch, x: torch.fft.fft2(x), lambda jax, x: jax.numpy.fft.fft2(x),
                    rtol=rtol),
                Row(f"fft axis 0 {complexes} {by}", (x,), lambda x: T.fft.fft(x, axis=0),
                    lambda x: np.fft.fft(x, axis=0), lambda torch, x: torch.fft.fft(x, dim=0),
                    lambda jax, x: jax.numpy.fft.fft(x, axis=0), rtol=rtol),
            ]  # fmt: skip
    return made


def products() -> list[Row]:
    """Products of matrices and vectors."""
    made: list[Row] = []
    for dtype, rtol in (("float32", 1e-4), ("float64", 1e-9)):
        s = np.asarray(np.random.default_rng(0).random(), dtype)
        for shape in [(100, 100), (300, 300), (1000, 1000), (3000, 3000), (3000, 300), (300, 3000)]:
            x, v = numbers(*shape, dtype=dtype), numbers(shape[1], dtype=dtype)
            by = "x".join(map(str, shape))
            made.append(
                Row(f"gemv {dtype} {by}", (x, v), lambda x, v: x @ v, lambda x, v: x @ v,
                    lambda torch, x, v: x @ v, lambda jax, x, v: x @ v, rtol=rtol)
            )  # fmt: skip
        for shape in [(100, 100), (300, 300), (1000, 1000), (1000, 100), (100, 1000)]:
            x, by = numbers(*shape, dtype=dtype), "x".join(map(str, shape))
            made += [
                Row(f"X @ X.T {dtype} {by}", (x,), lambda x: x @ x.T, lambda x: x @ x.T,
                    lambda torch, x: x @ x.T, lambda jax, x: x @ x.T, rtol=rtol),
                Row(f"s * X @ X.T {dtype} {by}", (s, x), lambda s, x: s * x @ x.T,
                    lambda s, x: s * x @ x.T, lambda torch, s, x: s * x @ x.T,
                    lambda jax, s, x: s * x @ x.T, rtol=rtol),
            ]  # fmt: skip
    return made


def others() -> list[Row]:
    """Convolution, padding, histograms, k-means, remainders, random numbers."""
    made = [depthwise(), *depthwise_gradients(56, 1), *depthwise_gradients(14, 1), counted()]
    made += depthwise_gradients(56, 2)
    for name in ("float64", "float32"):
        made += [framed(name), clustered(name), remainders(name), uniform(name)]
    return made


def depthwise() -> Row:
    """A filter of 5 x 5 for each of 32 channels."""
    import symc.tensor as T

    def windows(x: Any, w: Any) -> Any:
        wide = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)))
        at = np.lib.stride_tricks.sliding_window_view(wide, (5, 5), axis=(2, 3))
        return np.einsum("ncijkl,ckl->ncij", at, w[:, 0])

    x = numbers(8, 32, 64, 64, dtype="float32")
    return Row(
        "depthwise 5x5", (x, numbers(32, 1, 5, 5, dtype="float32", seed=1)),
        lambda x, w: T.nnet.conv2d(x, w, padding="same", groups=32, flip_filters=False), windows,
        lambda torch, x, w: torch.nn.functional.conv2d(x, w, padding=2, groups=32),
        lambda jax, x, w: jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", feature_group_count=32), rtol=1e-4,
    )  # fmt: skip


def depthwise_gradients(side: int, stride: int) -> list[Row]:
    """The gradients of a filter of 3 x 3 for each of 32 channels."""
    import symc
    import symc.tensor as T

    def y(x: Any, w: Any) -> Any:
        return T.nnet.conv2d(x, w, padding=1, stride=stride, groups=32, flip_filters=False)

    def to_inputs(x: Any, w: Any, bar: Any) -> Any:
        wide = np.zeros((*x.shape[:2], side + 2, side + 2), x.dtype)
        for i, j in np.ndindex(3, 3):
            wide[:, :, i : i + side : stride, j : j + side : stride] += (
                w[:, 0, i, j][:, None, None] * bar
            )
        return wide[:, :, 1:-1, 1:-1]

    def to_filters(x: Any, w: Any, bar: Any) -> Any:
        wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        at = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))
        return np.einsum("ncijkl,ncij->ckl", at[:, :, ::stride, ::stride], bar)[:, None]

    def in_torch(torch: Any, x: Any, w: Any, bar: Any, number: int) -> Any:
        mask = [number == 0, number == 1, False]
        return torch.ops.aten.convolution_backward(
            bar, x, w, None, [stride] * 2, [1, 1], [1, 1], False, [0, 0], 32,
            mask)[number]  # fmt: skip

    def in_jax(jax: Any, x: Any, w: Any, bar: Any, number: int) -> Any:
        def forward(x: Any, w: Any) -> Any:
            return jax.lax.conv_general_dilated(
                x, w, (stride, stride), [(1, 1)] * 2, feature_group_count=32)  # fmt: skip

        return jax.vjp(forward, x, w)[1](bar)[number]

    given = (
        numbers(8, 32, side, side, dtype="float32"), numbers(32, 1, 3, 3, dtype="float32", seed=1),
        numbers(8, 32, side // stride, side // stride, dtype="float32", seed=2),
    )  # fmt: skip
    return [
        Row(f"depthwise 3x3 to {role}, side {side}, stride {stride}", given,
            lambda x, w, bar, k=k: symc.Lop(y(x, w), [x, w], bar)[k], program,
            lambda torch, x, w, bar, k=k: in_torch(torch, x, w, bar, k),
            lambda jax, x, w, bar, k=k: in_jax(jax, x, w, bar, k), rtol=1e-4)
        for k, (role, program) in enumerate([("inputs", to_inputs), ("filters", to_filters)])
    ]  # fmt: skip


def counted() -> Row:
    """A histogram of 50 bins of unlike widths."""
    import symc.tensor as T

    edges = np.sort(numbers(51, seed=3))
    return Row(
        "histogram of given bins", (numbers(1_000_000), edges),
        lambda x, e: T.histogram(x, e)[0], lambda x, e: np.histogram(x, e)[0],
        lambda torch, x, e: torch.histogram(x, e)[0],
        lambda jax, x, e: jax.numpy.histogram(x, e)[0], histogram,
    )  # fmt: skip


def framed(dtype: str) -> Row:
    """Zeros around a matrix."""
    import symc.tensor as T

    return Row(
        f"pad constant {dtype}", (numbers(1000, 1000, dtype=dtype),),
        lambda x: T.pad(x, 3), lambda x: np.pad(x, 3),
        lambda torch, x: torch.nn.functional.pad(x, (3, 3, 3, 3)),
        lambda jax, x: jax.numpy.pad(x, 3), padded,
    )  # fmt: skip


def clustered(dtype: str) -> Row:
    """A step of k-means, with clusters as rows of zeros and ones."""
    import symc.tensor as T

    def step(numpy: Any, one_hot: Program, x: Any, c: Any) -> Any:
        chosen = one_hot(numpy.argmin((c * c).sum(1)[None, :] - 2 * x @ c.T, 1))
        return chosen.T @ x / numpy.maximum(chosen.sum(0), 1)[:, None]

    def in_torch(torch: Any, x: Any, c: Any) -> Any:
        found = torch.argmin((c * c).sum(1)[None, :] - 2 * x @ c.T, 1)
        chosen = torch.nn.functional.one_hot(found, 32).to(x.dtype)
        return chosen.T @ x / chosen.sum(0).clamp(min=1)[:, None]

    return Row(
        f"k-means one-hot {dtype}",
        (numbers(20_000, 16, dtype=dtype), numbers(32, 16, dtype=dtype, seed=1)),
        lambda x, c: step(T, lambda k: T.one_hot(k, 32, dtype=x.dtype), x, c),
        lambda x, c: step(np, lambda k: np.eye(32, dtype=x.dtype)[k], x, c), in_torch,
        lambda jax, x, c: step(
            jax.numpy, lambda k: jax.nn.one_hot(k, 32, dtype=x.dtype), x, c),
        rtol=1e-4 if dtype == "float32" else 1e-9,
    )  # fmt: skip


def remainders(dtype: str) -> Row:
    """Of the division of two vectors."""
    x, y = numbers(1_000_000, dtype=dtype), numbers(1_000_000, dtype=dtype, seed=2)
    return Row(
        f"remainder {dtype}", (x, y), lambda x, y: x % y, lambda x, y: x % y,
        lambda torch, x, y: x % y, lambda jax, x, y: x % y, rtol=1e-5,
    )  # fmt: skip


def uniform(dtype: str) -> Row:
    """Random numbers; NumPy's by a generator of symc's kind."""
    from symc.tensor import random

    generator = np.random.Generator(np.random.Philox(0))
    return Row(
        f"uniform {dtype}", (),
        lambda: random.uniform(random.key(0), size=1_000_000, dtype=dtype),
        lambda: generator.random(1_000_000, dtype=np.dtype(dtype)),
        lambda torch: torch.rand(1_000_000, dtype=getattr(torch, dtype)), rtol=None,
    )  # fmt: skip


def histogram(x: Any, e: Any) -> Any:
    """Numbers in bins between given edges, found by halving."""
    n = len(e) - 1
    counts = np.zeros(n, np.int64)
    for value in x:
        if e[0] <= value <= e[n]:
            low, high = 0, n
            while high - low > 1:
                middle = (low + high) // 2
                if e[middle] <= value:
                    low = middle
                else:
                    high = middle
            counts[low] += 1
    return counts


def padded(x: Any) -> Any:
    """Zeros around a matrix."""
    n, m = x.shape
    y = np.zeros((n + 6, m + 6), x.dtype)
    y[3 : n + 3, 3 : m + 3] = x
    return y


def reductions() -> list[Row]:
    """Largest elements and softmax."""
    import symc.tensor as T

    made: list[Row] = []
    for dtype in ("float64", "float32"):
        rtol = 1e-5 if dtype == "float32" else 1e-9
        made += [
            Row(f"argmax {dtype} {n}", (numbers(n, dtype=dtype),), T.argmax, np.argmax,
                lambda torch, x: x.argmax(), lambda jax, x: x.argmax(), lambda x: x.argmax())
            for n in (100, 10_000, 1_000_000)
        ]  # fmt: skip
        made.append(
            Row(f"top 100 {dtype}", (numbers(1_000_000, dtype=dtype),),
                lambda x: T.topk(x, 100)[0], lambda x: np.sort(np.partition(x, -100)[-100:])[::-1],
                lambda torch, x: torch.topk(x, 100)[0], lambda jax, x: jax.lax.top_k(x, 100)[0])
        )  # fmt: skip
        for shape in [(1000, 1000), (4096, 1000), (100_000, 10)]:
            x, by = numbers(*shape, dtype=dtype), "x".join(map(str, shape))
            made += [
                Row(f"softmax {dtype} {by}", (x,), lambda x: T.nnet.softmax(x, 1),
                    lambda x: softmax(np, x), lambda torch, x: torch.softmax(x, 1),
                    lambda jax, x: jax.nn.softmax(x, 1), rtol=rtol),
                Row(f"softmax by hand {dtype} {by}", (x,), lambda x: softmax(T, x),
                    lambda x: softmax(np, x),
                    lambda torch, x: torch.softmax(x, 1),
                    lambda jax, x: softmax(jax.numpy, x), rtol=rtol),
            ]  # fmt: skip
    return made


def positions() -> list[Row]:
    """Where the greatest elements are: in rows, in columns, of bytes, and of what is computed."""
    import symc.tensor as T

    made: list[Row] = []
    for dtype in ("float64", "float32", "int64", "int32", "int8", "uint8", "bool"):
        for shape in [(10_000, 10), (1000, 100), (100, 1000), (1_000_000,)]:
            some = np.random.default_rng(0).integers(0, 100, shape)
            x = (some == 99 if dtype == "bool" else some).astype(dtype)
            by = "x".join(map(str, shape))
            made += [
                Row(f"argmax {axis} {dtype} {by}", (x,), lambda x, axis=axis: T.argmax(x, axis),
                    lambda x, axis=axis: np.argmax(x, axis),
                    jax=lambda jax, x, axis=axis: x.argmax(axis))
                for axis in range(len(shape))
            ]  # fmt: skip
    for dtype in ("float64", "float32"):
        for shape in [(10_000, 10), (1000, 100), (100, 1000)]:
            x, w = numbers(*shape, dtype=dtype), numbers(shape[1], dtype=dtype)
            by = "x".join(map(str, shape))
            made.append(
                Row(f"argmin computed {dtype} {by}", (x, w), lambda x, w: T.argmin(x * w, 1),
                    lambda x, w: np.argmin(x * w, 1), lambda torch, x, w: (x * w).argmin(1),
                    lambda jax, x, w: (x * w).argmin(1))
            )  # fmt: skip
    return made


def softmax(numpy: Any, x: Any) -> Any:
    """As written by hand."""
    e = numpy.exp(x - numpy.max(x, 1, keepdims=True))
    return e / numpy.sum(e, 1, keepdims=True)


if __name__ == "__main__":
    sys.exit(main())
