"""Which lines of the C are for which nodes: what links a page's four texts to each other.

The C says it itself. Above each loop and routine stands a comment with the expression and the
user's line, as `described` writes them; kernels and their calls have names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from symc.codegen.record import record
from symc.graph.node import Tensor
from symc.show.report.contents import Contents, Task
from symc.tensor.notation import described

_COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
_WHERE = re.compile(r"\S+:\d+$")
_NAME = re.compile(r"\w+(?=\()")


@record
class CodeSpan:
    """Lines of the C, the first and the last being 1 or more, and what they are for."""

    first: int
    last: int
    nodes: tuple[Tensor, ...]
    lines: tuple[int, ...]
    """Numbers among the user's lines, beyond those of the nodes."""


def spans(contents: Contents) -> list[CodeSpan]:
    """The parts of the C that are for nodes, in order and apart from each other."""
    return sorted(_Reader(contents).read(), key=lambda span: span.first)


class _Reader:
    """Reads the comments in a source."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.text = contents.compilation.source.text
        self.by_kernel: dict[str, list[Task]] = {}
        for task in contents.tasks:
            if task.kernel is not None:
                self.by_kernel.setdefault(task.kernel.name, []).append(task)
        self.by_note: dict[str, list[Tensor]] = {}
        for node in contents.places:
            self.by_note.setdefault(_plain(described(node)), []).append(node)
        self.by_where = {str(where): number for where, number in contents.line_numbers.items()}

    def read(self) -> Iterator[CodeSpan]:
        """The spans of all kernels, then those of the functions that call them."""
        taken: set[int] = set()
        for name, text in self.contents.compilation.source.kernels.items():
            begin = self.text.find(text)
            if begin >= 0:
                first = self._line_at(begin)
                own = [node for task in self.by_kernel.get(name, ()) for node in task.nodes]
                yield from self._in_kernel(text, first, tuple(dict.fromkeys(own)))
                taken.update(range(first, first + text.count("\n") + 1))
        yield from self._in_host(taken)

    def _in_kernel(self, text: str, first: int, own: tuple[Tensor, ...]) -> Iterator[CodeSpan]:
        """A span for the head, and one from each comment to the next."""
        last = first + text.rstrip("\n").count("\n")
        starts: list[tuple[int, tuple[Tensor, ...], tuple[int, ...]]] = [(first, own, ())]
        for found in _COMMENT.finditer(text):
            nodes, lines = self._meant(found[1], own)
            line = first + text.count("\n", 0, found.start())
            if (nodes or lines) and line > first:
                starts.append((line, nodes, lines))
        ends = [line - 1 for line, _, _ in starts[1:]] + [last]
        for (line, nodes, lines), end in zip(starts, ends, strict=True):
            if nodes or lines:
                yield CodeSpan(line, end, nodes, lines)

    def _in_host(self, taken: set[int]) -> Iterator[CodeSpan]:
        """Calls of kernels, and statements below a comment or before one."""
        rows = self.text.split("\n")
        number = 0
        while number < len(rows):
            row = rows[number]
            number += 1
            if number in taken:
                continue
            if comment := _COMMENT.search(row):
                nodes, lines = self._meant(comment[1], ())
                nodes = self._with_others(nodes)
            else:
                called = _NAME.findall(row)
                tasks = [task for name in called for task in self.by_kernel.get(name, ())]
                nodes, lines = tuple(dict.fromkeys(n for t in tasks for n in t.nodes)), ()
            if nodes or lines:
                first = number
                while number < len(rows) and not rows[number - 1].rstrip(" */").endswith(";"):
                    if comment and comment.start() > 0 and row[: comment.start()].strip():
                        break  # it says something of its own line
                    number += 1
                yield CodeSpan(first, number, nodes, lines)

    def _with_others(self, nodes: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """With the nodes that the same steps compute."""
        found = dict.fromkeys(nodes)
        for node in nodes:
            for task in self.contents.tasks_of.get(node, ()):
                if task.kernel is None:
                    found.update(dict.fromkeys(task.nodes))
        return tuple(found)

    def _meant(
        self, comment: str, own: tuple[Tensor, ...]
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """The nodes and lines that a comment names; `own` are those of the kernel around it."""
        nodes: dict[Tensor, None] = {}
        lines: dict[int, None] = {}
        for row in comment.split("\n"):
            note = _plain(row.strip().removeprefix("*"))
            named = self.by_note.get(note, [])
            nodes.update(dict.fromkeys([node for node in named if node in own] or named))
            where = _WHERE.search(note)
            if where is not None and where[0] in self.by_where:
                lines[self.by_where[where[0]]] = None
        return tuple(_and_passed(nodes, own)), tuple(lines)

    def _line_at(self, place: int) -> int:
        return 1 + self.text.count("\n", 0, place)


def _and_passed(nodes: Iterable[Tensor], own: tuple[Tensor, ...]) -> Iterator[Tensor]:
    """With the nodes of the same kernel that are computed on the way to these alone."""
    inside = set(own)
    pending, seen = list(nodes), set[Tensor]()
    roots = set(pending)
    while pending:
        node = pending.pop(0)
        if node not in seen:
            seen.add(node)
            yield node
            pending += [arg for arg in node.args if arg in inside and arg not in roots]


def _plain(note: str) -> str:
    """A note as it stands in a comment, with single spaces."""
    return " ".join(note.replace("*/", "* /").replace("/*", "/ *").split())
