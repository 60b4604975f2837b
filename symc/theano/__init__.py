"""Theano's interface on symc: programs written for Theano run unchanged.

``import symc.theano as theano``, or ``symc.theano.install()`` and then ``import theano``.

Theano's variables each have an identity, a name, annotations and an owner, while symc's nodes are
interned and know more about lengths. So this package has a thin graph of its own in front
(`gof`), in which programs build, clone and inspect. An op's `meaning` says which symc expressions
its outputs are; `function` translates the whole graph at once (`meaning.Translation`) and compiles
that. Gradients are walked on Theano's graph (`gradient`), so that they are Theano variables and
that programs' own ops and `known_grads` take part; the local step at symc's ops is symc's gradient
of the op's meaning (`pullback`), not a second set of rules.
"""

import sys as _sys
from typing import Any as _Any

from symc.theano import (
    compile,
    configdefaults,
    gof,
    gpuarray,
    gradient,
    misc,
    printing,
    raise_op,
    sandbox,
    scalar,
    scan_module,
    tensor,
    version,
)
from symc.theano.common_names import answer_in_all as _answer_in_all
from symc.theano.compile import (
    FAST_COMPILE,
    FAST_RUN,
    In,
    Mode,
    Out,
    Param,
    function,
    function_dump,
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    shared,
)
from symc.theano.compile.builders import OpFromGraph
from symc.theano.compile.ops import as_op
from symc.theano.compile.rebuild import clone
from symc.theano.configparser import change_flags, config
from symc.theano.gof import Apply, Constant, FunctionGraph, Generic, Op, Type, Variable, generic
from symc.theano.gradient import Lop, Rop, grad, subgraph_grad
from symc.theano.imports import install
from symc.theano.printing import pp, pprint
from symc.theano.scan_module import foldl, foldr, map, reduce, scan, scan_checkpoints
from symc.theano.tensor.products import dot as _dense_dot
from symc.theano.tensor.type import TensorType
from symc.theano.updates import OrderedUpdates

__version__ = version.version
for _module in (tensor, tensor.raw_random):  # ``from theano.tensor import *`` has `theano`
    setattr(_module, "theano", _sys.modules[__name__])  # noqa: B010 -- it would be a cycle there
__all__ = [
    "FAST_COMPILE", "FAST_RUN", "Apply", "Constant", "FunctionGraph", "Generic", "In", "Lop",
    "Mode", "Op", "OpFromGraph", "OrderedUpdates", "Out", "Param", "Rop", "TensorType", "Type",
    "Variable", "as_op", "change_flags", "clone", "compile", "config", "configdefaults", "dot",
    "foldl", "foldr", "function", "function_dump", "generic", "gof", "gpuarray", "grad",
    "gradient", "install", "map", "misc", "pp", "pprint", "predefined_linkers",
    "predefined_modes", "predefined_optimizers", "printing", "raise_op", "reduce", "sandbox",
    "scalar", "scan", "scan_checkpoints", "scan_module", "shared", "sparse_grad", "subgraph_grad",
    "tensor", "version",
]  # fmt: skip


def dot(l: _Any, r: _Any) -> _Any:  # noqa: E741 -- Theano's names
    """The product of two tensors or sparse matrices.

    >>> import symc.theano as theano
    >>> x = theano.tensor.dmatrix("x")
    >>> theano.dot(x, x.T).eval({x: [[1.0, 2.0]]})
    array([[5.]])
    """
    sparse = _sys.modules.get("symc.theano.sparse.type")  # without it there are no such variables
    if sparse is not None and isinstance(l, sparse._sparse_py_operators):
        return l.__dot__(r)
    if sparse is not None and isinstance(r, sparse._sparse_py_operators):
        return r.__rdot__(l)
    return _dense_dot(l, r)


def sparse_grad(var: _Any) -> _Any:
    """Rows taken by a vector of integers, with a sparse gradient by the matrix they are from.

    Raises AssertionError for other variables.
    """
    from symc.theano.tensor.subtensor import AdvancedSubtensor1

    assert isinstance(var.owner.op, AdvancedSubtensor1)
    return AdvancedSubtensor1(sparse_grad=True)(*var.owner.inputs)


def __getattr__(name: str) -> _Any:
    import importlib

    if name in ("sparse", "tests", "typed_list", "ifelse", "compat", "printing", "d3viz"):
        return importlib.import_module(f"symc.theano.{name}")  # those that need more than symc
    if name == "_asarray":
        from symc.theano.misc.safe_asarray import safe_asarray as _asarray

        return _asarray
    raise AttributeError(f"symc.theano has no theano.{name}; its documentation says what it has")


_answer_in_all()
