"""A file of JSON and arrays: a zip archive without compression, so that other programs can look in.

    symc.json       {"format": 1, "symc": "0.1.0", ...}
    arrays/0.npy    arrays in NumPy's format, numbered

`FORMAT` is raised when the meaning of the JSON changes. This symc reads the formats in `READABLE`;
a file of a later one says so when it is opened. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import json
import math
import os
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from symc.errors import BadFile
from symc.graph import Array

FORMAT = 1
READABLE = range(1, FORMAT + 1)
DOCUMENT = "symc.json"
MOST_TEXT = 1 << 30  # bytes of JSON


def write(path: Path, document: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Writes a file whole or not at all: what was there before stays until all is written."""
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            text = json.dumps({"format": FORMAT, **document}, allow_nan=False)
            archive.writestr(DOCUMENT, text)
            for number, array in enumerate(arrays):
                with archive.open(f"arrays/{number}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, (1, 0), allow_pickle=False)
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


def read(path: Path) -> tuple[dict[str, Any], list[Array]]:
    """The JSON and the arrays of a file. Raises `BadFile` if it is damaged, or no such file."""
    try:
        with zipfile.ZipFile(path) as archive:
            document = _document(archive)
            count = len(archive.namelist()) - 1
            return document, [_array(archive, f"arrays/{number}.npy") for number in range(count)]
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadFile(f"{path} is damaged, or was not written by symc.save: {error}") from error


def _document(archive: zipfile.ZipFile) -> dict[str, Any]:
    if archive.getinfo(DOCUMENT).file_size > MOST_TEXT:
        raise BadFile(f"{DOCUMENT} is too long")
    try:
        document = json.loads(archive.read(DOCUMENT))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{DOCUMENT} is no JSON: {error}") from error
    found = cast("dict[str, Any]", document).get("format") if isinstance(document, dict) else None
    if found not in READABLE:
        ours = f"{READABLE.start} to {READABLE.stop - 1}"
        raise BadFile(f"its format is {found!r:.20}, and this symc reads {ours}; a newer one may")
    return cast("dict[str, Any]", document)


def _array(archive: zipfile.ZipFile, name: str) -> Array:
    """One array. Its header must agree with its length before memory is asked for."""
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise BadFile(f"{name} is compressed")
    data = io.BytesIO(archive.read(info))
    try:
        version = np.lib.format.read_magic(data)
        header = {(1, 0): np.lib.format.read_array_header_1_0,
                  (2, 0): np.lib.format.read_array_header_2_0}[version]  # fmt: skip
        shape, _, dtype = header(data)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != info.file_size - data.tell():
            raise BadFile(f"{name} does not hold what it says")
        data.seek(0)
        return np.lib.format.read_array(data, allow_pickle=False)
    except (ValueError, KeyError, TypeError, SyntaxError, OverflowError) as error:
        raise BadFile(f"{name} is no array: {error}") from error
