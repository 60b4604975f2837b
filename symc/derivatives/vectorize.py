"""Functions of single tensors applied to many at once: `vmap`, and NumPy's `vectorize`.

The function is called once, with placeholders; its result is then batched, as Jacobians are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias, cast

from symc.derivatives.batch import batch
from symc.errors import RankError, ShapeMismatch
from symc.graph.dims import Dim
from symc.graph.inputs import Input, as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.provenance import user_line
from symc.graph.registry import SERVICES
from symc.graph.types import TensorType
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.lengths import normal_axis, tensor_of
from symc.tensor.specify import specify_length
from symc.tensor.views import broadcast_to, expand_dims, moveaxis

__all__ = ["apply_along_axis", "apply_over_axes", "vectorize", "vmap"]

Shape: TypeAlias = tuple[Dim, ...]

_SHAPE = r"\((?:\w+(?:,\w+)*)?\)"
_SHAPES = f"{_SHAPE}(?:,{_SHAPE})*"


def vmap(
    function: Callable[..., Any], in_axes: int | Sequence[int | None] | None = 0, out_axes: int = 0
) -> Callable[..., Any]:
    """The function of one tensor each as a function of many, which are along an axis.

    `in_axes` says which axis of each argument, one for all or a sequence; None stands for an
    argument that is the same for all. The results, a tensor or a list or tuple of tensors, have the
    axis at `out_axes`. There is no loop: each op is applied once, to all. Only an op that cannot be
    applied so is applied to each in turn: a `while_loop`, or a `fori_loop` of other numbers of
    steps; an `ifelse` on other conditions of which a side may fail; draws from other keys. Numbers
    drawn without a key of each are the same for all. Raises `ShapeMismatch` if the axes are known
    to differ in length, and `NotBatchable` for ops whose lengths would differ; `symc.map` can loop
    over those.

    >>> import symc, symc.tensor as T
    >>> x, y = T.matrix("x"), T.vector("y")
    >>> distances = symc.vmap(lambda row, y: T.norm(row - y), in_axes=(0, None))(x, y)
    >>> distances.eval({x: [[3.0, 4.0], [0.0, 1.0]], y: [0.0, 0.0]})
    array([5., 1.])
    """

    @wraps(function)
    def mapped(*args: TensorLike, **options: Any) -> Any:
        axes = list(in_axes) if isinstance(in_axes, Sequence) else [in_axes] * len(args)
        if len(axes) != len(args):
            raise ValueError(f"vmap: {len(axes)} in_axes for {len(args)} arguments")
        moved = [
            x if axis is None else moveaxis(x, axis, 0)
            for x, axis in zip(map(as_tensor, args), axes, strict=True)
        ]
        counts = [int(axis is not None) for axis in axes]
        shape = _leading("vmap", moved, counts)
        if not shape:
            raise ValueError("vmap: one argument at least needs an axis")
        given = [specify_length(x, 0, shape[0]) if n else x
                 for x, n in zip(moved, counts, strict=True)]  # fmt: skip
        results = _applied(lambda *each: function(*each, **options), given, counts, shape)
        return _each_of(results, lambda x: moveaxis(x, 0, out_axes))

    return mapped


def vectorize(pyfunc: Callable[..., Any], *, signature: str | None = None) -> Callable[..., Any]:
    """The function of scalars as a function of tensors that broadcast, as NumPy's `vectorize`.

    `signature` says which axes the function itself takes: with ``"(n),(n,m)->(m)"`` it is called
    with a vector and a matrix; the axes before those broadcast where their length is known to be 1.
    Each op is applied once, to all, where it can be: see `symc.vmap`.

    >>> import symc.tensor as T
    >>> first = T.vectorize(lambda row: T.sort(row)[0], signature="(n)->()")
    >>> first([[3.0, 1.0], [5.0, 9.0]]).eval()
    array([1., 5.])
    """
    ranks = None if signature is None else _ranks(signature)

    @wraps(pyfunc)
    def vectorized(*args: TensorLike, **options: Any) -> Any:
        tensors = [as_tensor(arg) for arg in args]
        own = [0] * len(tensors) if ranks is None else ranks
        if len(own) != len(tensors):
            raise TypeError(f"vectorize: {signature} has {len(own)} arguments, not {len(tensors)}")
        for x, rank in zip(tensors, own, strict=True):
            if x.ndim < rank:
                raise RankError(
                    f"vectorize: {signature} needs {rank} axes here\n  given  {describe(x)}"
                )
        counts = [x.ndim - rank for x, rank in zip(tensors, own, strict=True)]
        shape = _leading("vectorize", tensors, counts)
        given = [broadcast_to(x, (*shape, *x.type.shape[n:])) if n else x
                 for x, n in zip(tensors, counts, strict=True)]  # fmt: skip
        return _applied(lambda *each: pyfunc(*each, **options), given, counts, shape)

    return vectorized


def apply_along_axis(
    func1d: Callable[..., TensorLike], axis: int, arr: TensorLike, *args: Any, **kwargs: Any
) -> Tensor:
    """A function's result for each vector along an axis; its axes take the place of that axis.

    The function also gets `args` and `kwargs`. It is applied to all at once: see `symc.vmap`.

    >>> import symc.tensor as T
    >>> T.apply_along_axis(lambda v: v[-1] - v[0], 0, [[1, 2], [5, 9]]).eval()
    array([4, 7])
    """
    x = as_tensor(arr)
    axis = normal_axis("apply_along_axis", axis, x.ndim, x)
    rows, count = moveaxis(x, axis, -1), x.ndim - 1

    def of_row(row: Tensor) -> Tensor:
        return as_tensor(func1d(row, *args, **kwargs))

    result: Tensor = _applied(of_row, [rows], [count], rows.type.shape[:-1])
    own = result.ndim - count
    return moveaxis(result, list(range(count, count + own)), list(range(axis, axis + own)))


def apply_over_axes(
    func: Callable[[Tensor, int], TensorLike], a: TensorLike, axes: int | Sequence[int]
) -> Tensor:
    """``func(a, axis)`` for one axis after the other; axes that it drops stay with length 1.

    >>> import symc.tensor as T
    >>> T.apply_over_axes(T.sum, T.ones((2, 3, 4)), (0, 2)).eval().ravel()
    array([8., 8., 8.])
    """
    x = as_tensor(a)
    for each in [axes] if isinstance(axes, int) else axes:
        axis = normal_axis("apply_over_axes", each, x.ndim, x)
        result = as_tensor(func(x, axis))
        if result.ndim not in (x.ndim, x.ndim - 1):
            raise RankError(
                f"apply_over_axes: the function must keep the axes, or drop one\n"
                f"  given  {describe(x)}\n  result {describe(result)}"
            )
        x = result if result.ndim == x.ndim else expand_dims(result, axis)
    return x


# --- applying -------------------------------------------------------------------------------------


def _applied(
    function: Callable[..., Any], args: Sequence[Tensor], counts: Sequence[int], shape: Shape
) -> Any:
    """The function's result for each part of the arguments along leading axes of this shape.

    An argument has either all of these axes, or none (a count of 0) and is the same for all.
    """
    levels = len(shape)
    places = [_parts(x, levels if count else 0) for x, count in zip(args, counts, strict=True)]
    results = function(*places)
    outputs = _listed(results)
    if any(node.op.is_lazy for node in walk(outputs)):  # branches with what they alone compute
        outputs = SERVICES["outline"](outputs)
    for level in reversed(range(levels)):
        wider = [_parts(x, level if n else 0) for x, n in zip(args, counts, strict=True)]
        pairs = {old: new for old, new in zip(places, wider, strict=True) if old is not new}
        outputs = batch(outputs, pairs, tensor_of(shape[level]), in_turn=True)
        places = wider
    found = iter(outputs)
    return _each_of(results, lambda _: next(found))


def _parts(x: Tensor, level: int) -> Tensor:
    """A placeholder for a part of `x` without so many leading axes; all of it for none."""
    if not level:
        return x
    return Tensor(Input(()), (), TensorType(x.dtype, x.type.shape[level:]), user_line())


def _listed(results: Any) -> list[Tensor]:
    several = isinstance(results, list | tuple)
    return [as_tensor(each) for each in (cast("Sequence[Any]", results) if several else [results])]


def _each_of(results: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A tensor changed, or each of a list or tuple of them."""
    if not isinstance(results, list | tuple):
        return change(as_tensor(results))
    changed = [change(as_tensor(each)) for each in cast("Sequence[TensorLike]", results)]
    return changed if isinstance(results, list) else tuple(changed)


def _leading(label: str, tensors: Sequence[Tensor], counts: Sequence[int]) -> Shape:
    """The shape that the leading axes of tensors, of each so many, broadcast to."""
    rank = max(counts, default=0)
    shape: list[Dim] = [1] * rank
    for x, count in zip(tensors, counts, strict=True):
        for axis, n in enumerate(x.type.shape[:count], rank - count):
            known = shape[axis]
            if isinstance(known, int) and isinstance(n, int) and 1 not in (known, n) and known != n:
                raise ShapeMismatch(
                    f"{label}: axis {axis} is {known} and {n}\n  given  {describe(x)}"
                )
            if known == 1 or (isinstance(n, int) and n != 1):
                shape[axis] = n
    return tuple(shape)


def _ranks(signature: str) -> list[int]:
    """How many axes each argument of a signature has."""
    if not re.fullmatch(f"{_SHAPES}->{_SHAPES}", signature.replace(" ", "")):
        raise ValueError(f"vectorize: {signature!r} is no signature like '(n,m),(m)->(n)'")
    given = signature.replace(" ", "").partition("->")[0]
    return [len(re.findall(r"\w+", names)) for names in re.findall(r"\(([^)]*)\)", given)]
