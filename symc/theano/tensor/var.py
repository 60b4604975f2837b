"""Tensor variables: the operators, methods and properties that programs use on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from symc.theano.configparser import config
from symc.theano.gof.graph import Constant, Variable
from symc.theano.scalar.dtypes import ComplexError, complex_dtypes
from symc.theano.tensor import creation, math, products, reductions, shaping, subtensor
from symc.theano.tensor.convert import AsTensorError, as_tensor_variable
from symc.theano.tensor.elemwise import DimShuffle
from symc.theano.tensor.numpy_methods import NumpyMethods
from symc.theano.tensor.tiles import choose as _choose
from symc.theano.tensor.type import TensorType


class _tensor_py_operators(NumpyMethods):
    """NumPy's operators and methods on variables."""

    type: Any
    owner: Any
    name: str | None
    __array_priority__ = 1000

    def __abs__(self) -> Any:
        return math.abs_(self)

    def __neg__(self) -> Any:
        return math.neg(self)

    def __lt__(self, other: Any) -> Any:
        return _compared(math.lt(self, other))

    def __le__(self, other: Any) -> Any:
        return _compared(math.le(self, other))

    def __gt__(self, other: Any) -> Any:
        return _compared(math.gt(self, other))

    def __ge__(self, other: Any) -> Any:
        return _compared(math.ge(self, other))

    def __bool__(self) -> bool:
        if getattr(getattr(self, "tag", None), "is_comparison", False):
            raise TypeError("Variables do not support boolean operations.")
        return True

    def __invert__(self) -> Any:
        return math.invert(self)

    def __and__(self, other: Any) -> Any:
        return math.and_(self, other)

    def __or__(self, other: Any) -> Any:
        return math.or_(self, other)

    def __xor__(self, other: Any) -> Any:
        return math.xor(self, other)

    def __rand__(self, other: Any) -> Any:
        return math.and_(other, self)

    def __ror__(self, other: Any) -> Any:
        return math.or_(other, self)

    def __rxor__(self, other: Any) -> Any:
        return math.xor(other, self)

    def __add__(self, other: Any) -> Any:
        return _or_not_implemented(math.add, self, other)

    def __sub__(self, other: Any) -> Any:
        return _or_not_implemented(math.sub, self, other)

    def __mul__(self, other: Any) -> Any:
        return _or_not_implemented(math.mul, self, other)

    def __truediv__(self, other: Any) -> Any:
        return _or_not_implemented(math.true_div, self, other)

    def __floordiv__(self, other: Any) -> Any:
        return _or_not_implemented(math.int_div, self, other)

    def __mod__(self, other: Any) -> Any:
        return _or_not_implemented(math.mod, self, other)

    def __pow__(self, other: Any) -> Any:
        return _or_not_implemented(math.pow, self, other)

    def __divmod__(self, other: Any) -> Any:
        return math.divmod(self, other)

    def __div__(self, other: Any) -> Any:
        return math.div_proxy(self, other)

    def __radd__(self, other: Any) -> Any:
        return math.add(other, self)

    def __rsub__(self, other: Any) -> Any:
        return math.sub(other, self)

    def __rmul__(self, other: Any) -> Any:
        return math.mul(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return math.true_div(other, self)

    def __rfloordiv__(self, other: Any) -> Any:
        return math.int_div(other, self)

    def __rmod__(self, other: Any) -> Any:
        return math.mod(other, self)

    def __rpow__(self, other: Any) -> Any:
        return math.pow(other, self)

    def __rdivmod__(self, other: Any) -> Any:
        return math.divmod(other, self)

    def __rdiv__(self, other: Any) -> Any:
        return math.div_proxy(other, self)

    def __dot__(self, other: Any) -> Any:
        return products.dot(self, other)

    def __rdot__(self, other: Any) -> Any:
        return products.dot(other, self)

    def __matmul__(self, other: Any) -> Any:
        return products.dot(self, other)

    def __ceil__(self) -> Any:
        return math.ceil(self)

    def __floor__(self) -> Any:
        return math.floor(self)

    def __trunc__(self) -> Any:
        return math.trunc(self)

    # --- indexing ---------------------------------------------------------------------------------

    def __getitem__(self, args: Any) -> Any:
        return subtensor.getitem(self, args)

    def __iter__(self) -> Iterator[Any]:
        try:
            count = shaping.vector_length(self)
        except (TypeError, ValueError):
            raise TypeError(
                "TensorType does not support iteration. Maybe you are using builtins.sum instead "
                "of theano.tensor.sum? (Maybe .max?)"
            ) from None
        return iter([self[position] for position in range(count)])

    def __len__(self) -> int:
        raise TypeError(
            "object of type 'TensorVariable' has no len(); use variable.shape[0] instead"
        )

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
        """The elements at indexes along an axis."""
        return subtensor.take(self, indices, axis, mode)

    # --- type -------------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return str(self.type.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.type.ndim)

    @property
    def broadcastable(self) -> Any:
        """Which axes have length 1 and broadcast."""
        return self.type.broadcastable

    @property
    def shape(self) -> Any:
        """The lengths of all axes."""
        return shaping.shape(self)

    @property
    def size(self) -> Any:
        """The number of elements."""
        if self.ndim == 1:
            return self.shape[0]
        return reductions.prod(self.shape)

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return shaping.transpose(self)

    @property
    def real(self) -> Any:
        """The real part."""
        return math.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return math.imag(self)

    # --- shapes -----------------------------------------------------------------------------------

    def dimshuffle(self, *pattern: Any) -> Any:
        """The axes in another order, with new ones where 'x' is given."""
        if len(pattern) == 1 and isinstance(pattern[0], list | tuple):
            pattern = tuple(pattern[0])
        order = [int(p) if isinstance(p, np.integer) else p for p in pattern]
        return DimShuffle(list(self.type.broadcastable), order)(self)

    def reshape(self, shape: Any, ndim: int | None = None) -> Any:
        """The same elements in another shape."""
        if not isinstance(cast("object", ndim), int | np.integer | None):
            raise ValueError(f"Expected ndim to be an integer, is {type(ndim)}")
        return shaping.reshape(self, shape, ndim=ndim)

    def flatten(self, ndim: int = 1) -> Any:
        """The first axes kept, all others as one."""
        return shaping.flatten(self, ndim)

    def ravel(self) -> Any:
        """All elements along one axis."""
        return shaping.flatten(self)

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order."""
        if len(axes) == 0:
            return shaping.transpose(self)
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], list | tuple) else axes
        return shaping.transpose(self, given)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Two axes exchanged."""
        return shaping.swapaxes(self, axis1, axis2)

    def squeeze(self) -> Any:
        """Without the axes that broadcast."""
        return shaping.squeeze(self)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """A diagonal of two axes."""
        return creation.diagonal(self, offset, axis1, axis2)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return creation.trace(self)

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Each element several times."""
        from symc.theano.tensor.extra_ops import repeat

        return repeat(self, repeats, axis)

    def copy(self, name: str | None = None) -> Any:
        """A variable of the same value."""
        result = math.tensor_copy(self)
        result.name = name
        return result

    def astype(self, dtype: Any) -> Any:
        """The elements in another dtype."""
        return math.cast(self, dtype)

    def zeros_like(self, dtype: Any = None) -> Any:
        """Zeros in the same shape."""
        return creation.zeros_like(self, dtype)

    def ones_like(self, dtype: Any = None) -> Any:
        """Ones in the same shape."""
        return creation.ones_like(self, dtype)

    def fill(self, value: Any) -> Any:
        """A value in the same shape."""
        return math.fill(self, value)

    # --- mathematics ------------------------------------------------------------------------------

    def dot(self, other: Any) -> Any:
        """The matrix product."""
        return products.dot(self, other)

    def sum(
        self, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
    ) -> Any:
        """The sum along axes."""
        return reductions.sum(self, axis, dtype, keepdims, acc_dtype)

    def prod(
        self, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
    ) -> Any:
        """The product along axes."""
        return reductions.prod(self, axis, dtype, keepdims, acc_dtype)

    def norm(self, L: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """The L-norm along axes."""
        if L == 0:
            raise NotImplementedError()
        if np.isinf(L):
            raise NotImplementedError()
        powers = math.pow(math.abs_(self), L)
        return math.pow(reductions.sum(powers, axis=axis, keepdims=keepdims), 1.0 / L)

    def mean(
        self, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
    ) -> Any:
        """The mean along axes."""
        return reductions.mean(self, axis, dtype, keepdims=keepdims, acc_dtype=acc_dtype)

    def var(
        self, axis: Any = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False
    ) -> Any:
        """The variance along axes."""
        return reductions.var(self, axis, ddof, keepdims, corrected)

    def std(
        self, axis: Any = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False
    ) -> Any:
        """The standard deviation along axes."""
        return reductions.std(self, axis, ddof, keepdims, corrected)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The smallest elements along axes."""
        return reductions.min(self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest elements along axes."""
        return reductions.max(self, axis, keepdims)

    def argmin(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Where the smallest elements are."""
        return reductions.argmin(self, axis, keepdims)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Where the largest elements are."""
        return reductions.argmax(self, axis, keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether any element is true."""
        return reductions.any(self, axis, keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether all elements are true."""
        return reductions.all(self, axis, keepdims)

    def ptp(self, axis: Any = None) -> Any:
        """The largest minus the smallest element."""
        return reductions.ptp(self, axis)

    def clip(self, a_min: Any, a_max: Any) -> Any:
        """Elements below and above two bounds replaced by these."""
        return math.clip(self, a_min, a_max)

    def round(self, mode: str | None = None) -> Any:
        """Elements rounded to integers."""
        return math.round(self, mode)

    def conj(self) -> Any:
        """The complex conjugate."""
        return math.conj(self) if self.dtype in complex_dtypes else self

    conjugate = conj

    def cumsum(self, axis: Any = None) -> Any:
        """Sums of the elements so far."""
        from symc.theano.tensor.extra_ops import cumsum

        return cumsum(self, axis)

    def cumprod(self, axis: Any = None) -> Any:
        """Products of the elements so far."""
        from symc.theano.tensor.extra_ops import cumprod

        return cumprod(self, axis)

    def sort(self, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
        """The elements in order."""
        from symc.theano.tensor.sort import sort

        return sort(self, axis, kind, order)

    def argsort(self, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
        """The positions of the elements in order."""
        from symc.theano.tensor.sort import argsort

        return argsort(self, axis, kind, order)

    def nonzero(self, return_matrix: bool = False) -> Any:
        """Where elements are not zero."""
        from symc.theano.tensor.extra_ops import nonzero

        return nonzero(self, return_matrix=return_matrix)

    def nonzero_values(self) -> Any:
        """The elements that are not zero."""
        from symc.theano.tensor.extra_ops import nonzero_values

        return nonzero_values(self)

    def choose(self, choices: Any, out: Any = None, mode: str = "raise") -> Any:
        """Elements of several tensors, chosen by this one."""
        return _choose(self, choices, out, mode)

    def compress(self, a: Any, axis: Any = None) -> Any:
        """The parts along an axis where this is true."""
        from symc.theano.tensor.extra_ops import compress

        return compress(self, a, axis=axis)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Where values would be put to keep this in order."""
        from symc.theano.tensor.extra_ops import searchsorted

        return searchsorted(self, v, side, sorter)

    def get_scalar_constant_value(self) -> Any:
        """The value, where it is a constant scalar."""
        from symc.theano.tensor.folding import get_scalar_constant_value

        return get_scalar_constant_value(self)

    def transfer(self, target: str) -> Any:
        """The variable itself: symc places values."""
        del target
        return self


def _compared(result: Any) -> Any:
    result.tag.is_comparison = True
    return result


def _or_not_implemented(op: Any, x: Any, y: Any) -> Any:
    try:
        return op(x, y)
    except ComplexError:
        raise
    except (NotImplementedError, AsTensorError):
        return NotImplemented


class TensorVariable(_tensor_py_operators, Variable):
    """A variable that is an array."""

    def __init__(self, type: Any, owner: Any = None, index: Any = None, name: Any = None) -> None:
        super().__init__(type, owner, index, name)
        if config.warn_float64 == "raise" and owner is None and type.dtype == "float64":
            raise Exception(
                "You are creating a TensorVariable with float64 dtype. You requested an action "
                "via the Theano flag warn_float64={ignore,warn,raise,pdb}."
            )

    __hash__ = object.__hash__


class TensorConstant(_tensor_py_operators, Constant):
    """An array that is known."""

    def __init__(self, type: Any, data: Any, name: str | None = None) -> None:
        Constant.__init__(self, type, data, name)

    def signature(self) -> Any:
        return (self.type, self.data.tobytes(), self.data.shape)

    def equals(self, other: Any) -> bool:
        if isinstance(other, np.ndarray):
            other = as_tensor_variable(other)
        return isinstance(other, TensorConstant) and self.signature() == other.signature()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = TensorConstant(self.type, self.data.copy(), self.name)
        memo[id(self)] = made
        return made

    __hash__ = object.__hash__


TensorType.Variable = TensorVariable
TensorType.Constant = TensorConstant
