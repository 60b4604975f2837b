import mmap
import os
import time
from pathlib import Path

import pytest

from symc.cache.key import Key
from symc.cache.store import Store
from tests.cache.helpers import Make, Start


def named(name: object) -> Key:
    return Key.of(name=str(name))


def thousand(folder: Path) -> None:
    (folder / "data").write_bytes(bytes(1000))


def put(store: Store, name: object, used: float) -> int:
    """Make an entry that was last used at the given time, and return its size."""
    before = store.size()
    entry = store.get_or_make(named(name), thousand)
    os.utime(entry.file("manifest"), (used, used))
    return store.size() - before


def names(store: Store) -> set[str]:
    return {entry.key.parts[0][1] for entry in store.entries()}


def test_size_counts_all_files_of_all_entries(store: Store) -> None:
    sizes = [put(store, i, 1.0) for i in range(3)]
    on_disk = [p.stat().st_size for p in store.root.glob("??/*/*")]
    assert store.size() == sum(sizes) == sum(on_disk) > 3000


def test_the_bound_holds_after_each_new_entry_and_the_latest_used_stay(root: Path) -> None:
    one = put(Store(root), 0, 0.5)
    store = Store(root, max_bytes=5 * one + 100)
    for i in range(1, 20):
        put(store, i, float(i))
        assert store.size() <= store.max_bytes
        kept = sorted(map(int, names(store)))
        assert kept == list(range(i + 1 - len(kept), i + 1))
        assert len(kept) == min(i + 1, 5) or i >= 5
        assert len(kept) >= min(i + 1, 4)


def test_a_hit_saves_an_entry_from_pruning(store: Store) -> None:
    sizes = [put(store, i, 1.0 + i) for i in range(4)]
    assert store.get(named(0)) is not None
    removed = store.prune(2 * max(sizes))
    assert names(store) == {"0", "3"}
    assert [path.name for path in removed] == [named(1).digest, named(2).digest]


def test_a_hit_writes_at_most_once_a_minute(store: Store) -> None:
    manifest = store.get_or_make(named(0), thousand).file("manifest")
    now = time.time()
    for age, is_touched in [(10, False), (30, False), (70, True), (99999, True), (-999, True)]:
        os.utime(manifest, (now - age, now - age))
        assert store.get(named(0)) is not None
        assert (abs(manifest.stat().st_mtime - (now - age)) > 1) is is_touched


def test_prune_without_a_number_keeps_what_fits(root: Path) -> None:
    size = put(Store(root), 0, 1.0)
    put(Store(root), 1, 2.0)
    assert Store(root).prune() == []
    assert [path.name for path in Store(root, max_bytes=size).prune()] == [named(0).digest]
    assert names(Store(root)) == {"1"}


def test_the_entry_just_made_stays_even_if_it_alone_is_too_large(root: Path) -> None:
    store = Store(root, max_bytes=10)
    for i in range(3):
        entry = store.get_or_make(named(i), thousand)
        assert entry.read("data") == bytes(1000)
        assert names(store) == {str(i)}


def test_who_has_mapped_a_file_keeps_it_when_it_is_pruned(store: Store) -> None:
    entry = store.get_or_make(named(0), thousand)
    with (
        entry.file("data").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        assert store.prune(0) == [entry.path]
        assert not entry.path.exists()
        assert mapped[:] == bytes(1000)


def test_entries_of_other_processes_count(start: Start, root: Path) -> None:
    for name in ("a", "b"):
        child = start("plain", root, name)
        assert child.hear() == "ready"
        child.go_on()
        assert child.hear()
        assert child.end() == 0
    store = Store(root, max_bytes=Store(root).size() + 500)
    put(store, "c", time.time())
    assert store.size() <= store.max_bytes
    assert "c" in names(store)


@pytest.mark.parametrize("content", [b"", b"nonsense\n", b"-1\n99\xff", b"1\n" * 99999])
def test_a_ledger_that_makes_no_sense_is_counted_anew(root: Path, content: bytes) -> None:
    sizes = [put(Store(root), i, 1.0 + i) for i in range(3)]
    (root / "ledger").write_bytes(content)
    store = Store(root, max_bytes=2 * max(sizes))
    put(store, 3, 9.0)
    assert store.size() <= store.max_bytes
    assert "3" in names(store)
    assert int((root / "ledger").read_text()) == store.size()


def test_a_link_in_the_place_of_the_ledger_is_not_followed(
    store: Store, tmp_path: Path, make: Make
) -> None:
    store.root.mkdir(mode=0o700)
    (tmp_path / "outside").write_text("mine")
    (store.root / "ledger").symlink_to(tmp_path / "outside")
    assert not store.get_or_make(named(0), make).hit
    store.prune()
    assert (tmp_path / "outside").read_text() == "mine"


def test_files_of_others_in_the_root_are_left_alone(store: Store, make: Make) -> None:
    for name in ("zz", "ab", "notes"):
        (store.root / name / ("x" * 64)).mkdir(parents=True, mode=0o700)
    store.root.chmod(0o700)
    store.get_or_make(named(0), make)
    store.prune(0)
    assert len(list(store.root.glob("*/" + "x" * 64))) == 3
