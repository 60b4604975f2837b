"""HTML as text, escaped where it must be."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class Html(NamedTuple):
    """A piece of HTML: everything else is text, and escaped."""

    text: str


Child = Html | str | int | float


def tag(name: str, *children: Child, **attributes: str | float | None) -> Html:
    """An element. A trailing underscore of an attribute's name is dropped, others become ``-``.

    >>> tag("a", "1 < 2", href="#top", class_="sum").text
    '<a href="#top" class="sum">1 &lt; 2</a>'
    """
    shown = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    return Html(f"<{name}{''.join(shown)}>{join(children).text}</{name}>")


def join(children: tuple[Child, ...] | list[Html], between: str = "") -> Html:
    """Pieces of HTML and text, one after the other."""
    return Html(between.join(_text(child) for child in children))


def some(children: Sequence[Html], most: int = 40) -> Html:
    """Pieces of HTML with commas between them; if there are too many, the first and a number."""
    shown: list[Html] = list(children[:most])
    if len(children) > most:
        shown.append(Html(f"and {len(children) - most:,} more"))
    return join(shown, ", ")


def link(target: str, *children: Child, **attributes: str) -> Html:
    """A link to an element of the page, by its ``id``."""
    return tag("a", *children, href=f"#{target}", **attributes)


def section(identity: str, title: str, *children: Child) -> Html:
    """A part of the page."""
    return tag("section", tag("h2", title), *children, id=identity)


def facts(rows: list[tuple[str, Child]]) -> Html:
    """Names with their meanings."""
    return tag("dl", *(join((tag("dt", name), tag("dd", value))) for name, value in rows))


def _text(child: Child) -> str:
    return child.text if isinstance(child, Html) else escape(str(child), quote=False)


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
