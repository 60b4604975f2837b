"""Where values enter a graph: symbolic inputs, constants and shared variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from typing import Any, Protocol, TypeGuard, cast

import numpy as np

from symc.codegen.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, UINT64, DType
from symc.codegen.record import record
from symc.config import config
from symc.errors import DTypeError, RankError, ShapeMismatch
from symc.graph.dims import Dim, Size, symbolic
from symc.graph.node import OPERATORS, Array, Op, Tensor, TensorLike, intern
from symc.graph.provenance import user_line
from symc.graph.public import with_public_methods
from symc.graph.registry import SERVICES
from symc.graph.types import TensorType, as_dtype, to_numpy, weak_dtype
from symc.graph.values import Unfit, as_array, check_known, held, may_round


@record(eq=False)
class Input(Op):
    """A value given at each call. Every `Input` is a node of its own."""

    declared: tuple[int | None, ...]

    def infer(self, *args: Tensor) -> TensorType:
        raise AssertionError("inputs get their type when they are made")

    def evaluate(self, *args: Array) -> Array:
        raise AssertionError("inputs are given, not computed")

    @property
    def label(self) -> str:
        return "input"


@record(eq=False)
class Constant(Op):
    """A known array. Equal constants are one node: they are interned by dtype, shape and bytes."""

    value: Array
    digest: str

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(as_dtype(self.value.dtype), self.value.shape)

    def evaluate(self, *args: Array) -> Array:
        return self.value

    def key(self) -> str:
        return f"Constant({self.value.dtype.name}, {self.value.shape}, {self.digest})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return False
        # Not by keys: NumPy imports something for a dtype's name, and nodes are also compared as
        # the interpreter shuts down, when nothing can be imported.
        own, its = self.value, other.value
        return self.digest == other.digest and own.shape == its.shape and own.dtype == its.dtype

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def label(self) -> str:
        return str(self.value) if self.value.ndim == 0 else "constant"


def tensor(dtype: Any = None, shape: Sequence[int | None] = (), name: str | None = None) -> Tensor:
    """A symbolic input.

    `dtype` is a name or NumPy dtype (None: `config.floatX`); `shape` has a number for each length
    that is known and None for each that is not. Only axes of length 1 given as ``1`` broadcast.

    >>> tensor("float32", shape=(None, 3), name="x")
    <x float32[x.shape[0], 3]>
    """
    _check_name(name)
    declared = lengths_of(shape)
    return _source(Tensor, Input(declared), as_dtype(dtype or config.floatX), declared, name)


def lengths_of(shape: Sequence[int | None]) -> tuple[int | None, ...]:
    """A declared shape. Raises TypeError or ValueError for other values."""
    if not isinstance(cast("object", shape), list | tuple):
        raise TypeError(f"shape must be a tuple, like (None, 3), not {shape!r}")
    for dim in cast("Sequence[Any]", shape):
        if isinstance(dim, bool) or not isinstance(dim, int | np.integer | None):
            raise TypeError(
                f"shape={tuple(shape)!r}: a length is an integer, or None if it is not known "
                "before a call; (None, 1) is what Theano calls broadcastable=(False, True)"
            )
        if dim is not None and dim < 0:
            raise ValueError(f"a length cannot be negative: shape={tuple(shape)}")
    return tuple(None if dim is None else int(dim) for dim in shape)


def _check_name(name: object) -> None:
    if not isinstance(name, str | None):
        raise TypeError(f"a tensor's name must be a string, not {name!r}")


def _source(
    cls: type[Tensor], op: Op, dtype: DType, declared: Sequence[int | None], name: str | None
) -> Tensor:
    source = cls(op, (), TensorType(dtype, ()), user_line())
    source.name = name
    dims: list[Dim] = [
        symbolic(Size(source, axis)) if length is None else length
        for axis, length in enumerate(declared)
    ]
    source.type = TensorType(dtype, tuple(dims))
    return source


def constant(value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A constant with NumPy's dtype for the value, or the one given. The array is copied.

    Raises `DTypeError` unless it is an array of numbers: a masked array is none.

    >>> constant([1, 2, 3])
    <constant int64[3]>
    """
    _check_name(name)
    given = numbers(value, dtype=None if dtype is None else to_numpy(as_dtype(dtype)))
    array = np.array(given, dtype=given.dtype.newbyteorder("="), order="C")
    array.flags.writeable = False
    node = intern(Constant(array, _digest(array)), ())
    if name is not None:
        node.name = name
    return node


