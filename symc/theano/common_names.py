"""Names that Theano's modules import from each other, and that programs import from any of them.

Programs write ``from theano.compile.io import SharedVariable`` or ``theano.tensor.basic.Apply``.
Here a module has the names that it needs itself; those of this table every module answers.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

OWN = "symc.theano"

HOMES = {
    "compile.builders": "OpFromGraph inline_ofg_expansion",
    "compile.definition": "UnusedInputError",
    "compile.io": "In Out SymbolicInput SymbolicOutput",
    "compile.mode": "AddFeatureOptimizer Mode get_default_mode get_mode register_mode",
    "compile.ops": "OutputGuard ViewOp",
    "compile.profiling": "ProfileStats",
    "compile.rebuild": "rebuild_collect_shared",
    "compile.sharedvalue": "Container SharedVariable shared shared_constructor",
    "configparser": "change_flags config",
    "debugprint": "debugprint",
    "gof.early_rewrites": "copy_stack_trace pre_constant_merge pre_greedy_local_optimizer",
    "gof.enums": "EnumList",
    "gof.fg": "FunctionGraph InconsistencyError MissingInputError",
    "gof.graph": "Apply Constant Variable io_connection_pattern is_same_graph",
    "gof.link": "CLinker DualLinker Linker LocalLinker OpWiseCLinker PerformLinker",
    "gof.local_rewrites": "local_optimizer",
    "gof.null_type": "DisconnectedType NullType",
    "gof.op": "COp Op OpenMPOp PureOp get_debug_values",
    "gof.optdb": "SequenceDB optdb",
    "gof.params_type": "ParamsType",
    "gof.rewriters": "EquilibriumOptimizer Optimizer TopoOptimizer in2out",
    "gof.toolbox": "NoOutputFromInplace ReplacementDidntRemovedError Validator",
    "gof.type": "Generic Type",
    "gof.utils": "MethodNotDefined",
    "gradient": "disconnected_type",
    "gradient_ops": "undefined_grad_",
    "gradient_types": "grad_not_implemented grad_undefined",
    "pp": "DimShufflePrinter FunctionPrinter PrinterState SubtensorPrinter pprint",
    "printing": "min_informative_str",
    "raise_op": "Assert assert_",
    "settings": "AddConfigVar BoolParam ConfigParam EnumStr FloatParam IntParam StrParam",
    "tensor.canonical_slices": "get_canonical_form_slice",
    "tensor.convert": "NotScalarConstantError ShapeError as_tensor_variable",
    "tensor.diagonals": "fill_diagonal_ fill_diagonal_offset_",
    "tensor.elemwise": "DimShuffle Elemwise",
    "tensor.extra_ops": "DiffOp Nonzero cpu_contiguous",
    "tensor.folding": "extract_constant get_scalar_constant_value",
    "tensor.io": "LoadFromDisk",
    "tensor.nnet.abstract_conv": "get_conv_output_shape get_conv_shape_1axis",
    "tensor.nnet.blocksparse": "SparseBlockGemv SparseBlockOuter sparse_block_dot "
    "sparse_block_gemv_inplace sparse_block_outer_inplace",
    "tensor.opt": "register_canonicalize register_specialize register_specialize_device "
    "register_stabilize",
    "tensor.shaping": "Reshape Shape_i get_vector_length patternbroadcast",
    "tensor.sort": "TopKOp",
    "tensor.subtensor": "AdvancedIncSubtensor AdvancedIncSubtensor1 AdvancedSubtensor1 "
    "IncSubtensor Subtensor advanced_inc_subtensor1 advanced_subtensor advanced_subtensor1",
    "tensor.type": "TensorType",
    "tensor.type_other": "NoneConst NoneTypeT SliceType make_slice",
    "tensor.utils": "hash_from_ndarray",
    "tensor.var": "TensorConstant TensorVariable",
}  # fmt: skip
_HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}


def answer(*modules: ModuleType) -> None:
    """Lets modules answer the names of the table that they have not themselves."""
    for module in modules:
        before = module.__dict__.get("__getattr__")
        setattr(module, "__getattr__", _lookup(module.__name__, before))  # noqa: B010


def answer_in_all() -> None:
    """Lets all modules of `symc.theano` that are there answer them."""
    answer(*(each for name, each in list(sys.modules.items()) if name.startswith(OWN)))


def _lookup(module: str, before: Any) -> Any:
    def lookup(name: str) -> Any:
        if before is not None:
            try:
                return before(name)
            except AttributeError:
                if name not in _HOME_OF and name != "theano":
                    raise
        if name == "theano":  # which nearly every module of Theano imports
            return sys.modules[OWN]
        if name not in _HOME_OF:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{OWN}.{_HOME_OF[name]}"), name)

    return lookup
