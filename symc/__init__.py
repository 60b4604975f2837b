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

if _TYPE_CHECKING:
    from symc.user.c_op import c_function, c_op
    from symc.user.python_op import op
    from symc.user.subgraph import function_of

__all__ = [
    "Function", "In", "Lop", "Out", "Rop", "SharedVariable", "Tensor", "clone", "config",
    "disconnected_grad", "function", "grad", "grad_clip", "grad_scale", "hessian", "jacobian",
    "shared", "tensor", "verify_grad",
]  # fmt: skip

# Functions of rarely used modules, which are imported when they are first asked for.
_USERS = {
    "c_function": "symc.user.c_op", "c_op": "symc.user.c_op",
    "function_of": "symc.user.subgraph", "op": "symc.user.python_op",
}  # fmt: skip

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Modules and functions that need not be imported with symc."""
    if name in _USERS:
        import importlib

        return getattr(importlib.import_module(_USERS[name]), name)
    if name in ("cuda", "debug", "errors"):
        import importlib

        return importlib.import_module(f"symc.{name}")
    raise AttributeError(f"module 'symc' has no attribute {name!r}")
