"""The tools that build kernels: named values, loops, and the elements that stages read and keep.

KernelContext   the program around a kernel: where values are, how long axes are
Scope           a block that is being written, and the elements that have names in it
KernelBuilder   one kernel: its names, the buffers it uses, the values of its stages so far
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symc.codegen import ir
from symc.codegen.dtypes import DType
from symc.codegen.record import field, record
from symc.graph.dims import Dim
from symc.graph.formulas import Index
from symc.graph.lowering import Lowering
from symc.graph.node import Tensor
from symc.lower.trace import Tracer
from symc.schedule.sizes import Lengths, UniqueNames
from symc.schedule.stages import Stage


def loop_name(depth: int) -> str:
    """i, j, k, l, ii, jj ...: the name of a loop's variable by how deep it stands."""
    return "ijkl"[depth % 4] * (depth // 4 + 1)


LOOP_VARIABLES = tuple(map(loop_name, range(8)))
"""Names reserved for loop variables; few loops are nested deeper."""


@record
class KernelContext:
    """All that a kernel needs from the program around it."""

    sizes: Lengths
    dims: Mapping[Tensor, tuple[Dim, ...]]
    lowerings: Mapping[Tensor, Lowering]
    is_stored: Callable[[Tensor], bool]
    home: Callable[[Tensor], str]
    destinations: Callable[[Tensor], Sequence[str]]
    outside: Callable[[Tensor], bool]
    temp: Callable[[str, DType, tuple[ir.Expr, ...]], str]
    dtype_of: Callable[[str], DType]
    begins_there: Callable[[Tensor, Tensor, str], bool]
    describe: Callable[[Tensor], str]
    on_device: bool


@record(frozen=False)
class Scope:
    """A block being written, and the elements already named in it or around it.

    `stores` go to the end of the block: values of other stages may still be read from where they
    overwrite.
    """

    block: list[ir.Stmt]
    tracer: Tracer
    stores: list[ir.Stmt] = field(default_factory=list)

    def statements(self) -> list[ir.Stmt]:
        """The finished block."""
        return [*self.block, *self.stores]


class KernelBuilder:
    """The state shared by the functions that write one kernel; it notes which buffers they use."""

    def __init__(self, context: KernelContext, names: UniqueNames) -> None:
        self.context = context
        self.names = names.of_kernel()
        self.names.taken.difference_update(LOOP_VARIABLES)
        self._params: dict[str, bool] = {}
        self._values: dict[Tensor, ir.Expr] = {}
        self._rows: dict[Tensor, tuple[str, int]] = {}

    def params(self) -> list[ir.Param]:
        """The buffers used so far, in order of first use."""
        return [
            ir.Param(name, self.context.dtype_of(name), written)
            for name, written in self._params.items()
        ]

    # --- loops and indexes ------------------------------------------------------------------------

    def loops(self, depth: int, count: int) -> list[ir.Var]:
        """Fresh variables for `count` nested loops, named by how deep they stand."""
        wanted = map(loop_name, range(depth, depth + count))
        return [ir.Var(self.names.fresh(name, name)) for name in wanted]

    def index(self, stage: Stage, variables: Sequence[ir.Expr]) -> Index:
        """The index of a stage's element: the variables along its loops, 0 along length 1."""
        place = dict(zip(stage.loops, variables, strict=True))
        return tuple(place.get(axis, ir.const(0)) for axis in range(stage.node.ndim))

    def extents(self, stage: Stage, axes: Sequence[int]) -> list[ir.Expr]:
        """The lengths of some axes of a stage's result."""
        dims = self.context.dims[stage.node]
        return [self.context.sizes(dims[axis]) for axis in axes]

    def flat(self, node: Tensor, index: Index, skip: int = 0) -> ir.Expr:
        """The position of an element, by Horner's rule; `skip` outer loops are left out."""
        dims = self.context.dims[node]
        pairs = [(i, dim) for i, dim in zip(index, dims, strict=True) if dim != 1][skip:]
        flat: ir.Expr = ir.const(0)
        for i, dim in pairs:
            flat = _joined(flat, self.context.sizes(dim), i)
        return flat

    # --- reading and keeping elements -------------------------------------------------------------

    def scope(self, block: list[ir.Stmt], outer: Scope | None) -> Scope:
        """A block inside another: it sees the elements named there."""

        def stored(node: Tensor, index: Index) -> ir.Expr | None:
            if outer is not None:
                found = outer.tracer.memo.get((node, index))
                if found is not None:
                    return found
            loaded = self._load(node, index)
            if isinstance(loaded, ir.Load) and node.ndim and node.dtype.is_integer:
                return self.named(block, None, loaded)  # an index may leave the loops inside
            return loaded

        def name(node: Tensor, index: Index, value: ir.Expr) -> ir.Expr:
            return self.named(block, node.name, value)

        return Scope(block, Tracer(self.context.lowerings, stored, name))

    def named(self, block: list[ir.Stmt], wanted: str | None, value: ir.Expr) -> ir.Expr:
        """The value under a name of its own, unless it is one already."""
        if isinstance(value, ir.Const | ir.Var):
            return value
        var = ir.Var(self.names.fresh(wanted, "t"), value.dtype)
        block.append(ir.Let(var, value))
        return var

    def _load(self, node: Tensor, index: Index) -> ir.Expr | None:
        if node in self._values:
            return self._values[node]
        if node in self._rows:
            row, depth = self._rows[node]
            return ir.Load(row, self.flat(node, index, depth), node.dtype)
        if not self.context.is_stored(node):
            return None
        buffer = self.context.home(node)
        self.uses(buffer, written=False)
        return ir.Load(buffer, self.flat(node, index), node.dtype)

    def uses(self, buffer: str, *, written: bool) -> None:
        """Notes that the kernel needs a buffer."""
        self._params[buffer] = self._params.get(buffer, False) or written

    def keep(
        self, stage: Stage, index: Index, value: ir.Expr, depth: int, scope: Scope, outer: Scope
    ) -> None:
        """Stores a stage's element wherever it is wanted, for this kernel and for others."""
        node = stage.node
        value = self.named(scope.block, node.name, value)
        whole = len(stage.loops) == depth
        if whole:
            self._values[node] = value
        if self.context.outside(node):
            for buffer in self.context.destinations(node):
                self.uses(buffer, written=True)
                store = ir.Store(buffer, self.flat(node, index), value)
                (scope.stores if whole else scope.block).append(store)
        elif not whole:
            row = self.names.fresh(node.name, "row")
            extents = tuple(self.extents(stage, stage.loops[depth:]))
            outer.block.append(ir.Alloc(ir.Buffer(row, node.dtype, extents, "local")))
            self._rows[node] = (row, depth)
            scope.block.append(ir.Store(row, self.flat(node, index, depth), value))


def _joined(row: ir.Expr, length: ir.Expr, column: ir.Expr) -> ir.Expr:
    """``row*length + column``: the place that they were computed from, if there is one."""
    match row, column:
        case ir.Binary("floordiv", place, a), ir.Binary("mod", same, b) if (
            place == same and a == b == length
        ):
            return place
        case _:
            return ir.add(ir.mul(row, length), column)
