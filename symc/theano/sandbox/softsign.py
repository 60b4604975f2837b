"""The former place of `theano.tensor.nnet.nnet.softsign`."""

from symc.theano.tensor.nnet.nnet import softsign

__all__ = ["softsign"]
