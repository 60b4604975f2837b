"""The nodes of graphs: interned and immutable; and the interface of ops.

    tensor = Tensor(op, args, type)      same op and same args give the same object
    op     = a frozen dataclass; everything about an operation stands in its class

`where` (the user's file and line) and `name` ride along and are no part of a node's identity.
"""

from __future__ import annotations

import os
from _thread import allocate_lock  # `threading` takes 1 ms to import
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

from symc.codegen.dtypes import DType
from symc.codegen.record import field, record
from symc.graph.methods import METHODS as METHODS  # users of tables find them all here
from symc.graph.methods import PROPERTIES as PROPERTIES
from symc.graph.methods import TensorMethods
from symc.graph.provenance import Where, user_line
from symc.graph.public import public
from symc.graph.registry import SERVICES, Registry, import_all
from symc.graph.types import TensorType

if TYPE_CHECKING:
    import numpy.typing as npt  # not at run time: it takes 1 ms to import

    from symc.graph.lowering import Lowering, SizeOf

Array: TypeAlias = "npt.NDArray[Any]"
TensorLike: TypeAlias = "Tensor | Array | np.generic | bool | complex | Sequence[Any]"

# An element that costs this many simple operations is computed once, not wherever it is read.
EXPENSIVE = 10.0
# One that costs this many, a division, is computed before a loop that it does not depend on.
REPEATED = 4.0


@record
class Requirement:
    """Something that must hold when a node is computed, else `error` is raised.

    `holds` is a bool tensor (all elements must be true) or a pair of lengths that must be equal.
    `message` makes the text from the offending values, computed again outside the compiled code.
    """

    holds: Tensor | tuple[Any, Any]
    error: type[Exception]
    message: Callable[[Callable[[Any], Any]], str] = field(repr=False)


class Op:
    """An operation. Subclasses are frozen dataclasses whose fields are its static parameters.

    (No ABC: ``isinstance`` against one costs five times as much, and compiling is full of it.)
    """

    __slots__ = ()

    @property
    def cost(self) -> float:
        """The cost of one element beyond its arguments, in simple operations."""
        return 0.5

    @property
    def jumps(self) -> bool:
        """Whether an argument that is rounded otherwise may give another whole number."""
        return False

    @property
    def is_sought(self) -> bool:
        """Whether slopes ask which elements of an argument are equal to the result.

        Both must then be computed of the same numbers: computed elsewhere, in vectors of another
        length, a function may be rounded otherwise, and no element is equal.
        """
        return False

    @property
    def moves(self) -> bool:
        """Whether elements of the result are those of arguments as they are, at other places."""
        return False

    def infer(self, *args: Tensor) -> TensorType:
        """The type of the result. Raises a `SymcError` when the arguments do not fit."""
        raise NotImplementedError(type(self).__name__)

    def evaluate(self, *args: Array) -> Array:
        """The meaning, in NumPy: the oracle of the tests and the interpreter."""
        raise NotImplementedError(type(self).__name__)

    def in_common(self, args: Sequence[Array], result: Array) -> Array:
        """What all right results for arguments have in common, where there are several."""
        del args
        return result

    def in_quiet(self, node: Tensor) -> Callable[..., Any]:
        """`evaluate` for one node, called where NumPy's warnings are off already."""
        del node
        return self.evaluate

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        """The arguments of which row i alone is needed for row i of the result: see `rows.py`.

        Of other arguments all is needed for each row. None: rows are not computed by themselves.
        """
        del node
        return None

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        """The reverse rule: each argument's gradient, given that of the result; None for zero."""
        del bar
        return [None] * len(node.args)

    def common(self) -> Any:
        """A key that the ops for the results of one computation share.

        Nodes with equal `common` and arguments are computed together, by `evaluate_all`, and
        differentiated together, by `grad_all`. None: there are no others.
        """
        return None

    def evaluate_all(self, *args: Array) -> Callable[[Any], Array]:
        """As `evaluate`, for all results at once: gives the one of each op."""
        raise NotImplementedError(type(self).__name__)

    def evaluate_only(self, results: Sequence[Op]) -> Callable[..., Callable[[Any], Array]]:
        """`evaluate_all` where nobody asks for other results than those of these ops."""
        del results
        return self.evaluate_all

    def grad_all(self, bars: Mapping[Tensor, Tensor]) -> Sequence[Tensor | None]:
        """As `grad`, for several results at once: `bars` has those that anything reaches."""
        raise NotImplementedError(type(self).__name__)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        """The op over a new leading axis that the `batched` arguments have."""
        from symc.errors import NotBatchable

        raise NotBatchable(f"{self.label} has no batching rule")

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        """How the result is computed in loops: one of the closed set in `lowering.py`."""
        raise NotImplementedError(type(self).__name__)

    def expand(self, node: Tensor) -> Tensor | None:
        """The same value in simpler ops, if this op is only a name for those."""
        del node
        return None

    def require(self, node: Tensor) -> Iterable[Requirement]:
        """The run-time conditions of a node."""
        del node
        return ()

    @property
    def only_checks(self) -> bool:
        """Whether the result is the first argument as it is, of which something is asked."""
        return False

    @property
    def is_lazy(self) -> bool:
        """Whether arguments may not be needed, which it knows when it runs: `ifelse`, loops."""
        return False

    @property
    def is_control(self) -> bool:
        """Whether it is a loop or a branch with bodies, graphs of their own.

        Most programs have none, and do not import what is done with them.
        """
        return False

    @property
    def takes_bfloat16(self) -> bool:
        """Whether `evaluate` is given arrays of bfloat16 as they are, not as float32."""
        return self.is_users

    @property
    def is_users(self) -> bool:
        """Whether code of the user's computes it, which may do more than that: print, count ..."""
        return False

    @property
    def is_constant_to_grad(self) -> bool:
        """Whether gradients end here, as at a constant."""
        return False

    @property
    def is_collective(self) -> bool:
        """Whether other processes compute it too, at the same time: `symc.distributed`."""
        return False

    def changes(self, node: Tensor) -> Iterable[tuple[Any, Tensor]]:
        """The shared variables that a node, a loop, has new values of, and these."""
        del node
        return ()

    def graphs(self) -> Sequence[tuple[str, tuple[Tensor, ...]]]:
        """The graphs within the op, such as the step of a loop: purpose and results of each."""
        return ()

    def value_lengths(self, args: Sequence[Tensor]) -> Iterable[Any]:
        """Lengths that no array's type says, but the op or its body does."""
        del args
        return ()

    def key(self) -> str:
        """Text that is equal exactly for equal ops, in every process: part of the cache key."""
        return repr(self)

    @property
    def label(self) -> str:
        """The name people see in messages, printed graphs and generated code."""
        return type(self).__name__.lower()

    def __call__(self, *args: Tensor) -> Tensor:
        """The node of this op on these arguments, new or known."""
        return intern(self, args)


