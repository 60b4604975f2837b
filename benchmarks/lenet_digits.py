"""Trains LeNet on the handwritten digits that symc ships, and says how many it recognises.

    python benchmarks/lenet_digits.py                about a minute on two cores
    python benchmarks/lenet_digits.py --epochs 20

A fifth of the 1,797 digits, the same share of each class, is held out: the split follows from
`--split`, and nothing that is trained on or chosen looks at it. The others are shifted by up to a
pixel, anew in each epoch. The network is that of LeCun et al. (1998) for images of 8x8 pixels, with
rectified units, maximum pooling and dropout.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import symc
import symc.tensor as T
from symc import optim
from symc.demo import digits

SIDE, BATCH, GOAL = 8, 64, 0.985
FEATURES, HIDDEN = (32, 64), 128


def main() -> int:
    """Trains and reports; 1 if fewer digits than the goal are recognised."""
    options = parser().parse_args()
    learned, held_out = digits.split(digits.load(), np.random.default_rng(options.split))
    print(f"{len(learned)} digits to learn from, {len(held_out)} held out")
    before = time.perf_counter()
    steps = options.epochs * (len(learned) // BATCH)
    step, predict = network(steps, options.seed)
    print(f"made in {time.perf_counter() - before:.1f} s")
    rng = np.random.default_rng(options.seed)
    before = time.perf_counter()
    for epoch in range(1, options.epochs + 1):
        loss = train(step, learned, rng)
        if epoch == 1 or epoch % 10 == 0 or epoch == options.epochs:
            print(f"epoch {epoch:3}: mean loss {loss:.4f}", flush=True)
    seconds = time.perf_counter() - before
    right = predict(images(held_out)) == held_out.classes
    print(f"{steps} steps, {1e3 * seconds / steps:.2f} ms each")
    print(f"right on held-out digits: {right.sum()} of {right.size}, {right.mean():.2%}")
    return 0 if right.mean() >= GOAL else 1


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Train LeNet on the digits that symc ships.")
    made.add_argument("--epochs", type=int, default=60, help="passes over the data (60)")
    made.add_argument("--seed", type=int, default=0, help="of the start, the order and the shifts")
    made.add_argument("--split", type=int, default=0, help="of what is held out")
    return made


def network(steps: int, seed: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function that learns from images and classes, and one that recognises."""
    rng = np.random.default_rng(seed)
    stream = T.random.RandomStream(seed)

    def weights(name: str, *shape: int) -> Any:
        inputs = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        scale = np.sqrt(2 / inputs)
        return symc.shared((scale * rng.standard_normal(shape)).astype(np.float32), name=name)

    def biases(name: str, count: int) -> Any:
        return symc.shared(np.zeros(count, np.float32), name=name)

    first, second = FEATURES
    c1, b1 = weights("c1", first, 1, 3, 3), biases("b1", first)
    c2, b2 = weights("c2", second, first, 3, 3), biases("b2", second)
    w1, d1 = weights("w1", 4 * second, HIDDEN), biases("d1", HIDDEN)
    w2, d2 = weights("w2", HIDDEN, digits.CLASSES), biases("d2", digits.CLASSES)

    def scores(x: Any, rate: float) -> Any:
        h = x
        for c, b in ((c1, b1), (c2, b2)):
            h = T.nnet.conv2d(h, c, padding="same") + b[:, None, None]
            h = T.nnet.max_pool2d(T.relu(h), 2)
        h = T.nnet.dropout(h.reshape((x.shape[0], 4 * second)), rate, stream)
        h = T.nnet.dropout(T.relu(h @ w1 + d1), rate, stream)
        return h @ w2 + d2

    x, y = T.tensor("float32", (None, 1, SIDE, SIDE), "x"), T.lvector("y")
    loss = T.nnet.categorical_crossentropy(
        scores(x, 0.25), y, from_logits=True, label_smoothing=0.05, reduction="mean"
    )
    rate = optim.cosine_decay(2e-3, steps)
    updates = optim.adam(loss, [c1, b1, c2, b2, w1, d1, w2, d2], rate)
    step = symc.function([x, y], loss, updates=updates, name="lenet_step")
    predict = symc.function([x], T.argmax(scores(x, 0.0), axis=1), name="lenet_predict")
    return step, predict


def images(some: digits.Digits) -> Any:
    """Digits as images of one channel."""
    return some.images.reshape(-1, 1, SIDE, SIDE)


def train(step: Callable[..., Any], learned: digits.Digits, rng: np.random.Generator) -> float:
    """One pass over the data in random order; the mean loss."""
    order = rng.permutation(len(learned))
    everything, losses = shifted(images(learned), rng), []
    for start in range(0, len(order) - BATCH + 1, BATCH):
        rows = order[start : start + BATCH]
        losses.append(float(step(everything[rows], learned.classes[rows])))
    return float(np.mean(losses))


def shifted(x: Any, rng: np.random.Generator) -> Any:
    """Images moved by -1, 0 or 1 pixel in each direction, 0 twice as often as either."""
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.choice(3, size=(len(x), 2), p=(0.25, 0.5, 0.25))
    return np.stack(
        [image[:, i : i + SIDE, j : j + SIDE] for image, (i, j) in zip(wide, moves, strict=True)]
    )


if __name__ == "__main__":
    sys.exit(main())
