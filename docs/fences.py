"""For the site: examples in docstrings become blocks of code, which Markdown cannot see they are."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*\n?(?:^(?!\s*$).*\n?)*", re.MULTILINE)
DIRECTIVE = re.compile(r"[ \t]*# doctest:.*")


class Fences(griffe.Extension):
    """Puts a fence around each example."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the docstring of what griffe has found."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(example: re.Match[str]) -> str:
    return f"```pycon\n{DIRECTIVE.sub('', example[0]).rstrip()}\n```\n"
