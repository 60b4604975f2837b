"""What a lambdified function gives back: the containers of its expression around arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np
import sympy

from symc.graph.node import Array


def mapped(expr: Any, each: Callable[[Any], Any]) -> Any:
    """The nested containers with each expression in them replaced, keys of dicts as well."""
    match expr:
        case dict():
            return {
                _key(each(key)) if isinstance(key, sympy.Basic) else key: mapped(value, each)
                for key, value in expr.items()
            }
        case list():
            return [mapped(item, each) for item in expr]
        case tuple() | sympy.Tuple():
            return tuple(mapped(item, each) for item in cast("Iterable[Any]", expr))
        case _:
            return each(expr)


def _key(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def is_container(expr: Any) -> bool:
    """Whether a result holds several expressions."""
    return isinstance(expr, dict | list | tuple | sympy.Tuple)


def is_given(expr: Any) -> bool:
    """Whether a result is there without computing: None, True and False."""
    return expr is None or isinstance(expr, bool | sympy.logic.boolalg.BooleanAtom)


def given(expr: Any) -> bool | None:
    """The result that needs no computing."""
    return None if expr is None else bool(expr)


def is_explicit(expr: Any) -> bool:
    """Whether an expression is a matrix, or another array, of expressions."""
    return isinstance(expr, sympy.MatrixBase | sympy.NDimArray) and 0 not in expr.shape


def assembled(elements: list[Array], shape: Sequence[Any]) -> Array:
    """A matrix of the arrays that are its elements, which broadcast."""
    common = np.broadcast_shapes(*(element.shape for element in elements))
    made = np.empty((len(elements), *common), elements[0].dtype)
    for place, element in zip(made, elements, strict=True):
        place[...] = element
    return made.reshape((*map(int, shape), *common))


def plain(result: Array) -> Any:
    """A scalar instead of an array without axes."""
    return result[()] if result.ndim == 0 else result


def containers(
    functions: Mapping[str, Callable[..., Any]], *, sparse: bool
) -> Callable[[Any, Array], Any]:
    """What makes a matrix's array the result: a user's class, or SciPy's for sparse matrices.

    `functions` has the user's classes by the names of SymPy's ones, ``"ImmutableDenseMatrix"``.
    """

    def of(expr: Any, result: Array) -> Any:
        if not isinstance(expr, sympy.MatrixBase):
            return plain(result)
        is_sparse = isinstance(expr, sympy.SparseMatrix)
        own = functions.get("ImmutableSparseMatrix" if is_sparse else "ImmutableDenseMatrix")
        if own is not None:
            return own(result)
        if is_sparse and sparse and result.ndim == 2:
            return import_module("scipy.sparse").coo_matrix(result)
        return plain(result)

    return of
