"""Colours for C: comments, words of the language, types, numbers, and names with links."""

from __future__ import annotations

import re
from collections.abc import Mapping

from symc.show.report.markup import Html, join, link, tag

_TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)"
    r"|(?P<directive>^[ \t]*\#[^\n]*)"
    r'|(?P<string>"(?:\\.|[^"\\])*")'
    r"|(?P<number>\b(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?[uUlLfF]*)\b)"
    r"|(?P<name>[A-Za-z_]\w*)",
    re.DOTALL | re.MULTILINE,
)
KEYWORDS = frozenset({
    "break", "case", "const", "continue", "default", "do", "else", "enum", "extern", "for", "goto",
    "if", "inline", "restrict", "return", "sizeof", "static", "struct", "switch", "typedef",
    "union", "volatile", "while", "__attribute__", "__global__", "__device__", "__shared__",
})  # fmt: skip
TYPES = frozenset({
    "bool", "char", "double", "float", "int", "int16_t", "int32_t", "int64_t", "int8_t", "long",
    "short", "size_t", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "unsigned", "void",
})  # fmt: skip


def highlighted(source: str, links: Mapping[str, str]) -> Html:
    """C as HTML. `links` has the element that stands for a name.

    >>> highlighted("int i = 1;", {}).text
    '<i class="t">int</i> i = <i class="n">1</i>;'
    """
    return join(highlighted_lines(source, links), "\n")


def highlighted_lines(source: str, links: Mapping[str, str]) -> list[Html]:
    """C as HTML, line by line: what goes over several is marked in each."""
    lines: list[list[Html | str]] = [[]]

    def add(text: str, kind: str = "") -> None:
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                marked = kind and part.strip()
                lines[-1].append(tag("i", part, class_=kind) if marked else part)

    end = 0
    for token in _TOKEN.finditer(source):
        add(source[end : token.start()])
        end = token.end()
        kind, text = token.lastgroup or "", token.group()
        if kind == "name":
            kind = "keyword" if text in KEYWORDS else "type" if text in TYPES else ""
        if text in links:
            lines[-1].append(link(links[text], text))
        else:
            add(text, kind[:1])
    add(source[end:])
    return [join(tuple(line)) for line in lines]