def tensor_like(value: TensorLike, like: DType, what: str) -> Tensor:
    """A value for a tensor of a dtype: converted by the rule of `graph/values.py`.

    Others keep their own dtype, as tensors do. Raises `DTypeError`, about
    `what`, unless it is an array of numbers.
    """
    if isinstance(value, Tensor) or (isinstance(value, list | tuple) and _holds_tensor(value)):
        return as_tensor(value, like)
    converted = held(value, numbers(value, what, like=like), to_numpy(like))
    return constant(value if converted is None else converted)


def numbers(
    value: Any, what: str = "", *, dtype: np.dtype[Any] | None = None, like: DType | None = None
) -> Array:
    """The value as an array of one of symc's dtypes, or of one that converts to `like`.

    Raises `DTypeError`, about `what`, for any other value.
    """
    try:
        array = as_array(value, dtype)
        if like is None or held(value, array, to_numpy(like)) is None:
            check_known(value, array)
    except Unfit as problem:
        text = (
            f"{what} {problem}"
            if what
            else f"cannot make a tensor of {_short(value)}: it {problem}"
        )
        raise DTypeError(text) from problem.__cause__
    return array


def _short(value: Any) -> str:
    """A value in a message: one line, and not the whole of a large array."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:60]} ... ({type(value).__name__})"


def _digest(array: Array) -> str:
    if array.size <= 4:
        return repr(array.tobytes())
    try:
        from _blake2 import blake2b  # not hashlib: it loads OpenSSL, which takes 4 ms
    except ImportError:
        from hashlib import blake2b
    return blake2b(array.tobytes(), digest_size=16).hexdigest()


def as_tensor(value: TensorLike, like: DType | None = None) -> Tensor:
    """The value as a tensor: tensors as they are, sequences that hold tensors stacked.

    Python numbers are weak beside a tensor of dtype `like`: they take its dtype, or float64 for a
    float beside integers, or the complex dtype that goes with it, as in NumPy 2. Raises
    `DTypeError` unless it is an array of numbers.

    >>> import symc.tensor as T
    >>> T.as_tensor([1, 2]), T.as_tensor([T.scalar("a"), 1.0]).type
    (<constant int64[2]>, float64[2])
    """
    if isinstance(value, Tensor):
        return value
    if is_number(value):
        dtype = _own_dtype(value) if like is None else weak_dtype(value, like)
        return scalar_constant(value, dtype)
    if isinstance(value, list | tuple) and _holds_tensor(value):
        stacked: Tensor = OPERATORS["stack"]([as_tensor(item, like) for item in value])
        return stacked
    return constant(value)


def is_number(value: object) -> TypeGuard[bool | complex]:
    """Whether a value is one of Python's own numbers, which are weak beside tensors."""
    return isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic)


def refuse_bool(label: str, value: object) -> None:
    """Raises `DTypeError` for a Python bool where truth values of tensors are meant.

    The result of ``x == 0`` is one, and would become a constant.
    """
    if isinstance(value, bool):
        raise DTypeError(
            f"{label}: {value} is no tensor; == and != ask whether two tensors are the same "
            "expression, T.eq and T.ne compare their elements; known lengths are for Python's if"
        )


def _holds_tensor(value: Sequence[Any]) -> bool:
    return any(
        isinstance(item, Tensor)
        or (isinstance(item, list | tuple) and _holds_tensor(cast("Sequence[Any]", item)))
        for item in value
    )


def _own_dtype(value: bool | complex) -> DType:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, complex):
        return COMPLEX128
    if not isinstance(value, int):
        return FLOAT64
    return UINT64 if value >= 1 << 63 else INT64


_scalars: dict[tuple[Any, ...], Tensor] = {}


def scalar_constant(value: bool | complex, dtype: DType) -> Tensor:
    """A 0-d constant of a dtype. Raises OverflowError when an int does not fit, as NumPy does."""
    key = (type(value), value, str(value), dtype)  # str tells -0.0 from 0.0
    found = _scalars.get(key)
    if found is None:
        try:
            array = np.array(value, dtype=to_numpy(dtype))
        except OverflowError as error:
            raise OverflowError(f"{value} does not fit {dtype}; make it a float") from error
        found = constant(array)
        if len(_scalars) < 4096:
            _scalars[key] = found
    return found


