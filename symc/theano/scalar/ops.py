"""Ops on numbers: those of the table, and programs' own ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.gof.utils import MethodNotDefined
from symc.theano.scalar.dtypes import upcast
from symc.theano.scalar.meanings import converted
from symc.theano.scalar.types import Scalar, as_scalar, get_scalar_type

Preference = Callable[..., Sequence[Scalar]]


class ScalarOp(Op):
    """An operation on numbers, which `Elemwise` applies along tensors.

    An op of the table has `means`. A program's own has `impl`, which computes the numbers, and
    says the types of its results with `output_types_preference` or `output_types`.
    """

    nin = -1
    nout = 1
    name: str | None = None
    rule: ClassVar[Any] = None
    means: ClassVar[Any] = None
    operands: ClassVar[str] = "out"
    differentiates_integers = True

    def __init__(
        self, output_types_preference: Preference | None = None, name: str | None = None
    ) -> None:
        self.name = name
        if output_types_preference is not None:
            if not callable(output_types_preference):
                raise TypeError("Expected a callable for the 'output_types_preference' argument")
            self.output_types_preference = output_types_preference

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        if "__props__" in dir(type(self)):
            return super().__eq__(other)
        return self.__dict__.get("output_types_preference") == other.__dict__.get(
            "output_types_preference"
        )

    def __hash__(self) -> int:
        if "__props__" in dir(type(self)):
            return super().__hash__()
        return hash((type(self), self.__dict__.get("output_types_preference")))

    # --- types ------------------------------------------------------------------------------------

    def output_types(self, types: Sequence[Scalar]) -> Sequence[Scalar]:
        """The types of the results."""
        preference = getattr(self, "output_types_preference", None)
        if preference is not None:
            found: Any = preference(*types)
            if not isinstance(found, list | tuple) or any(not isinstance(t, Scalar) for t in found):
                raise TypeError(
                    "output_types_preference should return a list or a tuple of types",
                    preference, found,
                )  # fmt: skip
            if len(found) != self.nout:
                raise TypeError(
                    f"Not the right number of outputs produced for {self}("
                    f"{', '.join(map(str, types))}). Expected {self.nout}, got {len(found)}."
                )
            return found
        if self.rule is None:
            raise NotImplementedError(f"Cannot calculate output_types for {self}")
        return [get_scalar_type(type(self).rule(*(each.dtype for each in types)))]

    def output_dtypes(self, dtypes: Sequence[str]) -> list[str]:
        """The dtypes of the results."""
        return [each.dtype for each in self.output_types([get_scalar_type(d) for d in dtypes])]

    def make_node(self, *inputs: Any) -> Apply:
        if self.nin >= 0 and len(inputs) != self.nin:
            raise TypeError(
                f"Wrong number of inputs for {self}.make_node (got {len(inputs)}({inputs}), "
                f"expected {self.nin})"
            )
        given = [as_scalar(each) for each in inputs]
        types = self.output_types([each.type for each in given])
        return Apply(self, given, [each() for each in types])

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Variable) and not isinstance(x.type, Scalar) for x in inputs):
            # So that the gradient of an own op, written for numbers, can be one of tensors.
            from symc.theano.tensor.elemwise import Elemwise

            return Elemwise(self)(*inputs, **kwargs)
        return super().__call__(*inputs, **kwargs)

    # --- value ------------------------------------------------------------------------------------

    def impl(self, *inputs: Any) -> Any:
        """The result for numbers."""
        if self.means is None:
            raise MethodNotDefined("impl", type(self), type(self).__name__)
        kinds = [get_scalar_type(np.asarray(each).dtype.name) for each in inputs]
        node = self.make_node(*(kind() for kind in kinds))
        storage = [[None] for _ in node.outputs]
        super().perform(node, list(inputs), storage)
        return storage[0][0]

    def computed(self, dtypes: Sequence[str], operands: Sequence[Tensor]) -> list[Tensor]:
        """The results as symc expressions, for an op of the table."""
        means = type(self).means
        if self.operands == "own":
            return [means(*operands)]
        if self.operands == "upcast":
            joined = upcast(*dtypes)
        else:  # not in a dtype that the result is to have by a preference
            joined = type(self).rule(*dtypes) if self.rule else self.output_dtypes(dtypes)[0]
        return [means(*(converted(each, joined) for each in operands))]

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        if self.means is not None:
            return self.computed([each.type.dtype for each in node.inputs], inputs)
        from symc.theano.perform import called_back

        return called_back(self, node)(*inputs)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        if self.means is not None:
            super().perform(node, inputs, output_storage)
            return
        values = self.impl(*inputs)
        for cell, value in zip(output_storage, [values] if self.nout == 1 else values, strict=True):
            cell[0] = value

    @property
    def is_own(self) -> bool:
        """Whether this is no op of the table, but a program's."""
        return self.means is None

    # --- derivatives ------------------------------------------------------------------------------

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Any) -> Any:
        if type(self).grad is Op.grad and not self.is_own:
            from symc.theano.pullback import pulled_back

            return pulled_back(self, inputs, outputs, output_grads)
        return self.grad(inputs, output_grads)

    def __str__(self) -> str:
        return self.name or type(self).__name__


class UnaryScalarOp(ScalarOp):
    """An operation on one number."""

    nin = 1


class BinaryScalarOp(ScalarOp):
    """An operation on two numbers."""

    nin = 2


class LogicalComparison(BinaryScalarOp):
    """A comparison of two numbers."""


class FixedLogicalComparison(UnaryScalarOp):
    """A question about a number."""


class UnaryBitOp(UnaryScalarOp):
    """An operation on the bits of a number."""


class BinaryBitOp(BinaryScalarOp):
    """An operation on the bits of two numbers."""
