"""The former place of `theano.tensor.nlinalg` and `slinalg`."""

from symc.theano.sandbox.linalg import ops
from symc.theano.sandbox.linalg.ops import (
    cholesky,
    det,
    diag,
    eig,
    eigh,
    inv_as_solve,
    matrix_inverse,
    psd,
    solve,
    spectral_radius_bound,
    trace,
)

__all__ = [
    "cholesky", "det", "diag", "eig", "eigh", "inv_as_solve", "matrix_inverse", "ops", "psd",
    "solve", "spectral_radius_bound", "trace",
]  # fmt: skip
