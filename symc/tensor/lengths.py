"""Lengths as tensors and tensors as lengths: so shapes may hold symbolic numbers.

A `Dim` describes a length inside types; a 0-d int64 tensor computes it inside the graph. `dim_of`
and `tensor_of` go back and forth, and `tensor_of(dim_of(t))` is the canonical tensor for a length:
it depends on the inputs whose axes it names, never on values computed from them.

Ops with symbolic parameters hold a template, ints with `HOLE` where a scalar tensor argument goes:
``Reshape((HOLE, 3))(x, n)``. Types follow from the arguments, so substitution needs no extra care.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np

from symc.codegen.dtypes import INT32, INT64, UINT64
from symc.codegen.record import record
from symc.errors import BadIndex, DTypeError, NotBatchable, RankError, TooLarge
from symc.graph import dims
from symc.graph.dims import Atom, Dim, Poly, Size, mul, symbolic
from symc.graph.formulas import Formula
from symc.graph.inputs import as_tensor, constant_value, scalar_constant
from symc.graph.lowering import At, SizeOf
from symc.graph.node import OPERATORS, PROPERTIES, Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import Cast, Elementwise, cast_to

__all__ = ["shape_of"]

HOLE: Final = None
Template: TypeAlias = tuple[int | None, ...]
Lengths: TypeAlias = "Sequence[int | Tensor] | int | Tensor"
_N = TypeVar("_N")


@record
class Length(Op):
    """How long an axis of the argument is, as a 0-d int64."""

    axis: int

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, ())

    def evaluate(self, *args: Array) -> Array:
        return np.asarray(args[0].shape[self.axis], dtype=np.int64)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        from symc.tensor.views import broadcast_to

        return broadcast_to(length(args[0], self.axis + 1), (length(args[0], 0),))

    def expand(self, node: Tensor) -> Tensor | None:
        canonical = tensor_of(self.dim(node))
        return None if canonical is node else canonical

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(Formula((), size(self.dim(node))))

    def value_lengths(self, args: Sequence[Tensor]) -> Iterable[Dim]:
        return (args[0].type.shape[self.axis],)

    def dim(self, node: Tensor) -> Dim:
        """The same length as types have it."""
        return node.args[0].type.shape[self.axis]


@record
class Derived(Op):
    """A length that is computed from others, as the argument says, and may need over 64 bits.

    Its value is exact, as lengths in types are: a call where it does not fit ends with `TooLarge`,
    also where the array that is so long is never computed.
    """

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, ())

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return args[0]

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(Formula((), size(dim_of(node))))

    def value_lengths(self, args: Sequence[Tensor]) -> Iterable[Dim]:
        return (dim_of(args[0]),)


# --- between lengths and tensors ------------------------------------------------------------------

_ARITHMETIC = {
    "add": dims.add,
    "sub": dims.sub,
    "mul": dims.mul,
    "floordiv": dims.floordiv,
    "minimum": dims.minimum,
    "maximum": dims.maximum,
}


def dim_of(node: Tensor) -> Dim:
    """An integer scalar tensor as a length: arithmetic on lengths is seen through.

    Anything else becomes "the value of the tensor", a `Size` without axis.
    """
    node = _canonical_cast(node)
    known: dict[Tensor, Dim] = {}
    for part in walk([node], stop=lambda part: not _transparent(part)):
        known[part] = _dim_of_part(part, known)
    return known[node]


def _canonical_cast(node: Tensor) -> Tensor:
    if node.ndim or not node.dtype.is_integer:
        raise DTypeError(
            f"a length must be an integer scalar, not {node.type}\n  given  {describe(node)}"
        )
    return cast_to(node, INT64)


def _transparent(node: Tensor) -> bool:
    match node.op:
        case Cast():
            # A length that an int32 cannot hold would not fit into memory either.
            source = node.args[0].dtype
            return node.dtype in (INT32, INT64) and source.is_integer and source is not UINT64
        case Derived():
            return True
        case Elementwise():
            return (
                node.dtype is INT64
                and node.op.name in (*_ARITHMETIC, "neg", "sqr")
                and all(arg.ndim == 0 for arg in node.args)
            )
        case _:
            return False


def _dim_of_part(node: Tensor, known: dict[Tensor, Dim]) -> Dim:
    match node.op:
        case Derived():
            return known[node.args[0]]
        case Cast() if _transparent(node):
            return known[node.args[0]]
        case Elementwise(name="neg") if _transparent(node):
            return mul(known[node.args[0]], -1)
        case Elementwise(name="sqr") if _transparent(node):  # as rewriting writes n*n
            return mul(known[node.args[0]], known[node.args[0]])
        case Elementwise() if _transparent(node):
            return _ARITHMETIC[node.op.name](known[node.args[0]], known[node.args[1]])
        case Length():
            return node.op.dim(node)
        case _:
            value = constant_value(node)
            if value is not None:
                return int(value)
            return symbolic(Size(cast_to(node, INT64), None))


def tensor_of(dim: Dim) -> Tensor:
    """The 0-d int64 tensor that computes a length: a constant where it is known."""
    if isinstance(dim, int):
        if not dims.fits(dim):
            raise TooLarge(f"a length would be computed from {dim}, which 64 bits cannot hold")
        return scalar_constant(dim, INT64)
    total: Tensor | None = None
    for monomial, factor in dim.terms:
        term: Tensor | None = None
        for atom in monomial:
            value = _atom_tensor(atom)
            term = value if term is None else OPERATORS["mul"](term, value)
        # Sums start with a symbolic term, so that `n - 1` is not `-1 + n`.
        if term is None:
            term = tensor_of(factor)
        elif factor != 1:
            term = OPERATORS["mul"](term, tensor_of(factor))
        total = term if total is None else OPERATORS["add"](total, term)
    assert total is not None
    return total


def _atom_tensor(atom: Atom) -> Tensor:
    if isinstance(atom, Size):
        source = cast("Tensor", atom.source)
        return source if atom.axis is None else Length(atom.axis)(source)
    name = {"floordiv": "floordiv", "min": "minimum", "max": "maximum"}[atom.kind]
    return OPERATORS[name](tensor_of(atom.left), tensor_of(atom.right))


def length(x: Tensor, axis: int) -> Tensor:
    """The length of an axis as a 0-d int64 tensor, computed without computing `x`."""
    return tensor_of(x.type.shape[axis])


def as_dim(value: Any) -> Dim:
    """A length given by a user: an integer, or an integer scalar tensor. A `Dim` stays as it is.

    Raises `DTypeError` for anything else.
    """
    if isinstance(value, int | Poly) and not isinstance(value, bool):
        return value
    if isinstance(value, np.integer):
        return int(cast("np.int64", value))
    if isinstance(value, Tensor):
        return dim_of(value)
    if isinstance(value, np.ndarray):
        return dim_of(as_tensor(cast("Array", value)))
    raise DTypeError(f"a length must be an integer or an integer scalar tensor, not {value!r}")


def as_dims(lengths: Any) -> tuple[Dim, ...]:
    """A shape given by a user: one length, a sequence of them, or an integer vector.

    A vector tensor must have a length that is known now, as it decides the rank of the result.
    """
    known = constant_value(lengths) if isinstance(lengths, Tensor) else None
    if known is not None:
        lengths = known
    if isinstance(lengths, Tensor) and lengths.ndim == 1:
        if not isinstance(lengths.type.shape[0], int):
            raise RankError(
                "the number of axes must be known now, but this shape is a vector of unknown "
                f"length\n  shape  {describe(lengths)}\n"
                "  give a tuple of lengths, or declare the vector's own length: shape=(2,)"
            )
        lengths = tuple(lengths)
    if isinstance(lengths, np.ndarray) and cast("Array", lengths).dtype.kind in "iu":
        lengths = cast("Array", lengths).tolist()
    if isinstance(lengths, list | tuple):
        return tuple(as_dim(each) for each in cast("Sequence[Any]", lengths))
    return (as_dim(lengths),)


def public(dim: Dim) -> int | Tensor:
    """A length as users see it: an int, or a 0-d int64 tensor, whose value does not wrap."""
    if isinstance(dim, int):
        return dim
    made = tensor_of(dim)
    return made if dims.fits_always(dim) else Derived()(made)


def shape_of(x: TensorLike) -> tuple[int | Tensor, ...]:
    """The lengths of all axes: ints where they are known now, 0-d int64 tensors elsewhere.

    >>> import symc.tensor as T
    >>> T.tensor("float64", (None, 3), name="x").shape
    (<x.shape[0] int64[]>, 3)
    """
    return tuple(map(public, as_tensor(x).type.shape))


def _size(x: Tensor) -> int | Tensor:
    """How many elements there are: an int, or a 0-d int64 tensor."""
    return public(dims.product(x.type.shape))


PROPERTIES["shape"] = shape_of
PROPERTIES["size"] = _size

# --- templates ------------------------------------------------------------------------------------


def split_template(values: Sequence[Dim]) -> tuple[Template, tuple[Tensor, ...]]:
    """The ints of some lengths with `HOLE` elsewhere, and the tensors that go into the holes."""
    template = tuple(value if isinstance(value, int) else HOLE for value in values)
    return template, tuple(tensor_of(value) for value in values if not isinstance(value, int))


def fill(template: Template, values: Sequence[_N]) -> tuple[int | _N, ...]:
    """The template with its holes filled in order."""
    rest = iter(values)
    return tuple(next(rest) if entry is None else entry for entry in template)


def fill_dims(template: Template, args: Sequence[Tensor]) -> tuple[Dim, ...]:
    """The lengths a template stands for in types, given the tensors for its holes."""
    return fill(template, [dim_of(arg) for arg in args])


def fill_values(template: Template, args: Sequence[Array]) -> tuple[int, ...]:
    """The lengths a template stands for when it is evaluated."""
    return fill(template, [int(arg) for arg in args])


def unbatched(label: str, batched: Sequence[bool]) -> None:
    """Raises `NotBatchable` if an argument that decides lengths differs within the batch."""
    if any(batched):
        raise lengths_differ(label)


def lengths_differ(label: str) -> NotBatchable:
    """The error for an op whose results would not be of one shape for all of a batch."""
    return NotBatchable(f"{label}: its lengths would differ from one batch element to another")


# --- axes -----------------------------------------------------------------------------------------


def normal_axis(label: str, axis: Any, ndim: int, x: Tensor | None = None) -> int:
    """The axis as a number from 0. Raises `BadIndex` when there is no such axis."""
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        raise TypeError(f"{label}: an axis must be an integer, not {axis!r}")
    number = int(cast("int", axis))
    if not -ndim <= number < ndim:
        at = f"\n  given  {describe(x)}" if x is not None else ""
        raise BadIndex(f"{label}: there is no axis {axis}; there are {ndim} axes{at}")
    return number % ndim


def normal_axes(label: str, axes: Any, ndim: int, x: Tensor | None = None) -> tuple[int, ...]:
    """One axis or several, each as a number from 0, in the order given; no axis twice."""
    given = cast("Sequence[Any]", axes) if isinstance(axes, list | tuple) else (axes,)
    normal = tuple(normal_axis(label, axis, ndim, x) for axis in given)
    if len(set(normal)) < len(normal):
        raise ValueError(f"{label}: an axis is repeated in {axes!r}")
    return normal


def index_of(x: Tensor) -> Tensor:
    """Integers as indexes, in int64; those that it lacks are its greatest, which no axis has.

    Converted they would be negative, and count from the end.
    """
    if x.dtype is UINT64:
        x = OPERATORS["minimum"](x, 2**63 - 1)
    return cast_to(x, INT64)
