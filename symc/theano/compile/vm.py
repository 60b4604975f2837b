"""Functions of values that symc has no arrays for, such as sparse matrices: op by op, in Python."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.theano.compile.sharedvalue import SharedVariable
from symc.theano.compile.told_lengths import with_told_lengths
from symc.theano.compile.watching import Thunk, Watch
from symc.theano.gof.fg import MissingInputError
from symc.theano.gof.graph import Apply, Constant, io_toposort
from symc.theano.gof.op import run_perform
from symc.theano.gof.type import Type

if TYPE_CHECKING:
    from symc.theano.compile.definition import Definition


def needs_python(made: Definition) -> bool:
    """Whether a definition has variables whose values are no arrays, in steps of loops too."""
    return has_other_values([each.variable for each in made.ins], made.roots)


def has_other_values(inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether values of a graph, or of the steps of its loops, are no arrays."""
    from symc.theano.scan_module.scan_op import Scan

    nodes = io_toposort(inputs, outputs)
    used = [*inputs, *outputs]
    used += (each for node in nodes for each in [*node.inputs, *node.outputs])
    # The classes of types: a program's own type may have equality and no hash.
    if any(each.symbol is Type.symbol for each in {type(each.type) for each in used}):
        return True
    steps = {node.op for node in nodes if isinstance(node.op, Scan)}
    return any(has_other_values(op.inputs, op.outputs) for op in steps)


class PythonProgram:
    """A definition, called as symc's compiled functions are: outputs and then states.

    Only what is needed is computed, and of an `ifelse` only one branch.
    """

    def __init__(self, made: Definition, watch: Watch | None = None) -> None:
        self.made, self.watch = made, watch or Watch()
        self.numbers: dict[Apply, int] = {}
        self.variables = [each.variable for each in made.ins]
        self.roots = list(made.roots)
        if watch is None:  # who watches wants to see all that the program wrote
            self.roots = with_told_lengths(self.variables, self.roots)

    def __call__(self, *values: Any) -> list[Any]:
        made = self.made
        known = {
            variable: variable.type.decoded(value)
            for variable, value in zip(self.variables, values, strict=True)
        }
        results = [self._value(each, known) for each in self.roots]
        first, second = len(made.outputs), len(made.outputs) + len(made.updates)
        for (target, _), new in zip(made.updates, results[first:second], strict=True):
            target.container.data = new
        found = zip(
            [*self.roots[:first], *self.roots[second:]], [*results[:first], *results[second:]],
            strict=True,
        )  # fmt: skip
        return [_copied(each.type.encoded(value)) for each, value in found]

    def _value(self, root: Any, known: dict[Any, Any]) -> Any:
        pending = [root]
        while pending:
            variable = pending[-1]
            if variable in known:
                pending.pop()
            elif variable.owner is None:
                known[variable] = _leaf(variable)
            else:
                wanted = _wanted(variable.owner, known)
                missing = [each for each in wanted if each not in known]
                if missing:
                    pending.extend(reversed(missing))
                else:
                    self._run(variable.owner, known)
        return known[root]

    def _run(self, node: Apply, known: dict[Any, Any]) -> None:
        branch = _branch(node, known) if _is_choice(node) else None
        if branch is not None:
            known.update(zip(node.outputs, (known[each] for each in branch), strict=True))
            return
        number = self.numbers.setdefault(node, len(self.numbers))
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        thunk = Thunk([[known[each]] for each in node.inputs], storage)
        self.watch.before(number, node, thunk)
        given = [cell[0] for cell in thunk.inputs]
        for places in (getattr(node.op, "destroy_map", None) or {}).values():
            for place in places:  # others may need what the op overwrites
                given[place] = copy.copy(given[place])
        run_perform(node.op, node, given, storage)
        self.watch.after(number, node, thunk)
        for output, cell in zip(node.outputs, storage, strict=True):
            known[output] = cell[0]


def _leaf(variable: Any) -> Any:
    if isinstance(variable, Constant):
        return variable.data
    if isinstance(variable, SharedVariable):
        return variable.container.data
    raise MissingInputError(f"{variable} was not provided and not given a value", variable=variable)


def _branch(node: Apply, known: dict[Any, Any]) -> list[Any] | None:
    """The variables of the branch that an `ifelse` takes, None if that is not known yet."""
    condition, *values = node.inputs
    if condition not in known:
        return None
    count = node.op.n_outs  # type: ignore[attr-defined]
    return values[:count] if np.asarray(known[condition]) else values[count:]


def _is_choice(node: Apply) -> bool:
    return type(node.op).__name__ == "IfElse"


def _wanted(node: Apply, known: dict[Any, Any]) -> Sequence[Any]:
    if not _is_choice(node):
        return list(node.inputs)
    branch = _branch(node, known)
    return [node.inputs[0]] if branch is None else branch


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
