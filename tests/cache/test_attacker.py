"""Another user of the machine prepares a cache folder, or a folder on the way to it.

Nothing of the victim's may be written, nothing of the attacker's read, and there is an entry all
the same. Only giving a file to somebody else needs root.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.cache import place
from symc.cache.errors import CacheWarning
from symc.cache.key import Key
from symc.cache.notes import Notes
from symc.cache.store import Store
from symc.pipeline.library import store_at
from tests.cache.helpers import Make

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
ANOTHER = 1234


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the victim's, which must stay as it is."""
    path = tmp_path / "victim"
    path.write_text("precious")
    return path


def compiled(folder: Path, number: float) -> None:
    """A function is compiled and right, whatever the folder is."""
    x = T.vector("x")
    with store_at(folder):
        f = symc.function([x], x * number + 1)
    np.testing.assert_array_equal(f([1.0, 2.0]), [number + 1, 2 * number + 1])


def everything_is_used(store: Store, key: Key, make: Make) -> None:
    """All that a store and its notes can be asked for."""
    notes = Notes(store.folder)
    for _ in range(2):
        store.get(key)
        assert store.get_or_make(key, make).read("f.c") == b"int f;"
        notes.write("compiler", "gcc")
        notes.read("compiler")
    assert store.why(key)
    assert store.size() >= 0
    assert len(list(store.entries())) >= len(store.verify())
    store.prune(0)
    store.clear()


def listing(folder: Path) -> list[tuple[str, int, bytes]]:
    """All files below a folder, with their contents."""
    return sorted(
        (str(path), path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    )


def test_a_refused_folder_is_used_for_nothing(
    tmp_path: Path, victim: Path, fresh_process: Path
) -> None:
    """Files of the victim were overwritten: with mode 777, links in the place of compiler.txt."""
    root = tmp_path / "cache"
    root.mkdir()
    root.chmod(0o777)
    (root / "notes").mkdir()
    planted = ["compiler.txt", f"compiler.txt.{os.getpid()}", "ledger", "notes/compiler"]
    for name in planted:
        (root / name).symlink_to(victim)
    before = listing(tmp_path)
    with pytest.warns(CacheWarning, match="other users may write"):
        compiled(root, 2.0)
    fresh = fresh_process.name
    after = [item for item in listing(tmp_path) if f"/{fresh}/" not in item[0]]
    assert after == before
    assert victim.read_text() == "precious"


def test_a_refused_folder_is_not_where_the_simulators_driver_goes(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    root.mkdir()
    root.chmod(0o777)
    code = (
        "import warnings, symc.cuda; warnings.simplefilter('ignore'); "
        "assert symc.cuda.available('cuda:sim')"
    )
    settings = {"SYMC_CACHE_DIR": str(root), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **settings})
    assert list(root.iterdir()) == []


PLACES = ["tmp", "locks", "group", "entry", "manifest", "lock", "ledger", "notes", "note"]


def planted_place(store: Store, key: Key, what: str) -> Path:
    """Where something is planted."""
    group = store.root / key.digest[:2]
    return {
        "tmp": store.root / "tmp", "locks": store.root / "locks", "group": group,
        "entry": group / key.digest, "manifest": group / key.digest / "manifest",
        "lock": store.root / "locks" / key.digest, "ledger": store.root / "ledger",
        "notes": store.root / "notes", "note": store.root / "notes" / "compiler",
    }[what]  # fmt: skip


@pytest.mark.filterwarnings("ignore::symc.cache.errors.CacheWarning")
@pytest.mark.parametrize("what", PLACES)
def test_a_link_is_followed_nowhere(
    tmp_path: Path, victim: Path, store: Store, key: Key, make: Make, fresh_process: Path, what: str
) -> None:
    assert fresh_process.exists()
    everything_is_used(store, key, make)
    where = planted_place(store, key, what)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "compiler").write_text("precious")
    where.parent.mkdir(exist_ok=True, mode=0o700)
    if where.is_dir():
        where.rmdir()
    where.unlink(missing_ok=True)
    is_folder = what in {"tmp", "locks", "group", "entry", "notes"}
    where.symlink_to(outside if is_folder else victim)
    before = listing(outside)
    everything_is_used(store, key, make)
    assert victim.read_text() == "precious"
    assert listing(outside) == before


@pytest.mark.filterwarnings("ignore::symc.cache.errors.CacheWarning")
@pytest.mark.parametrize("what", ["lock", "ledger", "note"])
def test_a_second_name_of_a_file_is_not_written_to(
    victim: Path, store: Store, key: Key, make: Make, fresh_process: Path, what: str
) -> None:
    assert fresh_process.exists()
    everything_is_used(store, key, make)
    where = planted_place(store, key, what)
    where.parent.mkdir(exist_ok=True, mode=0o700)
    where.unlink(missing_ok=True)
    os.link(victim, where)
    everything_is_used(store, key, make)
    assert victim.read_text() == "precious"


