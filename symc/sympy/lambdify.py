"""`lambdify` with SymPy's arguments, compiled by symc.

SymPy's function takes scalars or arrays of any rank. Here one is compiled for each combination of
dtypes and ranks (and axes of length 1, which broadcast) at the first call that has it, and found
again by later calls; the cache on disk serves other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeAlias, cast

import numpy as np
import sympy

from symc import tensor as T
from symc.calls.callable import Function
from symc.calls.function import function
from symc.errors import BadArgument
from symc.graph.inputs import as_tensor
from symc.graph.node import Array, Tensor
from symc.sympy.matrices import flat, of_one_dtype
from symc.sympy.to_symc import Converter

Signature: TypeAlias = tuple[tuple[str, tuple[bool, ...]], ...]
Modules: TypeAlias = "str | ModuleType | Mapping[str, Callable[..., Any]] | Sequence[Any] | None"
NUMBERS = frozenset({float, int, np.float64})
"""Types of numbers that compiled functions take as they are."""
SAME = ("symc", "numpy", "scipy", "math", "cmath")
"""Modules whose functions are computed by symc's own, which mean the same."""


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
      They are called with tensors. The names of modules whose functions symc's mean the same as
      (``"numpy"``, ``"scipy"``, ``"math"``, ``"symc"``) are accepted beside them, and so are the
      modules; with ``"cmath"`` arguments are converted to complex numbers.
    - `cse`: equal parts are always computed once; a function is called as SymPy would call it.
    - `use_imps`: whether functions of ``implemented_function`` are used.
    - `dummify`, `docstring_limit`: accepted, and without effect: no Python text is generated.
    - `mode`: as for `symc.function`. `dtype`: that arguments are converted to; None: kept.

    Raises `ValueError` for other modules and for printers, which have no place here.

    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> f = lambdify([x, y], [sympy.sin(x) * y, x + y])
    >>> f(0.5, 2)
    [np.float64(0.958851077208406), np.float64(2.5)]
    >>> f([0.0, 1.0], 1.0)[1]
    array([1., 2.])
    """
    del dummify, docstring_limit
    if printer is not None:
        raise ValueError("printer= makes SymPy print Python; symc compiles the expression itself")
    functions = _functions(modules)
    structure = _structure(args)
    if isinstance(expr, str):
        names: dict[str, Any] = {str(leaf): leaf for leaf in _leaves(structure)}
        read: Any = sympy.sympify  # its types lack text with `locals`
        expr = read(expr, names)
    if dtype is None and "cmath" in map(_name, _listed(modules)):
        dtype = complex
    return Lambdified(structure, expr, functions, use_imps, cse, mode, dtype)


def _functions(modules: Modules) -> dict[str, Callable[..., Any]]:
    """The functions by name in `modules`; the first one that has a name counts, as in SymPy."""
    found: dict[str, Callable[..., Any]] = {}
    for module in reversed(_listed(modules)):
        if isinstance(module, Mapping):
            found.update(cast("Mapping[str, Callable[..., Any]]", module))
        elif module is not None and _name(module) not in SAME:
            raise ValueError(
                f"modules={module!r}: symc computes SymPy's functions itself; give dicts of "
                "functions of tensors for others"
            )
    return found


def _listed(modules: Any) -> list[Any]:
    return list(modules) if isinstance(modules, list | tuple) else [modules]


def _name(module: Any) -> Any:
    return module.__name__ if isinstance(module, ModuleType) else module


def _structure(args: Any) -> Any:
    """The arguments as nested tuples of SymPy's objects."""
    if isinstance(args, str):
        found = sympy.symbols(args)
        return tuple(found) if isinstance(found, tuple) else (found,)
    if isinstance(args, Iterable) and not _is_one(args):
        return tuple(_inner(item) for item in args)
    return (args,)


def _inner(item: Any) -> Any:
    if isinstance(item, str):
        return sympy.Symbol(item)
    if isinstance(item, list | tuple | sympy.Tuple):
        return tuple(_inner(each) for each in cast("Iterable[Any]", item))
    return item


def _is_one(args: Any) -> bool:
    """Whether this is one argument, though it can be iterated over."""
    return isinstance(args, sympy.MatrixBase | sympy.MatrixSymbol | sympy.IndexedBase)


