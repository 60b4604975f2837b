"""The product that convolutions are: one op for its result and one for each gradient.

Of inputs x[n, c, i], filters w[o, c, k] and outputs y[n, o, t], with windows as `geometry.py` has
them, all three ops sum products of two over the indexes that the third does not have::

    i = t * stride + k * dilation

Each of the three is linear in both of its arguments, and the gradients of one are the others.
Padding is done before, and filters are turned for a true convolution: see `conv.py`. With groups,
a group of channels meets its own group of filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import assert_never

import numpy as np

from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.lowering import Argument, Fold, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.lengths import Template, fill_dims, fill_values, split_template, unbatched
from symc.tensor.matrix_product import blas_suffix, is_blas
from symc.tensor.nnet import roles
from symc.tensor.nnet.geometry import Axis, long_enough, refuse_short, window_count
from symc.tensor.nnet.roles import ARGUMENTS, AXES, Loops, Role, Shapes
from symc.tensor.reshape import reshape
from symc.tensor.views import moveaxis

# With fewer features in a group than this, and fewer outputs of each, loops over all of it are
# faster than the routine, which has vectors of outputs.
FEW_FEATURES, FEW_OUTPUTS = 3, 16


@record
class LengthPair:
    """A length of an argument, and the one that the other lengths require."""

    role: Role
    axis: int
    found: Dim
    wanted: Dim

    @property
    def equal(self) -> bool:
        """Whether they are known to be equal."""
        return self.found == self.wanted


@record
class Convolution(Op):
    """Inputs, filters or outputs from the other two, in the order of `ARGUMENTS`.

    `numbers` are how many groups there are, and the lengths of the result's last axes where the
    arguments do not say them.
    """

    result: Role
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    numbers: Template

    def infer(self, *args: Tensor) -> TensorType:
        a, b = args[:2]
        if a.ndim != b.ndim or a.ndim != len(self.strides) + 2 or a.dtype is not b.dtype:
            raise RankError(f"a convolution cannot combine {a.type} and {b.type}")
        shapes = self.shapes(args)
        for pair in self._pairs(args, shapes):
            if isinstance(pair.found, int) and isinstance(pair.wanted, int) and not pair.equal:
                raise ShapeMismatch(self._unequal(args, pair, (pair.found, pair.wanted)))
        if self.result == "outputs":
            refuse_short(self.label, a, b.type.shape[2:], self.dilations)
        return TensorType(a.type.dtype, shapes.of(self.result))

    def shapes(self, args: Sequence[Tensor]) -> Shapes:
        """The conditions that the arguments put on all lengths."""
        groups, *lengths = fill_dims(self.numbers, args[2:])
        left, right = args[0].type.shape, args[1].type.shape
        match self.result:
            case "outputs":
                inputs, sizes = left[2:], right[2:]
                counts = tuple(map(window_count, inputs, sizes, self.strides, self.dilations))
                channels, features = right[1], dims.floordiv(right[0], groups)
            case "inputs":
                inputs, sizes, counts = tuple(lengths), right[2:], left[2:]
                channels, features = right[1], dims.floordiv(right[0], groups)
            case "filters":
                inputs, sizes, counts = left[2:], tuple(lengths), right[2:]
                channels, features = dims.floordiv(left[1], groups), dims.floordiv(right[1], groups)
            case _:
                assert_never(self.result)
        axes = tuple(map(Axis, counts, sizes, self.strides, self.dilations))
        return Shapes(left[0], groups, channels, features, axes, inputs)

    def _pairs(self, args: Sequence[Tensor], shapes: Shapes) -> Iterator[LengthPair]:
        """The lengths that must be equal for the arguments to fit."""
        for number, role in enumerate(ARGUMENTS[self.result]):
            each = zip(args[number].type.shape, shapes.of(role), strict=True)
            for axis, (found, wanted) in enumerate(each):
                yield LengthPair(role, axis, found, wanted)
        if self.result != "outputs":
            for number, (lie, length) in enumerate(zip(shapes.axes, shapes.lengths, strict=True)):
                wanted = window_count(length, lie.size, lie.stride, lie.dilation)
                yield LengthPair("outputs", number + 2, lie.count, wanted)

    def _unequal(
        self, args: Sequence[Tensor], pair: LengthPair, lengths: tuple[object, object]
    ) -> str:
        given = zip(ARGUMENTS[self.result], args, strict=False)
        lines = "".join(f"\n  {role:<8} {describe(arg)}" for role, arg in given)
        found, wanted = lengths
        return (
            f"{self.label}: axis {pair.axis} of the {pair.role} is {found}, but the other lengths "
            f"and the groups ask for {wanted}{lines}"
        )

    def require(self, node: Tensor) -> Iterable[Requirement]:
        args = node.args
        for pair in self._pairs(args, self.shapes(args)):
            if not pair.equal:
                yield self._equal(args, pair)
        if self.result == "outputs":
            yield from long_enough(self.label, args[0], args[1].type.shape[2:], self.dilations)

    def _equal(self, args: Sequence[Tensor], pair: LengthPair) -> Requirement:
        def message(value: Callable[[Dim], object]) -> str:
            return self._unequal(args, pair, (value(pair.found), value(pair.wanted)))

        return Requirement((pair.found, pair.wanted), ShapeMismatch, message)

    def evaluate(self, *args: Array) -> Array:
        a, b = args[:2]
        wide = np.float32 if a.dtype == np.float16 else a.dtype
        groups, *lengths = fill_values(self.numbers, args[2:])
        left, right = ARGUMENTS[self.result]
        first = roles.split_groups(a.astype(wide, copy=False), left, groups)
        second = roles.split_groups(b.astype(wide, copy=False), right, groups)
        lie = self.strides, self.dilations
        with np.errstate(all="ignore"):
            match self.result:
                case "outputs":
                    total = roles.outputs(first, second, *lie)
                case "inputs":
                    total = roles.inputs(first, second, *lie, lengths)
                case "filters":
                    total = roles.filters(first, second, *lie, lengths)
                case _:
                    assert_never(self.result)
        return np.ascontiguousarray(roles.join_groups(total, self.result), dtype=a.dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        left, right = ARGUMENTS[self.result]
        known: dict[Role, Tensor] = {left: node.args[0], right: node.args[1], self.result: bar}
        groups, lie = self.shapes(node.args).groups, (self.strides, self.dilations)
        gradients = [
            convolution(role, known, groups, *lie, known[role].type.shape[2:])
            for role in (left, right)
        ]
        return [*gradients, *[None] * (len(node.args) - 2)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("convolution", batched[2:])
        left, right = ARGUMENTS[self.result]
        groups, *lengths = fill_dims(self.numbers, args[2:])
        batch = args[0 if batched[0] else 1].type.shape[0]
        if all(batched[:2]):
            letter = "g"
        else:  # the axis that the result has from the batched argument
            with_batch, without = (left, right) if batched[0] else (right, left)
            letter = next(
                a for a in AXES[with_batch] if a in AXES[self.result] and a not in AXES[without]
            )
        known: dict[Role, Tensor] = {
            role: fold_batch(arg, role, letter, groups) if flag else arg
            for role, arg, flag in zip((left, right), args, batched, strict=False)
        }
        many = dims.mul(groups, batch) if letter == "g" else groups
        result = convolution(self.result, known, many, self.strides, self.dilations, lengths)
        return unfold_batch(result, self.result, letter, groups, batch)

    def lower(self, node: Tensor, size: SizeOf) -> Fold | LibCall:
        shapes = self.shapes(node.args)
        fold = Loops(self.result, shapes, size).fold(node)
        spots = dims.product(axis.count for axis in shapes.axes)
        few = isinstance(shapes.features, int) and shapes.features < FEW_FEATURES
        if (few and isinstance(spots, int) and spots < FEW_OUTPUTS) or not is_blas(node.dtype):
            return fold
        lengths = [shapes.images, shapes.groups, shapes.channels, shapes.features]
        missing = 3 - len(shapes.axes)  # the routine knows three axes
        lengths += [1] * 5 * missing
        for length, axis in zip(shapes.lengths, shapes.axes, strict=True):
            lengths += [length, axis.size, axis.count, axis.stride, axis.dilation]
        args = (*map(size, lengths), Argument(0), Argument(1), Argument(-1))
        return LibCall(f"conv_{self.result}_{blas_suffix(node.dtype)}", args, otherwise=fold)

    @property
    def label(self) -> str:
        return {"outputs": "conv", "inputs": "conv_transpose", "filters": "conv_filters"}[
            self.result
        ]


def convolution(
    result: Role,
    known: Mapping[Role, Tensor],
    groups: Dim,
    strides: Sequence[int],
    dilations: Sequence[int],
    lengths: Sequence[Dim] = (),
) -> Tensor:
    """The node of `Convolution` on two of the three; `lengths` are not needed for the outputs."""
    asked = () if result == "outputs" else lengths
    numbers, holes = split_template((groups, *asked))
    op = Convolution(result, tuple(strides), tuple(dilations), numbers)
    return op(*(known[role] for role in ARGUMENTS[result]), *holes)


# --- groups and batches ---------------------------------------------------------------------------


def fold_batch(x: Tensor, role: Role, letter: str, groups: Dim) -> Tensor:
    """A tensor whose first axis, a batch, has become part of the axis with a letter."""
    split = _split(x, 1 + AXES[role].index("g"), groups)
    axis = AXES[role].index(letter)
    moved = moveaxis(split, 0, axis)  # right before that axis
    return _merged(_merged(moved, axis), AXES[role].index("g"))


def unfold_batch(x: Tensor, role: Role, letter: str, groups: Dim, batch: Dim) -> Tensor:
    """The opposite of `fold_batch`."""
    many = dims.mul(groups, batch) if letter == "g" else groups
    split = _split(x, AXES[role].index("g"), many)
    axis = AXES[role].index(letter)
    return _merged(moveaxis(_split(split, axis, batch), axis, 0), 1 + AXES[role].index("g"))


def _split(x: Tensor, axis: int, first: Dim) -> Tensor:
    shape = x.type.shape
    return reshape(x, (*shape[:axis], first, dims.floordiv(shape[axis], first), *shape[axis + 1 :]))


def _merged(x: Tensor, axis: int) -> Tensor:
    shape = x.type.shape
    return reshape(x, (*shape[:axis], dims.mul(shape[axis], shape[axis + 1]), *shape[axis + 2 :]))
