"""Expressions in LaTeX: ``\\frac{e^{x}}{1 + e^{x}}``.

A part that occurs again, or that is named, is written by its name if it has one. An expression that
would become too deep or too long is cut short by dots: notebooks show expressions of any size.
"""

from __future__ import annotations

from collections.abc import Callable

from symc.graph.inputs import Constant, Input, Shared
from symc.graph.node import Tensor
from symc.tensor.elementwise import Cast
from symc.tensor.fold import Reduce
from symc.tensor.slices import Slice
from symc.tensor.spans import entry_texts
from symc.tensor.views import BroadcastTo, DimShuffle

DEPTH = 40
LENGTH = 200  # parts

_ADD, _MUL, _NEG, _POW, _ATOM = 10, 11, 12, 13, 20
_COMPARE = 5
_INFIX = {
    "add": (" + ", _ADD), "sub": (" - ", _ADD), "mul": (r" \, ", _MUL), "mod": (r" \bmod ", _MUL),
    "matmul": (r" \, ", _MUL), "dot": (r" \, ", _MUL), "eq": (" = ", _COMPARE),
    "ne": (r" \ne ", _COMPARE), "lt": (" < ", _COMPARE), "le": (r" \le ", _COMPARE),
    "gt": (" > ", _COMPARE), "ge": (r" \ge ", _COMPARE), "logical_and": (r" \wedge ", 4),
    "logical_or": (r" \vee ", 3), "bitwise_and": (r" \wedge ", 4), "bitwise_or": (r" \vee ", 3),
}  # fmt: skip
_FUNCTIONS = {
    "log": r"\log", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "sinh": r"\sinh",
    "cosh": r"\cosh", "tanh": r"\tanh", "arcsin": r"\arcsin", "arccos": r"\arccos",
    "arctan": r"\arctan", "maximum": r"\max", "minimum": r"\min", "max": r"\max", "min": r"\min",
    "sigmoid": r"\sigma", "gamma": r"\Gamma", "det": r"\det",
}  # fmt: skip
_AROUND = {
    "abs": (r"\left|", r"\right|"), "floor": (r"\lfloor ", r" \rfloor"),
    "ceil": (r"\lceil ", r" \rceil"), "sqrt": (r"\sqrt{", "}"), "conj": (r"\overline{", "}"),
    "exp": ("e^{", "}"),
}  # fmt: skip
_LETTERS = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega",
})  # fmt: skip


def latex(node: Tensor, depth: int = DEPTH) -> str:
    r"""The expression of a tensor in LaTeX.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> print(latex(T.exp(x) / (1 + T.exp(x)).sum()))
    \frac{e^{x}}{\sum \left(1 + e^{x}\right)}
    """
    return _Writer().write(node, depth, top=True)[0]


def name_in_latex(name: str) -> str:
    r"""A name of the user's: letters in Greek, a number at its end as an index.

    >>> print(name_in_latex("alpha"), name_in_latex("x2"), name_in_latex("w_new"))
    \alpha x_{2} w_{\mathrm{new}}
    """
    base, _, rest = name.partition("_")
    plain = base.rstrip("0123456789")
    index = [base[len(plain) :]] if base[len(plain) :] else []
    if rest:
        escaped = rest.replace("_", r"\_")
        index.append(rest if len(rest) == 1 or rest.isdigit() else rf"\mathrm{{{escaped}}}")
    if plain in _LETTERS:
        plain = f"\\{plain}"
    elif len(plain) != 1:
        plain = rf"\mathrm{{{plain}}}"
    return f"{plain}_{{{','.join(index)}}}" if index else plain


