"""The arguments of a lambdified function: nested tuples of SymPy's objects, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
import sympy
from sympy.tensor.array.expressions import ArraySymbol
from sympy.utilities.exceptions import sympy_deprecation_warning

from symc.errors import BadArgument
from symc.graph.node import Array, Tensor


def structure_of(args: Any) -> Any:
    """The arguments as nested tuples of SymPy's objects."""
    if isinstance(args, str):
        found = sympy.symbols(args)
        return tuple(found) if isinstance(found, tuple) else (found,)
    if isinstance(args, set):
        sympy_deprecation_warning(
            "lambdify's arguments have no order in a set; give a list",
            deprecated_since_version="1.6.3",
            active_deprecations_target="deprecated-lambdify-arguments-set",
            stacklevel=5,  # through the wrapper of public functions
        )
    if isinstance(args, Iterable) and not is_one(args):
        return tuple(_inner(item) for item in args)
    return (args,)


def _inner(item: Any) -> Any:
    if isinstance(item, str):
        return sympy.Symbol(item)
    if isinstance(item, list | tuple | sympy.Tuple):
        return tuple(_inner(each) for each in cast("Iterable[Any]", item))
    return item


def is_one(args: Any) -> bool:
    """Whether this is one argument, though it can be iterated over."""
    arrays = sympy.MatrixBase | sympy.MatrixSymbol | sympy.IndexedBase | ArraySymbol
    return isinstance(args, arrays)


def leaves(structure: tuple[Any, ...]) -> Iterator[Any]:
    """What each array that a call brings stands for, in order."""
    for item in structure:
        if isinstance(item, tuple):
            yield from leaves(item)
        else:
            yield item


def names(structure: tuple[Any, ...]) -> Iterator[str | None]:
    """Names for the inputs that the leaves become."""
    for leaf in leaves(structure):
        name = getattr(leaf, "name", None)
        yield None if name is None else str(name)


def array_of(leaf: Any, value: Any, dtype: Any) -> Array:
    """An argument as an array: numbers of SymPy's become floats, a column may be a vector."""
    array = np.asarray(value, dtype=dtype)
    if array.dtype == object:
        kind = complex if any(not sympy.im(each).is_zero for each in array.flat) else float
        array = array.astype(kind)
    if isinstance(leaf, sympy.MatrixBase) and array.ndim == 1 and 1 in leaf.shape:
        array = array.reshape(leaf.shape)
    return array


def order_of(leaf: Any, value: Array) -> int:
    """The value of an argument that an order depends on, for which a function is compiled."""
    if value.ndim or value.dtype.kind not in "biuf" or value != np.floor(value):
        raise BadArgument(
            f"lambdify's function: {leaf} is the order of a polynomial, and must be a whole "
            f"number, not {value}"
        )
    return int(value)


def bind(symbols: dict[Any, Any], leaf: Any, value: Tensor | int) -> None:
    """The names of an argument in the expression: a symbol, or the elements of a matrix."""
    if isinstance(leaf, sympy.IndexedBase):
        symbols[leaf.label] = value
    elif isinstance(leaf, ArraySymbol):
        symbols[leaf.name] = value
    elif isinstance(leaf, sympy.MatrixBase) and isinstance(value, Tensor):
        rows, columns = leaf.shape
        for i in range(rows):
            for j in range(columns):
                symbols[leaf[i, j]] = value[i, j]
    else:
        symbols[leaf] = value
