"""Comparisons, truth values, bit operations and choices, elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL
from symc.graph.inputs import as_tensor, refuse_bool
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.broadcast import stretched_together
from symc.tensor.comparisons import exact
from symc.tensor.elementwise import ELEMENTWISE, binary, cast_to, common, elementwise
from symc.tensor.math import abs as absolute
from symc.tensor.signatures import FunctionOfOne, FunctionOfTwo

__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "ge", "gt", "invert", "isclose", "isfinite",
    "isinf", "isnan", "le", "left_shift", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "ne", "neq", "right_shift", "switch", "where",
]  # fmt: skip


def _shown(name: str, arguments: str, numpy: Any, *values: Any) -> str:
    """An example of a function: a call, and what NumPy gives, as it prints a vector."""
    texts = [str(value) for value in numpy(*map(np.array, values)).tolist()]  # repr takes 50 us
    width = max(map(len, texts))
    result = f"array([{', '.join(text.rjust(width) for text in texts)}])"
    call = f"T.{name}({arguments.format(*values)}).eval()"
    return f"\n\n    >>> import symc.tensor as T\n    >>> {call}\n    {result}\n    "


def _comparison(name: Any, numpy: Any, sign: str, *, of_equality: bool = False) -> FunctionOfTwo:
    example = _shown(name, "{}, {}", numpy, [1, 2, 3], 2)
    row = elementwise(
        name, numpy, binary(name), f"Whether ``x {sign} y``; gives bool.{example}", None, None,
        domain="same", predicate=True, of_complex=of_equality, commutes=of_equality,
    )  # fmt: skip
    return exact(name, row)


eq = _comparison("eq", np.equal, "==", of_equality=True)
ne = neq = _comparison("ne", np.not_equal, "!=", of_equality=True)
lt = _comparison("lt", np.less, "<")
le = _comparison("le", np.less_equal, "<=")
gt = _comparison("gt", np.greater, ">")
ge = _comparison("ge", np.greater_equal, ">=")


def _float_predicate(name: str, numpy: Any, doc: str, of_integer: bool) -> FunctionOfOne:
    def expression(x: ir.Expr) -> ir.Expr:
        return ir.Call(name, (x,), BOOL) if x.dtype.is_inexact else ir.Const(of_integer, BOOL)

    given = 'float("nan"), float("inf"), 1.0'
    example = _shown(name, f"[{given}]", numpy, [np.nan, np.inf, 1.0])
    return elementwise(
        name, numpy, expression, doc + example, None, domain="same", predicate=True, of_complex=True
    )


isnan = _float_predicate("isnan", np.isnan, "Whether x is NaN; gives bool.", False)
isinf = _float_predicate("isinf", np.isinf, "Whether x is infinite; gives bool.", False)
isfinite = _float_predicate("isfinite", np.isfinite, "Whether x is finite; gives bool.", True)


def isclose(
    x: TensorLike, y: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether ``abs(x - y) <= atol + rtol * abs(y)``, as NumPy's isclose; gives bool.

    Infinities are close only to themselves; NaN to NaN with ``equal_nan=True``. Elementwise.

    >>> import symc.tensor as T
    >>> T.isclose([1.0, 1.0], [1.0 + 1e-9, 1.1]).eval()
    array([ True, False])
    """
    x, y = common((x, y), "divide", "isclose")
    near = logical_and(isfinite(y), le(absolute(x - y), atol + rtol * absolute(y)))
    close = logical_or(eq(x, y), near)
    return logical_or(close, logical_and(isnan(x), isnan(y))) if equal_nan else close


def _logical(name: str, numpy: Any, op: Any, doc: str) -> FunctionOfTwo:
    commutes = op != "xor"
    doc += _shown(name, "{}, {}", numpy, [0, 0, 1, 2], [0, 1, 0, 3])
    return elementwise(
        name, numpy, binary(op), doc, None, None, domain="logical", commutes=commutes
    )


logical_and = _logical("logical_and", np.logical_and, "and", "Whether both are true.")
logical_or = _logical("logical_or", np.logical_or, "or", "Whether at least one is true.")
logical_xor = _logical("logical_xor", np.logical_xor, "xor", "Whether exactly one is true.")
logical_not = elementwise(
    "logical_not", np.logical_not, lambda x: ir.Unary("not", x, BOOL),
    """Whether x is false.

    >>> import symc.tensor as T
    >>> T.logical_not([0, 2]).eval()
    array([ True, False])
    """,
    None,
    domain="logical",
)  # fmt: skip


