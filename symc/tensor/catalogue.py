"""The functions of `T` by the modules that define them, read from the sources without importing.

A module of this folder, `sorting/` or `special/` announces in its `__all__` the functions it gives
to `T`, and in `_ALSO_ENTERED` the further names that it enters into the tables of operators and
methods. Both stand near the top of its file. So a new function is written in one place.
"""

from __future__ import annotations

import os
from functools import cache

from symc.graph.registry import announce, provide

_HERE = os.path.dirname(__file__)
_PACKAGES = {
    "symc.tensor": _HERE,
    "symc.tensor.sorting": os.path.join(_HERE, "sorting"),
    "symc.tensor.special": os.path.join(_HERE, "special"),
}
_TOP = 4096  # bytes of a file that are read: docstring, imports and the two lists

_OTHERS = {
    "symc.derivatives.vectorize": "apply_along_axis apply_over_axes vectorize vmap",
    "symc.derivatives.grad": "Lop Rop grad hessian jacobian",  # Theano's names; needs all of `T`
}


@cache
def functions() -> dict[str, list[str]]:
    """The names of `T`'s functions by module.

    They are announced, as are the entries in tables of operators and methods.
    """
    found: dict[str, list[str]] = {}
    for package, folder in _PACKAGES.items():
        for file in sorted(os.listdir(folder)):
            if file.endswith(".py") and file != "__init__.py":
                module, top = f"{package}.{file[:-3]}", _top(f"{folder}/{file}")
                if entered := _names(top, b"\n_ALSO_ENTERED"):
                    provide(module, entered)
                if names := _names(top, b"\n__all__"):
                    found[module] = names
    found.update({module: names.split() for module, names in _OTHERS.items()})
    for module, names in found.items():
        provide(module, names)
    return found


@cache
def providers(package: str, folder: str) -> dict[str, str]:
    """The modules of a package's public names, by name."""
    return {
        name: f"{package}.{file[:-3]}"
        for file in sorted(os.listdir(folder))
        if file.endswith(".py") and file != "__init__.py"
        for name in _names(_top(os.path.join(folder, file)), b"\n__all__")
    }


def _top(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)  # a file object takes as long again
    try:
        return os.read(file, _TOP)
    finally:
        os.close(file)


def _names(text: bytes, variable: bytes) -> list[str]:
    """The strings of the list that is assigned to a variable; none if there is no such line."""
    start = text.find(variable)
    if start < 0:
        return []
    opening = text.index(b"= [", start)
    return text[opening : text.index(b"]", opening + 3)].decode().split('"')[1::2]


announce(functions)
