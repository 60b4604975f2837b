"""Figures as people read them, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_BYTES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def duration(seconds: float) -> str:
    """A time with three digits.

    >>> duration(0.00123), duration(2.5), duration(0.0)
    ('1.23 ms', '2.5 s', '0 s')
    """
    for unit, name in _SECONDS:
        if abs(seconds) >= unit:
            return f"{seconds / unit:.3g} {name}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.3g} ns" if seconds else "0 s"


def size(count: float) -> str:
    """A number of bytes with three digits.

    >>> size(8000), size(100), size(3 << 20)
    ('7.81 KiB', '100 B', '3 MiB')
    """
    for unit, name in _BYTES:
        if abs(count) >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count:.0f} B"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as columns; the first is of words, the others of figures.

    >>> print(table([["", "time"], ["first", "1 s"], ["other", "20 ms"]]))
            time
    first    1 s
    other  20 ms
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
