"""Sums and products of sparse matrices element by element, comparisons, and blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply
from symc.theano.scalar.dtypes import continuous_dtypes
from symc.theano.sparse.conversions import dense_from_sparse, sp_ones_like
from symc.theano.sparse.op import (
    SparseOp,
    as_sparse_or_tensor_variable,
    is_sparse_variable,
    joined,
    sparse_of,
)
from symc.theano.sparse.scipy import is_sparse
from symc.theano.sparse.sums import sp_sum
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = [
    "AddSD", "AddSS", "AddSSData", "MulSD", "MulSS", "MulSV", "StructuredAddSV", "add", "add_s_d",
    "add_s_s", "add_s_s_data", "eq", "equal_s_d", "equal_s_s", "ge", "greater_equal_s_d",
    "greater_equal_s_s", "greater_than_s_d", "greater_than_s_s", "gt", "le", "less_equal_s_d",
    "less_equal_s_s", "less_than_s_d", "less_than_s_s", "lt", "minus", "mul", "mul_s_d", "mul_s_s",
    "mul_s_v", "neq", "not_equal_s_d", "not_equal_s_s", "structured_add_s_v", "sub",
]  # fmt: skip


class _Pointwise(SparseOp):
    """An op of two matrices, element by element."""

    def infer_shape(self, node: Apply, shapes: Any) -> Any:
        """The shape of the first."""
        return [shapes[0]]

    def __init__(self, run: Callable[..., Any], back: Callable[..., Any] | None = None) -> None:
        super().__init__(type(self).__name__, self.kinds_of, run, back)

    @staticmethod
    def kinds_of(x: Any, y: Any) -> list[Any]:
        """A sparse matrix of both dtypes, in the first one's format."""
        return [sparse_of(x, joined(x, y))]


def _like(variable: Any, bar: Any) -> Any:
    """A gradient as sparse or dense as its variable."""
    if is_sparse_variable(variable) == is_sparse_variable(bar):
        return bar
    if is_sparse_variable(variable):
        return mul(sp_ones_like(variable), bar)
    return dense_from_sparse(bar)


class AddSS(_Pointwise):
    """The sum of two sparse matrices."""

    def __init__(self) -> None:
        super().__init__(lambda x, y: x + y, lambda inputs, outputs, bars: [bars[0], bars[0]])


class AddSSData(_Pointwise):
    """The sum of two sparse matrices that have elements at the same places."""

    def __init__(self) -> None:
        super().__init__(self._added, self._back)

    @staticmethod
    def _added(x: Any, y: Any) -> Any:
        made = x.copy()
        made.data = x.data + y.data
        return made

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        return [bars[0] if each.dtype in continuous_dtypes else None for each in inputs]


class AddSD(_Pointwise):
    """The sum of a sparse matrix and a dense one, which is dense."""

    def __init__(self) -> None:
        super().__init__(
            lambda x, y: np.asarray(x + y),
            lambda inputs, outputs, bars: [_like(inputs[0], bars[0]), bars[0]],
        )

    @staticmethod
    def kinds_of(x: Any, y: Any) -> list[Any]:
        return [TensorType(joined(x, y), y.type.broadcastable)]


def _spread(x: Any, y: Any) -> Any:
    made = x.copy()
    major = np.repeat(np.arange(len(x.indptr) - 1), np.diff(x.indptr))
    columns = x.indices if x.format == "csr" else major
    made.data = x.data + y[columns]
    return made


class StructuredAddSV(_Pointwise):
    """A number for each column added to the elements that are there."""

    def __init__(self) -> None:
        super().__init__(_spread, self._back)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        at_places = mul(sp_ones_like(inputs[0]), bars[0])
        return [bars[0], sp_sum(at_places, axis=0, sparse_grad=True)]


class MulSS(_Pointwise):
    """The product of two sparse matrices element by element."""

    def __init__(self) -> None:
        super().__init__(lambda x, y: x.multiply(y), self._back)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, y = inputs
        return [mul(y, bars[0]), mul(x, bars[0])]


class MulSD(_Pointwise):
    """The product of a sparse matrix and a dense one, or a vector or number, element by element."""

    def __init__(self) -> None:
        super().__init__(lambda x, y: x.multiply(y) if np.ndim(y) else x * y, self._back)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, y = inputs
        part = mul(x, bars[0])
        whole = sp_sum(part, {0: None, 1: 0}[y.ndim]) if y.ndim < 2 else dense_from_sparse(part)
        return [mul(y, bars[0]), whole]


class MulSV(_Pointwise):
    """Each column multiplied by a number of its own."""

    def __init__(self) -> None:
        super().__init__(lambda x, y: x.multiply(y[None]), self._back)

    @staticmethod
    def _back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, y = inputs
        return [mul_s_v(bars[0], y), sp_sum(mul(x, bars[0]), axis=0, sparse_grad=True)]


