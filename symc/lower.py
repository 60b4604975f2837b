"""From units to a loop IR program: which buffers there are, and a kernel or step for each unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from symc.branches import branched
from symc.codegen import ir
from symc.codegen.dtypes import BOOL, DType
from symc.codegen.passes.walk import collect, expressions, statements
from symc.codegen.record import record
from symc.conditions import Test
from symc.dims import maximum
from symc.graph import Tensor
from symc.inputs import Constant, SharedVariable
from symc.kernels import LOOP_VARIABLES, KernelBuilder, Memory
from symc.loops.scan import Scan
from symc.lowering import Alias, Argument, HostCall, LibCall
from symc.nesting import copy, volume
from symc.notation import described
from symc.repeats import repeated
from symc.schedule import is_source
from symc.sizes import Lengths, Names
from symc.stages import Stage
from symc.units import Block, Inside, Invoke, Lone, Nest, Plan, Problem, Reading, Unit


@record
class Interface:
    """The buffers that a program's caller provides, by the node whose value they hold.

    `outputs` pairs each output buffer with the node to be stored in it.
    """

    inputs: Sequence[Tensor]
    shared: Sequence[SharedVariable]
    constants: Sequence[Tensor]
    outputs: Sequence[tuple[str, Tensor]]
    names: dict[Tensor, str]


@record
class Lowered:
    """A program, and what of the graph stands behind its parts.

    `constants` are the nodes of its constant arrays, `hosts` for each call into Python the nodes
    that it computes, and `holds` has the nodes whose values each buffer gets: several, where both
    sides of a branch write to it.
    """

    program: ir.Program
    constants: Sequence[Tensor]
    hosts: list[list[Tensor]]
    holds: dict[str, list[Tensor]]


class Parts:
    """What has been made of a program so far: its blocks add to the same lists."""

    def __init__(self, interface: Interface, names: Names, sizes: Lengths, *, on_device: bool):
        self.names = names
        self.sizes = sizes
        self.on_device = on_device
        self.buffers: dict[str, ir.Buffer] = {}
        self.kernels: list[ir.Kernel] = []
        self.hosts: list[list[Tensor]] = []  # for each call into Python, what it computes
        self.constants = {node: interface.names[node] for node in interface.constants}
        self.holds: dict[str, list[Tensor]] = {}  # by buffer, the nodes whose values it gets

    def add(self, buffer: ir.Buffer) -> str:
        """Declares a buffer."""
        self.buffers[buffer.name] = buffer
        return buffer.name


class Lowerer:
    """Builds the steps of a function, or of a block in a loop or branch, from its plan.

    `homes` has the buffers of values that are given from outside, `destinations` those that values
    are wanted in.
    """

    def __init__(
        self,
        parts: Parts,
        problem: Problem,
        table: Lengths,
        plan: Plan,
        homes: Mapping[Tensor, str],
        destinations: Iterable[tuple[str, Tensor]],
    ) -> None:
        self.parts = parts
        self.sizes = table
        self._problem = problem
        self._plan = plan
        self._homes: dict[Tensor, str] = dict(homes)
        self._destinations: dict[Tensor, list[str]] = {}
        self._steps: list[ir.Step] = []
        for name, node in destinations:
            self._destinations.setdefault(self.base(node), []).append(name)
        for shared, node in problem.updates:
            if shared in plan.in_place:
                self._destinations.setdefault(self.base(node), []).append(homes[shared])
        for node, buffers in self._destinations.items():
            for name in buffers:
                parts.holds.setdefault(name, []).append(node)
        self._outside = self._read_elsewhere() | {self.base(root) for root in problem.roots}

    def steps(self) -> tuple[ir.Step, ...]:
        """All steps."""
        for unit in self._plan.units:
            self._unit(unit)
        return tuple(self._steps)

    def inside(
        self,
        block: Block,
        plan: Plan,
        homes: Mapping[Tensor, str],
        destinations: Iterable[tuple[str, Tensor]],
    ) -> Lowerer:
        """What builds the steps of a block."""
        return Lowerer(self.parts, block.problem, block.table, plan, homes, destinations)

    # --- buffers ----------------------------------------------------------------------------------

    def base(self, node: Tensor) -> Tensor:
        """The node whose memory holds this one: itself, or what a reshape looks at."""
        while not is_source(node) and isinstance(self._problem.lowering_of(node), Alias):
            node = node.args[0]
        return node

    def _read_elsewhere(self) -> set[Tensor]:
        """Stored nodes that are read outside the unit that computes them, or by the caller."""
        outside = set(self._destinations)
        for unit in self._plan.units:
            match unit:
                case Nest(stages, _):
                    inside = {stage.node for stage in stages}
                case Invoke(stages) | Inside(stages):
                    inside = set[Tensor]()
                case Lone(stage):
                    stages, inside = (stage,), set[Tensor]()
                case Test(node=node) | Reading(node=node):
                    if node is not None:
                        outside.add(self.base(node))
                    continue
                case _:
                    assert_never(unit)
            for stage in stages:
                outside |= {self.base(read) for read in stage.reads if read not in inside}
                if isinstance(unit, Lone | Invoke | Inside):
                    outside.add(stage.node)
        return outside

    def shape(self, node: Tensor) -> tuple[ir.Expr, ...]:
        """The lengths of a node's axes."""
        return tuple(self.sizes(dim) for dim in self._problem.dims_of(node))

    def home(self, node: Tensor) -> str:
        """The buffer a stored node is read from."""
        node = self.base(node)
        found = self._homes.get(node)
        if found is None:
            known = isinstance(node.op, Constant) and node.type.shape
            found = self._constant(node) if known else self.destinations(node)[0]
            self._homes[node] = found
        return found

    def _constant(self, node: Tensor) -> str:
        """The buffer of a constant array, which is one for the whole program."""
        constants = self.parts.constants
        if node not in constants:
            constants[node] = self.parts.names.fresh(node.name, "constant")
            self.parts.add(ir.Buffer(constants[node], node.dtype, self.shape(node), "constant"))
        return constants[node]

    def destinations(self, node: Tensor) -> list[str]:
        """The buffers a node is stored to: the caller's, or a temporary one."""
        found = self._destinations.get(node)
        if found is None:
            found = [self.temp(node.name or node.op.label, node.dtype, self.shape(node))]
            self._destinations[node] = found
            self.parts.holds.setdefault(found[0], []).append(node)
        return found

    def temp(self, wanted: str, dtype: DType, shape: tuple[ir.Expr, ...]) -> str:
        """A buffer for what nobody outside sees."""
        name = self.parts.names.fresh(wanted, "temp")
        return self.parts.add(ir.Buffer(name, dtype, shape, "temp"))

    # --- units ------------------------------------------------------------------------------------

    def _unit(self, unit: Unit) -> None:
        match unit:
            case Nest(stages, _):
                builder = self._builder()
                self._launch(builder, builder.nest(unit), stages)
            case Lone(stage):
                builder = self._builder()
                self._launch(builder, builder.lone(unit), (stage,))
            case Invoke():
                self._invoke(unit)
            case Inside(stages, plans):
                node = stages[0].node
                blocks, nodes = self._problem.blocks_of(node), [stage.node for stage in stages]
                if isinstance(node.op, Scan):
                    self._steps += repeated(self, nodes, blocks[0], plans[0])
                else:
                    self._steps += branched(self, nodes, blocks, plans)
            case Test():
                self._steps.append(self._check(unit))
            case Reading(size, node):
                self._steps.append(ir.Measure(size, self.home(node)))
            case _:
                assert_never(unit)

    def _builder(self) -> KernelBuilder:
        memory = Memory(
            sizes=self.sizes,
            dims_of=self._problem.dims_of,
            lowering_of=self._problem.lowering_of,
            is_stored=lambda node: node in self._plan.stored or is_source(node),
            home=self.home,
            destinations=self.destinations,
            outside=lambda node: node in self._outside,
            temp=self.temp,
            dtype_of=lambda name: self.parts.buffers[name].dtype,
            overwrites=lambda node, shared: (
                shared in self._plan.in_place
                and self._homes[shared] in self._destinations.get(node, ())
            ),
            describe=described,
            on_device=self.parts.on_device,
        )
        return KernelBuilder(memory, self.parts.names)

    def _launch(self, builder: KernelBuilder, body: list[ir.Stmt], stages: Sequence[Stage]) -> None:
        last = stages[-1].node
        name = self.parts.names.fresh(f"{last.name or last.op.label}_kernel", "kernel")
        params = builder.params()
        used = used_sizes(body, {size.var.name for size in self.sizes.sizes})
        sizes = tuple(size.var for size in self.sizes.sizes if size.var.name in used)
        note = "\n".join(described(stage.node) for stage in stages)
        self.parts.kernels.append(ir.Kernel(name, tuple(params), sizes, tuple(body), note))
        self._steps.append(ir.Launch(name, tuple(param.name for param in params), sizes))

    def _invoke(self, invoke: Invoke) -> None:
        node, call = invoke.stages[0].node, invoke.stages[0].lowering
        assert isinstance(call, LibCall | HostCall)
        results = wanted = [stage.node for stage in invoke.stages]
        note = "\n".join(dict.fromkeys(map(described, wanted)))
        match call:
            case LibCall(routine, args):
                results = [op(*node.args) for op in call.results] or wanted
                given = tuple(self._argument(arg, node, results) for arg in args)
                self._steps.append(ir.Routine(routine, given, note))
            case HostCall():
                regions = (*map(self._region, node.args), *map(self._written, results))
                self._steps.append(ir.Host(len(self.parts.hosts), node.op.label, regions, note))
                self.parts.hosts.append(results)
            case _:
                assert_never(call)
        for result in results:
            self._steps += self.copies(result)

    def _argument(
        self, arg: Argument | ir.Expr, node: Tensor, results: Sequence[Tensor]
    ) -> ir.Pointer | ir.Expr:
        """What a routine is given."""
        match arg:
            case Argument(number) if number < 0:
                target = self.destinations(results[-number - 1])[0]
                return ir.Pointer(target, ir.const(0), written=True)
            case Argument(number, by_value=True):
                given = node.args[number]
                if isinstance(given.op, Constant):
                    return ir.Const(given.op.value.item(), given.dtype)
                return ir.Load(self.home(given), ir.const(0), given.dtype)
            case Argument(number):
                return ir.Pointer(self.home(node.args[number]), ir.const(0))
            case _:
                return arg

    def _region(self, arg: Tensor) -> ir.Region | ir.Const:
        """An argument of a function in Python."""
        if isinstance(arg.op, Constant) and not arg.type.shape:
            return ir.Const(arg.op.value.item(), arg.dtype)
        return ir.Region(ir.Pointer(self.home(arg), ir.const(0)), self.shape(arg))

    def _written(self, result: Tensor) -> ir.Region:
        """The place for a result of a function in Python."""
        target = self.destinations(result)[0]
        return ir.Region(ir.Pointer(target, ir.const(0), written=True), self.shape(result))

    def copies(self, node: Tensor) -> list[ir.Step]:
        """The steps that copy a node from its first destination to the others."""
        target, *others = self.destinations(node)
        count = volume(self.shape(node))
        return [copy(node.dtype, target, other, count) for other in others]

    def _check(self, test: Test) -> ir.Check:
        code = test.number + 1
        if test.node is not None:
            if isinstance(test.node.op, Constant):
                return ir.Check(ir.Const(bool(test.node.op.value), BOOL), code)
            return ir.Check(ir.Load(self.home(test.node), ir.const(0), BOOL), code)
        assert test.lengths is not None
        op, left, right = test.lengths
        return ir.Check(ir.binary(op, self.sizes.raw(left), self.sizes.raw(right)), code)


