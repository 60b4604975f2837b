"""Which integers of a program are never negative, as far as that follows from lengths and loops."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT32
from symc.codegen.ir import Binary, Cast, Const, Expr, Launch, Length, Program, Repeat, Var

_NONE: frozenset[str] = frozenset()
_NO_DATA: Mapping[str, int] = MappingProxyType({})


def is_natural(
    expr: Expr, natural: AbstractSet[str], positive: AbstractSet[str] = _NONE,
    data: Mapping[str, int] = _NO_DATA,
) -> bool:  # fmt: skip
    """Whether an integer is surely not negative, if the variables `natural` are not.

    Those in `positive` are even above 0; those in `data` are not negative, and have at most so many
    bits. Of large expressions only a part is looked at.
    """
    return _Naturals(natural, positive, data).bits(expr) is not None


def natural_bits(
    expr: Expr, natural: AbstractSet[str], positive: AbstractSet[str], data: Mapping[str, int]
) -> int | None:
    """How many bits a natural number has that was made of data; 0 for one of lengths alone."""
    found = _Naturals(natural, positive, data).bits(expr)
    return None if found is None else found[0] if found[1] else 0


_PLACE_BITS = 47  # of a place in memory: no length has more, and no number made of lengths alone


class _Naturals:
    """Expressions that are never negative. Sums and products of data may wrap around."""

    def __init__(
        self, natural: AbstractSet[str], positive: AbstractSet[str], data: Mapping[str, int]
    ) -> None:
        self.natural, self.positive, self.data = natural, positive, data
        self.budget = 64

    def bits(self, expr: Expr) -> tuple[int, bool] | None:
        """How many bits a number has at most, and whether it is made of data; None: perhaps < 0."""
        self.budget -= 1
        match expr:
            case _ if self.budget < 0:
                return None
            case Const(int() as value) if value >= 0:
                return value.bit_length(), False
            case Var(name) if name in self.data:
                return self.data[name], True
            case Var(name) if name in self.natural:
                return _PLACE_BITS, False
            case Length():
                return _PLACE_BITS, False
            case Cast(x) if x.dtype is INT32:  # of an index
                return self.bits(x)
            case Binary("max", left, Const(value)) | Binary("max", Const(value), left):
                inner = self.bits(left)
                if inner is None:
                    return (expr.dtype.bits - 1, True) if value >= 0 else None
                return max(inner[0], int(max(value, 0)).bit_length()), inner[1]
            case Binary("floordiv", left, right) if is_positive(right, self.positive):
                return self.bits(left)
            case Binary("mod", left, right) if is_positive(right, self.positive):
                return self._of_remainder(left, right)
            case Binary("add" | "mul" | "min" | "max" as op, left, right):
                one = self.bits(left)
                other = None if one is None else self.bits(right)
                if one is None or other is None:
                    return None
                return _combined(op, one, other, expr.dtype.bits - 1)
            case _:
                return None

    def _of_remainder(self, left: Expr, right: Expr) -> tuple[int, bool]:
        most = self.bits(right)
        number = self.bits(left)
        bits = right.dtype.bits - 1 if most is None else most[0]
        return bits, number is None or number[1] or most is None or most[1]


def _combined(
    op: str, one: tuple[int, bool], other: tuple[int, bool], most: int
) -> tuple[int, bool] | None:
    """Bits of a sum, product or extreme; None for what may have more than `most` of them."""
    data = one[1] or other[1]
    if op in ("min", "max"):
        return (min if op == "min" else max)(one[0], other[0]), data
    if not data:
        return _PLACE_BITS, False
    bits = one[0] + other[0] if op == "mul" else max(one[0], other[0]) + 1
    return (bits, True) if bits <= most else None


def is_positive(expr: Expr, positive: AbstractSet[str] = _NONE) -> bool:
    """Whether an integer is surely above zero: a product of such things."""
    return all(
        (isinstance(factor, Const) and factor.value > 0)
        or (isinstance(factor, Var) and factor.name in positive)
        for factor in factors(expr)
    )


def factors(expr: Expr) -> list[Expr]:
    """The factors of an expression."""
    stack: list[Expr] = [expr]
    found: list[Expr] = []
    while stack:
        node = stack.pop()
        match node:
            case Binary("mul", left, right):
                stack += (left, right)
            case _:
                found.append(node)
    return found


def natural_names(program: Program) -> set[str]:
    """The sizes of a program that are never negative."""
    own: set[str] = set()
    for step in every_step(program.steps):
        if isinstance(step, Repeat):
            own.update([step.var] if step.done is None else [step.var, step.done])
    for size in program.sizes:
        if size.value is not None and is_natural(size.value, own):
            own.add(size.var.name)
    return own


def natural_sizes(program: Program) -> tuple[set[str], dict[str, set[str]]]:
    """The sizes of a program that are never negative, and of each kernel those it is given so."""
    own = natural_names(program)
    found: dict[str, set[str]] = {}
    sizes = {kernel.name: kernel.sizes for kernel in program.kernels}
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            names = {
                size.name
                for size, value in zip(sizes[step.kernel], step.sizes, strict=True)
                if is_natural(value, own)
            }
            found[step.kernel] = found.get(step.kernel, names) & names
    return own, found