add_s_s, add_s_s_data, add_s_d = AddSS(), AddSSData(), AddSD()
structured_add_s_v = StructuredAddSV()
mul_s_s, mul_s_d, mul_s_v = MulSS(), MulSD(), MulSV()


def _both(name: str, x: Any, y: Any) -> tuple[Any, Any, bool, bool]:
    """Two operands as variables, and whether each is sparse; one of them is."""
    x = x if hasattr(x, "type") else as_sparse_or_tensor_variable(x)
    y = y if hasattr(y, "type") else as_sparse_or_tensor_variable(y)
    of_x, of_y = is_sparse_variable(x), is_sparse_variable(y)
    if not of_x and not of_y:
        raise TypeError(f"{name}: one of the matrices must be sparse")
    return x, y, of_x, of_y


def add(x: Any, y: Any) -> Any:
    """The sum of two matrices, one of them at least sparse."""
    x, y, of_x, of_y = _both("add", x, y)
    if of_x and of_y:
        return add_s_s(x, y)
    return add_s_d(x, as_tensor_variable(y)) if of_x else add_s_d(y, as_tensor_variable(x))


def sub(x: Any, y: Any) -> Any:
    """The difference of two matrices, one of them at least sparse."""
    return add(x, -(y if hasattr(y, "type") else as_sparse_or_tensor_variable(y)))


minus = sub


def mul(x: Any, y: Any) -> Any:
    """The product of two matrices element by element, one of them at least sparse."""
    x, y, of_x, of_y = _both("mul", x, y)
    if of_x and of_y:
        return mul_s_s(x, y)
    return mul_s_d(x, as_tensor_variable(y)) if of_x else mul_s_d(y, as_tensor_variable(x))


# --- comparisons ----------------------------------------------------------------------------------

_SD: dict[str, SparseOp] = {}
_SS: dict[str, SparseOp] = {}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "neq": "neq"}
_UFUNCS = {"eq": np.equal, "neq": np.not_equal, "lt": np.less, "gt": np.greater,
           "le": np.less_equal, "ge": np.greater_equal}  # fmt: skip
_NAMES = {"eq": "Equal", "neq": "NotEqual", "lt": "LessThan", "gt": "GreaterThan",
          "le": "LessEqual", "ge": "GreaterEqual"}  # fmt: skip


class _Comparison(_Pointwise):
    """A comparison of a sparse matrix with another one: 1 where it holds, else 0, of uint8."""

    kind = "eq"

    def __init__(self) -> None:
        super().__init__(self._compared)

    def _compared(self, x: Any, y: Any) -> Any:
        left, right = (each.toarray() if is_sparse(each) else each for each in (x, y))
        return _UFUNCS[self.kind](left, right)


class _ComparisonSS(_Comparison):
    @staticmethod
    def kinds_of(x: Any, y: Any) -> list[Any]:
        return [sparse_of(x, "uint8")]


class _ComparisonSD(_Comparison):
    @staticmethod
    def kinds_of(x: Any, y: Any) -> list[Any]:
        return [TensorType("uint8", (False, False))]


for _kind, _name in _NAMES.items():
    _SS[_kind] = type(f"{_name}SS", (_ComparisonSS,), {"kind": _kind, "__module__": __name__})()
    _SD[_kind] = type(f"{_name}SD", (_ComparisonSD,), {"kind": _kind, "__module__": __name__})()
    for _op in (_SS[_kind], _SD[_kind]):
        globals()[type(_op).__name__] = type(_op)
        __all__ += [type(_op).__name__]  # pyright: ignore[reportUnsupportedDunderAll]


def _comparison(kind: str) -> Callable[[Any, Any], Any]:
    def compared(x: Any, y: Any) -> Any:
        x, y, of_x, of_y = _both(kind, x, y)
        if of_x and of_y:
            return _SS[kind](x, y)
        return _SD[kind](x, y) if of_x else _SD[_MIRRORED[kind]](y, x)

    compared.__name__ = kind
    compared.__doc__ = f"`{kind}` of matrices, one of them at least sparse: 1 where it holds."
    return compared


eq, neq, lt = _comparison("eq"), _comparison("neq"), _comparison("lt")
gt, le, ge = _comparison("gt"), _comparison("le"), _comparison("ge")
equal_s_s, equal_s_d = _SS["eq"], _SD["eq"]
not_equal_s_s, not_equal_s_d = _SS["neq"], _SD["neq"]
less_than_s_s, less_than_s_d = _SS["lt"], _SD["lt"]
greater_than_s_s, greater_than_s_d = _SS["gt"], _SD["gt"]
less_equal_s_s, less_equal_s_d = _SS["le"], _SD["le"]
greater_equal_s_s, greater_equal_s_d = _SS["ge"], _SD["ge"]
