"""Parts shared by all ops of users: declared types, results of one call, a gradient rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from symc import tensor as T
from symc.codegen.record import record
from symc.errors import DTypeError, GradientError, RankError, ShapeMismatch
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.lowering import Lowering, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor, TensorLike
from symc.graph.provenance import user_line
from symc.graph.types import TensorType, to_numpy
from symc.graph.values import Unfit, as_array, held, is_literal
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.user.spec import Bound, Spec, as_spec, bind, check, mismatch, names_of, value_of

Rule: TypeAlias = Callable[..., Any]


class Declared:
    """An op of a user's: call it on tensors.

    `grad` takes a function that gives the gradients: from the result's gradient (a list,
    where there are several) and the arguments to a gradient for each argument, None for none.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Spec] | None,
        outputs: Sequence[Spec] | Callable[..., Any],
        *,
        single: bool,
        count: int,
        rule: Rule | None,
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.single = single
        self.rule = rule
        self.where = user_line()
        self.count = count
        if not callable(outputs):
            given = inputs or ()
            known = {n for spec in given for length in spec.lengths for n in names_of(length)}
            for spec in outputs:
                _can_be_known(name, spec, known)

    @property
    def parts(self) -> tuple[UserResult, ...]:
        """The ops of the results."""
        return tuple(UserResult(self, number) for number in range(self.count))

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def grad(self, rule: Rule) -> Rule:
        """Sets the rule of the gradient; a decorator."""
        self.rule = rule
        return rule

    def __call__(self, *args: TensorLike) -> Any:
        """The result on these tensors, or a list where there are several."""
        tensors = self.arguments(args)
        results = [part(*tensors) for part in self.parts]
        return results[0] if self.single else results

    def arguments(self, args: Sequence[TensorLike]) -> list[Tensor]:
        """The arguments as tensors of the declared dtypes, as far as that loses nothing."""
        if self.inputs is None:
            return [as_tensor(arg) for arg in args]
        if len(args) != len(self.inputs):
            raise TypeError(f"{self.name} takes {len(self.inputs)} arguments, not {len(args)}")
        return [
            _converted(self.name, number, spec, arg)
            for number, (spec, arg) in enumerate(zip(self.inputs, args, strict=True))
        ]

    # --- types ------------------------------------------------------------------------------------

    def bound(self, args: Sequence[Tensor]) -> Bound:
        """The values of the names of lengths."""
        return Bound({}, ()) if self.inputs is None else check(self.name, self.inputs, args)

    def types(self, args: Sequence[Tensor]) -> list[TensorType]:
        """The types of the results."""
        names = self.bound(args).names
        if not callable(self.outputs):
            return [_type(spec, names) for spec in self.outputs]
        found = self.outputs(*args)
        listed: list[Any] = [found] if self.single else list(found)
        if len(listed) != self.count:
            raise ValueError(f"{self.name} has {self.count} results, not {len(listed)}")
        return [_like(item, names) for item in listed]

    def expected(self, arrays: Sequence[Array]) -> list[tuple[Any, tuple[int, ...]]]:
        """The dtypes and shapes of the results on arrays."""
        if callable(self.outputs):
            types = self.types([T.tensor(array.dtype, array.shape) for array in arrays])
            return [(made.dtype, cast("tuple[int, ...]", made.shape)) for made in types]
        shapes = [array.shape for array in arrays]
        names = Bound({}, ()).names if self.inputs is None else bind(self.inputs, shapes).names
        return [
            (spec.dtype, tuple(value_of(length, names) for length in spec.lengths))
            for spec in self.outputs
        ]

    # --- meaning ----------------------------------------------------------------------------------

    def compute(self, *arrays: Array) -> Sequence[Any]:
        """All results on arrays, as the user's function gives them."""
        raise NotImplementedError

    def computed(self, *arrays: Array) -> list[Array]:
        """All results on arrays, checked."""
        found = self.compute(*arrays)
        if len(found) != self.count:
            raise ValueError(f"{self.name} has {self.count} results and gave {len(found)}")
        results: list[Array] = []
        for value, (dtype, shape) in zip(found, self.expected(arrays), strict=True):
            array = as_declared(self.name, value, to_numpy(dtype))
            if array.shape != shape:
                raise ShapeMismatch(
                    f"{self.name} gave an array of shape {array.shape}, declared with {shape}"
                )
            results.append(array)
        return results

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        """How all results are computed."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """Text that is equal for equal ops in every process, and differs within one."""
        raise NotImplementedError


@record
class UserResult(Op):
    """One result of a user's op."""

    @property
    def is_users(self) -> bool:
        return True

    declared: Declared
    number: int

    def infer(self, *args: Tensor) -> TensorType:
        return self.declared.types(args)[self.number]

    def evaluate(self, *args: Array) -> Array:
        return self.declared.computed(*args)[self.number]

    def common(self) -> Any:
        return self.declared

    def evaluate_all(self, *args: Array) -> Callable[[Any], Array]:
        results = self.declared.computed(*args)

        def part(op: UserResult) -> Array:
            return results[op.number]

        return part

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return self.grad_all({node: bar})

    def grad_all(self, bars: Mapping[Tensor, Tensor]) -> Sequence[Tensor | None]:
        args = next(iter(bars)).args
        siblings = [part(*args) for part in self.declared.parts]
        given = [bars[each] if each in bars else T.zeros_like(each) for each in siblings]
        bar = given[0] if self.declared.single else given
        return pulled(self.declared.name, self.declared.rule, bar, args)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        from symc.user.mapped import Mapped

        return Mapped(self, tuple(batched))(*args)

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        return self.declared.lower(node, size)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        args = node.args
        for given, wanted, where in self.declared.bound(args).equal:
            yield Requirement((given, wanted), ShapeMismatch, _message(self, node, where))

    def key(self) -> str:
        return f"UserResult({self.declared.identity}, {self.number})"

    @property
    def label(self) -> str:
        return self.declared.name


