"""SymPy's expressions as tensors.

    expression --HANDLERS--> arithmetic, powers, piecewise, sums, indexed arrays
               --FUNCTIONS-> named functions (functions.py)
               --MATRICES--> matrices and expressions of matrices (matrices.py)

Numbers stay Python numbers until they meet a tensor, whose dtype they take then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import sympy
from sympy.codegen import numpy_nodes
from sympy.core.function import AppliedUndef

from symc import tensor as T
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor
from symc.sympy.functions import FUNCTIONS, Value
from symc.sympy.matrices import MATRICES
from symc.sympy.own_functions import of_any
from symc.sympy.polynomials import OF_KNOWN_ORDER, of_known_order

Handler: TypeAlias = "Callable[[Converter, Any], Value]"


def to_symc(
    expr: Any,
    symbols: Mapping[Any, Tensor] | Sequence[Tensor] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Tensor:
    """The tensor that a SymPy expression computes.

    `symbols` maps symbols (or their names) to tensors of any rank, which broadcast as in NumPy; a
    sequence of tensors stands for the symbols of their names. Matrix symbols are tensors with two
    axes, ``IndexedBase`` tensors with as many as it has indexes. Without `symbols` they
    are new inputs, those of `inputs_of`. An explicit matrix of expressions
    becomes a tensor whose first two axes are its rows and columns. `functions` maps names of
    undefined functions, ``Function("f")``, to functions of tensors.

    Integers of any size are exact in SymPy; here they take the dtype of the other operand.

    Raises `NotImplementedError` for those without a meaning in symc (limits, unevaluated integrals,
    functions without a row in `functions.py`), and `KeyError` for a symbol without a tensor.

    >>> import sympy, symc.tensor as T
    >>> a, b = sympy.symbols("a b")
    >>> x, s = T.vector("x"), T.scalar("s")
    >>> y = to_symc(sympy.sin(a) ** 2 + b, {a: x, b: s})
    >>> y.eval({x: [0.0, 1.0], s: 1.0})
    array([1.        , 1.70807342])
    >>> to_symc(a * b).dtype
    float64
    """
    expr = sympy.sympify(expr)
    known = inputs_of(expr) if symbols is None else named(symbols)
    return as_tensor(Converter(known, functions or {})(expr))


def inputs_of(expr: Any) -> dict[Any, Tensor]:
    """An input for each symbol of an expression, by name: as many axes as it has there.

    They are of `config.floatX`, those of whole numbers of int64. Matrix symbols have two axes, and
    an ``IndexedBase`` as many as its indexes.

    >>> import sympy
    >>> a, b = sympy.symbols("a b")
    >>> inputs = inputs_of(a * b)
    >>> to_symc(a * b, inputs).eval({inputs["a"]: 2.0, inputs["b"]: 3.0})
    array(6.)
    """
    found: dict[Any, Tensor] = {}
    indexed = {each.base.label: len(each.indices) for each in expr.atoms(sympy.Indexed)}
    for symbol in sorted(expr.free_symbols, key=str):
        if isinstance(symbol, sympy.Indexed):
            continue
        base = symbol.label if isinstance(symbol, sympy.IndexedBase) else symbol
        rank = 2 if isinstance(symbol, sympy.MatrixSymbol) else indexed.get(base, 0)
        dtype = "int64" if rank == 0 and symbol.is_integer else None
        found[symbol.name] = T.tensor(dtype, (None,) * rank, name=symbol.name)
    return found


def named(symbols: Mapping[Any, Tensor] | Sequence[Tensor]) -> dict[Any, Tensor]:
    """The tensor of each symbol; those given by name are kept under their name."""
    if isinstance(symbols, Mapping):
        return dict(symbols)
    unnamed = [tensor for tensor in symbols if tensor.name is None]
    if unnamed:
        raise ValueError(f"{unnamed[0]!r} has no name that a symbol could have; give a mapping")
    return {tensor.name: tensor for tensor in symbols}


class Converter:
    """Converts expressions, each one once."""

    def __init__(
        self,
        symbols: Mapping[Any, Value],
        functions: Mapping[str, Callable[..., Any]],
        *,
        use_imps: bool = True,
    ) -> None:
        self.symbols = dict(symbols)
        self.functions = functions
        self.use_imps = use_imps
        self._known: dict[Any, Value] = {}

    def __call__(self, expr: Any) -> Value:
        """The value of an expression: a tensor or a Python number."""
        if expr in self.symbols:
            return self.symbols[expr]
        found = self._known.get(expr)
        if found is None:
            found = self._known[expr] = self._convert(expr)
        return found

    def _convert(self, expr: Any) -> Value:
        own = self.functions.get(type(expr).__name__)
        if self.use_imps and hasattr(expr.func, "_imp_"):
            return _applied(self, expr)
        if callable(own) and sympy.MatrixBase not in type(expr).__mro__:  # its types lack `args`
            return own(*map(self, expr.args))
        if isinstance(expr, sympy.Atom) and str(expr) in self.functions:
            return self.functions[str(expr)]  # the user's value of a constant, such as "pi"
        # By class, the nearest one first: a product of matrices is also a Mul.
        for kind in type(expr).__mro__:
            handler = HANDLERS.get(kind)
            if handler is not None:
                return handler(self, expr)
            function = FUNCTIONS.get(kind)
            if function is not None:
                return function(*map(self, expr.args))
        other = _in_other_words(expr)
        if other is not None:
            return self(other)
        if isinstance(expr, sympy.Function) and type(expr).__name__ in dir(T):
            return getattr(T, type(expr).__name__)(*map(self, expr.args))
        raise NotImplementedError(
            f"symc has nothing for SymPy's {type(expr).__name__}, in {expr}\n"
            "  give functions={...} for an undefined function, or evaluate it in SymPy first"
        )

    def within(self, symbol: Any, value: Value) -> Converter:
        """A converter for which a symbol has another value: under the index of a sum."""
        symbols = {**self.symbols, symbol: value}
        return Converter(symbols, self.functions, use_imps=self.use_imps)


def _in_other_words(expr: Any) -> Any:
    """An expression that SymPy can write without its function, in functions that symc has."""
    if not isinstance(expr, sympy.Expr):
        return None
    for words in WORDS:
        found = expr.expand(func=True) if words is None else expr.rewrite(words)
        if not found.has(type(expr)) and not found.has(sympy.oo):
            return found
    return None


WORDS = (None, sympy.gamma, sympy.digamma, sympy.erf, sympy.Or, sympy.exp, sympy.Piecewise)


# --- atoms and arithmetic -------------------------------------------------------------------------


def _symbol(convert: Converter, expr: Any) -> Value:
    if expr.name in convert.symbols:
        return convert.symbols[expr.name]
    known = ", ".join(map(str, convert.symbols)) or "none"
    raise KeyError(f"no tensor was given for the symbol {expr}; there are tensors for {known}")


def _number(convert: Converter, expr: Any) -> Value:
    del convert
    fits = expr.is_Integer and -(2**63) <= expr < 2**63
    return int(expr) if fits else float(expr)


def _undefined(convert: Converter, expr: Any) -> Value:
    del convert, expr
    return float("nan")


def _imaginary(convert: Converter, expr: Any) -> Value:
    del convert, expr
    return 1j


def _boolean(convert: Converter, expr: Any) -> Value:
    del convert
    return bool(expr)


def _add(convert: Converter, expr: Any) -> Value:
    total: Value = None
    for term in sorted(expr.args, key=lambda term: term.could_extract_minus_sign()):
        if total is None:
            total = convert(term)
        elif term.could_extract_minus_sign():
            total = total - convert(-term)
        else:
            total = total + convert(term)
    return total


def _mul(convert: Converter, expr: Any) -> Value:
    above: list[Any] = []
    below: list[Any] = []
    for factor in expr.args:
        match factor:
            case sympy.Pow(exp=power) if power.is_Rational and power.is_negative:
                below.append(sympy.Pow(factor.base, -power))
            case sympy.Rational() if factor.q != 1 and abs(factor.p) == 1:
                above += [sympy.S.NegativeOne] if factor.p < 0 else []
                below.append(sympy.Integer(factor.q))
            case _:
                above.append(factor)
    result = _product(convert, above)
    return result / _product(convert, below) if below else result


def _product(convert: Converter, factors: Sequence[Any]) -> Value:
    total: Value = 1
    for number, factor in enumerate(factors):
        if factor is sympy.S.NegativeOne and len(factors) > 1 and number == 0:
            return -_product(convert, factors[1:])
        value = convert(factor)
        total = value if number == 0 else total * value
    return total


def _pow(convert: Converter, expr: Any) -> Value:
    base, power = expr.base, expr.exp
    if base is sympy.S.Exp1:
        return T.exp(convert(power))
    if power.is_Rational and power.is_negative:
        return 1.0 / convert(sympy.Pow(base, -power, evaluate=False))
    value = convert(base)
    if power is sympy.S.Half:
        return T.sqrt(value)
    if power is sympy.S.One:
        return value
    if power.is_Integer and 3 < power <= MOST_FACTORS:
        return _whole_power(value, int(power))
    return T.pow(value, convert(power))


MOST_FACTORS = 32


def _whole_power(value: Value, power: int) -> Value:
    """A power as products, which polynomials share: a tenth of the time of `pow`."""
    if power == 1:
        return value
    half = _whole_power(value, power // 2)
    return half * half * value if power % 2 else half * half


def _log(convert: Converter, expr: Any) -> Value:
    value = T.log(convert(expr.args[0]))
    return value / T.log(convert(expr.args[1])) if len(expr.args) > 1 else value


# --- cases, sums, functions, indexes --------------------------------------------------------------


def _piecewise(convert: Converter, expr: Any) -> Value:
    """Nested choices; NaN where no condition holds, as SymPy's printers for NumPy do."""
    result: Value = float("nan")
    for value, condition in reversed(expr.args):
        chosen = convert(value)
        result = chosen if condition == sympy.true else T.where(convert(condition), chosen, result)
    return result


