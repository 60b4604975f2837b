import importlib.util
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from symc.cache.errors import CircularMake, UnfitFile
from symc.cache.key import Key
from symc.cache.store import Entry, Store
from tests.cache.helpers import Make


def test_nothing_is_created_before_the_first_entry(store: Store, key: Key) -> None:
    assert store.get(key) is None
    assert (list(store.entries()), store.size(), store.prune(), store.verify()) == ([], 0, [], [])
    store.clear()
    assert store.why(key) == "missing: no other entry is stored"
    assert not store.root.exists()


def test_an_entry_is_made_once_and_then_found(store: Store, key: Key, make: Make) -> None:
    made = store.get_or_make(key, make)
    found = store.get_or_make(key, lambda _: pytest.fail("made twice"))
    assert (made.hit, found.hit, made.path) == (False, True, found.path)
    again = store.get(key)
    assert again is not None
    assert (again.hit, again.path, again.key) == (True, found.path, key)
    assert found.read("f.c") == b"int f;"
    assert found.file("f.so").read_bytes() == bytes(range(64))
    assert [entry.key for entry in store.entries()] == [key]


def test_two_stores_on_one_folder_share_entries(root: Path, key: Key, make: Make) -> None:
    Store(root).get_or_make(key, make)
    assert Store(root).get(key) is not None


