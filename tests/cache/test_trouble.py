"""The cache folder cannot be used: every time there is an entry all the same, and one warning."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from symc.cache import fallback, place
from symc.cache.errors import CacheWarning, NowhereToWrite
from symc.cache.key import Key
from symc.cache.store import Store
from tests.cache.helpers import CHILD, Child, Make, Start

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def expect_fallback(store: Store, key: Key, make: Make, temporary: Path, reason: str) -> None:
    with pytest.warns(CacheWarning, match=reason) as caught:
        entry = store.get_or_make(key, make)
    assert len(caught) == 1
    assert Path(caught[0].filename) == Path(__file__)
    assert temporary in entry.path.parents
    assert entry.read("f.c") == b"int f;"
    assert not entry.hit
    assert store.get_or_make(key, make).hit  # without another warning, or -W error would tell
    assert not store.get_or_make(Key.of(name="another"), make).hit


def test_the_root_is_a_file(store: Store, key: Key, make: Make, fresh_process: Path) -> None:
    store.root.write_text("mine")
    assert store.get(key) is None
    expect_fallback(store, key, make, fresh_process, "is not a folder; remove it, or set SYMC_")
    assert store.root.read_text() == "mine"


def test_a_parent_of_the_root_is_a_file(
    root: Path, key: Key, make: Make, fresh_process: Path
) -> None:
    root.touch()
    expect_fallback(Store(root / "in" / "it"), key, make, fresh_process, "Not a directory")


@as_root
def test_the_root_belongs_to_another_user(
    store: Store, key: Key, make: Make, fresh_process: Path
) -> None:
    store.get_or_make(key, make)
    os.chown(store.root, 1234, 1234)
    assert store.get(key) is None
    assert store.why(key).startswith("missing: ")
    expect_fallback(store, key, make, fresh_process, "belongs to user 1234 and you are user 0")


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_others_may_write_to_the_root(
    store: Store, key: Key, make: Make, fresh_process: Path, mode: int
) -> None:
    store.get_or_make(key, make)
    store.root.chmod(mode)
    assert store.get(key) is None
    assert (list(store.entries()), store.size(), store.verify()) == ([], 0, [])
    expect_fallback(store, key, make, fresh_process, "other users may write.*run `chmod go-w")


def test_a_root_that_others_may_read_is_used(store: Store, key: Key, make: Make) -> None:
    store.root.mkdir(mode=0o755)
    assert not store.get_or_make(key, make).hit
    assert store.get(key) is not None


@as_root
def test_a_file_of_another_user_is_not_loaded(store: Store, key: Key, make: Make) -> None:
    os.chown(store.get_or_make(key, make).file("f.so"), 1234, 1234)
    assert store.why(key).startswith("damaged: file 'f.so' is not a plain file of your own")
    assert store.get(key) is None


def test_a_root_that_is_a_link_of_ones_own_is_used(tmp_path: Path, key: Key, make: Make) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("elsewhere")
    store = Store(tmp_path / "link")
    assert not store.get_or_make(key, make).hit
    assert store.get(key) is not None


@as_root
def test_a_root_that_is_a_link_of_another_user_is_refused(
    tmp_path: Path, key: Key, make: Make, fresh_process: Path
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("elsewhere")
    os.chown(tmp_path / "link", 1234, 1234, follow_symlinks=False)
    expect_fallback(Store(tmp_path / "link"), key, make, fresh_process, "belongs to user")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_root_that_is_a_link_to_nothing_is_refused(
    store: Store, key: Key, make: Make, fresh_process: Path
) -> None:
    store.root.symlink_to("nothing")
    expect_fallback(store, key, make, fresh_process, "No such file")


@pytest.mark.parametrize("inner", ["tmp", "locks", "group"])
def test_a_link_planted_in_the_root_is_not_followed(
    tmp_path: Path, store: Store, key: Key, make: Make, fresh_process: Path, inner: str
) -> None:
    entry = store.get_or_make(key, make)
    outside = tmp_path / "outside"
    planted = store.root / (key.digest[:2] if inner == "group" else inner)
    planted.rename(outside)
    (outside / ("0" * 64)).touch()
    os.utime(outside / ("0" * 64), (1, 1))
    planted.symlink_to(outside)
    shutil.rmtree(entry.path)
    before = sorted(outside.iterdir())
    expect_fallback(store, key, make, fresh_process, "is a link; remove it")
    store.prune(0)
    store.clear()
    assert sorted(outside.iterdir()) == before


def test_an_entry_behind_a_planted_link_is_not_used(
    tmp_path: Path, store: Store, key: Key, make: Make
) -> None:
    entry = store.get_or_make(key, make)
    entry.path.parent.rename(tmp_path / "outside")
    entry.path.parent.symlink_to(tmp_path / "outside")
    assert store.get(key) is None
    store.clear()
    assert (tmp_path / "outside" / key.digest / "f.c").exists()


def test_the_temporary_folder_is_no_use_either(
    monkeypatch: pytest.MonkeyPatch, store: Store, key: Key, make: Make, fresh_process: Path
) -> None:
    store.root.touch()
    fresh_process.rmdir()
    monkeypatch.setattr(fallback, "_PARENTS", (str(fresh_process),))
    with (
        pytest.warns(CacheWarning),
        pytest.raises(NowhereToWrite, match="no temporary folder can be made either"),
    ):
        store.get_or_make(key, make)
    assert store.get(key) is None


def test_a_user_without_a_home_gets_a_warning(
    monkeypatch: pytest.MonkeyPatch, key: Key, make: Make, fresh_process: Path
) -> None:
    for name in ("SYMC_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it does without a home
    expect_fallback(Store(), key, make, fresh_process, "Not a directory; set SYMC_CACHE_DIR")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_make_meets_a_full_disk_and_is_called_again_elsewhere(
    store: Store, key: Key, make: Make, fresh_process: Path, code: int
) -> None:
    def full(folder: Path) -> None:
        (folder / "half").touch()
        if store.root in folder.parents:
            raise OSError(code, os.strerror(code))
        (folder / "half").unlink()
        make(folder)

    expect_fallback(store, key, full, fresh_process, "free some.*`python -m symc cache prune`")
    assert list((store.root / "tmp").iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS])
@pytest.mark.parametrize("name", ["mkdir", "fchmod", "chmod", "write", "rename"])
def test_the_disk_is_full_at_any_step_of_the_cache_itself(
    monkeypatch: pytest.MonkeyPatch,
    store: Store,
    key: Key,
    make: Make,
    fresh_process: Path,
    name: str,
    code: int,
) -> None:
    original = getattr(os, name)
    store.root.mkdir(mode=0o700)

    def full(what: object, *args: object, **kwargs: object) -> object:
        at = kwargs.get("dir_fd", kwargs.get("src_dir_fd", what))
        if isinstance(at, int):
            place = str(Path(f"/proc/self/fd/{at}").readlink())
            if place.startswith(str(store.root)):
                raise OSError(code, os.strerror(code), place)
        return original(what, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(os, name, full)
        expect_fallback(store, key, make, fresh_process, f"{os.strerror(code)}; ")
    assert Store(store.root).get(key) is None


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter, unlike tmp_path."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def temporary_root(child: Child) -> Path:
    answer = child.answer()
    assert (answer["hit"], answer["files"]) == (False, 64)
    return Path(str(answer["path"])).parents[1]


def only_warning(child: Child) -> str:
    answer = child.answer()
    assert (answer["again"], answer["same"]) == (False, True)
    (warning,) = cast("list[str]", answer["warnings"])
    return warning


def test_a_folder_that_may_not_be_written_gives_one_warning_in_a_process(
    start: Start, open_folder: Path
) -> None:
    inner = open_folder / "read-only"
    inner.mkdir(mode=0o555)
    child = start("plain", inner / "cache", "same", NOBODY="1")
    assert child.hear() == "ready"
    child.go_on()
    temporary = temporary_root(child)
    assert f"{inner}/cache: Permission denied; make it writable" in only_warning(child)
    assert child.end() == 0
    assert not temporary.exists()


def test_a_cache_that_became_read_only_is_read_and_not_written(
    start: Start, open_folder: Path
) -> None:
    open_folder.chmod(0o1777)
    cache = open_folder / "cache"
    first = start("plain", cache, "same", NOBODY="1")
    assert first.hear() == "ready"
    first.go_on()
    first.hear()
    assert first.end() == 0
    cache.chmod(0o555)
    (cache / "tmp").chmod(0o555)
    for name in ("same", "new"):
        child = start("plain", cache, name, NOBODY="1")
        assert child.hear() == "ready"
        child.go_on()
        answer = child.answer()
        assert answer["hit"] is (name == "same")
        assert child.end() == 0


IN_A_SMALL_DISK = """
mount -t tmpfs -o size=256k none "$1" || exit 77
mkdir -m 700 "$1/cache"
exec "$2" "$3" "$4" "$1/cache" same
"""


@pytest.mark.parametrize("command", ["large", "compiler", "tidy"])
def test_a_really_full_disk(tmp_path: Path, command: str) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    ran = subprocess.run(
        [*unshare, "sh", "-c", IN_A_SMALL_DISK, "sh", tmp_path, sys.executable, CHILD, command],
        input="\n",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(item for item in sys.path if item)},
    )
    if ran.returncode == 77 or "unshare" in ran.stderr:
        pytest.skip(f"no file system can be mounted here: {ran.stderr}")
    assert ran.returncode == 0, ran.stderr
    ready, made, rest = map(json.loads, ran.stdout.splitlines())
    assert (ready, made["hit"], made["files"]) == ("ready", False, 64)
    assert tmp_path not in Path(made["path"]).parents
    (warning,) = rest["warnings"]
    assert f"{tmp_path}/cache: No space left on device; free some space" in warning


def test_the_fallback_of_a_killed_process_is_swept_by_a_later_one(
    monkeypatch: pytest.MonkeyPatch, start: Start, root: Path, fresh_process: Path
) -> None:
    root.touch()
    alive, dead = (start("slow", root, "same", TMPDIR=str(fresh_process)) for _ in range(2))
    for child in (alive, dead):
        assert child.hear() == "ready"
        child.go_on()
        assert child.hear() == "making"
    dead.kill()
    folders = set(fresh_process.iterdir())
    assert len(folders) == 2
    assert fallback.private_root() not in folders
    assert set(fresh_process.iterdir()) > folders  # too young to go
    for folder in folders:
        os.utime(folder / "alive", (1, 1))
    monkeypatch.setattr(fallback, "_roots", dict[int, Path]())
    fallback.private_root()
    assert len(folders & set(fresh_process.iterdir())) == 1
    alive.go_on()
    assert temporary_root(alive) in folders


def test_a_forked_process_has_a_fallback_of_its_own(fresh_process: Path) -> None:
    mine = fallback.private_root()
    assert place.problem(mine) is None
    pid = os.fork()
    if pid == 0:
        is_right = False
        try:
            is_right = fallback.private_root() != mine and fallback.private_root().is_dir()
        finally:  # whatever is raised, the child must not go on with the tests
            os._exit(0 if is_right else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert fallback.private_root() == mine
    assert fresh_process in mine.parents


@pytest.mark.parametrize("options", ["noexec,size=64m", "size=64m"])
def test_a_folder_from_which_nothing_can_be_run(tmp_path: Path, options: str) -> None:
    """Mounted noexec, compiled libraries could not be loaded, and the loader's error came out."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    script = 'mount -t tmpfs -o "$1" none "$2" || exit 77; exec "$3" -c "$4"'
    folder = str(tmp_path)
    ran = subprocess.run(
        [*unshare, "sh", "-c", script, "sh", options, folder, sys.executable, COMPILES],
        capture_output=True, text=True, check=False,
        env={
            **os.environ, "SYMC_CACHE_DIR": f"{folder}/cache",
            "PYTHONPATH": os.pathsep.join(item for item in sys.path if item),
        },
    )  # fmt: skip
    if ran.returncode == 77 or "unshare" in ran.stderr:
        pytest.skip(f"no file system can be mounted here: {ran.stderr}")
    assert ran.returncode == 0, ran.stderr
    places, warned = map(json.loads, ran.stdout.splitlines())
    if "noexec" in options:
        (warning,) = warned
        assert "from which no program may be run (mounted noexec); set SYMC_CACHE_DIR" in warning
        assert not any(place.startswith(folder) for place in places)
    else:
        assert warned == []
        assert all(place.startswith(folder) for place in places)


