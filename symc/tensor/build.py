"""Creating tensors: filled with one number, or counting up.

Filling is `BroadcastTo` of a scalar, so only counting is an op here. Neither is stored unless
something needs it in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, FLOAT64, INT64, DType
from symc.codegen.record import record
from symc.config import config
from symc.errors import DivisionByZero, RankError, TooLarge
from symc.graph import dims
from symc.graph.dims import Dim, sizes
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.inputs import as_tensor, constant_value, scalar_constant
from symc.graph.lowering import At, SizeOf
from symc.graph.node import METHODS, OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType, as_dtype, promote, to_numpy
from symc.tensor.broadcast import broadcast_shape, describe
from symc.tensor.checked import not_negative
from symc.tensor.checks import BOUNDS, REACHED, Bounds
from symc.tensor.elementwise import cast_to, common
from symc.tensor.lengths import as_dim, dim_of, tensor_of, unbatched
from symc.tensor.reshape import ravel
from symc.tensor.views import broadcast_to, expand_dims

__all__ = [
    "alloc", "arange", "empty", "empty_like", "fill", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip

ENDLESS = 2.0**62

# --- one number everywhere ------------------------------------------------------------------------


def full(shape: Any, fill_value: TensorLike, dtype: Any = None) -> Tensor:
    """A tensor with `fill_value` everywhere (broadcast to `shape`), of its dtype or the one given.

    `shape` is one length or a tuple; lengths are integers or integer scalar tensors.

    >>> full((2, 3), 1.5)
    <broadcastto(1.5) float64[2, 3]>
    """
    value = as_tensor(fill_value)
    return broadcast_to(value if dtype is None else cast_to(value, dtype), shape)


def alloc(value: TensorLike, *shape: Any) -> Tensor:
    """Theano's name for `full`: ``alloc(value, n, m)`` is an n by m matrix, in the value's dtype.

    >>> import symc.tensor as T
    >>> T.alloc(1.5, 2, 3).eval()
    array([[1.5, 1.5, 1.5],
           [1.5, 1.5, 1.5]])
    """
    return full(shape, value)


def _number(value: int, dtype: Any) -> Tensor:
    wanted = as_dtype(config.floatX if dtype is None else dtype)
    if wanted is BOOL:
        return scalar_constant(bool(value), BOOL)
    return scalar_constant(float(value) if wanted.is_inexact else value, wanted)


def zeros(shape: Any, dtype: Any = None) -> Tensor:
    """Zeros of dtype `config.floatX` unless given. `shape` is as for `full`.

    >>> import symc.tensor as T
    >>> T.zeros((2, 3), "int32").eval()
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    return broadcast_to(_number(0, dtype), shape)


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones of dtype `config.floatX` unless given. `shape` is as for `full`.

    >>> import symc.tensor as T
    >>> T.ones((2, 3)).eval()
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """
    return broadcast_to(_number(1, dtype), shape)


def empty(shape: Any, dtype: Any = None) -> Tensor:
    """A tensor whose elements do not matter: zeros, in fact, of dtype `config.floatX` unless given.

    `shape` is as for `full`.

    >>> import symc.tensor as T
    >>> T.empty((2, 3)).type
    float64[2, 3]
    """
    return zeros(shape, dtype)


def full_like(
    x: TensorLike, fill_value: TensorLike, dtype: Any = None, *, shape: Any = None
) -> Tensor:
    """`fill_value` everywhere, with the shape and dtype of `x` where none are given.

    `shape` is one length or a tuple, as for `full`.

    >>> import symc.tensor as T
    >>> T.full_like([[1, 2], [3, 4]], 7).eval()
    array([[7, 7],
           [7, 7]])
    >>> T.full_like([1, 2], 7, shape=3).eval()
    array([7, 7, 7])
    """
    x = as_tensor(x)
    filling = cast_to(fill_value, x.dtype if dtype is None else dtype)
    return broadcast_to(filling, x.type.shape) if shape is None else full(shape, filling)


def zeros_like(x: TensorLike, dtype: Any = None, *, shape: Any = None) -> Tensor:
    """Zeros with the shape and dtype of `x` where none are given; `shape` as for `zeros`.

    >>> import symc.tensor as T
    >>> T.zeros_like([1.5, 2.5]).eval()
    array([0., 0.])
    >>> T.zeros_like([1.5, 2.5], shape=3).eval()
    array([0., 0., 0.])
    """
    x = as_tensor(x)
    dtype = x.dtype if dtype is None else dtype
    return broadcast_to(_number(0, dtype), x.type.shape) if shape is None else zeros(shape, dtype)


def ones_like(x: TensorLike, dtype: Any = None, *, shape: Any = None) -> Tensor:
    """Ones with the shape and dtype of `x` where none are given; `shape` as for `ones`.

    >>> import symc.tensor as T
    >>> T.ones_like([1, 2, 3]).eval()
    array([1, 1, 1])
    >>> T.ones_like([1.5, 2.5], shape=3).eval()
    array([1., 1., 1.])
    """
    x = as_tensor(x)
    dtype = x.dtype if dtype is None else dtype
    return broadcast_to(_number(1, dtype), x.type.shape) if shape is None else ones(shape, dtype)


def empty_like(x: TensorLike, dtype: Any = None, *, shape: Any = None) -> Tensor:
    """A tensor shaped like `x` whose elements do not matter: zeros, in fact.

    The dtype is that of `x` unless one is given, and so is the shape.

    >>> import symc.tensor as T
    >>> T.empty_like(T.fmatrix("m")).dtype
    float32
    """
    return zeros_like(x, dtype, shape=shape)


def fill(a: TensorLike, b: TensorLike) -> Tensor:
    """`b` broadcast to the shape of `a` (Theano's fill); the values of `a` do not matter.

    The dtype is that of `b`.

    >>> import symc.tensor as T
    >>> T.fill([[1, 2], [3, 4]], 0.5).eval()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    a, b = as_tensor(a), as_tensor(b)
    return broadcast_to(b, broadcast_shape("fill", [a, b]))


# --- counting -------------------------------------------------------------------------------------


@record
class ARange(Op):
    """``start + i * step`` for i below `length`: the arguments are start, step and length.

    Floats are computed in float64.
    """

    dtype: DType

    def infer(self, *args: Tensor) -> TensorType:
        for name, arg in zip(("start", "step"), args, strict=False):
            if arg.ndim:  # as in a file that was not written by symc
                raise RankError(f"arange: the {name} must be a scalar\n  given  {describe(arg)}")
        return TensorType(self.dtype, (dim_of(args[2]),))

    def evaluate(self, *args: Array) -> Array:
        wide = np.float64 if self.dtype.is_float else to_numpy(self.dtype)
        start, step = args[0].astype(wide), args[1].astype(wide)
        with np.errstate(all="ignore"):
            count = np.arange(max(int(args[2]), 0)).astype(wide)
            return np.asarray(start + step * count).astype(to_numpy(self.dtype))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        if not self.dtype.is_float:
            return [None, None, None]
        count = cast_to(arange(node.args[2]), self.dtype)
        return [cast("Any", bar).sum(), cast("Any", bar * count).sum(), None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("arange", batched[2:])
        pairs = zip(args[:2], batched[:2], strict=True)
        start, step = (expand_dims(arg, 1) if flag else arg for arg, flag in pairs)
        return cast_to(start + step * cast_to(arange(args[2]), self.dtype), self.dtype)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(formula(node, self._element))

    def _element(self, read: ReadElement, index: Index) -> ir.Expr:
        start, step = read(0, ()), read(1, ())
        if self.dtype is INT64:
            return ir.add(start, ir.mul(index[0], step))
        wide = FLOAT64 if self.dtype.is_float else self.dtype
        values = (start, step, index[0])
        start, step, i = (v if v.dtype is wide else ir.Cast(v, wide) for v in values)
        value = ir.binary("add", start, ir.binary("mul", step, i))
        return value if wide is self.dtype else ir.Cast(value, self.dtype)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        step = node.args[1]
        if self.dtype.is_float and constant_value(step) is None:
            yield Requirement(
                OPERATORS["ne"](step, 0),
                DivisionByZero,
                lambda value: _step_is_zero(step),
            )


def _bounds(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    start, step = constant_value(node.args[0]), constant_value(node.args[1])
    if node.dtype is not INT64 or start is None or step is None:
        return None, None
    first, last = int(start), dims.mul(dims.sub(node.type.shape[0], 1), int(step))
    return (first, dims.add(first, last)) if step > 0 else (dims.add(first, last), first)


def _counts_up(node: Tensor) -> bool:
    start, step = constant_value(node.args[0]), constant_value(node.args[1])
    return node.dtype is INT64 and start == 0 and step is not None and bool(step > 0)


BOUNDS[ARange] = _bounds
REACHED[ARange] = _counts_up


def arange(
    start: TensorLike,
    stop: TensorLike | None = None,
    step: TensorLike = 1,
    dtype: Any = None,
) -> Tensor:
    """``start, start + step, ...`` up to but not including `stop`; ``arange(stop)`` starts from 0.

    All may be integer or float scalar tensors. Integers give int64 unless `dtype` is given; the
    length follows from the values, so with an integer `start`, `stop` or `step` that is computed
    the length is known at run time only. Raises ZeroDivisionError when `step` is 0.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.arange(5), T.arange(1, x.shape[0], 2, dtype="int32")
    (<arange(0, 1, 5) int64[5]>, <arange(1, 2, x.shape[0] // 2) int32[(x.shape[0])//(2)]>)
    """
    given = (0, start, step) if stop is None else (start, stop, step)
    first, last, by = map(as_tensor, given)
    for value in (first, last, by):
        if value.ndim:
            raise RankError(f"arange: bounds must be scalars\n  given  {describe(value)}")
    own = promote(INT64, first.dtype, last.dtype, by.dtype)
    if constant_value(by) == 0 or (not own.is_float and dim_of(cast_to(by, INT64)) == 0):
        raise DivisionByZero(_step_is_zero(by))
    if own.is_float:
        first, last, by = (cast_to(v, own) for v in (first, last, by))
        length = _float_count(first, last, by)
    else:
        first, last, by = (cast_to(v, INT64) for v in (first, last, by))
        length = _count(dim_of(first), dim_of(last), dim_of(by))
        first, by = tensor_of(dim_of(first)), tensor_of(dim_of(by))
    wanted = own if dtype is None else as_dtype(dtype)
    if wanted is BOOL:
        return cast_to(arange(first, last, by), BOOL)
    return ARange(wanted)(cast_to(first, wanted), cast_to(by, wanted), tensor_of(length))


def _step_is_zero(step: Tensor) -> str:
    return f"arange: the step is zero\n  step   {describe(step)}"


def _count(start: Dim, stop: Dim, step: Dim) -> Dim:
    """``ceil((stop - start) / step)``, and at least 0.

    Of two values the difference may not fit into 64 bits, though the other way round there is
    nothing to count: it is taken where there is something.
    """
    if isinstance(step, int) and any(s.axis is None for d in (start, stop) for s in sizes(d)):
        count = dims.sub(dims.maximum(stop, start), start)
        if step < 0:
            count = dims.sub(start, dims.minimum(stop, start))
        return dims.ceildiv(count, abs(step))
    if step == 1:
        count = dims.sub(stop, start)
    elif isinstance(step, int) and step > 0:
        count = dims.ceildiv(dims.sub(stop, start), step)
    elif isinstance(step, int):
        count = dims.ceildiv(dims.sub(start, stop), -step)
    else:
        count = dims.mul(dims.floordiv(dims.sub(start, stop), step), -1)
    return count if dims.nonnegative(count) else dims.maximum(0, count)


def _float_count(start: Tensor, stop: Tensor, step: Tensor) -> Dim:
    known = [constant_value(v) for v in (start, stop, step)]
    if all(v is not None for v in known):
        first, last, by = (float(cast("Array", v)) for v in known)
        steps = (last - first) / by
        if not steps < math.inf:
            raise TooLarge(f"arange: from {first} to {last} in steps of {by} there is no end")
        return max(0, math.ceil(max(steps, -1.0)))
    wide = [cast_to(v, FLOAT64) for v in (start, stop, step)]
    count = OPERATORS["ceil"]((wide[1] - wide[0]) / wide[2])
    # No memory has so many elements, and no conversion makes them few: nan is none of them either.
    count = OPERATORS["where"](OPERATORS["lt"](count, ENDLESS), count, ENDLESS)
    return dims.maximum(0, dim_of(cast_to(count, INT64)))


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int | Tensor = 50,
    endpoint: bool = True,
    dtype: Any = None,
) -> Tensor:
    """`num` numbers at equal distances from `start` to `stop`, which ``endpoint=False`` leaves out.

    `start` and `stop` may be tensors that broadcast; the new axis comes first. Integers give
    float64; an integer `dtype` rounds down. Raises ValueError when `num` is negative.

    >>> linspace(0, 1, 5).eval()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    count = as_dim(num)
    if isinstance(count, int) and count < 0:
        raise ValueError(f"linspace: num={count} is negative")
    if not dims.nonnegative(count):
        count = dim_of(not_negative(tensor_of(count), "linspace: num is negative"))
    first, last = common((start, stop), "divide", "linspace")
    rank = max(first.ndim, last.ndim)
    i = expand_dims(arange(tensor_of(count)), tuple(range(1, 1 + rank)))
    gaps = dims.maximum(1, dims.sub(count, 1) if endpoint else count)
    step = (last - first) / cast_to(tensor_of(gaps), first.dtype)
    result = first + cast_to(i, first.dtype) * step
    if endpoint and count != 1:
        at_end = OPERATORS["eq"](i, tensor_of(dims.sub(count, 1)))
        if not isinstance(count, int):
            at_end = OPERATORS["logical_and"](at_end, OPERATORS["gt"](i, 0))
        result = OPERATORS["where"](at_end, last, result)
    wanted = first.dtype if dtype is None else as_dtype(dtype)
    if not wanted.is_inexact:
        result = OPERATORS["floor"](result)
    return cast_to(result, wanted)


def meshgrid(
    *xi: TensorLike, indexing: Literal["xy", "ij"] = "xy", sparse: bool = False
) -> list[Tensor]:
    """Coordinate tensors from vectors: each is one vector stretched along the axes of the others.

    With ``indexing="xy"`` the first vector lies along axis 1 and the second along axis 0, with "ij"
    vector i along axis i. ``sparse=True`` leaves the other axes at length 1.

    >>> import symc.tensor as T
    >>> x, y = T.meshgrid([1, 2, 3], [10, 20])
    >>> (x + y).eval()
    array([[11, 12, 13],
           [21, 22, 23]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: indexing must be "xy" or "ij", not {indexing!r}')
    vectors = [ravel(x) for x in xi]
    axes = list(range(len(vectors)))
    if indexing == "xy" and len(axes) > 1:
        axes[0], axes[1] = 1, 0
    shape: list[Dim] = [0] * len(vectors)
    for axis, vector in zip(axes, vectors, strict=True):
        shape[axis] = vector.type.shape[0]
    grids = [
        expand_dims(vector, tuple(other for other in range(len(vectors)) if other != axis))
        for axis, vector in zip(axes, vectors, strict=True)
    ]
    return grids if sparse else [broadcast_to(grid, tuple(shape)) for grid in grids]


for _method in (fill, full_like, ones_like, zeros_like):
    METHODS[_method.__name__] = _method
