"""Locks of shared variables: many calls may read a variable at a time, or one thread change it.

A call holds the locks of all variables that it uses from before it reads them until its updates are
done, and takes them in one order, so that no two calls wait for each other. Where the extension is
built, its `Lock` (`symc/calls/_lock.c`) has the same meaning.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, get_ident
from time import sleep

_state = allocate_lock()  # held while the fields of a lock are looked at or changed
_family = [0]  # a child of fork has none of its parent's threads


def _after_fork() -> None:
    global _state
    _state = allocate_lock()
    _family[0] += 1


os.register_at_fork(after_in_child=_after_fork)


class PythonLock:
    """``with lock:`` no other thread changes the variable. A thread never waits for itself."""

    __slots__ = ("changing", "family", "hungry", "next", "reading", "waiting")

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.reading: dict[int, int] = {}  # how often, by thread
        self.changing: dict[int, int] = {}
        self.waiting = 0  # threads that want to change it
        self.hungry = 0  # threads that want to read it,
        self.next = 0  # and how many of them come before the next that changes it
        self.family = _family[0]

    def __enter__(self) -> None:
        self.take(writes=False, nested=True)

    def __exit__(self, *error: object) -> None:
        self.release(writes=False)

    def take(self, *, writes: bool, nested: bool) -> None:
        """Wait until the variable can be read or changed; `nested` if this thread has locks."""
        own, pause = get_ident(), 2e-5
        if self._is_taken(own, writes=writes, nested=nested):
            return
        self._wait(writes, 1)
        try:
            while not self._is_taken(own, writes=writes, nested=nested):
                sleep(pause)
                pause = min(2 * pause, 1e-3)
        finally:
            self._wait(writes, -1)

    def _wait(self, writes: bool, step: int) -> None:
        with _state:
            if writes:
                self.waiting += step
            else:
                self.hungry += step
                self.next = max(0, self.next + min(step, 0))

    def _is_taken(self, own: int, *, writes: bool, nested: bool) -> bool:
        with _state:
            if self.family != _family[0]:
                self._reset()
            if not self.changing.keys() <= {own}:
                return False
            if writes and (self.next or not self.reading.keys() <= {own}):
                return False
            # Who has a lock must not wait for those that wait for it.
            if not writes and self.waiting and not self.next and not nested:
                return False
            held = self.changing if writes else self.reading
            held[own] = held.get(own, 0) + 1
            return True

    def release(self, *, writes: bool) -> None:
        """Release the lock that `take` has taken."""
        held, own = self.changing if writes else self.reading, get_ident()
        with _state:
            held[own] = held.get(own, 1) - 1
            if not held[own]:
                del held[own]
                if writes:
                    self.next = self.hungry  # or a loop of updates would let nobody read
