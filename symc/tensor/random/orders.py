"""Random orders: permutations, shuffling, and choosing with and without replacement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.meaning.philox import random_below
from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.checked import Checked
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import as_dims, dim_of, length, normal_axis, public, tensor_of
from symc.tensor.random.choices import categorical, weights
from symc.tensor.random.continuous import exponential
from symc.tensor.random.discrete import integers
from symc.tensor.random.draw import checked_key
from symc.tensor.reshape import reshape
from symc.tensor.selection import take
from symc.tensor.specify import specify_shape
from symc.tensor.views import not_negative

__all__ = ["choice", "permutation", "shuffle"]


@record
class Permutation(Op):
    """The numbers below the second argument in an order that follows from the key."""

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, (dim_of(args[1]),))

    def evaluate(self, *args: Array) -> Array:
        low, high = map(int, args[0])
        order = list(range(int(args[1])))
        for i in range(len(order) - 1, 0, -1):
            other = random_below(low, high, i, i + 1)
            order[i], order[other] = order[other], order[i]
        return np.array(order, dtype=np.int64)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        return LibCall("permutation", (Argument(0), size(node.type.shape[0]), Argument(-1)))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        yield from not_negative("permutation", node, node.type.shape)


def permutation(key: Tensor, x: int | TensorLike) -> Tensor:
    """The numbers below `x` in random order; of a tensor, its entries along the first axis.

    >>> import symc.tensor as T
    >>> sorted(T.random.permutation(T.random.key(0), 5).eval().tolist())
    [0, 1, 2, 3, 4]
    """
    items = as_tensor(x)
    if items.ndim:
        return shuffle(key, items)
    count = dim_of(items)
    if isinstance(count, int) and count < 0:
        raise ShapeMismatch(f"permutation: there are no {count} numbers")
    return Permutation()(checked_key(key, "permutation"), tensor_of(count))


def shuffle(key: Tensor, x: TensorLike, axis: int = 0) -> Tensor:
    """The entries along an axis in random order. (The argument stays as it is.)

    Raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.random.shuffle(T.random.key(0), [1, 2, 3, 4]).eval()
    array([4, 3, 1, 2])
    """
    items = as_tensor(x)
    if not items.ndim:
        raise RankError(f"shuffle: an axis is needed\n  given  {describe(items)}")
    place = normal_axis("shuffle", axis, items.ndim, items)
    return take(items, permutation(key, length(items, place)), place)


def choice(
    key: Tensor,
    a: int | TensorLike,
    size: Any = (),
    replace: bool = True,
    p: TensorLike | None = None,
    axis: int = 0,
) -> Tensor:
    """Entries of `a` along an axis, or numbers below it, chosen at random.

    They are equally likely, or have the probabilities `p`, up to a factor. Without `replace` no
    entry is chosen twice, and with `p` each is chosen among those that are left. The axis is
    replaced by those of `size`.

    >>> import symc.tensor as T
    >>> T.random.choice(T.random.key(0), 10, size=3, p=[0.0] * 9 + [1.0]).eval()
    array([9, 9, 9])
    """
    items = as_tensor(a)
    place = normal_axis("choice", axis, items.ndim, items) if items.ndim else 0
    count = items.type.shape[place] if items.ndim else dim_of(items)
    shape = as_dims(size)
    if replace:
        chosen = (
            integers(key, public(count), size=shape)
            if p is None
            else categorical(key, _chances(p, count), size=shape)
        )
    else:
        wanted = dims.product(shape)
        if isinstance(count, int) and isinstance(wanted, int) and wanted > count:
            raise ShapeMismatch(f"choice: {wanted} of {count} cannot be chosen without replacement")
        if p is None:
            order = permutation(key, public(count))
        else:
            chances = _chances(p, count)
            enough = cast_to(chances > 0, INT64).sum() >= public(wanted)
            fewer = "choice: fewer entries have a probability above 0 than are wanted"
            order = _race(key, Checked(fewer)(chances, enough))
        chosen = reshape(order[: public(wanted)], shape)
    return take(items, chosen, place) if items.ndim else chosen


def _race(key: Tensor, chances: Tensor) -> Tensor:
    """Numbers in the order in which they are chosen, each among those that are left.

    Of independent exponential numbers, the smallest is that of i with a probability in proportion
    to its rate, and so on for the others.
    """
    from symc.tensor.sorting.order import argsort  # late: only for this

    return argsort(exponential(key, 1.0, chances.type.shape) / chances)


def _chances(p: TensorLike, count: Dim) -> Tensor:
    chances = weights("choice", p)
    length = chances.type.shape[0] if chances.ndim == 1 else None
    known = isinstance(count, int) and isinstance(length, int)
    if length is None or (known and length != count):
        raise ShapeMismatch(
            f"choice: one probability is needed for each of {count}\n  given  {describe(chances)}"
        )
    return specify_shape(chances, (public(count),))
