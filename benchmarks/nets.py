"""A training step of each reference network: symc beside JAX, where installed.

    python benchmarks/nets.py                     # all: some minutes
    python benchmarks/nets.py --only lenet vae    # some
    python benchmarks/nets.py --export folder     # writes the C of each step as well

Everybody begins with the same weights and learns the same batch; the first loss must agree with
symc's. Contestants take turns, so that other work on the machine slows all alike.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import nets_peers

import symc.tensor as T
from symc import nets
from symc.calls.callable import Function
from symc.measure.timing import timed
from symc.measure.words import duration, table
from symc.nets import data, training

ROUNDING = 2e-3  # how far first losses may differ: sums of float32 in another order


@dataclass(frozen=True)
class Net:
    """A network: its loss of weights and inputs, the types of its inputs, and a batch."""

    loss: Callable[..., Any]
    inputs: Callable[[], list[Any]]
    batch: Callable[[], Sequence[Any]]


def classifier(scores: Callable[..., Any]) -> Callable[..., Any]:
    """The loss of a network that tells classes apart."""
    return lambda w, x, y: training.cross_entropy(scores(w, x), y)


def images(channels: int, side: int) -> Callable[[], list[Any]]:
    """Images and their classes."""
    return lambda: [T.tensor("float32", (None, channels, side, side), "x"), T.lvector("y")]


def first(batches: Any, **options: Any) -> Callable[[], Sequence[Any]]:
    """The first batch."""
    return lambda: next(iter(batches(1, **options)))


def noisy() -> Sequence[Any]:
    """Digits, and the noise that an autoencoder adds to its causes."""
    (pixels,) = next(iter(data.pixels(1)))
    noise = np.random.default_rng(0).standard_normal((len(pixels), 8)).astype(np.float32)
    return pixels, noise


def pair(*shape: int | None) -> Callable[[], list[Any]]:
    """Two arrays of one shape."""
    return lambda: [T.tensor("float32", shape, name) for name in "xy"]


NETS = {
    "lenet": Net(classifier(nets.lenet.scores), images(1, 8), first(data.digits)),
    "alexnet": Net(
        classifier(partial(nets.alexnet.scores, classes=3, width=1 / 8)), images(3, 67),
        first(data.stripes, side=67),
    ),
    "vgg": Net(
        classifier(partial(nets.vgg.scores, classes=3, depth=11, width=1 / 8)), images(3, 32),
        first(data.stripes),
    ),
    "resnet": Net(
        classifier(partial(nets.resnet.scores, depth=8)), images(1, 8), first(data.digits)
    ),
    "lstm": Net(
        partial(nets.lstm.loss, alphabet=data.ALPHABET), lambda: [T.lmatrix("x")],
        first(data.letters),
    ),
    "transformer": Net(
        partial(nets.transformer.loss, alphabet=data.ALPHABET), lambda: [T.lmatrix("x")],
        first(data.letters),
    ),
    "unet": Net(
        partial(nets.unet.loss, width=8, depth=2), pair(None, 1, 32, 32), first(data.discs)
    ),
    "vae": Net(
        nets.vae.loss,
        lambda: [T.tensor("float32", (None, 64), "x"), T.tensor("float32", (None, 8), "noise")],
        noisy,
    ),
}  # fmt: skip
PEERS = {"JAX": ("jax", "jax_step")}


def symc_step(net: Net, name: str) -> tuple[Function, dict[str, Any]]:
    """symc's step, and the weights that all begin with."""
    w, inputs = nets.Weights(seed=0), net.inputs()
    loss = net.loss(w, *inputs)
    start = {key: value.get_value() for key, value in w.values.items()}
    return nets.learner(w, inputs, loss, name=f"{name}_step"), start


def measure(name: str, net: Net, seconds: float) -> tuple[list[list[str]], Function, list[str]]:
    """The rows of a network, its step, and what went wrong."""
    batch = list(net.batch())
    started = time.perf_counter()
    step, start = symc_step(net, name)
    right = float(step(*batch))
    until = {"symc": time.perf_counter() - started}
    calls: dict[str, Callable[[], object]] = {"symc": lambda: float(step(*batch))}
    wrong: list[str] = []
    for peer, (package, maker) in PEERS.items():
        if importlib.util.find_spec(package) is None:
            continue
        started = time.perf_counter()
        other = getattr(nets_peers, maker)(net.loss, start)
        found = other(*batch)
        until[peer] = time.perf_counter() - started
        if abs(found - right) > ROUNDING * abs(right):
            wrong.append(f"{name}: {peer}'s first loss is {found}, symc's {right}")
        calls[peer] = partial(other, *batch)
    times = timed(calls, seconds)
    rows = [
        [name if peer == "symc" else "", peer, duration(times[peer].median),
         f"{times[peer].median / times['symc'].median:.2f}", duration(until[peer])]
        for peer in calls
    ]  # fmt: skip
    return rows, step, wrong


def main() -> int:
    """Measures and prints; 1 if somebody's loss was another."""
    parser = argparse.ArgumentParser(description="Steps of reference networks.")
    parser.add_argument("--only", nargs="+", choices=sorted(NETS), default=list(NETS))
    parser.add_argument("--seconds", type=float, default=2.0, help="for each contestant (2)")
    parser.add_argument("--export", type=Path, help="a folder for the C of each step")
    options = parser.parse_args()
    rows, wrong = [["network", "", "a step", "times symc's", "first loss after"]], list[str]()
    for name in options.only:
        found, step, failed = measure(name, NETS[name], options.seconds)
        rows += found
        wrong += failed
        if options.export is not None:
            step.export(options.export / name, list(NETS[name].batch()))
    print(table(rows))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
