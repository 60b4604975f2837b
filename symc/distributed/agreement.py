"""The first call of a function on several processes: do all of them run the same program?

Processes that run different programs exchange the wrong arrays, or wait for ever. So the first call
compares the texts of the graphs, and how they run; each later one goes straight to the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from symc.calls.modes import Runner, runner_for
from symc.codegen.targets.mpi import COMMUNICATORS
from symc.distributed.uniform import check, exchanges
from symc.errors import ProgramsDiffer
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.graph.provenance import NOWHERE
from symc.graph.request import Request
from symc.graph.walks import walk_within
from symc.pipeline.identity import graph_lines
from symc.tensor.notation import expression

if TYPE_CHECKING:
    from symc.calls.callable import Function


class Agreement:
    """A function whose programs have not been compared yet."""

    locks = True

    def __init__(
        self, request: Request, mode: str, runner: Runner, owner: Callable[[], Function | None]
    ) -> None:
        self._request, self._mode, self._runner, self._owner = request, mode, runner, owner

    def call(self, *args: Any) -> Any:
        """The first call, once the other processes have come to theirs."""
        self._compare()
        if (function := self._owner()) is not None:
            function.adopt(self._runner)
        return self._runner.call(*args)

    @property
    def is_compiled(self) -> bool:
        """Whether there is a compiled program."""
        return self._runner.is_compiled

    def has_ended(self, timeout: float | None = None) -> bool:
        """Nothing is waited for but the others, in the first call."""
        del timeout
        return True

    def result(self) -> Runner:
        """The function as it will run."""
        return self._runner

    def _compare(self) -> None:
        mode = f"mode {self._mode}, {'compiled' if self._runner.is_compiled else 'interpreted'}"
        lines = [(mode, None), *graph_lines(self._request)]
        for number in sorted(_groups(self._request)):
            communicator = COMMUNICATORS[number]
            every: list[list[str]] = communicator.allgather([text for text, _ in lines])
            rank = next((k for k, other in enumerate(every) if other != every[0]), None)
            if rank is not None:
                place = _first_difference(every[0], every[rank])
                shown: list[tuple[str, str]] = communicator.allgather(_shown(lines, place))
                raise ProgramsDiffer(_difference(self._request.name, shown[0], shown[rank], rank))


def _groups(request: Request) -> set[int]:
    return {node.op.group for node in walk_within(request.roots()) if node.op.is_collective}  # type: ignore[attr-defined]


def _first_difference(first: Sequence[str], other: Sequence[str]) -> int:
    """The number of the first line that two texts do not have in common."""
    pairs = zip_longest(first, other)
    return next(number for number, (left, right) in enumerate(pairs) if left != right)


def _shown(lines: Sequence[tuple[str, Tensor | None]], place: int) -> tuple[str, str]:
    """What a line's node computes, its type and the user's line; and the line itself.

    Lines of no node are the mode, the name, and which nodes are results. For a number what is
    computed with it stands, as equal numbers are one node, of the first line that had one.
    """
    if place >= len(lines):
        return "(nothing)", "(nothing)"
    text, node = lines[place]
    if node is None:
        return text, text
    if isinstance(node.op, Constant):
        node = _user_of(node, lines)
    where = "" if node.where is NOWHERE else f"  {node.where}"
    return f"{expression(node)}  {node.type}{where}", f"{text}{where}"


def _user_of(number: Tensor, lines: Sequence[tuple[str, Tensor | None]]) -> Tensor:
    """The first node that has a number among its arguments; the number where it is a result."""
    users = (user for _, user in lines if user is not None)
    return next((user for user in users if any(arg is number for arg in user.args)), number)


def _difference(name: str, first: tuple[str, str], other: tuple[str, str], rank: int) -> str:
    """The message for two lines, of process 0 and of process `rank`, as `_shown` gives them."""
    pairs = zip(first, other, strict=True)
    mine, others = next((pair for pair in pairs if pair[0] != pair[1]), (first[1], other[1]))
    return (
        f"the processes have different functions {name!r}; of processes 0 and {rank} the first "
        f"difference is\n  process 0: {mine[:300]}\n  process {rank}: {others[:300]}\n"
        "  what differs between processes must be an argument or the value of a shared variable"
    )


def together(
    request: Request,
    mode: str,
    form: str,
    downcast: Sequence[bool | None],
    owner: Callable[[], Function | None],
) -> Agreement | None:
    """What answers calls of a function with collective operations; None for any other.

    It is never compiled in the background: processes that interpret a graph exchange arrays in
    another order than those that run a program of it.
    """
    roots = request.roots()
    if not exchanges(roots):
        return None
    check(roots)
    return Agreement(request, mode, runner_for(request, mode, form, downcast), owner)
