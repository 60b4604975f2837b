"""`SparseMatrix`: a symbolic matrix of which only some elements are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, overload

from symc.codegen.dtypes import INT64, DType
from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.node import METHODS, Tensor, TensorLike
from symc.graph.packed import Packed
from symc.graph.types import as_dtype, promote
from symc.tensor.assign import inc_subtensor
from symc.tensor.broadcast import describe
from symc.tensor.build import ones, zeros
from symc.tensor.checked import Checked
from symc.tensor.domains import Domain
from symc.tensor.elementwise import cast_to, common
from symc.tensor.lengths import dim_of, normal_axis, public
from symc.tensor.logic import eq, ge, where
from symc.tensor.matrix_product import is_blas
from symc.tensor.reduce import sum as summed
from symc.tensor.reshape import reshape
from symc.tensor.sparse.products import STATUS, RowNumbers, SparseBack, SparseDot, rows_of
from symc.tensor.sparse.structure import added, merged, multiplied, part
from symc.tensor.views import broadcast_to, expand_dims

if TYPE_CHECKING:
    from symc.graph.node import Array

__all__ = ["SparseMatrix"]

Format: TypeAlias = Literal["csr", "csc"]
Operand: TypeAlias = "TensorLike | SparseMatrix"


@record(eq=False)
class SparseMatrix(Packed):
    """A matrix whose stored elements are `data`, row after row ("csr") or column after column.

    `indices` has the column (row) of each, and `indptr` where each row (column) starts among them,
    as in SciPy; `minor` is the number of columns (rows). Elements of one place add up. All parts
    are tensors: differentiate with respect to `data`. ``@`` multiplies with dense matrices and
    vectors on either side, ``*`` and ``/`` are elementwise, with numbers and whatever broadcasts.
    Sums, products of two and parts (``a[2:5]``, ``a[:, [0, 3]]``) have a structure of their own.

    >>> import scipy.sparse, symc, symc.tensor as T
    >>> a, x = T.sparse.csr_matrix("a"), T.vector("x")
    >>> f = symc.function([a, x], [a @ x, a.T * 2])
    >>> product, double = f(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 0.0]]), [1.0, 2.0])
    >>> product, double.toarray()
    (array([6., 4.]), array([[0., 8.],
           [6., 0.]]))
    """

    format: Format
    data: Tensor
    indices: Tensor
    indptr: Tensor
    minor: Tensor
    name: str | None = None

    __array_ufunc__ = None  # so that NumPy's arrays leave their operators to those below

    @property
    def kind(self) -> str:
        return self.format

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.data, self.indices, self.indptr, self.minor

    @property
    def returned(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The parts, checked: SciPy uses indexes as they are, and reads and writes anywhere."""
        fits = eq(RowNumbers(STATUS)(*self.parts[1:]), 0)
        text = "the indices of a sparse matrix do not fit its indptr and shape"
        return self.data, Checked(text, is_index=True)(self.indices, fits), *self.parts[2:]

    @property
    def dtype(self) -> DType:
        """The type of the elements.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.dtype
        float64
        """
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes, 2.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.ndim
        2
        """
        return 2

    @property
    def _lengths(self) -> tuple[Dim, Dim]:
        major, minor = rows_of(self.indptr), dim_of(self.minor)
        return (major, minor) if self.format == "csr" else (minor, major)

    @property
    def shape(self) -> tuple[int | Tensor, int | Tensor]:
        """The numbers of rows and columns, as those of tensors.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.shape
        (2, 2)
        """
        rows, columns = self._lengths
        return public(rows), public(columns)

    @property
    def nnz(self) -> int | Tensor:
        """The number of stored elements.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.nnz
        3
        """
        return public(self.data.type.shape[0])

    @property
    def coordinates(self) -> tuple[Tensor, Tensor]:
        """The row and the column of each stored element, int32.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> [place.eval() for place in a.coordinates]
        [array([0, 1, 1], dtype=int32), array([1, 0, 1], dtype=int32)]
        """
        major = RowNumbers()(self.indices, self.indptr, self.minor)
        return (major, self.indices) if self.format == "csr" else (self.indices, major)

    def __repr__(self) -> str:
        rows, columns = self._lengths
        name = f"{self.name} " if self.name else ""
        return f"<{name}{self.format} {self.dtype}[{rows}, {columns}]>"

    # --- other matrices of the same structure -----------------------------------------------------

    def with_data(self, data: TensorLike) -> SparseMatrix:
        """The matrix of other elements in the same places: of a vector as long as `data`.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.with_data([1.0, 2.0, 6.0]).toarray().eval()
        array([[0., 1.],
               [2., 6.]])
        """
        made = as_tensor(data)
        if made.ndim != 1:
            raise RankError(f"with_data: elements are a vector\n  given  {describe(made)}")
        return SparseMatrix(self.format, made, self.indices, self.indptr, self.minor)

    def astype(self, dtype: Any) -> SparseMatrix:
        """The matrix with elements of another dtype.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.astype("float32").dtype
        float32
        """
        return self.with_data(cast_to(self.data, as_dtype(dtype)))

    @property
    def T(self) -> SparseMatrix:
        """The transpose: of the other format, with the same parts.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.format, a.T.format
        ('csr', 'csc')
        """
        format: Format = "csc" if self.format == "csr" else "csr"
        return SparseMatrix(format, *self.parts)

    def tocsr(self) -> SparseMatrix:
        """The matrix in compressed rows: in order, the elements of one place added up.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.T.tocsr().indices.eval()
        array([1, 0, 1], dtype=int32)
        """
        return merged(self, "csr")

    def tocsc(self) -> SparseMatrix:
        """The matrix in compressed columns: in order, the elements of one place added up.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.tocsc().data.eval()
        array([4., 3., 5.])
        """
        return merged(self, "csc")

    def transpose(self) -> SparseMatrix:
        """The same as `T`.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.transpose().toarray().eval()
        array([[0., 4.],
               [3., 5.]])
        """
        return self.T

    def has_structure_of(self, other: SparseMatrix) -> bool:
        """Whether both are known to have their elements in the same places.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.has_structure_of(a * 2), a.has_structure_of(a.T)
        (True, False)
        """
        return self.format == other.format and self.parts[1:] == other.parts[1:]

    def multiply(self, other: Operand) -> SparseMatrix:
        """The elementwise product with a number, or an array that broadcasts to the shape.

        Another sparse matrix must have the same structure, as one made by `with_data` has.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.multiply([10.0, 1.0]).toarray().eval()
        array([[ 0.,  3.],
               [40.,  5.]])
        """
        return self._elementwise(other, lambda x, y: x * y, "*")

    def _elementwise(
        self,
        other: Operand,
        function: Callable[[Tensor, Tensor], Tensor],
        sign: str,
        domain: Domain = "same",
    ) -> SparseMatrix:
        if isinstance(other, SparseMatrix):
            self._check_structure(other, sign)
            return self.with_data(function(self.data, other.data))
        data, value = common([self.data, other], domain, sign)
        return self.with_data(function(data, self._sampled(value, sign)))

    def _check_structure(self, other: SparseMatrix, sign: str) -> None:
        if not self.has_structure_of(other):
            raise TypeError(
                f"{self!r} {sign} {other!r}: both must have the same structure, as matrices made "
                "by with_data have; .toarray() makes one dense"
            )

    def _sampled(self, value: Tensor, sign: str) -> Tensor:
        """The elements of a dense array, broadcast, where this matrix has one."""
        if value.ndim == 0:
            return value
        if value.ndim > 2:
            raise RankError(f"{sign}: a sparse matrix has two axes\n  given  {describe(value)}")
        shape = self._lengths
        own = (1,) * (2 - value.ndim) + value.type.shape
        for have, wanted in zip(own, shape, strict=True):
            if isinstance(have, int) and isinstance(wanted, int) and have not in (1, wanted):
                raise ShapeMismatch(
                    f"{sign}: {value.type} does not broadcast to {self!r}\n"
                    f"  given  {describe(value)}"
                )
        rows, columns = self.coordinates
        # Beside one factor for a row or column, nothing else refuses what would count from the end.
        minor, is_csr = self.indices, self.format == "csr"
        minor = Checked("a sparse matrix has a negative index", is_index=True)(minor, ge(minor, 0))
        rows, columns = (rows, minor) if is_csr else (minor, columns)
        whole = broadcast_to(value, shape) if 1 not in own else reshape(value, own)
        at = tuple(
            0 if length == 1 else place for length, place in zip(own, (rows, columns), strict=True)
        )
        if at == (0, 0):
            return whole[0, 0]
        return whole[at]

    # --- products ---------------------------------------------------------------------------------

    @overload
    def dot(self, other: SparseMatrix) -> SparseMatrix: ...
    @overload
    def dot(self, other: TensorLike) -> Tensor: ...
    def dot(self, other: Operand) -> Tensor | SparseMatrix:
        """The product with a dense matrix or vector, which is dense; with a sparse one, sparse.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.dot([1.0, 2.0]).eval()
        array([ 6., 14.])
        """
        if isinstance(other, SparseMatrix):
            return multiplied(self, other)
        x = as_tensor(other)
        if x.ndim not in (1, 2):
            raise RankError(f"a sparse matrix times {x.type}\n  given  {describe(x)}")
        return _product(self, x)

    @overload
    def __matmul__(self, other: SparseMatrix) -> SparseMatrix: ...
    @overload
    def __matmul__(self, other: TensorLike) -> Tensor: ...
    def __matmul__(self, other: Operand) -> Tensor | SparseMatrix:
        return self.dot(other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        x = as_tensor(other)
        return self.T.dot(x.T).T

    def scale_rows(self, factors: TensorLike) -> SparseMatrix:
        """Each row times its factor, of a vector.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.scale_rows([10.0, 1.0]).toarray().eval()
        array([[ 0., 30.],
               [ 4.,  5.]])
        """
        return self.multiply(expand_dims(_vector("scale_rows", factors), 1))

    def scale_columns(self, factors: TensorLike) -> SparseMatrix:
        """Each column times its factor, of a vector.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.scale_columns([10.0, 1.0]).toarray().eval()
        array([[ 0.,  3.],
               [40.,  5.]])
        """
        return self.multiply(expand_dims(_vector("scale_columns", factors), 0))

    def sum(self, axis: int | None = None) -> Tensor:
        """The sum of all elements, or those of columns (axis 0) or rows (axis 1): a vector.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.sum().eval(), a.sum(axis=1).eval()
        (array(12.), array([3., 9.]))
        """
        if axis is None:
            return summed(self.data)
        along = normal_axis("sum", axis, 2)
        matrix = self.T if along == 0 else self
        kind = self.dtype if self.dtype.is_inexact else INT64
        return matrix.dot(ones((matrix._lengths[1],), kind))

    def mean(self, axis: int | None = None) -> Tensor:
        """The mean of all elements, those that are not stored included, or of an axis.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.mean().eval(), a.mean(axis=0).eval()
        (array(3.), array([2., 4.]))
        """
        rows, columns = self.shape
        count = rows * columns if axis is None else self.shape[normal_axis("mean", axis, 2)]
        total = self.sum(axis)
        divisor = cast_to(as_tensor(count), total.dtype) if total.dtype.is_inexact else count
        return total / divisor

    def diagonal(self) -> Tensor:
        """The elements whose row and column are the same number.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.diagonal().eval()
        array([0., 5.])
        """
        from symc.tensor.math import minimum

        rows, columns = self.coordinates
        length = minimum(*(as_tensor(n) for n in self.shape))
        on_it = eq(rows, columns)
        kept = where(on_it, self.data, cast_to(as_tensor(0), self.dtype))
        # An element beside the diagonal adds 0 to the last place, which is one too many.
        padded = zeros((length + 1,), self.dtype)
        return inc_subtensor(padded[where(on_it, cast_to(rows, INT64), length)], kept)[:-1]

    def toarray(self) -> Tensor:
        """The matrix as a dense tensor.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> a.toarray().eval()
        array([[0., 3.],
               [4., 5.]])
        """
        return inc_subtensor(zeros(self._lengths, self.dtype)[self.coordinates], self.data)

    todense = toarray

    def eval(self, values: Mapping[Any, Any] | None = None) -> Any:
        """The value, a matrix of SciPy's, given those of its inputs: as that of tensors.

        >>> import scipy.sparse, symc.tensor as T
        >>> a = T.sparse.as_sparse(scipy.sparse.csr_array([[0.0, 3.0], [4.0, 5.0]]))
        >>> (a * 2).eval().toarray()
        array([[ 0.,  6.],
               [ 8., 10.]])
        """
        return METHODS["eval"](self, values)

    # --- operators --------------------------------------------------------------------------------

    def __mul__(self, other: Operand) -> SparseMatrix:
        return self.multiply(other)

    def __rmul__(self, other: Operand) -> SparseMatrix:
        return self.multiply(other)

    def __truediv__(self, other: Operand) -> SparseMatrix:
        return self._elementwise(other, lambda x, y: x / y, "/", "divide")

    def __neg__(self) -> SparseMatrix:
        return self.with_data(-self.data)

    def __abs__(self) -> SparseMatrix:
        return self.with_data(abs(self.data))

    def __add__(self, other: Operand) -> Any:
        if isinstance(other, SparseMatrix):
            if not self.has_structure_of(other):
                return added(self, other)
            return self.with_data(self.data + other.data)
        return self._dense_beside(other, "+") + as_tensor(other)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Any:
        if isinstance(other, SparseMatrix):
            if not self.has_structure_of(other):
                return added(self, -other)
            return self.with_data(self.data - other.data)
        return self._dense_beside(other, "-") - as_tensor(other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return as_tensor(other) - self._dense_beside(other, "-")

    def _dense_beside(self, other: Any, sign: str) -> Tensor:
        if as_tensor(other).ndim != 2:
            raise TypeError(
                f"{self!r} {sign} {other!r} would have no element that is 0; use .toarray(), or "
                "with_data for the stored ones"
            )
        return self.toarray()

    def __array__(self, *args: Any, **options: Any) -> Array:
        raise TypeError(
            f"{self!r} is a sparse matrix; functions of tensors take .toarray(), or its stored "
            "elements: T.sparse.structured(function, matrix)"
        )

    def __getitem__(self, index: Any) -> SparseMatrix:
        return part(self, index)

    def __iter__(self) -> NoReturn:
        raise TypeError(f"cannot iterate over {self!r}")


def _vector(label: str, value: TensorLike) -> Tensor:
    made = as_tensor(value)
    if made.ndim != 1:
        raise RankError(f"{label}: factors are a vector\n  given  {describe(made)}")
    return made


def _product(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """The product with a dense matrix: routines have float32 and float64, loops the others."""
    wanted = promote(matrix.dtype, x.dtype)
    inner = wanted.wide
    data, x = cast_to(matrix.data, inner), cast_to(x, inner)
    _, *structure = matrix.parts
    if is_blas(inner):
        op = SparseDot() if matrix.format == "csr" else SparseBack()
        return cast_to(op(data, *structure, x), wanted)
    rows, columns = matrix.coordinates
    terms = (data if x.ndim == 1 else expand_dims(data, 1)) * x[columns]
    empty = zeros((matrix.shape[0], *x.type.shape[1:]), inner)
    return inc_subtensor(empty[rows], terms)
