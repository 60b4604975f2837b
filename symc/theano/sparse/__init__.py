"""`theano.sparse`: sparse matrices of SciPy's.

Functions with sparse matrices are computed op by op by SciPy and NumPy (`symc.theano.compile.vm`).
"""

from symc.theano.sparse import basic, type
from symc.theano.sparse.basic import *
from symc.theano.sparse.sharedvar import sparse_constructor as shared
from symc.theano.sparse.type import SparseConstant, SparseType, SparseVariable

enable_sparse = True