def _bits(name: str, numpy: Any, on_bool: Any, on_integers: Any, doc: str) -> FunctionOfTwo:
    def expression(x: ir.Expr, y: ir.Expr) -> ir.Expr:
        return ir.binary(on_bool if x.dtype is BOOL else on_integers, x, y)

    doc += _shown(name, "{}, {}", numpy, [12, 10], 6)
    return elementwise(name, numpy, expression, doc, None, None, domain="integer", commutes=True)


bitwise_and = _bits("bitwise_and", np.bitwise_and, "and", "band", "``x & y``, bit by bit.")
bitwise_or = _bits("bitwise_or", np.bitwise_or, "or", "bor", "``x | y``, bit by bit.")
bitwise_xor = _bits("bitwise_xor", np.bitwise_xor, "xor", "bxor", "``x ^ y``, bit by bit.")
invert = elementwise(
    "invert", np.invert,
    lambda x: ir.Unary("not" if x.dtype is BOOL else "invert", x, x.dtype),
    """``~x``, bit by bit; for bool, logical not.

    >>> import symc.tensor as T
    >>> T.invert([0, 5]).eval(), T.invert([True]).eval()
    (array([-1, -6]), array([False]))
    """,
    None, domain="integer",
)  # fmt: skip
_shl = elementwise(
    "left_shift", np.left_shift, binary("shl"), "``x << y``.", None, None, domain="integer"
)
_shr = elementwise(
    "right_shift", np.right_shift, binary("shr"), "``x >> y``.", None, None, domain="integer"
)


def _shift(op: FunctionOfTwo, x: TensorLike, y: TensorLike) -> Tensor:
    x, y = common((x, y), "integer", "a shift")
    if x.dtype is BOOL:
        x, y = cast_to(x, "int8"), cast_to(y, "int8")
    return op(x, y)


def left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """``x << y``; 0 when y is not less than the number of bits.

    Elementwise, with NumPy's dtype; bool becomes int8. Raises DTypeError for floats.

    >>> import symc.tensor as T
    >>> T.left_shift([1, 3], [4, 64]).eval()
    array([16,  0])
    """
    return _shift(_shl, x, y)


def right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """``x >> y``, keeping the sign: -1 or 0 when y is not less than the number of bits.

    Elementwise, with NumPy's dtype; bool becomes int8. Raises DTypeError for floats.

    >>> import symc.tensor as T
    >>> T.right_shift([16, -16], 2).eval()
    array([ 4, -4])
    """
    return _shift(_shr, x, y)


OPERATORS["left_shift"] = left_shift
OPERATORS["right_shift"] = right_shift

# --- where ----------------------------------------------------------------------------------------


def _select(c: ir.Expr, x: ir.Expr, y: ir.Expr) -> ir.Expr:
    return ir.Select(c, x, y, x.dtype)


elementwise(
    "where", np.where, _select, "x where the condition holds, y elsewhere.",
    None,
    lambda g, c, x, y, z: OPERATORS["where"](c, g, 0),
    lambda g, c, x, y, z: OPERATORS["where"](OPERATORS["logical_not"](c), g, 0),
    domain="same", of_complex=True,
)  # fmt: skip


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """x where the condition is true (nonzero), y elsewhere, with NumPy's dtype for x and y.

    Elementwise, with broadcasting along axes of known length 1. The gradient of the branch not
    taken is exactly 0, even where its derivative is infinite or NaN. (For the places where a
    condition is true, there is `nonzero`.)

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> y = T.where(x > 0, T.sqrt(x), 0.0)
    >>> symc.grad(y.sum(), x).eval({x: [0.0, 4.0]})
    array([0.  , 0.25])
    """
    refuse_bool("where", condition)
    branches = common((x, y), "same", "where")
    given = [cast_to(as_tensor(condition), BOOL), *branches]
    return ELEMENTWISE["where"](*stretched_together("where", given))


def switch(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """Theano's name for `where`: x where the condition is true, y elsewhere. Elementwise.

    >>> import symc.tensor as T
    >>> T.switch([True, False], 1, [10, 20]).eval()
    array([ 1, 20])
    """
    return where(condition, x, y)


OPERATORS["where"] = where
OPERATORS["neq"] = ne
OPERATORS["isclose"] = isclose
