"""Functions of angles and hyperbolic functions, elementwise: rows as in `math.py`."""

from __future__ import annotations

import math

import numpy as np

from symc.graph.node import Tensor, TensorLike
from symc.tensor.elementwise import call, elementwise
from symc.tensor.exponentials import sqrt
from symc.tensor.math import as_float, sqr, where_zero
from symc.tensor.signatures import FunctionOfOne

__all__ = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh",
    "deg2rad", "hypot", "rad2deg", "sin", "sinh", "tan", "tanh",
]  # fmt: skip

sin = elementwise(
    "sin", np.sin, call("sin"),
    """The sine of x radians.

    >>> import symc.tensor as T
    >>> T.sin([0.0, 0.5]).eval()
    array([0.        , 0.47942554])
    """,
    lambda g, x, y: g * cos(x), cost=16,
    of_complex=True,
)  # fmt: skip
cos: FunctionOfOne = elementwise(
    "cos", np.cos, call("cos"),
    """The cosine of x radians.

    >>> import symc.tensor as T
    >>> T.cos([0.0, 0.5]).eval()
    array([1.        , 0.87758256])
    """,
    lambda g, x, y: -g * sin(x), cost=16,
    of_complex=True,
)  # fmt: skip
tan = elementwise(
    "tan", np.tan, call("tan"),
    """The tangent of x radians.

    >>> import symc.tensor as T
    >>> T.tan([0.0, 0.5]).eval()
    array([0.        , 0.54630249])
    """,
    lambda g, x, y: g * (1 + sqr(y)), cost=20, of_complex=True,
)  # fmt: skip
arcsin = elementwise(
    "arcsin", np.arcsin, call("arcsin"),
    """The inverse sine, in [-pi/2, pi/2]; NaN beyond -1 and 1 (DLMF 4.23).

    >>> import symc.tensor as T
    >>> T.arcsin([0.5, 1.0]).eval()
    array([0.52359878, 1.57079633])
    """,
    lambda g, x, y: g / sqrt(1 - sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
arccos = elementwise(
    "arccos", np.arccos, call("arccos"),
    """The inverse cosine, in [0, pi]; NaN beyond -1 and 1 (DLMF 4.23).

    >>> import symc.tensor as T
    >>> T.arccos([0.5, -1.0]).eval()
    array([1.04719755, 3.14159265])
    """,
    lambda g, x, y: -g / sqrt(1 - sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
arctan = elementwise(
    "arctan", np.arctan, call("arctan"),
    """The inverse tangent, in [-pi/2, pi/2] (DLMF 4.23).

    >>> import symc.tensor as T
    >>> T.arctan([1.0, float("inf")]).eval()
    array([0.78539816, 1.57079633])
    """,
    lambda g, x, y: g / (1 + sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
arctan2 = elementwise(
    "arctan2", np.arctan2, call("arctan2"),
    """The angle of the point (y, x), in [-pi, pi]: the first argument is the ordinate.

    >>> import symc.tensor as T
    >>> T.arctan2([1.0, 1.0], [1.0, -1.0]).eval()
    array([0.78539816, 2.35619449])
    """,
    lambda g, y, x, z: g * x / (sqr(x) + sqr(y)), lambda g, y, x, z: -g * y / (sqr(x) + sqr(y)),
    cost=30,
)  # fmt: skip
sinh = elementwise(
    "sinh", np.sinh, call("sinh"),
    """The hyperbolic sine.

    >>> import symc.tensor as T
    >>> T.sinh([0.0, 1.0]).eval()
    array([0.        , 1.17520119])
    """,
    lambda g, x, y: g * cosh(x), cost=20,
    of_complex=True,
)  # fmt: skip
cosh: FunctionOfOne = elementwise(
    "cosh", np.cosh, call("cosh"),
    """The hyperbolic cosine.

    >>> import symc.tensor as T
    >>> T.cosh([0.0, 1.0]).eval()
    array([1.        , 1.54308063])
    """,
    lambda g, x, y: g * sinh(x), cost=20,
    of_complex=True, sign_bit="never",
)  # fmt: skip
tanh = elementwise(
    "tanh", np.tanh, call("tanh"),
    """The hyperbolic tangent.

    >>> import symc.tensor as T
    >>> T.tanh([0.0, 1.0, 20.0]).eval()
    array([0.        , 0.76159416, 1.        ])
    """,
    lambda g, x, y: g * (1 - sqr(y)), cost=20, of_complex=True,
)  # fmt: skip
arcsinh = elementwise(
    "arcsinh", np.arcsinh, call("arcsinh"),
    """The inverse hyperbolic sine (DLMF 4.37).

    >>> import symc.tensor as T
    >>> T.arcsinh([0.0, 1.0]).eval()
    array([0.        , 0.88137359])
    """,
    lambda g, x, y: g / sqrt(sqr(x) + 1), cost=20, of_complex=True,
)  # fmt: skip
arccosh = elementwise(
    "arccosh", np.arccosh, call("arccosh"),
    """The inverse hyperbolic cosine, of x >= 1; NaN below (DLMF 4.37).

    >>> import symc.tensor as T
    >>> T.arccosh([1.0, 2.0]).eval()
    array([0.       , 1.3169579])
    """,
    lambda g, x, y: g / (sqrt(x - 1) * sqrt(x + 1)), cost=20, of_complex=True,
)  # fmt: skip
arctanh = elementwise(
    "arctanh", np.arctanh, call("arctanh"),
    """The inverse hyperbolic tangent, of -1 <= x <= 1; NaN beyond (DLMF 4.37).

    >>> import symc.tensor as T
    >>> T.arctanh([0.5, 1.0]).eval()
    array([0.54930614,        inf])
    """,
    lambda g, x, y: g / (1 - sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
hypot = elementwise(
    "hypot", np.hypot, call("hypot"),
    """``sqrt(x*x + y*y)`` without overflow. Its gradient at the origin is taken as 0.

    >>> import symc.tensor as T
    >>> T.hypot([3.0, 1e200], [4.0, 1e200]).eval()
    array([5.00000000e+000, 1.41421356e+200])
    """,
    lambda g, x, y, z: g * where_zero(z, 0, x / z), lambda g, x, y, z: g * where_zero(z, 0, y / z),
    cost=20,
)  # fmt: skip


def deg2rad(x: TensorLike) -> Tensor:
    """Degrees to radians: ``x * pi / 180``. Elementwise; integers become floats, as in `sin`.

    >>> import symc.tensor as T
    >>> T.deg2rad([180, 90]).eval()
    array([3.14159265, 1.57079633])
    """
    return as_float(x) * (math.pi / 180)


def rad2deg(x: TensorLike) -> Tensor:
    """Radians to degrees: ``x * 180 / pi``. Elementwise; integers become floats, as in `sin`.

    >>> import symc.tensor as T
    >>> T.rad2deg([0.5, 1.0]).eval()
    array([28.64788976, 57.29577951])
    """
    return as_float(x) * (180 / math.pi)