def _delta(convert: Converter, expr: Any) -> Value:
    left, right = map(convert, expr.args[:2])
    return T.where(T.eq(left, right), 1, 0)


def _sum(convert: Converter, expr: Any) -> Value:
    """A finite sum or product: over a new leading axis that has the values of the index."""
    value, *limits = expr.args
    (index, low, high) = limits.pop()
    if limits:  # an inner sum's values are this one's terms
        value = expr.func(value, *limits)
    for end in (low, high):
        if end.is_infinite or end is None:
            raise NotImplementedError(f"only finite sums can be computed, not {expr}")
    fold = T.sum if isinstance(expr, sympy.Sum) else T.prod
    first, last = (_bound(convert(end)) for end in (low, high))
    if index not in value.free_symbols:
        terms, count = as_tensor(convert(value)), T.maximum(as_tensor(last + 1 - first), 0)
        return terms * count if fold is T.sum else T.pow(terms, count)
    others = [convert(symbol) for symbol in value.free_symbols - {index} - _arrays(value)]
    rank = max(as_tensor(other).ndim for other in (*others, first, last))
    numbers = T.arange(T.min(first), T.max(last) + 1) if rank else T.arange(first, last + 1)
    column = numbers.reshape((-1,) + (1,) * rank)
    terms = as_tensor(convert.within(index, column)(value))
    if as_tensor(first).ndim or as_tensor(last).ndim:  # bounds that are themselves under a sum
        inside = T.logical_and(column >= first, column <= last)
        terms = T.where(inside, terms, 0 if fold is T.sum else 1)
    return fold(terms, axis=0)


