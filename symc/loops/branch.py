"""Branches: `ifelse` and its two ops.

An `IfElse` has the values of both sides among its arguments: a form that is easy to make, to
differentiate and to batch. Before anything is compiled, differentiated or interpreted, `outline`
(`symc/loops/outline.py`) moves nodes of only one side into its body, and makes it a `Choice`: of
that, only the side that is taken is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from symc.codegen.dtypes import BOOL
from symc.codegen.record import record, replace
from symc.errors import DTypeError, NotBatchable, RankError, ShapeMismatch
from symc.graph.dims import Dim
from symc.graph.inputs import Constant, as_tensor, is_number, refuse_bool
from symc.graph.lowering import Control
from symc.graph.node import Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.loops.body import Body, Checks
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import common
from symc.tensor.logic import ne, where

if TYPE_CHECKING:
    from symc.graph.lowering import SizeOf


def ifelse(
    condition: TensorLike,
    then: TensorLike | Sequence[TensorLike],
    otherwise: TensorLike | Sequence[TensorLike],
    name: str | None = None,
) -> Any:
    """`then` if the condition is true (not zero), else `otherwise`: only that one is computed.

    The condition is a scalar. Both values have the same dtype (a Python number takes that of the
    other value) and number of axes; their lengths are compared when the function runs (where both
    could only be known by computing a value, that value is computed whichever side is taken). Of
    two lists of values, a list. Checks of values that are not computed are not done either. (Of
    what several branches need, that on which one of their conditions depends may be computed
    where none of them needs it.) The result is called `name`, if that is given. Of numbers, where
    both sides are a few operations without checks, compiled functions compute both: that takes less
    time than a branch.

    Gradients are as lazy. `T.where` chooses element by element, and computes both.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> y = symc.ifelse(x.shape[0] > 2, x[2], x.sum())
    >>> y.eval({x: [1.0, 2.0]}), y.eval({x: [1.0, 2.0, 5.0]})
    (array(3.), array(5.))
    """
    refuse_bool("ifelse", condition)
    chosen = as_tensor(condition)
    if chosen.ndim:
        raise RankError(
            f"ifelse needs one condition, not {chosen.ndim} axes of them\n"
            f"  condition  {describe(chosen)}\n  T.where chooses element by element"
        )
    chosen = chosen if chosen.dtype is BOOL else ne(chosen, 0)
    many = isinstance(then, list | tuple)
    if many != isinstance(otherwise, list | tuple):
        raise TypeError("ifelse needs a tensor or a list of them on both sides alike")
    left = cast("Sequence[TensorLike]", then) if many else [cast("TensorLike", then)]
    right = cast("Sequence[TensorLike]", otherwise) if many else [cast("TensorLike", otherwise)]
    if len(left) != len(right):
        raise TypeError(f"ifelse has {len(left)} values on one side and {len(right)} on the other")
    pairs = [_alike(a, b) for a, b in zip(left, right, strict=True)]
    results = chosen_of(chosen, [a for a, _ in pairs], [b for _, b in pairs])
    for result in results:
        result.name = result.name or name
    return results if many else results[0]


def chosen_of(
    condition: Tensor, then: Sequence[Tensor], otherwise: Sequence[Tensor]
) -> list[Tensor]:
    """All results of one branch."""
    count = len(then)
    return [IfElse(count, part)(condition, *then, *otherwise) for part in range(count)]


def _alike(then: TensorLike, otherwise: TensorLike) -> tuple[Tensor, Tensor]:
    """Two values of one dtype and rank; beside a number dtypes are as for ``then + otherwise``."""
    if is_number(then) or is_number(otherwise):
        left, right = common([then, otherwise], "same", "ifelse")
    else:
        left, right = as_tensor(then), as_tensor(otherwise)
    lines = f"\n  then       {describe(left)}\n  otherwise  {describe(right)}"
    if left.dtype is not right.dtype:
        raise DTypeError(
            f"the values of an ifelse are {left.dtype} and {right.dtype}{lines}\n"
            "  convert one of them: T.cast"
        )
    if left.ndim != right.ndim:
        raise RankError(f"the values of an ifelse have {left.ndim} and {right.ndim} axes{lines}")
    return left, right


def _same_lengths(
    node: Tensor, pairs: Iterable[tuple[Dim, Dim]], then: Tensor, otherwise: Tensor
) -> Iterator[Requirement]:
    def message_at(axis: int, left: Dim, right: Dim) -> Callable[[Callable[[Any], Any]], str]:
        return lambda value: (
            f"axis {axis} of the values of an ifelse is {value(left)} and {value(right)}\n"
            f"  then       {describe(then)}\n  otherwise  {describe(otherwise)}\n"
            f"  at         {node.where}"
        )

    for axis, (left, right) in enumerate(pairs):
        if left != right:
            yield Requirement((left, right), ShapeMismatch, message_at(axis, left, right))


def _common_type(label: str, then: TensorType, otherwise: TensorType) -> TensorType:
    dims: list[Dim] = []
    for axis, (left, right) in enumerate(zip(then.shape, otherwise.shape, strict=True)):
        if isinstance(left, int) and isinstance(right, int) and left != right:
            raise ShapeMismatch(f"{label}: axis {axis} is {left} on one side, {right} on the other")
        dims.append(left if isinstance(left, int) else right if isinstance(right, int) else left)
    return TensorType(then.dtype, tuple(dims))


@record
class IfElse(Op):
    """Result `part` of `count`: arguments are the condition and the values of both sides."""

    count: int
    part: int

    @property
    def is_lazy(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        then, otherwise = self.sides(args)
        return _common_type("ifelse", then.type, otherwise.type)

    def sides(self, args: Sequence[Any]) -> tuple[Any, Any]:
        """The values of this part."""
        return args[1 + self.part], args[1 + self.count + self.part]

    @property
    def takes_bfloat16(self) -> bool:
        return True

    def evaluate(self, *args: Array) -> Array:
        then, otherwise = self.sides(args)
        result: Array = then if bool(args[0]) else otherwise
        return result

    def require(self, node: Tensor) -> Iterator[Requirement]:
        then, otherwise = self.sides(node.args)
        pairs = zip(then.type.shape, otherwise.type.shape, strict=True)
        return _same_lengths(node, pairs, then, otherwise)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        then, otherwise = self.sides(args)
        ours, theirs = self.sides(batched)
        length = next(a for a, b in zip(args, batched, strict=True) if b).shape[0]
        return either(args[0], (then, ours), (otherwise, theirs), length, batched[0])

    @property
    def label(self) -> str:
        return "ifelse"


def either(
    condition: Tensor, then: tuple[Tensor, bool], otherwise: tuple[Tensor, bool],
    length: Any, each: bool,
) -> Tensor:  # fmt: skip
    """The chosen value for each element of a batch; `each` if they have conditions of their own."""
    from symc.tensor.views import broadcast_to, expand_dims

    left, right = (
        value if batched else broadcast_to(value, (length, *value.shape))
        for value, batched in (then, otherwise)
    )
    if not each:
        return chosen_of(condition, [left], [right])[0]
    for _ in range(left.ndim - 1):
        condition = expand_dims(condition, -1)
    return where(condition, left, right)


@record
class Choice(Op):
    """Result `part` of one of two bodies: arguments are the condition and the inputs of both.

    `checks` has the meaning it has in `Scan`, for each of the bodies.
    """

    then: Body
    otherwise: Body
    part: int
    checks: tuple[Checks, Checks] = ((), ())

    @property
    def is_control(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        dtype = self.then.results[self.part].dtype
        sides = [TensorType(dtype, self._shape(body, args)) for body in self.bodies()]
        return _common_type("ifelse", sides[0], sides[1])

    def _shape(self, body: Body, args: Sequence[Tensor]) -> tuple[Dim, ...]:
        length = self.lengths(body, args)
        dims = [length(dim) for dim in body.results[self.part].type.shape]
        return tuple(dim for dim in dims if dim is not None)

    def known(self, args: Sequence[Tensor]) -> Tensor | None:
        """The result where the condition is known: that of one body, written out.

        None where it is not known, and where conditions are tested in that body.
        """
        condition = args[0].op
        if not isinstance(condition, Constant):
            return None
        number = 0 if bool(condition.value) else 1
        return None if self.checks[number] else self.bodies()[number].at(args[1:])[self.part]

    def graphs(self) -> Sequence[tuple[str, tuple[Tensor, ...]]]:
        return ("if true", self.then.results), ("if not", self.otherwise.results)

    def bodies(self) -> tuple[Body, Body]:
        """Both sides."""
        return self.then, self.otherwise

    def lengths(self, body: Body, args: Sequence[Tensor]) -> Callable[[Dim], Dim | None]:
        """Lengths in a body as lengths outside."""
        return body.lengths(list(args[1:]), [0] * len(body.slots))

    def common(self) -> Any:
        return self.then, self.otherwise, self.checks

    @property
    def takes_bfloat16(self) -> bool:
        return True

    def evaluate(self, *args: Array) -> Array:
        return self.evaluate_all(*args)(self)

    def evaluate_all(self, *args: Array) -> Callable[[Any], Array]:
        values = (self.then if bool(args[0]) else self.otherwise).evaluate(*args[1:])

        def value(op: Choice) -> Array:
            return values[op.part]

        return value

    def require(self, node: Tensor) -> Iterator[Requirement]:
        given = dict(zip(self.then.slots, node.args[1:], strict=True))  # slots have no line
        results = [body.results[self.part] for body in self.bodies()]
        results = [given.get(result, result) for result in results]
        shapes = [self._shape(body, node.args) for body in self.bodies()]
        return _same_lengths(node, zip(*shapes, strict=True), *results)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return self.grad_all({node: bar})

    def grad_all(self, bars: Mapping[Tensor, Tensor]) -> Sequence[Tensor | None]:
        from symc.derivatives.reverse import reaching
        from symc.tensor import zeros_like
        from symc.tensor.specify import specify_lengths

        def of(arg: Tensor, bar: Tensor | None) -> Tensor:
            # Of a product the other factor is as long as `arg`, but only where it is computed.
            return zeros_like(arg) if bar is None else specify_lengths(bar, arg)

        condition, *args = next(iter(bars)).args
        parts: list[list[Tensor | None]] = []
        for body in self.bodies():
            values = body.at(args)
            given: dict[Tensor, Tensor] = {}
            for node, bar in bars.items():
                if isinstance(node.op, Choice):
                    value = values[node.op.part]
                    given[value] = given[value] + bar if value in given else bar
            parts.append(reaching(list(given), given, args))
        found: list[Tensor | None] = []
        sides: tuple[list[Tensor], list[Tensor]] = ([], [])
        for arg, then, otherwise in zip(args, *parts, strict=True):
            if then is not None or otherwise is not None:
                found.append(arg)
                sides[0].append(of(arg, then))
                sides[1].append(of(arg, otherwise))
            else:
                found.append(None)
        results = iter(chosen_of(condition, *sides))
        return [None, *(None if arg is None else next(results) for arg in found)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        from symc.derivatives.batch import batch
        from symc.derivatives.reverse import placeholder

        if batched[0] and self._may_fail():
            raise NotBatchable("branch: the side that is not taken may fail")
        length = next(a for a, b in zip(args, batched, strict=True) if b).shape[0]
        sides: list[tuple[Tensor, bool]] = []
        for body in self.bodies():
            # Lengths of slots are those outside, also where only a length is needed.
            given = [
                placeholder(TensorType(arg.dtype, arg.type.shape[1:])) if each else arg
                for arg, each in zip(args[1:], batched[1:], strict=True)
            ]
            over = {one: arg for one, arg in zip(given, args[1:], strict=True) if one is not arg}
            result = body.at(given)[self.part]
            sides.append((batch([result], over, length)[0], True))
        return either(args[0], sides[0], sides[1], length, batched[0])

    def _may_fail(self) -> bool:
        """Whether something is asked of the values that a side computes with."""
        return any(
            not isinstance(asked.holds, tuple)
            for body in self.bodies()
            for _, asked in body.conditions()
        )

    def siblings(self) -> Iterator[Op]:
        """The ops of all results of this branch."""
        for part in range(len(self.then.results) - len(self.checks[0])):
            yield replace(self, part=part)

    def lower(self, node: Tensor, size: SizeOf) -> Control:
        for dim in self.value_lengths(node.args):
            size(dim)
        return Control(tuple(self.siblings()))

    def value_lengths(self, args: Sequence[Tensor]) -> Iterator[Dim]:
        """The lengths that both sides need, and that are values outside."""
        from symc.loops.body import value_lengths

        for body in self.bodies():
            yield from value_lengths(body, self.lengths(body, args))

    def key(self) -> str:
        return f"Choice({self.then.key()}, {self.otherwise.key()}, {self.part}, {self.checks})"

    @property
    def label(self) -> str:
        return "branch"
