"""Symbolic inputs by rank: `scalar`, `vector`, `matrix` ..., with Theano's prefixes and plurals.

A prefix fixes the dtype: ``b`` int8, ``w`` int16, ``i`` int32, ``l`` int64, ``f`` float32,
``d`` float64, ``c`` complex64 and ``z`` complex128.
A plural makes several inputs at once, from names or a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from symc.errors import RankError
from symc.graph.inputs import as_tensor, constant, lengths_of, tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.elementwise import cast_to

if TYPE_CHECKING:
    from symc.tensor.signatures import InputOfDtype, SeveralInputs

__all__ = [
    "as_tensor", "as_tensor_variable", "bcol", "bcols", "bmatrices", "bmatrix", "brow", "brows",
    "bscalar", "bscalars", "btensor3", "btensor3s", "btensor4", "btensor4s", "btensor5",
    "btensor5s", "bvector", "bvectors", "ccol", "ccols", "cmatrices", "cmatrix", "col", "cols",
    "constant", "crow", "crows", "cscalar", "cscalars", "ctensor3", "ctensor3s", "ctensor4",
    "ctensor4s", "ctensor5", "ctensor5s", "cvector", "cvectors", "dcol", "dcols", "dmatrices",
    "dmatrix", "drow", "drows", "dscalar", "dscalars", "dtensor3", "dtensor3s", "dtensor4",
    "dtensor4s", "dtensor5", "dtensor5s", "dvector", "dvectors", "fcol", "fcols", "fmatrices",
    "fmatrix", "frow", "frows", "fscalar", "fscalars", "ftensor3", "ftensor3s", "ftensor4",
    "ftensor4s", "ftensor5", "ftensor5s", "fvector", "fvectors", "icol", "icols", "imatrices",
    "imatrix", "irow", "irows", "iscalar", "iscalars", "itensor3", "itensor3s", "itensor4",
    "itensor4s", "itensor5", "itensor5s", "ivector", "ivectors", "lcol", "lcols", "lmatrices",
    "lmatrix", "lrow", "lrows", "lscalar", "lscalars", "ltensor3", "ltensor3s", "ltensor4",
    "ltensor4s", "ltensor5", "ltensor5s", "lvector", "lvectors", "matrices", "matrix", "row",
    "rows", "scalar", "scalars", "tensor", "tensor3", "tensor3s", "tensor4", "tensor4s", "tensor5",
    "tensor5s", "vector", "vectors", "wcol", "wcols", "wmatrices", "wmatrix", "wrow", "wrows",
    "wscalar", "wscalars", "wtensor3", "wtensor3s", "wtensor4", "wtensor4s", "wtensor5",
    "wtensor5s", "wvector", "wvectors", "zcol", "zcols", "zmatrices", "zmatrix", "zrow", "zrows",
    "zscalar", "zscalars", "ztensor3", "ztensor3s", "ztensor4", "ztensor4s", "ztensor5",
    "ztensor5s", "zvector", "zvectors",
]  # fmt: skip

Lengths = Sequence[int | None] | None


def _input(
    kind: str, default: tuple[int | None, ...], name: str | None, dtype: Any, shape: Lengths
) -> Tensor:
    lengths = default if shape is None else lengths_of(shape)
    if len(lengths) != len(default):
        raise RankError(f"{kind} has {len(default)} axes; shape={lengths} has {len(lengths)}")
    if not isinstance(name, str | None):  # pyright: ignore[reportUnnecessaryIsInstance] -- users err
        raise TypeError(f"{kind}: the name must be a string, not {name!r}; the dtype is dtype=...")
    return tensor(dtype, lengths, name)


def scalar(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic number: an input without axes, of dtype `config.floatX` unless given.

    >>> scalar("a")
    <a float64[]>
    """
    return _input("scalar", (), name, dtype, shape)


