"""`theano.tensor.signal`: pooling and convolution of signals."""

from symc.theano.tensor.signal import conv, downsample, pool

__all__ = ["conv", "downsample", "pool"]
