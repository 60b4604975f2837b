"""Lengths of axes: integers, or integer expressions over sizes known only at run time.

A `Dim` is an ``int`` or a `DimExpr`. Expressions are kept in one normal form, a polynomial with
integer coefficients over atoms, and interned: ``n + 1 - 1`` *is* ``n``, so equality is identity.

    Dim  = int | Poly
    Atom = Size(source, axis)       an axis of an input, or (axis None) the value of a scalar tensor
         | Quotient(left, right)    floor division that could not be carried out
         | Extreme(kind, left, right)   kind = min | max, where neither is provably smaller

Lengths are exact integers, which the arithmetic here takes them for: ``n * m // m`` *is* ``n``, and
no product is computed, so that none can be too large. A length that a program does compute must fit
into 64 bits, and so must all that it is computed from; a call where it does not ends with
`TooLarge`.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, Literal, Self, TypeAlias, cast
from weakref import WeakValueDictionary

MOST = (1 << 63) - 1  # the largest int64
LONG = 1 << 31  # the largest number that is added to a length unchecked

_serial = count()
_interned: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
_lock = allocate_lock()  # of two threads that make equal lengths at once, the first one's counts
os.register_at_fork(
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


def _kept(key: tuple[Any, ...], made: Any) -> Any:
    """What is interned under a key: `made`, unless another thread was faster."""
    with _lock:
        return _interned.setdefault(key, made)


class Size:
    """A length given from outside: axis `axis` of the tensor `source`, or its value (axis None)."""

    __slots__ = ("__weakref__", "axis", "serial", "source")
    source: Any
    axis: int | None
    serial: int

    def __new__(cls, source: Any, axis: int | None) -> Self:
        key = (cls, id(source), axis)
        found = _interned.get(key)
        if found is not None and found.source is source:
            return cast("Self", found)
        size = super().__new__(cls)
        size.source, size.axis, size.serial = source, axis, next(_serial)
        return cast("Self", _kept(key, size))

    def __repr__(self) -> str:
        # Generated code shows this: it may depend on the graph alone, not on names made before.
        name = getattr(self.source, "name", None) or self.source.op.label
        return f"{name}.value" if self.axis is None else f"{name}.shape[{self.axis}]"


class _Pair:
    __slots__ = ("__weakref__", "kind", "left", "right", "serial")
    kind: Literal["floordiv", "min", "max"]
    left: Dim
    right: Dim
    serial: int

    def __new__(cls, kind: Literal["floordiv", "min", "max"], left: Dim, right: Dim) -> Any:
        key = (cls, kind, left, right)
        found = _interned.get(key)
        if found is None:
            found = super().__new__(cls)
            found.kind, found.left, found.right, found.serial = kind, left, right, next(_serial)
            found = _kept(key, found)
        return found


class Quotient(_Pair):
    """``left // right``, rounded down."""

    def __repr__(self) -> str:
        return f"({self.left})//({self.right})"


class Extreme(_Pair):
    """``min(left, right)`` or ``max(left, right)``."""

    def __repr__(self) -> str:
        return f"{self.kind}({self.left}, {self.right})"


Atom: TypeAlias = Size | Quotient | Extreme
Monomial: TypeAlias = tuple[Atom, ...]


