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
    '<span class="type">int</span> i = <span class="number">1</span>;'
    """
    pieces: list[Html | str] = []
    end = 0
    for token in _TOKEN.finditer(source):
        pieces.append(source[end : token.start()])
        end = token.end()
        kind, text = token.lastgroup or "", token.group()
        if kind == "name":
            kind = "keyword" if text in KEYWORDS else "type" if text in TYPES else ""
        if text in links:
            pieces.append(link(links[text], text))
        else:
            pieces.append(tag("span", text, class_=kind) if kind else text)
    pieces.append(source[end:])
    return join(tuple(pieces))