COMPILES = """
import json, warnings
import symc, symc.tensor as T
x = T.vector("x")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    made = [symc.function([x], x * number + T.exp(x)) for number in (2, 3)]
    assert [f([0.0])[0] for f in made] == [1.0, 1.0]
print(json.dumps([f.folder for f in made]))
print(json.dumps([str(warning.message) for warning in caught]))
"""


def test_files_may_not_be_as_large_as_a_program(tmp_path: Path) -> None:
    """`ulimit -f`: EFBIG came out of the middle of the cache."""
    said = subprocess.run(
        ["sh", "-c", 'ulimit -f 1; exec "$1" -c "$2"', "sh", sys.executable, COMPILES],
        capture_output=True, text=True, check=False,
        env={
            **os.environ, "SYMC_CACHE_DIR": f"{tmp_path}/cache",
            "PYTHONPATH": os.pathsep.join(item for item in sys.path if item),
        },
    ).stderr  # fmt: skip
    assert "File too large" in said
    assert "this process may not write so large a file (see `ulimit -f`)" in said
    assert list((tmp_path / "cache" / "tmp").iterdir()) == []


NAMES = [b"caf\xff\xe9", b"a b 'c\" d", b"a\nb", b"a#b$HOME%d\\x", b"-o", b"a,b=c:d;e", b"l" * 255]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_folder_of_any_name_is_used(tmp_path: Path, name: bytes) -> None:
    """One that is not UTF-8 could not be loaded from."""
    folder = f"{tmp_path}/{os.fsdecode(name)}"
    ran = subprocess.run(
        [sys.executable, "-c", COMPILES], capture_output=True, text=True, check=False,
        env={
            **os.environ, "SYMC_CACHE_DIR": folder,
            "PYTHONPATH": os.pathsep.join(item for item in sys.path if item),
        },
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    places, warned = map(json.loads, ran.stdout.splitlines())
    assert warned == []
    assert all(place.startswith(folder) for place in places)
