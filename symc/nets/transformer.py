"""A transformer that models language (Vaswani et al., 2017; as in GPT-2, Radford et al., 2019).

python -m symc.nets transformer    # learns the Zen of Python
"""

from __future__ import annotations

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import cross_entropy, learner
from symc.nets.weights import Weights, known


def scores(
    w: Weights, letters: Tensor, alphabet: int, width: int = 64, heads: int = 4, blocks: int = 2,
    longest: int = 64,
) -> Tensor:  # fmt: skip
    """For each place of sequences (batch, steps) a score for each letter that may come next.

    Letters are numbers from 0 to ``alphabet - 1``, sequences at most `longest` long; the result is
    (batch, steps, alphabet). Each block adds to its input what attention gives, then what two dense
    layers give, both of a normalised input.
    """
    h = w.embedding("letters", letters, alphabet, width)
    h = h + w.normal("places", longest, width)[: letters.shape[1]]
    for block in range(blocks):
        h = h + _attention(w, f"block{block}", w.layer_norm(f"block{block}.norm1", h), heads)
        wide = w.dense(f"block{block}.wide", w.layer_norm(f"block{block}.norm2", h), 4 * width)
        h = h + w.dense(f"block{block}.narrow", T.nnet.gelu(wide), width)
    return w.dense("out", w.layer_norm("norm", h), alphabet)


def _attention(w: Weights, name: str, x: Tensor, heads: int) -> Tensor:
    """Each place looks at those before it, `heads` times side by side."""
    width = known(x, 2)
    batch, steps = x.shape[0], x.shape[1]
    parts = w.dense(f"{name}.qkv", x, 3 * width).reshape((batch, steps, 3, heads, width // heads))
    q, k, v = (T.swapaxes(parts[:, :, part], 1, 2) for part in range(3))
    seen = T.nnet.attention(q, k, v, causal=True)
    return w.dense(f"{name}.out", T.swapaxes(seen, 1, 2).reshape((batch, steps, width)), width)


def loss(w: Weights, letters: Tensor, alphabet: int, **sizes: int) -> Tensor:
    """The mean cross-entropy of each letter, given those before it; `sizes` as for `scores`."""
    told = scores(w, letters[:, :-1], alphabet, **sizes)
    return cross_entropy(told, letters[:, 1:])


def step(w: Weights, **sizes: int) -> Function:
    """A function that learns pieces of a text; `sizes` as `scores` has them."""
    letters = T.lmatrix("letters")
    found = loss(w, letters, data.ALPHABET, **sizes)
    return learner(w, [letters], found, name="transformer_step", rate=3e-3)


batches = data.letters
