r"""The manifest of an entry: its key and a checksum of every file, as lines of words.

    part  <name>  <value>                      for each part of the key
    file  <name>  <bytes>  <checksum>          for each file
    manifest  <checksum of the lines above>

Words are separated by tabs; in names and values a backslash, tab or newline is ``\\``, ``\t`` or
``\n``. (JSON would do, but its module takes 2 ms to import.) The last line protects the others, so
no byte can change unseen.
"""

from collections.abc import Mapping

from symc.cache.checksum import checksum
from symc.cache.errors import Damaged

__all__ = ["NAME", "Files", "parse", "render"]

NAME = "manifest"

Files = dict[str, tuple[str, int]]  # file name -> (checksum, size in bytes)

_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"))


def render(parts: Mapping[str, str], files: Files) -> bytes:
    """Return the bytes of a manifest."""
    lines = [f"part\t{_escape(name)}\t{_escape(value)}\n" for name, value in parts.items()]
    lines += [f"file\t{_escape(name)}\t{size}\t{sum_}\n" for name, (sum_, size) in files.items()]
    body = "".join(lines).encode("utf-8", "surrogatepass")  # file names may hold any bytes
    return body + _last_line(body)


def parse(data: bytes) -> tuple[dict[str, str], Files]:
    """Return the key's parts and the files; raises `Damaged`."""
    end = data.rfind(b"\n", 0, -1) + 1
    body = data[:end]
    if data[end:] != _last_line(body):
        msg = f"the checksum of the {NAME} is wrong"
        raise Damaged(msg)
    # The rest was written by some version of symc, though perhaps not by this one.
    parts: dict[str, str] = {}
    files: Files = {}
    try:
        for line in body.decode("utf-8", "surrogatepass").split("\n")[:-1]:
            match line.split("\t"):
                case ["part", name, value]:
                    parts[_unescape(name)] = _unescape(value)
                case ["file", name, size, digest]:
                    files[_unescape(name)] = digest, int(size)
                case _:
                    raise ValueError(line)
        if not parts:
            raise ValueError(body)
    except ValueError as error:
        msg = f"the {NAME} has a form that this version of symc does not know"
        raise Damaged(msg) from error
    return parts, files


def _last_line(body: bytes) -> bytes:
    return f"manifest\t{checksum(body)}\n".encode()


def _escape(text: str) -> str:
    for character, escaped in _ESCAPES:
        text = text.replace(character, escaped)
    return text


def _unescape(text: str) -> str:
    # Between two escaped backslashes there are only the other two.
    pieces = text.split("\\\\") if "\\" in text else [text]
    return "\\".join(piece.replace("\\t", "\t").replace("\\n", "\n") for piece in pieces)