class Lambdified:
    """The result of `lambdify`: call it with numbers or arrays.

    `functions` has the compiled functions, by the dtypes and ranks of the arguments.
    """

    def __init__(
        self,
        structure: tuple[Any, ...],
        expr: Any,
        functions: Mapping[str, Callable[..., Any]],
        use_imps: bool,
        cse: bool | Callable[[Any], Any],
        mode: str | None,
        dtype: Any,
    ) -> None:
        self._structure = structure
        self._expr = expr
        self._is_one = not isinstance(expr, dict | list | tuple | sympy.Tuple)
        self._user = dict(functions)
        self._use_imps = use_imps
        self._cse = cse
        self._mode = mode
        self._dtype = None if dtype is None else np.dtype(dtype)
        self.functions: dict[Signature, Function] = {}
        self._of_numbers: dict[tuple[type, ...], Function] = {}  # the same, by types of numbers

    def __repr__(self) -> str:
        names = ", ".join(map(str, self._structure))
        return f"<lambdified ({names}) -> {self._expr!s:.200}>"

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
        signature = tuple([(v.dtype.str, tuple([n == 1 for n in v.shape])) for v in values])
        compiled = self.functions.get(signature)
        if compiled is None:
            compiled = self.functions[signature] = self._compile(values, apart=apart)
        if self._dtype is None and NUMBERS.issuperset(map(type, args)):
            self._of_numbers[tuple(map(type, args))] = compiled
        return self._arranged(compiled(*values), apart=apart)

    def _is_apart(self, values: Sequence[Array]) -> bool:
        """Whether elements of matrices are arrays: those are computed together, in one loop.

        As a tensor of its own, a matrix of arrays would have a loop for each element, which would
        compute common parts of elements again.
        """
        return any(
            value.ndim and not isinstance(leaf, sympy.MatrixSymbol) and not _is_one(leaf)
            for leaf, value in zip(_leaves(self._structure), values, strict=True)
        )

    def _arranged(self, results: Any, *, apart: bool = False) -> Any:
        """The results in the containers of the expression."""
        if self._is_one and not (apart and _is_explicit(self._expr)):
            return _plain(results)
        remaining = iter(results)

        def each(leaf: Any) -> Any:
            if apart and _is_explicit(leaf):
                return _assembled([next(remaining) for _ in flat(leaf)], leaf.shape)
            return _plain(next(remaining))

        return _map(self._expr, each)

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
        given = tuple(args)
        if len(given) != len(structure):
            raise BadArgument(f"{what} takes {len(structure)} arguments, not {len(given)}")
        for leaf, value in zip(structure, given, strict=True):
            if isinstance(leaf, tuple):
                yield from self._values(leaf, value, f"the argument {leaf}")
            else:
                yield _array(leaf, value, self._dtype)

    def _compile(self, values: Sequence[Array], *, apart: bool) -> Function:
        inputs = [
            T.tensor(value.dtype, tuple(1 if n == 1 else None for n in value.shape), name=name)
            for value, name in zip(values, self._names(), strict=True)
        ]
        symbols: dict[Any, Any] = {}
        for leaf, tensor in zip(_leaves(self._structure), inputs, strict=True):
            _bind(symbols, leaf, tensor)
        outputs = self._outputs(symbols, apart=apart)
        wanted = (
            outputs[0] if self._is_one and not (apart and _is_explicit(self._expr)) else outputs
        )
        return function(inputs, wanted, mode=self._mode, on_unused_input="ignore")

    def _names(self) -> Iterator[str | None]:
        for leaf in _leaves(self._structure):
            yield getattr(leaf, "name", None)

    def _outputs(self, symbols: dict[Any, Any], *, apart: bool) -> list[Tensor]:
        expressions: list[Any] = []
        _map(self._expr, lambda leaf: expressions.append(sympy.sympify(leaf)))
        convert = Converter(symbols, self._user, use_imps=self._use_imps)
        if callable(self._cse):
            parts, expressions = self._cse(expressions)
            for symbol, part in parts:
                convert = convert.within(symbol, convert(part))
        outputs: list[Tensor] = []
        for each in expressions:
            if apart and _is_explicit(each):
                outputs += of_one_dtype([convert(element) for element in flat(each)])
            else:
                outputs.append(as_tensor(convert(each)))
        return outputs


def _is_explicit(expr: Any) -> bool:
    """Whether an expression is a matrix, or another array, of expressions."""
    return isinstance(expr, sympy.MatrixBase | sympy.NDimArray) and 0 not in expr.shape


def _assembled(elements: list[Array], shape: Sequence[Any]) -> Array:
    """A matrix of the arrays that are its elements, which broadcast."""
    common = np.broadcast_shapes(*(element.shape for element in elements))
    made = np.empty((len(elements), *common), elements[0].dtype)
    for place, element in zip(made, elements, strict=True):
        place[...] = element
    return made.reshape((*map(int, shape), *common))


def _array(leaf: Any, value: Any, dtype: Any) -> Array:
    """An argument as an array: numbers of SymPy's become floats, a column may be a vector."""
    array = np.asarray(value, dtype=dtype)
    if array.dtype == object:
        kind = complex if any(not sympy.im(each).is_zero for each in array.flat) else float
        array = array.astype(kind)
    if isinstance(leaf, sympy.MatrixBase) and array.ndim == 1 and 1 in leaf.shape:
        array = array.reshape(leaf.shape)
    return array


def _leaves(structure: tuple[Any, ...]) -> Iterator[Any]:
    for item in structure:
        if isinstance(item, tuple):
            yield from _leaves(item)
        else:
            yield item


def _bind(symbols: dict[Any, Any], leaf: Any, tensor: Tensor) -> None:
    """The names of an argument in the expression: a symbol, or the elements of a matrix."""
    if isinstance(leaf, sympy.IndexedBase):
        symbols[leaf.label] = tensor
    elif isinstance(leaf, sympy.MatrixBase):
        rows, columns = leaf.shape
        for i in range(rows):
            for j in range(columns):
                symbols[leaf[i, j]] = tensor[i, j]
    else:
        symbols[leaf] = tensor


def _map(expr: Any, each: Callable[[Any], Any]) -> Any:
    """The nested containers with each expression in them replaced."""
    match expr:
        case dict():
            return {key: _map(value, each) for key, value in expr.items()}
        case list():
            return [_map(item, each) for item in expr]
        case tuple() | sympy.Tuple():
            return tuple(_map(item, each) for item in cast("Iterable[Any]", expr))
        case _:
            return each(expr)


def _plain(result: Array) -> Any:
    """A scalar instead of an array without axes."""
    return result[()] if result.ndim == 0 else result
