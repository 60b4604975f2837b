"""Expressions as people write them: ``exp(x - m) / s``."""

from __future__ import annotations

from symc.graph import Tensor
from symc.inputs import Constant, Input, Shared
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.views import BroadcastTo, DimShuffle

_INFIX = {
    "add": ("+", 10), "sub": ("-", 10), "mul": ("*", 11), "div": ("/", 11), "floordiv": ("//", 11),
    "mod": ("%", 11), "pow": ("**", 13), "eq": ("==", 5), "ne": ("!=", 5), "lt": ("<", 5),
    "le": ("<=", 5), "gt": (">", 5), "ge": (">=", 5), "logical_and": ("&", 8),
    "logical_or": ("|", 6), "bitwise_and": ("&", 8), "bitwise_or": ("|", 6),
    "bitwise_xor": ("^", 7),
}  # fmt: skip
_ATOM = 20


def expression(node: Tensor, depth: int = 4, top: bool = True, views: bool = True) -> str:
    """The expression of a node: named parts by their names, and not more than `depth` deep.

    Without `views`, axes that come and go and repeating along them are left out.
    """
    return _expression(node, depth, top, views)[0]


def _expression(node: Tensor, depth: int, top: bool, views: bool) -> tuple[str, int]:
    if node.name and not top:
        return node.name, _ATOM
    if isinstance(node.op, Constant):
        text = str(node.op.value) if node.op.value.ndim == 0 else "constant"
        return text, _ATOM if not text.startswith("-") else 12
    if isinstance(node.op, Input | Shared):
        return node.name or "?", _ATOM
    if isinstance(node.op, Cast):
        return _expression(node.args[0], depth, False, views)
    if not views and isinstance(node.op, BroadcastTo | DimShuffle):
        return _viewed(node, depth)
    if depth == 0:
        return "...", _ATOM
    label = node.op.label
    if isinstance(node.op, Elementwise) and label in _INFIX:
        sign, strength = _INFIX[label]
        left = _inside(node.args[0], depth, strength, views)
        right = _inside(node.args[1], depth, strength + 1, views)
        return f"{left} {sign} {right}", strength
    if label == "neg":
        return f"-{_inside(node.args[0], depth, 12, views)}", 12
    if label == "sqr":
        return f"{_inside(node.args[0], depth, 14, views)}**2", 13
    args = ", ".join(_expression(arg, depth - 1, False, views)[0] for arg in node.args)
    return f"{label}({args})", _ATOM


def _viewed(node: Tensor, depth: int) -> tuple[str, int]:
    """What a view is of; axes that change places are a transposed array."""
    if isinstance(node.op, DimShuffle):
        kept = [axis for axis in node.op.order if isinstance(axis, int)]
        if kept != sorted(kept):
            return f"{_inside(node.args[0], depth, _ATOM, False)}.T", _ATOM
    return _expression(node.args[0], depth, False, False)


def _inside(node: Tensor, depth: int, strength: int, views: bool) -> str:
    text, own = _expression(node, depth - 1, False, views)
    return f"({text})" if own < strength else text


def described(node: Tensor) -> str:
    """A line for comments in generated code: what is computed, and where the user wrote it."""
    name = f"{node.name} = " if node.name else ""
    return f"{name}{expression(node)}   {node.where}"
