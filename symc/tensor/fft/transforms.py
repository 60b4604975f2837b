"""The three transforms along one axis that all others are made of.

`power` says by what results are divided: 0 by nothing, 1 by the root of the transform's length n, 2
by n. Each is linear over the real numbers, and its gradient is its adjoint: of a complex transform
the inverse one, of a real one the opposite with weights, as all frequencies but the lowest (and for
an even length the highest) stand for two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import FLOAT32
from symc.codegen.record import record
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType, complex_for, to_numpy
from symc.tensor.broadcast import describe
from symc.tensor.build import arange
from symc.tensor.lengths import dim_of, tensor_of
from symc.tensor.views import dimshuffle

_Norm = Literal["backward", "ortho", "forward"]
_UP: tuple[_Norm, ...] = ("backward", "ortho", "forward")  # NumPy's, of transforms, by the power
_DOWN: tuple[_Norm, ...] = ("forward", "ortho", "backward")  # and of inverse ones


@record
class Transform(Op):
    """Of complex numbers: the sums of ``x[j] * exp(-2i pi j k / n)``, or ``+`` if `inverse`."""

    axis: int
    inverse: bool = False
    power: int = 0

    def infer(self, *args: Tensor) -> TensorType:
        check_points(args[0], args[0].type.shape[self.axis])
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        x, power = args[0], self.power
        if self.inverse:
            return np.fft.ifft(x, axis=self.axis, norm=_DOWN[power]).astype(x.dtype, copy=False)
        return np.fft.fft(x, axis=self.axis, norm=_UP[power]).astype(x.dtype, copy=False)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [Transform(self.axis, not self.inverse, self.power)(bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return Transform(self.axis + 1, self.inverse, self.power)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        name, lengths = routine("fft_complex", node, self.axis, node.type.shape[self.axis], size)
        kind = (ir.const(int(self.inverse)), ir.const(self.power))
        return LibCall(name, (*kind, *lengths, Argument(0), Argument(-1)))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        return require_points(node.args[0], node.type.shape[self.axis])

    @property
    def label(self) -> str:
        return "ifft" if self.inverse else "fft"


@record
class FromReal(Op):
    """Of real numbers: the first ``n // 2 + 1`` of the complex results."""

    axis: int
    power: int = 0

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        shape = list(x.type.shape)
        check_points(x, shape[self.axis])
        shape[self.axis] = half(shape[self.axis])
        return TensorType(complex_for(x.dtype), tuple(shape))

    def evaluate(self, *args: Array) -> Array:
        wanted = np.result_type(args[0], np.complex64)
        found = np.fft.rfft(args[0], axis=self.axis, norm=_UP[self.power])
        return found.astype(wanted, copy=False)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        n = node.args[0].type.shape[self.axis]
        back = ToReal(self.axis, self.power)
        return [back(bar * weights(n, 0.5, self.axis, bar), tensor_of(n))]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return FromReal(self.axis + 1, self.power)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        n = node.args[0].type.shape[self.axis]
        name, lengths = routine("fft_real", node, self.axis, n, size)
        return LibCall(name, (ir.const(self.power), *lengths, Argument(0), Argument(-1)))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        return require_points(node.args[0], node.args[0].type.shape[self.axis])

    @property
    def label(self) -> str:
        return "rfft"


@record
class ToReal(Op):
    """The real numbers whose frequencies are given: of n results the first ``n // 2 + 1``.

    Imaginary parts of the first frequency, and of the last where n is even, count as 0. The second
    argument is n.
    """

    axis: int
    power: int = 0

    def infer(self, *args: Tensor) -> TensorType:
        x, n = args
        shape = list(x.type.shape)
        shape[self.axis] = dim_of(n)
        check_points(x, shape[self.axis])
        return TensorType(x.dtype.component, tuple(shape))

    def evaluate(self, *args: Array) -> Array:
        x, n = args
        wanted = np.float32 if x.dtype == np.complex64 else np.float64
        found = np.fft.irfft(x, int(n), axis=self.axis, norm=_DOWN[self.power])
        return found.astype(wanted, copy=False)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        spectrum = FromReal(self.axis, self.power)(bar)
        return [spectrum * weights(node.type.shape[self.axis], 2.0, self.axis, spectrum), None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return ToReal(self.axis + 1, self.power)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        name, lengths = routine("fft_to_real", node, self.axis, node.type.shape[self.axis], size)
        return LibCall(name, (ir.const(self.power), *lengths, Argument(0), Argument(-1)))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        return require_points(node.args[0], node.type.shape[self.axis])

    @property
    def label(self) -> str:
        return "irfft"


def half(n: Dim) -> Dim:
    """How many frequencies n real numbers have, one of each pair counted."""
    return dims.add(dims.floordiv(n, 2), 1)


def weights(n: Dim, middle: float, axis: int, like: Tensor) -> Tensor:
    """`middle` for frequencies of n numbers that stand for two, else 1; along an axis of `like`."""
    k = arange(tensor_of(half(n)))
    single: Tensor = OPERATORS["logical_or"](
        OPERATORS["eq"](k, 0), OPERATORS["eq"](k * 2, tensor_of(n))
    )
    one, other = (to_numpy(like.dtype.component).type(value) for value in (1.0, middle))
    values: Tensor = OPERATORS["where"](single, one, other)
    order = [0 if position == axis else None for position in range(like.ndim)]
    return dimshuffle(values, order)


def routine(
    name: str, node: Tensor, axis: int, n: Dim, size: SizeOf
) -> tuple[str, tuple[ir.Expr, ir.Expr, ir.Expr]]:
    """The routine of `fftaxes.h` for the type of the elements, and its three lengths."""
    shape = node.type.shape
    kind = "f32" if node.dtype.component == FLOAT32 else "f64"
    outer, inner = dims.product(shape[:axis]), dims.product(shape[axis + 1 :])
    return f"{name}_{kind}", (size(outer), size(n), size(inner))


def check_points(x: Tensor, n: Dim) -> None:
    """Raises ValueError for a transform that is known to have no length."""
    if isinstance(n, int) and n < 1:
        raise ValueError(no_points(x, n))


def require_points(x: Tensor, n: Dim) -> Iterable[Requirement]:
    """The requirement of a length above 0."""
    if not dims.nonnegative(dims.sub(n, 1)):
        holds: Tensor = OPERATORS["gt"](tensor_of(n), 0)
        yield Requirement(holds, ValueError, lambda value: no_points(x, value(n)))


def no_points(x: Tensor, n: object) -> str:
    """The message for a transform without a length."""
    return f"fft: a transform needs at least one point, not {n}\n  given  {describe(x)}"
