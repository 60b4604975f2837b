"""Runs lowerings element by element in Python, and compares them with `evaluate`.

`check_lowering(build, *arrays)` does so for every node of a small graph: reads must be in range,
each element must have the promised dtype and the value that NumPy gives, lengths in types must be
the real ones, requirements must hold, and expansions must mean the same. `enforce` raises the error
of the first requirement that does not hold. Nothing here needs a compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import INT64, DType
from symc.codegen.meaning import functions as meaning
from symc.graph import dims
from symc.graph.dims import Dim, Size
from symc.graph.formulas import Formula, Index
from symc.graph.interpreter import evaluate
from symc.graph.lowering import (
    Alias,
    At,
    Control,
    Fold,
    HostCall,
    LibCall,
    Sweep,
    Write,
    Written,
)
from symc.graph.node import Array, Requirement, Tensor
from symc.graph.open_formulas import OpenFormula
from symc.graph.types import to_numpy
from symc.graph.walks import walk
from symc.tensor.elementwise import ELEMENTWISE
from tests.ops.harness import inputs_for, same

LARGEST = 20_000


def check_lowering(
    build: Callable[..., Any], *arrays: Any, static: bool = False, rtol: float = 1e-13
) -> None:
    """Checks every node of ``build(*tensors)`` on these arrays."""
    arrays = tuple(np.asarray(a) for a in arrays)
    symbols = inputs_for(arrays, static)
    outputs = build(*symbols)
    several = isinstance(outputs, list | tuple)
    listed = list(cast("Sequence[Tensor]", outputs)) if several else [outputs]
    check_nodes(listed, dict(zip(symbols, arrays, strict=True)), rtol)


def check_nodes(
    outputs: Sequence[Tensor], inputs: Mapping[Tensor, Array], rtol: float = 1e-13
) -> None:
    """Checks every node the outputs need, given the inputs' values."""
    world = World(inputs)
    seen: set[Tensor] = set()
    waiting = list(outputs)
    while waiting:
        for node in walk([waiting.pop()]):
            if node in seen:
                continue
            seen.add(node)
            world.check(node, rtol)
            expanded = node.op.expand(node) if node.args else None
            if expanded is not None:
                same(world.value(expanded), world.value(node), rtol)
                waiting.append(expanded)


def enforce(outputs: Sequence[Tensor], inputs: Mapping[Tensor, Array]) -> None:
    """Raises the error of the first requirement that these inputs violate."""
    world = World(inputs)
    for node in walk(outputs):
        for requirement in node.op.require(node):
            if not world.holds(requirement):
                raise requirement.error(requirement.message(world.look_up))


