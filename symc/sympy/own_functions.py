"""The user's functions in an expression: found by name, and called with tensors or numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from types import ModuleType
from typing import Any, TypeAlias, cast

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from symc import tensor as T
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor

Modules: TypeAlias = "str | ModuleType | Mapping[str, Any] | list[Any] | tuple[Any, ...] | None"
SAME = ("symc", "numpy", "scipy", "math", "cmath")
"""Modules whose functions are computed by symc's own, which mean the same."""


def functions_of(modules: Modules) -> dict[str, Any]:
    """The functions and constants by name in `modules`; the first that has a name counts."""
    found: dict[str, Any] = {}
    for module in reversed(listed(modules)):
        if isinstance(module, Mapping):
            named = cast("Mapping[str, Any]", module)
            found.update(
                {
                    name: each if isinstance(each, type) or not callable(each) else of_any(each)
                    for name, each in named.items()
                }
            )
        elif module is not None and name_of(module) not in SAME:
            raise ValueError(
                f"modules={module!r}: symc computes SymPy's functions itself; give dicts of "
                "functions of tensors for others"
            )
    return found


def listed(modules: Any) -> list[Any]:
    """One module or several, as several."""
    return list(modules) if isinstance(modules, list | tuple) else [modules]


def name_of(module: Any) -> Any:
    """A module's name, whether the module is given or its name."""
    return module.__name__ if isinstance(module, ModuleType) else module


def of_any(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for tensors: one that refuses them is called in Python for each element.

    So ``math.sqrt`` or a user's function with an `if` serves as well, without a derivative.
    """

    def on_tensors(*args: Any) -> Any:
        try:
            return function(*args)
        except TypeError:
            if not any(isinstance(arg, Tensor) for arg in args):
                raise
        from symc.user.python_op import op  # late: most functions take tensors

        tensors = [as_tensor(arg) for arg in args]
        is_complex = any(tensor.dtype.is_complex for tensor in tensors)
        kind = "complex128" if is_complex else "float64"
        by_element = np.vectorize(function, otypes=[kind])

        def each(*arrays: Any) -> Any:
            return by_element(*arrays)

        def like(*given: Tensor) -> Tensor:
            return T.cast(reduce(T.add, given), kind)

        name = getattr(function, "__name__", "function")
        return op(each, output=like, name=name)(*tensors)

    return on_tensors


def refuse_equal_names(expressions: Iterable[Any]) -> None:
    """Two implementations under one name are refused, as by SymPy: only one would be found."""
    found: dict[str, Any] = {}
    for expr in expressions:
        for applied in expr.atoms(AppliedUndef) if isinstance(expr, sympy.Basic) else ():
            own = getattr(applied.func, "_imp_", None)
            name = str(applied.func)
            if own is not None and found.setdefault(name, own) is not own:
                raise ValueError(f"two functions named {name} have different implementations")
