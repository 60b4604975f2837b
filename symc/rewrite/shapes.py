"""Rules of views, stretching and reductions.

Canonical forms: views of views are one view; elementwise functions take operands that are not
stretched, and stretching stands outside; reductions are of tensors whose axes are in their own
order, over no axes of length 1, and of no other reduction of the same kind.
"""

from __future__ import annotations

from symc.codegen.dtypes import BOOL, DType
from symc.graph import dims
from symc.graph.inputs import scalar_constant
from symc.graph.node import OPERATORS, Tensor
from symc.rewrite.rule import EXACT, FINITE, ROUNDS, Rules
from symc.rewrite.zeros import has_no_negative_zero
from symc.tensor.elementwise import Cast, Elementwise, cast_to
from symc.tensor.fold import Reduce, reduce_over
from symc.tensor.gather import Gather
from symc.tensor.lengths import Length, tensor_of
from symc.tensor.reshape import Reshape, reshape
from symc.tensor.shape import Concatenate
from symc.tensor.slices import Slice
from symc.tensor.views import BroadcastTo, DimShuffle, broadcast_to, dimshuffle

SHAPES = Rules("shapes")
structural = SHAPES.structural

# --- views ----------------------------------------------------------------------------------------


@structural("one shuffle of axes, not two", DimShuffle, valid=EXACT)
def _shuffle(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, DimShuffle)
    return dimshuffle(node.args[0], list(node.op.order))


@structural("one reshape, not two", Reshape, valid=EXACT)
def _reshape(node: Tensor) -> Tensor | None:
    x = node.args[0]
    after = reshape(x, node.type.shape)
    if not isinstance(after.op, Reshape):
        return after
    # Its own lengths stay: computed from the shape, they would be other scalars each time.
    return None if after.args[0] is x else node.op(after.args[0], *node.args[1:])


@structural("one stretch, not two", BroadcastTo, valid=EXACT)
def _stretch(node: Tensor) -> Tensor | None:
    x = _without_stretch(node.args[0])
    if x.type.shape == node.type.shape:
        return x
    return None if x is node.args[0] else node.op(x, *node.args[1:])


def _only_pads(node: Tensor) -> bool:
    """Whether a node only adds axes of length 1 in front, as broadcasting does by itself."""
    if not isinstance(node.op, DimShuffle):
        return False
    rank = node.args[0].ndim
    added = node.ndim - rank
    return added >= 0 and node.op.order == (*[None] * added, *range(rank))


@structural("a number with axes is a stretched number", DimShuffle, valid=EXACT)
def _padded_number(node: Tensor) -> Tensor | None:
    x = node.args[0]
    return None if x.ndim else broadcast_to(x, node.type.shape)


@structural(
    "a view of a stretched number", DimShuffle, Reshape, Slice, Gather,
    valid=EXACT, inner=[BroadcastTo],
)  # fmt: skip
def _view_of_number(node: Tensor) -> Tensor | None:
    x = node.args[0]
    if not isinstance(x.op, BroadcastTo) or x.args[0].ndim:
        return None
    return broadcast_to(x.args[0], node.type.shape)


@structural("one cast, not two", Cast, valid=EXACT, inner=[Cast])
def _cast(node: Tensor) -> Tensor | None:
    inner = node.args[0]
    if not isinstance(inner.op, Cast):
        return None
    x = inner.args[0]
    first, middle, last = x.type.dtype, inner.type.dtype, node.type.dtype
    if last is first and keeps_values(first, middle):
        return x
    floats = first.is_float and last.is_float and keeps_values(first, middle)
    return cast_to(x, last) if floats or _wraps_alike(first, middle, last) else None


def keeps_values(first: DType, second: DType) -> bool:
    """Whether every value of the first dtype is one of the second."""
    digits = {16: 11, 32: 24, 64: 53}
    match first.kind, second.kind:
        case ("bool", _):
            return True
        case (_, "bool") | ("float", "int" | "uint") | ("int", "uint"):
            return False
        case (_, "complex") if first.kind != "complex":
            return keeps_values(first, second.component)
        case ("complex", _) if second.kind != "complex":
            return False
        case ("uint", "int"):
            return first.bits < second.bits
        case ("int" | "uint", "float"):
            return first.bits <= digits[second.bits]
        case _:
            return first.bits <= second.bits


def _wraps_alike(first: DType, middle: DType, last: DType) -> bool:
    """Whether integers lose no bits on the way that the last dtype has."""
    if BOOL in (middle, last) or any(dtype.is_inexact for dtype in (first, middle, last)):
        return False
    return last.bits <= middle.bits or keeps_values(first, middle)


@structural("a length that is known", Length, valid=EXACT)
def _length(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, Length)
    return tensor_of(node.op.dim(node))


@structural("one part, joined with nothing", Concatenate, valid=EXACT)
def _only_part(node: Tensor) -> Tensor | None:
    return node.args[0] if len(node.args) == 1 else None


# --- stretching -----------------------------------------------------------------------------------


@structural(
    "elementwise of what is not stretched", Elementwise, Cast,
    valid=EXACT, inner=[BroadcastTo, DimShuffle],
)  # fmt: skip
def _unstretched(node: Tensor) -> Tensor | None:
    args = [_without_stretch(arg) for arg in node.args]
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return None
    return node.op(*args)


def _without_stretch(node: Tensor) -> Tensor:
    while (isinstance(node.op, BroadcastTo) and not _tells_one(node)) or _only_pads(node):
        node = node.args[0]
    return node


def _tells_one(stretched: Tensor) -> bool:
    """Whether it is known by a stretch alone that a length is 1: then others broadcast along it."""
    lengths = zip(stretched.args[0].type.shape[::-1], stretched.type.shape[::-1], strict=False)
    return any(own != 1 and wanted == 1 for own, wanted in lengths)


