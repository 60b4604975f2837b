"""Closing an entry: private files, and a manifest with the checksum of each."""

import os

from symc.cache import files, manifest
from symc.cache.errors import UnfitFile
from symc.cache.key import Key

__all__ = ["seal"]


def seal(folder: int, key: Key) -> int:
    """Make the files private, write the manifest, and return the bytes that all take.

    `folder` is a descriptor. Raises `UnfitFile` for files that an entry cannot hold, and OSError.
    """
    os.fchmod(folder, 0o700)
    with os.scandir(folder) as found:
        items = sorted(found, key=lambda item: item.name)
    sealed: manifest.Files = {}
    for item in items:
        if item.name == manifest.NAME or not item.is_file(follow_symlinks=False):
            msg = f"an entry holds plain files, none of them {manifest.NAME}; not {item.name}"
            raise UnfitFile(msg)
        sealed[item.name] = _seal_file(folder, item)
    text = manifest.render(dict(key.parts), sealed)
    files.write_new(folder, manifest.NAME, text)
    return len(text) + sum(size for _, size in sealed.values())


def _seal_file(folder: int, item: os.DirEntry[str]) -> tuple[str, int]:
    is_program = item.stat(follow_symlinks=False).st_mode & 0o111
    os.chmod(item.name, 0o700 if is_program else 0o600, dir_fd=folder)
    fd, info = files.open_file(folder, item.name)
    try:
        return files.digest(fd), info.st_size
    finally:
        os.close(fd)
