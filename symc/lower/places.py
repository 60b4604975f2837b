"""Where the values of a program are: its buffers, and those that each node is read from and put in.

Parts    the buffers and kernels of a program so far: its blocks add to the same lists
Places   the places of one block: a function, or the body of a loop or branch
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from symc.codegen import ir
from symc.codegen.dtypes import DType
from symc.codegen.record import record
from symc.graph.inputs import Constant, SharedVariable
from symc.graph.lowering import Alias
from symc.graph.node import Tensor
from symc.lower.nesting import copy, volume
from symc.schedule.plan import Block, Plan, Problem
from symc.schedule.sizes import Lengths, UniqueNames


@record
class Interface:
    """The buffers that a program's caller provides, by the node whose value they hold.

    `outputs` pairs each output buffer with the node to be stored in it. `given` has the output
    buffers that begin as an input's value: the caller passes the memory of the argument.
    """

    inputs: Sequence[Tensor]
    shared: Sequence[SharedVariable]
    constants: Sequence[Tensor]
    outputs: Sequence[tuple[str, Tensor]]
    names: dict[Tensor, str]
    given: Mapping[Tensor, str]


class Parts:
    """The buffers and kernels of a program so far: its blocks add to the same lists."""

    def __init__(
        self,
        interface: Interface,
        names: UniqueNames,
        scopes: Sequence[Lengths],
        *,
        on_device: bool,
    ):
        self.names = names
        self.scopes = scopes
        self.on_device = on_device
        self.buffers: dict[str, ir.Buffer] = {}
        self.kernels: list[ir.Kernel] = []
        self.hosts: list[list[Tensor]] = []  # for each call into Python, the nodes it computes
        self.constants = {node: interface.names[node] for node in interface.constants}
        self.filled: set[str] = set()  # buffers that have what a step does not write of a state
        self.holds: dict[str, list[Tensor]] = {}  # by buffer, the nodes whose values it gets
        self.computes: dict[str, list[Tensor]] = {}  # by kernel, the nodes that it computes

    def add(self, buffer: ir.Buffer) -> str:
        """Declares a buffer."""
        self.buffers[buffer.name] = buffer
        return buffer.name


class Places:
    """Where the values of a function are, or of a block in a loop or branch.

    `homes` has the buffers of values that are given from outside, `destinations` those that values
    are wanted in. Others get temporary buffers when they are first asked for.
    """

    def __init__(
        self,
        parts: Parts,
        problem: Problem,
        sizes: Lengths,
        plan: Plan,
        homes: Mapping[Tensor, str],
        destinations: Iterable[tuple[str, Tensor]],
    ) -> None:
        self.parts = parts
        self.sizes = sizes
        self._problem = problem
        self._in_place = plan.in_place
        self._takes = {taker: owner for owner, taker in plan.in_place.items()}
        self._homes: dict[Tensor, str] = dict(homes)
        self._destinations: dict[Tensor, list[str]] = {}
        for name, node in destinations:
            self._destinations.setdefault(self.base(node), []).append(name)
        for owner in plan.in_place:
            if owner in homes:
                self._take_over(owner, homes[owner])
        for node, buffers in self._destinations.items():
            for name in buffers:
                parts.holds.setdefault(name, []).append(node)
        self.wanted = frozenset(self._destinations)

    def _take_over(self, owner: Tensor, buffer: str) -> None:
        """Puts all that take over the memory of a node, one after the other, into its buffer."""
        taker = self._in_place.get(owner)
        while taker is not None:
            buffers = self._destinations.setdefault(taker, [])
            if buffer not in buffers:
                buffers.append(buffer)
            taker = self._in_place.get(taker)

    def base(self, node: Tensor) -> Tensor:
        """The node whose memory holds this one: itself, or the argument of a reshape."""
        while isinstance(self._problem.lowerings.get(node), Alias):
            node = node.args[0]
        return node

    def shape(self, node: Tensor) -> tuple[ir.Expr, ...]:
        """The lengths of a node's axes."""
        return tuple(self.sizes(dim) for dim in node.type.shape)

    def home(self, node: Tensor) -> str:
        """The buffer a stored node is read from."""
        node = self.base(node)
        found = self._homes.get(node)
        if found is None:
            known = isinstance(node.op, Constant)  # a number, too: routines get addresses
            found = self._constant(node) if known else self.destinations(node)[0]
            self._homes[node] = found
        return found

    def _constant(self, node: Tensor) -> str:
        """The buffer of a constant, which is one for the whole program."""
        constants = self.parts.constants
        if node not in constants:
            constants[node] = self.parts.names.fresh(node.name, "constant")
            self.parts.add(ir.Buffer(constants[node], node.dtype, self.shape(node), "constant"))
        return constants[node]

    def destinations(self, node: Tensor) -> list[str]:
        """The buffers a node is stored to: the caller's, or a temporary one."""
        found = self._destinations.get(node)
        if found is None:
            if node in self._in_place:
                found = [self.destinations(self._in_place[node])[-1]]
            else:
                shape = self.shape(self._first_owner(node))
                found = [self.temp(node.name or node.op.label, node.dtype, shape)]
            self._destinations[node] = found
            self.parts.holds.setdefault(found[0], []).append(node)
        return found

    def _first_owner(self, node: Tensor) -> Tensor:
        """The node whose memory this one ends up in, if the own lengths are not measured by then.

        A loop whose lengths the program computes goes on where its state begins, and that is
        written first, maybe before those lengths are known. They are equal to its own.
        """
        measured = self._problem.readings
        while node in self._takes and measured.get(node):
            node = self._takes[node]
        return node

    def temp(self, wanted: str, dtype: DType, shape: tuple[ir.Expr, ...]) -> str:
        """A buffer for a value that nobody outside sees."""
        name = self.parts.names.fresh(wanted, "temp")
        return self.parts.add(ir.Buffer(name, dtype, shape, "temp"))

    def inside(
        self,
        block: Block,
        plan: Plan,
        homes: Mapping[Tensor, str],
        destinations: Iterable[tuple[str, Tensor]],
    ) -> Places:
        """The places of a block in a loop or branch of this one."""
        scope = self.parts.scopes[block.scope]
        return Places(self.parts, block.problem, scope, plan, homes, destinations)

    def begins_there(self, node: Tensor, seen: Tensor, buffer: str) -> bool:
        """Whether the buffer of a node, which begins as one that is seen, has that already.

        It takes over the memory of that one, maybe as a reshape, or an earlier step put it there.
        """
        if buffer in self.parts.filled:
            return True
        takes_over = self._in_place.get(self.base(seen)) is self.base(node)
        return takes_over and buffer == self.home(seen)

    def copies(self, node: Tensor) -> list[ir.Step]:
        """The steps that copy a node from its first destination to the others."""
        target, *others = self.destinations(node)
        count = volume(self.shape(node))
        return [copy(node.dtype, target, other, count) for other in others]


StepsOf: TypeAlias = Callable[[Places, Problem, Plan], tuple[ir.Step, ...]]
"""The function that lowers a block within a block: `lower.py`'s, which knows loops and branches."""
