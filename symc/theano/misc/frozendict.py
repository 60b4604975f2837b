"""Dicts that do not change, and so are keys."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any


class frozendict(Mapping[Any, Any]):
    """A dict that does not change; equal ones have equal hashes."""

    dict_cls: type[dict[Any, Any]] = dict

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._dict = self.dict_cls(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._dict[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dict)

    def __len__(self) -> int:
        return len(self._dict)

    def copy(self, **add_or_replace: Any) -> frozendict:
        """A dict with other values for some keys."""
        return type(self)(self, **add_or_replace)

    def __hash__(self) -> int:
        return hash(frozenset(self._dict.items()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._dict!r}>"


class FrozenOrderedDict(frozendict):
    """The same, with the order in which keys were given."""

    dict_cls = OrderedDict
