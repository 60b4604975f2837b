"""Random variables from NumPy's `RandomState`: its state goes through the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.in_place import OverwritesFirst
from symc.theano.gof.type import Type
from symc.theano.scalar.dtypes import upcast
from symc.theano.tensor.convert import as_tensor_variable, constant
from symc.theano.tensor.math import cast
from symc.theano.tensor.shaping import is_one, vector_length
from symc.theano.tensor.type import TensorType

_WORDS = 624 + 4


class RandomStateType(Type):
    """Values are `numpy.random.RandomState`s; symc sees their 628 words."""

    __props__ = ()
    lengths = (_WORDS,)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, np.random.RandomState):
            return data
        raise TypeError(f"{data!r} is no numpy.random.RandomState")

    @classmethod
    def values_eq(cls, a: Any, b: Any) -> bool:
        return bool(np.array_equal(words_of(a), words_of(b)))

    def symbol(self, name: str | None) -> Tensor:
        return T.tensor("uint32", (_WORDS,), name)

    def encoded(self, value: Any) -> Any:
        return words_of(value)

    def decoded(self, array: Any) -> Any:
        return state_of(array)

    def __str__(self) -> str:
        return "RandomStateType"


random_state_type = RandomStateType()


def words_of(state: Any) -> Any:
    """A RandomState as words: the key, the position, and the Gaussian number it keeps."""
    _, key, position, kept, gauss = state.get_state()
    rest = np.array([gauss], dtype="float64").view("uint32")
    return np.concatenate([key, np.array([position, kept], dtype="uint32"), rest]).astype("uint32")


def state_of(words: Any) -> Any:
    """The RandomState of such words."""
    words = np.asarray(words, dtype="uint32")
    made = np.random.RandomState()
    gauss = float(words[626:_WORDS].copy().view("float64")[0])
    made.set_state(("MT19937", words[:624], int(words[624]), int(words[625]), gauss))
    return made


class RandomFunction(OverwritesFirst):
    """A method of `RandomState`: gives the state afterwards, and the draws."""

    def __init__(self, fn: Any, outtype: Any, inplace: bool = False, ndim_added: int = 0) -> None:
        """`fn` is a method, or its name; `inplace` is there to be read: no state is changed."""
        self.draw: Callable[..., Any] = (
            getattr(np.random.RandomState, fn) if isinstance(fn, str) else fn
        )
        self.outtype, self.ndim_added = outtype, ndim_added
        self.inplace = inplace

    def make_node(self, r: Any, shape: Any, *args: Any) -> Apply:
        given = [as_tensor_variable(each) for each in args]
        if not isinstance(shape, Variable):
            shape = constant(np.asarray(shape, dtype="int64").reshape(-1))
        return Apply(self, [r, shape, *given], [r.type(), self.outtype()])

    def infer_shape(self, node: Apply, shapes: Any) -> list[tuple[Any, ...]]:
        """The lengths of the draws, where their shape says how many there are."""
        del shapes
        shape, count = node.inputs[1], self.outtype.ndim
        try:
            fits = vector_length(shape) == count and not self.ndim_added
        except ValueError:
            fits = False
        if not fits:
            raise NotImplementedError
        return [(_WORDS,), tuple(shape[axis] for axis in range(count))]

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        state, shape, *args = inputs
        state = state_of(words_of(state))
        size = tuple(int(each) for each in shape)
        if len(size) + self.ndim_added != self.outtype.ndim:
            raise ValueError(
                f"Shape mismatch: draws have {self.outtype.ndim} axes, and their shape is {size}"
            )
        drawn = np.asarray(self.draw(state, *args, size=size))
        output_storage[0][0] = state
        output_storage[1][0] = drawn.astype(self.outtype.dtype).reshape(drawn.shape)

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        from symc.theano.gradient_types import grad_undefined

        del output_grads
        return [
            grad_undefined(self, position, each, "No gradient defined through random sampling.")
            for position, each in enumerate(inputs)
        ]

    def R_op(self, inputs: Any, eval_points: Any) -> Any:
        return [None, None]


def shape_of_draw(size: Any, ndim: int | None, *args: Any) -> tuple[Any, list[bool]]:
    """The shape of a draw as a vector, and its flags; None: that of the arguments together."""
    if size is None:
        total = args[0]
        for each in args[1:]:
            total = total + each
        return total.shape, list(total.broadcastable)
    if isinstance(size, Variable) and size.ndim == 1:
        count = vector_length(size) if ndim is None else ndim
        return cast(size, "int64"), [False] * count
    given = list(size) if isinstance(size, list | tuple) else [size]
    if ndim is not None and ndim != len(given):
        raise ValueError(
            f"ndim should be equal to the number of elements of size: {ndim} and {len(given)}"
        )
    if not given:
        return constant(np.zeros((0,), dtype="int64")), []
    most = max((each.ndim for each in args), default=0)
    if most > len(given):
        raise ValueError(
            "ndim should be at least as big as required by args value", (len(given), most), args
        )
    given = [
        _length_of_arguments(position - len(given), args) if _is_left_open(each) else each
        for position, each in enumerate(given)
    ]
    return cast(as_tensor_variable(given), "int64"), [is_one(each) for each in given]


def _is_left_open(length: Any) -> bool:
    return not isinstance(length, Variable) and int(length) == -1


def _length_of_arguments(axis: int, args: Sequence[Any]) -> Any:
    """The length of the arguments along an axis, which is counted from the last one."""
    found = [each for each in args if each.ndim >= -axis]
    if not found:
        raise ValueError("a length of -1 is that of an argument, and none has such an axis")
    long = [each for each in found if not each.broadcastable[axis]]
    return long[0].shape[axis] if long else 1


def _drawn(
    draw: Callable[..., Any], state: Any, size: Any, ndim: int | None, dtype: Any, *args: Any
) -> Any:
    given = [as_tensor_variable(each) for each in args]
    if dtype is None:
        dtype = upcast("float32", *(each.dtype for each in given))
    shape, flags = shape_of_draw(size, ndim, *given)
    return RandomFunction(draw, TensorType(dtype, flags))(state, shape, *given)


def uniform(
    random_state: Any, size: Any = None, low: Any = 0.0, high: Any = 1.0, ndim: Any = None,
    dtype: Any = None,
) -> Any:  # fmt: skip
    """Numbers between two bounds."""
    dtype = _float(dtype, low, high)
    return _drawn(np.random.RandomState.uniform, random_state, size, ndim, dtype, low, high)


def normal(
    random_state: Any, size: Any = None, avg: Any = 0.0, std: Any = 1.0, ndim: Any = None,
    dtype: Any = None,
) -> Any:  # fmt: skip
    """Normally distributed numbers."""
    dtype = _float(dtype, avg, std)
    return _drawn(np.random.RandomState.normal, random_state, size, ndim, dtype, avg, std)


def _float(dtype: Any, *args: Any) -> Any:
    from symc.theano.configparser import config

    if dtype is not None:
        return dtype
    return upcast(config.floatX, *(as_tensor_variable(each).dtype for each in args))


def binomial(
    random_state: Any, size: Any = None, n: Any = 1, p: Any = 0.5, ndim: Any = None,
    dtype: Any = "int64", prob: Any = None,
) -> Any:  # fmt: skip
    """How many of `n` trials succeed."""
    p = p if prob is None else prob
    return _drawn(np.random.RandomState.binomial, random_state, size, ndim, dtype, n, p)


def poisson(
    random_state: Any, size: Any = None, lam: Any = 1.0, ndim: Any = None, dtype: Any = "int64"
) -> Any:
    """Counts of events."""
    if size is None:
        raise TypeError("the shape of poisson's draws is not that of its arguments: give a size")
    return _drawn(np.random.RandomState.poisson, random_state, size, ndim, dtype, lam)


def _integers(state: Any, low: Any, high: Any, size: Any) -> Any:
    return state.randint(low, high + 1, size=size)


def random_integers(
    random_state: Any, size: Any = None, low: Any = 0, high: Any = 1, ndim: Any = None,
    dtype: Any = "int64",
) -> Any:  # fmt: skip
    """Integers between two bounds, both included."""
    return _drawn(_integers, random_state, size, ndim, dtype, low, high)


def permutation_helper(state: Any, n: Any, size: Any) -> Any:
    """The integers up to `n` in random order, for each element of a shape, drawn by NumPy."""
    rows = [state.permutation(int(n)) for _ in range(int(np.prod(size, dtype=int)))]
    return np.array(rows, dtype="int64").reshape((*size, int(n)))


def permutation(
    random_state: Any, size: Any = None, n: Any = 1, ndim: Any = None, dtype: Any = "int64"
) -> Any:
    """The integers up to `n` in random order, for each element of a shape."""
    if size is None and ndim not in (None, 1):
        raise TypeError("You asked for just one permutation but asked for more then 1 dimensions.")
    given = constant(np.zeros((0,), dtype="int64")) if size is None else None
    shape, flags = (given, []) if given is not None else shape_of_draw(size, ndim)
    kind = TensorType(dtype, [*flags, False])
    return RandomFunction(permutation_helper, kind, ndim_added=1)(random_state, shape, n)


def _choices(state: Any, a: Any, replace: Any, p: Any, size: Any) -> Any:
    return state.choice(a if a.ndim else int(a), size=size, replace=bool(replace),
                        p=p if p.size else None)  # fmt: skip


def choice(
    random_state: Any, size: Any = None, a: Any = 2, replace: Any = True, p: Any = None,
    ndim: Any = None, dtype: Any = "int64",
) -> Any:  # fmt: skip
    """Elements drawn from a vector, or from the integers up to a number."""
    none = p is None or (not isinstance(p, Variable) and np.size(p) * np.count_nonzero(p) == 0)
    weights = constant(np.zeros((0,), dtype="float64")) if none else as_tensor_variable(p)
    if weights.ndim != 1:
        raise ValueError(f"p.ndim ({weights.ndim}) must be 1")
    shape, flags = shape_of_draw(() if size is None else size, ndim)
    kind = TensorType(dtype, flags)
    return RandomFunction(_choices, kind)(random_state, shape, a, int(replace), weights)


def _multinomials(state: Any, n: Any, pvals: Any, size: Any) -> Any:
    if pvals.ndim == 1:
        return state.multinomial(int(n), pvals.astype("float64"), size=size)
    counts = np.broadcast_to(n, size)
    out = np.zeros((*size, pvals.shape[-1]), dtype="int64")
    weights = np.broadcast_to(pvals, out.shape)
    for place in np.ndindex(*size):
        row = weights[place].astype("float64")
        out[place] = state.multinomial(int(counts[place]), row / max(row.sum(), 1.0))
    return out


def multinomial(
    random_state: Any, size: Any = None, n: Any = 1, pvals: Any = (0.5, 0.5), ndim: Any = None,
    dtype: Any = "int64",
) -> Any:  # fmt: skip
    """How often each class occurs in `n` draws."""
    pvals = as_tensor_variable(pvals)
    if size is None:
        shape, flags = pvals[..., 0].shape, list(pvals.broadcastable[:-1])
        shape = constant(np.zeros((0,), dtype="int64")) if pvals.ndim == 1 else shape
    else:
        shape, flags = shape_of_draw(size, ndim, as_tensor_variable(n), pvals[..., 0])
    kind = TensorType(dtype, [*flags, False])
    return RandomFunction(_multinomials, kind, ndim_added=1)(random_state, shape, n, pvals)
