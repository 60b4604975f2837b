"""Sums over all steps leave the loop: one product of large matrices, after it.

A state that only adds up ``dot(x[t].T, g[t])``, as gradients of weights do, is the product of all
rows of x with all rows of g. Where those must be kept anyway, further sums over them follow:
``sum(g[t], axis=0)``, the gradient of an offset.
"""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen.record import record
from symc.derivatives.batch import batch
from symc.errors import NotBatchable
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.build import Carrying
from symc.loops.opened import Get, OpenLoop, is_free
from symc.loops.scan import Part
from symc.tensor.elementwise import Elementwise
from symc.tensor.lengths import tensor_of
from symc.tensor.matrix_product import MatMul, is_blas, stacked, summed
from symc.tensor.views import DimShuffle, expand_dims, swapaxes


@record
class _Factor:
    """A matrix or a vector of each step, and whether it must be transposed for the product."""

    node: Tensor
    turned: bool


def contract(loop: OpenLoop) -> None:
    """Takes the terms of sums over all steps out of a loop, where they are products."""
    if loop.condition is not None:
        return
    sums = _sums(loop)
    if not sums:
        return
    direction = _direction(loop, [term for terms in sums.values() for term in terms])
    totals: dict[int, list[Callable[[Get], Tensor]]] = {number: [] for number in sums}
    left: dict[int, list[Tensor]] = {number: [] for number in sums}
    for number, terms in sums.items():
        for term in terms:
            factors = _factors(term)
            if factors is None:
                left[number].append(term)
            else:
                totals[number].append(_product(loop, factors, direction))
    for number, terms in left.items():
        for term in list(terms):
            made = _of_gathered(loop, term, direction)
            if made is not None:
                terms.remove(term)
                totals[number].append(made)
    for number, found in totals.items():
        if found:
            _finish(loop, number, left[number], found)


def _finish(
    loop: OpenLoop, number: int, left: list[Tensor], totals: list[Callable[[Get], Tensor]]
) -> None:
    """The part of a state that stays in the loop, and how its last value follows."""
    carry, part = loop.carries[number], Part("final", number)

    def final(get: Get) -> Tensor:
        total = get(part) if left else carry.initial
        for found in totals:
            total = total + expand_dims(found(get), 0)
        return total

    loop.follow(part, final)
    if left:
        loop.wanted.add(part)
        result = carry.slots[0]
        for term in left:
            result = result + term
        loop.carries[number] = Carrying(carry.initial, carry.taps, carry.slots, result)
    else:
        del loop.carries[number]


# --- sums -----------------------------------------------------------------------------------------


def _sums(loop: OpenLoop) -> dict[int, list[Tensor]]:
    """The states that only add something up, of which only the end is wanted; their terms."""
    found: dict[int, list[Tensor]] = {}
    for number, carry in loop.carries.items():
        if carry.taps != (-1,) or not is_blas(carry.result.dtype):
            continue
        if Part("history", number) in loop.wanted or Part("final", number) not in loop.wanted:
            continue
        slot, terms = carry.slots[0], terms_of(carry.result)
        others = [c.result for n, c in loop.carries.items() if n != number]
        rest = [term for term in terms if term is not slot]
        elsewhere = walk([*rest, *others, *loop.collected])
        if len(rest) == len(terms) - 1 and slot not in elsewhere:
            found[number] = rest
    return found


def terms_of(node: Tensor) -> list[Tensor]:
    """The terms of a sum, as far as nothing is broadcast."""
    terms: list[Tensor] = []
    pending = [node]
    while pending:
        part = pending.pop()
        adds = isinstance(part.op, Elementwise) and part.op.name == "add"
        if adds and all(_is_whole(arg, part) for arg in part.args):
            pending += reversed(part.args)
        else:
            terms.append(part)
    return terms


def _is_whole(arg: Tensor, whole: Tensor) -> bool:
    """Whether an argument of a sum is not broadcast."""
    pairs = zip(arg.type.shape, whole.type.shape, strict=False)
    return arg.ndim == whole.ndim and all(own != 1 or dim == 1 for own, dim in pairs)


def _factors(term: Tensor) -> tuple[_Factor, _Factor] | None:
    """The factors of a product of matrices, or of a column and a row."""
    match term.op:
        case MatMul(trans_a=trans_a, trans_b=trans_b) if term.ndim == 2:
            return _Factor(term.args[0], not trans_a), _Factor(term.args[1], trans_b)
        case Elementwise(name="mul") if term.ndim == 2:
            column = [arg for arg in term.args if _is_spread(arg, (0, None))]
            row = [arg for arg in term.args if _is_spread(arg, (None, 0))]
            if column and row:
                return _Factor(column[0].args[0], False), _Factor(row[0].args[0], False)
            return None
        case _:
            return None


def _is_spread(node: Tensor, order: tuple[int | None, ...]) -> bool:
    return isinstance(node.op, DimShuffle) and node.op.order == order and node.args[0].ndim == 1


# --- values gathered from all steps ---------------------------------------------------------------


def _direction(loop: OpenLoop, terms: list[Tensor]) -> bool:
    """Whether rows are gathered from the last step on, as the first sequence among them is."""
    factors = [factor for term in terms for factor in _factors(term) or ()]
    slots = loop.slots()
    for factor in factors:
        read = slots.get(factor.node)
        if read is not None and not isinstance(read, int):
            return read.rows.backwards
    return False


def _product(
    loop: OpenLoop, factors: tuple[_Factor, _Factor], reverse: bool
) -> Callable[[Get], Tensor]:
    """The sum over all steps of a product, as one product."""
    made = [loop.gather(factor.node, reverse) for factor in factors]

    def total(get: Get) -> Tensor:
        sides: list[Tensor] = []
        for factor, rows in zip(factors, made, strict=True):
            array = swapaxes(rows(get), 1, 2) if factor.turned else rows(get)
            sides.append(stacked(array) if array.ndim == 3 else array)
        return MatMul(True, False)(*sides)

    return total


def _of_gathered(loop: OpenLoop, term: Tensor, reverse: bool) -> Callable[[Get], Tensor] | None:
    """The sum over all steps of values computed from gathered rows alone, where it is smaller."""
    gathered = {node: rows for (node, turned), rows in loop.gathered.items() if turned == reverse}
    order = walk([term], stop=gathered.__contains__)
    moving = {loop.plan.step, *loop.slots()}
    leaves = [node for node in order if node in gathered]
    inner = [node for node in order if node not in gathered and node.args]
    if not leaves or any(node in moving and node not in gathered for node in order):
        return None
    if all(leaf.ndim <= term.ndim for leaf in leaves) or not all(map(is_free, inner)):
        return None

    def total(get: Get) -> Tensor:
        rows = {leaf: gathered[leaf](get) for leaf in leaves}
        return summed(batch([term], rows, tensor_of(loop.done))[0], (0,))

    try:
        batch([term], {leaf: expand_dims(leaf, 0) for leaf in leaves}, tensor_of(1))
    except NotBatchable:
        return None
    return total
