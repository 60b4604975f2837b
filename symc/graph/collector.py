"""Python's garbage collector, paused where much is made that stays.

Importing and building make tens of thousands of objects and hardly any garbage cycles. The
collector would look through all of them again and again as their number grows.
"""

from __future__ import annotations

import gc


class without_collection:  # noqa: N801 -- used as a function: with without_collection(): ...
    """No garbage collection meanwhile.

    With ``stays=True`` what is made meanwhile stays for good, as modules do, and is entered among
    the old objects at once: else the collector would take all of it for young when it goes on, and
    look through it for a millisecond after the import of symc. It is for blocks that run once: the
    collector begins to count anew, and would never come to a program's garbage.

    (A class, as `contextlib` takes longer to import than many a block runs.)
    """

    __slots__ = ("_enabled", "_stays")

    def __init__(self, *, stays: bool = False) -> None:
        self._stays = stays

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if not self._enabled:
            return
        if self._stays and not gc.get_freeze_count():  # what a program froze is to stay frozen
            gc.freeze()
            gc.unfreeze()  # into the oldest generation: neither looks at an object
        gc.enable()
