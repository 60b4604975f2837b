"""Comparisons that follow from others, so that they need not be tested.

``0 <= a``, ``a <= b`` and ``b < n`` say that ``0 <= b``, ``a < n`` and ``-n <= a``, too. Integers
are taken as they are: nothing is concluded about a sum from what is added, as sums may wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symc.codegen.dtypes import INT64
from symc.codegen.ir import Binary, Const, Expr, Unary
from symc.codegen.record import record

MOST = 32  # comparisons: more are not looked at


@record
class _Order:
    """``low + by <= high``."""

    low: Expr
    high: Expr
    by: int


def without_implied(conditions: Sequence[Expr], is_natural: Callable[[Expr], bool]) -> list[Expr]:
    """The conditions but those that hold where the others do. The first ones stay if they can."""
    orders = {condition: _order(condition) for condition in conditions}
    if len(orders) > MOST:
        return list(conditions)
    kept = list(orders)
    for condition in reversed(list(orders)):
        order = orders[condition]
        if order is not None:
            others = [known for each in kept if each != condition and (known := orders[each])]
            if _follows(order, others, is_natural):
                kept.remove(condition)
    return kept


def _order(condition: Expr) -> _Order | None:
    match condition:
        case Binary("lt" | "le" as op, low, high) if low.dtype is INT64:
            return _Order(low, high, int(op == "lt"))
        case Binary("gt" | "ge" as op, high, low) if low.dtype is INT64:
            return _Order(low, high, int(op == "gt"))
        case _:
            return None


def _follows(wanted: _Order, known: Iterable[_Order], is_natural: Callable[[Expr], bool]) -> bool:
    """Whether an order is that of a chain of known ones, and of what is known of its numbers."""
    known = list(known)
    places = dict.fromkeys(
        [wanted.low, wanted.high, Const(0), *(e for each in known for e in (each.low, each.high))]
    )
    known += [order for place in places for order in _of_one(place, places, is_natural)]
    above = {wanted.low: 0}  # how far each number is above the lowest, at least
    for _ in places:
        for order in known:
            if order.low in above:
                by = above[order.low] + order.by
                above[order.high] = max(above.get(order.high, by), by)
    return above.get(wanted.high, wanted.by - 1) >= wanted.by


def _of_one(
    place: Expr, places: Iterable[Expr], is_natural: Callable[[Expr], bool]
) -> list[_Order]:
    """What is known of one number beside zero, and of constants beside each other."""
    zero = Const(0)
    match place:
        case Const(int() as value):
            return [
                _Order(place, other, other.value - value)
                for other in places
                if isinstance(other, Const) and isinstance(other.value, int) and other != place
            ]
        case Unary("neg", x) if is_natural(x):
            return [_Order(place, zero, 0)]
        case _:
            return [_Order(zero, place, 0)] if is_natural(place) else []