class Poly:
    """A symbolic length in normal form. Supports ``+ - * //`` with other lengths.

    >>> from symc.graph.dims import Size, symbolic
    >>> n = symbolic(Size(object(), 0))
    >>> (n + 1) - 1 is n
    True
    """

    __slots__ = ("__weakref__", "terms")
    terms: tuple[tuple[Monomial, int], ...]

    def __new__(cls, terms: tuple[tuple[Monomial, int], ...]) -> Self:
        found = _interned.get(terms)
        if found is None:
            found = super().__new__(cls)
            found.terms = terms
            found = _kept(terms, found)
        return cast("Self", found)

    def __add__(self, other: Dim) -> Dim:
        return add(self, other)

    def __radd__(self, other: Dim) -> Dim:
        return add(other, self)

    def __sub__(self, other: Dim) -> Dim:
        return add(self, mul(other, -1))

    def __rsub__(self, other: Dim) -> Dim:
        return add(other, mul(self, -1))

    def __mul__(self, other: Dim) -> Dim:
        return mul(self, other)

    def __rmul__(self, other: Dim) -> Dim:
        return mul(other, self)

    def __floordiv__(self, other: Dim) -> Dim:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return floordiv(other, self)

    def __repr__(self) -> str:
        parts: list[str] = []
        for monomial, factor in self.terms:
            text = "*".join(map(repr, monomial))
            times = f"{abs(factor)}{'*' if text else ''}"
            body = text if abs(factor) == 1 and text else times + text
            sign = "-" if factor < 0 else "+"
            parts.append(f" {sign} {body}" if parts else ("-" + body if factor < 0 else body))
        return "".join(parts)


Dim: TypeAlias = int | Poly


def _terms(dim: Dim) -> Iterable[tuple[Monomial, int]]:
    if isinstance(dim, Poly):
        return dim.terms
    return (((), dim),) if dim else ()


def _normal(terms: dict[Monomial, int]) -> Dim:
    kept = sorted(
        ((m, c) for m, c in terms.items() if c),
        key=lambda term: (not term[0], [atom.serial for atom in term[0]]),
    )
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    return Poly(tuple(kept))


def sum_of(terms: Iterable[tuple[Monomial, int]]) -> Dim:
    """The length that is the sum of some terms, no two of the same monomial."""
    return _normal(dict(terms))


def symbolic(atom: Atom) -> Poly:
    """The length that is just this atom."""
    return Poly((((atom,), 1),))


def add(left: Dim, right: Dim) -> Dim:
    """``left + right``."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    terms = dict(_terms(left))
    for monomial, factor in _terms(right):
        terms[monomial] = terms.get(monomial, 0) + factor
    return _normal(terms)


def sub(left: Dim, right: Dim) -> Dim:
    """``left - right``."""
    return add(left, mul(right, -1))


def mul(left: Dim, right: Dim) -> Dim:
    """``left * right``."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    terms: dict[Monomial, int] = {}
    for m1, c1 in _terms(left):
        for m2, c2 in _terms(right):
            monomial = tuple(sorted(m1 + m2, key=lambda atom: atom.serial))
            terms[monomial] = terms.get(monomial, 0) + c1 * c2
    return _normal(terms)


def product(dims: Iterable[Dim]) -> Dim:
    """The product of lengths: how many elements a shape has."""
    total: Dim = 1
    for dim in dims:
        total = mul(total, dim)
    return total


def _divide_terms(left: Dim, divisor: Monomial, factor: int) -> Dim | None:
    """`left` divided by ``factor * divisor`` term by term, or None unless that is exact."""
    terms: dict[Monomial, int] = {}
    for monomial, c in _terms(left):
        rest = list(monomial)
        for atom in divisor:
            if atom not in rest:
                return None
            rest.remove(atom)
        if c % factor:
            return None
        terms[tuple(rest)] = c // factor
    return _normal(terms)


