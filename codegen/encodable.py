"""Text that can be written to a file, whatever names the user gave.

Names of files that are not UTF-8 come to Python with lone surrogates, which have no bytes in UTF-8;
and a name, or the line that a node was written on, may have them from there.
"""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text with the replacement character in the place of lone surrogates.

    >>> encodable("caf\\udce9") == "caf\\ufffd"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
