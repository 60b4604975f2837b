"""`theano.tensor.inplace`: elementwise ops whose result takes the place of the first operand.

It has that one's dtype. symc's compiler finds out itself which memory it can use again; what a call
leaves in arguments is told in `symc.theano.compile.overwriting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symc.theano.scalar.basic import SCALAR_OPS
from symc.theano.scalar.preferences import transfer_type
from symc.theano.tensor.elemwise import DimShuffle as DimShuffle
from symc.theano.tensor.elemwise import Elemwise

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


def _inplace(name: str, called: str | None = None) -> Elemwise:
    scalar_op = type(SCALAR_OPS[name])(transfer_type(0), name)
    return Elemwise(scalar_op, {0: 0}, name=f"{called or name}_inplace")


for _name in SCALAR_OPS:
    if _name not in ("complex", "switch"):
        globals()[f"{_name}_inplace"] = _inplace(_name)

fill_inplace = _inplace("second", called="fill")
xor_inplace = _inplace("xor")
bitwise_and_inplace = _inplace("and_", called="bitwise_and")
bitwise_or_inplace = _inplace("or_", called="bitwise_or")
bitwise_xor_inplace = _inplace("xor", called="bitwise_xor")
bitwise_not_inplace = _inplace("invert", called="bitwise_not")
tensor_copy_inplace = _inplace("identity", called="tensor_copy")


def transpose_inplace(x: object) -> object:
    """The transpose."""
    from symc.theano.tensor.shaping import transpose

    return transpose(x)
