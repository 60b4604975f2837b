"""A character-level LSTM learns the first chapters of Moby-Dick, and writes on its own.

    python benchmarks/char_lstm.py                  some minutes; the loss goes from 4.3 to 1.7 nats
    python benchmarks/char_lstm.py --steps 200      a look

The whole training step is one compiled function: the loop over time, its gradient, Adam, and the
state carried from one piece of text to the next. Writing is one, too: a loop that draws each
character from the network's distribution after the one before.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import symc
import symc.tensor as T

TEXT = Path(__file__).resolve().parent / "data" / "moby_dick.txt"
TIME, ROWS = 64, 32  # characters in a piece, and pieces at a time
KEPT_BACK = 0.1  # the end of the text, which the network never sees


class Model:
    """The parameters, and the functions that are compiled from them."""

    def __init__(self, characters: int, width: int, rate: float) -> None:
        rng = np.random.default_rng(0)
        self.width = width

        def weights(rows: int, columns: int, name: str) -> Any:
            bound = rows**-0.5
            value = rng.uniform(-bound, bound, (rows, columns)).astype(np.float32)
            return symc.shared(value, name=name)

        offset = np.zeros(4 * width, np.float32)
        offset[width : 2 * width] = 1  # the state is kept, until there is reason to forget it
        self.embedding = weights(characters, 4 * width, "embedding")
        self.recurrent = weights(width, 4 * width, "recurrent")
        self.offset = symc.shared(offset, name="offset")
        self.out = weights(width, characters, "out")
        self.bias = symc.shared(np.zeros(characters, np.float32), name="bias")
        self.params = [self.embedding, self.recurrent, self.offset, self.out, self.bias]
        self.train = self._training(rate)
        self.loss = self._evaluation()
        self.write = self._writing()

    def cell(self, into: Any, h: Any, c: Any) -> tuple[Any, Any]:
        """One step of time: the new state."""
        z = into + T.dot(h, self.recurrent) + self.offset
        i, f, o = (T.sigmoid(z[:, k * self.width : (k + 1) * self.width]) for k in range(3))
        c = f * c + i * T.tanh(z[:, 3 * self.width :])
        return o * T.tanh(c), c

    def unrolled(self, text: Any, state: tuple[Any, Any]) -> tuple[Any, Any, Any]:
        """The mean loss of the characters of a text after its first row, and the last state."""
        (h, c), _ = symc.scan(self.cell, self.embedding[text[:-1]], list(state))
        scores = T.log_softmax(T.dot(h, self.out) + self.bias)
        hits = T.take_along_axis(scores, text[1:, :, None], axis=2)
        return -hits.mean(), h[-1], c[-1]

    def _training(self, rate: float) -> Any:
        text = T.tensor("int64", (None, ROWS), name="text")
        state = [symc.shared(np.zeros((ROWS, self.width), np.float32), name=n) for n in "hc"]
        loss, h, c = self.unrolled(text, (state[0], state[1]))
        gradients = symc.optim.clip_by_global_norm(symc.grad(loss, self.params), 5.0)
        updates = [*symc.optim.adam(gradients, self.params, rate), (state[0], h), (state[1], c)]
        return symc.function([text], loss, updates=updates, name="train")

    def _evaluation(self) -> Any:
        text = T.tensor("int64", (None, 1), name="text")
        start = T.zeros((1, self.width), dtype="float32")
        return symc.function([text], self.unrolled(text, (start, start))[0], name="evaluate")

    def _writing(self) -> Any:
        stream = T.random.RandomStream(1)
        length, first, heat = T.lscalar("length"), T.lscalar("first"), T.scalar("heat", "float32")

        def step(last: Any, h: Any, c: Any) -> Any:
            h, c = self.cell(self.embedding[last][None, :], h, c)
            scores = (T.dot(h, self.out) + self.bias)[0] / heat
            return stream.categorical(logits=scores), h, c

        start = T.zeros((1, self.width), dtype="float32")
        (written, _, _), updates = symc.scan(
            step, outputs_info=[first, start, start], n_steps=length
        )
        inputs = [length, first, heat]
        return symc.function(inputs, written, updates=updates, name="write")


def pieces(codes: Any) -> Iterator[Any]:
    """Pieces of text, (time + 1, rows), each row going on where it ended; again and again."""
    length = (len(codes) - 1) // ROWS
    rows = codes[: length * ROWS].reshape(ROWS, length)
    while True:
        for start in range(0, length - TIME, TIME):
            yield np.ascontiguousarray(rows[:, start : start + TIME + 1].T)


def main() -> None:
    """Trains, and prints the outcome."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=2000, help="training steps (2000)")
    parser.add_argument("--width", type=int, default=160, help="units of the LSTM (160)")
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate of Adam (0.003)")
    options = parser.parse_args()

    text = TEXT.read_text(encoding="ascii")
    alphabet = sorted(set(text))
    codes = np.array([alphabet.index(c) for c in text], dtype=np.int64)
    split = int(len(codes) * (1 - KEPT_BACK))
    began = time.perf_counter()
    model = Model(len(alphabet), options.width, options.rate)
    seconds = time.perf_counter() - began
    print(f"{len(text)} characters, {len(alphabet)} different, the last {KEPT_BACK:.0%} kept back")
    print(f"three functions built in {seconds:.1f} s", flush=True)

    began, recent = time.perf_counter(), list[float]()
    for number, piece in zip(range(1, options.steps + 1), pieces(codes[:split]), strict=False):
        recent.append(float(model.train(piece)))
        if number % max(1, options.steps // 20) == 0:
            rate = number / (time.perf_counter() - began)
            mean = sum(recent) / len(recent)
            print(f"step {number:5}   loss {mean:.3f} nats   {rate:.1f} steps/s", flush=True)
            recent.clear()
    unseen = float(model.loss(codes[split:, None]))
    print(f"\ntext never seen: {unseen:.3f} nats, {unseen / np.log(2):.2f} bits a character")
    print(f"(each character alike: {np.log(len(alphabet)):.3f} nats)\n")
    for heat in (0.5, 0.8):
        written = model.write(400, alphabet.index("\n"), np.float32(heat))
        print(f"--- written at temperature {heat} " + "-" * 40)
        print("".join(alphabet[code] for code in written).strip() + "\n")


if __name__ == "__main__":
    main()
