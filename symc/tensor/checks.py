"""Run-time conditions of divisions, powers and indexing, left out where they can be proved.

`bounds` is the prover: the range of a graph of integers, as lengths. An op that
knows more about its result has a row in `BOUNDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from symc.codegen.dtypes import (
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from symc.errors import BadIndex, DivisionByZero
from symc.graph import dims
from symc.graph.dims import Dim, Extreme, Poly
from symc.graph.inputs import Constant, constant_value
from symc.graph.node import OPERATORS, Op, Requirement, Tensor
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import Derived, Length, dim_of, tensor_of
from symc.tensor.reshape import Reshape
from symc.tensor.views import BroadcastTo, DimShuffle

__all__: list[str] = []

# --- ranges of integers ---------------------------------------------------------------------------

# The least and the greatest value of an element, None where nothing is known.
Bounds: TypeAlias = tuple[Dim | None, Dim | None]
UNKNOWN: Bounds = (None, None)
BOUNDS: dict[type[Op], Callable[[Tensor, Sequence[Bounds]], Bounds]] = {}
# Whether the greatest element is the upper bound, which is negative where there are no elements.
REACHED: dict[type[Op], Callable[[Tensor], bool]] = {}


def bounds(node: Tensor) -> Bounds:
    """The range of the elements of an integer tensor, as far as its graph tells."""
    if not node.type.shape and isinstance(node.op, Constant):
        value = int(node.op.value)
        return value, value
    return _all_bounds(node)[node]


def _all_bounds(node: Tensor) -> dict[Tensor, Bounds]:
    known: dict[Tensor, Bounds] = {}
    for part in walk([node], stop=_opaque):
        found = _bounds(part, [known.get(arg, UNKNOWN) for arg in part.args])
        known[part] = _within_dtype(found, part.dtype)
    return known


def _opaque(node: Tensor) -> bool:
    if node.dtype.is_float:
        return True
    op = node.op
    if isinstance(op, Elementwise):
        return op.name not in _ELEMENTWISE
    return type(op) not in BOUNDS


def _bounds(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    op = node.op
    if isinstance(op, Elementwise):
        rule = _ELEMENTWISE.get(op.name)
        # Sums of narrower integers may wrap around.
        exact = node.dtype is INT64 or op.name in _CHOICES
        return rule(*args) if rule is not None and exact else UNKNOWN
    known = BOUNDS.get(type(op))
    return UNKNOWN if known is None else known(node, args)


def _within_dtype(found: Bounds, dtype: DType) -> Bounds:
    low, high = found
    least, greatest = _RANGES.get(dtype, UNKNOWN)
    return least if low is None else low, greatest if high is None else high


def _dtype_ranges() -> Iterator[tuple[DType, Bounds]]:
    for dtype in (BOOL, UINT8, UINT16, UINT32):
        yield dtype, (0, 2**dtype.bits - 1)
    for dtype in (INT8, INT16, INT32):
        yield dtype, (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1)
    yield UINT64, (0, None)


_RANGES: dict[DType, Bounds] = dict(_dtype_ranges())


def _of_constant(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    value = constant_value(node)
    if value is None or node.dtype.is_float:
        return UNKNOWN
    return (int(value.min()), int(value.max())) if value.size else (0, -1)


def _of_cast(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    source = node.args[0].dtype
    wraps = node.dtype is not INT64 or source.is_float or source is UINT64
    return UNKNOWN if wraps else args[0]


def _of_length(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    length = node.args[0].type.shape[node.op.axis] if isinstance(node.op, Length) else None
    return length, length


def of_first_argument(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    """The rule of ops whose elements are elements of their first argument."""
    return args[0]


BOUNDS.update({Constant: _of_constant, Cast: _of_cast, Length: _of_length})
BOUNDS.update(dict.fromkeys((DimShuffle, BroadcastTo, Derived, Reshape), of_first_argument))


def _both(f: Callable[[Dim, Dim], Dim], left: Dim | None, right: Dim | None) -> Dim | None:
    return None if left is None or right is None else f(left, right)


def _either(f: Callable[[Dim, Dim], Dim], left: Dim | None, right: Dim | None) -> Dim | None:
    return right if left is None else left if right is None else f(left, right)


def _is_at_least(value: Dim | None, least: int) -> bool:
    return value is not None and _nonnegative(dims.sub(value, least))


def _nonnegative(dim: Dim, depth: int = 3) -> bool:
    """As `dims.nonnegative`, also for sums with a minimum or maximum: by its two cases."""
    if dims.nonnegative(dim):
        return True
    if depth == 0 or isinstance(dim, int):
        return False
    for monomial, factor in dim.terms:
        if abs(factor) == 1 and len(monomial) == 1 and isinstance(monomial[0], Extreme):
            rest = dims.sub(dim, dims.mul(dims.symbolic(monomial[0]), factor))
            sides = (dims.mul(side, factor) for side in (monomial[0].left, monomial[0].right))
            shown = [_nonnegative(dims.add(rest, side), depth - 1) for side in sides]
            if any(shown) if (monomial[0].kind == "max") == (factor == 1) else all(shown):
                return True
    return False


def _is_at_most(value: Dim | None, greatest: int) -> bool:
    return value is not None and _nonnegative(dims.sub(greatest, value))


def _fits(value: Dim | None) -> bool:
    """Whether 64 bits hold a bound.

    They hold those made of lengths, as memory does, but not a length times a large number.
    """
    if value is None or isinstance(value, int):
        return value is not None and dims.fits(value)
    return all(abs(factor) <= _LARGE for _, factor in value.terms)


_LARGE = 2**15  # times the bytes that a computer can have


def _of_sum(x: Bounds, y: Bounds) -> Bounds:
    low, high = _both(dims.add, x[0], y[0]), _both(dims.add, x[1], y[1])
    # A sum that wraps around has no bounds. Both have to be on one side of 0 for that.
    above = _fits(high) or _is_at_most(x[1], 0) or _is_at_most(y[1], 0)
    below = _fits(low) or _is_at_least(x[0], 0) or _is_at_least(y[0], 0)
    return (low, high) if above and below else UNKNOWN


def _of_difference(x: Bounds, y: Bounds) -> Bounds:
    low, high = _both(dims.sub, x[0], y[1]), _both(dims.sub, x[1], y[0])
    above = _fits(high) or _is_at_most(x[1], -1) or _is_at_least(y[0], 0)
    below = _fits(low) or _is_at_least(x[0], -1) or _is_at_most(y[1], 0)
    return (low, high) if above and below else UNKNOWN


def _of_negative(x: Bounds) -> Bounds:
    return _of_difference((0, 0), x)


def _of_size(x: Bounds) -> Bounds:
    if _is_at_least(x[0], 0):
        return x
    return UNKNOWN if x[0] is None or x[0] == -(2**63) else (0, None)  # that number stays


def _of_product(x: Bounds, y: Bounds) -> Bounds:
    if not (_is_at_least(x[0], 0) and _is_at_least(y[0], 0)):
        return UNKNOWN
    high = _both(dims.mul, x[1], y[1])
    return (_both(dims.mul, x[0], y[0]), high) if _fits(high) else UNKNOWN


def _of_quotient(x: Bounds, y: Bounds) -> Bounds:
    if not (_is_at_least(x[0], 0) and _is_at_least(y[0], 0)):
        return UNKNOWN
    divisor = y[0] if y[0] == y[1] and _is_at_least(y[0], 1) else 1
    return 0, None if x[1] is None or divisor is None else dims.floordiv(x[1], divisor)


def _of_remainder(x: Bounds, y: Bounds) -> Bounds:
    # A divisor of 0 is refused on its own, so not being negative is enough.
    return (0, _both(dims.sub, y[1], 1)) if _is_at_least(y[0], 0) else UNKNOWN


def _of_smaller(x: Bounds, y: Bounds) -> Bounds:
    return _both(dims.minimum, x[0], y[0]), _either(dims.minimum, x[1], y[1])


def _of_larger(x: Bounds, y: Bounds) -> Bounds:
    return _either(dims.maximum, x[0], y[0]), _both(dims.maximum, x[1], y[1])


def _of_choice(condition: Bounds, x: Bounds, y: Bounds) -> Bounds:
    return _both(dims.minimum, x[0], y[0]), _both(dims.maximum, x[1], y[1])


_ELEMENTWISE: dict[str, Callable[..., Bounds]] = {
    "add": _of_sum,
    "sub": _of_difference,
    "neg": _of_negative,
    "abs": _of_size,
    "mul": _of_product,
    "floordiv": _of_quotient,
    "mod": _of_remainder,
    "minimum": _of_smaller,
    "maximum": _of_larger,
    "where": _of_choice,
}

_CHOICES = ("minimum", "maximum", "where")  # give elements of their arguments


def never_negative(node: Tensor) -> bool:
    """Whether an integer tensor provably has no negative element."""
    if _is_at_least(bounds(node)[0], 0):
        return True
    return not node.ndim and node.dtype is INT64 and dims.nonnegative(dim_of(node))


# --- arithmetic -----------------------------------------------------------------------------------


def nonzero_divisor(node: Tensor) -> Iterator[Requirement]:
    """That an integer division or remainder has no divisor that is 0."""
    right = node.args[1]
    if not right.dtype.is_integer or _never_zero(right):
        return
    holds = _or_empty(OPERATORS["ne"](right, 0), node, right)
    if holds is not None:
        yield Requirement(
            holds, DivisionByZero, lambda value: _arithmetic("integer division by zero", node)
        )


def _never_zero(node: Tensor) -> bool:
    value = constant_value(node)
    if value is not None:
        return bool(np.all(value != 0))
    low, high = bounds(node)
    return _is_at_least(low, 1) or (high is not None and _nonnegative(dims.sub(-1, high)))


def nonnegative_exponent(node: Tensor) -> Iterator[Requirement]:
    """That no integer is raised to a negative integer."""
    exponent = node.args[1]
    if not exponent.dtype.is_integer or never_negative(exponent):
        return
    holds = _or_empty(OPERATORS["ge"](exponent, 0), node, exponent)

    def message(value: Callable[[Any], Any]) -> str:
        values = np.asarray(value(exponent))
        found = values[values < 0].ravel()[0]
        return _arithmetic(f"an integer cannot be raised to the negative integer {found}", node)

    if holds is not None:
        yield Requirement(holds, ValueError, message)


def _or_empty(holds: Tensor, node: Tensor, arg: Tensor) -> Tensor | None:
    """The condition on an argument, or that no element of it is used; None for nothing to check."""
    if arg.type.shape == node.type.shape:
        return holds
    size = dims.product(node.type.shape)
    if isinstance(size, int):
        return holds if size else None
    empty: Tensor = OPERATORS["eq"](tensor_of(size), 0)
    either: Tensor = OPERATORS["logical_or"](holds, empty)
    return either


def _arithmetic(text: str, node: Tensor) -> str:
    left, right = node.args
    return (
        f"{node.op.label}: {text}\n"
        f"  left   {describe(left)}\n  right  {describe(right)}\n  at     {node.where}"
    )


# --- indexing -------------------------------------------------------------------------------------


def static_index(x: Tensor, axis: int, index: int) -> None:
    """Raises `BadIndex` when a known index is out of range of a known length."""
    n = x.type.shape[axis]
    if isinstance(n, int) and not -n <= index < n:
        raise BadIndex(f"{_out_of_bounds(index, axis, n)}\n  given  {describe(x)}")


def index_requirement(node: Tensor, x: Tensor, axis: int, index: Tensor) -> Iterator[Requirement]:
    """That the elements of `index` are in range of an axis of `x`, counting from either end."""
    n = x.type.shape[axis]
    low, high = bounds(index)
    if dims.product(index.type.shape) == 0:
        return
    length = tensor_of(n)
    conditions: list[Tensor] = []
    if not _is_at_least(low, 0) and (low is None or not _nonnegative(dims.add(low, n))):
        conditions.append(OPERATORS["ge"](index, OPERATORS["neg"](length)))
    if high is None or not _nonnegative(dims.sub(dims.sub(n, 1), high)):
        if high is not None and _reaches(index):
            conditions.append(OPERATORS["lt"](tensor_of(high), length))
        else:
            conditions.append(_are_below(index, length))
    if any(condition.ndim for condition in conditions):
        of_lengths = _of_lengths(index, n)
        conditions = conditions if of_lengths is None else of_lengths

    def message(value: Callable[[Any], Any]) -> str:
        values, count = np.asarray(value(index)), int(value(n))
        found = values[(values < -count) | (values >= count)].ravel()[0]
        source = "" if isinstance(index.op, Constant) else f"\n  index  {describe(index)}"
        text = _out_of_bounds(found, axis, count)
        return f"{text}\n  given  {describe(x)}{source}\n  at     {node.where}"

    if conditions:
        yield Requirement(reduce(OPERATORS["logical_and"], conditions), BadIndex, message)


def _of_lengths(index: Tensor, n: Dim) -> list[Tensor] | None:
    """Scalars of lengths that hold just where all of `index` is in range; None if nothing tells.

    Places that are clipped, as to ``(0, n - 2)``, are in range if their bounds are. To compare each
    of them, they would be stored.
    """
    known = _all_bounds(index)
    lowest = _decisive(known, index, dims.mul(n, -1), least=True)
    highest = _decisive(known, index, dims.sub(n, 1), least=False)
    if lowest is None or highest is None or not all(map(_fits, (*lowest, *highest))):
        return None
    length = tensor_of(n)
    holds = [OPERATORS["ge"](tensor_of(value), OPERATORS["neg"](length)) for value in lowest]
    holds += [OPERATORS["lt"](tensor_of(value), length) for value in highest]
    # One length after the other: the product of very large ones would wrap around.
    unknown = [dim for dim in index.type.shape if not isinstance(dim, int)]
    empty = [OPERATORS["eq"](tensor_of(dim), 0) for dim in unknown if not _is_at_least(dim, 1)]
    return [reduce(OPERATORS["logical_or"], empty, each) for each in dict.fromkeys(holds)]


def _decisive(
    known: Mapping[Tensor, Bounds], node: Tensor, limit: Dim, *, least: bool, depth: int = 8
) -> list[Dim] | None:
    """Lengths that are all at least `limit` just where all elements are, if there are any.

    Or at most, if not `least`. None where elements have to be looked at. A minimum is at least
    something where both of its arguments are, and a maximum at most.
    """
    low, high = known.get(node, UNKNOWN)
    bound = low if least else high
    if bound is not None and _nonnegative(_room(bound, limit, least=least)):
        return []
    if bound is not None and low == high:
        return [bound]
    if not depth or node not in known:
        return None
    ways = _ways(known, node, limit, least=least)
    if ways is None:
        return None
    found: list[Dim] = []
    for arg, its_limit, its_least, back in ways:
        values = _decisive(known, arg, its_limit, least=its_least, depth=depth - 1)
        if values is None:
            return None
        found += map(back, values)
    return found


def _room(bound: Dim, limit: Dim, *, least: bool) -> Dim:
    return dims.sub(bound, limit) if least else dims.sub(limit, bound)


# An argument, its limit, whether it is the least that it may be, and the result for its value.
_Way: TypeAlias = tuple[Tensor, Dim, bool, Callable[[Dim], Dim]]


def _ways(
    known: Mapping[Tensor, Bounds], node: Tensor, limit: Dim, *, least: bool
) -> list[_Way] | None:
    """What all arguments must be for a node to keep to a limit; None where that is unknown."""
    if isinstance(node.op, DimShuffle | BroadcastTo | Reshape):
        return [(node.args[0], limit, least, _same)]
    if isinstance(node.op, Cast):
        wraps = _of_cast(node, [(0, 0)]) == UNKNOWN
        return None if wraps else [(node.args[0], limit, least, _same)]
    name = node.op.name if isinstance(node.op, Elementwise) else ""
    if name == ("minimum" if least else "maximum"):
        return [(arg, limit, least, _same) for arg in node.args]
    if node.dtype is not INT64 or known[node] == UNKNOWN:  # it may wrap around
        return None
    if name == "neg":
        return [(node.args[0], dims.mul(limit, -1), not least, lambda x: dims.mul(x, -1))]
    values = [low if low == high else None for low, high in (known[arg] for arg in node.args)]
    match name, values:
        case "add", [_, int() | Poly() as y]:
            return [(node.args[0], dims.sub(limit, y), least, lambda x: dims.add(x, y))]
        case "add", [int() | Poly() as x, _]:
            return [(node.args[1], dims.sub(limit, x), least, lambda y: dims.add(x, y))]
        case "sub", [_, int() | Poly() as y]:
            return [(node.args[0], dims.add(limit, y), least, lambda x: dims.sub(x, y))]
        case "sub", [int() | Poly() as x, _]:
            return [(node.args[1], dims.sub(x, limit), not least, lambda y: dims.sub(x, y))]
        case _:
            return None


def _same(value: Dim) -> Dim:
    return value


def _are_below(index: Tensor, length: Tensor) -> Tensor:
    """Whether elements are below a length: one answer for all of short unsigned integers.

    In a vector register there are many of these, where a comparison of each takes 64 bits.
    """
    node = index
    while isinstance(node.op, DimShuffle) or (isinstance(node.op, Cast) and node.dtype is INT64):
        node = node.args[0]
    if node.dtype not in (UINT8, UINT16):
        return _lt(index, length)
    unknown = [dim for dim in node.type.shape if not isinstance(dim, int)]
    greatest = reduce_over("max", node, range(node.ndim), allow_empty=bool(unknown))
    empty = [OPERATORS["eq"](tensor_of(dim), 0) for dim in unknown if not _is_at_least(dim, 1)]
    return reduce(OPERATORS["logical_or"], empty, _lt(greatest, length))


def _lt(left: Tensor, right: Tensor) -> Tensor:
    below: Tensor = OPERATORS["lt"](left, right)
    return below


def _reaches(node: Tensor) -> bool:
    """Whether one comparison says of all elements that they are below something."""
    while isinstance(node.op, DimShuffle):
        node = node.args[0]
    rule = REACHED.get(type(node.op))
    return rule is not None and rule(node)


def _out_of_bounds(index: object, axis: int, length: object) -> str:
    return f"index {index} is out of bounds for axis {axis} with length {length}"


def step_requirement(node: Tensor, step: Tensor) -> Iterator[Requirement]:
    """That the step of a slice is not 0."""
    if not _never_zero(step):
        yield Requirement(
            OPERATORS["ne"](step, 0),
            ValueError,
            lambda value: (
                f"a slice's step cannot be zero\n  step   {describe(step)}\n  at     {node.where}"
            ),
        )
