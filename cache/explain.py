"""Looking into a cache: why a key was not found, and which entries are damaged."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from symc.cache import place
from symc.cache.bound import entry_folders
from symc.cache.entry import check, contents
from symc.cache.errors import Damaged
from symc.cache.key import Key

__all__ = ["Damage", "compare", "nearest", "verify", "why"]


@dataclass(frozen=True, slots=True)
class Damage:
    """An entry that has changed since it was published, and how."""

    path: Path
    reason: str


def why(root: Path, key: Key) -> str:
    """Return "present", or "damaged: ..." or "missing: ..." with the reason."""
    if (reason := place.problem(root)) is not None:
        return f"missing: {reason}"
    try:
        check(place.entry_folder(root, key.digest), key)
    except FileNotFoundError:
        return f"missing: {compare(key, nearest(root, key))}"
    except Damaged as error:
        return f"damaged: {error}; it is replaced when it is next made"
    return "present"


def verify(root: Path) -> list[Damage]:
    """Return the damaged entries, having read every byte of all."""
    damages: list[Damage] = []
    for folder in entry_folders(root):
        try:
            parts, _, _ = contents(str(folder))
            check(str(folder), Key(tuple(parts.items())))
        except FileNotFoundError:
            continue  # pruned meanwhile
        except Damaged as error:
            damages.append(Damage(folder, str(error)))
    return damages


def nearest(root: Path, key: Key) -> Key | None:
    """Return the stored key, not this one, that shares most parts; the latest used of equals."""
    best: tuple[int, float, Key] | None = None
    wanted = set(key.parts)
    for folder in entry_folders(root):
        if folder.name == key.digest:
            continue
        try:
            parts, _, used = contents(str(folder))
        except (FileNotFoundError, Damaged):
            continue
        shared = len(wanted & parts.items())
        if best is None or (shared, used) > best[:2]:
            best = shared, used, Key(tuple(parts.items()))
    return None if best is None else best[2]


def compare(key: Key, other: Key | None) -> str:
    """Return in words which parts of two keys differ."""
    if other is None:
        return "no other entry is stored"
    ours, theirs = dict(key.parts), dict(other.parts)
    names = [*ours, *(name for name in theirs if name not in ours)]
    differing = [name for name in names if ours.get(name) != theirs.get(name)]
    shared = len(names) - len(differing)
    if not shared:
        return "no stored entry shares a part with it"
    lines = [f"the nearest entry, {other}, shares {shared} of {len(names)} parts and differs in"]
    lines += [
        f"  {name}: {_show(ours, name)} here, {_show(theirs, name)} there" for name in differing
    ]
    return "\n".join(lines)


def _show(parts: Mapping[str, str], name: str) -> str:
    return repr(parts[name]) if name in parts else "nothing"
