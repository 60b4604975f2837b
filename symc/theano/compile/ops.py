"""`theano.compile.ops`: copies, views, shapes, and Python functions as ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.tensor.shaping import Rebroadcast as Rebroadcast
from symc.theano.tensor.shaping import Shape as Shape
from symc.theano.tensor.shaping import Shape_i as Shape_i
from symc.theano.tensor.shaping import SpecifyShape as SpecifyShape
from symc.theano.tensor.shaping import shape as shape
from symc.theano.tensor.shaping import shape_i as shape_i
from symc.theano.tensor.shaping import specify_shape as specify_shape


class ViewOp(Op):
    """The value as it is."""

    step_follows_meaning = True

    view_map = {0: [0]}  # noqa: RUF012 -- Theano's
    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return list(inputs)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del inputs, outputs
        return list(output_grads)


class OutputGuard(ViewOp):
    """The value as it is, where it is returned."""


class DeepCopyOp(Op):
    """A copy of the value."""

    step_follows_meaning = True

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return list(inputs)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del inputs, outputs
        return list(output_grads)


view_op, deep_copy_op = ViewOp(), DeepCopyOp()


class FromFunctionOp(Op):
    """A Python function of arrays as an op."""

    def __init__(
        self, fn: Callable[..., Any], itypes: Sequence[Any], otypes: Sequence[Any],
        infer_shape: Any,
    ) -> None:  # fmt: skip
        self.__fn, self.itypes, self.otypes = fn, list(itypes), list(otypes)
        self.__infer_shape = infer_shape
        if infer_shape is not None:
            self.infer_shape = infer_shape
        self.fn = fn

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.fn is other.fn

    def __hash__(self) -> int:
        return hash((type(self), self.fn))

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self.fn.__name__}}}"

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        found = self.fn(*inputs)
        values = found if isinstance(found, list | tuple) else [found]
        assert len(values) == len(output_storage)
        for cell, value in zip(output_storage, values, strict=True):
            cell[0] = value

    def __reduce__(self) -> Any:
        return as_op(self.itypes, self.otypes, self.__infer_shape), (self.fn,)


def as_op(itypes: Any, otypes: Any, infer_shape: Any = None) -> Callable[[Any], FromFunctionOp]:
    """A decorator that makes an op of a function of arrays, for inputs and outputs of types."""
    ins = list(itypes) if isinstance(itypes, list | tuple) else [itypes]
    outs = list(otypes) if isinstance(otypes, list | tuple) else [otypes]
    from symc.theano.gof.type import Type

    if not all(isinstance(each, Type) for each in ins):
        raise TypeError("itypes has to be a list of Theano types")
    if not all(isinstance(each, Type) for each in outs):
        raise TypeError("otypes has to be a list of Theano types")
    if infer_shape is not None and not callable(infer_shape):
        raise TypeError("infer_shape needs to be a callable")

    def make_op(fn: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(fn, ins, outs, infer_shape)

    return make_op


def register_view_op_c_code(*_: Any, **__: Any) -> None:
    """Keeps no C code: symc's types need none."""


register_deep_copy_op_c_code = register_shape_c_code = register_view_op_c_code
register_shape_i_c_code = register_specify_shape_c_code = register_view_op_c_code
register_rebroadcast_c_code = register_view_op_c_code


def load_back(mod: str, name: str) -> Any:
    """The object of a name in a module, for pickles."""
    import importlib

    return getattr(importlib.import_module(mod), name)
