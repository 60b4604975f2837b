"""`theano.tensor.nnet`: functions for neural networks."""

from symc.theano.tensor.nnet import abstract_conv as abstract_conv
from symc.theano.tensor.nnet import blocksparse as blocksparse
from symc.theano.tensor.nnet import bn as bn
from symc.theano.tensor.nnet import conv as conv
from symc.theano.tensor.nnet import conv3d2d as conv3d2d
from symc.theano.tensor.nnet import corr as corr
from symc.theano.tensor.nnet import corr3d as corr3d
from symc.theano.tensor.nnet import ctc as ctc
from symc.theano.tensor.nnet import neighbours as neighbours
from symc.theano.tensor.nnet import nnet as nnet
from symc.theano.tensor.nnet import sigm as sigm
from symc.theano.tensor.nnet.abstract_conv import conv2d as abstract_conv2d
from symc.theano.tensor.nnet.abstract_conv import conv2d as conv2d
from symc.theano.tensor.nnet.abstract_conv import conv2d_grad_wrt_inputs as conv2d_grad_wrt_inputs
from symc.theano.tensor.nnet.abstract_conv import conv2d_transpose as conv2d_transpose
from symc.theano.tensor.nnet.abstract_conv import conv3d as conv3d
from symc.theano.tensor.nnet.blocksparse import sparse_block_dot as sparse_block_dot
from symc.theano.tensor.nnet.bn import batch_normalization as batch_normalization
from symc.theano.tensor.nnet.conv import ConvOp as ConvOp
from symc.theano.tensor.nnet.nnet import *
from symc.theano.tensor.nnet.separable import separable_conv2d as separable_conv2d
from symc.theano.tensor.nnet.sigm import hard_sigmoid as hard_sigmoid
from symc.theano.tensor.nnet.sigm import scalar_sigmoid as scalar_sigmoid
from symc.theano.tensor.nnet.sigm import sigmoid as sigmoid
from symc.theano.tensor.nnet.sigm import sigmoid_inplace as sigmoid_inplace
from symc.theano.tensor.nnet.sigm import softplus as softplus
from symc.theano.tensor.nnet.sigm import ultra_fast_sigmoid as ultra_fast_sigmoid