def floordiv(left: Dim, right: Dim) -> Dim:
    """``left // right``, rounded down; exact divisions are carried out."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right if right else 0
    if right == 1:
        return left
    if left is right:
        return 1
    divisor = list(_terms(right))
    if len(divisor) == 1:
        exact = _divide_terms(left, *divisor[0])
        if exact is not None:
            return exact
    return symbolic(Quotient("floordiv", left, right))


def ceildiv(left: Dim, right: Dim) -> Dim:
    """``left / right`` rounded up, for a divisor above 0.

    Nothing is added to `left` that may be as long as 64 bits can say.
    """
    if isinstance(right, int) and right < LONG:
        return floordiv(add(left, right - 1), right)
    return add(floordiv(sub(left, 1), right), 1)


def constant_part(dim: Dim) -> int:
    """The constant term of a length: 3 of ``2*n + 3``."""
    return next((factor for monomial, factor in _terms(dim) if not monomial), 0)


def fits(number: int) -> bool:
    """Whether 64 bits can hold a number."""
    return -MOST - 1 <= number <= MOST


def fits_always(dim: Dim) -> bool:
    """Whether 64 bits hold a length, and all it is computed from, whatever the sizes are.

    A little more than they hold, such as ``n + 1``, is none the less taken to fit.
    """
    return _reach(dim) is not None


def _reach(dim: Dim) -> tuple[int, int] | None:
    """The least and the largest value of a length that always fits; None for others."""
    low, high = 0, 0
    for monomial, factor in _terms(dim):
        if len(monomial) > 1:
            return None
        ends = _atom_reach(monomial[0]) if monomial else (1, 1)
        if ends is None:
            return None
        least, most = sorted(end * factor for end in ends)
        low, high = low + least, high + most
        if low < -MOST - LONG or high > MOST + LONG:
            return None
    return low, high


def at_most_one(dim: Dim) -> bool:
    """Whether a length is provably 0 or 1, as that of the slice ``x[:1]``."""
    reach = _reach(dim)
    if reach is not None:
        return reach[0] >= 0 and reach[1] <= 1
    match tuple(atoms(dim)):
        case (Extreme(kind="max", left=0, right=Poly() as inner) as atom,):
            match tuple(atoms(inner)):
                case (Extreme(kind="min", left=1) as clipped,):
                    return dim == symbolic(atom) and inner == symbolic(clipped)
                case _:
                    return False
        case _:
            return False


def _atom_reach(atom: Atom) -> tuple[int, int] | None:
    if isinstance(atom, Size):
        return (0 if _atom_nonnegative(atom) else -MOST - 1), MOST
    left, right = _reach(atom.left), _reach(atom.right)
    if left is None or right is None:
        return None
    match atom:
        case Extreme(kind="min"):
            return min(left[0], right[0]), min(left[1], right[1])
        case Extreme():
            return max(left[0], right[0]), max(left[1], right[1])
        case Quotient():
            most = max(map(abs, left))
            return (0 if left[0] >= 0 < right[0] else -most), most


def nonnegative(dim: Dim) -> bool:
    """Whether a length is provably at least zero."""
    if isinstance(dim, int):
        return dim >= 0
    if all(c >= 0 and all(map(_atom_nonnegative, m)) for m, c in dim.terms):
        return True
    counter = _innermost_counter(dim)
    if counter is not None and _nonnegative_in_steps(dim, counter, depth=3):
        return True
    less = _without_quotient(dim)
    return less is not None and nonnegative(less)


def _without_quotient(dim: Poly) -> Dim | None:
    """A length that is no larger: ``k*(x // k)`` is at most x, and here it is taken away."""
    for monomial, factor in dim.terms:
        if factor < 0 and len(monomial) == 1 and isinstance(monomial[0], Quotient):
            left, by = monomial[0].left, monomial[0].right
            if isinstance(by, int) and by > 0 and factor % by == 0:
                return add(sub(dim, mul(symbolic(monomial[0]), factor)), mul(left, factor // by))
    return None


def _nonnegative_in_steps(dim: Poly, counter: Size, depth: int) -> bool:
    """Whether a length is not negative in any step, the innermost of which `counter` counts."""
    least = least_over(dim, counter, counter.source.op.steps)
    if least is not None:
        return nonnegative(least)
    for monomial, factor in dim.terms if depth else ():
        if abs(factor) == 1 and len(monomial) == 1 and isinstance(monomial[0], Extreme):
            rest = sub(dim, mul(symbolic(monomial[0]), factor))
            sides = [mul(side, factor) for side in (monomial[0].left, monomial[0].right)]
            shown = [_in_steps(add(rest, side), depth - 1) for side in sides]
            if any(shown) if (monomial[0].kind == "max") == (factor > 0) else all(shown):
                return True
    return False


def _in_steps(dim: Dim, depth: int) -> bool:
    counter = None if isinstance(dim, int) else _innermost_counter(dim)
    if counter is None or isinstance(dim, int):
        return nonnegative(dim)
    return _nonnegative_in_steps(dim, counter, depth)


def _atom_nonnegative(atom: Atom) -> bool:
    match atom:
        case Size():
            return atom.axis is not None or getattr(atom.source.op, "is_natural", False)
        case Quotient():
            return nonnegative(atom.left) and nonnegative(atom.right)
        case Extreme(kind="max"):
            return nonnegative(atom.left) or nonnegative(atom.right)
        case _:
            return nonnegative(atom.left) and nonnegative(atom.right)


def _innermost_counter(dim: Dim) -> Size | None:
    """The size in a length that counts the steps of the innermost loop, if any does."""
    found = [size for size in sizes(dim) if size.axis is None and _is_counter(size.source)]
    return max(found, key=lambda size: size.serial, default=None)


def _is_counter(source: Any) -> bool:
    return getattr(source.op, "steps", None) is not None


def least_over(dim: Dim, counter: Size, count: Dim) -> Dim | None:
    """The least value of a length that is linear in a counter; None if it is not linear.

    The counter goes from 0 to below `count`. It has a value: of ``max(n, 0)`` values there are n.
    """
    if isinstance(dim, int) or counter not in set(sizes(dim)):
        return dim
    factor, rest = 0, cast("Dim", dim)
    for monomial, times in dim.terms:
        if monomial == (counter,):
            factor, rest = times, sub(dim, mul(symbolic(counter), times))
    if counter in set(sizes(rest)):
        return None
    last = sub(without_bound(count), 1)
    return add(rest, mul(last, factor)) if factor < 0 else rest


def without_bound(length: Dim) -> Dim:
    """A length, where it is above 0, without the maximum that keeps it from being negative."""
    match length:
        case Poly(terms=((((Extreme(kind="max") as most,), 1),))):
            if most.left == 0:
                return most.right
            if most.right == 0:
                return most.left
        case _:
            pass
    return length


def minimum(left: Dim, right: Dim) -> Dim:
    """The smaller length, decided now where that is provable."""
    if nonnegative(sub(right, left)):
        return left
    if nonnegative(sub(left, right)):
        return right
    return symbolic(Extreme("min", left, right))


def maximum(left: Dim, right: Dim) -> Dim:
    """The larger length, decided now where that is provable."""
    if nonnegative(sub(right, left)):
        return right
    if nonnegative(sub(left, right)):
        return left
    return symbolic(Extreme("max", left, right))


def atoms(dim: Dim) -> Iterator[Atom]:
    """The atoms of a length, in its own order, outermost only."""
    if isinstance(dim, Poly):
        for monomial, _ in dim.terms:
            yield from monomial


def sizes(dim: Dim) -> Iterator[Size]:
    """Every size a length depends on, repeated where it occurs more than once."""
    for atom in atoms(dim):
        if isinstance(atom, Size):
            yield atom
        else:
            yield from sizes(atom.left)
            yield from sizes(atom.right)


def substitute(dim: Dim, value: Callable[[Size], Dim]) -> Dim:
    """The length with each size replaced; with integers for all sizes, this evaluates it."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, factor in dim.terms:
        term: Dim = factor
        for atom in monomial:
            term = mul(term, _substitute_atom(atom, value))
        total = add(total, term)
    return total


def _substitute_atom(atom: Atom, value: Callable[[Size], Dim]) -> Dim:
    if isinstance(atom, Size):
        return value(atom)
    left, right = substitute(atom.left, value), substitute(atom.right, value)
    match atom.kind:
        case "floordiv":
            return floordiv(left, right)
        case "min":
            return minimum(left, right)
        case "max":
            return maximum(left, right)
