"""A language model of letters with LSTM layers (Graves, "Generating sequences", 2013).

python -m symc.nets lstm    # learns the Zen of Python
"""

from __future__ import annotations

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import cross_entropy, learner
from symc.nets.weights import Weights


def scores(
    w: Weights, letters: Tensor, alphabet: int, hidden: int = 128, layers: int = 1
) -> Tensor:
    """For each place of sequences (batch, steps) a score for each letter that may come next.

    Letters are numbers from 0 to ``alphabet - 1``; the result is (batch, steps, alphabet).
    """
    h = T.swapaxes(w.embedding("letters", letters, alphabet, hidden), 0, 1)
    start = T.zeros((letters.shape[0], hidden), "float32")
    scale = hidden**-0.5
    for layer in range(layers):
        from_below = w.normal(f"lstm{layer}.w", hidden, 4 * hidden, scale=scale)
        from_before = w.normal(f"lstm{layer}.u", hidden, 4 * hidden, scale=scale)
        bias = w.filled(f"lstm{layer}.b", 4 * hidden)
        h = T.nnet.lstm(h, start, start, from_below, from_before, bias).output
    return w.dense("out", T.swapaxes(h, 0, 1), alphabet)


def loss(w: Weights, letters: Tensor, alphabet: int, hidden: int = 128, layers: int = 1) -> Tensor:
    """The mean cross-entropy of each letter, given those before it."""
    told = scores(w, letters[:, :-1], alphabet, hidden, layers)
    return cross_entropy(told, letters[:, 1:])


def step(w: Weights, hidden: int = 128) -> Function:
    """A function that learns pieces of a text."""
    letters = T.lmatrix("letters")
    found = loss(w, letters, data.ALPHABET, hidden)
    return learner(w, [letters], found, name="lstm_step", rate=3e-3)


batches = data.letters
