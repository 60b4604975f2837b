"""Elementwise ops: the mechanism. The functions themselves are rows of `math.py` and `logic.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, FLOAT64, DType
from symc.codegen.record import record
from symc.errors import DTypeError
from symc.graph.formulas import Apply, Formula, Index, Read, ReadElement, formula, own_index
from symc.graph.inputs import Constant, as_tensor, constant_value
from symc.graph.lowering import At, SizeOf
from symc.graph.node import (
    METHODS,
    OPERATORS,
    Array,
    Op,
    Requirement,
    Tensor,
    TensorLike,
)
from symc.graph.registry import Registry
from symc.graph.types import TensorType, float_for, promote, promote_as_floats, to_numpy
from symc.tensor.broadcast import (
    align_batch,
    args_with_rows,
    broadcast_requirements,
    broadcast_shape,
    describe,
    stretched_together,
)
from symc.tensor.domains import GENERAL, NEEDED, Domain, SignBit
from symc.tensor.rows import (
    Expression,
    Expression1,
    Expression2,
    InHeader,
    Options,
    Partial,
    Partial1,
    Partial2,
    Partial3,
    Partial4,
    documented,
)
from symc.tensor.unknown import is_unknown

if TYPE_CHECKING:
    from symc.tensor.signatures import (
        FunctionOfFour,
        FunctionOfOne,
        FunctionOfThree,
        FunctionOfTwo,
    )


@record(eq=False)
class Elementwise(Op):
    """One scalar function applied at every index. All arguments have one dtype.

    `partials` has, for each argument, ``(bar, *args, result) -> bar times the derivative``.
    """

    name: str
    numpy: Callable[..., Any]
    expression: Expression
    domain: Domain
    partials: tuple[Partial | None, ...]
    predicate: bool = False
    """Whether it gives bool."""
    cost: int = 1  # pyright: ignore[reportIncompatibleMethodOverride] -- a field here
    """In simple arithmetic operations."""
    checks: Callable[[Tensor], Iterable[Requirement]] | None = None
    of_complex: bool = False
    """Whether it takes complex numbers. Those that need an order (maximum, lt, floor) do not."""
    commutes: bool = False
    """Whether exchanging its two arguments leaves the result as it is."""
    sign_bit: SignBit = "any"
    of_16_bits: Callable[[DType], Expression] | None = None
    """For a float of 16 bits the function in float32, where that of float32 rounds to another."""

    def infer(self, *args: Tensor) -> TensorType:
        shape = broadcast_shape(self.name, args)
        dtype = BOOL if self.predicate else args[-1].type.dtype
        for arg in args:
            if arg.type.shape is shape and arg.type.dtype is dtype:
                return arg.type
        return TensorType(dtype, shape)

    @property
    def takes_bfloat16(self) -> bool:
        return self.of_16_bits is not None

    def evaluate(self, *args: Array) -> Array:
        with np.errstate(all="ignore"):
            result = self.numpy(*args)
        return np.asarray(result, dtype=bool if self.predicate else args[-1].dtype)

    def in_quiet(self, node: Tensor) -> Callable[..., Any]:
        function, dtype = self.numpy, to_numpy(node.dtype)
        return lambda *args: np.asarray(function(*args), dtype)

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        return args_with_rows(node)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        mask, inner = peel(bar)
        parts: list[Tensor | None] = []
        for partial, arg in zip(self.partials, node.args, strict=True):
            part = None
            if partial and not isinstance(arg.op, Constant) and arg.dtype.is_inexact:
                part = self._pulled(partial, inner, node)
            parts.append(part if is_unknown(part) else sum_to(masked(mask, part), arg))
        return parts

    def _pulled(self, partial: Partial, bar: Tensor, node: Tensor) -> Tensor | None:
        """The result of a partial; where numbers are complex, with the derivative's conjugate.

        A row's partial is `bar` times the derivative of a holomorphic function, linear in `bar`. A
        gradient is the direction of steepest ascent, ``dC/dre + 1j dC/dim``, and of these the
        transposed derivative is the conjugate: ``conj(derivative) * bar``.
        """
        if not bar.dtype.is_complex:
            return partial(bar, *node.args, node)
        result = partial(OPERATORS["conj"](bar), *node.args, node)
        return None if result is None else OPERATORS["conj"](result)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*align_batch(args, batched))

    def lower(self, node: Tensor, size: SizeOf) -> At:
        shapes = [arg.type.shape for arg in node.args]
        stretched = [
            tuple([axis for axis, dim in enumerate(shape) if dim == 1]) if 1 in shape else ()
            for shape in shapes
        ]
        return _pointwise(self, node.ndim, tuple(map(len, shapes)), tuple(stretched))

    def scalar(self, values: Sequence[ir.Expr]) -> ir.Expr:
        """The function on one element of each argument; float32 computes for 16 bits."""
        dtype = values[-1].dtype
        if not dtype.is_only_stored:
            return self.expression(*values)
        wide = [ir.Cast(v, dtype.wide) if v.dtype is dtype else v for v in values]
        expression = self.expression if self.of_16_bits is None else self.of_16_bits(dtype)
        result = expression(*wide)
        return result if result.dtype is BOOL else ir.Cast(result, dtype)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        yield from broadcast_requirements(self.name, node.args, node.type.shape)
        if self.checks is not None:
            yield from self.checks(node)

    def __repr__(self) -> str:
        return f"Elementwise({self.name})"

    @property
    def label(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return (ELEMENTWISE.__getitem__, (self.name,))


ELEMENTWISE: Registry[Elementwise] = Registry()


@cache
def _pointwise(
    op: Elementwise, rank: int, ranks: tuple[int, ...], stretched: tuple[tuple[int, ...], ...]
) -> At:
    """An elementwise op on arguments of these ranks, stretched along some axes: most nodes share
    it with many others."""
    own = own_index(rank)
    reads = [
        Read(number, own if n == rank and not ones else _tail(own, n, ones))
        for number, (n, ones) in enumerate(zip(ranks, stretched, strict=True))
    ]
    return At(Formula(tuple(reads), Apply(op)))


def _tail(index: Index, rank: int, stretched: Sequence[int]) -> Index:
    return tuple(
        ir.const(0) if axis in stretched else i for axis, i in enumerate(index[len(index) - rank :])
    )


@record
class Cast(Op):
    """Conversion to another dtype."""

    dtype: DType

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(self.dtype, args[0].type.shape)

    def evaluate(self, *args: Array) -> Array:
        with np.errstate(all="ignore"):
            return args[0].astype(to_numpy(self.dtype))

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        return (0,) if node.ndim else None

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x = node.args[0]
        if not (x.dtype.is_inexact and self.dtype.is_inexact):
            return [None]
        mask, inner = peel(bar)
        if inner.dtype.is_complex and not x.dtype.is_complex:
            inner = OPERATORS["real"](inner)
        return [masked(mask, cast_to(inner, x.dtype))]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        def element(read: ReadElement, index: Index) -> ir.Expr:
            value = read(0, index)
            return value if value.dtype is self.dtype else ir.Cast(value, self.dtype)

        return At(formula(node, element))


def project(index: Index, shape: tuple[Any, ...]) -> Index:
    """The index of a broadcast argument: right-aligned, and 0 along axes of length 1."""
    tail = index[len(index) - len(shape) :]
    if 1 not in shape:
        return tail
    return tuple(ir.const(0) if dim == 1 else i for i, dim in zip(tail, shape, strict=True))


# --- masks: they keep NaN out of gradients of `where` ---------------------------------------------


def peel(bar: Tensor) -> tuple[Tensor | None, Tensor]:
    """A gradient of the form ``where(mask, inner, 0)`` as (mask, inner); else (None, bar).

    Reverse rules are linear in `bar`, so they may be applied to `inner` and masked afterwards:
    then an infinite derivative in the branch not taken meets a mask, never a multiplication by 0.
    """
    if bar.op is ELEMENTWISE.get("where"):
        value = constant_value(bar.args[2])
        if value is not None and value.ndim == 0 and value == 0:
            return bar.args[0], bar.args[1]
    return None, bar


def masked(mask: Tensor | None, value: Tensor | None) -> Tensor | None:
    """``where(mask, value, 0)``, or the value itself without a mask.

    A value that is masked itself gets both masks at once, so that `peel` finds the value inside.
    """
    if mask is None or value is None:
        return value
    inner_mask, inner = peel(value)
    if inner_mask is not None:
        mask, value = OPERATORS["logical_and"](mask, inner_mask), inner
    return OPERATORS["where"](mask, value, 0)


def conjugated(x: Tensor) -> Tensor:
    """The conjugate of complex numbers, as reverse rules need factors; real ones as they are."""
    return OPERATORS["conj"](x) if x.dtype.is_complex else x


def sum_to(bar: Tensor | None, arg: Tensor) -> Tensor | None:
    """Sums a gradient over the axes along which `arg` was broadcast."""
    if bar is None:
        return None
    shape, own = bar.type.shape, arg.type.shape
    extra = len(shape) - len(own)
    stretched = [
        extra + axis for axis, dim in enumerate(own) if dim == 1 and shape[extra + axis] != 1
    ]
    if not extra and not stretched:
        return bar
    axes = (*range(extra), *stretched)
    total = _reduce("sum", bar, axes, extra)
    mask, _ = peel(bar)
    if mask is None:
        return total
    if mask.ndim < bar.ndim:
        mask = METHODS["expand_dims"](mask, tuple(range(bar.ndim - mask.ndim)))
    return masked(_reduce("any", mask, axes, extra), total)


def _reduce(name: str, x: Tensor, axes: tuple[int, ...], extra: int) -> Tensor:
    result = METHODS[name](x, axis=axes, keepdims=True)
    return cast("Tensor", METHODS["squeeze"](result, axis=tuple(range(extra))) if extra else result)


# --- making functions from rows -------------------------------------------------------------------


def cast_to(x: TensorLike, dtype: Any) -> Tensor:
    """`x` converted to a dtype, as ``x.astype(dtype)``; the same tensor if it has it already.

    Floats become integers by truncation. Raises `DTypeError` for complex numbers that are to become
    real: `real`, `imag` and `abs` say which real number is meant.

    >>> import symc.tensor as T
    >>> T.cast(T.vector("x"), "int32").dtype
    int32
    """
    from symc.graph.types import as_dtype

    x, wanted = as_tensor(x), as_dtype(dtype)
    if x.dtype is wanted:
        return x
    if x.dtype.is_complex and not (wanted.is_complex or wanted is BOOL):
        raise DTypeError(
            f"a {x.dtype} does not become a {wanted} without loss; take .real, .imag or abs first\n"
            f"  given  {describe(x)}"
        )
    value = constant_value(x)
    if value is not None and value.ndim == 0:
        from symc.graph.inputs import constant

        return constant(Cast(wanted).evaluate(value))
    return Cast(wanted)(x)


def common(values: Sequence[TensorLike], domain: Domain, label: str) -> list[Tensor]:
    """The arguments as tensors of the one dtype the function computes in (see `Domain`)."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    arrays = [
        as_tensor(v)
        for v in values
        if not isinstance(v, Tensor)
        and (isinstance(v, np.generic) or not isinstance(v, bool | int | float | complex))
    ]
    known = [t.dtype for t in [*tensors, *arrays]]
    like = promote(*known) if known else None
    converted = [as_tensor(v, like) for v in values]
    together = promote_as_floats if domain == "float" else promote
    dtype = _domain_dtype(together(*[t.dtype for t in converted]), domain, label)
    return [cast_to(t, dtype) for t in converted]


