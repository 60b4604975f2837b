"""Functions of the elements that a sparse matrix has; the others stay 0."""

from __future__ import annotations

from typing import Any

from symc.theano.sparse.op import as_sparse_variable
from symc.theano.sparse.parts import CSC, CSR, csm_properties
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable

__all__ = [
    "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "conj", "deg2rad", "expm1", "floor",
    "log1p", "rad2deg", "rint", "sgn", "sin", "sinh", "sqr", "sqrt", "structured_abs",
    "structured_add", "structured_exp", "structured_log", "structured_maximum",
    "structured_minimum", "structured_monoid", "structured_pow", "structured_sigmoid", "tan",
    "tanh", "trunc",
]  # fmt: skip


def structured_monoid(tensor_op: Any) -> Any:
    """A decorator: the function of the elements that are there, by an op of tensors."""

    def decorate(function: Any) -> Any:
        def of_elements(x: Any, *args: Any) -> Any:
            x = as_sparse_variable(x)
            others = [as_tensor_variable(each) for each in args]
            data, indices, indptr, shape = csm_properties(x)
            made = CSC if x.type.format == "csc" else CSR
            return made(tensor_op(data, *others), indices, indptr, shape)

        of_elements.__name__, of_elements.__doc__ = function.__name__, function.__doc__
        return of_elements

    return decorate


def _of(name: str, op: Any) -> Any:
    def function() -> None: ...

    function.__name__ = name
    function.__doc__ = f"`{name}` of the elements that are there."
    return structured_monoid(op)(function)


structured_sigmoid = _of("structured_sigmoid", math.sigmoid)
structured_exp = _of("structured_exp", math.exp)
structured_log = _of("structured_log", math.log)
structured_pow = _of("structured_pow", math.pow)
structured_minimum = _of("structured_minimum", math.minimum)
structured_maximum = _of("structured_maximum", math.maximum)
structured_add = _of("structured_add", math.add)
structured_abs = _of("structured_abs", math.abs_)
sin, arcsin, tan = _of("sin", math.sin), _of("arcsin", math.arcsin), _of("tan", math.tan)
arctan, sinh = _of("arctan", math.arctan), _of("sinh", math.sinh)
arcsinh, tanh = _of("arcsinh", math.arcsinh), _of("tanh", math.tanh)
arctanh, rint = _of("arctanh", math.arctanh), _of("rint", math.round_half_to_even)
sgn, ceil = _of("sgn", math.sgn), _of("ceil", math.ceil)
floor, log1p = _of("floor", math.floor), _of("log1p", math.log1p)
expm1, deg2rad = _of("expm1", math.expm1), _of("deg2rad", math.deg2rad)
rad2deg, trunc = _of("rad2deg", math.rad2deg), _of("trunc", math.trunc)
sqr, sqrt, conj = _of("sqr", math.sqr), _of("sqrt", math.sqrt), _of("conj", math.conj)
