"""`theano.gof`: graphs, types and ops."""

from importlib import import_module
from typing import Any

from symc.theano.gof import fg, graph, null_type, op, opt, type, utils
from symc.theano.gof.fg import FunctionGraph, InconsistencyError, MissingInputError
from symc.theano.gof.graph import (
    Apply,
    Constant,
    Variable,
    clone,
    general_toposort,
    io_toposort,
    is_same_graph,
)
from symc.theano.gof.op import (
    CLinkerOp,
    COp,
    Op,
    OpenMPOp,
    PureOp,
    get_test_value,
)
from symc.theano.gof.type import CDataType, Generic, Type, generic
from symc.theano.gof.utils import MethodNotDefined, scratchpad

_LINKERS = (
    "CLinker", "Container", "DualLinker", "Linker", "LocalLinker", "OpWiseCLinker",
    "PerformLinker", "VM_Linker", "WrapLinker", "WrapLinkerMany",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LINKERS:
        return getattr(import_module("symc.theano.gof.link"), name)
    if not name.startswith("__") and name != "link":
        return getattr(opt, name)  # says what to use where it is a rewrite's
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Apply", "CDataType", "CLinkerOp", "COp", "Constant", "FunctionGraph", "Generic",
    "InconsistencyError", "MethodNotDefined", "MissingInputError", "Op", "OpenMPOp", "PureOp",
    "Type", "Variable", "clone", "fg", "general_toposort", "generic", "get_test_value", "graph",
    "io_toposort", "is_same_graph", "null_type", "op", "scratchpad", "type", "utils",
]  # fmt: skip
