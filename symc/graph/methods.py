"""The methods and properties of tensors: names here, functions where they are defined.

`methods.pyi` says to type checkers and editors what each takes; `python -m tests.method_stubs
--write` makes it from the functions, whose modules are imported when a name is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from symc.graph.public import public
from symc.graph.registry import Registry

# The user-level functions of operators, methods and properties of a tensor. The modules of
# `tensor/` fill these tables: the one late binding there is.
METHODS: Registry[Callable[..., Any]] = Registry()
PROPERTIES: Registry[Callable[[Any], Any]] = Registry()

METHOD_NAMES = (
    "__array_namespace__", "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype",
    "broadcast_to", "choose", "clip", "compress", "conj", "conjugate", "copy", "count_nonzero",
    "cummax", "cummin", "cumprod", "cumsum", "diagonal", "dimshuffle", "dot", "eval",
    "expand_dims", "fill", "flatten", "flip", "full_like", "inc", "logsumexp", "max", "mean",
    "min", "moveaxis", "nonzero", "norm", "ones_like", "pad", "partition", "prod", "ptp", "ravel",
    "repeat", "reshape", "roll", "round", "searchsorted", "set", "softmax", "sort", "split",
    "squeeze", "std", "sum", "swapaxes", "take", "to_device", "trace", "transpose", "var",
    "zeros_like",
)  # fmt: skip
PROPERTY_NAMES = ("T", "device", "imag", "mT", "real", "shape", "size")


class Method:
    """A function of the table as a method: of the class the function, of a tensor bound to it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> Callable[..., Any]:
        function = public(METHODS[self.name])
        return function if tensor is None else MethodType(function, tensor)


class Property:
    """A function of the table as a property."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> Any:
        return self if tensor is None else PROPERTIES[self.name](tensor)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return PROPERTIES[self.name].__doc__


class TensorMethods:
    """What tensors have beside their operators."""

    __slots__ = ()


for _name in METHOD_NAMES:
    setattr(TensorMethods, _name, Method(_name))
for _name in PROPERTY_NAMES:
    setattr(TensorMethods, _name, Property(_name))
