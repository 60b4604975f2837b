"""The ops of random numbers: element i of a draw follows from the key, i and the parameters alone.

So a draw is a pure function of its arguments, computed wherever it is read, in any order and on any
number of threads. The bits are from `codegen/runtime/common/philox.h`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import UINT64
from symc.codegen.math import FUNCTIONS
from symc.codegen.record import record
from symc.errors import DTypeError, RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.inputs import as_tensor
from symc.graph.lowering import Argument, At, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to, project
from symc.tensor.lengths import Template, fill_dims, fill_values, split_template
from symc.tensor.random.philox import numbers
from symc.tensor.specify import specify_shape
from symc.tensor.views import broadcast_to, not_negative

# (the draw, bar, parameters) -> the gradient of each parameter
Rule: TypeAlias = "Callable[[Tensor, Tensor, Sequence[Tensor]], Sequence[Tensor | None]]"
GRADIENTS: dict[str, Rule] = {}
"""Of samplers whose numbers depend on their parameters smoothly."""

# Neighbours are made of the same bits. One by one, each makes all these bits again: normal numbers
# in 14 ns in float64 and 10 in float32, where a routine that fills an array takes 6 and 2.5 ns,
# uniform ones in 10 ns, where it takes 2.2 and 1.2. That is worth an array, but for a few numbers,
# which need no routine, and for very many, whose array might be more than whoever adds them up has
# memory for.
FILLED = {
    "random_normal": "fill_normal_f64",
    "random_normal32": "fill_normal_f32",
    "random_uniform": "fill_uniform_f64",
    "random_uniform32": "fill_uniform_f32",
}
SEVERAL = range(64, 1 << 24)


@record
class Draw(Op):
    """Numbers of a random function of `codegen/math.py`.

    Arguments: the key, the lengths that the template lacks, the parameters, each a scalar or of the
    shape of the result.
    """

    function: str
    template: Template

    @property
    def cost(self) -> float:
        """In simple operations."""
        return FUNCTIONS[self.function].cost

    @property
    def _first(self) -> int:
        """The number of the first parameter among the arguments."""
        return 1 + self.template.count(None)

    def infer(self, *args: Tensor) -> TensorType:
        shape = fill_dims(self.template, args[1 : self._first])
        return TensorType(FUNCTIONS[self.function].types[-1], shape)

    def evaluate(self, *args: Array) -> Array:
        shape = fill_values(self.template, args[1 : self._first])
        index = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
        return numbers(self.function, args[0], index, list(args[self._first :]))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        rule = GRADIENTS.get(self.function)
        nothing: list[Tensor | None] = [None] * self._first
        parameters = node.args[self._first :]
        if rule is None:
            return nothing + [None] * len(parameters)
        return [*nothing, *rule(node, bar, parameters)]

    def lower(self, node: Tensor, size: SizeOf) -> At | LibCall:
        lengths = [size(dim) for dim in node.type.shape]
        one = At(formula(node, lambda read, index: self._element(read, node, index, lengths)))
        count = dims.product(node.type.shape)
        if self.function not in FILLED or (isinstance(count, int) and count not in SEVERAL):
            return one
        args = (Argument(0), size(count), Argument(-1))
        return LibCall(FILLED[self.function], args, otherwise=one)

    def _element(
        self, read: ReadElement, node: Tensor, index: Index, lengths: Sequence[ir.Expr]
    ) -> ir.Expr:
        first, second = read(0, (ir.const(0),)), read(0, (ir.const(1),))
        flat: ir.Expr = ir.const(0)
        for i, length in zip(index, lengths, strict=True):
            flat = ir.add(ir.mul(flat, length), i)
        values = [first, second, flat]
        for number, arg in enumerate(node.args[self._first :], self._first):
            values.append(read(number, project(index, arg.type.shape)))
        return ir.Call(self.function, tuple(values), node.dtype)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        return not_negative(self.label, node, node.type.shape)

    @property
    def label(self) -> str:
        return self.function.removeprefix("random_").rstrip("0123456789")


@record
class Derive(Op):
    """New keys: for each number of the second argument, one of its own, along a new last axis."""

    @property
    def cost(self) -> float:
        """In simple operations."""
        return FUNCTIONS["random_key"].cost

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(UINT64, (*args[1].type.shape, 2))

    def evaluate(self, *args: Array) -> Array:
        return numbers("random_key", args[0], 2 * args[1][..., None] + np.arange(2), [])

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(formula(node, _derived))

    @property
    def label(self) -> str:
        return "key"


def _derived(read: ReadElement, index: Index) -> ir.Expr:
    first, second = read(0, (ir.const(0),)), read(0, (ir.const(1),))
    place = ir.add(ir.mul(read(1, index[:-1]), ir.const(2)), index[-1])
    return ir.Call("random_key", (first, second, place), UINT64)


def checked_key(key: Tensor, label: str) -> Tensor:
    """The key, if it is one."""
    if not isinstance(cast("object", key), Tensor | np.ndarray):
        raise TypeError(
            f"{label}: a key is needed, not {key!r}; make one with T.random.key(seed), or use the "
            "methods of T.random.RandomStream(seed)"
        )
    key = as_tensor(key)
    if key.dtype is not UINT64:
        raise DTypeError(f"{label}: a key is of uint64, not {key.dtype}\n  key    {describe(key)}")
    length = key.type.shape[0] if key.ndim == 1 else None
    if length is None or (isinstance(length, int) and length != 2):
        raise RankError(
            f"{label}: one key is needed, of shape (2,), not {key.type}\n  key    {describe(key)}\n"
            "  of keys that were split, take one: keys[0]"
        )
    return specify_shape(key, (2,))


def draw(
    function: str, key: Tensor, shape: Sequence[Dim], *parameters: Tensor, label: str = ""
) -> Tensor:
    """Numbers of a random function, in a shape that the parameters broadcast to."""
    row = FUNCTIONS[function]
    template, holes = split_template(tuple(shape))
    op = Draw(function, template)
    key = checked_key(key, label or op.label)
    fitted = [
        cast_to(p if p.ndim == 0 else broadcast_to(p, tuple(shape)), dtype)
        for p, dtype in zip(parameters, row.types[3:-1], strict=True)
    ]
    return op(key, *holes, *fitted)
