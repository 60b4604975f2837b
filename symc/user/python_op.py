"""`symc.op`: a function in Python on NumPy arrays as an op."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, overload
from weakref import WeakValueDictionary

from symc.graph.lowering import HostCall, Lowering, SizeOf
from symc.graph.node import Array, Tensor
from symc.user.declared import Declared, Rule, declared_types
from symc.user.spec import as_spec

_known: WeakValueDictionary[tuple[str, int], PythonOp] = WeakValueDictionary()


@overload
def op(
    function: Callable[..., Any],
    *,
    output: Any = None,
    inputs: Sequence[Any] | None = None,
    grad: Rule | None = None,
    results: int = 1,
    name: str | None = None,
) -> PythonOp: ...
@overload
def op(
    function: None = None,
    *,
    output: Any = None,
    inputs: Sequence[Any] | None = None,
    grad: Rule | None = None,
    results: int = 1,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], PythonOp]: ...
def op(
    function: Callable[..., Any] | None = None,
    *,
    output: Any = None,
    inputs: Sequence[Any] | None = None,
    grad: Rule | None = None,
    results: int = 1,
    name: str | None = None,
) -> PythonOp | Callable[[Callable[..., Any]], PythonOp]:
    """Makes an op of a function on NumPy arrays: a decorator.

    `inputs` and `output` are types such as ``"float64[n, 2*m]"``, tensors to be like, or dtypes of
    scalars. A name of a length stands for the same length everywhere, ``:`` for any. For several
    results `output` is a list, and the function gives a tuple. Instead of types `output` may be a
    function from the tensors to a tensor or type to be like; then `inputs` may be left out, as
    where no length of a result has a name, and `results` says how many there are if not one.

    `grad`, or ``@f.grad`` afterwards, gives the gradient: a function of the gradient of the
    result (a list where there are several) and of the arguments, all tensors, that returns a
    tensor for each argument, or None where nothing flows.

    The function must depend on its arguments alone, and give arrays of the declared types. It may
    be called at any time, or not at all. Compiled programs call it back, with Python's lock taken;
    its exceptions reach the caller of the program.

    >>> import numpy as np, symc, symc.tensor as T
    >>> @symc.op(inputs=["float64[n]"], output="float64[n]")
    ... def double(x):
    ...     return 2 * x
    >>> @double.grad
    ... def _(bar, x):
    ...     return 2 * bar
    >>> x = T.vector("x")
    >>> f = symc.function([x], [double(x) + 1, symc.grad(double(x).sum(), x)])
    >>> f([1.0, 2.0])
    [array([3., 5.]), array([2., 2.])]
    """
    if output is None:
        raise TypeError('symc.op needs output=, such as @symc.op(output="float64[n]", ...)')

    def make(function: Callable[..., Any]) -> PythonOp:
        outputs, single, count = declared_types(output)
        if results != 1:
            single, count = False, results
        return PythonOp(
            function,
            name or str(getattr(function, "__name__", "op")),
            None if inputs is None else [as_spec(item) for item in inputs],
            outputs,
            single=single,
            count=count,
            rule=grad,
        )

    return make if function is None else make(function)


class PythonOp(Declared):
    """A function in Python as an op."""

    def __init__(self, function: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)
        self.function = function
        text = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', name)}"
        digest = hashlib.sha256(_text_of(function).encode())
        if callable(self.outputs):
            digest.update(_text_of(self.outputs).encode())
        shown = "" if callable(self.outputs) else ", ".join(map(str, self.outputs))
        given = "" if self.inputs is None else ", ".join(map(str, self.inputs))
        text += f"({given}) -> ({shown}) {digest.hexdigest()[:16]}"
        # Of functions that look the same, such as closures, each has a number of its own.
        number = 0
        while (text, number) in _known:
            number += 1
        _known[text, number] = self
        self._identity = f"{text} {number}"

    @property
    def identity(self) -> str:
        return self._identity

    def compute(self, *arrays: Array) -> Sequence[Any]:
        given = [array.view() for array in arrays]
        for array in given:
            array.flags.writeable = False
        found = self.function(*given)
        return (found,) if self.single else tuple(found)

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        return HostCall(self.parts)


def _text_of(function: Any) -> str:
    """An identity of a function's behaviour, as far as its code tells."""
    code: Any = getattr(function, "__code__", None)
    return repr(function) if code is None else _code_text(code)


def _code_text(code: CodeType) -> str:
    constants = [_code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"
