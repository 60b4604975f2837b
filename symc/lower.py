"""From units to a loop IR program: which buffers there are, and a kernel or step for each unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, DType
from symc.codegen.passes.walk import collect, expressions, statements
from symc.codegen.record import record
from symc.dims import Dim, maximum
from symc.graph import Tensor
from symc.inputs import Constant, SharedVariable
from symc.kernels import LOOP_VARIABLES, KernelBuilder, Memory
from symc.lowering import Alias, Argument, LibCall, Lowering
from symc.pprint import described
from symc.schedule import is_source
from symc.sizes import Names, SizeTable
from symc.stages import Stage
from symc.units import Invoke, Lone, Nest, Plan, Reading, Test, Unit


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


class Lowerer:
    """Builds the program of one function from its plan."""

    def __init__(
        self,
        interface: Interface,
        plan: Plan,
        updates: Sequence[tuple[SharedVariable, Tensor]],
        names: Names,
        sizes: SizeTable,
        dims_of: Callable[[Tensor], tuple[Dim, ...]],
        lowering_of: Callable[[Tensor], Lowering],
        *,
        on_device: bool = False,
    ) -> None:
        self._interface = interface
        self._on_device = on_device
        self._plan = plan
        self._names = names
        self._sizes = sizes
        self._dims_of = dims_of
        self._lowering_of = lowering_of
        self._buffers: dict[str, ir.Buffer] = {}
        self._homes: dict[Tensor, str] = dict(interface.names)
        self._destinations: dict[Tensor, list[str]] = {}
        self._temps: list[ir.Buffer] = []
        self._kernels: list[ir.Kernel] = []
        self._steps: list[ir.Step] = []
        for name, node in interface.outputs:
            self._destinations.setdefault(self.base(node), []).append(name)
        for shared, node in updates:
            if shared in plan.in_place:
                self._destinations.setdefault(self.base(node), []).append(interface.names[shared])
        self._outside = self._read_elsewhere()

    def program(self, name: str) -> ir.Program:
        """The whole program."""
        self._declare_externals()
        for unit in self._plan.units:
            self._unit(unit)
        buffers = (*self._externals(), *self._temps)
        return ir.Program(
            name, tuple(self._sizes.sizes), buffers, tuple(self._kernels), tuple(self._steps)
        )

    # --- buffers ----------------------------------------------------------------------------------

    def base(self, node: Tensor) -> Tensor:
        """The node whose memory holds this one: itself, or what a reshape looks at."""
        while not is_source(node) and isinstance(self._lowering_of(node), Alias):
            node = node.args[0]
        return node

    def _read_elsewhere(self) -> set[Tensor]:
        """Stored nodes that are read outside the unit that computes them, or by the caller."""
        outside = set(self._destinations)
        for unit in self._plan.units:
            match unit:
                case Nest(stages, _):
                    inside = {stage.node for stage in stages}
                case Invoke(stages):
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
                if isinstance(unit, Lone | Invoke):
                    outside.add(stage.node)
        return outside

    def _shape(self, node: Tensor) -> tuple[ir.Expr, ...]:
        return tuple(self._sizes(dim) for dim in self._dims_of(node))

    def _declare_externals(self) -> None:
        interface = self._interface
        for node in interface.inputs:
            self._declare(interface.names[node], node, "input")
        for node in interface.shared:
            self._declare(interface.names[node], node, "shared")
        for node in interface.constants:
            self._declare(interface.names[node], node, "constant")
        for name, node in interface.outputs:
            self._declare(name, node, "output")

    def _declare(self, name: str, node: Tensor, role: ir.Role) -> None:
        shape = self._shape(node)
        if role == "output":
            # The caller allocates before run-time conditions on computed lengths are checked.
            shape = tuple(self._sizes(maximum(dim, 0)) for dim in self._dims_of(node))
        self._buffers[name] = ir.Buffer(name, node.dtype, shape, role)

    def _externals(self) -> list[ir.Buffer]:
        return [buffer for buffer in self._buffers.values() if buffer.role != "temp"]

    def home(self, node: Tensor) -> str:
        """The buffer a stored node is read from."""
        node = self.base(node)
        found = self._homes.get(node)
        if found is None:
            found = self.destinations(node)[0]
            self._homes[node] = found
        return found

    def destinations(self, node: Tensor) -> list[str]:
        """The buffers a node is stored to: the caller's, or a temporary one."""
        found = self._destinations.get(node)
        if found is None:
            found = [self._temp(node.name or node.op.label, node.dtype, self._shape(node))]
            self._destinations[node] = found
        return found

    def _temp(self, wanted: str, dtype: DType, shape: tuple[ir.Expr, ...]) -> str:
        name = self._names.fresh(wanted, "temp")
        buffer = ir.Buffer(name, dtype, shape, "temp")
        self._buffers[name] = buffer
        self._temps.append(buffer)
        return name

    # --- units ------------------------------------------------------------------------------------

    def _unit(self, unit: Unit) -> None:
        match unit:
            case Nest(stages, _):
                builder = self._builder()
                self._launch(builder, builder.nest(unit), stages)
            case Lone(stage):
                builder = self._builder()
                self._launch(builder, builder.lone(unit), (stage,))
            case Invoke(stages):
                self._invoke(stages)
            case Test():
                self._steps.append(self._check(unit))
            case Reading(size, node):
                self._steps.append(ir.Measure(size, self.home(node)))
            case _:
                assert_never(unit)

    def _builder(self) -> KernelBuilder:
        memory = Memory(
            sizes=self._sizes,
            dims_of=self._dims_of,
            lowering_of=self._lowering_of,
            is_stored=lambda node: node in self._plan.stored or is_source(node),
            home=self.home,
            destinations=self.destinations,
            outside=lambda node: node in self._outside,
            temp=self._temp,
            dtype_of=lambda name: self._buffers[name].dtype,
            overwrites=lambda node, shared: (
                shared in self._plan.in_place
                and self._interface.names[shared] in self._destinations.get(node, ())
            ),
            describe=described,
            on_device=self._on_device,
        )
        return KernelBuilder(memory, self._names)

    def _launch(self, builder: KernelBuilder, body: list[ir.Stmt], stages: Sequence[Stage]) -> None:
        last = stages[-1].node
        name = self._names.fresh(f"{last.name or last.op.label}_kernel", "kernel")
        params = builder.params()
        used = used_sizes(body, {size.var.name for size in self._sizes.sizes})
        sizes = tuple(size.var for size in self._sizes.sizes if size.var.name in used)
        note = "\n".join(described(stage.node) for stage in stages)
        self._kernels.append(ir.Kernel(name, tuple(params), sizes, tuple(body), note))
        self._steps.append(ir.Launch(name, tuple(param.name for param in params), sizes))

    def _invoke(self, stages: Sequence[Stage]) -> None:
        node, call = stages[0].node, stages[0].lowering
        assert isinstance(call, LibCall)
        results = [op(*node.args) for op in call.results] or [node]
        args: list[ir.Pointer | ir.Expr] = []
        for arg in call.args:
            match arg:
                case Argument(number) if number < 0:
                    target = self.destinations(results[-number - 1])[0]
                    args.append(ir.Pointer(target, ir.const(0), written=True))
                case Argument(number):
                    args.append(ir.Pointer(self.home(node.args[number]), ir.const(0)))
                case _:
                    args.append(arg)
        note = "\n".join(described(stage.node) for stage in stages)
        self._steps.append(ir.Routine(call.routine, tuple(args), note))
        for result in results:
            target, *copies = self.destinations(result)
            self._steps += [self._copy(result, target, copy) for copy in copies]

    def _copy(self, node: Tensor, source: str, target: str) -> ir.Routine:
        count: ir.Expr = ir.const(node.dtype.bytes)
        for extent in self._shape(node):
            count = ir.mul(count, extent)
        to = ir.Pointer(target, ir.const(0), written=True)
        return ir.Routine("copy_bytes", (to, ir.Pointer(source, ir.const(0)), count))

    def _check(self, test: Test) -> ir.Check:
        code = test.number + 1
        if test.node is not None:
            if isinstance(test.node.op, Constant):
                return ir.Check(ir.Const(bool(test.node.op.value), BOOL), code)
            return ir.Check(ir.Load(self.home(test.node), ir.const(0), BOOL), code)
        assert isinstance(test.requirement.holds, tuple)
        left, right = (self._sizes.raw(dim) for dim in test.requirement.holds)
        return ir.Check(ir.binary("eq", left, right), code)


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