def test_everything_is_private_to_the_user(store: Store, key: Key) -> None:
    def make(folder: Path) -> None:
        (folder / "data").touch(mode=0o666)
        (folder / "program").touch()
        (folder / "program").chmod(0o777)
        (folder / "sealed").touch(mode=0o000)
        folder.chmod(0o777)

    old = os.umask(0)
    try:
        entry = store.get_or_make(key, make)
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.root.rglob("*")}
    assert {modes.pop(name) for name in ["program", "tmp", "locks"]} == {0o700}
    assert {modes.pop(entry.path.name), modes.pop(entry.path.parent.name)} == {0o700}
    assert set(modes) == {"data", "sealed", "manifest", "ledger"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(store.root.stat().st_mode) == 0o700


def test_nothing_but_the_entry_is_left_after_making(store: Store, key: Key, make: Make) -> None:
    store.get_or_make(key, make)
    assert list((store.root / "tmp").iterdir()) == []
    assert list((store.root / "locks").iterdir()) == []


def test_a_make_that_raises_leaves_nothing_and_the_next_one_may_try(
    store: Store, key: Key, make: Make
) -> None:
    class Mine(Exception):
        pass

    def fail(folder: Path) -> None:
        make(folder)
        (folder / "inner").mkdir()
        raise Mine

    with pytest.raises(Mine):
        store.get_or_make(key, fail)
    assert not [path for path in store.root.rglob("*") if not path.is_dir()]
    assert list((store.root / "tmp").iterdir()) == []
    assert store.get(key) is None
    assert not store.get_or_make(key, make).hit


def test_an_oserror_of_make_goes_to_its_caller(store: Store, key: Key) -> None:
    calls: list[Path] = []

    def fail(folder: Path) -> None:
        calls.append(folder)
        (folder / "no" / "such" / "folder").touch()

    with pytest.raises(FileNotFoundError):
        store.get_or_make(key, fail)
    assert len(calls) == 1


def test_an_interrupted_make_leaves_nothing(store: Store, key: Key, make: Make) -> None:
    def interrupt(folder: Path) -> None:
        make(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.get_or_make(key, interrupt)
    assert list((store.root / "tmp").iterdir()) == []
    assert not store.get_or_make(key, make).hit


def test_an_entry_holds_plain_files_only(store: Store, key: Key) -> None:
    def link(folder: Path) -> None:
        (folder / "a.so").symlink_to("/etc/passwd")

    def inner(folder: Path) -> None:
        (folder / "inner").mkdir()

    def manifest(folder: Path) -> None:
        (folder / "manifest").touch()

    for make in (link, inner, manifest):
        with pytest.raises(UnfitFile, match="plain files"):
            store.get_or_make(key, make)
        assert list((store.root / "tmp").iterdir()) == []


def test_an_entry_without_files_is_an_entry(store: Store, key: Key) -> None:
    store.get_or_make(key, lambda _: None)
    assert store.get(key) is not None


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc/passwd", "a/b"])
def test_a_name_that_leads_elsewhere_is_refused(
    store: Store, key: Key, make: Make, name: str
) -> None:
    entry = store.get_or_make(key, make)
    with pytest.raises(ValueError, match="is no name of a file"):
        entry.read(name)


def test_make_may_ask_for_another_key_but_not_for_its_own(
    store: Store, key: Key, make: Make
) -> None:
    other = Key.of(source="int g;")

    def outer(folder: Path) -> None:
        inner = store.get_or_make(other, make)
        (folder / "copy").write_bytes(inner.read("f.c"))

    assert store.get_or_make(key, outer).read("copy") == b"int f;"

    def circular(_: Path) -> None:
        store.get_or_make(Key.of(a="1"), make)

    with pytest.raises(CircularMake, match="asked for"):
        store.get_or_make(Key.of(a="1"), circular)


def test_threads_make_one_key_once(store: Store, key: Key, make: Make) -> None:
    makers: list[int] = []
    hits: list[bool] = []
    barrier = threading.Barrier(8)

    def once(folder: Path) -> None:
        makers.append(threading.get_ident())
        make(folder)

    def work() -> None:
        barrier.wait()
        hits.append(store.get_or_make(key, once).hit)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(makers) == 1
    assert sorted(hits) == [False] + [True] * 7


def test_threads_make_different_keys_at_the_same_time(store: Store, make: Make) -> None:
    inside = threading.Barrier(4)  # broken, and an error, unless four are in make at once
    found: list[bool] = []

    def together(folder: Path) -> None:
        inside.wait()
        make(folder)

    def work(name: str) -> None:
        found.append(store.get_or_make(Key.of(name=name), together).hit)

    threads = [threading.Thread(target=work, args=(str(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [False] * 4


def test_the_environment_chooses_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SYMC_CACHE_DIR", str(tmp_path / "mine"))
    assert Store().root == tmp_path / "mine"
    monkeypatch.delenv("SYMC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert Store().root == tmp_path / "xdg" / "symc"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs itself is asked")
@pytest.mark.parametrize("base", ["", "/somewhere", "~/there"])
def test_the_default_root_is_what_platformdirs_says(
    monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.delenv("SYMC_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert Store().root == platformdirs.user_cache_path("symc", appauthor=False).expanduser()


def test_a_relative_root_stays_where_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store(Path("cache"))
    monkeypatch.chdir("/")
    assert store.root == tmp_path / "cache"


def test_clear_removes_everything_of_the_cache_and_nothing_else(
    store: Store, key: Key, make: Make
) -> None:
    store.get_or_make(key, make)
    (store.root / "notes.txt").touch()
    (store.root / "aa").mkdir(exist_ok=True)
    (store.root / "aa" / "mine").touch()
    store.clear()
    files = {path.name for path in store.root.rglob("*") if not path.is_dir()}
    assert files == {"notes.txt", "mine"}
    assert store.get(key) is None
    assert not store.get_or_make(key, make).hit


def test_an_entry_that_vanishes_before_it_is_loaded_is_made_again(
    store: Store, key: Key, make: Make
) -> None:
    hits: list[bool] = []

    def load(entry: Entry) -> bytes:
        hits.append(entry.hit)
        if len(hits) < 3:
            store.clear()  # as another process might
        return entry.read("f.c")

    assert store.use(key, make, load) == b"int f;"
    assert hits == [False] * 3


def test_an_error_of_load_goes_to_its_caller(store: Store, key: Key, make: Make) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-file"):
        store.use(key, make, lambda entry: entry.read("no-such-file"))


def test_the_package_goes_by_one_name_only() -> None:
    spec = importlib.util.find_spec("symc.cache")
    assert spec is not None
    assert spec.origin is not None
    other = importlib.util.spec_from_file_location("cache", spec.origin)
    assert other is not None
    assert other.loader is not None
    with pytest.raises(ImportError, match=r"this package is symc\.cache"):
        other.loader.exec_module(importlib.util.module_from_spec(other))
