"""`theano.sandbox.cuda.dnn`: whether that library found cuDNN."""

from symc.theano.gpuarray.dnn import dnn_present as dnn_available

__all__ = ["dnn_available"]
