"""From units to a loop IR program: which buffers there are, and a kernel or step for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from symc.codegen import ir
from symc.codegen.dtypes import BOOL
from symc.codegen.passes.walk import collect, expressions, statements
from symc.codegen.record import record
from symc.graph.conditions import Test
from symc.graph.dims import maximum
from symc.graph.inputs import Constant
from symc.graph.lowering import Argument, HostCall, LibCall
from symc.graph.node import Tensor
from symc.lower.builder import LOOP_VARIABLES, KernelBuilder, KernelContext
from symc.lower.kernels import lone_body, nest_body
from symc.lower.places import Interface, Parts, Places
from symc.schedule.plan import (
    Inside,
    Invoke,
    Lone,
    MeasuredSize,
    Nest,
    Plan,
    Problem,
    Unit,
    is_source,
)
from symc.schedule.sizes import Lengths, UniqueNames
from symc.schedule.stages import Stage
from symc.tensor.notation import described


@record
class Lowered:
    """A program, with the nodes of the graph that its parts compute.

    `constants` are the nodes of its constant arrays, `hosts` for each call into Python the nodes
    that it computes; `holds` has the nodes whose values each buffer gets (several, where both sides
    of a branch write to it, or where memory is taken over), `computes` those of each kernel.
    """

    program: ir.Program
    constants: Sequence[Tensor]
    hosts: list[list[Tensor]]
    holds: dict[str, list[Tensor]]
    computes: dict[str, list[Tensor]]


class Lowerer:
    """Builds the steps of a function, or of a block in a loop or branch, from its plan."""

    def __init__(self, places: Places, problem: Problem, plan: Plan) -> None:
        self._places = places
        self._parts = places.parts
        self._problem = problem
        self._plan = plan
        self._steps: list[ir.Step] = []
        self._outside = self._read_elsewhere() | {places.base(root) for root in problem.roots}

    def steps(self) -> tuple[ir.Step, ...]:
        """All steps."""
        for unit in self._plan.units:
            self._unit(unit)
        return tuple(self._steps)

    def _read_elsewhere(self) -> set[Tensor]:
        """Stored nodes that are read outside the unit that computes them, or by the caller."""
        outside = set(self._places.wanted)
        for unit in self._plan.units:
            match unit:
                case Nest(stages, _):
                    inside = {stage.node for stage in stages}
                case Invoke(stages) | Inside(stages):
                    inside = set[Tensor]()
                case Lone(stage):
                    stages, inside = (stage,), set[Tensor]()
                case Test(node=node) | MeasuredSize(node=node):
                    if node is not None:
                        outside.add(self._places.base(node))
                    continue
                case _:
                    assert_never(unit)
            for stage in stages:
                outside |= {self._places.base(read) for read in stage.reads if read not in inside}
                if isinstance(unit, Lone | Invoke | Inside):
                    outside.add(stage.node)
        return outside

    # --- units ------------------------------------------------------------------------------------

    def _unit(self, unit: Unit) -> None:
        match unit:
            case Nest(stages, _):
                builder = self._builder()
                self._launch(builder, nest_body(builder, unit), stages)
            case Lone(stage):
                builder = self._builder()
                self._launch(builder, lone_body(builder, unit), (stage,))
            case Invoke():
                self._invoke(unit)
            case Inside():
                self._inside(unit)
            case Test():
                self._steps.append(self._check(unit))
            case MeasuredSize(size, node):
                self._steps.append(ir.Measure(size, self._places.home(node)))
            case _:
                assert_never(unit)

    def _inside(self, inside: Inside) -> None:
        """The steps of a loop or branch."""
        from symc.loops.scan import Scan  # late: most programs have no loops or branches
        from symc.lower.branches import branched
        from symc.lower.repeats import repeated

        nodes = [stage.node for stage in inside.stages]
        blocks = self._problem.blocks[nodes[0]]
        if isinstance(nodes[0].op, Scan):
            self._steps += repeated(self._places, nodes, blocks[0], inside.plans[0], steps_of)
        else:
            self._steps += branched(self._places, nodes, blocks, inside.plans, steps_of)

    def _builder(self) -> KernelBuilder:
        context = KernelContext(
            sizes=self._places.sizes,
            dims=self._problem.dims,
            lowerings=self._problem.lowerings,
            is_stored=lambda node: node in self._plan.stored or is_source(node),
            home=self._places.home,
            destinations=self._places.destinations,
            outside=lambda node: node in self._outside,
            temp=self._places.temp,
            dtype_of=lambda name: self._parts.buffers[name].dtype,
            begins_there=self._places.begins_there,
            describe=described,
            on_device=self._parts.on_device,
        )
        return KernelBuilder(context, self._parts.names)

    def _launch(self, builder: KernelBuilder, body: list[ir.Stmt], stages: Sequence[Stage]) -> None:
        last = stages[-1].node
        name = self._parts.names.fresh(f"{last.name or last.op.label}_kernel", "kernel")
        self._parts.computes[name] = [stage.node for stage in stages]
        params = builder.params()
        used = used_sizes(body, {size.var.name for size in self._places.sizes.sizes})
        sizes = tuple(size.var for size in self._places.sizes.sizes if size.var.name in used)
        note = "\n".join(described(stage.node) for stage in stages)
        self._parts.kernels.append(ir.Kernel(name, tuple(params), sizes, tuple(body), note))
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
                self._steps.append(
                    ir.PythonCall(len(self._parts.hosts), node.op.label, regions, note)
                )
                self._parts.hosts.append(results)
            case _:
                assert_never(call)
        for result in results:
            self._steps += self._places.copies(result)

    def _argument(
        self, arg: Argument | ir.Expr, node: Tensor, results: Sequence[Tensor]
    ) -> ir.Pointer | ir.Expr:
        """An argument of a routine."""
        match arg:
            case Argument(number) if number < 0:
                target = self._places.destinations(results[-number - 1])[0]
                return ir.Pointer(target, ir.const(0), written=True)
            case Argument(number, by_value=True):
                given = node.args[number]
                if isinstance(given.op, Constant):
                    return ir.Const(given.op.value.item(), given.dtype)
                return ir.Load(self._places.home(given), ir.const(0), given.dtype)
            case Argument(number, offset=offset):
                return ir.Pointer(self._places.home(node.args[number]), offset)
            case _:
                return arg

    def _region(self, arg: Tensor) -> ir.Region | ir.Const:
        """An argument of a function in Python."""
        if isinstance(arg.op, Constant) and not arg.type.shape:
            return ir.Const(arg.op.value.item(), arg.dtype)
        return ir.Region(ir.Pointer(self._places.home(arg), ir.const(0)), self._places.shape(arg))

    def _written(self, result: Tensor) -> ir.Region:
        """The place for a result of a function in Python."""
        target = self._places.destinations(result)[0]
        return ir.Region(ir.Pointer(target, ir.const(0), written=True), self._places.shape(result))

    def _check(self, test: Test) -> ir.Check:
        code = test.number + 1
        if test.node is not None:
            if isinstance(test.node.op, Constant):
                return ir.Check(ir.Const(bool(test.node.op.value), BOOL), code)
            return ir.Check(ir.Load(self._places.home(test.node), ir.const(0), BOOL), code)
        assert test.lengths is not None
        op, left, right = test.lengths
        return ir.Check(
            ir.binary(op, self._places.sizes.raw(left), self._places.sizes.raw(right)), code
        )


def steps_of(places: Places, problem: Problem, plan: Plan) -> tuple[ir.Step, ...]:
    """The steps of a function, or of a block in a loop or branch."""
    return Lowerer(places, problem, plan).steps()


def lower(
    name: str, interface: Interface, problem: Problem, scopes: Sequence[Lengths], plan: Plan,
    names: UniqueNames, *, on_device: bool = False,
) -> Lowered:  # fmt: skip
    """The program of a plan; `scopes` has its lengths, and those of its blocks."""
    table = scopes[0]
    parts = Parts(interface, names, scopes, on_device=on_device)
    homes = {**interface.names, **interface.given}
    places = Places(parts, problem, table, plan, homes, interface.outputs)
    given: tuple[tuple[Sequence[Tensor], ir.Role], ...] = (
        (interface.inputs, "input"), (interface.shared, "shared"), (interface.constants, "constant")
    )  # fmt: skip
    for nodes, role in given:
        for node in nodes:
            parts.add(ir.Buffer(interface.names[node], node.dtype, places.shape(node), role))
    for output, node in interface.outputs:
        # The caller allocates before run-time conditions on computed lengths are checked.
        shape = tuple(table(maximum(dim, 0)) for dim in node.type.shape)
        is_given = output in interface.given.values()
        parts.add(ir.Buffer(output, node.dtype, shape, "output", given=is_given))
    steps = steps_of(places, problem, plan)
    program = ir.Program(
        name, tuple(table.sizes), tuple(parts.buffers.values()), tuple(parts.kernels), steps
    )
    return Lowered(program, list(parts.constants), parts.hosts, parts.holds, parts.computes)


def used_sizes(body: Sequence[ir.Stmt], known: set[str]) -> set[str]:
    """The size variables that occur in some statements."""
    names: list[str] = []
    for stmt in statements(tuple(body)):
        for expr in expressions(stmt):
            collect(expr, names, [])
    return known.intersection(names)


def program_names() -> UniqueNames:
    """Names for a program, the loop variables taken."""
    names = UniqueNames()
    names.taken.update(LOOP_VARIABLES)
    return names