def constant_value(node: Tensor) -> Array | None:
    """The array of a constant, or None for anything else."""
    return node.op.value if isinstance(node.op, Constant) else None


class Place(Protocol):
    """Where shared variables live: host memory, or a device (`symc/cuda/place.py`).

    The arrays there are NumPy's, or have ``dtype``, ``shape``, ``copy()`` and ``to_numpy()``.
    """

    @property
    def name(self) -> str | None:
        """The name of the device, None for the host."""
        ...

    def array(self, value: Any) -> Any:
        """The value as an array, here or on the host."""
        ...

    def stored(self, array: Any, dtype: np.dtype[Any], *, copy: bool) -> Any:
        """The array here, with this dtype, writable, and shared with nobody if `copy`."""
        ...


class HostPlace:
    """Host memory: the arrays are NumPy's."""

    name = None

    def array(self, value: Any) -> Array:
        """The value as an array."""
        return as_array(value)

    def stored(self, array: Array, dtype: np.dtype[Any], *, copy: bool) -> Array:
        """The array with this dtype, writable, and shared with nobody if `copy`."""
        copy = copy or not array.flags.writeable
        return np.array(array, dtype=dtype, order="C", copy=True if copy else None)


HOST = HostPlace()


@record(eq=False)
class Shared(Op):
    """The value of a shared variable. `cell` is a one-element list that holds the array; `locks`
    has a lock (`symc/graph/locks.py`) once a compiled function uses the variable."""

    cell: list[Any]
    declared: tuple[int | None, ...]
    place: Place
    locks: list[AbstractContextManager[None]]

    def infer(self, *args: Tensor) -> TensorType:
        raise AssertionError("shared variables get their type when they are made")

    def evaluate(self, *args: Array) -> Array:
        value: Any = self.cell[0]
        return cast("Array", value if self.place is HOST else value.to_numpy())

    def replace(self, array: Array) -> None:
        """Put another array of the same dtype in, which nobody else has."""
        self.cell[0] = self.stored(array)

    def stored(self, array: Array) -> Any:
        """The array where the value lives, to be put into `cell`."""
        return self.place.stored(array, array.dtype, copy=False)

    def settled(self) -> AbstractContextManager[None]:
        """For a block: waits until no call on another thread changes the value, and keeps it so."""
        return self.locks[0] if self.locks else nullcontext()

    @property
    def label(self) -> str:
        return "shared"


@with_public_methods
class SharedVariable(Tensor):
    """A tensor with a value that lives between calls and that functions can update.

    Make one with `symc.shared`.

    >>> import symc
    >>> w = symc.shared(1.5, name="w")
    >>> step = symc.function([], w, updates={w: w * 2}, mode="python")
    >>> float(step()), float(w.get_value())
    (1.5, 3.0)
    """

    __slots__ = ("default_update",)
    op: Shared
    default_update: Tensor | None

    @property
    def device(self) -> str | None:
        """The name of the device that holds the value; None for the host.

        >>> shared(1.0).device, shared(1.0, device="cuda:sim").device
        (None, 'cuda:sim')
        """
        return self.op.place.name

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """The value: a copy, or with ``borrow=True`` the live array, which updates overwrite.

        A copy waits until no call on another thread is changing the value.
        A value on a device is copied to the host, unless ``return_internal_type=True`` asks for
        the `symc.cuda.DeviceArray`.

        >>> shared([1.0, 2.0]).get_value()
        array([1., 2.])
        """
        if self.device is not None and not return_internal_type:
            return self.op.evaluate()
        if borrow:
            return self.op.cell[0]
        with self.op.settled():
            return self.op.cell[0].copy()

    def set_value(self, value: Any, borrow: bool = False) -> None:
        """Replaces the value; dtype and rank must fit, and lengths that were declared.

        A variable on a device also takes arrays of any library that are there already.
        Raises `DTypeError`, `RankError` or `ShapeMismatch`, and then changes nothing.

        >>> w = shared([1.0, 2.0])
        >>> w.set_value([3, 4])
        """
        place = self.op.place
        try:
            array = place.array(value)
        except Unfit as problem:
            name = self.name or "a shared variable"
            raise DTypeError(f"the new value of {name} {problem}") from problem.__cause__
        held_array = held_value(self, array, value)
        copy = held_array is array and not borrow
        stored = place.stored(held_array, to_numpy(self.dtype), copy=copy)
        with self.op.settled():
            self.op.cell[0] = stored


