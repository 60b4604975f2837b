"""Run-time conditions: collected from a graph, compiled as ordinary nodes, explained on failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.codegen.record import record
from symc.errors import SymcError
from symc.graph.computation import between
from symc.graph.dims import Dim, Poly, Size, sizes, substitute
from symc.graph.inputs import constant_value
from symc.graph.interpreter import evaluate
from symc.graph.node import METHODS, Array, Requirement, Tensor
from symc.graph.provenance import NOWHERE, Where, located_at
from symc.graph.walks import walk, walk_within

if TYPE_CHECKING:  # not at run time: calls that are interpreted need no loop IR
    from symc.codegen.ir import BinaryOp


PATIENCE = 5.0  # seconds, for which a step of a loop that failed is looked for


@record
class Test:
    """Run-time condition number `number`: a scalar bool `node`, or a comparison of two lengths.

    Where it does not hold, the error is of type `error`; its text is made elsewhere.
    """

    number: int
    error: type[Exception]
    node: Tensor | None
    lengths: tuple[BinaryOp, Dim, Dim] | None = None


def requirements(order: Sequence[Tensor]) -> list[tuple[Tensor, Requirement]]:
    """The run-time conditions of these nodes, each once, with its first node."""
    found: list[tuple[Tensor, Requirement]] = []
    seen: set[Any] = set()
    for node in order:
        with located_at(node.where):
            for requirement in node.op.require(node):
                if node.where is not NOWHERE:
                    requirement = _with_line(requirement, node.where)
                holds = requirement.holds
                key = frozenset(holds) if isinstance(holds, tuple) else holds
                if key not in seen:
                    seen.add(key)
                    found.append((node, requirement))
    return found


def _with_line(requirement: Requirement, where: Where) -> Requirement:
    """A condition whose message says where the node was written.

    The lines of its arguments are others, or none: slots in the body of a loop have no lines.
    """

    def message(value: Callable[[Any], Any]) -> str:
        text = requirement.message(value)
        return text if f"{where}\n" in f"{text}\n" else f"{text}\n  at     {where}"

    return Requirement(requirement.holds, requirement.error, message)


def as_tests(found: Sequence[tuple[Tensor, Requirement]]) -> list[Test]:
    """The conditions as scalar bool nodes or pairs of lengths; those known to hold are left out."""
    tests: list[Test] = []
    for number, (node, requirement) in enumerate(found):
        if isinstance(requirement.holds, Tensor):
            with located_at(node.where):
                scalar = METHODS["all"](requirement.holds)
            value = constant_value(scalar)
            if value is None or not bool(value):
                tests.append(Test(number, requirement.error, scalar))
        elif requirement.holds[0] != requirement.holds[1]:
            tests.append(Test(number, requirement.error, None, ("eq", *requirement.holds)))
    return tests


def lengths_in(found: Sequence[tuple[Tensor, Requirement]]) -> list[Dim]:
    """The lengths that conditions compare."""
    pairs = [r.holds for _, r in found if isinstance(r.holds, tuple)]
    return [dim for pair in pairs for dim in pair if not isinstance(dim, int)]


def waits(
    found: Sequence[tuple[Tensor, Requirement]], tests: Sequence[Test]
) -> list[frozenset[int]]:
    """For each test, the positions of the tests that guard its arguments."""
    position = {test.number: index for index, test in enumerate(tests)}
    origin: dict[Tensor, list[int]] = {}
    for number, (node, _) in enumerate(found):
        if number in position:
            origin.setdefault(node, []).append(position[number])
    result: list[frozenset[int]] = []
    for index, test in enumerate(tests):
        needed = walk(_computed(found[test.number][1]))
        before = {p for node in needed for p in origin.get(node, ()) if p != index}
        result.append(frozenset(before))
    return result


def _computed(requirement: Requirement) -> list[Tensor]:
    """The operands of a condition: a tensor, or lengths that are its values."""
    if isinstance(requirement.holds, Tensor):
        return [requirement.holds]
    lengths = [dim for dim in requirement.holds if not isinstance(dim, int)]
    return [size.source for dim in lengths for size in sizes(dim) if size.axis is None]


class Values:
    """Values of lengths and tensors for one call, computed again by the interpreter."""

    def __init__(self, inputs: Mapping[Tensor, Array]) -> None:
        self._inputs = inputs

    def __call__(self, what: Dim | Tensor) -> Any:
        """The value of a length (an int) or of a tensor (an array)."""
        if isinstance(what, Tensor):
            return evaluate([what], self._inputs)[0]
        return substitute(what, self._size) if isinstance(what, Poly) else what

    def _size(self, size: Size) -> int:
        value = evaluate([size.source], self._inputs)[0]
        return int(value) if size.axis is None else int(value.shape[size.axis])

    def holds(self, requirement: Requirement) -> bool:
        """Whether a condition holds for these inputs."""
        if isinstance(requirement.holds, Tensor):
            return bool(np.all(self(requirement.holds)))
        left, right = requirement.holds
        return bool(self(left) == self(right))


def explain(requirement: Requirement, inputs: Mapping[Tensor, Array]) -> Exception:
    """The error for a condition that failed, with the values that made it fail."""
    return requirement.error(requirement.message(Values(inputs)))


def explain_step(roots: Sequence[Tensor], inputs: Mapping[Tensor, Array]) -> Exception:
    """The error for a condition that failed in a step of a loop: found by computing all again.

    That takes a thousand times as long as compiled steps. After some seconds the error is one
    without values, of the class that all conditions in the loops have, if they have one.
    """
    begin = time.monotonic()

    def look() -> None:
        if time.monotonic() - begin > PATIENCE:
            raise _TooLong

    token = between.set(look)
    try:
        evaluate(roots, inputs)
    except _TooLong:
        return _without_values(roots)
    except Exception as error:
        return error
    finally:
        between.reset(token)
    return SymcError("a condition failed in a step of a loop, and holds when it is computed again")


class _TooLong(BaseException):
    """The steps before the one that failed take too long in the interpreter."""


def _without_values(roots: Sequence[Tensor]) -> Exception:
    """The error for a condition of some step of a loop, with the lines that may have failed."""
    loops = [node for node in walk_within(roots) if node.op.graphs()]
    bodies = [results for node in loops for _, results in node.op.graphs()]
    found = requirements([node for results in dict.fromkeys(bodies) for node in walk(results)])
    classes = {requirement.error for _, requirement in found}
    lines = dict.fromkeys(str(node.where) for node in (*(node for node, _ in found), *loops))
    shown = "".join(f"\n  at     {line}" for line in lines if line != str(NOWHERE))
    error = classes.pop() if len(classes) == 1 else SymcError
    return error(
        "a condition failed in a late step of a loop: to find the values takes too long"
        f'\n  mode="python" computes until it is there{shown}'
    )


def check_all(found: Sequence[tuple[Tensor, Requirement]], inputs: Mapping[Tensor, Array]) -> None:
    """Raises the error of the first condition that does not hold: for the interpreter."""
    values = Values(inputs)
    for _, requirement in found:
        if not values.holds(requirement):
            raise explain(requirement, inputs)
