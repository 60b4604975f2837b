"""The program before and after each pass: what the pass changed, line beside line."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from symc.codegen.passes.order import LatePass
from symc.codegen.record import record
from symc.codegen.targets.base import Pass
from symc.codegen.targets.named import target_named, target_of_device
from symc.codegen.text import text
from symc.show.report.contents import Contents
from symc.show.report.markup import Child, Html, section, tag

AROUND = 2  # lines shown on either side of a change

Row = tuple[str, str | None, str | None]
"""A kind ("=": unchanged, "~": changed, "...": lines left out), the old line and the new one."""


@record
class PassChange:
    """What a pass changed in a program."""

    title: str
    summary: str
    rows: tuple[Row, ...]

    @property
    def removed(self) -> int:
        """How many lines are there no more."""
        return sum(kind == "~" and old is not None for kind, old, _ in self.rows)

    @property
    def added(self) -> int:
        """How many lines are new."""
        return sum(kind == "~" and new is not None for kind, _, new in self.rows)


def changes(contents: Contents) -> list[PassChange]:
    """What each pass changes, in order, those that change nothing among them."""
    program = contents.compilation.program
    before = text(program).split("\n")
    found: list[PassChange] = []
    for improve in target_named(target_of_device(contents.function.device) or "c").passes():
        program = improve(program)
        after = text(program).split("\n")
        function = improve.function if isinstance(improve, LatePass) else improve
        found.append(
            PassChange(_title(function), _summary(function), tuple(side_by_side(before, after)))
        )
        before = after
    return found


def side_by_side(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    """The lines that differ, old beside new, and a few around them.

    >>> list(side_by_side(["a", "b"], ["a", "c", "d"]))
    [('=', 'a', 'a'), ('~', 'b', 'c'), ('~', None, 'd')]
    """
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield "...", None, None
        for kind, low, high, left, right in group:
            mark = "=" if kind == "equal" else "~"
            for old, new in zip_longest(before[low:high], after[left:right]):
                yield mark, old, new


def passes_section(found: Sequence[PassChange]) -> Html:
    """A part that opens for each pass that changed something; the page's script fills it."""
    opened = [_part(number, change) for number, change in enumerate(found) if change.rows]
    idle = ", ".join(dict.fromkeys(change.title for change in found if not change.rows))
    words: list[Child] = [
        "The loops before they become C, before and after each pass that changed them."
    ]
    if idle:
        words.append(f" Nothing to do for: {idle}.")
    return section("passes", "Passes", tag("p", *words), *opened)


def _part(number: int, change: PassChange) -> Html:
    head = tag(
        "summary",
        tag("b", change.title),
        f" {change.summary} ",
        tag("span", f"-{change.removed}", class_="before"),
        " ",
        tag("span", f"+{change.added}", class_="after"),
    )
    return tag("details", head, tag("div", class_="sides wide"), class_="pass", id=f"pass-{number}")


def _title(improve: Pass) -> str:
    return str(getattr(improve, "__name__", type(improve).__name__))


def _summary(improve: Pass) -> str:
    """The first sentence of its docstring."""
    return (inspect.getdoc(improve) or "").partition("\n")[0].replace("`", "")
