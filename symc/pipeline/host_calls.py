"""Functions in Python that a compiled program calls while it runs, as `ir.PythonCall` says.

The program knows them by number. The graph it was compiled from may be gone, or have been in
another process: so the cache keeps the keys of their ops, and `host_calls` finds these in today's
graph.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.codegen.dtypes import BY_NAME
from symc.codegen.record import record
from symc.codegen.targets._abi import ffi
from symc.errors import ShapeMismatch
from symc.graph.bfloat16 import rounded_to, widened
from symc.graph.node import Array, Tensor
from symc.graph.request import Request
from symc.graph.types import to_numpy
from symc.graph.walks import walk
from symc.tensor.notation import described

if TYPE_CHECKING:
    from symc.pipeline.compile import Compilation

FILE = "host_calls.json"


@record
class Kind:
    """The facts about an array that are fixed before a call."""

    dtype: str
    ndim: int
    on_host: bool
    """Whether it is in host memory; only of interest where other arrays are on a device."""


@record
class BoundCall:
    """One call: the nodes that are computed together, and the arrays that go in and out."""

    nodes: Sequence[Tensor]
    arguments: Sequence[Kind]
    results: Sequence[Kind]

    def run(self, values: Sequence[Array], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
        """The results, which must have these shapes. Exceptions of ops get the user's line."""
        first = self.nodes[0]
        ops = [node.op for node in self.nodes]
        if not first.op.takes_bfloat16:
            values = [*map(widened, values)]
        try:
            if first.op.common() is None:
                found = [op.evaluate(*values) for op in ops]
            else:
                found = [*map(first.op.evaluate_all(*values), ops)]
        except BaseException as error:
            error.add_note(f"  called for  {described(first)}")
            raise
        # A node is any with this op: of another dtype, too, if the call is of float32 for bfloat16.
        results = [
            rounded_to(BY_NAME[kind.dtype], value)
            for kind, value in zip(self.results, found, strict=True)
        ]
        for node, kind, result, shape in zip(
            self.nodes, self.results, results, shapes, strict=True
        ):
            if result.dtype != to_numpy(BY_NAME[kind.dtype]):
                raise AssertionError(f"{node.op!r} promised {kind.dtype}, computed {result.dtype}")
            if result.shape != shape:
                raise ShapeMismatch(
                    f"{node.op.label} gave an array of shape {result.shape}, where its type "
                    f"promises {shape}\n  called for  {described(node)}"
                )
        return results


class Callbacks:
    """All functions in Python that one program calls. Called with the program's number for one.

    `arrays` is the address of a table with the address of each array, arguments first, `lengths`
    that of a table with the lengths of all of them. Arguments are copied: functions may keep them.
    """

    def __init__(self, calls: Sequence[BoundCall]) -> None:
        self.calls = calls

    def __call__(self, number: int, arrays: int, lengths: int) -> None:
        """Read the arguments, compute, and write the results."""
        call = self.calls[number]
        addresses: list[int] = ffi.unpack(
            ffi.cast("uintptr_t *", arrays), len(call.arguments) + len(call.results)
        )
        shapes = _shapes((*call.arguments, *call.results), lengths)
        count = len(call.arguments)
        values = [
            self.read(address, shape, kind)
            for address, shape, kind in zip(addresses, shapes, call.arguments, strict=False)
        ]
        results = call.run(values, shapes[count:])
        for address, result in zip(addresses[count:], results, strict=True):
            self.write(address, result)

    def read(self, address: int, shape: tuple[int, ...], kind: Kind) -> Array:
        """A copy of an argument."""
        return _memory(address, shape, to_numpy(BY_NAME[kind.dtype])).copy()

    def write(self, address: int, result: Array) -> None:
        """Store a result."""
        _memory(address, result.shape, result.dtype)[...] = result


def _shapes(kinds: Sequence[Kind], lengths: int) -> list[tuple[int, ...]]:
    """The shapes of arrays whose lengths stand one after the other at an address."""
    total = sum(kind.ndim for kind in kinds)
    rest = iter(ffi.unpack(ffi.cast("int64_t *", lengths), total) if total else ())
    return [tuple(next(rest) for _ in range(kind.ndim)) for kind in kinds]


def _memory(address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """The array at an address, without a copy: it must be gone when the call ends."""
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, ffi.buffer(ffi.cast("char *", address), size))


# --- kept with a compiled function ----------------------------------------------------------------


def host_calls_text(compilation: Compilation) -> str:
    """The facts that `host_calls` needs, as a text to be kept."""
    from symc.codegen import ir
    from symc.codegen.blocks import every_step

    buffers = {buffer.name: buffer for buffer in compilation.optimised.buffers}

    def kind(arg: ir.Region | ir.Const) -> tuple[str, int, bool]:
        if isinstance(arg, ir.Const):
            return arg.dtype.name, 0, True
        buffer = buffers[arg.pointer.buffer]
        return buffer.dtype.name, len(arg.shape), buffer.is_by_value

    steps = [
        step for step in every_step(compilation.optimised.steps) if isinstance(step, ir.PythonCall)
    ]
    described_calls = [
        {
            "ops": [_digest(node) for node in compilation.hosts[step.number]],
            "arrays": [kind(arg) for arg in step.args],
        }
        for step in sorted(steps, key=lambda step: step.number)
    ]
    return json.dumps(described_calls)


def host_calls(
    text: bytes, request: Request, compilation: Callable[[], Compilation]
) -> list[BoundCall]:
    """The functions in Python that a program calls, from the text that was kept of them.

    Their ops are looked for in the graph of the request; only those that rewriting brings in need
    the graph to be rewritten again, by `compilation`.
    """
    kept = json.loads(text)
    wanted = {digest for call in kept for digest in call["ops"]}
    known = {_digest(node): node for node in walk(request.roots())}
    if not wanted <= known.keys():
        known = {_digest(node): node for nodes in compilation().hosts for node in nodes}
    calls: list[BoundCall] = []
    for call in kept:
        kinds = [Kind(*kind) for kind in call["arrays"]]
        count = len(kinds) - len(call["ops"])
        nodes = [known[digest] for digest in call["ops"]]
        calls.append(BoundCall(nodes, kinds[:count], kinds[count:]))
    return calls


def _digest(node: Tensor) -> str:
    return hashlib.sha256(node.op.key().encode()).hexdigest()
