"""What programs ask a loop's op: the graph of a step, and which input of the loop is what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symc.theano.scan_module.scan_op import Step


class ScanParts:
    """Theano's names for the parts of a loop.

    Inner inputs are those of a step: rows of sequences, earlier outputs, variables from outside.
    Outer inputs are those of the application: the number of steps if it is given, sequences,
    initial values, shared variables, and the same variables from outside.
    """

    step: Step
    counted: bool
    n_mit_mot = n_mit_mot_outs = 0

    @property
    def inputs(self) -> list[Any]:
        """The inputs of a step."""
        return [*self.inner_seqs(), *self.inner_states(), *self.inner_non_seqs()]

    @property
    def outputs(self) -> list[Any]:
        """The outputs of a step: results, new values of shared variables, the condition."""
        ends = [] if self.step.condition is None else [self.step.condition]
        return [*self.step.outputs, *ends]

    @property
    def as_while(self) -> bool:
        """Whether a condition ends the loop."""
        return self.step.condition is not None

    @property
    def n_seqs(self) -> int:
        """The number of sequences; one that is read at several taps is one."""
        return len(self.step.rows)

    @property
    def n_shared_outs(self) -> int:
        """The number of shared variables that the loop updates."""
        return self.step.carried

    @property
    def n_nit_sot(self) -> int:
        """The number of outputs that no step reads."""
        return sum(each is None for each in self._own())

    @property
    def n_sit_sot(self) -> int:
        """The number of outputs of which a step reads the last."""
        return sum(each == (-1,) for each in self._taps())

    @property
    def n_mit_sot(self) -> int:
        """The number of outputs of which a step reads others, too."""
        return sum(each not in ((), (-1,)) for each in self._taps())

    @property
    def info(self) -> dict[str, Any]:
        """The numbers above, in a dict."""
        names = ("n_seqs", "n_mit_mot", "n_mit_sot", "n_sit_sot", "n_nit_sot", "n_shared_outs",
                 "as_while", "go_backwards", "truncate_gradient", "name")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def _own(self) -> Sequence[Any]:
        return self.step.earlier[: len(self.step.earlier) - self.step.carried]

    def _taps(self) -> Sequence[tuple[int, ...]]:
        return self.step.back[: len(self._own())]

    def inner_seqs(self, list_inputs: Any = None) -> list[Any]:
        """The rows of sequences."""
        del list_inputs
        return [each for rows in self.step.rows for each in rows]

    def inner_states(self, list_inputs: Any = None) -> list[Any]:
        """Earlier outputs, and shared variables that are updated."""
        del list_inputs
        return [each for earlier in self.step.earlier for each in earlier or ()]

    def inner_non_seqs(self, list_inputs: Any = None) -> list[Any]:
        """Variables from outside."""
        del list_inputs
        return list(self.step.leaves)

    def outer_seqs(self, node: Any) -> list[Any]:
        """The sequences."""
        given = getattr(node, "inputs", node)
        return list(given[self.counted :][: self.n_seqs])

    def outer_states(self, node: Any) -> list[Any]:
        """Initial values, and shared variables that are updated."""
        given = getattr(node, "inputs", node)
        first = self.counted + self.n_seqs
        return list(given[first : len(given) - len(self.step.leaves)])

    def outer_non_seqs(self, node: Any) -> list[Any]:
        """Variables from outside."""
        given = getattr(node, "inputs", node)
        return list(given[len(given) - len(self.step.leaves) :])

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Which outputs gradients reach each input from, over any number of steps."""
        from symc.theano.gradient_tape import connected

        step = self.step
        reads = [*step.rows, *(each or () for each in step.earlier), *((v,) for v in step.leaves)]
        single = connected([each for group in reads for each in group], list(step.outputs))
        rows = iter(single)
        groups = [[any(column) for column in zip(*(next(rows) for _ in group), strict=True)]
                  if group else [False] * len(step.outputs) for group in reads]  # fmt: skip
        first = len(step.rows)
        for _ in step.outputs:  # an output reaches those that are computed of it one step later
            for group in groups:
                for state, reaches in enumerate(group):
                    if reaches and step.earlier[state] is not None:
                        later = groups[first + state]
                        group[:] = [a or b for a, b in zip(group, later, strict=True)]
        kept = [group for group, read in zip(groups, reads, strict=True) if read]
        return [[False] * len(step.outputs)] * self.counted + kept
