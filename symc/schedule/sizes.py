"""Lengths in generated code: each symbolic `Dim` of a program gets a size variable, named once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import assert_never

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.record import field, record
from symc.errors import TooLarge
from symc.graph.dims import (
    MOST,
    Atom,
    Dim,
    Extreme,
    Poly,
    Quotient,
    Size,
    atoms,
    fits,
    floordiv,
    mul,
    nonnegative,
    sizes,
    sub,
    substitute,
    sum_of,
    symbolic,
)
from symc.graph.node import Tensor

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
MANY = 32  # terms of a sum in one expression: compilers bound how deep parentheses nest
_RESERVED = frozenset({"data", "call", "status", "threads", "scratch"})


@record(frozen=False)
class UniqueNames:
    """Hands out names that are unique in a program: the wanted one, or with a number added."""

    taken: set[str] = field(default_factory=lambda: set(_RESERVED))
    _counts: dict[str, int] = field(default_factory=dict)
    _inside: UniqueNames | None = None

    def fresh(self, wanted: str | None, otherwise: str) -> str:
        """`wanted` if it is an identifier nobody has, else `otherwise`, numbered until unique."""
        base = wanted if wanted and _IDENTIFIER.match(wanted) else otherwise
        base = f"my_{base}" if base.startswith("symc") else base
        name = base
        inside = set[str]() if self._inside is None else self._inside.taken
        while name in self.taken or name in inside:
            number = self._counts.get(base, 1) + 1
            self._counts[base] = number
            name = f"{base}_{number}"
        self.taken.add(name)
        inside.add(name)
        return name

    def of_kernel(self) -> UniqueNames:
        """Names for the next kernel, which others may have for other things.

        Buffers get their names when they are first asked for, which may be while a kernel is
        written: until the kernel after it, names given here are none of its own, and taken there.
        """
        self._inside = UniqueNames(set(self.taken), dict(self._counts))
        return self._inside


class Unifier:
    """Lengths that must be equal for a call to succeed, taken as equal everywhere.

    ``x + y`` of two unknown lengths checks that they agree; after that check, loops over one are
    loops over the other. (Lengths known before the call only: those measured while it runs may
    depend on the other length, as in ``x + x[x > 0]``.)
    """

    def __init__(self, equal: Iterable[tuple[Dim, Dim]]) -> None:
        self._same: dict[Size, Dim] = {}
        self._same_whole: dict[Dim, Dim] = {}  # lengths that are computed, as those of parts
        self._memo: dict[Dim, Dim] = {}
        for left, right in equal:
            self._unify(self(left), self(right))

    def __call__(self, dim: Dim) -> Dim:
        """The length, in terms of representatives."""
        if isinstance(dim, int) or not (self._same or self._same_whole):
            return dim
        found = self._memo.get(dim)
        if found is None:
            found = substitute(dim, lambda size: self._resolve(size))
            while found in self._same_whole:
                found = self._same_whole[found]
            self._memo[dim] = found
        return found

    def _resolve(self, size: Size) -> Dim:
        other = self._same.get(size)
        return symbolic(size) if other is None else self(other)

    def _unify(self, left: Dim, right: Dim) -> None:
        if left is right or left == right:
            return
        pairs = sorted(
            (pair for pair in ((left, right), (right, left)) if _lone_length(pair[0]) is not None),
            key=lambda pair: (not isinstance(pair[1], int), -_serial(pair[0])),
        )
        for dim, other in pairs:
            size = _lone_length(dim)
            if size is not None and _is_given(other) and size not in set(sizes(other)):
                self._same[size] = other
                self._memo.clear()
                return
        if not pairs and _is_given(left) and _is_given(right):
            long, short = sorted((left, right), key=lambda dim: (_complexity(dim), str(dim)))[::-1]
            self._same_whole[long] = short
            self._memo.clear()


def _complexity(dim: Dim) -> int:
    """Numbers are simplest, then lengths of few terms."""
    return 0 if isinstance(dim, int) else len(dim.terms)


def _lone_length(dim: Dim) -> Size | None:
    """The size a length consists of, if it is the length of an input's axis and nothing else."""
    match dim:
        case Poly(terms=(((Size() as size,), 1),)) if size.axis is not None:
            return size
        case _:
            return None


def _from_either_end(dim: Poly) -> tuple[Poly, Dim] | None:
    """A bound, and the length that is added to it if it is negative; None for other lengths.

    Written as arithmetic, as slices do it, that is ``v - n * max(min(v, 0), -1)``.
    """
    for atom in dict.fromkeys(atoms(dim)):
        match atom:
            case Extreme(kind="max", left=Poly(terms=(((Extreme() as low,), 1),)), right=-1):
                bound = low.left
            case _:
                continue
        if low.kind == "min" and low.right == 0 and isinstance(bound, Poly):
            length = sub(bound, dim)
            length = floordiv(length, symbolic(atom))
            rest = sub(dim, sub(bound, mul(length, symbolic(atom))))
            if rest == 0 and nonnegative(length) and atom not in set(atoms(length)):
                return bound, length
    return None


def _is_given(dim: Dim) -> bool:
    return isinstance(dim, int) or all(size.axis is not None for size in sizes(dim))


def _serial(dim: Dim) -> int:
    size = _lone_length(dim)
    return -1 if size is None else size.serial