class _Writer:
    """Writes one expression, and counts how long it has become."""

    def __init__(self) -> None:
        self.left = LENGTH

    def write(self, node: Tensor, depth: int, *, top: bool = False) -> tuple[str, int]:
        """The text, and how strongly it holds together."""
        self.left -= 1
        if node.name and not (top and node.args):
            return name_in_latex(node.name), _ATOM
        if isinstance(node.op, Constant):
            return _number(node.op)
        if isinstance(node.op, Input | Shared):
            return r"\cdot", _ATOM
        if isinstance(node.op, Cast | BroadcastTo):
            return self.write(node.args[0], depth)
        if depth <= 0 or self.left < 0:
            return r"\ldots", _ATOM
        if isinstance(node.op, DimShuffle):
            return self._shuffled(node, depth)
        writer = _SPECIAL.get(node.op.label)
        return writer(self, node, depth) if writer is not None else self.call(node, depth)

    def inside(self, node: Tensor, depth: int, strength: int) -> str:
        """An operand, in parentheses if it holds together more weakly than it must."""
        text, own = self.write(node, depth - 1)
        return rf"\left({text}\right)" if own < strength else text

    def _shuffled(self, node: Tensor, depth: int) -> tuple[str, int]:
        """New axes are not shown; two axes that change places are a transposed matrix."""
        assert isinstance(node.op, DimShuffle)
        kept = [axis for axis in node.op.order if isinstance(axis, int)]
        if kept == sorted(kept):
            return self.write(node.args[0], depth)
        return rf"{self.inside(node.args[0], depth, _ATOM)}^{{\top}}", _POW

    def call(self, node: Tensor, depth: int) -> tuple[str, int]:
        """An op as a function, or between or around its arguments."""
        label = node.op.label
        if label in _INFIX and len(node.args) == 2:
            sign, strength = _INFIX[label]
            left = self.inside(node.args[0], depth, strength)
            right = self.inside(node.args[1], depth, strength + 1)
            if sign == r" \, " and right[:1].isdigit():
                sign = r" \cdot "
            return left + sign + right, strength
        if label in _AROUND and len(node.args) == 1:
            before, after = _AROUND[label]
            return before + self.write(node.args[0], depth - 1)[0] + after, _POW
        known = _FUNCTIONS.get(label)
        escaped = label.replace("_", r"\_")
        function = known if known is not None else rf"\operatorname{{{escaped}}}"
        args = ", ".join(self.write(arg, depth - 1)[0] for arg in node.args)
        return rf"{function}\left({args}\right)", _ATOM


def _number(op: Constant) -> tuple[str, int]:
    if op.value.ndim:
        return r"\mathrm{constant}", _ATOM
    value = op.value.item()
    text = f"{value:g}" if isinstance(value, float) else str(value)
    base, exponent, power = text.partition("e")
    if exponent and isinstance(value, float):
        text = rf"{base} \cdot 10^{{{int(power)}}}"
    text = text.replace("inf", r"\infty").replace("nan", r"\mathrm{NaN}")
    return text, _NEG if text.startswith("-") else _ATOM if not exponent else _MUL


# --- ops with a notation of their own -------------------------------------------------------------

_Write = Callable[[_Writer, Tensor, int], tuple[str, int]]


def _quotient(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    upper, lower = (writer.write(arg, depth - 1)[0] for arg in node.args)
    return rf"\frac{{{upper}}}{{{lower}}}", _POW


def _floor_quotient(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    return rf"\left\lfloor {_quotient(writer, node, depth)[0]} \right\rfloor", _ATOM


def _power(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    base = writer.inside(node.args[0], depth, _ATOM)
    return f"{base}^{{{writer.write(node.args[1], depth - 1)[0]}}}", _POW


def _square(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    return f"{writer.inside(node.args[0], depth, _ATOM)}^{{2}}", _POW


def _negative(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    return f"-{writer.inside(node.args[0], depth, _MUL)}", _NEG


def _where(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    test, then, otherwise = (writer.write(arg, depth - 1)[0] for arg in node.args)
    cases = rf"{then} & {test} \\ {otherwise} & \text{{otherwise}}"
    return rf"\begin{{cases}} {cases} \end{{cases}}", _ATOM


def _folded(sign: str) -> _Write:
    def write(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
        if len(node.args) != 1 or not isinstance(node.op, Reduce):
            return writer.call(node, depth)
        axes = node.op.axes
        whole = len(axes) == node.args[0].ndim
        under = "" if whole else f"_{{{','.join(map(str, axes))}}}"
        return f"{sign}{under} {writer.inside(node.args[0], depth, _MUL)}", _MUL

    return write


def _inverse(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    return rf"\frac{{1}}{{{writer.write(node.args[0], depth - 1)[0]}}}", _POW


def _indexed(writer: _Writer, node: Tensor, depth: int) -> tuple[str, int]:
    if not isinstance(node.op, Slice):
        return writer.call(node, depth)
    given = (writer.write(arg, depth - 1)[0] for arg in node.args[1:])
    shown = entry_texts(node.op.entries, given)
    return f"{writer.inside(node.args[0], depth, _ATOM)}_{{{','.join(shown)}}}", _POW


_SPECIAL: dict[str, _Write] = {
    "div": _quotient, "floordiv": _floor_quotient, "pow": _power, "sqr": _square,
    "neg": _negative, "reciprocal": _inverse, "getitem": _indexed, "where": _where,
    "switch": _where, "sum": _folded(r"\sum"), "prod": _folded(r"\prod"),
}  # fmt: skip


def equation(node: Tensor) -> str:
    """A tensor as notebooks show it: name, expression and type."""
    text = latex(node)
    if node.name and node.args:
        text = f"{name_in_latex(node.name)} = {text}"
    lengths = ", ".join(map(repr, node.type.shape)).replace("_", r"\_")
    return rf"$\displaystyle {text} \qquad \texttt{{{node.dtype}[{lengths}]}}$"