def vector(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic vector: an input with one axis, of dtype `config.floatX` unless given.

    >>> vector("v", "int64", shape=(3,))
    <v int64[3]>
    """
    return _input("vector", (None,), name, dtype, shape)


def matrix(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic matrix: an input with two axes, of dtype `config.floatX` unless given.

    >>> matrix("m", shape=(None, 3))
    <m float64[m.shape[0], 3]>
    """
    return _input("matrix", (None, None), name, dtype, shape)


def row(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic matrix with one row, along which it broadcasts: an input of `config.floatX`.

    >>> row("r")
    <r float64[1, r.shape[1]]>
    """
    return _input("row", (1, None), name, dtype, shape)


def col(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic matrix with one column, along which it broadcasts: an input of `config.floatX`.

    >>> col("c")
    <c float64[c.shape[0], 1]>
    """
    return _input("col", (None, 1), name, dtype, shape)


def tensor3(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic input with three axes, of dtype `config.floatX` unless given.

    `shape` has a number for each length that is known, and None for others. Raises RankError unless
    it has three.

    >>> import symc.tensor as T
    >>> T.tensor3("t", shape=(None, 4, 5))
    <t float64[t.shape[0], 4, 5]>
    """
    return _input("tensor3", (None,) * 3, name, dtype, shape)


def tensor4(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic input with four axes, of dtype `config.floatX` unless given.

    `shape` has a number for each length that is known, and None for others. Raises RankError unless
    it has four.

    >>> import symc.tensor as T
    >>> T.tensor4("images", shape=(None, 3, 32, 32))
    <images float64[images.shape[0], 3, 32, 32]>
    """
    return _input("tensor4", (None,) * 4, name, dtype, shape)


def tensor5(name: str | None = None, dtype: Any = None, shape: Lengths = None) -> Tensor:
    """A symbolic input with five axes, of dtype `config.floatX` unless given.

    `shape` has a number for each length that is known, and None for others. Raises RankError unless
    it has five.

    >>> import symc.tensor as T
    >>> T.tensor5("volumes", "float32", shape=(None, 1, 8, 8, 8))
    <volumes float32[volumes.shape[0], 1, 8, 8, 8]>
    """
    return _input("tensor5", (None,) * 5, name, dtype, shape)


def as_tensor_variable(
    x: TensorLike, name: str | None = None, ndim: int | None = None, dtype: Any = None
) -> Tensor:
    """Theano's `as_tensor`: also names a constant, pads axes of length 1 in front, and converts.

    Raises `RankError` when `x` has more than `ndim` axes.

    >>> import symc.tensor as T
    >>> T.as_tensor_variable([1, 2], name="two", ndim=2)
    <two = constant[None, :] int64[1, 2]>
    """
    result = as_tensor(x)
    if dtype is not None:
        result = cast_to(result, dtype)
    if ndim is not None and ndim != result.ndim:
        from symc.tensor.views import shape_padleft

        if ndim < result.ndim:
            raise RankError(f"as_tensor_variable: {result.type} has more than {ndim} axes")
        result = shape_padleft(result, ndim - result.ndim)
    if name is not None and not isinstance(x, Tensor):
        result.name = name
    return result


# --- prefixes and plurals -------------------------------------------------------------------------

One: TypeAlias = Callable[..., Tensor]


def _of_dtype(make: One, name: str, dtype: str) -> InputOfDtype:
    def function(name: str | None = None, shape: Lengths = None) -> Tensor:
        return make(name, dtype, shape)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""A `{make.__name__}` of dtype {dtype}, whatever `config.floatX` is.

`shape` has the lengths that are known, as for `{make.__name__}`. Raises RankError if it is of
another rank.

>>> import symc.tensor as T
>>> T.{name}("x").dtype
{dtype}
"""
    return function


def _plural(make: One, name: str) -> SeveralInputs:
    def function(*names: Any, **options: Any) -> list[Tensor]:
        if len(names) == 1 and isinstance(names[0], int):
            return [make(**options) for _ in range(names[0])]
        return [make(each, **options) for each in names]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Several of `{make.__name__}`: one for each name, or as many as asked for.

Options, such as ``shape=``, are those of `{make.__name__}`, and the same for all.

>>> import symc.tensor as T
>>> a, b = T.{name}("a", "b")
>>> a.name, b.name, len(T.{name}(3))
('a', 'b', 3)
"""
    return function


scalars = _plural(scalar, "scalars")
vectors = _plural(vector, "vectors")
matrices = _plural(matrix, "matrices")
rows = _plural(row, "rows")
cols = _plural(col, "cols")
tensor3s = _plural(tensor3, "tensor3s")
tensor4s = _plural(tensor4, "tensor4s")
tensor5s = _plural(tensor5, "tensor5s")

bscalar = _of_dtype(scalar, "bscalar", "int8")
bvector = _of_dtype(vector, "bvector", "int8")
bmatrix = _of_dtype(matrix, "bmatrix", "int8")
brow = _of_dtype(row, "brow", "int8")
bcol = _of_dtype(col, "bcol", "int8")
btensor3 = _of_dtype(tensor3, "btensor3", "int8")
btensor4 = _of_dtype(tensor4, "btensor4", "int8")
btensor5 = _of_dtype(tensor5, "btensor5", "int8")
bscalars = _plural(bscalar, "bscalars")
bvectors = _plural(bvector, "bvectors")
bmatrices = _plural(bmatrix, "bmatrices")
brows = _plural(brow, "brows")
bcols = _plural(bcol, "bcols")
btensor3s = _plural(btensor3, "btensor3s")
btensor4s = _plural(btensor4, "btensor4s")
btensor5s = _plural(btensor5, "btensor5s")

wscalar = _of_dtype(scalar, "wscalar", "int16")
wvector = _of_dtype(vector, "wvector", "int16")
wmatrix = _of_dtype(matrix, "wmatrix", "int16")
wrow = _of_dtype(row, "wrow", "int16")
wcol = _of_dtype(col, "wcol", "int16")
wtensor3 = _of_dtype(tensor3, "wtensor3", "int16")
wtensor4 = _of_dtype(tensor4, "wtensor4", "int16")
wtensor5 = _of_dtype(tensor5, "wtensor5", "int16")
wscalars = _plural(wscalar, "wscalars")
wvectors = _plural(wvector, "wvectors")
wmatrices = _plural(wmatrix, "wmatrices")
wrows = _plural(wrow, "wrows")
wcols = _plural(wcol, "wcols")
wtensor3s = _plural(wtensor3, "wtensor3s")
wtensor4s = _plural(wtensor4, "wtensor4s")
wtensor5s = _plural(wtensor5, "wtensor5s")

iscalar = _of_dtype(scalar, "iscalar", "int32")
ivector = _of_dtype(vector, "ivector", "int32")
imatrix = _of_dtype(matrix, "imatrix", "int32")
irow = _of_dtype(row, "irow", "int32")
icol = _of_dtype(col, "icol", "int32")
itensor3 = _of_dtype(tensor3, "itensor3", "int32")
itensor4 = _of_dtype(tensor4, "itensor4", "int32")
itensor5 = _of_dtype(tensor5, "itensor5", "int32")
iscalars = _plural(iscalar, "iscalars")
ivectors = _plural(ivector, "ivectors")
imatrices = _plural(imatrix, "imatrices")
irows = _plural(irow, "irows")
icols = _plural(icol, "icols")
itensor3s = _plural(itensor3, "itensor3s")
itensor4s = _plural(itensor4, "itensor4s")
itensor5s = _plural(itensor5, "itensor5s")

lscalar = _of_dtype(scalar, "lscalar", "int64")
lvector = _of_dtype(vector, "lvector", "int64")
lmatrix = _of_dtype(matrix, "lmatrix", "int64")
lrow = _of_dtype(row, "lrow", "int64")
lcol = _of_dtype(col, "lcol", "int64")
ltensor3 = _of_dtype(tensor3, "ltensor3", "int64")
ltensor4 = _of_dtype(tensor4, "ltensor4", "int64")
ltensor5 = _of_dtype(tensor5, "ltensor5", "int64")
lscalars = _plural(lscalar, "lscalars")
lvectors = _plural(lvector, "lvectors")
lmatrices = _plural(lmatrix, "lmatrices")
lrows = _plural(lrow, "lrows")
lcols = _plural(lcol, "lcols")
ltensor3s = _plural(ltensor3, "ltensor3s")
ltensor4s = _plural(ltensor4, "ltensor4s")
ltensor5s = _plural(ltensor5, "ltensor5s")

fscalar = _of_dtype(scalar, "fscalar", "float32")
fvector = _of_dtype(vector, "fvector", "float32")
fmatrix = _of_dtype(matrix, "fmatrix", "float32")
frow = _of_dtype(row, "frow", "float32")
fcol = _of_dtype(col, "fcol", "float32")
ftensor3 = _of_dtype(tensor3, "ftensor3", "float32")
ftensor4 = _of_dtype(tensor4, "ftensor4", "float32")
ftensor5 = _of_dtype(tensor5, "ftensor5", "float32")
fscalars = _plural(fscalar, "fscalars")
fvectors = _plural(fvector, "fvectors")
fmatrices = _plural(fmatrix, "fmatrices")
frows = _plural(frow, "frows")
fcols = _plural(fcol, "fcols")
ftensor3s = _plural(ftensor3, "ftensor3s")
ftensor4s = _plural(ftensor4, "ftensor4s")
ftensor5s = _plural(ftensor5, "ftensor5s")

dscalar = _of_dtype(scalar, "dscalar", "float64")
dvector = _of_dtype(vector, "dvector", "float64")
dmatrix = _of_dtype(matrix, "dmatrix", "float64")
drow = _of_dtype(row, "drow", "float64")
dcol = _of_dtype(col, "dcol", "float64")
dtensor3 = _of_dtype(tensor3, "dtensor3", "float64")
dtensor4 = _of_dtype(tensor4, "dtensor4", "float64")
dtensor5 = _of_dtype(tensor5, "dtensor5", "float64")
dscalars = _plural(dscalar, "dscalars")
dvectors = _plural(dvector, "dvectors")
dmatrices = _plural(dmatrix, "dmatrices")
drows = _plural(drow, "drows")
dcols = _plural(dcol, "dcols")
dtensor3s = _plural(dtensor3, "dtensor3s")
dtensor4s = _plural(dtensor4, "dtensor4s")
dtensor5s = _plural(dtensor5, "dtensor5s")

cscalar = _of_dtype(scalar, "cscalar", "complex64")
cvector = _of_dtype(vector, "cvector", "complex64")
cmatrix = _of_dtype(matrix, "cmatrix", "complex64")
crow = _of_dtype(row, "crow", "complex64")
ccol = _of_dtype(col, "ccol", "complex64")
ctensor3 = _of_dtype(tensor3, "ctensor3", "complex64")
ctensor4 = _of_dtype(tensor4, "ctensor4", "complex64")
ctensor5 = _of_dtype(tensor5, "ctensor5", "complex64")
cscalars = _plural(cscalar, "cscalars")
cvectors = _plural(cvector, "cvectors")
cmatrices = _plural(cmatrix, "cmatrices")
crows = _plural(crow, "crows")
ccols = _plural(ccol, "ccols")
ctensor3s = _plural(ctensor3, "ctensor3s")
ctensor4s = _plural(ctensor4, "ctensor4s")
ctensor5s = _plural(ctensor5, "ctensor5s")

zscalar = _of_dtype(scalar, "zscalar", "complex128")
zvector = _of_dtype(vector, "zvector", "complex128")
zmatrix = _of_dtype(matrix, "zmatrix", "complex128")
zrow = _of_dtype(row, "zrow", "complex128")
zcol = _of_dtype(col, "zcol", "complex128")
ztensor3 = _of_dtype(tensor3, "ztensor3", "complex128")
ztensor4 = _of_dtype(tensor4, "ztensor4", "complex128")
ztensor5 = _of_dtype(tensor5, "ztensor5", "complex128")
zscalars = _plural(zscalar, "zscalars")
zvectors = _plural(zvector, "zvectors")
zmatrices = _plural(zmatrix, "zmatrices")
zrows = _plural(zrow, "zrows")
zcols = _plural(zcol, "zcols")
ztensor3s = _plural(ztensor3, "ztensor3s")
ztensor4s = _plural(ztensor4, "ztensor4s")
ztensor5s = _plural(ztensor5, "ztensor5s")
