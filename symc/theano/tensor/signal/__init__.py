"""`theano.tensor.signal`: pooling and convolution of signals."""

from symc.theano.tensor.signal import downsample, pool

__all__ = ["downsample", "pool"]
