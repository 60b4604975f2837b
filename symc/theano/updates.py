"""`OrderedUpdates`: updates of shared variables in the order they were made."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from symc.theano.compile.sharedvalue import SharedVariable


class OrderedUpdates(OrderedDict[Any, Any]):
    """A dict from shared variables to new values."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for key in self:
            _check(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _check(key)
        super().__setitem__(key, value)

    def update(self, other: Any = (), /, **kwargs: Any) -> None:
        """Takes over updates. Raises KeyError where a variable has another one already."""
        pairs = other.items() if hasattr(other, "items") else other
        for key, value in [*pairs, *kwargs.items()]:
            if key in self and self[key] is not value:
                raise KeyError("Collision", key)
            self[key] = value

    def __add__(self, other: Any) -> OrderedUpdates:
        made = OrderedUpdates()
        made.update(self)
        made.update(other)
        return made

    def __radd__(self, other: Any) -> OrderedUpdates:
        made = OrderedUpdates()
        made.update(other)
        made.update(self)
        return made


def _check(key: Any) -> None:
    if not isinstance(key, SharedVariable):
        raise TypeError("OrderedUpdates keys must inherit from SharedVariable", key)
