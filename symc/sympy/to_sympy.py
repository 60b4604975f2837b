"""Tensors as SymPy's expressions, in index notation.

An op already says how an element of its result is computed from elements of its arguments: that is
its lowering (`symc/graph/lowering.py`). Here the same formulas are of SymPy's symbols instead of
loops, so that every op with such a lowering can be written in SymPy: ``a @ b`` is a ``Sum`` over
``a[i, k]*b[k, j]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np
import sympy

from symc import tensor as T
from symc.codegen import ir
from symc.graph import dims
from symc.graph.dims import Dim, Size
from symc.graph.formulas import Formula, Index
from symc.graph.inputs import Constant, Input, SharedVariable
from symc.graph.lowering import (
    Alias,
    At,
    Control,
    Fold,
    HostCall,
    LibCall,
    Sweep,
    Write,
)
from symc.graph.node import Tensor
from symc.graph.open_formulas import OpenFormula
from symc.sympy.scalars import BINARY, number, scalar
from symc.tensor.matrix_product import MatMul, MatVec
from symc.tensor.notation import described
from symc.tensor.softmaxes import LogSoftmax, LogSumExp, Softmax

AXES = ("i", "j", "k", "l")
MOST_CASES = 64


def to_sympy(tensor: Tensor, *indices: Any) -> Any:
    """The SymPy expression of a tensor; of its element ``[i, j, ...]`` if it has axes.

    Inputs and shared variables become symbols of their names, those with axes ``IndexedBase``;
    unknown lengths become symbols like ``x_0``. `indices` (default: symbols ``i, j, k, l``) say
    which element is meant. Sums over axes are ``Sum``, choices are ``Piecewise``.

    The expression is about real (or complex) numbers: rounding and overflow are not in it.

    Raises `NotImplementedError` for ops without an index notation (sorting, setting elements,
    routines) and for functions that SymPy does not have.

    >>> import symc.tensor as T
    >>> x, w = T.matrix("x"), T.vector("w")
    >>> to_sympy(T.tanh(x @ w))
    tanh(Sum(w[j]*x[i, j], (j, 0, w_0 - 1)))
    """
    given = [sympy.sympify(index) for index in indices]
    if len(given) > tensor.ndim:
        raise ValueError(f"{len(given)} indices for {tensor!r}, which has {tensor.ndim} axes")
    if len(given) < tensor.ndim:
        given += [_symbol(axis) for axis in _axes(tensor.ndim)[len(given) :]]
    place = [sympy.S.Zero if n == 1 else i for i, n in zip(given, tensor.type.shape, strict=True)]
    return _Elements(tensor.ndim).element(tensor, tuple(place))


def _axes(count: int) -> list[str]:
    return [AXES[n] if n < len(AXES) else f"i{n}" for n in range(count)]


def _symbol(name: str) -> Any:
    return sympy.Symbol(name, integer=True)


class _Elements:
    """Elements of nodes as expressions, each computed once."""

    def __init__(self, rank: int) -> None:
        self._known: dict[tuple[Tensor, tuple[Any, ...]], Any] = {}
        self._names: dict[str, Any] = {}  # the meanings of variables in the formulas' expressions
        self._variables: dict[Any, ir.Var] = {}
        self._folded = rank

    def element(self, node: Tensor, index: tuple[Any, ...]) -> Any:
        """The element of a node at an index of SymPy expressions."""
        found = self._known.get((node, index))
        if found is None:
            found = self._known[node, index] = self._compute(node, index)
        return found

    def _compute(self, node: Tensor, index: tuple[Any, ...]) -> Any:
        match node.op:
            case Constant():
                return _constant(node.op, index)
            case Input():
                return self._source(node, index)
            case _ if isinstance(node, SharedVariable):
                return self._source(node, index)
            case MatMul() | MatVec():
                return self._fold(node, node.op.products(node), index)
            case _:
                expanded = _expanded(node)
                if expanded is not None:
                    return self.element(expanded, index)
                return self._lowered(node, index)

    def _source(self, node: Tensor, index: tuple[Any, ...]) -> Any:
        name = node.name or "x"
        if node.ndim:
            base: Any = sympy.IndexedBase(name)
            return base[index]
        whole = True if node.dtype.is_integer else None
        return sympy.Symbol(name, real=None if node.dtype.is_complex else True, integer=whole)

    def _lowered(self, node: Tensor, index: tuple[Any, ...]) -> Any:
        lowering = node.op.lower(node, self._size)
        match lowering:
            case At(element):
                return self._run(node, element, index)
            case Fold(finds=True, otherwise=At(element)):
                return self._run(node, element, index)
            case Fold():
                return self._fold(node, lowering, index)
            case Alias():
                return self.element(node.args[0], self._reshaped(node, index))
            case Sweep(axis, op, element=element, scale=None) if op == "add":
                variable = self._fresh()
                inner = (*index[:axis], variable, *index[axis + 1 :])
                value = self._run(node, element, inner)
                return sympy.Sum(value, (variable, 0, index[axis]))
            case Sweep() | Write() | LibCall() | HostCall() | Control():
                raise NotImplementedError(f"no index notation for {described(node)}")
            case _:
                assert_never(lowering)

    # --- folds and reshapes -----------------------------------------------------------------------

    def _fold(self, node: Tensor, fold: Fold, index: tuple[Any, ...]) -> Any:
        lengths = [self._length(extent) for extent in fold.extents]
        inner = tuple(sympy.S.Zero if n == 1 else self._fresh() for n in lengths)
        value = self._run(node, fold.element, index, inner)
        limits = [(i, 0, n - 1) for i, n in zip(inner, lengths, strict=True) if n != 1]
        if not limits:
            return value
        match fold.op:
            case "add":
                return sympy.Sum(value, *limits)
            case "mul":
                return sympy.Product(value, *limits)
            case "min" | "max" | "and" | "or":
                return BINARY[fold.op](*_cases(value, limits, node))
            case _:
                raise NotImplementedError(f"no index notation for {described(node)}")

    def _fresh(self) -> Any:
        self._folded += 1
        return _symbol(_axes(self._folded)[-1])

    def _reshaped(self, node: Tensor, index: tuple[Any, ...]) -> tuple[Any, ...]:
        """Where a reshaped element stands in the argument: both are in row-major order."""
        flat: Any = sympy.S.Zero
        for i, dim in zip(index, node.type.shape, strict=True):
            flat = flat * self._length(dim) + i
        place: list[Any] = []
        shape = node.args[0].type.shape
        for axis in reversed(range(len(shape))):
            length = self._length(shape[axis])
            place.append(flat if axis == 0 else sympy.Mod(flat, length))
            flat = sympy.floor(flat / length)
        return tuple(reversed(place))

    # --- formulas ---------------------------------------------------------------------------------

    def _run(
        self, node: Tensor, formula: Formula, index: tuple[Any, ...], inner: tuple[Any, ...] = ()
    ) -> Any:
        """The value of a formula, the elements that it reads given as variables."""
        opened = OpenFormula(formula, self._as_ir(index), self._as_ir(inner))
        while (request := opened.next()) is not None:
            number, at = request
            arg = node.args[number]
            place = tuple(scalar(i, self._names) for i in at)
            opened.elements.append(self._variable(self.element(arg, place), arg))
        return scalar(opened.value(), self._names)

    def _variable(self, value: Any, node: Tensor) -> ir.Var:
        """A variable for a value, of the dtype of the node that it is an element of."""
        key = value, node.dtype
        found = self._variables.get(key)
        if found is None:
            found = ir.Var(f"v{len(self._variables)}", node.dtype)
            self._variables[key] = found
            self._names[found.name] = value
        return found

    def _as_ir(self, index: Sequence[Any]) -> Index:
        def one(value: Any) -> ir.Expr:
            if value.is_Integer:
                return ir.const(int(value))
            found = self._variables.get(value)
            if found is None:
                found = self._variables[value] = ir.Var(f"v{len(self._variables)}")
                self._names[found.name] = value
            return found

        return tuple(map(one, index))

    # --- lengths ----------------------------------------------------------------------------------

    def _size(self, dim: Dim) -> ir.Expr:
        (found,) = self._as_ir([self._length(dim)])
        return found

    def _length(self, dim: Dim) -> Any:
        if isinstance(dim, int):
            return sympy.Integer(dim)
        total: Any = sympy.S.Zero
        for monomial, factor in dim.terms:
            term: Any = sympy.Integer(factor)
            for atom in monomial:
                term *= self._atom(atom)
            total += term
        return total

    def _atom(self, atom: dims.Atom) -> Any:
        if isinstance(atom, Size):
            if atom.axis is None:
                return self.element(atom.source, ())
            name = f"{atom.source.name or 'x'}_{atom.axis}"
            return sympy.Symbol(name, integer=True, nonnegative=True)
        return BINARY[atom.kind](self._length(atom.left), self._length(atom.right))


def _expanded(node: Tensor) -> Tensor | None:
    """The node in simpler ops, if there are; without the shift that keeps softmax finite."""
    match node.op:
        case Softmax(axes):
            powers = T.exp(node.args[0])
            return powers / T.sum(powers, axis=axes, keepdims=True)
        case LogSoftmax(axes):
            x = node.args[0]
            return x - T.log(T.sum(T.exp(x), axis=axes, keepdims=True))
        case LogSumExp(axes):
            return T.log(T.sum(T.exp(node.args[0]), axis=axes))
        case _:
            return node.op.expand(node)


def _constant(op: Constant, index: tuple[Any, ...]) -> Any:
    if not op.value.ndim:
        return number(op.value.item())
    if np.all(op.value == op.value.flat[0]):
        return number(op.value.flat[0].item())
    items = [number(item) for item in op.value.ravel().tolist()]
    return sympy.ImmutableDenseNDimArray(items, op.value.shape)[index]


def _cases(value: Any, limits: Sequence[tuple[Any, Any, Any]], node: Tensor) -> list[Any]:
    """The values at all indexes, for folds that SymPy has no sign for."""
    cases = [value]
    for variable, first, last in limits:
        if not last.is_Integer or int(last) >= MOST_CASES:
            raise NotImplementedError(
                f"SymPy has no {node.op.label} over unknown or long axes: {described(node)}"
            )
        numbers = range(int(first), int(last) + 1)
        cases = [case.subs(variable, n) for case in cases for n in numbers]
    return cases
