"""The former place of `theano.tensor.nnet.blocksparse`."""

from symc.theano.tensor.nnet.blocksparse import (
    sparse_block_dot,
    sparse_block_gemv,
    sparse_block_outer,
)

__all__ = ["sparse_block_dot", "sparse_block_gemv", "sparse_block_outer"]
