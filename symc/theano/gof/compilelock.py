"""`theano.gof.compilelock`, which programs ask for no lock: symc's cache has none to wait for."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


def set_lock_status(use_lock: bool) -> None:
    """Whether processes wait for each other when they compile, which they never do here."""
    del use_lock


def get_lock(lock_dir: Any = None, **kwargs: Any) -> None:
    """Takes the lock of a folder: there is none."""
    del lock_dir, kwargs


def release_lock() -> None:
    """Gives the lock back."""


def force_unlock() -> None:
    """Takes the lock from whoever has it."""


@contextmanager
def lock_ctx(lock_dir: Any = None, keep_lock: bool = False, **kwargs: Any) -> Generator[None]:
    """A block that has the lock."""
    del lock_dir, keep_lock, kwargs
    yield
