"""`theano.sandbox.solve`: the former place of a function of `theano.tensor.slinalg`."""

from symc.theano.tensor.slinalg import solve

__all__ = ["solve"]
