"""From PyTensor's Ops to tensors of symc: the table of converters, and graphs converted by it.

    symc_funcify(op, node=node, conversion=c)    a function from symc's tensors to those of results

`symc_funcify` is a `functools.singledispatch` on the type of the Op; the files of `convert/` fill
it, and users may, for Ops of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, singledispatch
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import TensorType

from symc import tensor as T
from symc.errors import DTypeError, SymcError
from symc.graph.inputs import Input, as_tensor, constant, constant_value
from symc.graph.node import Array, Tensor
from symc.graph.provenance import NOWHERE, Where, located_at
from symc.pytensor.streams import is_generator, key_of

# Constants of more elements are passed to each call, not printed into the program.
LARGE = 4096


class NoConversion(NotImplementedError):
    """An Op has no form in symc: the message names the Op and the user's line."""


class OnHost(Exception):
    """An Op, or this use of it, is performed in Python by PyTensor: the message says why."""


@singledispatch
def symc_funcify(op: Any, node: Any = None, conversion: Any = None, **_: Any) -> Callable[..., Any]:
    """Gives the function from symc's tensors to those of the results of a PyTensor Op.

    Register a converter for an Op of your own; Ops without one are performed in Python.

        @symc.pytensor.symc_funcify.register(Smooth)
        def _(op, node, **_):
            return lambda x, width: T.convolve(x, T.ones(width) / width, mode="same")

    `node` is PyTensor's Apply node, with types and constants; ``conversion.graph(fgraph, tensors)``
    converts an inner graph, ``conversion.constant(data)`` a constant.
    """
    raise OnHost("it has no converter")


def line_of(variable: Any) -> Where:
    """The user's line that a PyTensor variable was made at, as far as PyTensor has kept it."""
    for trace in getattr(variable.tag, "trace", None) or ():
        for frame in reversed(trace):
            if not _is_library(frame[0]):
                return Where(frame[0], frame[1])
    return NOWHERE


_LIBRARIES = (f"{Path(os.__file__).parent}{os.sep}", f"{Path(__file__).parent}{os.sep}", "<frozen")
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@cache
def _is_library(file: str) -> bool:
    return file.startswith(_LIBRARIES) or any(part in file for part in _PACKAGES)


def is_numeric(variable: Any) -> bool:
    """Whether a variable's values are arrays or scalars of numbers: what symc computes with."""
    # Subclasses are something else: sparse matrices.
    return type(variable.type) is TensorType or isinstance(variable.type, ScalarType)


def new_input(variable: Any) -> Tensor:
    """An input of symc's for a variable of PyTensor's: its dtype, static shape and name."""
    if is_generator(variable):
        return T.tensor("uint64", shape=(2,), name=_name_of(variable))
    shape = variable.type.shape if isinstance(variable.type, TensorType) else ()
    # PyTensor gives a part of a split that cannot be a negative length.
    shape = tuple(n if n is not None and n >= 0 else None for n in shape)
    return T.tensor(variable.type.dtype, shape=shape, name=_name_of(variable))


def _name_of(variable: Any) -> str | None:
    return variable.name if isinstance(variable.name, str) else None


def fitted(value: Any, variable: Any) -> Any:
    """A result with the dtype, static lengths and name that PyTensor says."""
    if value is None or not is_numeric(variable):
        return value
    result = as_tensor(value)
    if result.dtype.name != variable.type.dtype:
        result = T.cast(result, variable.type.dtype)
    if isinstance(variable.type, TensorType):
        result = _with_lengths(result, variable.type.shape, variable)
    name = _name_of(variable)
    if name and result.name is None and not isinstance(result.op, Input) and _is_own(result):
        result.name = name
    return result


def _is_own(tensor: Tensor) -> bool:
    """Whether a tensor is of one graph, as it depends on an input; others all graphs share.

    The name of such a one would show in the C of whatever is compiled later in the same process,
    which then would not be found in the cache.
    """
    pending, seen = [tensor], {tensor}
    while pending:
        node = pending.pop()
        if isinstance(node.op, Input):
            return True
        new = [arg for arg in node.args if arg not in seen]
        seen.update(new)
        pending += new
    return False


def _with_lengths(result: Tensor, shape: Sequence[int | None], variable: Any) -> Tensor:
    if result.ndim != len(shape):
        raise NoConversion(
            f"{variable.owner} has {len(shape)} axes, its conversion {result.ndim}: {result!r}"
        )
    # pyright and mypy know lengths as Dim: a number, or an expression
    wanted: list[int | None] = [
        length if length is not None and not isinstance(dim, int) else None
        for length, dim in zip(shape, result.type.shape, strict=True)
    ]
    return T.specify_shape(result, wanted) if any(w is not None for w in wanted) else result


def _narrow(array: Array) -> Array:
    """An array without numbers below 0 as the shortest unsigned integers; others as they are.

    Indexes take a quarter of the memory then, and need no length added where they count backwards.
    """
    if array.dtype.kind not in "iu" or array.min() < 0:
        return array
    short = array.astype(np.min_scalar_type(array.max()))
    return short if short.itemsize < array.itemsize else array


def _are_equal(one: Array, other: Array) -> bool:
    """Whether two arrays are alike to the bit."""
    if one.shape != other.shape or one.dtype != other.dtype or not np.array_equal(one, other):
        return False
    return one.tobytes() == other.tobytes()  # zeros have signs


