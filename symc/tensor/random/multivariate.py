"""The normal distribution of vectors."""

from __future__ import annotations

from typing import Any

from symc.errors import RankError
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.products import matmul
from symc.tensor.random.parameters import float_dtype, raw, shape_for
from symc.tensor.views import expand_dims

__all__ = ["multivariate_normal"]


def multivariate_normal(
    key: Tensor, mean: TensorLike, cov: TensorLike, size: Any = None, dtype: Any = None
) -> Tensor:
    """Vectors with this mean and covariance matrix, along a new last axis.

    `mean` is a vector and `cov` a matrix, or stacks of them; `size` is the shape without the last
    axis, by default that of the stacks. Vectors are ``mean + l @ z`` for normal numbers z and the
    Cholesky factor l of `cov`, which must be positive definite: else `LinAlgError` is raised.
    Gradients reach both.

    >>> import numpy as np, symc.tensor as T
    >>> T.random.multivariate_normal(T.random.key(0), np.zeros(2), np.eye(2), size=1000)
    <constant + normal(constant) @ ....T float64[1000, 2]>
    """
    from symc.tensor.linalg import cholesky  # late: a module of its own

    kind = float_dtype("multivariate_normal", dtype, (mean, cov))
    middle, spread = (cast_to(as_tensor(p, kind), kind) for p in (mean, cov))
    for name, parameter, ndim in (("mean", middle, 1), ("cov", spread, 2)):
        if parameter.ndim < ndim:
            raise RankError(
                f"multivariate_normal: {name} needs {ndim} axes\n  given  {describe(parameter)}"
            )
    leading = shape_for("multivariate_normal", size, [middle[..., 0], spread[..., 0, 0]])
    z = raw("normal", key, (*leading, middle.type.shape[-1]), kind, "multivariate_normal")
    if spread.ndim == 2:  # one product of matrices
        return middle + matmul(z, cholesky(spread).T)
    return middle + matmul(cholesky(spread), expand_dims(z, -1))[..., 0]
