"""Linear algebra: `T.linalg`, with NumPy's names, and SciPy's where NumPy has none."""

from symc.graph.public import publish as _publish
from symc.tensor.linalg.building import *
from symc.tensor.linalg.definite import *
from symc.tensor.linalg.eigen import *
from symc.tensor.linalg.exponential import *
from symc.tensor.linalg.general import *
from symc.tensor.linalg.naming import *
from symc.tensor.linalg.orthogonal import *
from symc.tensor.linalg.singular import *
from symc.tensor.linalg.spectral import *
from symc.tensor.linalg.triangular import *

__all__ = [
    "EigResult", "EighResult", "LstsqResult", "QRResult", "SVDResult", "SlogdetResult",
    "block_diag", "cho_solve", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh",
    "eigvals", "eigvalsh", "expm", "inv", "kron", "lstsq", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet",
    "solve", "solve_triangular", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip

_publish(globals(), __name__, __all__)


def __getattr__(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("linalg", __name__, name, __dir__)


def __dir__() -> list[str]:
    return [*__all__]
