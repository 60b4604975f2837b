"""The type of lists of values of one type."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.type import Type


class TypedListType(Type):
    """Lists of values of `ttype`; of lists of these, and so on, for a `depth` above 0."""

    __props__ = ("ttype",)

    def __init__(self, ttype: Any, depth: int = 0) -> None:
        if depth < 0:
            raise ValueError("Please specify a depth superior or equal to 0")
        if not isinstance(ttype, Type):
            raise TypeError("Expected a Theano Type")
        self.ttype: Any = ttype if depth == 0 else TypedListType(ttype, depth - 1)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if strict:
            if not isinstance(data, list):
                raise TypeError("Expected a python list")
            if not all(self.ttype.is_valid_value(each) for each in data):
                raise TypeError(f"Expected all elements to be {self.ttype}")
            return data
        if not isinstance(data, list | tuple | np.ndarray):
            raise TypeError(f"Expected a python list, not {data!r}")
        return [self.ttype.filter(each) for each in data]

    def get_depth(self) -> int:
        """How many lists are around the innermost one."""
        inner = self.ttype
        return inner.get_depth() + 1 if isinstance(inner, TypedListType) else 0

    def values_eq(self, a: Any, b: Any) -> bool:  # type: ignore[override]
        """Whether two lists are the same."""
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(self.ttype.values_eq(x, y) for x, y in pairs)

    def values_eq_approx(self, a: Any, b: Any) -> bool:  # type: ignore[override]
        """Whether two lists are nearly the same."""
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(self.ttype.values_eq_approx(x, y) for x, y in pairs)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Whether two lists, or a list and a value, have an array in common."""
        ours, theirs = _items(a), _items(b)
        return a is b or any(np.may_share_memory(x, y) for x in ours for y in theirs)

    @property
    def dtype(self) -> Any:
        """The type of the items, as Theano has it."""
        return self.ttype

    @property
    def ndim(self) -> int:
        """One more than the items have."""
        found: int = self.ttype.ndim + 1
        return found

    def __str__(self) -> str:
        return f"TypedList <{self.ttype}>"


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [item for each in value for item in _items(each)]
    return [value]
