import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from symc.cache import lock
from symc.cache.key import Key
from symc.cache.lock import Lock
from symc.cache.store import Store
from tests.cache.helpers import Make, Start

AN_HOUR_AGO = 1.0  # or longer: seconds since 1970


def make_old(path: Path) -> None:
    os.utime(path, (AN_HOUR_AGO, AN_HOUR_AGO))


def test_eight_processes_make_one_key_once_and_all_get_it(start: Start, root: Path) -> None:
    children = [start("logged", root, "same") for _ in range(8)]
    for child in children:
        assert child.hear() == "ready"
    for child in children:
        child.go_on()
    answers = [child.hear() for child in children]
    assert (root.parent / "log").read_text() == "made\n"
    path = Store(root).get_or_make(Key.of(name="same"), lambda _: pytest.fail("not kept")).path
    hits = [{"hit": hit, "path": str(path), "files": 64} for hit in [False, *[True] * 7]]
    assert sorted(answers, key=str) == sorted(hits, key=str)
    assert [child.hear() for child in children]
    assert [child.end() for child in children] == [0] * 8


def test_processes_make_different_keys_at_the_same_time(start: Start, root: Path) -> None:
    children = [start("slow", root, str(i)) for i in range(3)]
    for child in children:
        assert child.hear() == "ready"
        child.go_on()
    # Each says so from within make, and none has been told to leave it.
    assert [child.hear() for child in children] == ["making"] * 3
    for child in children:
        child.go_on()
        answer = child.answer()
        assert answer["hit"] is False


def test_who_waits_for_a_process_that_is_killed_makes_it(start: Start, root: Path) -> None:
    victim, waiting = start("slow", root, "same"), start("logged", root, "same")
    assert (victim.hear(), waiting.hear()) == ("ready", "ready")
    victim.go_on()
    assert victim.hear() == "making"
    waiting.go_on()
    victim.kill()
    answer = waiting.answer()
    assert (answer["hit"], answer["files"]) == (False, 64)


def test_who_waits_for_a_make_that_raises_makes_it(start: Start, root: Path) -> None:
    failing, waiting = start("failing", root, "same"), start("logged", root, "same")
    assert (failing.hear(), waiting.hear()) == ("ready", "ready")
    failing.go_on()
    assert failing.hear() == "making"
    waiting.go_on()
    failing.go_on()
    assert failing.hear() == {"error": "the compiler said no"}
    answer = waiting.answer()
    assert (answer["hit"], answer["files"]) == (False, 64)


@pytest.mark.parametrize("step", ["_run", "seal", "_publish"])
def test_a_process_killed_before_a_step_harms_nobody(
    start: Start, store: Store, make: Make, step: str
) -> None:
    assert start(step, store.root, "same").end() == -signal.SIGKILL
    key = Key.of(name="same")
    left = list((store.root / "tmp").iterdir())
    assert len(left) == 1
    assert store.get(key) is None
    assert not store.get_or_make(key, make).hit
    assert left[0].exists()  # it may be slow and alive on a disk without locks
    make_old(left[0])
    store.get_or_make(Key.of(name="another"), make)
    assert list((store.root / "tmp").iterdir()) == []


def test_a_process_killed_at_any_system_call_harms_nobody(start: Start, root: Path) -> None:
    child = start("die-everywhere", root, "same")
    steps = child.hear()
    assert isinstance(steps, int)
    assert steps > 15
    assert child.end() == 0


def test_a_slow_make_is_not_swept_however_old_it_is(start: Start, store: Store, make: Make) -> None:
    child = start("slow", store.root, "same")
    assert child.hear() == "ready"
    child.go_on()
    assert child.hear() == "making"
    (folder,) = (store.root / "tmp").iterdir()
    make_old(folder)
    make_old(store.root / "locks" / Key.of(name="same").digest)
    store.get_or_make(Key.of(name="another"), make)
    store.clear()
    assert folder.exists()
    child.go_on()
    answer = child.answer()
    assert answer["hit"] is False


def test_a_lock_left_by_a_killed_process_blocks_nobody_and_is_swept(
    store: Store, key: Key, make: Make
) -> None:
    store.get_or_make(key, make)
    for name in (key.digest, "0" * 64):
        (store.root / "locks" / name).touch()
        make_old(store.root / "locks" / name)
    store.get_or_make(Key.of(name="another"), make)
    assert list((store.root / "locks").iterdir()) == []


def test_a_process_forked_while_making_does_not_keep_the_lock(
    start: Start, store: Store, make: Make
) -> None:
    child = start("forking", store.root, "same")
    grandchild = child.hear()
    assert isinstance(grandchild, int)
    try:
        child.kill()
        # The grandchild lives, and would hold a lock that it inherited until the end of its days.
        assert not store.get_or_make(Key.of(name="same"), make).hit
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_a_forked_process_uses_the_store_of_its_parent(store: Store, key: Key, make: Make) -> None:
    store.get_or_make(key, make)
    pid = os.fork()
    if pid == 0:
        is_right = False
        try:
            is_right = store.get(key) is not None
            is_right &= not store.get_or_make(Key.of(name="another"), make).hit
        finally:  # whatever is raised, the child must not go on with the tests
            os._exit(0 if is_right else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert store.get(Key.of(name="another")) is not None


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """A descriptor of tmp_path."""
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_who_waits_for_a_lock_gets_the_one_that_counts(tmp_path: Path, folder: int) -> None:
    path = tmp_path / "lock"
    first = Lock.wait(path, folder)
    assert Lock.if_free(path, folder) is None
    path.unlink()  # as another one would on release, between our open and our flock
    second = Lock.if_free(path, folder)
    assert second is not None
    first.release()
    second.release()
    assert not path.exists()
    second.release()  # twice does no harm


def test_a_lock_whose_file_was_removed_while_waiting_is_not_the_lock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: int
) -> None:
    path = tmp_path / "lock"

    def removed_meanwhile(fd: int, how: int) -> None:
        monkeypatch.undo()
        path.unlink()
        fcntl.flock(fd, how)

    monkeypatch.setattr(lock, "_flock", removed_meanwhile)
    held = Lock.wait(path, folder)
    assert os.path.samestat(os.fstat(held.fd), path.stat())
    held.release()
    monkeypatch.setattr(lock, "_flock", removed_meanwhile)
    assert Lock.if_free(path, folder) is None