# --- reductions -----------------------------------------------------------------------------------


@structural("no axes of length 1", Reduce, valid=EXACT)
def _drop_single(node: Tensor) -> Tensor | None:
    assert isinstance(node.op, Reduce)
    op, x = node.op, node.args[0]
    return reduce_over(op.kind, x, op.axes, allow_empty=op.allow_empty)


def _merged(node: Tensor) -> Tensor | None:
    """A reduction of a reduction of the same kind, as one."""
    outer, inner = node.op, node.args[0].op
    if not isinstance(outer, Reduce) or not isinstance(inner, Reduce):
        return None
    if outer.kind != inner.kind or outer.allow_empty != inner.allow_empty:
        return None
    x = node.args[0].args[0]
    kept = [axis for axis in range(x.ndim) if axis not in inner.axes]
    axes = sorted([*inner.axes, *(kept[axis] for axis in outer.axes)])
    return Reduce(outer.kind, tuple(axes), outer.allow_empty)(x)


def order_shows(node: Tensor) -> bool:
    """Whether the order of a reduction shows in its result."""
    return isinstance(node.op, Reduce) and node.op.kind in ("add", "mul") and node.dtype.is_inexact


@structural("one extreme, not two", Reduce, valid=EXACT, inner=[Reduce])
def _extreme_of_extreme(node: Tensor) -> Tensor | None:
    return None if order_shows(node) else _merged(node)


@structural("one sum, not two", Reduce, valid=ROUNDS, inner=[Reduce])
def _sum_of_sum(node: Tensor) -> Tensor | None:
    return _merged(node)


def _of_shuffled(node: Tensor) -> Tensor | None:
    """A reduction of axes in another order, as axes in another order of a reduction."""
    outer, shuffle = node.op, node.args[0].op
    if not isinstance(outer, Reduce) or not isinstance(shuffle, DimShuffle):
        return None
    x = node.args[0].args[0]
    axes = sorted(axis for at in outer.axes if (axis := shuffle.order[at]) is not None)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    order = [axis for at, axis in enumerate(shuffle.order) if at not in outer.axes]
    result = Reduce(outer.kind, tuple(axes), outer.allow_empty)(x) if axes else x
    return dimshuffle(result, [None if axis is None else kept.index(axis) for axis in order])


@structural("an extreme of shuffled axes", Reduce, valid=EXACT, inner=[DimShuffle])
def _extreme_of_shuffled(node: Tensor) -> Tensor | None:
    return None if order_shows(node) else _of_shuffled(node)


@structural("a sum of shuffled axes", Reduce, valid=ROUNDS, inner=[DimShuffle])
def _sum_of_shuffled(node: Tensor) -> Tensor | None:
    return _of_shuffled(node)


def _of_stretched(node: Tensor) -> tuple[Tensor, dims.Dim] | None:
    """A reduction of a stretched tensor over its own axes, and how often that repeats."""
    op, stretched = node.op, node.args[0]
    if not isinstance(op, Reduce) or not isinstance(stretched.op, BroadcastTo):
        return None
    x, shape = stretched.args[0], stretched.type.shape
    extra = len(shape) - x.ndim
    own = [None if axis < extra else x.type.shape[axis - extra] for axis in range(len(shape))]
    repeated = [at for at in op.axes if own[at] is None or (own[at] == 1 and shape[at] != 1)]
    if not repeated:
        return None
    kept = [at for at in range(len(shape)) if at not in repeated]
    inner = dimshuffle(x, [at - extra for at in kept if at >= extra])
    inner = broadcast_to(inner, tuple(shape[at] for at in kept))
    axes = [kept.index(at) for at in op.axes if at not in repeated]
    result = reduce_over(op.kind, inner, axes, allow_empty=op.allow_empty)
    return result, dims.product(shape[at] for at in repeated)


@structural("an extreme of a stretched tensor", Reduce, valid=EXACT, inner=[BroadcastTo])
def _extreme_of_stretched(node: Tensor) -> Tensor | None:
    found = _of_stretched(node)
    if found is None or not isinstance(node.op, Reduce) or node.op.kind in ("add", "mul"):
        return None
    result, count = found
    refuses_empty = node.op.kind in ("max", "min") and not node.op.allow_empty
    return result if refuses_empty or (isinstance(count, int) and count > 0) else None


@structural("a sum of a stretched tensor", Reduce, valid=ROUNDS, inner=[BroadcastTo])
def _sum_of_stretched(node: Tensor) -> Tensor | None:
    found = _of_stretched(node)
    if found is None or not isinstance(node.op, Reduce) or node.op.kind != "add":
        return None
    result, count = found
    if not isinstance(count, int) or count <= 0 or node.dtype.bits == 16:
        return None
    factor = scalar_constant(float(count) if node.dtype.is_inexact else count, node.dtype)
    product: Tensor = OPERATORS["mul"](result, factor)
    return product if has_no_negative_zero(result) else OPERATORS["add"](product, 0)


@structural("a sum of a tensor stretched by a length", Reduce, valid=FINITE, inner=[BroadcastTo])
def _sum_of_stretched_by_length(node: Tensor) -> Tensor | None:
    found = _of_stretched(node)  # no elements sum to 0, which inf * 0 is not
    if found is None or not isinstance(node.op, Reduce) or node.op.kind != "add":
        return None
    if isinstance(found[1], int) or node.dtype.bits == 16:
        return None
    product: Tensor = OPERATORS["mul"](found[0], cast_to(tensor_of(found[1]), node.dtype))
    return product
