"""Polynomials, as vectors of coefficients of which that of the highest power comes first."""

from __future__ import annotations

from typing import Any, cast

from symc.codegen.dtypes import FLOAT64, INT64
from symc.errors import RankError
from symc.graph import dims
from symc.graph.bfloat16 import finfo
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.graph.types import promote
from symc.tensor.along import flip
from symc.tensor.broadcast import describe
from symc.tensor.build import arange, zeros
from symc.tensor.elementwise import cast_to, common
from symc.tensor.lengths import as_dim, public, tensor_of
from symc.tensor.logic import eq, where
from symc.tensor.math import as_float, maximum
from symc.tensor.reduce import sum as total
from symc.tensor.shape import atleast_1d, concatenate
from symc.tensor.signals import convolve
from symc.tensor.sweep import cumprod
from symc.tensor.views import broadcast_to, expand_dims

__all__ = [
    "polyadd", "polyder", "polyfit", "polyint", "polymul", "polysub", "polyval", "vander",
]  # fmt: skip

_UNROLLED = 32
"""Horner's scheme for so many coefficients is written out, inside the loop that needs it."""
_AT_ONCE = 4
"""So many are taken in a step where there are more, or their number is not known."""


def polyval(p: TensorLike, x: TensorLike) -> Tensor:
    """The polynomial with the coefficients `p` at each element of `x`, by Horner's scheme.

    >>> import symc.tensor as T
    >>> T.polyval([3.0, 0.0, 1.0], [0.0, 2.0]).eval()
    array([ 1., 13.])
    """
    coefficients, at = common((_coefficients("polyval", p), as_tensor(x)), "same", "polyval")
    n = coefficients.type.shape[0]
    if isinstance(n, int) and n <= _UNROLLED:
        result = broadcast_to(coefficients[0] if n else zeros((), at.dtype), at.type.shape)
        for k in range(1, n):
            result = result * at + coefficients[k]
        return result
    return _in_steps(coefficients, at)


def _in_steps(coefficients: Tensor, at: Tensor) -> Tensor:
    """Horner's scheme in a loop, whose steps take `_AT_ONCE` coefficients.

    A step goes along all of `at`. Nothing is stored for each coefficient; gradients store `at` once
    for each step.
    """
    from symc.loops.repeat import fori_loop

    n = tensor_of(coefficients.type.shape[0])
    steps = maximum(n - 1, 0) // _AT_ONCE
    over = n - _AT_ONCE * steps
    # Those that are over come before the steps, after zeros: all of them, where there are no steps.
    padded = concatenate([zeros((_AT_ONCE,), at.dtype), coefficients])
    value = broadcast_to(zeros((), at.dtype), at.type.shape)
    for k in range(_AT_ONCE):
        own = padded[over + k]
        value = where(OPERATORS["le"](k + over, _AT_ONCE), own, value * at + own)

    def step(number: Tensor, value: Tensor) -> Tensor:
        for k in range(_AT_ONCE):
            value = value * at + coefficients[over + _AT_ONCE * number + k]
        return value

    return cast("Tensor", fori_loop(0, steps, step, value))


def _coefficients(label: str, p: TensorLike) -> Tensor:
    made = atleast_1d(p)
    if made.ndim != 1:
        raise RankError(f"{label}: coefficients must be a vector\n  given  {describe(made)}")
    return made


def polyadd(a1: TensorLike, a2: TensorLike) -> Tensor:
    """The sum of two polynomials, vectors of coefficients with the highest power first.

    The result is as long as the longer one.

    >>> import symc.tensor as T
    >>> T.polyadd([1, 2], [9, 5, 4]).eval()
    array([9, 6, 6])
    """
    first, second = _aligned("polyadd", a1, a2)
    return first + second


def polysub(a1: TensorLike, a2: TensorLike) -> Tensor:
    """The difference of two polynomials, vectors of coefficients with the highest power first.

    The result is as long as the longer one.

    >>> import symc.tensor as T
    >>> T.polysub([2, 10, -2], [3, 10, -4]).eval()
    array([-1,  0,  2])
    """
    first, second = _aligned("polysub", a1, a2)
    return first - second


def _aligned(label: str, a1: TensorLike, a2: TensorLike) -> list[Tensor]:
    """Both with as many coefficients as the longer one has."""
    made = common((_coefficients(label, a1), _coefficients(label, a2)), "same", label)
    n = dims.maximum(*(p.type.shape[0] for p in made))
    missing = [dims.sub(n, p.type.shape[0]) for p in made]
    return [
        p if more == 0 else concatenate([zeros((public(more),), p.dtype), p])
        for p, more in zip(made, missing, strict=True)
    ]


