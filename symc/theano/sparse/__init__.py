"""`theano.sparse`: sparse matrices of SciPy's.

Functions with sparse matrices are computed op by op by SciPy and NumPy (`symc.theano.compile.vm`).
"""

import sys as _sys

from symc.theano.common_names import answer as _answer
from symc.theano.sparse import basic, type
from symc.theano.sparse.basic import *
from symc.theano.sparse.sharedvar import sparse_constructor as shared
from symc.theano.sparse.type import SparseConstant, SparseType, SparseVariable

enable_sparse = True
_answer(*(each for name, each in list(_sys.modules.items()) if name.startswith(__name__)))
