"""Complex numbers: their parts, and functions of these.

Arithmetic and elementary functions of complex numbers are those of `math.py`; functions that need
an order (`maximum`, `lt`, `floor` ...) raise `DTypeError`, where NumPy compares lexicographically.

Gradients: of a real cost C, `grad` with respect to complex z is ``dC/dre(z) + 1j * dC/dim(z)``, the
direction of steepest ascent, as in Theano and PyTorch; ``z - rate * grad`` is a descent step. (JAX
gives the conjugate.) A cost must be real: take `abs`, `real` or `imag` of a complex one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, FLOAT64
from symc.codegen.record import record
from symc.errors import DTypeError
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.inputs import as_tensor
from symc.graph.lowering import At, SizeOf
from symc.graph.node import (
    METHODS,
    OPERATORS,
    PROPERTIES,
    Array,
    Op,
    Requirement,
    Tensor,
    TensorLike,
)
from symc.graph.types import TensorType, complex_for
from symc.tensor.broadcast import align_batch, broadcast_requirements, broadcast_shape
from symc.tensor.elementwise import (
    cast_to,
    common,
    elementwise,
    masked,
    peel,
    project,
    sum_to,
)
from symc.tensor.math import as_float, where_zero

__all__ = ["angle", "complex", "conj", "conjugate", "imag", "real"]
_ALSO_ENTERED = ["direction", "magnitude"]

PartName = Literal["real", "imag", "abs", "angle"]
_NUMPY: dict[PartName, Callable[[Array], Any]] = {
    "real": np.real, "imag": np.imag, "abs": np.abs, "angle": np.angle,
}  # fmt: skip


@record
class ComplexPart(Op):
    """A real number that says something of a complex one, elementwise."""

    part: PartName

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(args[0].type.dtype.component, args[0].type.shape)

    def evaluate(self, *args: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.array(_NUMPY[self.part](args[0]))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        z = node.args[0]
        mask, inner = peel(bar)
        return [masked(mask, self._pulled(node, inner, z))]

    def _pulled(self, node: Tensor, bar: Tensor, z: Tensor) -> Tensor:
        match self.part:
            case "real":
                return cast_to(bar, z.dtype)
            case "imag":
                return complex(0, bar)
            case "abs":
                return bar * where_zero(node, 0, z / node)
            case "angle":  # it grows along i z, by one over the distance from 0
                size: Tensor = OPERATORS["abs"](z)
                return complex(0, bar) * where_zero(size, 0, z / size / size)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        dtype = node.type.dtype
        return At(formula(node, lambda read, i: ir.Call(self.part, (read(0, i),), dtype)))

    @property
    def label(self) -> str:
        return self.part


@record
class Join(Op):
    """Complex numbers with these real and imaginary parts, which broadcast."""

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(complex_for(args[0].type.dtype), broadcast_shape(self.label, args))

    def evaluate(self, *args: Array) -> Array:
        re, im = np.broadcast_arrays(*args)
        result = np.empty(re.shape, np.result_type(re, np.complex64))
        result.real, result.imag = re, im
        return result

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        mask, inner = peel(bar)
        parts = (real(inner), imag(inner))
        return [sum_to(masked(mask, part), arg) for part, arg in zip(parts, node.args, strict=True)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*align_batch(args, batched))

    def lower(self, node: Tensor, size: SizeOf) -> At:
        def element(read: ReadElement, index: Index) -> ir.Expr:
            re = read(0, project(index, node.args[0].type.shape))
            im = read(1, project(index, node.args[1].type.shape))
            return ir.Call("complex", (re, im), node.type.dtype)

        return At(formula(node, element))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        return broadcast_requirements(self.label, node.args, node.type.shape)

    @property
    def label(self) -> str:
        return "complex"


_conj = elementwise(
    "conj", np.conjugate, lambda z: ir.Call("conj", (z,), z.dtype) if z.dtype.is_complex else z,
    "The conjugate.",
    lambda g, z, y: conj(g), domain="same", of_complex=True,
)  # fmt: skip


def complex(re: TensorLike, im: TensorLike) -> Tensor:
    """The complex numbers ``re + 1j * im``: complex64 for float32 and float16, else complex128.

    Elementwise, with broadcasting. Raises `DTypeError` when a part is complex itself.

    >>> import symc.tensor as T
    >>> T.complex(T.constant([1.0, 2.0]), 3.0).eval()
    array([1.+3.j, 2.+3.j])
    """
    re, im = common((re, im), "float", "complex")
    if re.dtype.is_complex:
        raise DTypeError("complex: the real and imaginary parts must be real numbers")
    dtype = complex_for(re.dtype).component
    return Join()(cast_to(re, dtype), cast_to(im, dtype))


def real(x: TensorLike) -> Tensor:
    """The real part; a real `x` itself. Also ``x.real``.

    Elementwise: complex128 gives float64.

    >>> import symc.tensor as T
    >>> T.real([1 + 2j, 3j]).eval()
    array([1., 0.])
    """
    x = as_tensor(x)
    return ComplexPart("real")(x) if x.dtype.is_complex else x


def imag(x: TensorLike) -> Tensor:
    """The imaginary part; zeros for a real `x`. Also ``x.imag``.

    Elementwise: complex128 gives float64.

    >>> import symc.tensor as T
    >>> T.imag([1 + 2j, 3j]).eval()
    array([2., 3.])
    """
    from symc.tensor.build import zeros_like

    x = as_tensor(x)
    return ComplexPart("imag")(x) if x.dtype.is_complex else zeros_like(x)


def conj(x: TensorLike) -> Tensor:
    """The complex conjugate; a real `x` itself. Also ``x.conj()``.

    Elementwise, in the dtype of `x`; bool becomes int8, as for NumPy.

    >>> import symc, symc.tensor as T
    >>> z = T.zvector("z")
    >>> symc.grad((z * z.conj()).real.sum(), z).eval({z: [1 + 2j]})
    array([2.+4.j])
    """
    x = as_tensor(x)
    if x.dtype is BOOL:
        return cast_to(x, "int8")
    return _conj(x) if x.dtype.is_complex else x


def angle(x: TensorLike, deg: bool = False) -> Tensor:
    """The argument of complex numbers in [-pi, pi], in degrees if `deg`. Its gradient at 0 is 0.

    Real numbers have the argument 0 or, where they are negative, pi.

    Elementwise; a float of the width of the parts.

    >>> import symc.tensor as T
    >>> T.angle([1j, -1.0]).eval(), T.angle(1 + 1j, deg=True).eval()
    (array([1.57079633, 3.14159265]), array(45.))
    """
    x = as_tensor(x)
    x = cast_to(x, FLOAT64) if x.dtype is BOOL else as_float(x)
    found = ComplexPart("angle")(x) if x.dtype.is_complex else OPERATORS["arctan2"](imag(x), x)
    return found * (180 / np.pi) if deg else found


def _magnitude(x: Tensor) -> Tensor:
    return ComplexPart("abs")(x)


def _direction(z: Tensor) -> Tensor:
    """``z / abs(z)``, and 0 for 0; along the axis of a part that is infinite, NaN if both are.

    The absolute value of what is huge or tiny is none, and the number is first scaled by a power
    of two, which changes no digit of the result.
    """
    from symc.tensor.logic import where

    dtype = z.dtype.component
    highest, lowest, up = _SCALES[dtype.name]
    parts = [real(z), imag(z)]
    sizes = [OPERATORS["abs"](part) for part in parts]
    endless = [OPERATORS["eq"](size, np.inf) for size in sizes]
    one, other = endless
    ends = [where(each, OPERATORS["copysign"](1, part), 0)
            for each, part in zip(endless, parts, strict=True)]  # fmt: skip
    largest = where(sizes[0] > sizes[1], *sizes)
    scale = cast_to(where(largest > highest, 1 / up, where(largest < lowest, up, 1.0)), dtype)
    scaled = [part * scale for part in parts]
    size = _magnitude(complex(*scaled))
    found = [
        where(one | other, where(one & other, np.nan, end), where_zero(size, 0, part / size))
        for end, part in zip(ends, scaled, strict=True)
    ]
    return complex(*(cast_to(part, dtype) for part in found))


_SCALES = {"float32": (2.0**120, 2.0**-100, 2.0**60), "float64": (2.0**1000, 2.0**-960, 2.0**120)}

conjugate = conj
OPERATORS["direction"] = _direction
OPERATORS["conj"], OPERATORS["real"], OPERATORS["magnitude"] = conj, real, _magnitude
METHODS["conj"] = METHODS["conjugate"] = conj
PROPERTIES["real"], PROPERTIES["imag"] = real, imag
