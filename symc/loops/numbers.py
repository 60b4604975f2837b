"""States of a few numbers become as many states, each one number.

Of a filter's ``z = stack([b1*x - a1*y + z[1], b2*x - a2*y])`` each step would write two numbers to
memory and wait for them in the next one. As two states they are in registers. So are those of
``z + dt * stack([z[1], -z[0]])``, where all that depends on them is computed element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from symc.graph.node import Tensor
from symc.graph.walks import substitute, walk
from symc.loops.build import Carrying, row_of
from symc.loops.opened import Get, OpenLoop
from symc.loops.scan import Part
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.shape import Concatenate, concatenate
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.spans import WHOLE
from symc.tensor.views import BroadcastTo, DimShuffle, expand_dims

FEW = 4  # numbers of a state
MANY = 64  # operations on them, which are written out for each


def split_states(loop: OpenLoop) -> bool:
    """Takes such states of which only the last value is wanted apart; whether there were any."""
    found = False
    for number in list(loop.carries):
        found = _split(loop, number) or found
    return found


def _split(loop: OpenLoop, number: int) -> bool:
    carry = loop.carries[number]
    length = _length(carry.result)
    is_wanted = Part("history", number) in loop.wanted
    if carry.taps != (-1,) or carry.shared or length is None or is_wanted:
        return False
    if carry.initial.type.shape[1:] != carry.result.type.shape:
        return False
    (slot,) = carry.slots
    initials = [Slice((WHOLE, place))(carry.initial) for place in range(length)]
    slots = [row_of(initial, slot.name) for initial in initials]
    elements = _ElementsOfState(slot, slots)
    new = [elements.of(carry.result, place) for place in range(length)]
    kept = [one for one in new if one is not None]
    others = [c.result for n, c in loop.carries.items() if n != number]
    condition = [] if loop.condition is None else [loop.condition]
    rest = [*others, *loop.collected, *condition]
    reads = elements.reads([*kept, *rest])
    if len(kept) < length or slot in walk(substitute([*kept, *rest], reads)):
        return False
    numbers = range(first := max(loop.carries) + 1, first + length)
    for own, initial, mine, result in zip(numbers, initials, slots, kept, strict=True):
        loop.carries[own] = Carrying(initial, (-1,), (mine,), result)
    del loop.carries[number]
    loop.replace(reads)
    final = Part("final", number)
    if final in loop.wanted:
        parts = [Part("final", own) for own in numbers]
        loop.wanted.update(parts)
        loop.follow(final, partial(_final, parts))
    return True


def _length(node: Tensor) -> int | None:
    """The length of a vector of a few numbers."""
    match node.type.shape:
        case (int(length),) if 1 < length <= FEW:
            return length
        case _:
            return None


def _final(parts: Sequence[Part], get: Get) -> Tensor:
    return concatenate([expand_dims(get(part), 1) for part in parts], 1)


class _ElementsOfState:
    """Elements of vectors that are computed of a state, over its elements."""

    def __init__(self, slot: Tensor, slots: Sequence[Tensor]) -> None:
        self.slot = slot
        self.slots = slots
        self.found: dict[tuple[Tensor, int], Tensor | None] = {}
        self.depends: dict[Tensor, bool] = {}

    def reads(self, roots: Sequence[Tensor]) -> dict[Tensor, Tensor]:
        """The nodes that read one element of the state, each with what stands for it."""
        return {
            node: self.slots[node.op.entries[0]]
            for node in walk(roots)
            if isinstance(node.op, Slice)
            and node.args == (self.slot,)
            and isinstance(node.op.entries[0], int)
        }

    def of(self, node: Tensor, place: int) -> Tensor | None:
        """An element of a vector; None if it is not computed of elements alone."""
        key = node, place
        if key not in self.found:
            many = len(self.found) > MANY
            self.found[key] = None if many else self._made(node, place)
        return self.found[key]

    def _made(self, node: Tensor, place: int) -> Tensor | None:
        if node is self.slot:
            return self.slots[place]
        if not node.ndim:
            return node
        length = node.type.shape[0]
        if node.ndim > 1 or not isinstance(length, int):
            return None
        place = 0 if length == 1 else place
        if not self._depends(node):
            return Slice((place,))(node)
        match node.op:
            case Elementwise() | Cast():
                args = [self.of(arg, place) for arg in node.args]
                made = [arg for arg in args if arg is not None]
                return node.op(*made) if len(made) == len(args) else None
            case Concatenate():
                for arg in node.args:
                    own = arg.type.shape[0]
                    if not isinstance(own, int):
                        return None
                    if place < own:
                        return self.of(arg, place)
                    place -= own
                return None
            case DimShuffle(order) if order in ((None,), (0,)):
                return self.of(node.args[0], place)
            case BroadcastTo():
                return self.of(node.args[0], place)
            case SliceWrite((int(at),), "set" | "inc" as mode) if len(node.args) == 2:
                before, value = node.args
                old = self.of(before, place)
                if place != at % length:
                    return old
                return value if mode == "set" else None if old is None else old + value
            case _:
                return None

    def _depends(self, node: Tensor) -> bool:
        """Whether something is computed of the state as a whole."""
        if node not in self.depends:
            self.depends[node] = self.slot in walk([node])
        return self.depends[node]
