import pytest

from symc.cache.key import Key
from symc.cache.store import Store
from tests.cache.helpers import Make


def test_why_says_present(store: Store, key: Key, make: Make) -> None:
    store.get_or_make(key, make)
    assert store.why(key) == "present"


def test_why_names_the_parts_that_differ_from_the_nearest_entry(
    store: Store, key: Key, make: Make
) -> None:
    far = Key.of(source="int g;", compiler="gcc 13", flags="-O3")
    near = Key.of(source="int f;", compiler="gcc 13", flags="-O3")
    for stored in (far, near):
        store.get_or_make(stored, make)
    assert store.why(key) == (
        f"missing: the nearest entry, {near.digest[:12]}, shares 2 of 3 parts and differs in\n"
        "  compiler: 'gcc 12' here, 'gcc 13' there"
    )


def test_why_names_parts_that_only_one_has(store: Store, make: Make) -> None:
    store.get_or_make(Key.of(source="int f;", cpu="avx2"), make)
    answer = store.why(Key.of(source="int f;", target="cuda"))
    assert "shares 1 of 3 parts" in answer
    assert "  target: 'cuda' here, nothing there" in answer
    assert "  cpu: nothing here, 'avx2' there" in answer


def test_why_when_no_entry_is_like_it(store: Store, key: Key, make: Make) -> None:
    assert store.why(key) == "missing: no other entry is stored"
    store.get_or_make(Key.of(other="thing"), make)
    assert store.why(key) == "missing: no stored entry shares a part with it"


def test_why_passes_over_damaged_entries(store: Store, key: Key, make: Make) -> None:
    damaged = Key.of(source="int f;", compiler="gcc 12", flags="-O2")
    store.get_or_make(damaged, make).file("manifest").write_text("{}")
    assert store.why(key) == "missing: no other entry is stored"
    assert store.why(damaged) == (
        "damaged: the checksum of the manifest is wrong; it is replaced when it is next made"
    )


def test_why_says_that_the_folder_is_refused(store: Store, key: Key, make: Make) -> None:
    store.get_or_make(key, make)
    store.root.chmod(0o777)
    assert store.why(key).startswith("missing: other users may write to ")


@pytest.mark.parametrize("name", ["f.c", "f.so"])
def test_why_names_the_damaged_file(store: Store, key: Key, make: Make, name: str) -> None:
    entry = store.get_or_make(key, make)
    data = entry.read(name)
    entry.file(name).write_bytes(data[::-1])
    assert store.why(key).startswith(f"damaged: file {name!r} has another checksum")
    entry.file(name).write_bytes(data[:-1])
    assert store.why(key).startswith(f"damaged: file {name!r} has {len(data) - 1} bytes")
