"""`theano.tensor.inplace`: elementwise ops whose result may take the place of an operand.

symc's compiler finds out itself which memory it can use again, so these compute as the others do.
"""

from __future__ import annotations

from symc.theano.scalar.basic import SCALAR_OPS
from symc.theano.tensor.elemwise import DimShuffle as DimShuffle
from symc.theano.tensor.elemwise import Elemwise


def _inplace(name: str, place: int = 0, called: str | None = None) -> Elemwise:
    return Elemwise(SCALAR_OPS[name], {0: place}, name=f"{called or name}_inplace")


_PLACES = {"switch": 1, "second": 1}
for _name in SCALAR_OPS:
    if _name not in ("complex",):
        globals()[f"{_name}_inplace"] = _inplace(_name, _PLACES.get(_name, 0))

fill_inplace = _inplace("second", 1, "fill")
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
