"""Python's garbage collector, paused where much is made that stays.

Importing and building make tens of thousands of objects and hardly any garbage cycles. The
collector would look through all of them again and again as their number grows.
"""

from __future__ import annotations

import gc


class without_collection:  # noqa: N801 -- used as a function: with without_collection(): ...
    """No garbage collection meanwhile.

    (A class, as `contextlib` takes longer to import than many a block runs.)
    """

    __slots__ = ("_enabled",)

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            gc.enable()
