import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from symc.cache.checksum import checksum
from symc.cache.entry import Entry
from symc.cache.key import Key
from symc.cache.store import Store
from tests.cache.helpers import Make


@pytest.fixture
def entry(store: Store, key: Key, make: Make) -> Entry:
    return store.get_or_make(key, make)


def expect_miss_then_remake(store: Store, key: Key, make: Make) -> None:
    assert store.get(key) is None
    assert store.why(key).startswith("damaged: ")
    assert [damage.path.name for damage in store.verify()] == [key.digest]
    made = store.get_or_make(key, make)
    assert not made.hit
    assert made.read("f.c") == b"int f;"
    assert made.read("f.so") == bytes(range(64))
    assert store.get(key) is not None
    assert store.verify() == []
    assert list((store.root / "tmp").iterdir()) == []


def names(entry: Entry) -> Iterator[str]:
    yield from sorted(path.name for path in entry.path.iterdir())


def test_every_byte_of_every_file_is_protected(
    store: Store, key: Key, entry: Entry, make: Make
) -> None:
    for name in names(entry):
        path = entry.file(name)
        data = path.read_bytes()
        for i in range(len(data)):
            for flip in (0x01, 0x20, 0x80):
                path.write_bytes(data[:i] + bytes([data[i] ^ flip]) + data[i + 1 :])
                assert store.get(key) is None, (name, i, flip)
        if data:
            expect_miss_then_remake(store, key, make)


def test_an_entry_is_remade_whichever_byte_was_flipped(
    store: Store, key: Key, entry: Entry, make: Make
) -> None:
    for name in names(entry):
        for i in range(0, entry.file(name).stat().st_size, 7):
            data = entry.read(name)
            entry.file(name).write_bytes(data[:i] + bytes([data[i] ^ 0xFF]) + data[i + 1 :])
            expect_miss_then_remake(store, key, make)


def test_truncated_and_extended_files_are_noticed(
    store: Store, key: Key, entry: Entry, make: Make
) -> None:
    for name in names(entry):
        data = entry.read(name)
        for changed in [data[:i] for i in range(len(data))] + [data + b"\0", data + b"\n"]:
            entry.file(name).write_bytes(changed)
            assert store.get(key) is None, (name, len(changed))
        expect_miss_then_remake(store, key, make)


def test_missing_files_are_noticed(store: Store, key: Key, entry: Entry, make: Make) -> None:
    for name in names(entry):
        entry.file(name).unlink()
        expect_miss_then_remake(store, key, make)


def test_an_extra_file_is_noticed(store: Store, key: Key, entry: Entry, make: Make) -> None:
    entry.file("g.so").touch()
    assert store.why(key).startswith("damaged: file 'g.so' is not expected")
    expect_miss_then_remake(store, key, make)


def test_an_empty_folder_is_noticed(store: Store, key: Key, entry: Entry, make: Make) -> None:
    shutil.rmtree(entry.path)
    entry.path.mkdir()
    expect_miss_then_remake(store, key, make)


def _link(path: Path) -> None:
    copy = path.parents[2] / "copy"
    path.rename(copy)
    path.symlink_to(copy)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("replace", [_link, _folder, _pipe])
def test_what_is_not_a_plain_file_is_noticed(
    store: Store, key: Key, entry: Entry, make: Make, replace: Callable[[Path], None]
) -> None:
    for name in names(entry):
        replace(entry.file(name))
        expect_miss_then_remake(store, key, make)
        for left in store.root.glob("copy"):
            left.unlink()


def test_a_file_or_a_link_in_the_place_of_an_entry_is_noticed(
    store: Store, key: Key, entry: Entry, make: Make
) -> None:
    copy = store.root / "copy"
    entry.path.rename(copy)
    entry.path.touch()
    expect_miss_then_remake(store, key, make)
    shutil.rmtree(entry.path)
    entry.path.symlink_to(copy)
    expect_miss_then_remake(store, key, make)
    assert (copy / "f.c").read_text() == "int f;"


def test_an_entry_in_the_place_of_another_is_noticed(
    store: Store, key: Key, entry: Entry, make: Make
) -> None:
    other = store.get_or_make(Key.of(source="int g;"), make)
    shutil.rmtree(entry.path)
    other.path.rename(entry.path)
    assert store.get(key) is None
    assert store.why(key).startswith("damaged: it holds another key")
    assert not store.get_or_make(key, make).hit


@pytest.mark.parametrize(
    "body",
    [b"", b"\n", b"part\n", b"part\ta\tb\tc\n", b"file\tf.c\tmany\t0\n", b"{}\n", b"\xff\n"],
)
def test_a_manifest_of_another_form_is_noticed(
    store: Store, key: Key, entry: Entry, make: Make, body: bytes
) -> None:
    # As another version of symc might write it: the checksum is right.
    entry.file("manifest").write_bytes(body + f"manifest\t{checksum(body)}\n".encode())
    assert store.why(key).startswith("damaged: the manifest has a form")
    expect_miss_then_remake(store, key, make)
