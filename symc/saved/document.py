"""A graph as JSON, and back: its nodes in order, arguments before users.

Inputs and shared variables are leaves: they are kept apart, so that a pickle can hold them as
objects of their own, which several functions may share, while a file describes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.codegen.dtypes import BOOL
from symc.codegen.errors import CompilerMissing, CompileTimeout, IRError, MpiMissing
from symc.errors import BadFile, CannotSave, DeviceError, SymcError, WrongProcesses
from symc.graph.dims import Dim, Poly
from symc.graph.inputs import Constant, Input, SharedVariable, constant
from symc.graph.node import Array, Op, Tensor
from symc.graph.provenance import Where, located_at
from symc.graph.walks import walk
from symc.loops.body import Body, Slot, slot
from symc.loops.scan import Scan
from symc.saved.bodies import check_bodies, closed_anew
from symc.saved.matrices import fitting
from symc.saved.promises import kept_promises
from symc.saved.values import ValueReader, ValueWriter, whole
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import Elementwise, in_domain
from symc.tensor.lengths import dim_of, tensor_of

WRONG = (
    SymcError, IRError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError,
    AssertionError, RuntimeError, MemoryError,
)  # fmt: skip
"""The exceptions of ops whose parameters have wrong types: they trust those who make them."""
NOT_THE_FILES_FAULT = (
    DeviceError, CompilerMissing, CompileTimeout, MpiMissing, WrongProcesses, OSError,
)  # fmt: skip
"""Exceptions from making a function that say nothing about the file it comes from."""


class Document:
    """Nodes as JSON, with the leaves and arrays that they refer to by number."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.leaves: list[Tensor] = []
        self._number: dict[Tensor, int] = {}
        self._write = ValueWriter(self._number.__getitem__)

    @property
    def arrays(self) -> list[Array]:
        """The arrays that nodes refer to."""
        return self._write.arrays

    def add(self, roots: Sequence[Tensor]) -> list[int]:
        """The numbers of some nodes, all that they are computed from being added first.

        Raises `CannotSave` for an op that only this process knows, such as a Python function.
        """
        for node in walk(roots):
            self._add(node)
        return [self._number[root] for root in roots]

    def _add(self, node: Tensor) -> None:
        if node in self._number:
            return
        for body in _bodies(node.op):
            self.add([*body.slots, *body.results])
        if isinstance(node.op, Slot):
            self.add([dim for dim in _as_nodes(node.op.declared) if isinstance(dim, Tensor)])
        try:
            entry = self._entry(node)
        except CannotSave as error:
            raise CannotSave(f"{error}\n  node   {describe(node)}") from None
        self._number[node] = len(self.nodes)
        self.nodes.append(entry)

    def _entry(self, node: Tensor) -> dict[str, Any]:
        if isinstance(node.op, Input) or isinstance(node, SharedVariable):
            self.leaves.append(node)
            return {"leaf": len(self.leaves) - 1}
        entry: dict[str, Any] = {"args": [self._number[arg] for arg in node.args]}
        match node.op:
            case Constant(value):
                entry = {"constant": self._write.array(value)}
            case Slot(number, dtype, declared, name):
                entry = {"slot": self._write((number, dtype, _as_nodes(declared), name))}
            case _:
                entry["op"] = self._write(node.op)
        line = [node.where.file.rpartition("/")[2], node.where.line]
        return entry | {"name": node.name, "type": _promise(node), "where": line}


def _bodies(op: Op) -> list[Body]:
    """The graphs inside an op."""
    fields = [getattr(op, name) for name in getattr(op, "__match_args__", ())]
    return [value for value in fields if isinstance(value, Body)]


def _as_nodes(declared: Sequence[Dim | None]) -> tuple[int | Tensor | None, ...]:
    """The lengths of a slot; those that follow from other slots as expressions."""
    return tuple(tensor_of(dim) if isinstance(dim, Poly) else dim for dim in declared)


def _promise(node: Tensor) -> list[Any]:
    """A node's type as far as it is known without its graph: the dtype and the rank."""
    return [node.dtype.name, node.ndim]


def nodes_of(entries: Any, leaves: Sequence[Tensor], arrays: Sequence[Array]) -> list[Tensor]:
    """The nodes of a document. Raises `BadFile` for anything that no `Document` holds."""
    if not isinstance(entries, list):
        raise BadFile("the nodes are no list")
    nodes: list[Tensor] = []
    read = ValueReader(nodes, list(arrays))
    for number, entry in enumerate(entries):
        try:
            nodes.append(_node(entry, nodes, leaves, read))
        except BadFile as error:
            raise BadFile(f"node {number}: {error}") from None
        except NOT_THE_FILES_FAULT:
            raise
        except WRONG as error:
            raise BadFile(f"node {number} cannot be made: {error!r:.200}") from error
    return nodes


def _node(entry: Any, nodes: list[Tensor], leaves: Sequence[Tensor], read: ValueReader) -> Tensor:
    match entry:
        case {"leaf": number}:
            return leaves[whole(number, len(leaves))]
        case {"name": str() | None as name, "type": promise, "where": [str(file), int(line)]}:
            with located_at(Where(file, line)):
                node = _made(entry, nodes, read)
        case _:
            raise BadFile("it is neither a leaf nor a node")
    if _promise(node) != promise:
        raise BadFile(f"it was {promise}, and is now {_promise(node)}")
    if name is not None and node.name is None:
        node.name = name
    return node


def _made(entry: dict[str, Any], nodes: list[Tensor], read: ValueReader) -> Tensor:
    match entry:
        case {"constant": place}:
            return constant(read(place))
        case {"slot": parts}:
            slot_number, dtype, declared, name = read(parts)
            dims = [dim_of(dim) if isinstance(dim, Tensor) else dim for dim in declared]
            return slot(slot_number, dtype, tuple(dims), name)
        case {"op": text, "args": list(numbers)}:
            op = read(text)
            if not isinstance(op, Op):
                raise BadFile("its op is none")
            args = [nodes[whole(number, len(nodes))] for number in numbers]
            check_bodies(op, args)
            _check(op, args)
            if type(op).__module__.startswith("symc.tensor.linalg"):
                args = fitting(op, args)
            return closed_anew(op, args) if isinstance(op, Scan) else kept_promises(op, args)
        case _:
            raise BadFile("it has no op")


def _check(op: Op, args: Sequence[Tensor]) -> None:
    """Refuses arguments that symc would have converted or refused: compiled code relies on that."""
    if isinstance(op, Elementwise):
        condition, numbers = (args[:1], args[1:]) if op.name == "where" else ((), args)
        wanted = [BOOL for _ in condition] + [in_domain(op, args[-1].dtype) for _ in numbers]
        if len(args) != len(op.partials) or [arg.dtype for arg in args] != wanted:
            raise BadFile(f"{op.name} takes other arguments than {list(args)!r:.80}")
    elif not op.graphs() and len({arg.dtype.component for arg in args if arg.dtype.is_inexact}) > 1:
        raise BadFile(f"{op.label} takes numbers of one dtype, not {list(args)!r:.80}")