class World:
    """The values of all nodes and lengths for one set of inputs."""

    def __init__(self, inputs: Mapping[Tensor, Array]) -> None:
        self._values: dict[Tensor, Array] = dict(inputs)

    def value(self, node: Tensor) -> Array:
        """The value of a node."""
        if node not in self._values:
            evaluate([node], self._values, self._keep)
        return self._values[node]

    def _keep(self, node: Tensor, value: Array) -> None:
        self._values[node] = value

    def length(self, dim: Dim) -> int:
        """The value of a length."""
        result = dims.substitute(dim, self._size)
        assert isinstance(result, int)
        return result

    def _size(self, size: Size) -> int:
        value = self.value(size.source)
        return int(value) if size.axis is None else value.shape[size.axis]

    def look_up(self, wanted: Any) -> Any:
        """The value of a tensor or a length, as messages ask for it."""
        return self.value(wanted) if isinstance(wanted, Tensor) else self.length(wanted)

    def holds(self, requirement: Requirement) -> bool:
        """Whether a requirement is met."""
        if isinstance(requirement.holds, Tensor):
            return bool(self.value(requirement.holds).all())
        left, right = requirement.holds
        return self.length(left) == self.length(right)

    def check(self, node: Tensor, rtol: float) -> None:
        """Checks one node: its type, its requirements and its lowering."""
        value = self.value(node)
        assert tuple(map(self.length, node.type.shape)) == value.shape, (node, value.shape)
        assert value.dtype == to_numpy(node.dtype), (node, value.dtype)
        for requirement in node.op.require(node):
            assert self.holds(requirement), requirement.message(self.look_up)
        if not node.args or value.size > LARGEST:
            return
        assert node.op.key() == node.op.key()
        if node.op.expand(node) is None:
            lowered = self.lowered(node)
            if lowered is not None:
                same(lowered, value, rtol)

    def lowered(self, node: Tensor) -> Array | None:
        """The value of the node's lowering; None where a routine does it."""
        lowering = node.op.lower(node, lambda dim: ir.const(self.length(dim)))
        match lowering:
            case At():
                return self._each(
                    node, node.dtype, lambda at: self.read(node, lowering.element, at)
                )
            case Fold(finds=True):
                return self._each(node, INT64, lambda at: self._find(node, lowering, at))
            case Fold():
                return self._each(node, lowering.dtype, lambda at: self._fold(node, lowering, at))
            case Write():
                return self._write(node, lowering)
            case Sweep():
                return self._sweep(node, lowering)
            case Alias():
                return self.value(node.args[0]).reshape(self.value(node).shape)
            case LibCall() | HostCall() | Control():
                return None
            case _:
                assert_never(lowering)

    def read(self, node: Tensor, formula: Formula, index: Index, inner: Index = ()) -> ir.Expr:
        """The value of a formula of the node's arguments, its elements given as constants."""
        return self._given(node, OpenFormula(formula, index, inner)).value()

    def _given(self, node: Tensor, opened: OpenFormula) -> OpenFormula:
        """The open formula with all elements that it asks for."""
        while (request := opened.next()) is not None:
            argument, index = request
            arg = node.args[argument]
            array = self.value(arg)
            at = tuple(int(number(i)) for i in index)
            inside = all(0 <= i < n for i, n in zip(at, array.shape, strict=True))
            assert inside, f"{node.op!r} reads {at} of argument {argument} {array.shape}"
            opened.elements.append(ir.Const(array[at].item(), arg.dtype))
        return opened

    def _each(self, node: Tensor, dtype: DType, element: Callable[[Index], Any]) -> Array:
        result = np.empty(self.value(node).shape, to_numpy(node.dtype))
        for at in np.ndindex(*result.shape):
            expression = element(constants(at))
            assert expression.dtype is dtype, (node.op, expression.dtype, dtype)
            with np.errstate(all="ignore"):
                result[at] = number(expression).astype(result.dtype)
        return result

    def _fold(self, node: Tensor, fold: Fold, at: Index) -> ir.Expr:
        total: Any = number(fold.initial)
        assert fold.initial.dtype is fold.dtype
        for inner in np.ndindex(*map(self.length, fold.extents)):
            expression = self.read(node, fold.element, at, constants(inner))
            assert expression.dtype is fold.dtype, (node.op, expression.dtype, fold.dtype)
            total = combined(fold.op, total, number(expression))
        return ir.Const(total.item(), fold.dtype)

    def _find(self, node: Tensor, fold: Fold, at: Index) -> ir.Expr:
        places = np.ndindex(*map(self.length, fold.extents))
        terms = [self.read(node, fold.element, at, constants(inner)) for inner in places]
        assert {term.dtype for term in terms} == {fold.dtype} == {fold.initial.dtype}
        find = np.argmax if fold.op == "max" else np.argmin
        return ir.const(int(find([number(term) for term in terms])))

    def _write(self, node: Tensor, write: Write) -> Array:
        shape = self.value(node).shape
        covered = np.full(shape, write.base is not None)
        base = write.base
        if base is None:
            result = np.empty(shape, to_numpy(node.dtype))
        else:
            result = self._each(node, node.dtype, lambda at: self.read(node, base, at))
        for part in write.parts:
            for at, value in self._writes(node, part, shape):
                result[at] = (
                    value if part.combine == "set" else combined(part.combine, result[at], value)
                )
                covered[at] = True
        assert covered.all(), f"{node.op!r} leaves elements unwritten"
        return result

    def _writes(
        self, node: Tensor, part: Written, shape: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], Any]]:
        targets: set[tuple[int, ...]] = set()
        for inner in np.ndindex(*map(self.length, part.extents)):
            target = self._given(node, OpenFormula(part.target, constants(inner))).target()
            at = tuple(int(number(index)) for index in target)
            inside = all(0 <= i < n for i, n in zip(at, shape, strict=True))
            assert inside, f"{node.op!r} writes {at} of {shape}"
            assert not part.parallel or at not in targets, f"{node.op!r} writes {at} twice"
            targets.add(at)
            expression = self.read(node, part.value, constants(inner))
            assert expression.dtype is node.dtype, (node.op, expression.dtype)
            yield at, number(expression)

    def _sweep(self, node: Tensor, sweep: Sweep) -> Array:
        elements = np.empty(self.value(node).shape, to_numpy(sweep.dtype))
        factors = np.ones_like(elements)
        for at in np.ndindex(*elements.shape):
            elements[at] = number(self.read(node, sweep.element, constants(at)))
            if sweep.scale is not None:
                factors[at] = number(self.read(node, sweep.scale, constants(at)))
        result, factors = (np.moveaxis(x, sweep.axis, 0) for x in (elements, factors))
        for i in range(len(result)):
            before = np.full_like(result[i], sweep.initial.value) if i == 0 else result[i - 1]
            if sweep.scale is not None:
                before = before * factors[i]
            result[i] = combined(sweep.op, before, result[i])
        return elements.astype(to_numpy(node.dtype))


