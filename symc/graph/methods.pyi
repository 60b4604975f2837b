"""Made by tests/method_stubs.py from the functions: what the methods of tensors take."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from symc.codegen.dtypes import DType
from symc.graph.node import Array, Tensor, TensorLike
from symc.graph.registry import Registry
from symc.tensor.padding import Mode
from symc.tensor.reduce import Axis
from symc.tensor.selection import OutOfRange
from symc.tensor.sorting.order import Kth

METHODS: Registry[Callable[..., Any]]
PROPERTIES: Registry[Callable[[Any], Any]]
METHOD_NAMES: Final[tuple[str, ...]]
PROPERTY_NAMES: Final[tuple[str, ...]]

class TensorMethods:
    """What tensors have beside their operators."""
    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The module `symc.tensor`, for code that is written for any library of the standard."""

    def all(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Whether every element along axes is true (not zero); True for no elements."""

    def any(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Whether some element along axes is true (not zero); False for no elements."""

    def argmax(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The position of the greatest element along axes: of the first one, or of the first NaN."""

    def argmin(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The position of the least element along axes, as for `argmax`."""

    def argpartition(self, kth: Kth, axis: int | None = -1) -> Tensor:
        """The places of the elements that `partition` gives, as int64."""

    def argsort(self, axis: int | None = -1, *, descending: bool = False) -> Tensor:
        """The indexes that sort `x` along an axis, as int64; equal elements keep their order."""

    def astype(self, dtype: Any) -> Tensor:
        """`x` converted to a dtype, as ``x.astype(dtype)``; the same tensor if it has it already."""

    def broadcast_to(self, shape: Any) -> Tensor:
        """`x` stretched to a shape: repeated along new leading axes and axes of known length 1."""

    def choose(self, choices: Any, mode: OutOfRange = "raise") -> Tensor:
        """At each place, the element of the choice that `a` has the number of."""

    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
        """x limited to [min, max], as ``minimum(maximum(x, min), max)``; None leaves a side open."""

    def compress(self, condition: TensorLike, axis: int | None = None) -> Tensor:
        """"""

    def conj(self) -> Tensor:
        """The complex conjugate; a real `x` itself. Also ``x.conj()``."""

    def conjugate(self) -> Tensor:
        """The complex conjugate; a real `x` itself. Also ``x.conj()``."""

    def copy(self, like: DType | None = None) -> Tensor:
        """The value as a tensor: tensors as they are, sequences that hold tensors stacked."""

    def count_nonzero(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """How many elements along axes are not zero, as int64. NaN is not zero."""

    def cummax(self, axis: int | None = None) -> Tensor:
        """The greatest of the first elements along an axis; NaN from the first NaN on."""

    def cummin(self, axis: int | None = None) -> Tensor:
        """The least of the first elements along an axis; NaN from the first NaN on."""

    def cumprod(self, axis: int | None = None, dtype: Any = None) -> Tensor:
        """The products of the first elements along an axis: element i is the product of 0 to i."""

    def cumsum(self, axis: int | None = None, dtype: Any = None) -> Tensor:
        """The sums of the first elements along an axis: element i is the sum of elements 0 to i."""

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """Diagonal `offset` of the matrices on two axes; it becomes the last axis."""

    def dimshuffle(self, *order: Any) -> Tensor:
        """`x` with its axes in another order; ``"x"`` makes a new axis of length 1 there."""

    def dot(self, b: TensorLike) -> Tensor:
        """NumPy's ``dot``: the inner product of vectors, the product of matrices, or with a scalar."""

    def eval(self, values: Mapping[Tensor, Any] | None = None) -> Array:
        """The value of an expression, given those of its inputs: ``x.eval({x: [1.0, 2.0]})``."""

    def expand_dims(self, axis: int | Sequence[int]) -> Tensor:
        """`x` with new axes of length 1; `axis` says where they stand in the result."""

    def fill(self, b: TensorLike) -> Tensor:
        """`b` broadcast to the shape of `a` (Theano's fill); the values of `a` do not matter."""

    def flatten(self, ndim: int = 1) -> Tensor:
        """`x` with its last axes merged so that `ndim` axes remain: a vector by default."""

    def flip(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """`x` with the order of the elements reversed along axes (None: all)."""

    def full_like(self, fill_value: TensorLike, dtype: Any = None, *, shape: Any = None) -> Tensor:
        """`fill_value` everywhere, with the shape and dtype of `x` where none are given."""

    def inc(self, values: TensorLike) -> Tensor:
        """The tensor that `x` is a part of, with `values` added to that part: ``x[i].inc(v)``."""

    def logsumexp(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """``log(sum(exp(x)))`` along axes, without overflow; -inf for no elements."""

    def max(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The greatest element along axes; NaN where there is one."""

    def mean(self, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
        """The mean along axes; NaN for no elements."""

    def min(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The least element along axes; NaN where there is one."""

    def moveaxis(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        """`x` with some axes moved to new places; the others keep their order."""

    def nonzero(self) -> tuple[Tensor, ...]:
        """Where `a` is not zero: one int64 vector of positions for each axis, in row-major order."""

    def norm(self, ord: float | None = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The length of the vector of all elements along axes: NumPy's ``linalg.vector_norm``."""

    def ones_like(self, dtype: Any = None, *, shape: Any = None) -> Tensor:
        """Ones with the shape and dtype of `x` where none are given; `shape` as for `ones`."""

    def pad(
        self,
        pad_width: Any,
        mode: Mode = "constant",
        constant_values: Any = 0,
        *,
        stat_length: Any = None,
        end_values: Any = 0,
        reflect_type: Literal["even", "odd"] = "even",
    ) -> Tensor:
        """`x` with elements added at the ends of its axes, as NumPy's pad."""

    def partition(self, kth: Kth, axis: int | None = -1) -> Tensor:
        """`x` with those elements in place along an axis that sorting would put at `kth`."""

    def prod(self, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
        """The product along axes; 1 for no elements. Dtypes are as for `sum`."""

    def ptp(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The range of the elements along axes ("peak to peak"): `max` - `min`."""

    def ravel(self) -> Tensor:
        """All elements in row-major order as a vector, of the same dtype. Also ``x.ravel()``."""

    def repeat(self, repeats: Any, axis: int | None = None) -> Tensor:
        """Each element of `x` repeated along an axis (None: of the flattened tensor)."""

    def reshape(self, *shape: Any, ndim: int | None = None) -> Tensor:
        """`x` with the same elements in the same (row-major) order under another shape."""

    def roll(
        self, shift: int | Tensor | Sequence[int | Tensor], axis: int | Sequence[int] | None = None
    ) -> Tensor:
        """`x` rotated along an axis: elements shifted beyond the end return at the beginning."""

    def round(self, decimals: int = 0) -> Tensor:
        """The nearest number with so many decimals, ties to even: whole numbers for 0, tens for -1."""

    def searchsorted(
        self,
        v: TensorLike,
        side: Literal["left", "right"] = "left",
        sorter: TensorLike | None = None,
    ) -> Tensor:
        """For each element of `v` the index in the sorted vector `a` before which it belongs, int64."""

    def set(self, values: TensorLike) -> Tensor:
        """The tensor that `x` is a part of, with that part replaced by `values`: ``x[i].set(v)``."""

    def softmax(self, axis: Axis = -1) -> Tensor:
        """``exp(x) / sum(exp(x))`` over an axis (several, or all for None), without overflow."""

    def sort(self, axis: int | None = -1, *, descending: bool = False) -> Tensor:
        """`x` sorted along an axis; flattened first for None."""

    def split(self, splits_size: Any, n_splits: int | None = None, axis: int = 0) -> list[Tensor]:
        """`x` in pieces along an axis: `splits_size` equal ones, or pieces of the sizes it lists."""

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """`x` without axes of length 1: all that are known to be, or those given."""

    def std(
        self, axis: Axis = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False
    ) -> Tensor:
        """The standard deviation along axes: the square root of `var`."""

    def sum(self, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
        """The sum along axes; 0 for no elements."""

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """`x` with two axes exchanged. A view; raises BadIndex for an axis that is not there."""

    def take(
        self, indices: TensorLike, axis: int | None = None, mode: OutOfRange = "raise"
    ) -> Tensor:
        """The elements of `a` at `indices` along an axis: ``a[:, indices]`` for axis 1."""

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The tensor itself: where it is computed, `symc.function` says."""

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
        """The sum of diagonal `offset` of the matrices on two axes, with the dtypes of `sum`."""

    def transpose(self, *axes: Any) -> Tensor:
        """`x` with its axes in reversed order, or in the order given."""

    def var(
        self, axis: Axis = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False
    ) -> Tensor:
        """The variance along axes: the mean of the squared distances from the mean."""

    def zeros_like(self, dtype: Any = None, *, shape: Any = None) -> Tensor:
        """Zeros with the shape and dtype of `x` where none are given; `shape` as for `zeros`."""

    @property
    def T(self) -> Tensor:
        """`x` with its axes in reversed order, or in the order given."""

    @property
    def device(self) -> str | None:
        """Where it is as far as it knows: ``"cpu"``."""

    @property
    def imag(self) -> Tensor:
        """The imaginary part; zeros for a real `x`. Also ``x.imag``."""

    @property
    def mT(self) -> Tensor:
        """The transposes of the matrices on the last two axes."""

    @property
    def real(self) -> Tensor:
        """The real part; a real `x` itself. Also ``x.real``."""

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths of all axes: ints where they are known now, 0-d int64 tensors elsewhere."""

    @property
    def size(self) -> Any:
        """How many elements there are: an int, or a 0-d int64 tensor."""
