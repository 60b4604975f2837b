"""Expressions as people write them: ``exp(x - m) / sum(s, axis=1)``.

Not Python to be run: types, stretching and checks are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from symc.graph.inputs import Constant, Input, Shared
from symc.graph.node import Tensor
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.gather import Gather, Scatter, is_zero
from symc.tensor.lengths import Derived, Length
from symc.tensor.matrix_product import MatMul, MatVec
from symc.tensor.reduce import FoundExtreme
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.spans import Entries, entry_texts
from symc.tensor.specify import SpecifyShape
from symc.tensor.views import BroadcastTo, DimShuffle

DEPTH = 4
LONGEST = 100  # characters, beyond which less of an expression is shown
SHORT = 60  # characters

_INFIX = {
    "add": ("+", 10), "sub": ("-", 10), "mul": ("*", 11), "div": ("/", 11), "floordiv": ("//", 11),
    "mod": ("%", 11), "pow": ("**", 13), "eq": ("==", 5), "ne": ("!=", 5), "lt": ("<", 5),
    "le": ("<=", 5), "gt": (">", 5), "ge": (">=", 5), "logical_and": ("&", 8),
    "logical_or": ("|", 6), "bitwise_and": ("&", 8), "bitwise_or": ("|", 6),
    "bitwise_xor": ("^", 7),
}  # fmt: skip
_PRODUCT = 11  # how strongly it holds together
_UNSEEN = (Cast, BroadcastTo, SpecifyShape)
_ATOM = 20

Text: TypeAlias = tuple[str, int]
"""A text, and how strongly it holds together."""


def expression(node: Tensor, depth: int = DEPTH, longest: int | None = LONGEST) -> str:
    """The expression of a tensor as text, in which parts have their names if they have any.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.debug.expression(T.exp(x) + 1)
    'exp(x) + 1.0'
    """
    writer = _Writer({})
    text = writer.whole(node, depth)[0]
    while longest is not None and len(text) > longest and depth > 1:
        depth -= 1
        text = writer.whole(node, depth)[0]
    return text


def short(node: Tensor) -> str:
    """A tensor as its `repr` has it: a leaf's name, else name and expression.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> short(x), short(T.exp(x) + 1)
    ('x', 'exp(x) + 1.0')
    """
    if not node.args:
        return node.name or node.op.label
    if isinstance(node.op, _UNSEEN):
        text = f"{node.op.label}({expression(node, DEPTH - 1, SHORT)})"
    else:
        text = expression(node, DEPTH - 1, SHORT)
    if len(text) > SHORT:
        text = f"{text[: SHORT - 3]}..."
    return f"{node.name} = {text}" if node.name else text


def described(node: Tensor) -> str:
    """A line for comments in generated code: an expression, and the user's line."""
    name = f"{node.name} = " if node.name else ""
    return f"{name}{expression(node)}   {node.where}"


def call(node: Tensor, names: Mapping[Tensor, str]) -> str:
    """The op of a node, applied to arguments that have names."""
    if not node.args:
        return node.op.label
    writer = _Writer(names)
    by_name = isinstance(node.op, (Elementwise, MatMul, MatVec, *_UNSEEN))
    return (writer.call(node, 1) if by_name else writer.special(node, 1))[0]