@as_root
@pytest.mark.filterwarnings("ignore::symc.cache.errors.CacheWarning")
@pytest.mark.parametrize("what", ["tmp", "locks", "group", "notes"])
def test_an_inner_folder_of_another_user_is_not_used(
    store: Store, key: Key, make: Make, fresh_process: Path, what: str
) -> None:
    assert fresh_process.exists()
    everything_is_used(store, key, make)
    where = planted_place(store, key, what)
    where.mkdir(exist_ok=True, mode=0o777)
    os.chown(where, ANOTHER, ANOTHER)
    before = listing(where)
    everything_is_used(store, key, make)
    assert listing(where) == before


def test_an_entry_in_a_folder_that_others_may_write_to_is_not_used(
    store: Store, key: Key, make: Make
) -> None:
    group = store.get_or_make(key, make).path.parent
    group.chmod(0o777)
    assert store.get(key) is None
    assert store.why(key).startswith("damaged: other users may write to")


@as_root
def test_a_note_of_another_user_is_not_read(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "cache")
    notes.write("compiler", "gcc")
    os.chown(tmp_path / "cache" / "notes" / "compiler", ANOTHER, ANOTHER)
    assert notes.read("compiler") is None
    notes.write("compiler", "gcc")
    assert notes.read("compiler") == "gcc"


# --- the way to the folder ------------------------------------------------------------------------


@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_that_others_can_exchange_is_refused(
    tmp_path: Path, key: Key, make: Make, fresh_process: Path, exists: bool
) -> None:
    """Who may write to a folder above it can put another one in its place, at any moment."""
    above = tmp_path / "above"
    above.mkdir()
    store = Store(above / "between" / "cache")
    if exists:
        store.get_or_make(key, make)
    above.chmod(0o777)
    with pytest.warns(CacheWarning, match="and so exchange .*run `chmod go-w .*/above`, or set"):
        entry = store.get_or_make(key, make)
    assert fresh_process in entry.path.parents
    assert (above / "between").exists() is exists
    above.chmod(0o1777)  # as /tmp is: there nobody can rename another's file
    assert Store(store.root).problem() is None


@as_root
def test_a_folder_below_one_of_another_user_is_refused(tmp_path: Path) -> None:
    above = tmp_path / "above"
    (above / "cache").mkdir(parents=True, mode=0o700)
    os.chown(above, ANOTHER, ANOTHER)
    problem = Store(above / "cache").problem()
    assert problem is not None
    assert f"{above} belongs to user {ANOTHER}" in problem


@as_root
def test_a_link_of_another_user_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("there")
    assert Store(tmp_path / "link" / "cache").problem() is None
    os.chown(tmp_path / "link", ANOTHER, ANOTHER, follow_symlinks=False)
    assert "belongs to user" in str(Store(tmp_path / "link" / "cache").problem())


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    assert "symbolic links" in str(Store(tmp_path / "one" / "cache").problem())


def test_a_way_with_links_and_dots_is_that_of_the_system(tmp_path: Path) -> None:
    real = tmp_path / "real" / "inner"
    real.mkdir(parents=True, mode=0o700)
    (tmp_path / "link").symlink_to("./real/../real//inner/")
    (tmp_path / "back").symlink_to(tmp_path / "link")
    fd = place.open_root(f"{tmp_path}/back/../inner/.")
    assert os.path.samestat(os.fstat(fd), real.stat())
    os.close(fd)


def test_a_group_of_ones_own_may_write_above(tmp_path: Path) -> None:
    """Many systems give each user a group, and let it write to all that the user makes."""
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o770)
    os.chown(above, -1, os.getgid())
    assert Store(above / "cache").problem() is None


@as_root
def test_a_group_of_others_may_not_write_above(tmp_path: Path) -> None:
    above = tmp_path / "above"
    above.mkdir()
    os.chown(above, -1, 100)
    above.chmod(0o770)
    assert "other users may write" in str(Store(above / "cache").problem())


# --- exchanged between the look and the use -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::symc.cache.errors.CacheWarning")
@pytest.mark.parametrize("turn", range(1, 12))
def test_a_folder_exchanged_after_the_look_is_written_to_where_it_went(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: Key, make: Make,
    fresh_process: Path, turn: int,
) -> None:  # fmt: skip
    """At each time that the folder has been opened, its name becomes that of another."""
    assert fresh_process.exists()
    store, trap = Store(tmp_path / "cache"), tmp_path / "trap"
    Notes(store.folder).write("compiler", "gcc")
    for name in ("tmp", "locks", "notes", key.digest[:2]):
        (trap / name).mkdir(parents=True, mode=0o700)
    (trap / "notes" / "compiler").write_text("another")
    before = listing(trap)
    original: Callable[..., int] = place.open_root
    calls = 0

    def exchanged(root: str | Path) -> int:
        nonlocal calls
        fd = original(root)
        calls += str(root) == store.folder
        if calls == turn and not (tmp_path / "moved").exists():
            store.root.rename(tmp_path / "moved")
            trap.chmod(0o777)  # as the attacker's, which is refused at the next look
            store.root.symlink_to(trap)
        return fd

    monkeypatch.setattr(place, "open_root", exchanged)
    assert Notes(store.folder).read("compiler") != "another"
    assert store.use(key, make, lambda entry: entry.read("f.c")) == b"int f;"
    Notes(store.folder).write("compiler", "gcc")
    store.clear()
    trap.chmod(0o700)
    assert listing(trap) == before
