"""Matching: patterns against graphs, and graphs made from patterns.

Matching sees through views and through casts between floats: they commute with every elementwise
function, so ``V(1 + x)`` is matched as ``1 + V(x)``. Functions over axes do not commute with views;
`views_above` helps rules to move such views outside instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, assert_never

from symc.codegen.dtypes import BOOL, DType
from symc.codegen.record import record
from symc.graph.inputs import Constant, constant_value, scalar_constant
from symc.graph.node import Tensor
from symc.rewrite.pattern import Call, Number, Parameter, Pattern, Variable
from symc.tensor.elementwise import ELEMENTWISE, Cast, Elementwise, cast_to
from symc.tensor.fold import Reduce, reduce_over
from symc.tensor.gather import Gather
from symc.tensor.reshape import Reshape, reshape
from symc.tensor.slices import Slice
from symc.tensor.softmaxes import LogSoftmax, LogSumExp, Softmax
from symc.tensor.views import BroadcastTo, DimShuffle, broadcast_to, dimshuffle, expand_dims

# The cheap key of a node: the op itself for elementwise functions, else its class.
OpKind: TypeAlias = "Elementwise | type"
Found: TypeAlias = "dict[Variable | Parameter, Any]"
Taken: TypeAlias = tuple[Sequence[Tensor], tuple[Any, ...]]

VIEWS: frozenset[OpKind] = frozenset({DimShuffle, Reshape, BroadcastTo, Slice, Gather, Cast})
# How many views are looked through: a bound that keeps matching linear.
DEPTH = 8


def kind_of(node: Tensor) -> OpKind:
    """The kind of a node's op."""
    op = node.op
    return op if type(op) is Elementwise else type(op)


@record(eq=False)
class PatternFunction:
    """A function in patterns: `take` gives arguments and parameters of a node that may match."""

    kind: OpKind
    take: Callable[[Tensor], Taken | None]
    build: Callable[[Sequence[Tensor], Sequence[Any]], Tensor]


# --- functions over axes --------------------------------------------------------------------------


def _over_axes(kind: type[Softmax | LogSoftmax | LogSumExp]) -> PatternFunction:
    def take(node: Tensor) -> Taken | None:
        op = node.op
        return (node.args, (op.axes,)) if isinstance(op, kind) else None

    return PatternFunction(kind, take, lambda args, parameters: kind(parameters[0])(args[0]))


def _reduction(kind: Any) -> PatternFunction:
    def take(node: Tensor) -> Taken | None:
        match node.op:
            case Reduce(kind=found, axes=axes) if found == kind:
                return node.args, (axes,)
            case _:
                return None

    return PatternFunction(Reduce, take, lambda args, axes: reduce_over(kind, args[0], axes[0]))


def _kept_reduction(kind: Any) -> PatternFunction:
    """A reduction that broadcasts against its argument, whether its axes were kept or put back."""

    def take(node: Tensor) -> Taken | None:
        inner = node.args[0] if isinstance(node.op, BroadcastTo) else node
        order = inner.op.order if isinstance(inner.op, DimShuffle) else tuple(range(inner.ndim))
        inner = inner.args[0] if isinstance(inner.op, DimShuffle) else inner
        if not isinstance(inner.op, Reduce) or inner.op.kind != kind:
            return None
        x, axes = inner.args[0], inner.op.axes
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        places = [len(order) - x.ndim + axis for axis in kept]
        stands = [order[at] if at >= 0 else None for at in places]
        added = [axis for at, axis in enumerate(order) if at not in places]
        right = stands == list(range(len(kept))) and all(axis is None for axis in added)
        return (inner.args, (axes,)) if right and node.ndim <= x.ndim else None

    def build(args: Sequence[Tensor], axes: Sequence[Any]) -> Tensor:
        return reduce_over(kind, args[0], axes[0], keepdims=True)

    return PatternFunction(Reduce, take, build)


def _kept_logsumexp(node: Tensor) -> Taken | None:
    """A logsumexp that broadcasts against its argument, its axes having been kept."""
    inner = node.args[0] if isinstance(node.op, DimShuffle) else node
    if not isinstance(inner.op, LogSumExp):
        return None
    x, axes = inner.args[0], inner.op.axes
    own = iter(range(inner.ndim))
    kept = tuple(None if axis in axes else next(own) for axis in range(x.ndim))
    order = node.op.order if isinstance(node.op, DimShuffle) else tuple(range(node.ndim))
    fits = order == kept or not node.ndim
    return (inner.args, (axes,)) if fits else None


OVER_AXES: dict[str, PatternFunction] = {
    "softmax": _over_axes(Softmax),
    "log_softmax": _over_axes(LogSoftmax),
    "logsumexp": _over_axes(LogSumExp),
    "logsumexp_kept": PatternFunction(
        LogSumExp,
        _kept_logsumexp,
        lambda args, axes: expand_dims(LogSumExp(axes[0])(args[0]), axes[0]),
    ),
    "sum": _reduction("add"),
    "max": _reduction("max"),
    "sum_kept": _kept_reduction("add"),
    "max_kept": _kept_reduction("max"),
}
# Ops that expand into simpler ones; rules that make them may run only before that happens.
COMPOSITE = frozenset({"softmax", "log_softmax", "logsumexp", "logsumexp_kept"})


def kind_of_function(name: str) -> OpKind:
    """The kind of the nodes that are a function's results, views aside."""
    return OVER_AXES[name].kind if name in OVER_AXES else ELEMENTWISE[name]


# --- constants ------------------------------------------------------------------------------------