class _Writer:
    """Writes expressions; some tensors have names."""

    def __init__(self, names: Mapping[Tensor, str]) -> None:
        self.names = names

    def text(self, node: Tensor, depth: int) -> Text:
        """A part of an expression."""
        name = self.names.get(node, node.name)
        return (name, _ATOM) if name else self.whole(node, depth)

    def whole(self, node: Tensor, depth: int) -> Text:
        """An expression, whether it has a name or not."""
        op = node.op
        if isinstance(op, Constant):
            text = str(op.value) if op.value.ndim == 0 else "constant"
            return text, _ATOM if not text.startswith("-") else 12
        if isinstance(op, Input | Shared):
            return node.name or "?", _ATOM
        if isinstance(op, _UNSEEN) or (isinstance(op, DimShuffle) and _is_number(node.args[0])):
            return self.text(node.args[0], depth)
        return self.special(node, depth) if depth else ("...", _ATOM)

    def special(self, node: Tensor, depth: int) -> Text:
        """An op in the notation that it has, or as a function."""
        match node.op:
            case Elementwise(name) if name in _INFIX:
                sign, strength = _INFIX[name]
                left = self.inside(node.args[0], depth, strength)
                return f"{left} {sign} {self.inside(node.args[1], depth, strength + 1)}", strength
            case Elementwise("neg"):
                return f"-{self.inside(node.args[0], depth, 12)}", 12
            case Elementwise("sqr"):
                return f"{self.inside(node.args[0], depth, 14)}**2", 13
            case MatMul(left, right):
                return self.product(node, depth, left, right)
            case MatVec(left):
                return self.product(node, depth, left, False)
            case DimShuffle(order):
                return self.shuffled(node.args[0], order, depth)
            case Derived():
                return self.text(node.args[0], depth)
            case Length(axis):
                return f"{self.inside(node.args[0], depth, _ATOM)}.shape[{axis}]", _ATOM
            case Slice(entries):
                return self.region(node.args[0], self.spans(entries, node.args[1:], depth), depth)
            case Gather(axes):
                return self.region(node.args[0], self.places(axes, node.args[1:], depth), depth)
            case SliceWrite(entries):
                return self.written(node, self.spans(entries, node.args[2:], depth), depth)
            case Scatter(axes):
                return self.written(node, self.places(axes, node.args[2:], depth), depth)
            case _:
                return self.call(node, depth)

    def inside(self, node: Tensor, depth: int, strength: int) -> str:
        """An operand, in parentheses if it holds together more weakly than it must."""
        text, own = self.text(node, depth - 1)
        return f"({text})" if own < strength else text

    def call(self, node: Tensor, depth: int) -> Text:
        """An op as a function, with the axes along which it works if these are not all."""
        shown = node.args[:1] if isinstance(node.op, FoundExtreme) else node.args
        args = [self.text(arg, depth - 1)[0] for arg in shown]
        for number, turned in enumerate(_transposed(node)):
            if turned:
                args[number] = self.transposed(node.args[number], depth)
        if len(args) > 2 and set(args) == {"..."}:
            args = ["..."]
        axes = _axes(node)
        if axes is not None:
            args.append(f"axis={axes}")
        return f"{node.op.label}({', '.join(args)})", _ATOM

    def transposed(self, node: Tensor, depth: int) -> str:
        """A matrix, transposed."""
        return f"{self.inside(node, depth, _ATOM)}.T"

    def product(self, node: Tensor, depth: int, trans_a: bool, trans_b: bool) -> Text:
        """A product of matrices, or of a matrix and a vector."""
        a, b = node.args
        left = self.transposed(a, depth) if trans_a else self.inside(a, depth, _PRODUCT)
        right = self.transposed(b, depth) if trans_b else self.inside(b, depth, _PRODUCT + 1)
        return f"{left} @ {right}", _PRODUCT

    def shuffled(self, x: Tensor, order: tuple[int | None, ...], depth: int) -> Text:
        """Axes in another order, or new ones."""
        if order == (1, 0):
            return self.transposed(x, depth), _ATOM
        if [axis for axis in order if axis is not None] == list(range(x.ndim)):
            return self.region(x, ["None" if axis is None else ":" for axis in order], depth)
        axes = ", ".join("'x'" if axis is None else str(axis) for axis in order)
        return f"{self.inside(x, depth, _ATOM)}.dimshuffle({axes})", _ATOM

    def written(self, node: Tensor, entries: Iterable[str], depth: int) -> Text:
        """A tensor with values set into, or added to, a region."""
        region, value = self.region(node.args[0], entries, depth)[0], node.args[1]
        return f"{node.op.label}({region}, {self.text(value, depth - 1)[0]})", _ATOM

    def region(self, x: Tensor, entries: Iterable[str], depth: int) -> Text:
        """Elements of a tensor."""
        whole = "zeros" if is_zero(x) else self.inside(x, depth, _ATOM)
        return f"{whole}[{', '.join(entries)}]", _ATOM

    def spans(self, entries: Entries, args: Sequence[Tensor], depth: int) -> list[str]:
        """Slices and numbers, some of which arguments give."""
        return entry_texts(entries, (self.text(arg, depth - 1)[0] for arg in args))

    def places(self, axes: Sequence[int], indexes: Sequence[Tensor], depth: int) -> list[str]:
        """Index arrays for some axes."""
        shown = [":"] * (max(axes) + 1)
        for axis, index in zip(axes, indexes, strict=True):
            shown[axis] = self.text(index, depth - 1)[0]
        return shown


def _is_number(node: Tensor) -> bool:
    """Whether all elements of a tensor are one number, so that its axes say nothing."""
    while isinstance(node.op, (*_UNSEEN, DimShuffle)) and not node.name:
        node = node.args[0]
    return not node.ndim


def _transposed(node: Tensor) -> tuple[bool, ...]:
    """Of a product, which arguments are transposed first."""
    match node.op:
        case MatMul(left, right):
            return left, right
        case MatVec(left):
            return (left,)
        case _:
            return ()


def _axes(node: Tensor) -> str | None:
    """The axes along which an op works, if it says so and they are not all that there are."""
    axes: int | Sequence[int] | None
    axes = getattr(node.op, "axes", None) or getattr(node.op, "axis", None)
    if axes is None or not node.args:
        return None
    found = (axes,) if isinstance(axes, int) else tuple(axes)
    if len(found) == node.args[0].ndim:
        return None
    return str(found[0] if len(found) == 1 else found)
