"""A process for the tests: does one thing with a store, and speaks over its pipes.

    child.py COMMAND ROOT NAME

It is run by its path, never imported. It prints one JSON value a line.
"""

import importlib
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from symc.cache import making
from symc.cache.key import Key
from symc.cache.store import Store


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def wait() -> None:
    if not sys.stdin.readline():
        sys.exit("nobody is left to answer")


def plain(folder: Path) -> None:
    (folder / "f.c").write_text("int f;")
    (folder / "f.so").write_bytes(bytes(range(64)))


def logged(log: Path) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        with log.open("a") as file:
            file.write("made\n")
        plain(folder)

    return make


def slow(folder: Path) -> None:
    say("making")
    wait()
    plain(folder)


def failing(folder: Path) -> None:
    slow(folder)
    msg = "the compiler said no"
    raise RuntimeError(msg)


def large(folder: Path) -> None:
    plain(folder)
    (folder / "large").write_bytes(bytes(1 << 20))


def compiler(folder: Path) -> None:
    """Fail as a compiler does when the disk is full: with a message of its own."""
    try:
        large(folder)
    except OSError as error:
        msg = "the compiler said no"
        raise RuntimeError(msg) from error


def tidy(folder: Path) -> None:
    """The same of a compiler that removes what it has written: then there is room again."""
    try:
        compiler(folder)
    except RuntimeError:
        (folder / "large").unlink()
        raise


def forking(folder: Path) -> None:
    """Leave behind a process that lives on, as a worker pool would."""
    (folder / "half").touch()
    if os.fork() == 0:
        say(os.getpid())
        signal.pause()
        os._exit(0)
    signal.pause()


def get(store: Store, key: Key, make: Callable[[Path], None]) -> None:
    say("ready")
    wait()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            entry = store.get_or_make(key, make)
            say({"hit": entry.hit, "path": str(entry.path), "files": len(entry.read("f.so"))})
        except RuntimeError as error:
            say({"error": str(error)})
        again = store.get_or_make(Key.of(name="another"), plain)
        same = store.get_or_make(Key.of(name="another"), plain)
    say({"again": again.hit, "same": same.hit, "warnings": [str(w.message) for w in caught]})


def die_before(step: str, store: Store, key: Key) -> None:
    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(making, step, die)
    store.get_or_make(key, plain)


def die_at(last: int) -> None:
    count = itertools.count(1)

    def hook(event: str, _: object) -> None:
        if event.startswith(("os.", "open", "fcntl", "shutil")) and next(count) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def die_everywhere(root: Path, key: Key) -> None:
    """Kill a process at its first, second, ... system call that Python reports, till it ends."""
    steps = 0
    for last in itertools.count(1):
        store = Store(root / str(last))
        pid = os.fork()
        if pid == 0:
            die_at(last)
            store.get_or_make(key, plain)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            break
        steps += 1
        found = store.get(key)
        assert found is None or found.read("f.c") == b"int f;"
        assert store.get_or_make(key, plain).read("f.c") == b"int f;"
        assert store.verify() == []
        store.clear()
        left = sorted(path.name for path in store.root.rglob("*") if not path.is_dir())
        assert left == [], left
        shutil.rmtree(store.root)
    say(steps)


def main() -> None:
    command, root, name = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if "NOBODY" in os.environ and os.geteuid() == 0:
        # Late imports are done now, as the files may be out of reach later.
        for module in ("bound", "fallback"):
            importlib.import_module(f"symc.cache.{module}")
        tempfile.gettempdir()
        os.setgid(65534)
        os.setuid(65534)
    store, key = Store(root), Key.of(name=name)
    match command:
        case "plain":
            get(store, key, plain)
        case "logged":
            get(store, key, logged(root.parent / "log"))
        case "slow":
            get(store, key, slow)
        case "failing":
            get(store, key, failing)
        case "large":
            get(store, key, large)
        case "compiler":
            get(store, key, compiler)
        case "tidy":
            get(store, key, tidy)
        case "forking":
            store.get_or_make(key, forking)
        case "die-everywhere":
            die_everywhere(root, key)
        case _:
            die_before(command, store, key)


main()
