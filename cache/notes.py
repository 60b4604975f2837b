"""Short texts that processes leave for later ones, such as a compiler's answer about its version.

They are files of the cache folder, which is looked at as for entries: where it is refused, nothing
is read and nothing is written.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from symc.cache import files, place
from symc.cache.errors import Damaged, Refused

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FOLDER", "Notes"]

FOLDER = "notes"


class Notes:
    """The notes in a cache folder; two of one folder are equal.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = Notes(pathlib.Path(folder, "cache"))
    ...     notes.write("compiler", "gcc 12")
    ...     (notes.read("compiler"), notes.read("another"))
    ('gcc 12', None)
    """

    __slots__ = ("root",)

    def __init__(self, root: str | Path) -> None:
        self.root = str(root)

    def __eq__(self, other: object) -> bool:
        return self.root == other.root if isinstance(other, Notes) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.root)

    def read(self, name: str) -> str | None:
        """The text of a note; None where there is none that can be read."""
        try:
            with files.opened(self.root, FOLDER) as folder:
                fd, _ = files.open_file(folder, name)
            try:
                return files.read(fd).decode("utf-8", "surrogatepass")
            finally:
                os.close(fd)
        except (OSError, UnicodeDecodeError, Damaged, Refused):
            return None

    def write(self, name: str, text: str) -> None:
        """Write a note whole or not at all; that it cannot be written is no error."""
        with suppress(OSError, Refused):
            if place.problem(self.root) is not None:
                return
            place.make_root(self.root)
            with files.opened(self.root) as top:
                for room in (FOLDER, "tmp"):
                    with suppress(FileExistsError):
                        os.mkdir(room, 0o700, dir_fd=top)
            with (
                files.opened(self.root, FOLDER) as folder,
                files.opened(self.root, "tmp") as temporary,
            ):
                files.replace(folder, name, text.encode("utf-8", "surrogatepass"), temporary)
