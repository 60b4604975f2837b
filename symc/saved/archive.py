"""A file of JSON and arrays: a zip archive without compression, so that other programs can look in.

    symc.json       {"format": 1, "symc": "0.1.0", ...}
    arrays/0.npy    arrays in NumPy's format, numbered

`FORMAT` is raised when the meaning of the JSON changes. This symc reads the formats in `READABLE`;
a file of a later one says so when it is opened. Nothing is ever unpickled.
"""

from __future__ import annotations

import ast
import errno
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
from symc.graph.bfloat16 import kind_of, numpy_bfloat16
from symc.graph.node import Array

FORMAT = 1
READABLE = range(1, FORMAT + 1)
DOCUMENT = "symc.json"
_MAGIC = b"\x93NUMPY\x01\x00"
_PREFIX = len(_MAGIC) + 2  # bytes, with the length of the header
_LONGEST_HEADER = 10_000
_BFLOAT16 = ("<V2", ">V2", "|V2")


def write(path: Path, document: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Writes a file whole or not at all: an older file stays until all is written."""
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
    """The JSON and the arrays of a file. Raises `BadFile` if it is damaged, or no such file.

    Memory is taken in proportion to the file's length: nothing in it is compressed, its parts do
    not overlap, and an array takes the bytes that it has there.
    """
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                names = _members(archive, os.fstat(file.fileno()).st_size)
                return _document(archive), [_array(archive, name) for name in names]
        except BadFile as error:
            raise BadFile(f"{path}: {error}") from error.__cause__
        except OSError as error:
            if error.errno not in (None, errno.EINVAL):  # a disk that cannot be read
                raise
            raise _damaged(path, error) from error
        except Exception as error:  # zipfile trusts the file, and raises anything
            raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> BadFile:
    return BadFile(f"{path} is damaged, or was not written by symc.save: {error!s:.200}")


def _members(archive: zipfile.ZipFile, length: int) -> list[str]:
    """The names of the arrays, in order. Raises `BadFile` for parts that no file of symc's has."""
    infos = archive.infolist()
    names = [f"arrays/{number}.npy" for number in range(len(infos) - 1)]
    if [info.filename for info in infos] != [DOCUMENT, *names]:
        raise BadFile(f"its parts are not {DOCUMENT} and numbered arrays")
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise BadFile(f"{info.filename} is compressed")
    if sum(info.file_size for info in infos) > length:
        raise BadFile("its parts are longer than the file")
    return names


def _document(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        document = json.loads(archive.read(DOCUMENT))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{DOCUMENT} is no JSON: {error!s:.200}") from error
    found = cast("dict[str, Any]", document).get("format") if isinstance(document, dict) else None
    if type(found) is not int or found not in READABLE:
        ours = f"{READABLE.start} to {READABLE.stop - 1}"
        shown = found if type(found) is int else type(found).__name__
        raise BadFile(f"its format is {shown!s:.20}, and this symc reads {ours}; a newer one may")
    return cast("dict[str, Any]", document)


def _array(archive: zipfile.ZipFile, name: str) -> Array:
    """One array. Its header must agree with its length before memory is asked for.

    NumPy's own reader of headers also repairs those of old programs, with a tokenizer and warnings
    of its own; `write` writes but one kind.
    """
    data = archive.read(name)
    start = _PREFIX + int.from_bytes(data[_PREFIX - 2 : _PREFIX], "little")
    if data[: _PREFIX - 2] != _MAGIC or start > min(len(data), _LONGEST_HEADER):
        raise BadFile(f"{name} is no array")
    try:
        header = ast.literal_eval(data[_PREFIX:start].decode("latin1"))
        match header:
            case {"descr": str(kind), "fortran_order": bool(is_fortran), "shape": tuple(shape)}:
                # What NumPy writes of bfloat16; nothing else of symc's has no kind.
                dtype = numpy_bfloat16() if kind in _BFLOAT16 else np.dtype(kind)
            case _:
                raise BadFile(f"{name} has another header than arrays of symc's")
        if kind_of(dtype) not in "biufc" or not all(type(n) is int and n >= 0 for n in shape):
            raise BadFile(f"{name} has another dtype or shape than arrays of symc's")
        if math.prod(shape) * dtype.itemsize != len(data) - start:
            raise BadFile(f"{name} does not hold what it says")
        values = np.frombuffer(data, dtype, offset=start)
        return np.array(values.reshape(shape, order="F" if is_fortran else "C"))
    except (
        ValueError,
        TypeError,
        SyntaxError,
        OverflowError,
        MemoryError,
        RecursionError,
    ) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{name} is no array: {error!s:.200}") from error
