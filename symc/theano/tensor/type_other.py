"""Types of what stands in indexes besides tensors: None and slices."""

from __future__ import annotations

from typing import Any

from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.gof.type import Generic, Type
from symc.theano.tensor.convert import as_tensor_variable

__all__ = [
    "MakeSlice", "NoneConst", "NoneTypeT", "SliceConstant", "SliceType", "as_int_none_variable",
    "make_slice", "none_type_t", "slicetype",
]  # fmt: skip


def as_int_none_variable(x: Any) -> Any:
    """An integer as a variable, and None as `NoneConst`."""
    if x is None or (isinstance(x, Variable) and isinstance(x.type, NoneTypeT)):
        return NoneConst
    variable = as_tensor_variable(x, ndim=0)
    if variable.type.dtype.startswith(("int", "uint")):
        return variable
    raise TypeError("index must be integers")


class SliceType(Type):
    """Python's slices."""

    __props__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, slice):
            return data
        raise TypeError("Expected a slice!")

    def __str__(self) -> str:
        return "slice"


class NoneTypeT(Generic):
    """None."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if data is None:
            return data
        raise TypeError("Expected None!")

    def __str__(self) -> str:
        return "None"


class SliceConstant(Constant):
    """A slice that is known."""

    def __init__(self, type: Type, data: slice, name: str | None = None) -> None:
        bounds = [_number(each) for each in (data.start, data.stop, data.step)]
        super().__init__(type, slice(*bounds), name)

    def signature(self) -> Any:
        return (SliceConstant, self.data.start, self.data.stop, self.data.step)


def _number(bound: Any) -> Any:
    return None if bound is None else int(getattr(bound, "data", bound))


SliceType.Constant = SliceConstant
slicetype, none_type_t = SliceType(), NoneTypeT()
NoneConst = Constant(none_type_t, None, name="NoneConst")


class MakeSlice(Op):
    """A slice of its three bounds."""

    __props__ = ()

    def make_node(self, slc: Any, stop: Any = None, step: Any = None) -> Apply:
        bounds = (slc.start, slc.stop, slc.step) if isinstance(slc, slice) else (slc, stop, step)
        return Apply(self, [as_int_none_variable(each) for each in bounds], [slicetype()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        output_storage[0][0] = slice(*inputs)

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        from symc.theano.gof.null_type import DisconnectedType

        del output_grads
        return [DisconnectedType()() for _ in inputs]


make_slice = MakeSlice()
