"""Numbers that are written where they are used: constants, and arithmetic on numbers of steps."""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.graph.dims import Dim, Extreme, Size, atoms, fits_always, sizes
from symc.graph.formulas import Formula
from symc.graph.inputs import Constant, Input, Shared
from symc.graph.lowering import At, SizeOf
from symc.graph.node import Op, Tensor
from symc.graph.types import TensorType
from symc.graph.walks import walk
from symc.tensor.checks import BOUNDS
from symc.tensor.lengths import Derived, dim_of, tensor_of


@record
class StepNumber(Op):
    """The number of a loop's step: the value of the size `variable`, one of `steps`.

    Those of loops with other counts are other nodes: what is in range in one may not be in another.
    """

    variable: str
    steps: Dim | None = None

    @property
    def is_natural(self) -> bool:
        """Steps are counted from 0: lengths that follow from them may use it."""
        return True

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, ())

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(Formula((), ir.Var(self.variable)))


BOUNDS[StepNumber] = lambda node, args: (0, None)


def as_number(node: Tensor, unified: Callable[[Dim], Dim]) -> Tensor | None:
    """A node that is a number known when a step begins, as it is written inside of the loop.

    It is a constant, or arithmetic on such, on the numbers of steps and on the lengths of arrays
    that are given to the program, which is what `unified` makes of lengths; None for others.
    """
    if isinstance(node.op, Constant):
        return None if node.type.shape else node
    if node.ndim or node.dtype is not INT64:
        return None
    dim = dim_of(node)
    inside = walk([node], stop=lambda part: bool(part.ndim))
    if all((part.args and not part.ndim) or _is_there(part) for part in inside):
        return node
    dim = unified(dim)
    if not all(map(_is_known, sizes(dim))) or not _is_the_same(dim):
        return None
    # A length that may need more than 64 bits is computed as one.
    return None if any(isinstance(part.op, Derived) for part in inside) else tensor_of(dim)


def _is_there(leaf: Tensor) -> bool:
    """Whether something is the same node outside of a loop and inside; a slot is not."""
    return isinstance(leaf.op, Constant | StepNumber) and not leaf.ndim


def _is_the_same(dim: Dim) -> bool:
    """Whether a length is, in 64 bits, what arithmetic that may wrap gives for it."""
    return all(
        isinstance(atom, Size)
        or (isinstance(atom, Extreme) and fits_always(atom.left) and fits_always(atom.right))
        for atom in atoms(dim)
    )


def is_index(node: Tensor) -> bool:
    """Whether an integer is arithmetic on numbers of steps and lengths of slots."""
    found = set(sizes(dim_of(node)))
    steps = {size for size in found if isinstance(size.source.op, StepNumber)}
    return 0 < len(steps) < len(found)


def _is_known(size: Size) -> bool:
    if size.axis is None:
        return isinstance(size.source.op, StepNumber)
    return isinstance(size.source.op, Input | Shared)