def in_domain(op: Elementwise, dtype: DType) -> DType:
    """The dtype that an op computes in when its arguments have this one."""
    return _domain_dtype(dtype, op.domain, op.name)


def refuse_complex(label: str, dtype: DType) -> None:
    """Raises `DTypeError` for complex numbers, where a function is of real ones."""
    if dtype.is_complex:
        raise DTypeError(
            f"{label} of complex numbers is not defined; take .real, .imag or abs first"
        )


def _domain_dtype(dtype: DType, domain: Domain, label: str) -> DType:
    row = ELEMENTWISE.get(label) if dtype.is_complex and domain != "logical" else None
    if row is not None and not row.of_complex:
        refuse_complex(label, dtype)
    match domain:
        case "float":
            return float_for(dtype)
        case "divide":
            return dtype if dtype.is_inexact else FLOAT64
        case "logical":
            return BOOL
        case "number" if dtype is BOOL:
            raise DTypeError(f"{label} of bool is not defined; use ^ or logical_xor, or cast first")
        case "integer" | "whole" if dtype.is_inexact or (dtype is BOOL and domain == "whole"):
            raise DTypeError(f"{label} needs {NEEDED[domain]}, not {dtype}; cast first")
        case _:
            return dtype


@overload
def elementwise(
    name: str,
    numpy: Callable[[Array], Any],
    expression: Expression1 | str | InHeader,
    doc: str,
    partial: Partial1 | None,
    /,
    **options: Unpack[Options],
) -> FunctionOfOne: ...
@overload
def elementwise(
    name: str,
    numpy: Callable[[Array, Array], Any],
    expression: Expression2 | str | InHeader,
    doc: str,
    first: Partial2 | None,
    second: Partial2 | None,
    /,
    **options: Unpack[Options],
) -> FunctionOfTwo: ...
@overload
def elementwise(
    name: str,
    numpy: Callable[..., Any],
    expression: Expression | str | InHeader,
    doc: str,
    first: Partial3 | None,
    second: Partial3 | None,
    third: Partial3 | None,
    /,
    **options: Unpack[Options],
) -> FunctionOfThree: ...
@overload
def elementwise(
    name: str,
    numpy: Callable[..., Any],
    expression: Expression | str | InHeader,
    doc: str,
    first: Partial4 | None,
    second: Partial4 | None,
    third: Partial4 | None,
    fourth: Partial4 | None,
    /,
    **options: Unpack[Options],
) -> FunctionOfFour: ...
def elementwise(
    name: str,
    numpy: Callable[..., Any],
    expression: Expression | str | InHeader,
    doc: str,
    /,
    *partials: Partial | None,
    **options: Unpack[Options],
) -> FunctionOfOne | FunctionOfTwo | FunctionOfThree | FunctionOfFour:
    """Defines an elementwise function from one row, and returns the public function.

    `expression` is the function of numbers in the loop IR, or a function in C (see `define` in
    `codegen/runtime/defined.py`), or says that ``symc_NAME_f64`` stands in a header; the meaning
    of those for interpreters is `numpy`.
    """
    domain = options.setdefault("domain", "float")
    if isinstance(expression, str | InHeader):
        _add_function(name, numpy, expression, len(partials), options.get("cost", 1))
        expression = call(name)
    op = Elementwise(name, numpy, expression, partials=partials, **options)
    ELEMENTWISE[name] = op
    function: FunctionOfOne | FunctionOfTwo | FunctionOfThree | FunctionOfFour
    if len(partials) == 1:

        def of_one(x: TensorLike) -> Tensor:
            x = as_tensor(x)
            return op(cast_to(x, _domain_dtype(x.dtype, domain, name)))

        function = of_one
    elif len(partials) == 2:

        def of_two(x: TensorLike, y: TensorLike) -> Tensor:
            return op(*stretched_together(name, common((x, y), domain, name)))

        function = of_two
    elif len(partials) == 3:

        def of_three(a: TensorLike, b: TensorLike, x: TensorLike) -> Tensor:
            return op(*stretched_together(name, common((a, b, x), domain, name)))

        function = of_three
    else:

        def of_four(a: TensorLike, b: TensorLike, c: TensorLike, z: TensorLike) -> Tensor:
            return op(*stretched_together(name, common((a, b, c, z), domain, name)))

        function = of_four

    function.__name__ = function.__qualname__ = name
    function.__doc__ = documented(doc, GENERAL[domain])
    OPERATORS[name] = function
    return function


def _add_function(
    name: str, numpy: Callable[..., Any], text: str | InHeader, arity: int, cost: int
) -> None:
    """Add a function that loops can call by the row's name."""
    from symc.codegen.runtime.defined import declare, define

    def python(*args: float) -> float:
        with np.errstate(all="ignore"):
            return float(numpy(*map(np.float64, args)))

    if isinstance(text, InHeader):
        declare(name, arity, python, cost)
    elif (row := define(text, python, cost)).name != name:
        raise ValueError(f"the C of {name} defines {row.name}")


def call(name: str) -> Expression:
    """The expression that calls a function of `codegen/math.py`."""
    return lambda *args: ir.Call(name, args, args[0].dtype)


def binary(op: ir.BinaryOp) -> Expression2:
    """The expression of a binary operator."""
    return lambda left, right: ir.binary(op, left, right)