def known(tensor: Any) -> Any:
    """The value of a tensor that is a constant, else None."""
    return constant_value(tensor) if isinstance(tensor, Tensor) else tensor


class Conversion:
    """The conversion of nodes into one function of symc's.

    `random` says whose streams draws are of: "numpy" leaves them to Python, "symc" converts them.
    """

    def __init__(self, random: str = "numpy") -> None:
        self.random = random
        self.large: list[tuple[Tensor, Any]] = []
        self._constants: dict[int, tuple[Any, Any]] = {}

    def holds(self, variable: Any) -> bool:
        """Whether values of a variable can be tensors: numbers, and Generators that become keys."""
        return is_numeric(variable) or (self.random == "symc" and is_generator(variable))

    def constant(self, data: Any) -> Any:
        """A constant: a tensor, and what is no array (None, a slice) as it is."""
        if isinstance(data, np.random.Generator) and self.random == "symc":
            return constant(key_of(data))
        if data is None or isinstance(data, slice | str):
            return data
        if id(data) in self._constants:
            return self._constants[id(data)][1]
        array = np.asarray(data)
        if array.dtype == object:
            raise OnHost(f"a {type(data).__name__} is no array")
        if array.size > LARGE:
            passed, made = self._passed(_narrow(array))
            made = made if passed.dtype == array.dtype else T.cast(made, str(array.dtype))
        elif array.size == 1 and array.ndim and array.dtype.kind == "f":
            # A number with axes, of which PyTensor makes many: rules look for numbers.
            made = T.dimshuffle(constant(array.reshape(())), *["x"] * array.ndim)
        else:
            made = constant(array)
        self._constants[id(data)] = (data, made)  # data is kept, so that its id stays its own
        return made

    def _passed(self, array: Any) -> tuple[Any, Tensor]:
        """A large array, and the input that it is passed as.

        PyTensor computes the transpose of a constant beforehand. That of one that is passed already
        is read from the same memory: with two copies of a matrix neither stays in the cache.
        """
        for known, values in self.large:
            if _are_equal(values, array):
                return values, known
            if array.ndim == 2 and _are_equal(values, array.T):
                return values, known.T
        passed = np.ascontiguousarray(array)
        made = T.tensor(str(passed.dtype), shape=passed.shape)
        self.large.append((made, passed))
        return passed, made

    def node(self, node: Any, args: Sequence[Any]) -> list[Any]:
        """The results of one node. Raises `OnHost` for what symc has no form for."""
        if not all(map(self.holds, node.outputs)):
            raise OnHost(f"{next(v.type for v in node.outputs if not self.holds(v))} is no array")
        with located_at(line_of(node.outputs[0])):
            try:
                function = symc_funcify(node.op, node=node, conversion=self)
                made = function(*args)
            except (SymcError, TypeError, ValueError) as problem:
                if isinstance(problem, NoConversion):
                    raise
                if isinstance(problem, DTypeError) and any(map(_is_complex, node.inputs)):
                    # NumPy puts complex numbers in order, and PyTensor performs by NumPy.
                    raise OnHost(str(problem).partition("\n")[0]) from problem
                _blame(node, args, problem)
            results = list(made) if isinstance(made, list | tuple) else [made]
            return [fitted(r, v) for r, v in zip(results, node.outputs, strict=True)]

    def graph(self, fgraph: Any, args: Sequence[Any]) -> list[Any]:
        """The outputs of an inner graph on these tensors."""
        known: dict[Any, Any] = {v: fitted(a, v) for v, a in zip(fgraph.inputs, args, strict=True)}
        for node in fgraph.toposort():
            given = [self.value(v, known) for v in node.inputs]
            known.update(zip(node.outputs, self.node(node, given), strict=True))
        return [self.value(v, known) for v in fgraph.outputs]

    def value(self, variable: Any, known: Mapping[Any, Any]) -> Any:
        """The tensor of a variable of a graph: one that is known, or a constant."""
        if variable in known:
            return known[variable]
        assert isinstance(variable, Constant)
        return self.constant(variable.data)


def _is_complex(variable: Any) -> bool:
    return is_numeric(variable) and variable.type.dtype.startswith("complex")


def _blame(node: Any, args: Sequence[Any], problem: Exception) -> NoReturn:
    shown = "".join(f"\n  argument  {arg!r}" for arg in args)
    problem.add_note(
        f"while converting PyTensor's {node.op} to symc, of {line_of(node.outputs[0])}{shown}"
    )
    raise problem


def as_bool(x: Tensor) -> Tensor:
    """Whether each element is not zero."""
    return x if x.dtype.name == "bool" else T.ne(x, 0)


def as_length(x: Any) -> Any:
    """A tensor that is a length, as int64; a Python number as it is."""
    if not isinstance(x, Tensor):
        return x
    value = constant_value(x)
    if value is not None:
        return int(value)
    return x if x.dtype.name == "int64" else T.cast(x, "int64")


def items(vector: Tensor, count: int) -> list[Any]:
    """The elements of a vector of lengths, those that are known as numbers."""
    value = constant_value(vector)
    if value is not None:
        return [int(v) for v in value]
    return [as_length(vector[i]) for i in range(count)]


def register(*ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a converter for several Ops: a decorator."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        for op in ops:
            symc_funcify.register(op, function)
        return function

    return enter