_nodes: WeakValueDictionary[tuple[Any, ...], Tensor] = WeakValueDictionary()
_lock = allocate_lock()
# A child of fork must not inherit it from a thread that it does not have.
os.register_at_fork(
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


def intern(op: Op, args: tuple[Tensor, ...]) -> Tensor:
    """The one node of `op` on `args`."""
    key = (op, *args)
    found = _nodes.get(key)
    if found is not None:
        return found
    created = Tensor(op, args, op.infer(*args), user_line())
    with _lock:
        return _nodes.setdefault(key, created)


# --- tensors --------------------------------------------------------------------------------------

# The user-level functions of operators, as those of methods and properties in `methods.py`.
OPERATORS: Registry[Callable[..., Tensor]] = Registry()


def _has_own(other: object) -> bool:
    """Whether a value has operators of its own for tensors and arrays, as NumPy asks for it."""
    return getattr(other, "__array_ufunc__", ...) is None


class Tensor(TensorMethods):
    """A symbolic array: its op, its arguments and its type.

    Use NumPy's operators, indexing and methods on it. ``==`` compares identity, as nodes are
    interned; `symc.tensor.eq` compares elements.

    >>> import symc.tensor as T
    >>> x = T.matrix("x")
    >>> y = T.exp(x).sum(axis=0)
    >>> y.dtype, y.ndim, y.eval({x: [[0.0, 0.0], [0.0, 0.0]]})
    (float64, 1, array([2., 2.]))
    """

    __slots__ = ("__weakref__", "args", "name", "op", "type", "where")

    def __init__(self, op: Op, args: tuple[Tensor, ...], type: TensorType, where: Where) -> None:
        self.op = op
        self.args = args
        self.type = type
        self.where = where
        self.name: str | None = None

    @property
    def dtype(self) -> DType:
        """The element type.

        >>> import symc.tensor as T
        >>> T.vector("x").dtype, (T.vector("x") > 0).dtype
        (float64, bool)
        """
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of axes.

        >>> import symc.tensor as T
        >>> T.matrix("x").sum(axis=0).ndim
        1
        """
        return len(self.type.shape)

    def __repr__(self) -> str:
        return f"<{SERVICES['short'](self)} {self.type}>"

    def _repr_latex_(self) -> str:
        text: str = SERVICES["equation"](self)
        return text

    def __reduce__(self) -> Any:
        return SERVICES["reduce_tensor"](self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value before it is computed; use T.where or symc.ifelse "
            "instead of if, & | ~ instead of and, or, not, and T.maximum instead of max"
        )

    def __len__(self) -> int:
        if self.ndim and isinstance(self.type.shape[0], int):
            return self.type.shape[0]
        raise TypeError(f"{self!r} has no length known now; use .shape[0]")

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim or not isinstance(self.type.shape[0], int):
            raise TypeError(
                f"cannot iterate over {self!r}: its first length is not known now; use x.sum() and "
                "the like, symc.scan for a loop over rows, or declare the length: shape=(3,)"
            )
        return (self[i] for i in range(self.type.shape[0]))

    def __contains__(self, value: object) -> NoReturn:
        raise TypeError(f"whether {self!r} has an element is T.any(T.eq(x, value)), a tensor")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be changed; write x = x[i].set(v) for x[i] = v, and "
            "x = x[i].inc(v) for x[i] += v"
        )

    def _no_value(self, *args: object, **options: object) -> NoReturn:
        raise TypeError(
            f"{self!r} is symbolic and has no values; compile it with symc.function, "
            "or use .eval({input: value})"
        )

    __array__ = __float__ = __int__ = __complex__ = _no_value
    __dlpack__ = __dlpack_device__ = _no_value

    def __array_ufunc__(
        self, ufunc: Any, method: str, *args: Any, **options: Any
    ) -> Tensor | tuple[Tensor, ...]:
        return OPERATORS["numpy_ufunc"](ufunc, method, args, options)

    def __array_function__(
        self, function: Any, types: Any, args: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        return OPERATORS["numpy_function"](function, args, options)

    def _late(self, name: str) -> Any:
        """A method that other packages entered, or the error that says what there is instead."""
        method = METHODS.find(name)
        if method is not None:
            return MethodType(public(method), self)
        compute = PROPERTIES.find(name)
        if compute is not None:
            return compute(self)
        from symc.graph.other_libraries import instead  # late: only for errors

        advice = instead("tensor", name, () if name.startswith("_") else dir(self))
        raise AttributeError(f"a tensor has no attribute {name!r}{advice}", obj=None)

    if not TYPE_CHECKING:  # with it, checkers would take any name for an attribute
        __getattr__ = _late

    def __dir__(self) -> list[str]:
        import_all()
        return [*super().__dir__(), *METHODS, *PROPERTIES]

    def __getitem__(self, index: Any) -> Tensor:
        return OPERATORS["getitem"](self, index)

    def __add__(self, other: TensorLike) -> Tensor:
        if _has_own(other):
            return NotImplemented
        return OPERATORS["add"](self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return OPERATORS["add"](other, self)

    def __sub__(self, other: TensorLike) -> Tensor:
        if _has_own(other):
            return NotImplemented
        return OPERATORS["sub"](self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return OPERATORS["sub"](other, self)

    def __mul__(self, other: TensorLike) -> Tensor:
        if _has_own(other):
            return NotImplemented
        return OPERATORS["mul"](self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["mul"](other, self)

    def __truediv__(self, other: TensorLike) -> Tensor:
        if _has_own(other):
            return NotImplemented
        return OPERATORS["div"](self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["div"](other, self)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["floordiv"](self, other)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["floordiv"](other, self)

    def __mod__(self, other: TensorLike) -> Tensor:
        return OPERATORS["mod"](self, other)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return OPERATORS["mod"](other, self)

    def __divmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]:
        return OPERATORS["floordiv"](self, other), OPERATORS["mod"](self, other)

    def __rdivmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]:
        return OPERATORS["floordiv"](other, self), OPERATORS["mod"](other, self)

    def __pow__(self, other: TensorLike) -> Tensor:
        return OPERATORS["pow"](self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return OPERATORS["pow"](other, self)

    def __matmul__(self, other: TensorLike) -> Tensor:
        if _has_own(other):
            return NotImplemented
        return OPERATORS["matmul"](self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["matmul"](other, self)

    def __and__(self, other: TensorLike) -> Tensor:
        return OPERATORS["bitwise_and"](self, other)

    def __rand__(self, other: TensorLike) -> Tensor:
        return OPERATORS["bitwise_and"](other, self)

    def __or__(self, other: TensorLike) -> Tensor:
        return OPERATORS["bitwise_or"](self, other)

    def __ror__(self, other: TensorLike) -> Tensor:
        return OPERATORS["bitwise_or"](other, self)

    def __xor__(self, other: TensorLike) -> Tensor:
        return OPERATORS["bitwise_xor"](self, other)

    def __rxor__(self, other: TensorLike) -> Tensor:
        return OPERATORS["bitwise_xor"](other, self)

    def __lshift__(self, other: TensorLike) -> Tensor:
        return OPERATORS["left_shift"](self, other)

    def __rlshift__(self, other: TensorLike) -> Tensor:
        return OPERATORS["left_shift"](other, self)

    def __rshift__(self, other: TensorLike) -> Tensor:
        return OPERATORS["right_shift"](self, other)

    def __rrshift__(self, other: TensorLike) -> Tensor:
        return OPERATORS["right_shift"](other, self)

    def __neg__(self) -> Tensor:
        return OPERATORS["neg"](self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return OPERATORS["abs"](self)

    def __invert__(self) -> Tensor:
        return OPERATORS["invert"](self)

    def __lt__(self, other: TensorLike) -> Tensor:
        return OPERATORS["lt"](self, other)

    def __le__(self, other: TensorLike) -> Tensor:
        return OPERATORS["le"](self, other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return OPERATORS["gt"](self, other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return OPERATORS["ge"](self, other)
