"""Whether what ops promise, or take for granted, holds of those of a file.

Functions of `T` see to it before they make an op: that places are in range, that one argument is
the number of what another one has, that windows end where an axis does. Routines and rules on
indexes rely on it, and a file may have the op without. So such arguments are made or checked anew
here, which gives the same ones for nearly all files of symc's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.codegen.dtypes import BOOL, INT32, INT64, UINT64, DType
from symc.errors import BadFile
from symc.graph.dims import Dim, product
from symc.graph.inputs import constant_value
from symc.graph.node import METHODS, OPERATORS, Op, Tensor, intern
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.fold import reduce_over
from symc.tensor.lengths import fill_dims, tensor_of
from symc.tensor.specify import specify_length


def kept_promises(op: Op, args: list[Tensor]) -> Tensor:
    """The node of an op of a file, whose arguments are as its code takes them."""
    change = _CHANGES.get(type(op).__module__)
    return intern(op, tuple(args)) if change is None else change(op, args)


def _wanted(op: Op, args: Sequence[Tensor], *types: tuple[DType | None, int | None]) -> None:
    """Refuses arguments of other dtypes and ranks; None stands for any."""
    fits = len(args) == len(types) and all(
        (dtype is None or arg.dtype is dtype) and (ndim is None or arg.ndim == ndim)
        for arg, (dtype, ndim) in zip(args, types, strict=True)
    )
    if not fits:
        raise BadFile(f"{op.label} takes other arguments than {list(args)!r:.80}")


def _checked(x: Tensor, holds: Tensor, label: str) -> Tensor:
    """`x`, a condition of which is checked unless it has been."""
    from symc.tensor.checked import Checked

    value = constant_value(holds)
    known = value is not None and bool(value.all())
    if known or (isinstance(x.op, Checked) and x.args[1] is holds):
        return x
    return Checked(f"{label}: a place is out of range", is_index=True)(x, holds)


def _below(x: Tensor, length: Dim, label: str) -> Tensor:
    """Places, of which it is checked that they are below a length and not negative.

    As unsigned numbers negative ones are the largest. `bincount` has asked for the same maximum.
    """
    most = reduce_over("max", cast_to(x, UINT64), tuple(range(x.ndim)), allow_empty=True)
    fits = OPERATORS["lt"](most, cast_to(tensor_of(length), UINT64))
    is_empty = OPERATORS["eq"](tensor_of(product(x.type.shape)), 0)
    return _checked(x, OPERATORS["logical_or"](is_empty, fits), label)


# --- the ops of each module -----------------------------------------------------------------------


def _of_positions(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.positions import Coordinate, FlatNonzero, flat_nonzero

    match op:
        case FlatNonzero():
            _wanted(op, args, (BOOL, None), (INT64, 1), (INT64, 0))
            return flat_nonzero(args[0])
        case Coordinate(_, template):
            flat, *holes = args
            _wanted(op, args, (INT64, None), *[(INT64, 0)] * len(holes))
            total = product(fill_dims(template, holes))
            if not isinstance(flat.op, FlatNonzero) or total != product(flat.args[0].type.shape):
                flat = _below(flat, total, op.label)
            return intern(op, (flat, *holes))
        case _:
            return intern(op, tuple(args))


def _of_checked(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.checked import Below, Checked
    from symc.tensor.segments import holds_segments
    from symc.tensor.sorting.counting import holds_all

    match op:
        case Checked(natural=True):
            _wanted(op, args, (None, None), (BOOL, None))
            return intern(op, (args[0], OPERATORS["ge"](args[0], 0)))
        case Below():
            _wanted(op, args, (INT64, None), (None, 1))
            x, target = args
            length = target.type.shape[0]
            if x.ndim != 1 or not (holds_all(length, x) or holds_segments(length, x)):
                x = _below(x, length, op.label)
            return intern(op, (x, target))
        case _:
            return intern(op, tuple(args))


def _of_along(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.along import RepeatedPositions

    if isinstance(op, RepeatedPositions):
        _wanted(op, args, (INT64, 1), (INT64, 0))
        return intern(op, (args[0], METHODS["sum"](args[0])))
    return intern(op, tuple(args))


def _of_order(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.sorting.order import (
        InverseOrder,
        Ordered,
        RowOrder,
        Topmost,
        has_as_many,
    )

    match op:
        case InverseOrder():
            _wanted(op, args, (INT64, None))
            known = args[0].op
            if isinstance(known, Ordered | RowOrder) and args[0].dtype is INT64:
                return intern(op, tuple(args))
            return Ordered(places=True, descending=False)(*args)  # the same, of any numbers
        case Topmost(count):
            return intern(op, (has_as_many(args[0], count),))
        case _:
            return intern(op, tuple(args))


def _of_search(op: Op, args: list[Tensor]) -> Tensor:
    _wanted(op, args, (args[-1].dtype, 1), (args[0].dtype, None))
    return intern(op, tuple(args))


def _of_reduce(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.reduce import FoundExtreme

    if isinstance(op, FoundExtreme):
        raise BadFile(f"{op.label} of a file looks for its place itself")
    return intern(op, tuple(args))


def _of_sparse(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.sparse.products import SparseSamples

    one, structure = (args[-1].dtype, None), ((INT32, 1), (INT64, 1), (INT64, 0))
    if isinstance(op, SparseSamples):
        _wanted(op, args, *structure, (args[-1].dtype, args[-1].ndim), one)
    elif len(args) > len(structure):
        _wanted(op, args, (args[-1].dtype, 1), *structure, one)
    else:
        _wanted(op, args, *structure)
    if len(args) > len(structure) and args[-1].ndim not in (1, 2):
        raise BadFile(f"{op.label} takes vectors and matrices, not {describe(args[-1])}")
    return intern(op, tuple(args))


def _of_transforms(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.fft.transforms import FromReal, ToReal, half

    x, *rest = args
    is_wanted = x.dtype.is_float if isinstance(op, FromReal) else x.dtype.is_complex
    if not is_wanted:
        raise BadFile(f"{op.label} takes other numbers than {describe(x)}")
    if isinstance(op, ToReal):
        _wanted(op, args, (None, None), (INT64, 0))
        n = intern(op, tuple(args)).type.shape[op.axis]
        x = specify_length(x, op.axis, half(n))
    return intern(op, (x, *rest))


def _of_windows(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.nnet.geometry import window_count
    from symc.tensor.nnet.windows import OverlapAdd, Windows

    if isinstance(op, Windows | OverlapAdd) and min(*op.strides, *op.dilations) < 1:
        raise BadFile(f"{op.label} goes on by no element")
    if not isinstance(op, OverlapAdd):
        return intern(op, tuple(args))
    z, *holes = args
    lengths = fill_dims(op.lengths, holes)
    for axis, length in enumerate(reversed(lengths), 1):
        size = z.type.shape[-axis]
        count = window_count(length, size, op.strides[-axis], op.dilations[-axis])
        z = specify_length(z, z.ndim - len(lengths) - axis, count)
    return intern(op, (z, *holes))


def _of_ctc(op: Op, args: list[Tensor]) -> Tensor:
    _wanted(op, args, (None, 3), (INT64, 2), (INT64, 1), (INT64, 1))
    return intern(op, tuple(args))


def _of_attention(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.nnet.attention import Attention, AttentionBar

    if isinstance(op, AttentionBar):
        *given, output, logs, bar = args
        whole = Attention("output", op.causal)(*given)  # whose lengths are checked
        rows = Attention("logs", op.causal)(*given)
        _wanted(op, [output, logs, bar], *[(of.dtype, of.ndim) for of in (whole, rows, whole)])
        for number, like in ((-3, whole), (-2, rows), (-1, whole)):
            for axis, length in enumerate(like.type.shape):
                args[number] = specify_length(args[number], axis, length)
    return intern(op, tuple(args))


def _of_draw(op: Op, args: list[Tensor]) -> Tensor:
    from symc.tensor.random.draw import Draw

    if args[0].dtype is not UINT64 or args[0].ndim != 1:
        raise BadFile(f"{op.label} takes a key, not {describe(args[0])}")
    args[0] = specify_length(args[0], 0, 2)
    if isinstance(op, Draw):
        first = 1 + op.template.count(None)
        shape = intern(op, tuple(args)).type.shape
        for number, arg in enumerate(args[first:], first):
            if arg.ndim not in (0, len(shape)):
                raise BadFile(f"{op.label} takes no parameter of {arg.ndim} axes")
            for axis in range(arg.ndim):
                args[number] = specify_length(args[number], axis, shape[axis])
    return intern(op, tuple(args))


_CHANGES: dict[str, Callable[[Op, list[Tensor]], Tensor]] = {
    "symc.tensor.positions": _of_positions,
    "symc.tensor.checked": _of_checked,
    "symc.tensor.along": _of_along,
    "symc.tensor.sorting.order": _of_order,
    "symc.tensor.sorting.search": _of_search,
    "symc.tensor.reduce": _of_reduce,
    "symc.tensor.sparse.products": _of_sparse,
    "symc.tensor.fft.transforms": _of_transforms,
    "symc.tensor.nnet.windows": _of_windows,
    "symc.tensor.nnet.ctc": _of_ctc,
    "symc.tensor.nnet.attention": _of_attention,
    "symc.tensor.random.draw": _of_draw,
    "symc.tensor.random.orders": _of_draw,
}
