"""What `help` and `inspect` show of a lambdified function."""

from __future__ import annotations

import linecache
import textwrap
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import sympy

_numbers = count(1)


def docstring(names: Sequence[str], expr: Any, limit: int | None) -> str:
    """Signature and expression, in the form of SymPy's; `limit` is of operations in it."""
    written = textwrap.fill(f"func({', '.join(names)})", 70, subsequent_indent=" " * 8)
    shown = "EXPRESSION REDACTED DUE TO LENGTH, (see lambdify's `docstring_limit`)"
    if limit is None or (limit > 0 and _size(expr) <= limit):
        shown = str(expr)
        if len(shown) > 78:
            shown = textwrap.wrap(shown, 75)[0] + "..."
    return (
        f"Created with lambdify. Signature:\n\n{written}\n\nExpression:\n\n{shown}\n\n"
        "Compiled by symc; `functions` has the compiled functions, each with its C in `program`.\n"
    )


def _size(expr: Any) -> int:
    """How many operations and symbols there are, about."""
    if isinstance(expr, dict):
        return sum(_size(key) + _size(value) for key, value in expr.items())
    if isinstance(expr, list | tuple):
        return sum(map(_size, expr))
    return sum(1 for _ in sympy.preorder_traversal(expr)) if isinstance(expr, sympy.Basic) else 1


def as_python(names: Sequence[str], expr: Any, run: Callable[..., Any]) -> Callable[..., Any]:
    """A Python function that calls `run`, whose source shows the expression.

    The source is in `linecache` as long as the function lives. It is there to be read:
    what is executed is the compiled function.
    """
    safe = [name if name.isidentifier() else f"_{k}" for k, name in enumerate(names)]
    head = f"def _lambdifygenerated({', '.join(safe)}):\n"
    source = f"{head}    return {expr}\n"
    filename = f"<lambdifygenerated-symc-{next(_numbers)}>"
    namespace: dict[str, Any] = {"run": run}
    call = f"{head}    return run({', '.join(safe)})\n"
    exec(compile(call, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["_lambdifygenerated"]
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    weakref.finalize(function, linecache.cache.pop, filename, None)
    return function
