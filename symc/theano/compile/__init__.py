"""`theano.compile`: functions, modes and shared variables."""

from symc.theano.compile import (
    builders,
    debugmode,
    function_module,
    io,
    mode,
    monitormode,
    nanguardmode,
    ops,
    profiling,
    sharedvalue,
)
from symc.theano.compile import pfunc as _pfunc
from symc.theano.compile.builders import OpFromGraph
from symc.theano.compile.definition import UnusedInputError
from symc.theano.compile.function import Function, function, function_dump, pfunc
from symc.theano.compile.function_module import AliasedMemoryError, orig_function
from symc.theano.compile.io import In, Out, Param, SymbolicInput, SymbolicOutput
from symc.theano.compile.mode import (
    FAST_COMPILE,
    FAST_RUN,
    DebugMode,
    Mode,
    MonitorMode,
    NanGuardMode,
    get_default_mode,
    get_mode,
    optdb,
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    register_mode,
    register_optimizer,
)
from symc.theano.compile.ops import (
    DeepCopyOp,
    FromFunctionOp,
    OutputGuard,
    Rebroadcast,
    Shape,
    Shape_i,
    SpecifyShape,
    ViewOp,
    as_op,
    deep_copy_op,
    register_deep_copy_op_c_code,
    register_rebroadcast_c_code,
    register_shape_c_code,
    register_shape_i_c_code,
    register_specify_shape_c_code,
    register_view_op_c_code,
    shape,
    shape_i,
    specify_shape,
    view_op,
)
from symc.theano.compile.profiling import ProfileStats
from symc.theano.compile.rebuild import rebuild_collect_shared
from symc.theano.compile.sharedvalue import SharedVariable, shared, shared_constructor
from symc.theano.configparser import config
from symc.theano.gof.graph import io_connection_pattern

__all__ = [
    "FAST_COMPILE", "FAST_RUN", "AliasedMemoryError", "DebugMode", "DeepCopyOp", "FromFunctionOp",
    "Function", "In", "Mode", "MonitorMode", "NanGuardMode", "OpFromGraph", "Out", "OutputGuard",
    "Param", "ProfileStats", "Rebroadcast", "Shape", "Shape_i", "SharedVariable", "SpecifyShape",
    "SymbolicInput", "SymbolicOutput", "UnusedInputError", "ViewOp", "as_op", "builders",
    "config", "debugmode", "deep_copy_op", "function", "function_dump", "function_module",
    "get_default_mode", "get_mode", "io", "io_connection_pattern", "mode", "monitormode",
    "nanguardmode", "ops", "optdb", "orig_function", "pfunc", "predefined_linkers",
    "predefined_modes", "predefined_optimizers", "profiling", "rebuild_collect_shared",
    "register_deep_copy_op_c_code", "register_mode", "register_optimizer",
    "register_rebroadcast_c_code", "register_shape_c_code", "register_shape_i_c_code",
    "register_specify_shape_c_code",
    "register_view_op_c_code", "shape", "shape_i", "shared", "shared_constructor", "sharedvalue",
    "specify_shape", "view_op",
]  # fmt: skip
