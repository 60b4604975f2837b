"""The one hash of the cache: 256 bits of BLAKE2b, as 64 digits."""

try:
    # The constructors that hashlib itself hands out; importing that would load OpenSSL as well,
    # which takes 4 ms.
    from _blake2 import blake2b
except ImportError:  # a Python that is built differently
    from hashlib import blake2b

__all__ = ["checksum", "hasher"]


def hasher() -> blake2b:
    """Return an object whose `update` takes bytes and whose `hexdigest` returns their hash."""
    return blake2b(digest_size=32)


def checksum(data: bytes) -> str:
    """Return the hash of bytes."""
    return blake2b(data, digest_size=32).hexdigest()
