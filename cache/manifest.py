"""The manifest of an entry: its key and a checksum of every file, as JSON that protects itself.

Its last line is the checksum of all that stands before, so there is one valid text and no byte of
it can change unseen.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import cast

from symc.cache.errors import Damaged

__all__ = ["NAME", "Files", "parse", "render"]

NAME = "entry.json"

Files = dict[str, tuple[str, int]]  # file name -> (sha256 in hex, size in bytes)

_TAIL = len(',\n "checksum": "') + 64 + len('"\n}\n')


def render(parts: Mapping[str, str], files: Files) -> bytes:
    """Return the bytes of a manifest."""
    body = json.dumps({"key": parts, "files": files}, indent=1).removesuffix("\n}").encode()
    return body + _tail(body)


def parse(data: bytes) -> tuple[dict[str, str], Files]:
    """Return the key's parts and the files; raises `Damaged`."""
    body = data[:-_TAIL]
    if data[-_TAIL:] != _tail(body):
        msg = f"the checksum of {NAME} is wrong"
        raise Damaged(msg)
    # What follows was written by some version of symc, though perhaps not by this one.
    try:
        content = cast("dict[str, dict[str, object]]", json.loads(data))
        parts = {name: _text(value) for name, value in content["key"].items()}
        files = {name: _file(value) for name, value in content["files"].items()}
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        msg = f"{NAME} has a form that this version of symc does not know"
        raise Damaged(msg) from error
    return parts, files


def _tail(body: bytes) -> bytes:
    return f',\n "checksum": "{hashlib.sha256(body).hexdigest()}"\n}}\n'.encode()


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


def _file(value: object) -> tuple[str, int]:
    match value:
        case [str(digest), int(size)]:
            return digest, size
        case _:
            raise TypeError
