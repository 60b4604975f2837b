"""SymPy both ways: expressions to tensors, tensors to expressions, and a `lambdify` that compiles.

from symc.sympy import lambdify, to_symc, to_sympy
"""

from __future__ import annotations

from symc.graph.public import publish as _publish
from symc.sympy.lambdify import Lambdified, lambdify
from symc.sympy.to_symc import inputs_of, to_symc
from symc.sympy.to_sympy import to_sympy

__all__ = ["Lambdified", "inputs_of", "lambdify", "to_symc", "to_sympy"]

_publish(globals(), __name__, __all__)


def __dir__() -> list[str]:
    return [*__all__]
