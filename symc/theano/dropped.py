"""Names that programs of Theano's time use and that Python, NumPy and SciPy have dropped since.

Only ``python -m symc theano --compat`` and `answer_dropped_names` put them back. `ANSWERED` keeps
which of them a program asked for, and the command says so in the end.
"""

from __future__ import annotations

import builtins
import collections.abc
import fractions
import importlib
import importlib.metadata
import importlib.util
import inspect
import math
import sys
import time
import unittest
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

ANSWERED: dict[str, None] = {}


class ArgSpec(NamedTuple):
    """What `inspect.getargspec` gave."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _getargspec(function: Callable[..., Any]) -> ArgSpec:
    found = inspect.getfullargspec(function)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


class _Casts(dict[Any, Any]):
    """`numpy.cast`: a function for each dtype."""

    def __missing__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda x: np.asarray(x).astype(dtype)


def _numpy_names() -> dict[str, Any]:
    names: dict[str, Any] = {
        name: getattr(builtins, name)
        for name in ("bool", "int", "float", "complex", "object", "str")
    }
    exceptions = importlib.import_module("numpy.exceptions")
    names |= {
        name: getattr(exceptions, name)
        for name in ("AxisError", "ComplexWarning", "RankWarning", "VisibleDeprecationWarning")
    }
    names |= dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), np.inf)
    names |= dict.fromkeys(("NAN", "NaN"), np.nan)
    return names | {
        "NINF": -np.inf, "NZERO": -0.0, "PZERO": 0.0, "alltrue": np.all,
        "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype=dtype),
        "asscalar": lambda a: np.asarray(a).item(), "bool8": np.bool_, "cast": _Casts(),
        "complex_": np.complex128, "cumproduct": np.cumprod,
        "find_common_type": lambda arrays, scalars: np.result_type(*arrays, *scalars),
        "float_": np.float64, "in1d": lambda a, b, **k: np.isin(np.ravel(a), b, **k),
        "int0": np.intp, "issubclass_": issubclass, "issubsctype": np.issubdtype, "long": int,
        "msort": lambda a: np.sort(a, axis=0),
        "obj2sctype": lambda rep, default=None: np.dtype(rep).type,
        "object0": np.object_, "product": np.prod, "round_": np.round, "row_stack": np.vstack,
        "sctype2char": lambda t: np.dtype(t).char, "sctypes": _sctypes(), "sometrue": np.any,
        "string_": np.bytes_, "trapz": getattr(np, "trapezoid", None), "uint0": np.uintp,
        "unicode": str, "unicode_": np.str_,
    }  # fmt: skip


def _sctypes() -> dict[str, list[Any]]:
    return {
        "int": [np.int8, np.int16, np.int32, np.int64],
        "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64],
        "complex": [np.complex64, np.complex128],
        "others": [bool, object, bytes, str, np.void],
    }


_COLLECTIONS = (
    "Callable", "Container", "Generator", "Hashable", "ItemsView", "Iterable", "Iterator",
    "KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet",
    "Sequence", "Set", "Sized", "ValuesView",
)  # fmt: skip
_TESTS = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assert_": "assertTrue",
    "failUnless": "assertTrue", "failIf": "assertFalse", "failUnlessRaises": "assertRaises",
    "failUnlessEqual": "assertEqual", "assertItemsEqual": "assertCountEqual",
    "assertAlmostEquals": "assertAlmostEqual", "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex", "assertNotRegexpMatches": "assertNotRegex",
}  # fmt: skip


def answer_dropped_names() -> None:
    """From now on, names are there that programs of Theano's time use and that are gone."""
    _answer(collections, {name: getattr(collections.abc, name) for name in _COLLECTIONS})
    _answer(inspect, {"ArgSpec": ArgSpec, "getargspec": _getargspec})
    _answer(time, {"clock": time.perf_counter})
    _answer(fractions, {"gcd": math.gcd})
    _answer(np, _numpy_names())
    _answer(np.linalg, {"linalg": np.linalg})
    for old, new in _TESTS.items():
        if not hasattr(unittest.TestCase, old):
            setattr(unittest.TestCase, old, _noted(f"unittest.TestCase.{old}",
                                                   getattr(unittest.TestCase, new)))  # fmt: skip
    setattr(np, "array", _array(np.array))  # noqa: B010 -- mypy: a function of NumPy's
    setattr(np, "linspace", _linspace(np.linspace))  # noqa: B010
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.append(_Finder())


def _answer(module: ModuleType, names: dict[str, Any]) -> None:
    before = module.__dict__.get("__getattr__")

    def lookup(name: str) -> Any:
        if names.get(name) is not None:
            ANSWERED[f"{module.__name__}.{name}"] = None
            return names[name]
        if before is not None:
            return before(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    setattr(module, "__getattr__", lookup)  # noqa: B010 -- modules have it only at run time


def _noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        ANSWERED[name] = None
        return function(*args, **kwargs)

    return noted


def _array(real: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(real)
    def array(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("copy") is False:  # "where needed" before NumPy 2, "never" since
            ANSWERED["numpy.array(copy=False)"] = None
            kwargs["copy"] = None
        return real(*args, **kwargs)

    return array


def _linspace(real: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(real)
    def linspace(start: Any, stop: Any, num: Any = 50, *args: Any, **kwargs: Any) -> Any:
        if isinstance(num, float):
            ANSWERED["numpy.linspace(num=float)"] = None
            num = int(num)
        return real(start, stop, num, *args, **kwargs)

    return linspace


class _Module(Loader):
    """Makes a module of names."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.names)


class _Finder(MetaPathFinder):
    """Answers modules that are gone: `imp`, `pkg_resources`, `numpy.testing.utils` and others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        names = _gone(fullname)
        if names is None:
            return None
        ANSWERED[fullname] = None
        return ModuleSpec(fullname, _Module(names))


def _gone(name: str) -> dict[str, Any] | None:
    """The names of a module that is gone, None for others."""
    if name == "imp":
        return {"reload": importlib.reload}
    if name == "numpy.testing.utils":
        return dict(vars(importlib.import_module("numpy.testing")))
    if name == "scipy.misc" and importlib.util.find_spec("scipy") is not None:
        special = importlib.import_module("scipy.special")
        return {each: getattr(special, each) for each in ("logsumexp", "comb", "factorial")}
    if name == "numpy.linalg.linalg":
        return dict(vars(np.linalg))
    if name == "pkg_resources":
        missing = importlib.metadata.PackageNotFoundError
        return {"get_distribution": _distribution, "DistributionNotFound": missing}
    return None


class _Distribution(NamedTuple):
    """What `pkg_resources.get_distribution` gave: the name and the version of a package."""

    project_name: str
    version: str


def _distribution(name: str) -> _Distribution:
    if name.lower() == "theano":
        from symc.theano.version import version

        return _Distribution(name, version)
    return _Distribution(name, importlib.metadata.version(name))
