"""The former place of `theano.tensor.nnet.neighbours`."""

from symc.theano.tensor.nnet.neighbours import (
    Images2Neibs,
    images2neibs,
    neibs2images,
)

__all__ = ["Images2Neibs", "images2neibs", "neibs2images"]
