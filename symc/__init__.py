"""symc: symbolic tensor expressions, compiled to C or CUDA.

Write NumPy-like expressions with `symc.tensor`, differentiate them with `symc.grad`, and compile
them with `symc.function`. Look inside with `symc.debug`; check gradients with `symc.testing`.
"""

from __future__ import annotations

import gc as _gc
from typing import TYPE_CHECKING as _TYPE_CHECKING

# Importing makes tens of thousands of objects that stay. Looking for garbage among them again and
# again as they become more would take a quarter of the time.
_collecting = _gc.isenabled()
_gc.disable()
try:
    from symc import tensor
    from symc.callable import Function, In
    from symc.config import config
    from symc.function import Out, clone, function
    from symc.grad import (
        Lop,
        Rop,
        disconnected_grad,
        grad,
        grad_clip,
        grad_scale,
        hessian,
        jacobian,
    )
    from symc.graph import Tensor
    from symc.inputs import SharedVariable, shared
    from symc.testing import verify_grad
finally:
    if _collecting:
        _gc.enable()

if _TYPE_CHECKING:  # these are imported when they are first used
    from symc.loops.api import scan as scan
    from symc.loops.branch import ifelse as ifelse
    from symc.loops.folding import foldl as foldl
    from symc.loops.folding import foldr as foldr
    from symc.loops.folding import map as map
    from symc.loops.folding import reduce as reduce
    from symc.loops.outcome import until as until
    from symc.loops.repeat import fori_loop as fori_loop
    from symc.loops.repeat import while_loop as while_loop

__all__ = [
    "Function", "In", "Lop", "Out", "Rop", "SharedVariable", "Tensor", "clone", "config",
    "disconnected_grad", "function", "grad", "grad_clip", "grad_scale", "hessian", "jacobian",
    "shared", "tensor", "verify_grad",
]  # fmt: skip

# Functions of `symc.loops`, which is imported when a loop is made, and the modules they stand in.
_LATE = {
    "scan": "api", "until": "outcome",
    "map": "folding", "reduce": "folding", "foldl": "folding", "foldr": "folding",
    "ifelse": "branch", "while_loop": "repeat", "fori_loop": "repeat",
}  # fmt: skip

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Modules and functions that need not be imported with symc."""
    if name in ("cuda", "debug", "errors"):
        import importlib

        return importlib.import_module(f"symc.{name}")
    if name in _LATE:
        import importlib

        return getattr(importlib.import_module(f"symc.loops.{_LATE[name]}"), name)
    raise AttributeError(f"module 'symc' has no attribute {name!r}")
