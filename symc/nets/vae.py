"""A variational autoencoder (Kingma and Welling, "Auto-encoding variational Bayes", 2014).

python -m symc.nets vae    # learns to draw the digits that symc ships
"""

from __future__ import annotations

import symc.tensor as T
from symc.calls.callable import Function
from symc.graph.node import Tensor
from symc.nets import data
from symc.nets.training import learner
from symc.nets.weights import Weights, known


def encoded(w: Weights, pixels: Tensor, hidden: int, latent: int) -> tuple[Tensor, Tensor]:
    """The means of the hidden causes of images, (images, latent), and their log variances."""
    h = T.relu(w.dense("encode", pixels, hidden))
    return w.dense("mean", h, latent), w.dense("spread", h, latent)


def decoded(w: Weights, causes: Tensor, pixels: int, hidden: int) -> Tensor:
    """For each pixel the log odds that it is ink."""
    return w.dense("pixels", T.relu(w.dense("decode", causes, hidden)), pixels)


def loss(w: Weights, pixels: Tensor, noise: Tensor, hidden: int = 256) -> Tensor:
    """The negative evidence lower bound of an image, the paper's equation 10, on average.

    `pixels` are (images, pixels), from 0 to 1, `noise` is standard normal, (images, latent); the
    lengths of their last axes must be known.
    """
    length, latent = known(pixels, 1), known(noise, 1)
    mean, spread = encoded(w, pixels, hidden, latent)
    odds = decoded(w, mean + T.exp(spread / 2) * noise, length, hidden)
    missed = (T.softplus(odds) - pixels * odds).sum(axis=1)
    divergence = (T.sqr(mean) + T.exp(spread) - 1 - spread).sum(axis=1) / 2
    bound: Tensor = (missed + divergence).mean()
    return bound


def step(w: Weights, latent: int = 8) -> Function:
    """A function that learns handwritten digits; it draws its noise itself."""
    pixels = T.tensor("float32", (None, 64), "pixels")
    stream = T.random.RandomStream(seed=0)
    noise = stream.normal(size=(pixels.shape[0], latent), dtype="float32")
    return learner(w, [pixels], loss(w, pixels, noise), name="vae_step")


batches = data.pixels
