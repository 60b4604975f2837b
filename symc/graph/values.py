"""Values that users give: which are arrays of numbers, and which fit a dtype.

One rule for arguments, shared variables, constants for tensors of a known dtype, and results of
functions in Python:

- A value with a dtype (arrays, NumPy's scalars, other libraries' arrays) stays exact. It is
  converted to dtypes that NumPy calls safe. Where NumPy lets numbers change all the same, int64
  and uint64 to float64 and complex128, each integer must be a float: 2**53 + 1 is none.
- Python's numbers, and lists of them, have no dtype. Floats are rounded to the nearest float of
  the dtype, which must not be infinite; integers must be held exactly.
- ``allow_input_downcast=True`` converts as NumPy's ``astype``, but drops no imaginary part.

Numbers that stand in expressions, beside tensors, are promoted as NumPy promotes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from symc.graph.bfloat16 import finfo, kind_of
from symc.graph.types import as_dtype, is_known

if TYPE_CHECKING:
    import numpy.typing as npt  # not at run time: it takes 1 ms to import

Array: TypeAlias = "npt.NDArray[Any]"

_NUMBERS = frozenset({bool, int, float, complex})
# The head of the message, with the name of the value, is written by who knows it.
_TOO_WIDE = "is an integer that neither int64 nor uint64 holds\n  pass float(...)"
_WIDE = "has integers that no dtype holds together\n  convert them: np.asarray(value, dtype=float)"


class Unfit(Exception):
    """A value is no array of numbers. The text goes on after its name: "is None"."""


def as_array(value: Any, dtype: np.dtype[Any] | None = None) -> Array:
    """The value as an array of numbers, in any byte order.

    With a `dtype` it is converted as NumPy converts it. Without one, Python's integers that no
    integer dtype holds give an array of objects: see `held`, and `check_known` for where there is
    no dtype to convert to. Raises `Unfit` for masked and sparse arrays, dates, text, generators,
    objects and the like.
    """
    kinds = frozenset[type]() if type(value) is np.ndarray else _kinds(value)
    try:
        array: Array = np.asarray(value, dtype)
    except MemoryError:
        raise
    except OverflowError as error:
        raise Unfit(f"does not fit {dtype}: {error}") from error
    except Exception as error:  # whatever the ``__array__`` of other libraries raises
        raise Unfit(_unreadable(value, error)) from error
    kind = kind_of(array.dtype)
    if kind == "f" and kinds and kinds <= {bool, int, list, tuple}:  # [2**63, -1]
        return _exact_integers(value, array)
    if kind == "O" and kinds and kinds <= {*_NUMBERS, list, tuple}:
        return array
    if kind not in "biufc":
        raise Unfit(_no_number(value, array))
    return array


def is_literal(value: Any) -> bool:
    """Whether a value is a Python number, or lists of nothing else: it has no dtype of its own."""
    if isinstance(value, list | tuple):
        kinds = _kinds(cast("Any", value))
        return not any(hasattr(kind, "__array__") and not _is_scalar(kind) for kind in kinds)
    return isinstance(value, bool | int | float | complex | range) and not _is_scalar(type(value))


def held(value: Any, array: Any, dtype: np.dtype[Any], downcast: bool | None = None) -> Any:
    """`array`, which `as_array` made of `value`, in a dtype; None where the rule does not let it.

    `downcast` is ``allow_input_downcast``. The result is `array` itself where that is possible.
    """
    if array.dtype == dtype:
        return array.astype(dtype, copy=False)
    if array.dtype.kind == "O":
        return _of_objects(array, dtype)
    safe = np.can_cast(array.dtype, dtype, "safe")
    drops_parts = array.dtype.kind == "c" and kind_of(dtype) != "c"
    if downcast and not drops_parts:
        return _cast(array, dtype)
    if safe and not may_round(array.dtype, dtype):
        return _cast(array, dtype)
    if drops_parts or not (safe or (downcast is None and is_literal(value))):
        return None
    return _cast(array, dtype) if _fits(array, dtype) else None


def may_round(source: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Whether a dtype has integers that another, of floats, has not."""
    if source.kind not in "iu" or kind_of(dtype) not in "fc":
        return False
    return source.itemsize * 8 - (source.kind == "i") > _digits(dtype)