def _bound(end: Value) -> Value:
    return end if isinstance(end, int) else T.cast(as_tensor(end), "int64")


def _arrays(value: Any) -> set[Any]:
    """The symbols in an expression that stand for arrays as a whole, not for numbers."""
    indexed: set[Any] = value.atoms(sympy.Indexed)
    matrices: set[Any] = value.atoms(sympy.MatrixSymbol)
    names = {name for each in indexed for name in (each.base, each.base.label)}
    return names | indexed | matrices


def _applied(convert: Converter, expr: Any) -> Value:
    """A function without a meaning in SymPy: the user's."""
    name = expr.func.__name__
    function = getattr(expr.func, "_imp_", None) if convert.use_imps else None
    if function is None:
        raise NotImplementedError(f"no function was given for {name}, in {expr}: functions=")
    return of_any(function)(*map(convert, expr.args))


def _indexed(convert: Converter, expr: Any) -> Value:
    base = as_tensor(convert(expr.base.label))
    return base[tuple(map(convert, expr.indices))]


def _extreme(convert: Converter, expr: Any) -> Value:
    fold = T.min if isinstance(expr, numpy_nodes.amin) else T.max
    axis = getattr(expr.axis, "p", None)  # SymPy's own word for None has no number
    return fold(convert(expr.array), axis=axis)


def _unevaluated(convert: Converter, expr: Any) -> Value:
    done = expr.doit()
    if done.has(type(expr)):
        raise NotImplementedError(f"SymPy has no closed form for {expr}, which symc would need")
    return convert(done)


HANDLERS: dict[type, Handler] = {
    sympy.Symbol: _symbol,
    sympy.Number: _number, sympy.NumberSymbol: _number,
    sympy.core.numbers.Infinity: _number, sympy.core.numbers.NegativeInfinity: _number,
    sympy.core.numbers.NaN: _number, sympy.core.numbers.ComplexInfinity: _undefined,
    sympy.core.numbers.ImaginaryUnit: _imaginary,
    sympy.logic.boolalg.BooleanTrue: _boolean, sympy.logic.boolalg.BooleanFalse: _boolean,
    sympy.Add: _add, sympy.Mul: _mul, sympy.Pow: _pow, sympy.log: _log,
    sympy.Piecewise: _piecewise, sympy.KroneckerDelta: _delta,
    sympy.Sum: _sum, sympy.Product: _sum,
    AppliedUndef: _applied, sympy.Indexed: _indexed,
    sympy.Derivative: _unevaluated, sympy.Integral: _unevaluated, sympy.Subs: _unevaluated,
    sympy.Limit: _unevaluated, sympy.UnevaluatedExpr: lambda convert, expr: convert(expr.args[0]),
    sympy.DiracDelta: lambda convert, expr: convert(expr.args[0]) * 0.0,
    numpy_nodes.amin: _extreme, numpy_nodes.amax: _extreme,
    **dict.fromkeys(OF_KNOWN_ORDER, of_known_order),
    **MATRICES,
}  # fmt: skip
"""By class: how its expressions are converted, where more than a function of the arguments.

The delta function is the derivative of `Heaviside`: 0 wherever there is one.
"""
