"""The user's `T`: everything that makes or combines tensors."""

import typing as _typing
from importlib import import_module as _import_module
from os.path import exists as _exists
from types import FunctionType as _FunctionType
from types import ModuleType as _ModuleType
from typing import Any as _Any

from symc.graph.public import public as _public
from symc.graph.registry import provider as _provider
from symc.tensor import catalogue as _catalogue
from symc.tensor.build import *
from symc.tensor.constructors import *
from symc.tensor.elementwise import cast_to as _cast_to
from symc.tensor.exponentials import *
from symc.tensor.lengths import *
from symc.tensor.lengths import shape_of as _shape_of
from symc.tensor.logic import *
from symc.tensor.math import *
from symc.tensor.reduce import *
from symc.tensor.reshape import *
from symc.tensor.shape import *
from symc.tensor.specify import *
from symc.tensor.trigonometry import *
from symc.tensor.views import *

cast = _cast_to
shape = _shape_of  # after `from symc.tensor.shape`, which gives the module that name

# The functions above, each of which is published when it is first asked for.
_HERE = {
    _name: globals().pop(_name)
    for _name, _value in list(globals().items())
    if isinstance(_value, _FunctionType) and not _name.startswith("_")
}

if _typing.TYPE_CHECKING:  # `__getattr__` below imports these as `catalogue.py` finds them
    from symc.derivatives.grad import Lop as Lop
    from symc.derivatives.grad import Rop as Rop
    from symc.derivatives.grad import grad as grad
    from symc.derivatives.grad import hessian as hessian
    from symc.derivatives.grad import jacobian as jacobian
    from symc.derivatives.vectorize import *
    from symc.tensor import fft as fft
    from symc.tensor import linalg as linalg
    from symc.tensor import nnet as nnet
    from symc.tensor import random as random
    from symc.tensor import sparse as sparse
    from symc.tensor.activations import *
    from symc.tensor.along import *
    from symc.tensor.array_api import *
    from symc.tensor.assign import *
    from symc.tensor.complex_numbers import *
    from symc.tensor.contraction import *
    from symc.tensor.covariance import *
    from symc.tensor.cross_products import *
    from symc.tensor.diagonals import *
    from symc.tensor.differences import *
    from symc.tensor.grids import *
    from symc.tensor.joining import *
    from symc.tensor.kinds import *
    from symc.tensor.logarithmic import *
    from symc.tensor.names import *
    from symc.tensor.nans import *
    from symc.tensor.padding import *
    from symc.tensor.parts import *
    from symc.tensor.places import *
    from symc.tensor.polynomials import *
    from symc.tensor.products import *
    from symc.tensor.segments import *
    from symc.tensor.selection import *
    from symc.tensor.signals import *
    from symc.tensor.softmaxes import *
    from symc.tensor.sorting.counting import *
    from symc.tensor.sorting.nanquantiles import *
    from symc.tensor.sorting.order import *
    from symc.tensor.sorting.quantiles import *
    from symc.tensor.sorting.search import *
    from symc.tensor.sorting.sets import *
    from symc.tensor.spaces import *
    from symc.tensor.special.bessel import *
    from symc.tensor.special.betas import *
    from symc.tensor.special.hypergeometric import *
    from symc.tensor.special.integrals import *
    from symc.tensor.special.zetas import *
    from symc.tensor.special_functions import *
    from symc.tensor.statistics import *
    from symc.tensor.sweep import *

_MODULES = ("fft", "linalg", "nnet", "random", "sparse")


def _late(name: str) -> _Any:
    """Functions and modules that are imported at their first use."""
    if name in _MODULES:
        return _import_module(f"symc.tensor.{name}")
    if name == "__all__":
        return __dir__()
    if name in _HERE:
        found = _HERE[name]
    elif name in _catalogue.functions().get(module := _provider(name) or "", ()):
        found = getattr(_import_module(module), name)
    elif _exists(f"{__path__[0]}/{name}.py"):  # noqa: PTH110 -- as pathlib is imported late
        # `from symc.tensor import views` asks here first: nobody sees this error.
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", obj=None)
    else:
        from symc.graph.other_libraries import missing

        raise missing("T", __name__, name, __dir__)
    value = globals()[name] = _public(found, __name__)
    own = found.__name__ if isinstance(found, _FunctionType) else name
    if own not in _HERE and _provider(own) is None:  # it has another name where it is made
        value.__name__ = value.__qualname__ = name
    return value


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    late = {name for names in _catalogue.functions().values() for name in names}
    here = {
        name
        for name, value in globals().items()
        if not name.startswith("_") and not isinstance(value, _ModuleType)
    }
    return sorted({*here, *_HERE, *late, *_MODULES})
