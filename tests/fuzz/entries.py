"""The lines of random programs: a table of texts that symc and NumPy both understand.

``m.`` is `T` in symc and `np` in NumPy. The needs of a text stand beside it, a word
for each: a dtype (f float, c complex, n any number but bool, i integer, b bool, x anything), then
how many axes (``2``; ``1+`` at least one), then ``=`` where it has the shape of the first argument,
``~`` where it broadcasts with it, ``q`` for a square matrix. Names in braces are drawn anew: {a} an
axis, {a2} another, {ax} an axis or None, {axes} some axes, {i} {j} indexes along the first, {k} a
list of them, {kl} the same of the last axis, {n} a small number, {p} an order of axes, {keep}
keepdims, {cut} an index of slices, {shape} another shape of as many elements, {idx} any index.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.lines import Kind


@dataclass(frozen=True)
class Entry:
    """One text: its needs, its effect on digits, and NumPy's text if that differs."""

    text: str
    needs: str
    kind: Kind = "rounds"
    numpy: str | None = ""
    """Empty: the same text; None: there is nothing like it."""


def each(texts: str, needs: str, kind: Kind = "rounds", numpy: str | None = "") -> list[Entry]:
    """An entry for each text of a paragraph, which blanks separate."""
    return [Entry(text, needs, kind, numpy) for text in texts.split()]


def calls(names: str, needs: str, rest: str = "", kind: Kind = "rounds") -> list[Entry]:
    """Functions called with the arguments that they need, and `rest`."""
    args = ", ".join(f"{{{number}}}" for number in range(len(needs.split())))
    return [Entry(f"m.{name}({args}{rest})", needs, kind) for name in names.split()]


def theirs(names: str, needs: str, rest: str = "", kind: Kind = "rounds") -> list[Entry]:
    """The same for functions that `reference` has."""
    args = ", ".join(f"{{{number}}}" for number in range(len(needs.split())))
    return [
        Entry(f"T.{name}({args}{rest})", needs, kind, f"R.{name}({args}{rest})")
        for name in names.split()
    ]


def own(names: str, needs: str) -> list[Entry]:
    """Functions that only symc has: compiled code must agree with its own meaning in NumPy."""
    args = ", ".join(f"{{{number}}}" for number in range(len(needs.split())))
    return [Entry(f"T.{name}({args})", needs, "sums", None) for name in names.split()]
