"""`lambdify` with SymPy's arguments, compiled by symc.

SymPy's function takes scalars or arrays of any rank. Here one is compiled for each combination of
dtypes and ranks (and axes of length 1, which broadcast) at the first call that has it, and found
again by later calls; the cache on disk serves other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import sympy

from symc import tensor as T
from symc.calls.callable import Function
from symc.calls.function import function
from symc.errors import BadArgument
from symc.graph.inputs import as_tensor
from symc.graph.node import Array, Tensor
from symc.sympy.arguments import array_of, bind, is_one, leaves, names, order_of, structure_of
from symc.sympy.description import as_python, docstring
from symc.sympy.matrices import flat, of_one_dtype
from symc.sympy.own_functions import (
    Modules,
    functions_of,
    listed,
    name_of,
    refuse_equal_names,
)
from symc.sympy.polynomials import orders_in
from symc.sympy.results import (
    assembled,
    containers,
    given,
    is_container,
    is_explicit,
    is_given,
    mapped,
)
from symc.sympy.to_symc import Converter

Signature: TypeAlias = tuple["tuple[str, tuple[bool, ...]] | int", ...]
NUMBERS = frozenset({float, int, np.float64})
"""Types of numbers that compiled functions take as they are."""


def lambdify(
    args: Any,
    expr: Any,
    modules: Modules = None,
    printer: Any = None,
    use_imps: bool = True,
    dummify: bool = False,
    cse: bool | Callable[[Any], Any] = False,
    docstring_limit: int | None = 1000,
    *,
    mode: str | None = None,
    dtype: Any = None,
) -> Lambdified:
    """A function of arrays that computes a SymPy expression: `sympy.lambdify`, compiled.

    - `args`: a symbol, or a list of symbols, matrix symbols, explicit matrices of symbols,
      ``IndexedBase``, applied functions and derivatives; nested lists of them are arguments that
      are sequences.
    - `expr`: an expression, also as text, or a matrix, or lists, tuples and dicts of them to any
      depth: the result has the same form. A matrix gives an array whose first two axes are its rows
      and columns.
    - `modules`: dicts of functions by name, for undefined functions and in place of SymPy's own.
      They are called with tensors; those that refuse these are called for each element, in Python.
      Numbers in dicts stand for constants and symbols of their names, and a class by the name of
      SymPy's (``"ImmutableDenseMatrix"``) is what matrices are returned as. The names of modules
      whose functions symc's mean the same as (``"numpy"``, ``"scipy"``, ``"math"``, ``"symc"``)
      are accepted beside them, and so are the modules; with ``"cmath"`` arguments are converted to
      complex numbers, with ``"scipy"`` sparse matrices are returned as SciPy's.
    - `cse`: equal parts are always computed once; a function is called as SymPy would call it.
    - `use_imps`: whether functions of ``implemented_function`` are used.
    - `docstring_limit`: how large an expression may be to stand in the docstring; None: any.
    - `dummify`: accepted, and without effect, as names need not be Python's.
    - `mode`: as for `symc.function`. `dtype`: that arguments are converted to; None: kept.

    Arguments that the order of an orthogonal polynomial depends on must be whole numbers; there is
    a compiled function for each of their values. ``inspect.getsource`` shows the expression.

    Raises `ValueError` for other modules and for printers, which have no place here.

    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> f = lambdify([x, y], [sympy.sin(x) * y, x + y])
    >>> f(0.5, 2)
    [np.float64(0.958851077208406), np.float64(2.5)]
    >>> f([0.0, 1.0], 1.0)[1]
    array([1., 2.])
    """
    del dummify
    if printer is not None:
        raise ValueError("printer= makes SymPy print Python; symc compiles the expression itself")
    functions = functions_of(modules)
    structure = structure_of(args)
    if isinstance(expr, str):
        known: dict[str, Any] = {str(leaf): leaf for leaf in leaves(structure)}
        read: Any = sympy.sympify  # its types lack text with `locals`
        expr = read(expr, known)
    named = [name_of(module) for module in listed(modules) if not isinstance(module, Mapping)]
    if dtype is None and "cmath" in named:
        dtype = complex
    made = Lambdified(structure, expr, functions, use_imps, cse, mode, dtype, "scipy" in named)
    made.__doc__ = docstring(made.parameters, expr, docstring_limit)
    return made


class Lambdified:
    """The result of `lambdify`: call it with numbers or arrays.

    `functions` has the compiled functions, by the dtypes and ranks of the arguments.

    >>> import symc
    >>> import sympy
    >>> from symc.sympy import lambdify
    >>> x = sympy.Symbol("x")
    >>> f = lambdify(x, sympy.sin(x) + x, mode="python")
    >>> f, len(f.functions), float(f(0.0)), len(f.functions)
    (<lambdified (x) -> x + sin(x)>, 0, 0.0, 1)
    """

    def __init__(
        self,
        structure: tuple[Any, ...],
        expr: Any,
        functions: Mapping[str, Any],
        use_imps: bool,
        cse: bool | Callable[[Any], Any],
        mode: str | None,
        dtype: Any,
        sparse: bool,
    ) -> None:
        self._structure = structure
        self._expr = expr
        self._is_one = not is_container(expr) and not is_given(expr)
        self._user = dict(functions)
        self._contained = containers(functions, sparse=sparse)
        expressions: list[Any] = []
        mapped(expr, expressions.append)
        if use_imps:
            refuse_equal_names(expressions)
        self._orders = set[Any]().union(*map(orders_in, expressions))
        self._use_imps = use_imps
        self._cse = cse
        self._mode = mode
        self._dtype = None if dtype is None else np.dtype(dtype)
        self.functions: dict[Signature, Function] = {}
        self._of_numbers: dict[tuple[type, ...], Function] = {}  # the same, by types of numbers

    def __repr__(self) -> str:
        return f"<lambdified ({', '.join(map(str, self._structure))}) -> {self._expr!s:.200}>"

    @cached_property
    def parameters(self) -> list[str]:
        """The names of the arguments; one that is a sequence has a name by its position."""
        return [
            f"_{position}" if isinstance(item, tuple) else str(getattr(item, "name", item))
            for position, item in enumerate(self._structure)
        ]

    @cached_property
    def __wrapped__(self) -> Callable[..., Any]:  # what `inspect` shows the signature and source of
        return as_python(self.parameters, self._expr, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The expression's value for these arguments, which broadcast against each other.

        Symbols may be given by name. Raises `BadArgument` when there are too few or too many
        arguments.
        """
        if kwargs:
            args = self._positional(args, kwargs)
        direct = self._of_numbers.get(tuple(map(type, args)))
        if direct is not None:
            return self._arranged(direct(*args))
        values = list(self._values(self._structure, args, "lambdify's function"))
        apart = self._is_apart(values)
        signature = self._signature(values)
        compiled = self.functions.get(signature)
        if compiled is None:
            compiled = self.functions[signature] = self._compile(values, apart=apart)
        if self._dtype is None and not self._orders and NUMBERS.issuperset(map(type, args)):
            self._of_numbers[tuple(map(type, args))] = compiled
        return self._arranged(compiled(*values), apart=apart)

    def _signature(self, values: Sequence[Array]) -> Signature:
        """What a function is compiled for: dtypes, ranks, axes of length 1, and orders."""
        if not self._orders:  # the most often
            return tuple([(v.dtype.str, tuple([n == 1 for n in v.shape])) for v in values])
        return tuple(
            order_of(leaf, v)
            if self._is_order(leaf)
            else (v.dtype.str, tuple([n == 1 for n in v.shape]))
            for leaf, v in zip(leaves(self._structure), values, strict=True)
        )

    def _is_order(self, leaf: Any) -> bool:
        return isinstance(leaf, sympy.Symbol) and leaf in self._orders

    def _is_apart(self, values: Sequence[Array]) -> bool:
        """Whether elements of matrices are arrays: those are computed together, in one loop.

        As a tensor of its own, a matrix of arrays would have a loop for each element, which would
        compute common parts of elements again.
        """
        return any(
            value.ndim and not isinstance(leaf, sympy.MatrixSymbol) and not is_one(leaf)
            for leaf, value in zip(leaves(self._structure), values, strict=True)
        )

    def _arranged(self, results: Any, *, apart: bool = False) -> Any:
        """The results in the containers of the expression."""
        if self._is_one and not (apart and is_explicit(self._expr)):
            return self._contained(self._expr, results)
        remaining = iter(results)

        def each(leaf: Any) -> Any:
            if is_given(leaf):
                return given(leaf)
            if apart and is_explicit(leaf):
                return assembled([next(remaining) for _ in flat(leaf)], leaf.shape)
            return self._contained(leaf, next(remaining))

        return mapped(self._expr, each)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in order, those after the first ones given by name."""
        placed = list(args)
        for leaf in self._structure[len(args) :]:
            name = getattr(leaf, "name", None)
            if name not in kwargs:
                raise BadArgument(f"lambdify's function: no value was given for {leaf}")
            placed.append(kwargs.pop(name))
        if kwargs:
            raise BadArgument(f"lambdify's function has no argument {next(iter(kwargs))!r} to set")
        return tuple(placed)

    def _values(self, structure: Any, args: Any, what: str) -> Iterator[Array]:
        """The arguments' arrays, in the order of the structure's leaves."""
        values = tuple(args)
        if len(values) != len(structure):
            raise BadArgument(f"{what} takes {len(structure)} arguments, not {len(values)}")
        for leaf, value in zip(structure, values, strict=True):
            if isinstance(leaf, tuple):
                yield from self._values(leaf, value, f"the argument {leaf}")
            else:
                yield array_of(leaf, value, self._dtype)

    def _compile(self, values: Sequence[Array], *, apart: bool) -> Function:
        inputs = [
            T.tensor(value.dtype, tuple(1 if n == 1 else None for n in value.shape), name=name)
            for value, name in zip(values, names(self._structure), strict=True)
        ]
        symbols: dict[Any, Any] = {}
        for leaf, tensor, value in zip(leaves(self._structure), inputs, values, strict=True):
            bind(symbols, leaf, order_of(leaf, value) if self._is_order(leaf) else tensor)
        outputs = self._outputs(symbols, apart=apart)
        wanted = outputs[0] if self._is_one and not (apart and is_explicit(self._expr)) else outputs
        return function(inputs, wanted, mode=self._mode, on_unused_input="ignore")

    def _outputs(self, symbols: dict[Any, Any], *, apart: bool) -> list[Tensor]:
        expressions: list[Any] = []
        mapped(
            self._expr,
            lambda leaf: None if is_given(leaf) else expressions.append(sympy.sympify(leaf)),
        )
        convert = Converter(symbols, self._user, use_imps=self._use_imps)
        if callable(self._cse):
            parts, expressions = self._cse(expressions)
            for symbol, part in parts:
                if part is None:  # where the user's Python code would forget the symbol
                    continue
                convert = convert.within(symbol, convert(part))
        outputs: list[Tensor] = []
        for each in expressions:
            if apart and is_explicit(each):
                outputs += of_one_dtype([convert(element) for element in flat(each)])
            else:
                outputs.append(as_tensor(convert(each)))
        return outputs
