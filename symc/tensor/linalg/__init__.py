"""Linear algebra: `T.linalg`, with NumPy's names and SciPy's for what NumPy has not."""

from symc.tensor.linalg.definite import *
from symc.tensor.linalg.triangular import *

__all__ = ["cho_solve", "cholesky", "solve_triangular"]