def polymul(a1: TensorLike, a2: TensorLike) -> Tensor:
    """The product of two polynomials, vectors of coefficients with the highest power first.

    >>> import symc.tensor as T
    >>> T.polymul([1, 2], [1, -2]).eval()
    array([ 1,  0, -4])
    """
    return convolve(_coefficients("polymul", a1), _coefficients("polymul", a2))


def polyder(p: TensorLike, m: int = 1) -> Tensor:
    """The derivative of a polynomial, `m` times.

    Both are vectors of coefficients with the highest power first.

    >>> import symc.tensor as T
    >>> T.polyder([1, 1, 1, 1]).eval()
    array([3, 2, 1])
    """
    if m < 0:
        raise ValueError(f"polyder: m={m} is negative; see polyint")
    result = _coefficients("polyder", p)
    for _ in range(m):
        result = result[:-1] * flip(arange(1, public(result.type.shape[0])))
    return result


def polyint(p: TensorLike, m: int = 1, k: TensorLike | None = None) -> Tensor:
    """The antiderivative of a polynomial, `m` times.

    `k` has the constants of integration, 0 unless given: one for all, or a vector of m.

    >>> import symc.tensor as T
    >>> T.polyint([3.0, 2.0, 1.0], k=5.0).eval()
    array([1., 1., 1., 5.])
    """
    if m < 0:
        raise ValueError(f"polyint: m={m} is negative; see polyder")
    result = _coefficients("polyint", p)
    constants = broadcast_to(atleast_1d(0.0 if k is None else k), (m,))
    for number in range(m):
        powers = flip(arange(1, public(dims.add(result.type.shape[0], 1))))
        result = concatenate([result / powers, constants[number : number + 1]])
    return result


def vander(x: TensorLike, N: Any = None, increasing: bool = False) -> Tensor:  # noqa: N803 -- as NumPy has it
    """The powers of each element of a vector in a row: N of them (as many as elements), 1 the last.

    With `increasing`, 1 is the first.

    >>> import symc.tensor as T
    >>> T.vander([1, 2, 3], 3).eval()
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    x = as_tensor(x)
    if x.ndim != 1:
        raise RankError(f"vander: a vector is needed\n  given  {describe(x)}")
    x = cast_to(x, promote(x.dtype, INT64))
    powers = _powers(expand_dims(x, 1), x.type.shape[0] if N is None else as_dim(N))
    return powers if increasing else flip(powers, 1)


def _powers(column: Tensor, count: dims.Dim) -> Tensor:
    """The powers 0, 1, 2 ... along the last axis, whose length is 1, in the dtype of products."""
    return cumprod(where(eq(arange(public(count)), 0), 1, column), axis=column.ndim - 1)


def polyfit(
    x: TensorLike, y: TensorLike, deg: int, rcond: float | None = None, *,
    w: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The coefficients of the polynomial of degree `deg` that is nearest to the points (x, y).

    It has the least sum of squared distances, each times the weight `w`, in the direction of y.
    With two axes, each column of `y` has its own polynomial. Singular values of the problem below
    `rcond` times the largest one count as 0 (by default the number of points times the dtype's
    precision).

    >>> import symc.tensor as T
    >>> T.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).eval().round(12)
    array([2., 1.])
    """
    from symc.tensor.linalg.singular import lstsq  # late: only this is linear algebra

    at, wanted = as_float(as_tensor(x)), as_float(as_tensor(y))
    if deg < 0:
        raise ValueError(f"polyfit: the degree must not be negative, and it is {deg}")
    if at.ndim != 1 or wanted.ndim not in (1, 2):
        raise RankError(
            "polyfit: x must be a vector and y a vector or a matrix\n"
            f"  x  {describe(at)}\n  y  {describe(wanted)}"
        )
    at, wanted = common((at, wanted), "same", "polyfit")
    rows = vander(at, deg + 1)
    if w is not None:
        weights = expand_dims(cast_to(w, at.dtype), 1)
        rows = rows * weights
        wanted = wanted * (weights if wanted.ndim == 2 else weights[:, 0])
    if rcond is None:
        precision = float(finfo(at.dtype).eps)
        cutoff: Any = cast_to(tensor_of(at.type.shape[0]), FLOAT64) * precision
    else:
        cutoff = rcond
    size = OPERATORS["sqrt"](total(OPERATORS["sqr"](rows), axis=0))
    size = where(eq(size, 0), 1, size)
    found = lstsq(rows / size, wanted, rcond=cutoff)[0]
    return found / (expand_dims(size, 1) if wanted.ndim == 2 else size)
