"""`theano.compile`: functions, modes and shared variables."""

from symc.theano.compile import function as function_module
from symc.theano.compile import io, mode, sharedvalue
from symc.theano.compile.definition import UnusedInputError
from symc.theano.compile.function import Function, function, function_dump, pfunc
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
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    register_mode,
)
from symc.theano.compile.rebuild import rebuild_collect_shared
from symc.theano.compile.sharedvalue import SharedVariable, shared, shared_constructor

__all__ = [
    "FAST_COMPILE", "FAST_RUN", "DebugMode", "Function", "In", "Mode", "MonitorMode",
    "NanGuardMode", "Out", "Param", "SharedVariable", "SymbolicInput", "SymbolicOutput",
    "UnusedInputError", "function", "function_dump", "function_module", "get_default_mode",
    "get_mode", "io", "mode", "pfunc", "predefined_linkers", "predefined_modes",
    "predefined_optimizers", "rebuild_collect_shared", "register_mode", "shared",
    "shared_constructor", "sharedvalue",
]  # fmt: skip
