"""The errors of the cache.

    CacheError
    ├── NowhereToWrite   also OSError        neither the cache folder nor a temporary one works
    ├── UnfitFile        also ValueError     `make` left something that an entry cannot hold
    └── CircularMake     also RuntimeError   `make` asked for the very key that it is making
    CacheWarning         a UserWarning       the cache folder cannot be used; said once per process

    Damaged, Refused, Unwritable             inside the package only; no caller ever sees one

A damaged entry is no error for the caller: it is a miss, and is made again.
"""

__all__ = ["CacheError", "CacheWarning", "CircularMake", "NowhereToWrite", "UnfitFile"]


class CacheError(Exception):
    """Base of every error of the cache."""


class NowhereToWrite(CacheError, OSError):
    """Neither the cache folder nor a temporary folder can be written."""


class UnfitFile(CacheError, ValueError):
    """`make` left something in its folder that an entry cannot hold, such as a link."""


class CircularMake(CacheError, RuntimeError):
    """`make` asked for the very key that it is making, and would wait for itself."""


class CacheWarning(UserWarning):
    """The cache folder cannot be used, so nothing is kept after this process."""


class Damaged(Exception):
    """An entry has changed since it was published; the text says how. Never leaves the package."""


class Unwritable(Exception):
    """A cache folder cannot be used; the text says why and the remedy. Never leaves the package."""


class Refused(Exception):
    """A folder may not be used; the text says why and the remedy. Never leaves the package."""
