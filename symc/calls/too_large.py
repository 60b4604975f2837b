"""Which array of a call is too large, found by computing its lengths again in Python's integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symc.errors import SymcError, TooLarge
from symc.graph.conditions import Values
from symc.graph.dims import MOST, Dim, Poly, Size, atoms, fits, sizes
from symc.graph.node import Array, Tensor
from symc.graph.request import Request
from symc.graph.types import bytes_of
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.lengths import Derived, dim_of

LITTLE = 1 << 26  # bytes that may be computed to know a length that is measured


def refuse_too_large(order: Sequence[Tensor], inputs: Mapping[Tensor, Array]) -> dict[Tensor, int]:
    """Raises `TooLarge` for the first node of which a length or the bytes need over 64 bits.

    Returns the bytes of each node, as far as lengths are known beforehand.
    """
    lengths = CallLengths(inputs)
    for node in order:
        error = lengths.refused(node)
        if error is not None:
            raise error
    return lengths.bytes


def explain_length(roots: Sequence[Tensor], inputs: Mapping[Tensor, Array]) -> TooLarge:
    """The error for a call of which a length needs over 64 bits, or one in a loop of it."""
    lengths = CallLengths(inputs)
    errors = (lengths.refused(node) for node in walk(roots))
    found = next((error for error in errors if error is not None), None)
    return found or TooLarge("a length that is computed in this call does not fit into 64 bits")


def beyond_counting(roots: Sequence[Tensor], inputs: Mapping[Tensor, Array]) -> TooLarge | None:
    """The error for the first node with a length above all that 64 bits can count, if any."""
    lengths = CallLengths(inputs)
    for node in walk(roots):
        error = lengths.refused(node)
        if error is not None:
            return (
                error if any((lengths.value(dim) or 0) > MOST for dim in node.type.shape) else None
            )
    return None


def explained(request: Request, args: Sequence[object], error: Exception) -> Exception:
    """The error for a call that had no memory, or of an array that NumPy refuses to make.

    It is `error` itself, if the arguments say no more.
    """
    from symc.calls.arguments import convert_argument

    what = str(error) or "there is not enough memory"
    try:
        inputs = {
            variable: convert_argument(variable, position, value, allow_downcast=True)
            for position, (variable, value) in enumerate(zip(request.inputs, args, strict=True))
        }
        lengths = CallLengths(inputs)
        order = walk(request.roots())
        refused = [found for found in map(lengths.refused, order) if found is not None]
        if refused or not isinstance(error, MemoryError):
            return refused[0] if refused else error
        largest = max(order, key=lambda node: lengths.bytes.get(node, 0))
        shape, count = lengths.shape(largest), lengths.bytes[largest]
    except (MemoryError, SymcError):
        return error
    return TooLarge(
        f"{what}\n  largest {describe(largest)}\n"
        f"          of shape {shape}, {count:,} bytes where it is stored"
    )


class CallLengths:
    """The lengths of the nodes of a graph in one call, in topological order."""

    def __init__(self, inputs: Mapping[Tensor, Array]) -> None:
        self.bytes: dict[Tensor, int] = {}
        self._inputs = inputs
        self._values = Values(inputs)
        self._known: dict[Size, int | None] = {}

    def refused(self, node: Tensor) -> TooLarge | None:
        """The error for a node that is too large in itself, whatever memory there is."""
        if isinstance(node.op, Derived):
            for part in _parts(dim_of(node)):
                value = self.value(part)
                if value is not None and not fits(value):
                    return _error(node, f"the length {part} would be {value}")
        if not node.type.shape:
            self.bytes[node] = node.dtype.bytes
            return None
        for axis, dim in enumerate(node.type.shape):
            for part in _parts(dim):
                value = self.value(part)
                if value is not None and not fits(value):
                    what = f"axis {axis} would be {dim} long"
                    return _error(node, f"{what}, and {part} is {value}")
        shape = self.shape(node)
        if shape is None:
            return None
        count = self.bytes[node] = bytes_of(node.dtype, shape)
        if count > MOST:
            return _error(node, f"the shape {shape} would be {count} bytes")
        return None

    def shape(self, node: Tensor) -> tuple[int, ...] | None:
        """The lengths of a node's axes; None where one is not to be known."""
        found = [self.value(dim) for dim in node.type.shape]
        known = [length for length in found if length is not None]
        return tuple(known) if len(known) == len(found) else None

    def value(self, dim: Dim) -> int | None:
        """A length; None where its computation would take long, or fails."""
        if isinstance(dim, int):
            return dim
        for size in sizes(dim):
            if size not in self._known:
                self._known[size] = self._measured(size)
            if self._known[size] is None:
                return None
        found: int = self._values(dim)
        return found

    def _measured(self, size: Size) -> int | None:
        source: Tensor = size.source
        if source not in self._inputs:
            needed = walk([source], stop=lambda node: node in self._inputs)
            if sum(self.bytes.get(node, LITTLE) for node in needed) > LITTLE:
                return None
        try:
            return int(self._values(Poly((((size,), 1),))))
        except (SymcError, ArithmeticError, IndexError, ValueError, MemoryError):
            return None


def _parts(dim: Dim) -> Iterator[Dim]:
    """The lengths that a length is computed from, innermost first, and itself."""
    for atom in atoms(dim):
        if not isinstance(atom, Size):
            yield from _parts(atom.left)
            yield from _parts(atom.right)
    yield dim


def _error(node: Tensor, what: str) -> TooLarge:
    return TooLarge(
        f"{node.op.label}: {what}, which 64 bits cannot count\n  node   {describe(node)}"
    )
