"""PyTensor's Scan as symc's.

PyTensor gives a loop buffers, with the rows before the first step and space for the rest, which may
be less than all steps; symc's loops make their rows themselves, and the last of them are kept. It
may be more, where gradients go back through some steps only: there the other rows are zeros.
Buffers that steps write at several places (mit-mot, from gradients) are states of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.graph.basic import Constant
from pytensor.scalar.basic import Add
from pytensor.scan.op import Scan
from pytensor.tensor.basic import Alloc, AllocEmpty
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.subtensor import IncSubtensor

from symc import tensor as T
from symc.graph.node import Tensor
from symc.loops.api import looping
from symc.loops.outcome import until
from symc.pytensor.conversion import as_bool, as_length, register


@register(Scan)
def _scan(op: Any, node: Any, conversion: Any, **_: Any) -> Callable[..., Any]:
    return lambda *args: _ScanWithArguments(op, node, conversion, args).results()


class _ScanWithArguments:
    """One Scan with its arguments."""

    def __init__(self, op: Any, node: Any, conversion: Any, args: Sequence[Tensor]) -> None:
        self.op, self.node, self.info, self.conversion = op, node, op.info, conversion
        self.steps = as_length(args[0])
        self.sequences = [s[: self.steps] for s in op.outer_seqs(args)]
        self.mit_mots = list(op.outer_mitmot(args))
        self.mit_sots = list(op.outer_mitsot(args))
        self.sit_sots = list(op.outer_sitsot(args))
        self.nit_sots = list(op.outer_nitsot(args))
        self.untraced = list(op.outer_untraced_sit_sot(args))
        self.others = list(op.outer_non_seqs(args))

    def states(self) -> list[Any]:
        """What `symc.scan` is told of each result of a step."""
        taps = self.info.mit_sot_in_slices
        return [
            *self.mit_mots,
            *(
                {"initial": buffer[: -min(each)], "taps": list(each)}
                for buffer, each in zip(self.mit_sots, taps, strict=True)
            ),
            *(buffer[0] for buffer in self.sit_sots),
            *(None for _ in self.nit_sots),
            *self.untraced,
        ]

    def step(self, number: Tensor, *args: Tensor) -> Any:
        """The results of one step: new buffers, then rows, then states without rows."""
        info, op = self.info, self.op
        given = iter(args)

        def take(count: int) -> list[Tensor]:
            return [next(given) for _ in range(count)]

        rows = take(len(self.sequences))
        buffers = take(len(self.mit_mots))
        taken = [
            buffer[number + tap]
            for buffer, taps in zip(buffers, info.normalized_mit_mot_in_slices, strict=True)
            for tap in taps
        ]
        before = take(sum(map(len, info.mit_sot_in_slices)) + len(self.sit_sots))
        inner = [*rows, *taken, *before, *take(len(self.untraced)), *self.others]
        made = self.conversion.graph(op.fgraph, inner)
        results = [
            *self._written(number, buffers, made),
            *op.inner_mitsot_outs(made), *op.inner_sitsot_outs(made),
            *op.inner_nitsot_outs(made), *op.inner_untraced_sit_sot_outs(made),
        ]  # fmt: skip
        return (results, until(as_bool(made[-1]))) if info.as_while else results

    def _written(
        self, number: Tensor, buffers: Sequence[Tensor], made: Sequence[Tensor]
    ) -> list[Tensor]:
        written: list[Tensor] = []
        grouped = self.op.inner_mitmot_outs_grouped(made)
        taps = self.info.normalized_mit_mot_out_slices
        for buffer, values, each in zip(buffers, grouped, taps, strict=True):
            for value, tap in zip(values, each, strict=True):
                buffer = buffer[number + tap].set(T.cast(value, buffer.dtype))
            written.append(buffer)
        return written

    def results(self) -> list[Tensor]:
        """The outputs of the Scan."""
        loop = looping(
            self.step, [T.arange(self.steps), *self.sequences], self.states(), None, self.steps
        ).done
        first, traced = len(self.mit_mots), len(self.mit_sots) + len(self.sit_sots)
        histories, collected = iter(loop.histories[first:]), iter(loop.collected)
        # Not the last of the rows: a loop of no steps leaves its states as they are.
        finals = [rows[-1] for rows in loop.finals]
        states = zip(self.untraced, finals[first + traced :], strict=True)
        taps = self.info.mit_sot_in_slices
        started = [
            *((b, b[: -min(t)]) for b, t in zip(self.mit_sots, taps, strict=True)),
            *((buffer, buffer[:1]) for buffer in self.sit_sots),
        ]
        kept: list[Tensor] = []
        for (buffer, start), spare in zip(started, self._spare_buffers(), strict=True):
            trace = next(histories)
            whole = T.concatenate([T.cast(start, trace.dtype), trace])
            kept.append(self._kept(whole, T.shape(buffer)[0], spare))
        for size, given in zip(self.nit_sots, self.op.outer_nitsot(self.node.inputs), strict=True):
            spare = not _is_covered(given, self.node.inputs[0], 0)
            kept.append(self._kept(next(collected), as_length(size), spare))
        buffers = zip(self.mit_mots, finals[:first], strict=True)
        return [
            *(T.cast(final, given.dtype) for given, final in buffers),
            *kept,
            *(T.cast(final, given.dtype) for given, final in states),
        ]

    def _spare_buffers(self) -> list[bool]:
        """Whether each buffer of states may have more rows than there are states."""
        op, inputs = self.op, self.node.inputs
        starts = [-min(taps) for taps in self.info.mit_sot_in_slices]
        given = [*op.outer_mitsot(inputs), *op.outer_sitsot(inputs)]
        starts += [1] * (len(given) - len(starts))
        return [
            not _is_covered(_length_of(buffer), inputs[0], start)
            for buffer, start in zip(given, starts, strict=True)
        ]

    def _kept(self, rows: Tensor, size: Any, spare: bool) -> Tensor:
        """The last rows, as many as the buffer holds; a loop that ends early may have less."""
        if self.info.as_while:
            return rows[T.maximum(T.shape(rows)[0] - size, 0) :]
        if spare:
            added = T.maximum(size - T.shape(rows)[0], 0)
            rest = T.zeros((added, *T.shape(rows)[1:]), dtype=rows.dtype)
            rows = T.concatenate([rows, rest])
        return rows[T.shape(rows)[0] - size :]


def _length_of(buffer: Any) -> Any:
    """The variable, or number, that says how many rows a buffer of states has; None if unknown."""
    if buffer.type.shape[0] is not None:
        return buffer.type.shape[0]
    node = buffer.owner
    if node is not None and isinstance(node.op, IncSubtensor):
        node = node.inputs[0].owner
    if node is None:
        return None
    match node.op:
        case Alloc():
            return node.inputs[1]
        case AllocEmpty():
            return node.inputs[0]
        case _:
            return None


def _is_covered(size: Any, steps: Any, start: int) -> bool:
    """Whether a loop with `start` rows before its first step surely makes as many rows as `size`.

    Numbers are taken to be so while the steps are unknown: PyTensor gives them to what it has seen
    only the last rows of.
    """
    length = size.data if isinstance(size, Constant) else size
    if isinstance(length, int) or hasattr(length, "__array__"):
        return not isinstance(steps, Constant) or int(length) <= int(steps.data) + start
    if size is steps:
        return True
    node = size.owner if size is not None else None
    if node is None or not isinstance(node.op, Elemwise) or steps not in node.inputs:
        return False
    others = [v for v in node.inputs if v is not steps]
    return (
        isinstance(node.op.scalar_op, Add)
        and all(isinstance(v, Constant) for v in others)
        and sum(int(v.data) for v in others) <= start
    )
