import doctest

import pytest

from symc.cache import entry, key, store
from symc.cache.key import Key


def test_values_that_join_to_the_same_text_give_different_keys() -> None:
    digests = {
        Key.of(a="a", b="bc").digest,
        Key.of(a="ab", b="c").digest,
        Key.of(a="abc", b="").digest,
        Key.of(ab="a", c="bc").digest,
        Key.of(a="1:a1:b", b="").digest,
        Key.of(a="a", b="bc", c="").digest,
    }
    assert len(digests) == 6


def test_order_of_parts_is_kept_and_does_not_matter() -> None:
    one, two = Key.of(a="1", b="2"), Key.of(b="2", a="1")
    assert (one, one.digest, hash(one)) == (two, two.digest, hash(two))
    assert [name for name, _ in two.parts] == ["b", "a"]


def test_long_values_are_stored_as_hashes_and_still_count_in_full() -> None:
    one, two = Key.of(source="x" * 9999 + "1"), Key.of(source="x" * 9999 + "2")
    assert one != two
    assert one.parts[0][1].startswith("blake2b:")
    assert len(one.parts[0][1]) == 72


def test_a_text_that_looks_like_a_hash_is_not_taken_for_one() -> None:
    long = Key.of(source="x" * 9999)
    assert Key.of(source=long.parts[0][1]) != long


def test_text_counts_as_its_utf8_bytes() -> None:
    assert Key.of(a="é") == Key.of(a="é".encode())
    assert Key.of(a="é" * 999) == Key.of(a=("é" * 999).encode())


@pytest.mark.parametrize("value", ["\udc80", "\0", "\n", '"', "", "\ud800" * 500])
def test_any_text_can_be_a_part_and_the_key_can_be_had_back_from_its_parts(value: str) -> None:
    assert Key(Key.of(a=value).parts) == Key.of(a=value)
    assert Key.of(a=value) != Key.of(a=value + "x")


def test_bytes_that_are_no_text_can_be_a_part() -> None:
    assert Key.of(a=b"\xff") != Key.of(a=b"\xfe")


def test_a_number_is_refused() -> None:
    with pytest.raises(TypeError, match="key part 'a' must be text or bytes, not int"):
        Key.of(a=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] # tested


def test_a_key_without_parts_or_with_a_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="a key needs parts"):
        Key.of()
    with pytest.raises(ValueError, match="of different names"):
        Key((("a", "1"), ("a", "2")))


def test_same_parts_give_the_same_digest_on_every_machine_and_day() -> None:
    known = "798d4809c3d3dbb401fb1cb780a6c4f3"
    assert Key.of(source="int f;", flags="-O3").digest.startswith(known)


@pytest.mark.parametrize("module", [key, entry, store])
def test_examples_in_docstrings_hold(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] # modules have no narrower type here
    assert result.attempted > 0
    assert result.failed == 0
