"""`theano.sandbox.linalg.ops`: hints about matrices, and the former place of decompositions."""

from __future__ import annotations

from typing import Any

from symc.theano.gof.graph import Apply
from symc.theano.tensor.nlinalg import (
    AllocDiag as AllocDiag,
)
from symc.theano.tensor.nlinalg import (
    ExtractDiag as ExtractDiag,
)
from symc.theano.tensor.nlinalg import (
    MatrixInverse as MatrixInverse,
)
from symc.theano.tensor.nlinalg import (
    MatrixPinv as MatrixPinv,
)
from symc.theano.tensor.nlinalg import alloc_diag as alloc_diag
from symc.theano.tensor.nlinalg import det as det
from symc.theano.tensor.nlinalg import diag as diag
from symc.theano.tensor.nlinalg import eig as eig
from symc.theano.tensor.nlinalg import eigh as eigh
from symc.theano.tensor.nlinalg import extract_diag as extract_diag
from symc.theano.tensor.nlinalg import lstsq as lstsq
from symc.theano.tensor.nlinalg import matrix_dot as matrix_dot
from symc.theano.tensor.nlinalg import matrix_inverse as matrix_inverse
from symc.theano.tensor.nlinalg import matrix_power as matrix_power
from symc.theano.tensor.nlinalg import norm as norm
from symc.theano.tensor.nlinalg import pinv as pinv
from symc.theano.tensor.nlinalg import qr as qr
from symc.theano.tensor.nlinalg import svd as svd
from symc.theano.tensor.nlinalg import trace as trace
from symc.theano.tensor.slinalg import Cholesky as Cholesky
from symc.theano.tensor.slinalg import Solve as Solve
from symc.theano.tensor.slinalg import cholesky as cholesky
from symc.theano.tensor.slinalg import kron as kron
from symc.theano.tensor.slinalg import solve as solve

imported_scipy = True  # of what needs SciPy here symc needs none


def hints(variable: Any) -> dict[str, Any]:
    """The hints given for a variable; symc keeps none."""
    del variable
    return {}


def psd(v: Any) -> Any:
    """A matrix that is promised to be symmetric and positive semidefinite."""
    return v


def symmetric(v: Any) -> Any:
    """A matrix that is promised to be symmetric."""
    return v


def is_psd(v: Any) -> bool:
    """Whether a matrix was promised to be positive semidefinite: symc keeps no promises."""
    del v
    return False


is_symmetric = is_positive = is_psd


def inv_as_solve(*_: Apply) -> None:
    """A rewrite of Theano's that symc does not need."""


def spectral_radius_bound(X: Any, log2_exponent: Any) -> Any:
    """An upper bound of the largest absolute eigenvalue of a symmetric matrix of positives."""
    if X.type.ndim != 2:
        raise TypeError("spectral_radius_bound requires a matrix argument", X)
    if not isinstance(log2_exponent, int):
        raise TypeError("spectral_radius_bound requires an integer exponent", log2_exponent)
    if log2_exponent <= 0:
        raise ValueError("spectral_radius_bound requires a strictly positive exponent",
                         log2_exponent)  # fmt: skip
    from symc.theano.tensor.products import dot

    power = X
    for _ in range(log2_exponent):
        power = dot(power, power)
    return trace(power) ** (2.0**-log2_exponent)