def held_value(variable: SharedVariable, array: Any, value: Any) -> Any:
    """The array, which was given as `value`, in the dtype of `variable`.

    Raises a `SymcError` if the variable cannot hold it.
    """
    name = variable.name or "a shared variable"
    dtype, shape = to_numpy(variable.dtype), array.shape
    converted = array
    if array.dtype != dtype:
        converted = held(value, array.to_numpy() if hasattr(array, "to_numpy") else array, dtype)
    if converted is None:
        problem = f"a {array.dtype} value would lose precision"
        if array.dtype.kind == "O" or may_round(array.dtype, dtype):
            problem = f"the new value has integers that no {variable.dtype} is equal to"
        elif array.dtype.kind == "c":
            problem = f"a {array.dtype} value would lose its imaginary part"
        raise DTypeError(
            f"{name} holds {variable.dtype}; {problem}\n"
            f"  convert it first: np.asarray(value, {variable.dtype.name!r})"
        )
    if len(shape) != variable.ndim:
        raise RankError(f"{name} has {variable.ndim} axes; the value has shape {shape}")
    for axis, (declared, given) in enumerate(zip(variable.op.declared, shape, strict=True)):
        if declared is not None and declared != given:
            raise ShapeMismatch(
                f"{name}: axis {axis} was declared {declared}; the value has {given}"
            )
    return converted


def shared(
    value: Any,
    name: str | None = None,
    *,
    dtype: Any = None,
    shape: Sequence[int | None] | None = None,
    borrow: bool = False,
    device: str | None = None,
) -> SharedVariable:
    """A variable with a value, which functions read and, through ``updates=``, change.

    Its dtype is NumPy's for the value unless `dtype` is given. Its lengths are those of the value
    and stay so, unless `shape` has None where they may change. Like inputs, it broadcasts along
    axes whose length is fixed to 1. On a `device` such as "cuda" its value stays in the memory of
    that device, where functions that are compiled for it update it.

    >>> shared([[1.0, 2.0]], name="w").get_value().shape
    (1, 2)
    """
    _check_name(name)
    if isinstance(value, Tensor):
        raise TypeError(f"a shared variable needs a value, not the symbolic {value!r}")
    place = _place(device)
    try:
        array = place.array(value)
        if dtype is None and array.dtype.kind not in "biu":
            check_known(value, array)
    except Unfit as problem:
        name = name or "the value"
        raise DTypeError(f"a shared variable: {name} {problem}") from problem.__cause__
    if dtype is not None:
        array = place.stored(array, to_numpy(as_dtype(dtype)), copy=False)
    lengths: tuple[int, ...] = array.shape
    declared = lengths if shape is None else lengths_of(shape)
    if len(declared) != len(lengths):
        raise RankError(f"shape={declared} has {len(declared)} axes; the value has {len(lengths)}")
    kind = as_dtype(array.dtype)
    variable = _source(SharedVariable, Shared([None], declared, place, []), kind, declared, name)
    assert isinstance(variable, SharedVariable)
    variable.default_update = None
    variable.set_value(array, borrow=borrow)
    return variable


def _place(device: str | None) -> Place:
    if device is None or device == "cpu":
        return HOST
    place: Place = SERVICES["DevicePlace"](device)  # most programs use no device
    return place


def advanced(order: Iterable[Tensor]) -> dict[SharedVariable, Tensor]:
    """The variables with default updates that loops among these nodes change, and how far.

    Of several loops, which all start from the same value, the one that gets furthest counts.
    """
    found: dict[SharedVariable, dict[Tensor, None]] = {}
    for node in order:
        for variable, new in node.op.changes(node):
            if variable.default_update is not None:
                found.setdefault(variable, {})[new] = None
    return {
        variable: reduce(OPERATORS["maximum"], news)
        for variable, news in found.items()
        if len(news) == 1 or variable.dtype.is_integer
    }
