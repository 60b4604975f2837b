"""`theano.tensor.nnet`: functions for neural networks."""

from symc.theano.tensor.nnet import (
    abstract_conv,
    blocksparse,
    bn,
    conv,
    conv3d2d,
    ctc,
    neighbours,
    nnet,
    sigm,
)
from symc.theano.tensor.nnet.abstract_conv import (
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_transpose,
    conv3d,
)
from symc.theano.tensor.nnet.blocksparse import sparse_block_dot
from symc.theano.tensor.nnet.bn import batch_normalization
from symc.theano.tensor.nnet.conv import ConvOp
from symc.theano.tensor.nnet.nnet import *
from symc.theano.tensor.nnet.sigm import (
    hard_sigmoid,
    scalar_sigmoid,
    sigmoid,
    sigmoid_inplace,
    softplus,
    ultra_fast_sigmoid,
)
