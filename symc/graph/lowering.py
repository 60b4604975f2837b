"""The ways an op's result can be computed in loops: a closed set, so that scheduling knows all.

    Lowering = At        each element from its index alone
             | Fold      each element by combining values over extra axes (sum, max, products)
             | Write     a buffer filled part by part (concatenate, pad, set and add at indexes)
             | Sweep     a running fold along one axis (cumsum)
             | LibCall   a routine on whole buffers (BLAS), which may compute several nodes
             | HostCall  a call back into Python, for ops without a C form
             | Alias     the argument's buffer under another shape (reshape)
             | Control   steps that run again and again, or only if a condition holds

An element is described by a *formula* (`formulas.py`): the elements of the arguments that are read,
and a value of them. All of a lowering is data, and the lengths that it depends on are those that
`Op.lower` asks for: they are known before anything is scheduled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from symc.codegen import ir
from symc.codegen.dtypes import DType
from symc.codegen.record import field, record
from symc.graph.dims import Dim
from symc.graph.formulas import Formula, IndexFormula
from symc.graph.node import Op

SizeOf: TypeAlias = "Callable[[Dim], ir.Expr]"


@record
class At:
    """Each element of the result has a formula of its own."""

    element: Formula


@record
class Fold:
    """Each element is `op` over terms, one for each folded index over `extents`.

    The running value has dtype `dtype` (wider than the result where that keeps digits) and starts
    from `initial`; terms have that dtype, and the end value is cast to the node's.

    With `finds`, `op` is `max` or `min`, and the result is the place of the first term that is the
    extreme, or of the first NaN, in row-major order: `lower/extremes.py`. A device does
    `otherwise`.
    """

    extents: tuple[Dim, ...]
    op: ir.AccumulateOp
    dtype: DType
    initial: ir.Const
    element: Formula
    finds: bool = False
    otherwise: At | None = field(default=None, compare=False)


@record
class Written:
    """Writes a value to a target for all indexes over `extents`.

    `parallel` says that no two of these have the same target. `target` gives an index of the
    result, in range. Where it is not parallel, writes happen in row-major order: the last one wins.
    """

    extents: tuple[Dim, ...]
    target: IndexFormula
    value: Formula
    combine: Literal["set", "add", "max", "min", "mul"] = "set"
    parallel: bool = True


@record
class Write:
    """The result starts as `base` (None: the parts cover it all) and the parts write into it."""

    base: Formula | None
    parts: tuple[Written, ...]


@record
class Sweep:
    """Along `axis`, element i is `op` of element i-1 and the formula's value: a running fold.

    With `scale`, the element before is first multiplied by its value: a linear recurrence.
    """

    axis: int
    op: ir.AccumulateOp
    dtype: DType
    initial: ir.Const
    element: Formula
    scale: Formula | None = None


@record
class Argument:
    """A whole argument or result as a routine's parameter.

    Arguments count from 0 upwards, results from -1 downwards. One without axes may be passed
    `by_value`. A routine that reads a part of an argument is given its element at `offset`.
    """

    number: int
    by_value: bool = False
    offset: ir.Expr = field(default_factory=lambda: ir.const(0))


@record
class LibCall:
    """A call of a routine of `codegen/routines.py` on whole buffers.

    A routine that computes several arrays computes several nodes: `results` are the ops of all of
    them, in the order of the routine's results and on the same arguments, and each of these nodes
    lowers to an equal call. The routine then runs once for those that are wanted; the others go
    to memory that nothing reads. Empty: the node is the only result.

    A routine that begins something is called as early as its arguments allow (`when`), and one that
    waits for it as late as possible.

    `otherwise` is done where a target lacks the routine; without it, `HostCall` is.
    """

    routine: str
    args: tuple[Argument | ir.Expr, ...]
    results: tuple[Op, ...] = ()
    otherwise: At | Fold | Write | None = field(default=None, compare=False)
    note: str = field(default="", compare=False)
    when: Literal["begins", "in order", "waits"] = "in order"


@record
class HostCall:
    """A call back into Python from inside the program: the op's own `evaluate` on whole arrays.

    The honest fallback for ops without a C form. `results` are as those of a `LibCall`.
    """

    results: tuple[Op, ...] = ()


@record
class Alias:
    """The result is argument 0's elements in the same order, under the node's own shape."""


@record
class Control:
    """A loop or a branch around the graphs that the op has inside; `symc/loops` lowers those.

    As of a routine, `results` are the ops of all its results, which one loop computes together.
    Arguments from number `first` on are read from memory; those before are lengths.
    """

    results: tuple[Op, ...]
    first: int = 0


Lowering: TypeAlias = At | Fold | Write | Sweep | LibCall | HostCall | Alias | Control
