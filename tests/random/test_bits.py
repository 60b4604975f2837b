"""Philox 4x32-10 in C, in Python and in NumPy, against the vectors published with it."""

from __future__ import annotations

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.meaning import philox as plain
from symc.tensor.random import philox as vectorised
from tests.random.distributions import Array

# Counter, key and result from kat_vectors of Random123 1.14, words of 32 bits, the first one first.
VECTORS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def pairs(words: str) -> list[int]:
    """Words of 32 bits as numbers of 64."""
    numbers = [int(word, 16) for word in words.split()]
    return [low | high << 32 for low, high in zip(numbers[::2], numbers[1::2], strict=True)]


@pytest.mark.parametrize(("counter", "key", "wanted"), VECTORS)
def test_published_vectors(counter: str, key: str, wanted: str) -> None:
    (low, high), (number,) = pairs(counter), pairs(key)
    assert list(plain.philox(number, high, low)) == pairs(wanted)
    blocks = vectorised.philox(number, high, np.array([low, 1], dtype=np.uint64))
    assert [int(half[0]) for half in blocks] == pairs(wanted)


def test_published_vectors_in_compiled_code() -> None:
    """Those whose counter an index can have: the last block of the lane of keys is all ones."""
    key, number = T.vector("key", "uint64"), T.scalar("number", "int64")
    f = symc.function(
        [key, number],
        [T.random.bits(key, 2), T.random.bits(key, 4, "uint32"), T.random.fold_in(key, number)],
        mode="compile",
    )
    first, words, _ = f(np.zeros(2, np.uint64), 0)
    assert first.tolist() == pairs(VECTORS[0][2])
    assert [f"{word:08x}" for word in words] == VECTORS[0][2].split()
    ones = np.full(2, -1, np.int64).view(np.uint64)
    assert f(ones, -1)[2].tolist() == pairs(VECTORS[1][2])


def test_elements_are_words_in_order() -> None:
    """So they do not depend on the shape, and uint64 numbers are pairs of uint32 ones."""
    key = T.random.key(5)
    long, wide, words, square = symc.function(
        [], [
            T.random.bits(key, 1000), T.random.bits(key, (10, 5)),
            T.random.bits(key, 2000, "uint32"), T.random.uniform(key, size=(2, 5, 100)),
        ], mode="compile",
    )()  # fmt: skip
    assert wide.ravel().tolist() == long[:50].tolist()
    assert words.view(np.uint64).tolist() == long.tolist()
    assert square.ravel().tolist() == ((long >> np.uint64(11)) * 2.0**-53).tolist()


def test_uniform_numbers_are_numpys_map_of_the_bits() -> None:
    """NumPy makes float64 of 53 and float32 of 24 upper bits, and so do we."""
    key = T.random.key(11)
    bits, words = (T.random.bits(key, 500, kind).eval() for kind in ("uint64", "uint32"))
    fine = T.random.uniform(key, size=500).eval()
    coarse = T.random.uniform(key, size=500, dtype="float32").eval()
    assert (fine == (bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)).all()
    assert (coarse == (words >> np.uint32(8)) * np.float32(1.0 / 16777216.0)).all()


def test_box_muller_of_the_uniform_numbers() -> None:
    key = T.random.key(3)
    u, z = (draw(key, size=1001).eval() for draw in (T.random.uniform, T.random.normal))
    u = np.append(u, 0.0)
    radius, angle = np.sqrt(-2 * np.log(1 - u[::2])), 2 * np.pi * u[1::2]
    np.testing.assert_allclose(z[:1000:2], (radius * np.cos(angle))[:500], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(z[1:1000:2], (radius * np.sin(angle))[:500], rtol=1e-11, atol=1e-13)


def test_any_number_of_threads_gives_the_same() -> None:
    found: list[Array] = []
    for threads in (1, 4):
        with symc.config.set(threads=threads):
            f = symc.function([], T.random.normal(T.random.key(1), size=300_001))
        found.append(f())
    np.testing.assert_array_equal(found[0], found[1])


def test_keys_are_different() -> None:
    key = T.random.key(0)
    made = symc.function([], [
        T.random.split(key, 1000), T.random.fold_in(key, 999), T.random.bits(key, 2000),
        T.random.fold_in(key, [[-1], [2]]),
    ], mode="python")  # fmt: skip
    rows, last, bits, several = made()
    assert len({tuple(row) for row in rows.tolist()}) == 1000
    assert rows[999].tolist() == last.tolist()
    assert not set(rows.ravel().tolist()) & set(bits.tolist())
    assert several.shape == (2, 1, 2)
    assert several[1, 0].tolist() == rows[2].tolist()


def test_seeds() -> None:
    words = T.random.key(2**64 + 7).eval().tolist()
    assert words == [7, 1]
    symbolic = T.scalar("seed", "int32")
    assert T.random.key(symbolic).eval({symbolic: 5}).tolist() == T.random.key(5).eval().tolist()
    assert T.random.key() is not T.random.key()
    with pytest.raises(ValueError, match="a seed must be from 0"):
        T.random.key(-1)
    with pytest.raises(TypeError, match=r"a seed must be an integer, not 1\.5"):
        T.random.key(1.5)  # type: ignore[arg-type]
