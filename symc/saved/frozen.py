"""Functions for the processes of a pool: each process makes such a function once.

A function is sent with every task that calls it. To read it takes some milliseconds, more than many
a task. So a function without shared variables is made when its process first reads it, and later
ones of the same contents are the same object. With shared variables, which each reader may change,
each is an object of its own; a frozen one is not. It has no updates: results would depend on which
process had which tasks before.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable
from hashlib import blake2b
from typing import Any, TypeVar, cast

from symc.calls.callable import Function, compiled_function
from symc.errors import FunctionError
from symc.tensor.broadcast import describe

MOST = 64
"""Things that a process keeps; the one made first is given up."""

_Made = TypeVar("_Made")
_made: dict[Hashable, Any] = {}


def once(key: Hashable, make: Callable[[], _Made]) -> _Made:
    """What `make` gives, or gave when it was first asked for under this key."""
    found = _made.get(key)
    if found is None:
        made = make()
        while len(_made) >= MOST:
            _made.pop(next(iter(_made)), None)
        found = _made.setdefault(key, made)  # of two threads' the first
    return cast("_Made", found)


class Frozen:
    """A function whose state no longer changes, made by `symc.frozen`."""

    def __init__(self, function: Function, text: bytes, digest: bytes) -> None:
        self.function, self.text, self.digest = function, text, digest
        self.__name__ = function.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        return _frozen_of, (self.digest, self.text)

    def __repr__(self) -> str:
        return f"<frozen {self.function!r}>"


def frozen(function: Function) -> Frozen:
    """The function as it is now, to be sent to the processes of a pool.

    It is called like the function. Each process that receives it, with however many tasks, makes it
    once, and one process of a machine compiles it. Its shared variables keep the values that they
    have now. Raises `FunctionError` for a function that updates shared variables, as its results
    would depend on which process has had which tasks, and TypeError for what is no function.

    >>> import symc, symc.tensor as T
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> x, w = T.vector("x"), symc.shared(2.0, "w")
    >>> f = symc.frozen(symc.function([x], x * w))
    >>> w.set_value(5.0)
    >>> with ThreadPoolExecutor(1) as pool:
    ...     list(pool.map(f, [[1.0], [2.0]]))
    [array([2.]), array([4.])]
    """
    compiled_function(function, "frozen")
    if function.request.updates:
        variable, _ = function.request.updates[0]
        raise FunctionError(
            f"{function.name} updates shared variables, so that each process would have a state of "
            f"its own\n  updated  {describe(variable)}\n"
            "  make the state an argument and a result; of random numbers, pass a key"
        )
    text = pickle.dumps(function, protocol=pickle.HIGHEST_PROTOCOL)
    return _frozen_of(blake2b(text, digest_size=16).digest(), text)


def _frozen_of(digest: bytes, text: bytes) -> Frozen:
    """The frozen function of these contents."""
    return once(digest, lambda: Frozen(pickle.loads(text), text, digest))
