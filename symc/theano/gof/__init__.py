"""`theano.gof`: graphs, types and ops."""

from importlib import import_module
from typing import Any

from symc.theano.gof import fg, graph, null_type, op, opt, params_type, toolbox, type, utils
from symc.theano.gof.enums import CEnumType, EnumList, EnumType
from symc.theano.gof.fg import (
    CachedConstantError,
    FunctionGraph,
    InconsistencyError,
    MissingInputError,
)
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
from symc.theano.gof.params_type import Params, ParamsType
from symc.theano.gof.toolbox import (
    Bookkeeper,
    Feature,
    History,
    NodeFinder,
    PreserveVariableAttributes,
    PrintListener,
    ReplaceValidate,
    Validator,
)
from symc.theano.gof.type import CDataType, Generic, Type, generic
from symc.theano.gof.utils import MethodNotDefined, scratchpad

_LINKERS = (
    "CLinker", "Container", "DualLinker", "Linker", "LocalLinker", "OpWiseCLinker",
    "PerformLinker", "VM_Linker", "WrapLinker", "WrapLinkerMany",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("link", "vm"):
        return import_module(f"symc.theano.gof.{name}")
    if name in _LINKERS:
        return getattr(import_module("symc.theano.gof.link"), name)
    if not name.startswith("__"):
        return getattr(opt, name)  # says what to use where it is a rewrite's
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Apply", "Bookkeeper", "CDataType", "CEnumType", "CLinkerOp", "COp", "CachedConstantError",
    "Constant", "EnumList", "EnumType", "Feature", "FunctionGraph", "Generic", "History",
    "InconsistencyError", "MethodNotDefined", "MissingInputError", "NodeFinder", "Op", "OpenMPOp",
    "Params", "ParamsType", "PreserveVariableAttributes", "PrintListener", "PureOp",
    "ReplaceValidate", "Type", "Validator", "Variable", "clone", "fg", "general_toposort",
    "generic", "get_test_value", "graph", "io_toposort", "is_same_graph", "null_type", "op",
    "params_type", "scratchpad", "toolbox", "type", "utils",
]  # fmt: skip
