"""Closing an entry: private files, and a manifest with the checksum of each."""

import os
from pathlib import Path

from symc.cache import files, manifest
from symc.cache.errors import BadFile
from symc.cache.key import Key

__all__ = ["seal"]


def seal(folder: Path, key: Key) -> int:
    """Make the files private, write the manifest, and return the bytes that all take.

    Raises `BadFile` for what an entry cannot hold, and OSError.
    """
    folder.chmod(0o700)
    with os.scandir(folder) as found:
        items = sorted(found, key=lambda item: item.name)
    sealed: manifest.Files = {}
    fd = files.open_folder(folder)
    try:
        for item in items:
            if item.name == manifest.NAME or not item.is_file(follow_symlinks=False):
                msg = f"an entry holds plain files, none of them {manifest.NAME}; not {item.path}"
                raise BadFile(msg)
            sealed[item.name] = _seal_file(fd, item)
    finally:
        os.close(fd)
    text = manifest.render(dict(key.parts), sealed)
    target = folder / manifest.NAME
    target.touch(mode=0o600, exist_ok=False)
    target.write_bytes(text)
    return len(text) + sum(size for _, size in sealed.values())


def _seal_file(folder: int, item: os.DirEntry[str]) -> tuple[str, int]:
    is_program = item.stat(follow_symlinks=False).st_mode & 0o111
    Path(item.path).chmod(0o700 if is_program else 0o600)
    fd, info = files.open_file(folder, item.name)
    try:
        return files.digest(fd), info.st_size
    finally:
        os.close(fd)
