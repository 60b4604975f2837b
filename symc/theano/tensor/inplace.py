"""`theano.tensor.inplace`: elementwise ops whose result may take the place of an operand.

symc's compiler finds out itself which memory it can use again, so these compute as the others do.
"""

from __future__ import annotations

from symc.theano.scalar.basic import SCALAR_OPS
from symc.theano.tensor.elemwise import DimShuffle as DimShuffle
from symc.theano.tensor.elemwise import Elemwise


def _inplace(name: str, place: int = 0) -> Elemwise:
    return Elemwise(SCALAR_OPS[name], {0: place}, name=f"Elemwise{{{name},inplace}}")


_PLACES = {"switch": 1, "second": 1}
_OTHER = {
    "abs_": "abs__inplace", "and_": "and__inplace", "or_": "or__inplace",
}  # fmt: skip
for _name in SCALAR_OPS:
    if _name not in ("complex",):
        globals()[f"{_name}_inplace"] = _inplace(_name, _PLACES.get(_name, 0))

fill_inplace = _inplace("second", 1)
xor_inplace = _inplace("xor")
bitwise_and_inplace, bitwise_or_inplace = _inplace("and_"), _inplace("or_")
bitwise_xor_inplace, bitwise_not_inplace = _inplace("xor"), _inplace("invert")
tensor_copy_inplace = _inplace("identity")


def transpose_inplace(x: object) -> object:
    """The transpose."""
    from symc.theano.tensor.shaping import transpose

    return transpose(x)