def integers_fit(array: Array, dtype: np.dtype[Any]) -> bool:
    """Whether each integer of an array is a float of a dtype."""
    digits = _digits(dtype)
    limit = 1 << digits
    large = array[(array > limit) | (array < -limit)]
    if not large.size:
        return True
    lowest = large & (~large + large.dtype.type(1))  # the lowest bit that is set
    odd = large // lowest
    most = int(finfo(as_dtype(dtype)).max)
    return bool(np.all((odd <= limit) & (odd >= -limit) & (large <= most) & (large >= -most)))


def _digits(dtype: np.dtype[Any]) -> int:
    return int(finfo(as_dtype(dtype)).nmant) + 1


def _fits(array: Array, dtype: np.dtype[Any]) -> bool:
    """Whether numbers become a dtype: floats may round, but not to infinity, the rest is exact."""
    source, kind = kind_of(array.dtype), kind_of(dtype)
    if source == "b":
        return True
    if kind in "fc":
        if source in "iu":
            return not may_round(array.dtype, dtype) or integers_fit(array, dtype)
        return bool(np.all(np.isfinite(_cast(array, dtype)) == np.isfinite(array)))
    if dtype.kind == "b":
        return bool(np.all((array == 0) | (array == 1)))
    limits = np.iinfo(dtype)
    if source in "iu":
        return not array.size or limits.min <= int(array.min()) <= int(array.max()) <= limits.max
    inside = (array >= float(limits.min)) & (array < float(limits.max + 1))
    return bool(np.all(inside & (array == np.trunc(array))))


def _of_objects(array: Array, dtype: np.dtype[Any]) -> Array | None:
    """Python's numbers, too large for integer dtypes, in a dtype that holds them; or None."""
    try:
        converted: Array = _cast(array, dtype)
    except (OverflowError, TypeError):
        return None
    return converted if np.all(converted.astype(object) == array) else None


