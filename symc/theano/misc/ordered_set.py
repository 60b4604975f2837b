"""Sets that keep the order in which elements were added."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, MutableSet
from typing import Any


def check_deterministic(iterable: Any) -> None:
    """Raises AssertionError for what gives several elements in no order of its own."""
    if iterable is None or isinstance(iterable, list | tuple | OrderedSet | Generator | str):
        return
    if len(iterable) > 1:
        raise AssertionError("Get an not ordered iterable when one was expected")


class OrderedSet(MutableSet[Any]):
    """A set with an order; equal to another of the same elements in the same order.

    >>> OrderedSet("abca")
    OrderedSet(['a', 'b', 'c'])
    """

    def __init__(self, iterable: Iterable[Any] | None = None) -> None:
        check_deterministic(iterable)
        self._places: dict[Any, None] = dict.fromkeys(iterable or ())

    def __contains__(self, item: object) -> bool:
        return item in self._places

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self._places)[::-1])

    def __len__(self) -> int:
        return len(self._places)

    def add(self, value: Any) -> None:
        """Adds an element at the end, if it is new."""
        self._places[value] = None

    def discard(self, value: Any) -> None:
        """Removes an element, if it is there."""
        self._places.pop(value, None)

    def update(self, iterable: Iterable[Any]) -> None:
        """Adds elements."""
        check_deterministic(iterable)
        self._places.update(dict.fromkeys(iterable))

    def union(self, other: Iterable[Any]) -> OrderedSet:
        """The elements of both."""
        found = self.copy()
        found.update(other)
        return found

    def intersection_update(self, other: Iterable[Any]) -> OrderedSet:
        """Keeps those elements that are in another, too."""
        kept = list(other)
        self._places = dict.fromkeys(each for each in self if each in kept)
        return self

    def difference_update(self, other: Iterable[Any]) -> OrderedSet:
        """Removes those elements that are in another."""
        check_deterministic(other)
        for each in other:
            self.discard(each)
        return self

    def copy(self) -> OrderedSet:
        """A set of the same elements."""
        return OrderedSet(list(self))

    def pop(self, last: bool = True) -> Any:
        """Removes the last element, or the first, and gives it."""
        if not self._places:
            raise KeyError("set is empty")
        value = next(reversed(self._places)) if last else next(iter(self._places))
        self.discard(value)
        return value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OrderedSet):
            return list(self) == list(other)
        if isinstance(other, set):
            raise TypeError(
                "an OrderedSet cannot be compared with a set, which has no order: make it a set"
            )
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"OrderedSet({list(self)})" if self else "OrderedSet()"
