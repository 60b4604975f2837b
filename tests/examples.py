"""The examples in docstrings, each once: those of functions that others make stand where they are
assigned, which doctest's own finder does not see."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def examples_of(module: ModuleType) -> Iterator[doctest.DocTest]:
    """The examples of a module: of its text, its functions and classes, and the functions that it
    has others make."""
    found = doctest.DocTestFinder().find(module)
    seen: set[str] = set()
    for test in found:
        shown = getattr(module, test.name.removeprefix(f"{module.__name__}."), None)
        published = inspect.isfunction(shown) and hasattr(shown, "__wrapped__")
        if test.docstring and not published:  # those run where they are made
            seen.add(test.docstring)
            yield test
    for name in vars(module).get("__all__", ()):
        value = vars(module).get(name)
        text = getattr(value, "__doc__", None) or ""
        if is_made(value, module) and ">>>" in text and text not in seen:
            seen.add(text)
            where = f"{module.__name__}.{name}"
            yield doctest.DocTestParser().get_doctest(text, vars(module), where, None, None)


def is_made(value: Any, module: ModuleType) -> bool:
    """Whether a function was made by one of another module, or inside another function."""
    code = getattr(value, "__code__", None)
    if code is None or hasattr(value, "__wrapped__"):
        return False
    return value.__globals__ is not vars(module) or "<locals>" in code.co_qualname


def public_callables(modules: dict[str, ModuleType]) -> dict[str, Any]:
    """Functions and classes by the name that users know them by, each object once."""
    found: dict[int, tuple[str, Any]] = {}
    for prefix, module in modules.items():
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if name.startswith("_") or not callable(value) or inspect.ismodule(value):
                continue
            found.setdefault(id(inspect.unwrap(value)), (f"{prefix}.{name}", value))
    return dict(found.values())
