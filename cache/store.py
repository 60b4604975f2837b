"""The store: finds the entry of a key, or has it made once for all processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from symc.cache import place
from symc.cache.entry import Entry, contents, find
from symc.cache.errors import Damaged, NowhereToWrite, Unwritable
from symc.cache.key import Key

if TYPE_CHECKING:
    from pathlib import Path

    from symc.cache.explain import Damage

__all__ = ["Entry", "Key", "Store"]

_MAX_BYTES = 1 << 30

Loaded = TypeVar("Loaded")


class Store:
    """A folder of entries, shared by all processes of one user; making one touches no disk.

    Entries it cannot keep, because it is read-only, full or not the user's own, is made in a
    temporary folder of this process instead, with one `CacheWarning`.

    >>> import pathlib, tempfile
    >>> def make(folder):
    ...     _ = (folder / "f.so").write_bytes(b"ELF")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(pathlib.Path(folder, "cache"))
    ...     key = Key.of(source="int f;", flags="-O3")
    ...     made = store.get_or_make(key, make)
    ...     found = store.get(key)
    ...     (made.hit, found.hit, found.read("f.so"))
    (False, True, b'ELF')
    """

    __slots__ = ("_is_given_up", "folder", "max_bytes")

    def __init__(self, root: Path | None = None, *, max_bytes: int = _MAX_BYTES) -> None:
        """Use the given folder, or $SYMC_CACHE_DIR, or the user's cache folder."""
        folder = place.default_root() if root is None else str(root)
        # A program may change its working folder later.
        self.folder = folder if os.path.isabs(folder) else os.path.join(os.getcwd(), folder)
        self.max_bytes = max_bytes
        self._is_given_up = False

    @property
    def root(self) -> Path:
        """The folder, as a path; `folder` is the same as text, for those who must be quick."""
        from pathlib import Path

        return Path(self.folder)

    def get(self, key: Key) -> Entry | None:
        """Return the entry, every byte of it verified, or None; never raises for a bad one."""
        entry = find(self.folder, key)
        if entry is None and self._is_given_up:
            from symc.cache.fallback import private_root  # see _make

            with suppress(NowhereToWrite):
                entry = find(str(private_root()), key)
        return entry

    def get_or_make(self, key: Key, make: Callable[[Path], None]) -> Entry:
        """Return the entry; if there is none, `make` writes its files into the folder it is given.

        For one key only one thread of one process makes at a time, and the others wait and then
        find it; different keys never wait for each other. `make` may ask for other keys, unless
        these in turn wait for this one. When the disk proves full or read-only, `make` is called
        a second time, with another folder.

        Another process may remove the entry before the caller has opened its files; `use` does
        not mind.

        Raises the errors of `make`, without an entry then; `UnfitFile` when it left something other
        than plain files, `CircularMake` when it asked for this key, and `NowhereToWrite`.
        """
        return self.get(key) or self._make(key, make)

    def use(
        self, key: Key, make: Callable[[Path], None], load: Callable[[Entry], Loaded]
    ) -> Loaded:
        """Return the result of `load` for the entry, which is made again should it vanish.

        Raises the errors of `get_or_make` and `load`.
        """
        while True:
            entry = self.get_or_make(key, make)
            try:
                return load(entry)
            except Exception:
                if os.path.exists(entry.folder):  # so that is not the reason
                    raise

    def problem(self) -> str | None:
        """Return why the folder may not be used, with the remedy, or None."""
        return place.problem(self.folder)

    def entries(self) -> Iterator[Entry]:
        """Yield all entries whose manifest is sound, in order of their digests."""
        from symc.cache.bound import entry_folders  # late, as in all that is rare

        for folder in entry_folders(self.root):
            with suppress(FileNotFoundError, Damaged):
                key = Key(tuple(contents(str(folder))[0].items()))
                yield Entry(str(folder), key, hit=True)

    def size(self) -> int:
        """Return the bytes that all entries take."""
        from symc.cache.bound import kept

        return sum(item.size for item in kept(self.root))

    def prune(self, max_bytes: int | None = None) -> list[Path]:
        """Remove the entries not used for longest until the bound holds; return their folders."""
        from symc.cache.bound import prune

        return prune(self.root, self.max_bytes if max_bytes is None else max_bytes)

    def clear(self) -> None:
        """Remove all entries and leftovers, except entries that are being made."""
        from symc.cache.bound import clear

        clear(self.root)

    def verify(self) -> list[Damage]:
        """Return the damaged entries, having read every byte of all; changes nothing."""
        from symc.cache.explain import verify

        return verify(self.root)

    def why(self, key: Key) -> str:
        """Return "present", or "damaged: ..." or "missing: ..." with the parts that differ."""
        from symc.cache.explain import why

        return "present" if self.get(key) is not None else why(self.root, key)

    def _make(self, key: Key, make: Callable[[Path], None]) -> Entry:
        # A program that finds all it asks for, as most do, need not import how things are made.
        from symc.cache.making import make_entry

        if not self._is_given_up:
            try:
                entry = make_entry(self.root, key, make, is_last=False)
            except Unwritable as error:
                # Trying anew for each key would make each of them twice on a full disk.
                from symc.cache.fallback import warn_once

                self._is_given_up = True
                warn_once(str(error))
            else:
                if not entry.hit:
                    self._make_room(entry)
                return entry
        from symc.cache.fallback import private_root

        try:
            return make_entry(private_root(), key, make, is_last=True)
        except Unwritable as error:
            msg = f"nor is there a usable temporary folder: {error}"
            raise NowhereToWrite(msg) from error

    def _make_room(self, entry: Entry) -> None:
        from symc.cache.bound import note

        with suppress(OSError):  # the entry is there, as asked for
            note(self.root, entry.path, self.max_bytes)