def _message(op: UserResult, node: Tensor, where: str) -> Callable[[Callable[[Any], Any]], str]:
    def message(value: Callable[[Any], Any]) -> str:
        for given, wanted, place in op.declared.bound(node.args).equal:
            if place == where:
                return mismatch(op.label, value(given), value(wanted), where, node.args)
        raise AssertionError(where)

    return message


def pulled(
    name: str, rule: Rule | None, bar: Tensor | list[Tensor], args: Sequence[Tensor]
) -> list[Tensor | None]:
    """The result of a user's gradient rule, checked."""
    if rule is None:
        raise GradientError(
            f"{name} has no gradient; give it one: grad=rule, or @{name}.grad above\n"
            "  def rule(bar, *arguments): return [the gradient of each argument]"
        )
    found = rule(bar, *args)
    listed: Sequence[Any] = (
        cast("Sequence[Any]", found) if isinstance(found, list | tuple) else (found,)
    )
    if len(listed) != len(args):
        raise GradientError(
            f"the gradient of {name} must be a tensor for each of the {len(args)} arguments, "
            f"not {len(listed)}"
        )
    return [
        None if value is None or not arg.dtype.is_float else _fitted(name, value, arg)
        for value, arg in zip(listed, args, strict=True)
    ]


def _fitted(name: str, value: TensorLike, arg: Tensor) -> Tensor:
    made = as_tensor(value, arg.dtype)
    if made.ndim != arg.ndim:
        raise RankError(
            f"the gradient of {name} has {made.ndim} axes, its argument {arg.ndim}\n"
            f"  gradient  {describe(made)}\n  argument  {describe(arg)}"
        )
    return cast_to(made, arg.dtype)


def as_declared(name: str, value: Any, dtype: Any) -> Array:
    """A result as an array of the declared dtype. Only Python numbers and lists are converted."""
    try:
        array = as_array(value)
    except Unfit as problem:
        raise DTypeError(f"a result of {name} {problem}") from problem.__cause__
    converted = held(value, array, dtype) if is_literal(value) else array
    if converted is None or converted.dtype != dtype:
        raise DTypeError(f"{name} gave {array.dtype}, declared as {dtype}")
    return cast("Array", converted)


def declared_types(value: Any) -> tuple[Any, bool, int]:
    """The results of ``output=``: specs or a function, whether it is one, and how many."""
    if callable(value) and not isinstance(value, type):
        return value, True, 1
    if isinstance(value, list | tuple):
        listed = cast("Sequence[Any]", value)
        return tuple(map(as_spec, listed)), False, len(listed)
    return (as_spec(value),), True, 1


def _can_be_known(name: str, spec: Spec, known: set[str]) -> None:
    for length in spec.lengths:
        unknown = set(names_of(length)) - known
        if length is None or unknown:
            what = f"{min(unknown)!r} is" if unknown else "':' is"
            raise ValueError(
                f"{name}: the result {spec} must follow from the inputs, but {what} no length of "
                'theirs\n  name the lengths of the inputs, like inputs=["float64[n]"], and use '
                "these names, or give output= a function of the tensors"
            )


def _type(spec: Spec, names: Any) -> TensorType:
    lengths: list[Dim] = [value_of(length, names) for length in spec.lengths]
    return TensorType(spec.dtype, tuple(lengths))


def _like(item: Any, names: Any) -> TensorType:
    if isinstance(item, Tensor):
        return item.type
    return item if isinstance(item, TensorType) else _type(as_spec(item), names)


def _converted(name: str, number: int, spec: Spec, arg: TensorLike) -> Tensor:
    made = as_tensor(arg, spec.dtype)
    if made.dtype is not spec.dtype and not np.can_cast(
        to_numpy(made.dtype), to_numpy(spec.dtype), "safe"
    ):
        raise DTypeError(
            f"{name}: argument {number} is declared as {spec}\n  given  {describe(made)}\n"
            f'  use .astype("{spec.dtype}") if that loses nothing'
        )
    return cast_to(made, spec.dtype)