def unstretched(node: Tensor) -> Tensor:
    """The 0-d tensor that a tensor repeats, or the tensor itself."""
    inner = node
    for _ in range(DEPTH):
        if not inner.ndim:
            return inner
        if not isinstance(inner.op, BroadcastTo | DimShuffle | Reshape):
            break
        inner = inner.args[0]
    return node


def number_of(node: Tensor) -> bool | int | float | None:
    """The real number a tensor is everywhere, if that is known at a glance."""
    value = constant_value(unstretched(node))
    known = value is not None and not value.ndim and not node.type.dtype.is_complex
    return value.item() if value is not None and known else None


def is_power_of_two(value: float) -> bool:
    """Whether a number and its reciprocal are exact, normal powers of two in every float type."""
    mantissa, exponent = math.frexp(value)
    return abs(mantissa) == 0.5 and -13 <= exponent <= 15


# --- views ----------------------------------------------------------------------------------------


def is_view(node: Tensor) -> bool:
    """Whether a node commutes with elementwise functions: a view, or a cast between floats."""
    kind = type(node.op)
    if kind is Cast:
        return node.type.dtype.is_float and node.args[0].type.dtype.is_float
    return kind in VIEWS


def views_above(node: Tensor) -> tuple[list[Tensor], Tensor]:
    """The views that a node is made of, outermost first, and the node beneath."""
    views: list[Tensor] = []
    while len(views) < DEPTH and is_view(node):
        views.append(node)
        node = node.args[0]
    return views, node


def see(view: Tensor, x: Tensor) -> Tensor:
    """Another tensor of the same shape as `view` sees it."""
    match view.op:
        case DimShuffle(order=order):
            return dimshuffle(x, list(order))
        case Reshape():
            return reshape(x, view.type.shape)
        case BroadcastTo():
            return broadcast_to(x, view.type.shape)
        case Cast(dtype=dtype):
            return cast_to(x, dtype) if x.type.dtype.is_float else x
        case _:
            return view.op(x, *view.args[1:])


def _arguments_beneath_views(op: Elementwise, node: Tensor) -> Sequence[Tensor] | None:
    """The arguments of `op` such that `node` is its result, if `node` is views of such a result."""
    views, base = views_above(node)
    if not views or base.op is not op:
        return None
    shape = base.type.shape
    whole = [arg for arg in base.args if arg.ndim and arg.type.shape == shape]
    moved: list[Tensor] = []
    for arg in base.args:
        loose = bool(whole) and not arg.ndim
        if not loose and arg.type.shape != shape:
            arg = broadcast_to(arg, shape)
        for view in reversed(views):
            if not loose or isinstance(view.op, Cast):
                arg = see(view, arg)
        moved.append(arg)
    return moved


# --- matching -------------------------------------------------------------------------------------


def match(pattern: Pattern, node: Tensor, found: Found) -> bool:
    """Whether the pattern matches; then `found` has the values of its variables and parameters."""
    if isinstance(pattern, Call):
        function = OVER_AXES.get(pattern.function)
        if function is None:
            op = ELEMENTWISE[pattern.function]
            args = node.args if node.op is op else _arguments_beneath_views(op, node)
            if args is None:
                return False
        else:
            taken = function.take(node)
            if taken is None:
                return False
            args, values = taken
            for parameter, value in zip(pattern.parameters, values, strict=True):
                if found.setdefault(parameter, value) != value:
                    return False
        return all(match(sub, arg, found) for sub, arg in zip(pattern.args, args, strict=True))
    if isinstance(pattern, Variable):
        bound = _bind(pattern, node)
        return bound is not None and found.setdefault(pattern, bound) is bound
    assert isinstance(pattern, Number)
    value = number_of(node)
    return (
        value is not None
        and value == pattern.value
        and math.copysign(1, value) == math.copysign(1, pattern.value)
    )


def _bind(variable: Variable, node: Tensor) -> Tensor | None:
    """The value of a variable at a node, or None where its kind does not allow it."""
    dtype = node.type.dtype
    match variable.kind:
        case "any":
            return node
        case "mask":
            return node if dtype is BOOL else None
        case "integer":
            return None if dtype.is_inexact else node
        case "float":
            return node if dtype.is_float else None
        case "number":
            return None if dtype is BOOL else node
        case "scalar":
            return None if node.ndim else node
        case "constant":
            inner = unstretched(node)
            return inner if isinstance(inner.op, Constant) and not inner.ndim else None
        case "power":
            value = number_of(node)
            good = value is not None and dtype.is_float and is_power_of_two(value)
            return unstretched(node) if good else None
        case _:
            assert_never(variable.kind)


# --- building -------------------------------------------------------------------------------------


def build(pattern: Pattern, found: Found, dtype: DType) -> Tensor:
    """The tensor a pattern stands for. `dtype` is that of numbers with nothing beside them."""
    match pattern:
        case Variable():
            tensor: Tensor = found[pattern]
            return tensor
        case Number():
            return scalar_constant(_as(dtype, pattern.value), dtype)
        case Call():
            known = [
                None if isinstance(arg, Number) else build(arg, found, dtype)
                for arg in pattern.args
            ]
            beside = [tensor.type.dtype for tensor in known if tensor is not None]
            args = [
                build(arg, found, beside[-1] if beside else dtype) if tensor is None else tensor
                for arg, tensor in zip(pattern.args, known, strict=True)
            ]
            function = OVER_AXES.get(pattern.function)
            if function is None:
                return ELEMENTWISE[pattern.function](*args)
            return function.build(args, [found[parameter] for parameter in pattern.parameters])
        case _:
            raise TypeError(f"not a pattern: {pattern!r}")


def _as(dtype: DType, value: bool | float) -> bool | int | float:
    return float(value) if dtype.is_inexact else bool(value) if dtype is BOOL else int(value)