# --- expressions ----------------------------------------------------------------------------------


def constants(index: Iterable[int]) -> Index:
    """An index as expressions."""
    return tuple(map(ir.const, index))


def number(expression: ir.Expr) -> Any:
    """The value of an expression without variables, as a NumPy scalar of its dtype."""
    with np.errstate(all="ignore"):
        return to_numpy(expression.dtype).type(_number(expression))


def _number(expression: ir.Expr) -> Any:
    match expression:
        case ir.Const(value=value):
            return value
        case ir.Unary(op=op, x=x):
            return _UNARY[op](number(x))
        case ir.Binary(op=op, left=left, right=right):
            assert left.dtype is right.dtype, (op, left.dtype, right.dtype)
            return _BINARY[op](number(left), number(right))
        case ir.Call(function=name, args=args):
            row = ELEMENTWISE.find(name)
            function = row.numpy if row is not None else _PARTS.get(name) or getattr(meaning, name)
            return function(*map(number, args))
        case ir.Cast(x=x, dtype=dtype):
            return number(x).astype(to_numpy(dtype))
        case ir.Select(condition=condition, then=then, otherwise=otherwise):
            assert then.dtype is otherwise.dtype
            values = number(then), number(otherwise)  # strict: both are evaluated
            return values[0] if number(condition) else values[1]
        case ir.Var() | ir.Length() | ir.Load():
            raise AssertionError(f"{expression} has no value here")
        case _:
            assert_never(expression)


def combined(op: str, left: Any, right: Any) -> Any:
    """One step of a fold."""
    with np.errstate(all="ignore"):
        return _BINARY[op](left, right)


_PARTS: dict[str, Callable[..., Any]] = {
    "complex": complex, "real": np.real, "imag": np.imag, "angle": np.angle,
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": np.negative,
    "not": np.logical_not,
    "invert": np.invert,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "min": np.minimum, "max": np.maximum,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor, "shl": np.left_shift,
    "shr": np.right_shift,
}  # fmt: skip
