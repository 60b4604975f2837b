"""The rest of the Python array API standard (2024.12): dtypes, constants, and what there is.

`T` is a namespace of that standard: ``x.__array_namespace__()`` gives it. Tensors are symbolic, so
``bool(x)`` and the like, which need values, raise `TypeError`; lengths that are not known before a
call are tensors in ``x.shape``. https://data-apis.org/array-api/2024.12/
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from symc.codegen import dtypes
from symc.codegen.dtypes import DType
from symc.config import config
from symc.graph.inputs import as_tensor
from symc.graph.node import METHODS, PROPERTIES, Tensor
from symc.graph.types import as_dtype

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "bool",
    "complex64",
    "complex128",
    "e",
    "float32",
    "float64",
    "from_dlpack",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "nan",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]  # fmt: skip

_ALSO_ENTERED = ["__array_namespace__", "device", "to_device"]

__array_api_version__ = "2024.12"

e, inf, nan, pi = math.e, math.inf, math.nan, math.pi

bool = dtypes.BOOL
int8, int16, int32, int64 = dtypes.INT8, dtypes.INT16, dtypes.INT32, dtypes.INT64
uint8, uint16, uint32, uint64 = dtypes.UINT8, dtypes.UINT16, dtypes.UINT32, dtypes.UINT64
float32, float64 = dtypes.FLOAT32, dtypes.FLOAT64
complex64, complex128 = dtypes.COMPLEX64, dtypes.COMPLEX128

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}
_STANDARD = {dtype.name: dtype for dtype in dtypes.ALL if not dtype.is_only_stored}


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Tensor:
    """An array of any library that has ``__dlpack__``, as a constant tensor.

    It is copied where `copy` asks for it, as by `numpy.from_dlpack`. Raises `ValueError` for
    another `device` than the CPU's.

    >>> import numpy as np, symc.tensor as T
    >>> T.from_dlpack(np.arange(3.0)).eval()
    array([0., 1., 2.])
    """
    _only_cpu("from_dlpack", device)
    return as_tensor(np.from_dlpack(x, copy=copy))


def __array_namespace_info__() -> SimpleNamespace:  # noqa: N807 -- the standard's name
    """What this namespace can do: `capabilities`, `default_device`, `default_dtypes` and so on.

    >>> import symc.tensor as T
    >>> T.__array_namespace_info__().dtypes(kind="real floating")
    {'float32': float32, 'float64': float64}
    """
    return SimpleNamespace(
        capabilities=_capabilities,
        default_device=lambda: "cpu",
        default_dtypes=_default_dtypes,
        devices=lambda: ["cpu"],
        dtypes=_dtypes,
    )


def _capabilities() -> dict[str, Any]:
    return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}


def _default_dtypes(*, device: Any = None) -> dict[str, DType]:
    _only_cpu("default_dtypes", device)
    real = as_dtype(config.floatX)
    wide = complex128 if real == float64 else complex64
    return {"real floating": real, "complex floating": wide, "integral": int64, "indexing": int64}


def _dtypes(*, device: Any = None, kind: Any = None) -> dict[str, DType]:
    _only_cpu("dtypes", device)
    wanted = (kind,) if isinstance(kind, str) else kind
    if wanted is None:
        return dict(_STANDARD)
    if unknown := set(wanted) - _KINDS.keys():
        raise ValueError(f"dtypes: kind is one of {', '.join(_KINDS)}, not {min(unknown)!r}")
    kinds = {each for name in wanted for each in _KINDS[name]}
    return {name: dtype for name, dtype in _STANDARD.items() if dtype.kind in kinds}


def _only_cpu(what: str, device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(
            f"{what}: device is 'cpu', not {device!r}; functions run elsewhere by "
            "symc.function(..., device=)"
        )


def _namespace(x: Tensor, /, *, api_version: str | None = None) -> Any:
    """The module `symc.tensor`, for code that is written for any library of the standard."""
    del x
    if api_version not in (None, "2021.12", "2022.12", "2023.12", __array_api_version__):
        raise ValueError(f"the version of the array API is {__array_api_version__}")
    import symc.tensor

    return symc.tensor


def _to_device(x: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor itself: where it is computed, `symc.function` says."""
    del stream
    _only_cpu("to_device", device)
    return x


def _device(x: Tensor) -> str:
    """Where it is as far as it knows: ``"cpu"``."""
    del x
    return "cpu"


METHODS["__array_namespace__"] = _namespace
METHODS["to_device"] = _to_device
PROPERTIES["device"] = _device