def lower(
    name: str, interface: Interface, problem: Problem, table: Lengths, plan: Plan,
    names: Names, *, on_device: bool = False,
) -> Lowered:  # fmt: skip
    """The program of a plan."""
    parts = Parts(interface, names, table, on_device=on_device)
    lowerer = Lowerer(parts, problem, table, plan, interface.names, interface.outputs)
    given: tuple[tuple[Sequence[Tensor], ir.Role], ...] = (
        (interface.inputs, "input"), (interface.shared, "shared"), (interface.constants, "constant")
    )  # fmt: skip
    for nodes, role in given:
        for node in nodes:
            parts.add(ir.Buffer(interface.names[node], node.dtype, lowerer.shape(node), role))
    for output, node in interface.outputs:
        # The caller allocates before run-time conditions on computed lengths are checked.
        shape = tuple(table(maximum(dim, 0)) for dim in problem.dims_of(node))
        parts.add(ir.Buffer(output, node.dtype, shape, "output"))
    steps = lowerer.steps()
    program = ir.Program(
        name, tuple(table.sizes), tuple(parts.buffers.values()), tuple(parts.kernels), steps
    )
    return Lowered(program, list(parts.constants), parts.hosts, parts.holds)


def used_sizes(body: Sequence[ir.Stmt], known: set[str]) -> set[str]:
    """The size variables that occur in some statements."""
    names: list[str] = []
    for stmt in statements(tuple(body)):
        for expr in expressions(stmt):
            collect(expr, names, [])
    return known.intersection(names)


def program_names() -> Names:
    """Names for a program, the loop variables taken."""
    names = Names()
    names.taken.update(LOOP_VARIABLES)
    return names
