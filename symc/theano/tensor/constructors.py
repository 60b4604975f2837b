"""Inputs: `theano.tensor.matrix` and so on, for each dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.theano.configparser import config
from symc.theano.tensor.type import TensorType

__all__ = [
    "dmatrix", "dscalar", "dvector", "fmatrix", "fscalar", "fvector", "imatrix", "iscalar",
    "ivector", "lmatrix", "lscalar", "lvector", "matrix", "scalar", "tensor", "vector",
]  # fmt: skip

PATTERNS: dict[str, tuple[bool, ...]] = {
    "scalar": (), "vector": (False,), "matrix": (False, False), "row": (True, False),
    "col": (False, True), **{f"tensor{n}": (False,) * n for n in range(3, 8)},
}  # fmt: skip
_LETTERS = {
    "b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32", "d": "float64",
    "c": "complex64", "z": "complex128",
}  # fmt: skip


def tensor(*args: Any, **kwargs: Any) -> Any:
    """A variable of a type given as for `TensorType`."""
    name = kwargs.pop("name", None)
    return TensorType(*args, **kwargs)(name=name)


def _of_pattern(flags: tuple[bool, ...], dtype: str | None) -> Callable[..., Any]:
    def make(name: str | None = None, dtype: Any = dtype) -> Any:
        """A variable of this number of axes; `dtype` is floatX by default."""
        return TensorType(config.floatX if dtype is None else dtype, flags)(name)

    return make


def _several(make: Callable[..., Any]) -> Callable[..., Any]:
    def many(*names: Any, **kwargs: Any) -> Any:
        """Several variables: as many as there are names, or as a number says."""
        if len(names) == 1 and isinstance(names[0], int):
            return [make(**kwargs) for _ in range(names[0])]
        if len(names) == 1:
            (names,) = names  # a list of names, or letters
        return [make(name, **kwargs) for name in names]

    return many


_plurals = {"matrix": "matrices"}
MADE: dict[str, Any] = {}
for _kind, _flags in PATTERNS.items():
    _make = _of_pattern(_flags, None)
    MADE[_kind] = _make
    MADE[_plurals.get(_kind, f"{_kind}s")] = _several(_make)
    for _letter, _dtype in _LETTERS.items():
        MADE[f"{_letter}{_kind}"] = TensorType(_dtype, _flags)
        MADE[f"{_letter}{_plurals.get(_kind, f'{_kind}s')}"] = _several(TensorType(_dtype, _flags))

scalar, vector, matrix = MADE["scalar"], MADE["vector"], MADE["matrix"]
iscalar, lscalar, fscalar, dscalar = (MADE[f"{letter}scalar"] for letter in "ilfd")
ivector, lvector, fvector, dvector = (MADE[f"{letter}vector"] for letter in "ilfd")
imatrix, lmatrix, fmatrix, dmatrix = (MADE[f"{letter}matrix"] for letter in "ilfd")
