import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from symc.cache.__main__ import main
from symc.cache.key import Key
from symc.cache.store import Store
from tests.cache.helpers import Make

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(store: Store, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str]:
        status = main([*arguments, "--root", str(store.root)])
        out, err = capsys.readouterr()
        return status, out + err

    return call


def test_list_names_entries_the_latest_used_first(
    run: Run, store: Store, key: Key, make: Make
) -> None:
    assert run("list") == (0, "")
    old = store.get_or_make(Key.of(name="old"), make)
    os.utime(old.file("manifest"), (1e9, 1e9))
    store.get_or_make(key, make)
    status, text = run("list")
    assert status == 0
    first, second = text.splitlines()
    assert first.startswith(str(key))
    assert second.startswith(str(old.key))
    assert second.endswith("empty f.c f.so")
    assert "2001-09-0" in second
    found = json.loads(run("list", "--json")[1])
    assert [item["key"] for item in found] == [key.digest, old.key.digest]
    assert sum(item["bytes"] for item in found) == store.size()


def test_show_prints_parts_and_files(run: Run, store: Store, key: Key, make: Make) -> None:
    entry = store.get_or_make(key, make)
    status, text = run("show", key.digest[:6])
    assert status == 0
    for line in (key.digest, str(entry.path), "  compiler: 'gcc 12'", "        64  f.so"):
        assert line in text.splitlines()
    found = json.loads(run("show", key.digest.upper(), "--json")[1])
    assert found["parts"] == dict(key.parts)
    assert found["files"] == {"f.c": 6, "f.so": 64, "empty": 0}


def test_a_prefix_must_name_one_entry(run: Run, store: Store, key: Key, make: Make) -> None:
    store.get_or_make(key, make)
    store.get_or_make(Key.of(name="another"), make)
    assert run("show", "")[0] == 2
    status, text = run("why", "no")
    assert status == 2
    assert text == f"0 entries in {store.root} have a key that starts with 'no'\n"


def test_why_compares_with_the_nearest_other_entry(
    run: Run, store: Store, key: Key, make: Make
) -> None:
    store.get_or_make(key, make)
    assert run("why", str(key)) == (0, "present\nno other entry is stored\n")
    other = Key.of(source="int f;", compiler="gcc 12", flags="-O1")
    store.get_or_make(other, make)
    status, text = run("why", str(key))
    assert status == 0
    assert text.endswith("flags: '-O3' here, '-O1' there\n")
    assert json.loads(run("why", str(key), "--json")[1])["nearest"]["key"] == other.digest


def test_size_prune_and_clear(run: Run, store: Store, key: Key, make: Make) -> None:
    store.get_or_make(key, make)
    size = store.size()
    assert run("size") == (0, f"1 entries, {size} bytes, in {store.root}\n")
    assert json.loads(run("size", "--json")[1])["bytes"] == size
    assert run("prune") == (0, f"removed 0 entries; {size} bytes are left\n")
    assert json.loads(run("prune", "--max-bytes", "0", "--json")[1]) == [key.digest]
    store.get_or_make(key, make)
    assert run("clear") == (0, f"removed 1 entries, {size} bytes\n")
    assert store.size() == 0


def test_clear_leaves_what_others_put_into_a_folder(run: Run, store: Store) -> None:
    """``--root`` may name any folder, such as a home with a ``tmp`` of its own."""
    others = [store.root / "tmp" / "letter", store.root / "locks" / "mine", store.root / "ab" / "c"]
    for path in others:
        path.mkdir(parents=True)
        (path / "precious").touch()
    store.root.chmod(0o700)
    assert run("clear") == (0, "removed 0 entries, 0 bytes\n")
    assert all((path / "precious").exists() for path in others)


def test_bytes_have_units(run: Run, store: Store, key: Key, make: Make) -> None:
    store.get_or_make(key, make)
    assert run("prune", "--max-bytes", "2G")[1].startswith("removed 0")
    for wrong in "-5", "G", "lots":
        with pytest.raises(SystemExit):
            run("prune", f"--max-bytes={wrong}")
    assert run("prune", "--max-bytes", "0k")[1].startswith("removed 1")


def test_verify_names_damaged_entries(run: Run, store: Store, key: Key, make: Make) -> None:
    entry = store.get_or_make(key, make)
    assert run("verify") == (0, "0 of 1 entries are damaged\n")
    assert run("verify", "--json") == (0, "[]\n")
    entry.file("f.c").write_text("int g;")
    status, text = run("verify")
    assert (status, text.startswith(f"{entry.path}: file 'f.c' has")) == (1, True)
    assert text.endswith("1 of 1 entries are damaged\n")
    assert json.loads(run("verify", "--json")[1])[0]["path"] == str(entry.path)


def test_a_refused_folder_is_said(run: Run, store: Store) -> None:
    store.root.mkdir()
    store.root.chmod(0o777)
    status, text = run("list")
    assert status == 1
    assert text.startswith("the cache is not used: other users may write to")


def test_the_usual_folder_is_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYMC_CACHE_DIR", str(tmp_path / "usual"))
    assert main(["size"]) == 0
    assert capsys.readouterr().out == f"0 entries, 0 bytes, in {tmp_path}/usual\n"


COMMANDS = ("cache list", "cache list --json", "doctor", "doctor --json", "cache size")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_whose_reader_has_gone_ends_quietly(
    store: Store, key: Key, make: Make, command: str
) -> None:
    """``... cache list | head`` ended with a traceback."""
    store.get_or_make(key, make)
    ours, theirs = os.pipe()
    os.close(ours)
    ran = subprocess.run(
        [sys.executable, "-m", "symc", *command.split()], stdout=theirs, stderr=subprocess.PIPE,
        env={**os.environ, "SYMC_CACHE_DIR": store.folder,
             "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False, text=True,
    )  # fmt: skip
    os.close(theirs)
    assert (ran.returncode, ran.stderr) == (141, "")
