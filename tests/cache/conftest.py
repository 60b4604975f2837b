"""Stores in temporary folders, and real processes to share them with."""

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from symc.cache import fallback
from symc.cache.key import Key
from symc.cache.store import Store
from tests.cache.helpers import Child, Make, Start


@pytest.fixture
def start() -> Iterator[Start]:
    children: list[Child] = []

    def run(*arguments: str | Path, **environment: str) -> Child:
        children.append(Child(*arguments, **environment))
        return children[-1]

    yield run
    for child in children:
        child.kill()
        for pipe in (child.process.stdin, child.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def store(root: Path) -> Store:
    return Store(root)


@pytest.fixture
def key() -> Key:
    return Key.of(source="int f;", compiler="gcc 12", flags="-O3")


@pytest.fixture
def make() -> Make:
    def write(folder: Path) -> None:
        (folder / "f.c").write_text("int f;")
        (folder / "f.so").write_bytes(bytes(range(64)))
        (folder / "empty").touch()

    return write


@pytest.fixture
def fresh_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Forget that this process has warned, and return the folder that its fallback goes to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(fallback, "_warning", threading.Lock())
    monkeypatch.setattr(fallback, "_roots", dict[int, Path]())
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder
