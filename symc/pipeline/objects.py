"""Objects of the runtime's routines in the cache: compiled for one function, linked with the next.

They are entries like functions, by their text, the compiler, its flags and the processor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from symc.cache.errors import CacheError
from symc.cache.key import Key
from symc.cache.store import Store
from symc.codegen.record import record

if TYPE_CHECKING:
    from pathlib import Path

OBJECT = "routine.o"


@record
class StoredObjects:
    """Those of a store. It is asked for when it is needed: that of a process may change."""

    store: Callable[[], Store]

    def take(self, unit: str, facts: Mapping[str, str], to: Path) -> bool:
        """Whether the object of a unit is kept, and has been put there."""
        entry = self.store().get(Key.of(routine=unit, **facts))
        if entry is None:
            return False
        try:
            link(entry.file(OBJECT), to)
        except OSError:  # another process has removed it meanwhile
            return False
        return True

    def keep(self, unit: str, facts: Mapping[str, str], made: Path) -> None:
        """Keep an object, if that is possible."""
        with suppress(OSError, CacheError):
            self.store().get_or_make(
                Key.of(routine=unit, **facts), lambda folder: link(made, folder / OBJECT)
            )


def link(file: Path, to: Path) -> None:
    """The same file under another name, too, or a copy of it."""
    try:
        os.link(file, to)
    except OSError:
        import shutil  # late: it takes longer to import than linking files does

        shutil.copyfile(file, to)
