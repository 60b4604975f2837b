"""Cache keys: contents in named parts, so that a miss can be explained.

There is no version number to bump: whatever decides the result is itself a part of the key.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Self

__all__ = ["Key"]

_LONG = 128  # bytes: a value above this is stored as its hash, so that manifests stay small
_HASHED = "sha256:"


@dataclass(frozen=True, slots=True)
class Key:
    """What an entry was made from, in named parts; two keys are equal when their digests are.

    The order of the parts is kept for reading and has no meaning.

    >>> Key.of(source="int f;", flags="-O3") == Key.of(flags="-O3", source="int f;")
    True
    >>> Key.of(a="a", b="bc") == Key.of(a="ab", b="c")
    False
    """

    parts: tuple[tuple[str, str], ...] = field(compare=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute the digest.

        Raises ValueError without parts, or when two have one name.
        """
        names = [name for name, _ in self.parts]
        if not names or len(set(names)) < len(names):
            msg = f"a key needs parts of different names, not {names}"
            raise ValueError(msg)
        hasher = hashlib.sha256()
        for name, value in sorted(self.parts):
            for text in (name, value):
                data = _encode(text)
                # The length in front makes ("a", "bc") and ("ab", "c") different.
                hasher.update(b"%d:" % len(data))
                hasher.update(data)
        object.__setattr__(self, "digest", hasher.hexdigest())

    @classmethod
    def of(cls, **parts: str | bytes) -> Self:
        """Return the key of these parts; text counts as its UTF-8 bytes.

        Raises ValueError without parts and TypeError for a part that is neither text nor bytes.
        """
        return cls(tuple((name, _stored(name, value)) for name, value in parts.items()))

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
    return _HASHED + hashlib.sha256(data).hexdigest()


def _encode(text: str) -> bytes:
    # File names and command lines may hold lone surrogates.
    return text.encode("utf-8", "surrogatepass")
