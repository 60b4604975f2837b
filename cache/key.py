"""Cache keys: contents in named parts, so that a miss can be explained.

There is no version number to bump: whatever decides the result is itself a part of the key.
"""

from typing import Self

from symc.cache.checksum import checksum, hasher

__all__ = ["Key"]

_LONG = 128  # bytes: a value above this is stored as its hash, so that manifests stay small
_HASHED = "blake2b:"


class Key:
    """The ingredients of an entry, in named parts; two keys are equal when their digests are.

    The order of the parts is kept for reading and has no meaning. (No dataclass: to define one
    takes longer than to find an entry.)

    >>> Key.of(source="int f;", flags="-O3") == Key.of(flags="-O3", source="int f;")
    True
    >>> Key.of(a="a", b="bc") == Key.of(a="ab", b="c")
    False
    """

    __slots__ = ("digest", "parts")

    def __init__(self, parts: tuple[tuple[str, str], ...]) -> None:
        """Compute the digest.

        Raises ValueError without parts, or when two have one name.
        """
        names = [name for name, _ in parts]
        if not names or len(set(names)) < len(names):
            msg = f"a key needs parts of different names, not {names}"
            raise ValueError(msg)
        state = hasher()
        for name, value in sorted(parts):
            for text in (name, value):
                data = _encode(text)
                # The length in front makes ("a", "bc") and ("ab", "c") different.
                state.update(b"%d:" % len(data))
                state.update(data)
        self.parts = parts
        self.digest = state.hexdigest()

    @classmethod
    def of(cls, **parts: str | bytes) -> Self:
        """Return the key of these parts; text counts as its UTF-8 bytes.

        Raises ValueError without parts and TypeError for a part that is neither text nor bytes.
        """
        return cls(tuple((name, _stored(name, value)) for name, value in parts.items()))

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Key) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Key({self.parts!r})"

    def __str__(self) -> str:
        """Return the first twelve digits of the digest, enough to name an entry to a person."""
        return self.digest[:12]


def _stored(name: str, value: str | bytes) -> str:
    """Return short text as it is and anything else as its hash; no two values give one text."""
    if not isinstance(value, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance] # callers may be untyped
        msg = f"key part {name!r} must be text or bytes, not {type(value).__name__}"
        raise TypeError(msg)
    data = value if isinstance(value, bytes) else _encode(value)
    if len(data) <= _LONG and not data.startswith(_HASHED.encode()):
        try:
            return data.decode()
        except UnicodeDecodeError:
            pass
    return _HASHED + checksum(data)


def _encode(text: str) -> bytes:
    # File names and command lines may hold lone surrogates.
    return text.encode("utf-8", "surrogatepass")