class Lengths:
    """Lengths as expressions: `lengths(dim)`. All those of a program share `sizes`."""

    sizes: list[ir.Size]
    names: UniqueNames
    lengths: dict[str, Dim]
    """The lengths that size variables stand for, by name, equal lengths as one."""

    def __call__(self, dim: Dim) -> ir.Expr:
        """The expression for a length: a constant, or a size variable declared on first use."""
        raise NotImplementedError

    def raw(self, dim: Dim) -> ir.Expr:
        """The expression for a length as given, equal lengths not yet identified: for checks."""
        raise NotImplementedError

    def computed(self, wanted: str, value: ir.Expr) -> ir.Expr:
        """A size variable for an expression over other sizes."""
        if isinstance(value, ir.Const):
            return value
        for size in self.sizes:
            if size.value == value:
                return size.var
        var = ir.Var(self.names.fresh(wanted, "size"))
        self.sizes.append(ir.Size(var, value))
        return var

    def counter(self, wanted: str, note: str) -> str:
        """A size variable for the rounds of a loop, which gives it a value."""
        name = self.names.fresh(wanted, wanted)
        self.sizes.append(ir.Size(ir.Var(name), None, note))
        return name

    def known(self, size: Size, name: str) -> None:
        """Says that a size is a variable that is declared already."""
        raise NotImplementedError

    def unified(self, dim: Dim) -> Dim:
        """The length that stands for all that must be equal to this one."""
        raise NotImplementedError

    def measured(self, dim: Dim) -> list[Size]:
        """The sizes in a length that a scalar of this very program or block gives."""
        raise NotImplementedError

    def varies(self, dim: Dim) -> bool:
        """Whether a length may be another one in each step of a loop around the block."""
        del dim
        return False

    def variable(self, size: Size) -> str:
        """The name of the size variable of one size."""
        found = self.raw(symbolic(size))
        assert isinstance(found, ir.Var)
        return found.name


class SizeTable(Lengths):
    """The program's sizes."""

    def __init__(
        self, names: UniqueNames, unify: Callable[[Dim], Dim], buffer_of: Callable[[Tensor], str]
    ) -> None:
        self.names = names
        self._unify = unify
        self._buffer_of = buffer_of
        self._variables: dict[Dim, ir.Var] = {}
        self.lengths: dict[str, Dim] = {}
        self.sizes: list[ir.Size] = []

    def __call__(self, dim: Dim) -> ir.Expr:
        return self.raw(self._unify(dim))

    def known(self, size: Size, name: str) -> None:
        self._variables[symbolic(size)] = ir.Var(name)
        self.lengths[name] = symbolic(size)

    def unified(self, dim: Dim) -> Dim:
        return self._unify(dim)

    def measured(self, dim: Dim) -> list[Size]:
        return [s for s in (*sizes(dim), *sizes(self._unify(dim))) if s.axis is None]

    def raw(self, dim: Dim) -> ir.Expr:
        if isinstance(dim, int):
            if not fits(dim):
                raise TooLarge(f"a length is computed from {dim}, which needs more than 64 bits")
            return ir.const(dim)
        found = self._variables.get(dim)
        if found is None:
            found = self._declare(dim)
            self._variables[dim] = found
            self.lengths[found.name] = dim
        return found

    def _declare(self, dim: Poly) -> ir.Var:
        match dim:
            case Poly(terms=(((Size() as size,), 1),)):
                return self._declare_atom(size)
            case _:
                value = self._polynomial(dim)
                var = ir.Var(self.names.fresh("n", "n"))
                self.sizes.append(ir.Size(var, value, note=repr(dim)))
                return var

    def _declare_atom(self, size: Size) -> ir.Var:
        source: Tensor = size.source
        if size.axis is None:
            var = ir.Var(self.names.fresh(source.name, "count"))
            self.sizes.append(ir.Size(var, None, note=f"the value of {source!r}"))
            return var
        base = source.name if source.name and _IDENTIFIER.match(source.name) else "x"
        var = ir.Var(self.names.fresh(f"{base}_{size.axis}", "n"))
        value = ir.Length(self._buffer_of(source), size.axis)
        self.sizes.append(ir.Size(var, value, note=f"{size!r}   {source.where}"))
        return var

    def _polynomial(self, dim: Poly) -> ir.Expr:
        counted = _from_either_end(dim)
        if counted is not None:
            bound, length = map(self.raw, counted)
            behind = ir.Binary("lt", bound, ir.const(0), BOOL)
            return ir.Select(behind, ir.Binary("add", bound, length, INT64), bound, INT64)
        total: ir.Expr = ir.const(0)
        terms = dim.terms
        if terms[0][1] < 0 and (len(terms) == 2 or not terms[-1][0]):
            terms = (terms[-1], *terms[:-1])  # 1 - n: -n alone may not fit into 64 bits
        done = 0
        for done in range(MANY, len(terms), MANY):
            total = self.raw(sum_of(terms[:done]))
        for monomial, factor in terms[done:]:
            if not monomial:
                if not fits(factor):
                    raise TooLarge(f"a length, {dim}, is computed from {factor}: over 64 bits")
                total = ir.add(total, ir.const(factor))
                continue
            countable = fits(abs(factor))
            term: ir.Expr = ir.const(abs(factor) if countable else MOST)
            for atom in monomial:
                term = ir.mul(term, self._atom(atom))
            if not countable:  # the term is 0 or too large; a product that is checked finds out
                term = ir.mul(term, ir.const(MOST))
            total = ir.sub(total, term) if factor < 0 else ir.add(total, term)
        return total

    def _atom(self, atom: Atom) -> ir.Expr:
        match atom:
            case Size():
                return self.raw(symbolic(atom))
            case Quotient():
                return ir.binary("floordiv", self.raw(atom.left), self.raw(atom.right))
            case Extreme(kind="min"):
                return ir.binary("min", self.raw(atom.left), self.raw(atom.right))
            case Extreme():
                return ir.binary("max", self.raw(atom.left), self.raw(atom.right))
            case _:
                assert_never(atom)
