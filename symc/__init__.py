"""symc: symbolic tensor expressions, compiled to C or CUDA.

Write NumPy-like expressions with `symc.tensor`, differentiate them with `symc.grad`, and compile
them with `symc.function`. Look inside with `symc.debug`; check gradients with `symc.testing`.
"""

from __future__ import annotations

import sys as _sys
import typing as _typing

try:
    import symc.codegen as _codegen

    del _codegen  # only whether it is there
except ModuleNotFoundError as _error:
    raise ImportError(
        "symc.codegen is missing: symc/codegen and symc/cache of a checkout are links, which zip "
        "files do not keep. Run `pip install -e .` in it, or clone it by git"
    ) from _error

from symc.graph.collector import without_collection as _without_collection

with _without_collection(stays=True):
    from symc import tensor
    from symc.calls.callable import Function
    from symc.calls.function import clone, function
    from symc.calls.in_out import In, Out
    from symc.config import config
    from symc.errors import LinAlgError
    from symc.graph.inputs import SharedVariable, shared
    from symc.graph.node import Tensor
    from symc.graph.public import public as _public
    from symc.graph.public import publish as _publish
    from symc.graph.registry import SERVICES as _SERVICES
    from symc.version import VERSION as _VERSION

if _typing.TYPE_CHECKING:
    from symc import cuda as cuda
    from symc import dask as dask
    from symc import debug as debug
    from symc import distributed as distributed
    from symc import errors as errors
    from symc import nets as nets
    from symc import opencl as opencl
    from symc import optim as optim
    from symc import sympy as sympy
    from symc import testing as testing
    from symc.calls.kept import free_memory as free_memory
    from symc.debug import dprint as dprint
    from symc.debug import pprint as pprint
    from symc.derivatives.changed import disconnected_grad as disconnected_grad
    from symc.derivatives.changed import grad_clip as grad_clip
    from symc.derivatives.changed import grad_scale as grad_scale
    from symc.derivatives.grad import Lop as Lop
    from symc.derivatives.grad import Rop as Rop
    from symc.derivatives.grad import grad as grad
    from symc.derivatives.grad import hessian as hessian
    from symc.derivatives.grad import jacobian as jacobian
    from symc.derivatives.vectorize import vmap as vmap
    from symc.loops.api import scan as scan
    from symc.loops.branch import ifelse as ifelse
    from symc.loops.folding import foldl as foldl
    from symc.loops.folding import foldr as foldr
    from symc.loops.folding import map as map
    from symc.loops.folding import reduce as reduce
    from symc.loops.outcome import until as until
    from symc.loops.repeat import fori_loop as fori_loop
    from symc.loops.repeat import while_loop as while_loop
    from symc.measure.benchmark import benchmark as benchmark
    from symc.measure.profile import profile as profile
    from symc.saved.frozen import frozen as frozen
    from symc.saved.functions import load as load
    from symc.saved.functions import save as save
    from symc.tensor.watch import Assert as Assert
    from symc.tensor.watch import Print as Print
    from symc.tensor.watch import breakpoint as breakpoint
    from symc.testing import verify_grad as verify_grad
    from symc.user.c_op import c_function as c_function
    from symc.user.c_op import c_op as c_op
    from symc.user.python_op import op as op
    from symc.user.subgraph import function_of as function_of

__all__ = [
    "Function", "In", "LinAlgError", "Lop", "Out", "Rop", "SharedVariable", "Tensor", "clone",
    "config", "disconnected_grad", "function", "grad", "grad_clip", "grad_scale", "hessian",
    "jacobian", "shared", "tensor",
]  # fmt: skip

_publish(globals(), "symc", __all__)

# Names whose import waits for their first use: modules, and functions with the modules they stand
# in.
_MODULES = (
    "cuda", "dask", "debug", "distributed", "errors", "nets", "opencl", "optim", "sympy", "testing",
)  # fmt: skip
_LATE = {
    "c_function": "user.c_op", "c_op": "user.c_op", "function_of": "user.subgraph",
    "op": "user.python_op", "free_memory": "calls.kept",
    "Assert": "tensor.watch", "Print": "tensor.watch", "breakpoint": "tensor.watch",
    "scan": "loops.api", "until": "loops.outcome", "ifelse": "loops.branch",
    "map": "loops.folding", "reduce": "loops.folding",
    "foldl": "loops.folding", "foldr": "loops.folding",
    "while_loop": "loops.repeat", "fori_loop": "loops.repeat",
    "save": "saved.functions", "load": "saved.functions", "frozen": "saved.frozen",
    "dprint": "debug", "pprint": "debug",
    "benchmark": "measure.benchmark", "profile": "measure.profile", "verify_grad": "testing",
    "vmap": "derivatives.vectorize",
    "grad": "derivatives.grad", "jacobian": "derivatives.grad", "hessian": "derivatives.grad",
    "Lop": "derivatives.grad", "Rop": "derivatives.grad",
    "disconnected_grad": "derivatives.changed", "grad_clip": "derivatives.changed",
    "grad_scale": "derivatives.changed",
}  # fmt: skip

# Services that lower packages leave to higher ones, which they do not import.
_HIGHER = {
    "checking.checked": "checked_runner",
    "cuda.functions": "cuda_runner opencl_runner", "cuda.inspect": "ptx resources sass",
    "cuda.place": "DevicePlace",
    "debug": "dprint_text explain",
    "calls.function": "copied",
    "derivatives.arguments": "by_arguments",
    "show.latex": "equation", "tensor.notation": "short",
    "tensor.sparse.values": "take_csr take_csc give_csr give_csc",
    "loops.api": "scan", "loops.outline": "outline",
    "loops.batching": "batch_scan", "loops.in_turn": "in_turn",
    "loops.conditions": "loop_requirements", "loops.reverse": "reverse",
    "show.report.page": "report", "show.report.summary": "summary",
    "rewrite.stabilise": "stabilise",
    "saved.export": "export", "saved.functions": "reduce_function reduce_tensor",
}  # fmt: skip
for _module, _names in _HIGHER.items():
    _SERVICES.announce(f"symc.{_module}", _names)

__version__ = _VERSION


class _ImportAdvice:
    """Asked last, for modules that nobody else finds: "import symc.printing" names another one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raises ModuleNotFoundError for a module of symc's, if something is known instead."""
        if name.startswith("symc."):
            from symc.graph.other_libraries import advise_on_module

            advise_on_module(name)


_sys.meta_path.append(_ImportAdvice)


def _late(name: str) -> object:
    """Modules and functions that are imported when they are first asked for."""
    if name not in _MODULES and name not in _LATE:
        from symc.graph.other_libraries import missing

        raise missing("symc", "symc", name, __dir__)
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"symc.{name}")
    return _public(getattr(importlib.import_module(f"symc.{_LATE[name]}"), name), "symc")


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*special, *__all__, *_MODULES, *_LATE})
