"""Stamps of files, in Python and in C."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pytest

from symc.codegen.targets import stamps

Function: TypeAlias = "Callable[[str, tuple[str, ...]], stamps.Stamps]"
ENDINGS = (".py", ".h")
EVERY: list[Function] = [stamps.python_stamps]
with suppress(ImportError):  # not built
    from symc.calls import _call

    EVERY.append(_call.stamps)


@pytest.mark.parametrize("function", EVERY)
def test_files_that_end_so_and_folders(function: Function, tmp_path: Path) -> None:
    for name in ("a.py", "é.h", "c.so", "plain"):
        (tmp_path / name).write_text(name)
    for name in ("inner", "with.dot"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("inner")
    os.utime(tmp_path / "a.py", ns=(1, 1_700_000_000_123_456_789))
    os.utime(tmp_path / "é.h", ns=(1, 2))
    lines, folders = function(str(tmp_path), ENDINGS)
    assert sorted(lines) == ["a.py 4 1700000000123456789", "é.h 4 2"]
    assert sorted(folders) == ["inner", "link"]


@pytest.mark.parametrize("function", EVERY)
def test_links_that_lead_nowhere_are_left_out(function: Function, tmp_path: Path) -> None:
    """An editor's lock, ``.#a.py``, made every key fail while a file of symc was being edited."""
    (tmp_path / ".#a.py").symlink_to("me@machine.123")
    assert function(str(tmp_path), ENDINGS) == ([], [])


@pytest.mark.parametrize("function", EVERY)
def test_a_folder_that_is_missing(function: Function, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        function(str(tmp_path / "missing"), ENDINGS)
