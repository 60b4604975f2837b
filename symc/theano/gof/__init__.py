"""`theano.gof`: graphs, types and ops."""

from importlib import import_module
from typing import Any

from symc.theano.gof import (
    fg,
    graph,
    null_type,
    op,
    opt,
    optdb,
    params_type,
    toolbox,
    type,
    utils,
)
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
from symc.theano.gof.local_rewrites import (
    LocalOptGroup,
    LocalOptimizer,
    OpRemove,
    OpSub,
    PatternSub,
    local_optimizer,
)
from symc.theano.gof.op import (
    CLinkerOp,
    COp,
    Op,
    OpenMPOp,
    PureOp,
    get_test_value,
)
from symc.theano.gof.optdb import (
    DB,
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    Query,
    SequenceDB,
    TopoDB,
)
from symc.theano.gof.params_type import Params, ParamsType
from symc.theano.gof.rewriters import (
    EquilibriumOptimizer,
    MergeOptimizer,
    NavigatorOptimizer,
    OpKeyOptimizer,
    Optimizer,
    SeqOptimizer,
    TopoOptimizer,
    inplace_optimizer,
    optimizer,
)
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
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DB",
    "Apply",
    "Bookkeeper",
    "CDataType",
    "CEnumType",
    "CLinkerOp",
    "COp",
    "CachedConstantError",
    "Constant",
    "EnumList",
    "EnumType",
    "EquilibriumDB",
    "EquilibriumOptimizer",
    "Feature",
    "FunctionGraph",
    "Generic",
    "History",
    "InconsistencyError",
    "LocalGroupDB",
    "LocalOptGroup",
    "LocalOptimizer",
    "MergeOptimizer",
    "MethodNotDefined",
    "MissingInputError",
    "NavigatorOptimizer",
    "NodeFinder",
    "Op",
    "OpKeyOptimizer",
    "OpRemove",
    "OpSub",
    "OpenMPOp",
    "Optimizer",
    "Params",
    "ParamsType",
    "PatternSub",
    "PreserveVariableAttributes",
    "PrintListener",
    "ProxyDB",
    "PureOp",
    "Query",
    "ReplaceValidate",
    "SeqOptimizer",
    "SequenceDB",
    "TopoDB",
    "TopoOptimizer",
    "Type",
    "Validator",
    "Variable",
    "clone",
    "fg",
    "general_toposort",
    "generic",
    "get_test_value",
    "graph",
    "inplace_optimizer",
    "io_toposort",
    "is_same_graph",
    "local_optimizer",
    "null_type",
    "op",
    "opt",
    "optdb",
    "optimizer",
    "params_type",
    "scratchpad",
    "toolbox",
    "type",
    "utils",
]  # fmt: skip
