"""Looking at values while a function runs, and insisting on them: `Print`, `breakpoint`, `Assert`.

Each is the identity: of its first argument, with all of the gradient going through. They stay where
they are when graphs are rewritten, and are not computed ahead where the argument is a constant. As
with all that is symbolic, nodes that no output needs do not run: use the results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from symc import tensor as T
from symc.codegen.dtypes import BOOL
from symc.codegen.record import record
from symc.errors import AssertionFailed, DTypeError
from symc.graph.inputs import as_tensor
from symc.graph.lowering import HostCall, Lowering, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor, TensorLike
from symc.graph.passing import Passing
from symc.graph.public import with_public_methods
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe


@record
class Watch(Op):
    """The first argument, which the program shows to Python on its way."""

    @property
    def is_users(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [bar, *(None for _ in node.args[1:])]

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        return HostCall()


@record
class Printed(Watch):
    """Prints the value of its argument, or attributes of it."""

    message: str
    attributes: tuple[str, ...]

    def evaluate(self, *args: Array) -> Array:
        value = args[0].copy()
        for name in self.attributes:
            found: Any = getattr(value, name)
            shown = found() if callable(found) else found
            title = self.message if name == "__str__" else f"{self.message} {name}"
            sys.stdout.write(f"{title} = {shown}\n" if title else f"{shown}\n")
        sys.stdout.flush()
        return value

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(args[0])

    @property
    def label(self) -> str:
        return "Print"


@record
class Break(Watch):
    """Stops in Python's debugger where the condition holds: its second argument, if it has one."""

    def evaluate(self, *args: Array) -> Array:
        value = args[0].copy()
        if len(args) == 1 or bool(args[1].any()):
            sys.breakpointhook()  # `value` has the program's numbers here
        return value

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        value, *condition = args
        if not batched[0]:
            value = value + T.zeros_like(condition[0].reshape((-1, *(1,) * value.ndim)))
        return self(value, *(T.any(c) for c in condition))

    @property
    def label(self) -> str:
        return "breakpoint"


@record
class Asserted(Passing):
    """The first argument; the others must be true. It costs nothing but the test."""

    message: str

    def evaluate(self, *args: Array) -> Array:
        if not all(bool(condition.all()) for condition in args[1:]):
            raise AssertionFailed(self.message)
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [bar, *(None for _ in node.args[1:])]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        value, *conditions = args
        if not batched[0]:
            first = next(c for c, many in zip(conditions, batched[1:], strict=True) if many)
            value = T.broadcast_to(value, (first.shape[0], *value.shape))
        return self(value, *conditions)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for condition in node.args[1:]:
            yield Requirement(condition, AssertionFailed, self._failed(node, condition))

    def _failed(self, node: Tensor, condition: Tensor) -> Callable[[Callable[[Any], Any]], str]:
        def message(value: Callable[[Any], Any]) -> str:
            held = np.asarray(value(condition))
            where = ""
            if held.ndim:
                first = tuple(int(index) for index in np.argwhere(~held)[0])
                where = f"; first at {first}, of {int((~held).sum())}"
            return (
                f"{self.message}{where}\n  value      {describe(node.args[0])}\n"
                f"  condition  {describe(condition)}"
            )

        return message

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        raise AssertionError("expanded before lowering")

    @property
    def label(self) -> str:
        return "Assert"


@with_public_methods
class Print:
    """Prints a tensor when it is computed: ``x = symc.Print("x")(x)``.

    `attrs` are attributes or methods of the array to print instead of all of it, such as
    ``("shape", "min", "max")``, or one of them.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], symc.Print("x", attrs=("shape", "max"))(x).sum())
    >>> float(f([1.0, 2.0]))
    x shape = (2,)
    x max = 2.0
    3.0
    """

    def __init__(self, message: str = "", attrs: str | Sequence[str] = ("__str__",)) -> None:
        names = (attrs,) if isinstance(attrs, str) else tuple(attrs)
        for name in names:
            if not hasattr(np.ndarray, name):
                raise AttributeError(f"an array has no {name!r} to print")
        self._op = Printed(message, names)

    def __call__(self, x: TensorLike) -> Tensor:
        """The same tensor, printed on its way."""
        return self._op(as_tensor(x))


@with_public_methods
class Assert:
    """Insists on conditions: ``x = symc.Assert("x is positive")(x, x > 0)``.

    The function that computes the result raises `AssertionFailed`, an `AssertionError`, where an
    element of a condition is false.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], T.log(symc.Assert("x is positive")(x, x > 0)))
    >>> f([1.0, -1.0, 2.0])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AssertionFailed: x is positive; first at (1,), of 1
    """

    def __init__(self, message: str = "an assertion of the graph does not hold") -> None:
        self._op = Asserted(message)

    def __call__(self, x: TensorLike, *conditions: TensorLike) -> Tensor:
        """The same tensor, if the conditions hold."""
        tests = [as_tensor(condition) for condition in conditions]
        for test in tests:
            if test.dtype is not BOOL:
                raise DTypeError(f"a condition must be bool, not {test.type}\n  {describe(test)}")
        return self._op(as_tensor(x), *tests)


def breakpoint(x: TensorLike, condition: TensorLike | None = None) -> Tensor:
    """The same tensor; the program stops in Python's debugger when it has computed it.

    With a condition, only where an element of that holds. The array is `value` there, one frame up
    from where the debugger begins. PYTHONBREAKPOINT chooses another debugger, or none.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> y = symc.breakpoint(x, T.isnan(x))  # stops when there is a NaN in x
    >>> y.type
    float64[x.shape[0]]
    """
    value = as_tensor(x)
    if condition is None:
        return Break()(value)
    test = as_tensor(condition)
    if test.dtype is not BOOL:
        raise DTypeError(f"a condition must be bool, not {test.type}\n  {describe(test)}")
    return Break()(value, test)