def _cast(array: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _exact_integers(value: Any, array: Array) -> Array:
    """The floats that NumPy made of Python's integers, or the integers if it made none."""
    objects: Array = np.array(value, dtype=object)
    return array if np.all(array.astype(object) == objects) else objects


# --- refused values -------------------------------------------------------------------------------


def _kinds(value: Any) -> frozenset[type]:
    """The types of a value and of its elements, if it is a list. Raises `Unfit` for some."""
    if type(value) in _NUMBERS:
        return frozenset((_type(value),))
    if not isinstance(value, list | tuple):
        _refuse(value, "is")
        return frozenset((_type(value),))
    found: set[type] = set()
    pending: list[Sequence[Any]] = [cast("Sequence[Any]", value)]
    seen: set[int] = set()  # a list may hold itself
    while pending:
        items = pending.pop()
        if id(items) in seen:
            continue
        seen.add(id(items))
        kinds = set(map(type, items))
        found |= kinds
        if kinds <= _NUMBERS:
            continue
        for item in items:
            if isinstance(item, list | tuple):
                pending.append(cast("Sequence[Any]", item))
            elif type(item) not in _NUMBERS:
                _refuse(item, "holds")
    return frozenset(found or {float})


def _type(value: object) -> type[Any]:
    return type(value)


def _is_scalar(kind: type) -> bool:
    return issubclass(kind, np.generic)


def _refuse(value: Any, holds: str) -> None:
    """Raises `Unfit` for values that NumPy would misread."""
    if isinstance(value, np.ndarray):
        if hasattr(_type(cast("object", value)), "filled"):
            raise Unfit(
                f"{holds} a masked array, and its mask would be lost\n"
                "  pass .filled(number), or .compressed() without the masked elements"
            )
    elif isinstance(value, np.generic | str | bytes) or value is None:
        return
    elif _is_dasks(value):
        raise Unfit(
            f"{holds} a {_name(value)}, which would become one array in this process\n"
            "  symc.dask.map_blocks(f, x) calls a function for each block, x.compute() gives an "
            "array"
        )
    elif isinstance(value, Iterator):
        raise Unfit(f"{holds} a {_name(value)}, which gives its values only once\n  pass list(...)")
    elif isinstance(value, AbstractSet | Mapping):
        raise Unfit(f"{holds} a {_name(value)}, which has no order\n  pass a list or an array")
    elif not hasattr(value, "__array__"):
        for method in ("toarray", "todense"):
            if hasattr(value, method):
                raise Unfit(
                    f"{holds} a sparse {_name(value)}, and symc has dense arrays\n"
                    f"  pass .{method}()"
                )


def _is_dasks(value: Any) -> bool:
    """Whether a value waits for Dask to compute it. Of xarray's some do; others say None."""
    graph = getattr(_type(value), "__dask_graph__", None)
    return graph is not None and graph(value) is not None


def _unreadable(value: Any, error: Exception) -> str:
    if isinstance(value, list | tuple) and "inhomogeneous" in str(error):
        return (
            "is no array: its lists differ in length\n"
            f"  {error}\n  fill them up to one length, or give them one by one"
        )
    return f"is no array: NumPy cannot read this {_name(value)}\n  {type(error).__name__}: {error}"


def _no_number(value: Any, array: Array) -> str:
    """The fault of a value that NumPy made an array of this dtype of."""
    dtype = array.dtype
    match dtype.kind:
        case "O":
            return _objects(value, array)
        case "U" | "S" | "T":
            return f"is text (dtype {dtype}), which is no number\n  convert it with float(...)"
        case "M":
            return (
                f"has dates (dtype {dtype}), which are no numbers\n"
                "  pass the time since a date: (value - start) / np.timedelta64(1, 's')"
            )
        case "m":
            return (
                f"has times (dtype {dtype}), which are no numbers\n"
                "  divide them by a unit: value / np.timedelta64(1, 's')"
            )
        case _ if dtype.names is not None:
            name = dtype.names[0]
            return (
                f"is a structured array, with the fields {', '.join(dtype.names)}\n"
                f"  pass its fields one by one: value[{name!r}]"
            )
        case _:
            wider = "complex128" if dtype.kind == "c" else "float64"
            near = wider if dtype.kind in "fc" and dtype.itemsize > 8 else "float32"
            return f"has dtype {dtype}, which symc has not\n  convert it with .astype({near!r})"


def _objects(value: Any, array: Array) -> str:
    """The fault of an array of objects."""
    items = array.reshape(-1)
    odd = next((item for item in items if type(item) not in _NUMBERS), 0)
    if odd is None:
        return "is None" if value is None else "holds None (dtype object)\n  for nothing, use nan"
    if type(odd) is int:
        return f"holds Python objects (dtype object)\n  {_AS_FLOATS}"
    if array.ndim or isinstance(value, np.ndarray):
        return f"holds objects of type {_name(odd)} (dtype object)\n  {_AS_FLOATS}"
    advice = "\n  pass float(...)" if hasattr(odd, "__float__") else ""
    return f"is of type {_name(odd)} (dtype object), which is no number of Python or NumPy{advice}"


_AS_FLOATS = "convert them: np.asarray(value, dtype=float)"


def check_known(value: Any, array: Array) -> None:
    """Raises `Unfit` if an array, which `as_array` made of `value`, has no dtype of symc's."""
    if is_known(array.dtype):
        return
    if array.dtype.kind != "O":
        raise Unfit(_no_number(value, array))
    raise Unfit(_TOO_WIDE if isinstance(value, int) else _WIDE)


def _name(value: Any) -> str:
    """The type of a value, with the package of one that is not built in."""
    kind = _type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"
