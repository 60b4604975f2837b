"""The command line of the cache: list, show, size, verify, clear, prune, why."""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from symc.cache.bound import measure
from symc.cache.entry import Entry, contents
from symc.cache.errors import Damaged
from symc.cache.explain import compare, nearest
from symc.cache.pipes import quietly
from symc.cache.store import Store

__all__ = ["COMMANDS", "FUNCTION", "main"]


COMMANDS = {
    "list": "all entries, the one used last first",
    "show": "the parts and files of one entry",
    "why": "how an entry differs from the nearest other, so why it had to be made",
    "size": "how much is kept",
    "verify": "read every byte and name the damaged entries",
    "prune": "remove what was not used for longest",
    "clear": "remove everything",
}

FUNCTION = "function"
"""The part of a key that says, for people, which function it is of."""

_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class _Unanswerable(Exception):
    """The key given names no entry, or several."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 1 for a bad answer, 2 for a bad question."""
    options = _parser().parse_args(argv)
    given = cast("Path | None", options.root)
    store = Store(given) if given is None else Store(given.expanduser())
    if (reason := store.problem()) is not None:
        sys.stderr.write(f"the cache is not used: {reason}\n")
        return 1
    as_json = bool(options.json)
    key = cast("str", getattr(options, "key", ""))
    try:
        match cast("str", options.command):
            case "list":
                return _list(store, as_json=as_json)
            case "show":
                return _show(_named(store, key), as_json=as_json)
            case "why":
                return _why(store, _named(store, key), as_json=as_json)
            case "size":
                return _size(store, as_json=as_json)
            case "verify":
                return _verify(store, as_json=as_json)
            case "prune":
                return _prune(store, cast("int | None", options.max_bytes), as_json=as_json)
            case _:
                return _clear(store, as_json=as_json)
    except _Unanswerable as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--root", type=Path, help="the cache folder, if not the usual one")
    common.add_argument("--json", action="store_true", help="answer in JSON")
    parser = argparse.ArgumentParser(prog="symc cache", description="Look after symc's cache.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text, parents=[common])
        if name in {"show", "why"}:
            command.add_argument("key", metavar="KEY", help="the first digits of an entry's key")
        if name == "prune":
            command.add_argument(
                "--max-bytes", type=_bytes, help="keep at most so many bytes, as 500M or 2G"
            )
    return parser


def _bytes(text: str) -> int:
    """A number of bytes, which may have a unit after it."""
    unit = _UNITS.get(text[-1:].upper(), 1)
    digits = text if unit == 1 else text[:-1]
    if not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"a number of bytes such as 500M or 2G, not {text!r}")
    return int(digits) * unit


def _list(store: Store, *, as_json: bool) -> int:
    found = [(entry, measure(entry.path)) for entry in store.entries()]
    found.sort(key=lambda pair: -pair[1].used)
    if as_json:
        return _write_json(
            [
                {
                    "key": entry.key.digest,
                    "bytes": size.size,
                    "used": size.used,
                    "function": dict(entry.key.parts).get(FUNCTION),
                }
                for entry, size in found
            ]
        )
    for entry, size in found:
        what = dict(entry.key.parts).get(FUNCTION) or " ".join(sorted(_files(entry)))
        _write(f"{entry.key}  {size.size:>10}  {_date(size.used)}  {what}")
    return 0


def _show(entry: Entry, *, as_json: bool) -> int:
    sizes = _files(entry)
    if as_json:
        parts = dict(entry.key.parts)
        path = str(entry.path)
        return _write_json({"key": entry.key.digest, "path": path, "parts": parts, "files": sizes})
    _write(f"{entry.key.digest}\n{entry.path}")
    for name, value in entry.key.parts:
        _write(f"  {name}: {value!r}")
    for name, size in sizes.items():
        _write(f"{size:>10}  {name}")
    return 0


def _why(store: Store, entry: Entry, *, as_json: bool) -> int:
    answer = store.why(entry.key)
    other = nearest(store.root, entry.key)
    if as_json:
        near = None if other is None else {"key": other.digest, "parts": dict(other.parts)}
        return _write_json({"key": entry.key.digest, "answer": answer, "nearest": near})
    _write(f"{answer}\n{compare(entry.key, other)}")
    return 0


def _size(store: Store, *, as_json: bool) -> int:
    count, total = sum(1 for _ in store.entries()), store.size()
    if as_json:
        return _write_json({"root": str(store.root), "entries": count, "bytes": total})
    _write(f"{count} entries, {total} bytes, in {store.root}")
    return 0


def _verify(store: Store, *, as_json: bool) -> int:
    damages = store.verify()
    if as_json:
        _write_json([{"path": str(item.path), "reason": item.reason} for item in damages])
    else:
        for item in damages:
            _write(f"{item.path}: {item.reason}")
        _write(f"{len(damages)} of {sum(1 for _ in store.entries())} entries are damaged")
    return 1 if damages else 0


def _prune(store: Store, max_bytes: int | None, *, as_json: bool) -> int:
    removed = [path.name for path in store.prune(max_bytes)]
    if as_json:
        return _write_json(removed)
    _write(f"removed {len(removed)} entries; {store.size()} bytes are left")
    return 0


def _clear(store: Store, *, as_json: bool) -> int:
    count, before = sum(1 for _ in store.entries()), store.size()
    store.clear()
    if as_json:
        return _write_json({"entries": count, "bytes": before})
    _write(f"removed {count} entries, {before} bytes")
    return 0


def _named(store: Store, prefix: str) -> Entry:
    """Return the one entry whose digest starts so."""
    found = [entry for entry in store.entries() if entry.key.digest.startswith(prefix.lower())]
    if len(found) == 1:
        return found[0]
    msg = f"{len(found)} entries in {store.root} have a key that starts with {prefix!r}"
    raise _Unanswerable(msg)


def _files(entry: Entry) -> Mapping[str, int]:
    try:
        return {name: size for name, (_, size) in contents(str(entry.path))[1].items()}
    except (FileNotFoundError, Damaged):  # since a moment ago
        return {}


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")


def _write_json(value: object) -> int:
    _write(json.dumps(value, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(quietly(main))
