"""`theano.sparse.sharedvar`: shared sparse matrices."""

from symc.theano.sparse.type import SparseTensorSharedVariable, sparse_constructor

__all__ = ["SparseTensorSharedVariable", "sparse_constructor"]
