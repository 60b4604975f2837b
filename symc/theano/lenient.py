"""Lengths that are told to be equal, or 1, only when a program runs.

Where Theano's ops leave it to NumPy, lengths may differ at run time: values written into a part of
a tensor broadcast, the branches of an `ifelse` have shapes of their own, and windows of a pooling
are longer than an image. symc's expressions
for that cost copies that hardly any program needs. So a function is compiled without them; the
first call that needs them compiles it again (`Function`), with `lengths_vary` set.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor


class _State:
    on = False
    asked = False


def lengths_vary() -> bool:
    """Whether ops are to allow for lengths that differ at run time."""
    _State.asked = True
    return _State.on


@contextmanager
def varying() -> Generator[None]:
    """For a block: ops allow for lengths that differ at run time."""
    before = _State.on
    _State.on = True
    try:
        yield
    finally:
        _State.on = before


def spread(y: Tensor, part: Tensor) -> Tensor:
    """A value whose axes of length 1 are as long as those of the part that it is written into."""
    lengths = T.shape(part)[part.ndim - y.ndim :]
    for axis in range(y.ndim):
        if y.type.shape[axis] != 1:
            y = _along(y, axis, lengths[axis])
    return y


def _along(y: Tensor, axis: int, length: Any) -> Tensor:
    """`y` whose axis is as long as `length` if it was of length 1, and else as it was.

    What it then meets checks lengths: to take `length` elements of more would drop the others.
    """
    own = T.as_tensor(T.shape(y)[axis])
    stretches = T.eq(own, 1)
    places = T.arange(T.where(stretches, length, own))
    return T.take(y, T.where(stretches, 0, places), axis=axis)


def spread_index(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index whose vectors, masks among them, all have one length."""
    entries = [
        T.nonzero(each)[0]
        if isinstance(each, Tensor) and each.dtype.name == "bool" and each.ndim == 1
        else each
        for each in index
    ]
    vectors = [each for each in entries if isinstance(each, Tensor) and each.ndim == 1]
    if len(vectors) < 2:
        return index
    longest = _longest(vectors, 0)
    return tuple(
        _along(each, 0, longest) if isinstance(each, Tensor) and each.ndim == 1 else each
        for each in entries
    )


def alike(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of one rank, whose axes of length 1 are as long as those of the others."""
    found = list(tensors)
    for axis in range(found[0].ndim):
        length = _longest(found, axis)
        found = [_along(each, axis, length) for each in found]
    return found


def _longest(tensors: Sequence[Tensor], axis: int) -> Tensor:
    """The length of an axis: that of the first tensor where it is not 1."""
    lengths = [T.cast(T.as_tensor(T.shape(each)[axis]), "int64") for each in tensors]
    longest = lengths[0]
    for each in lengths[1:]:
        longest = T.where(T.eq(longest, 1), each, longest)
    return longest


def chosen(condition: Tensor, then: Sequence[Tensor], other: Sequence[Tensor]) -> list[Tensor]:
    """The values of a branch, where those of the other have other shapes. Computes both."""
    held = condition if condition.dtype.name == "bool" else T.ne(condition, 0)
    found: list[Tensor] = []
    for left, right in zip(then, other, strict=True):
        if not left.ndim:
            found.append(T.where(held, left, right))
            continue
        lengths: Any = [
            T.where(held, a, b) for a, b in zip(T.shape(left), T.shape(right), strict=True)
        ]
        flat = T.concatenate([
            T.ravel(left)[: T.where(held, T.size(left), 0)],
            T.ravel(right)[: T.where(held, 0, T.size(right))],
        ])  # fmt: skip
        found.append(T.reshape(flat, lengths))
    return found
