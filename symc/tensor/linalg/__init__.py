"""Linear algebra: `T.linalg`, with NumPy's names, and SciPy's where NumPy has none.

Its modules are imported when one of their functions is asked for: a Cholesky factorisation needs
four of the sixteen.
"""

import typing as _typing
from importlib import import_module as _import_module
from os.path import exists as _exists

from symc.graph.public import public as _public
from symc.tensor import catalogue as _catalogue

if _typing.TYPE_CHECKING:  # `__getattr__` below imports these as `catalogue.py` finds them
    from symc.tensor.linalg.building import *
    from symc.tensor.linalg.definite import *
    from symc.tensor.linalg.eigen import *
    from symc.tensor.linalg.exponential import *
    from symc.tensor.linalg.factors import *
    from symc.tensor.linalg.general import *
    from symc.tensor.linalg.naming import *
    from symc.tensor.linalg.orthogonal import *
    from symc.tensor.linalg.schur_form import *
    from symc.tensor.linalg.singular import *
    from symc.tensor.linalg.spectral import *
    from symc.tensor.linalg.triangular import *


def _late(name: str) -> object:
    if name == "__all__":
        return __dir__()
    module = _catalogue.providers(__name__, __path__[0]).get(name)
    if module is None:
        if _exists(f"{__path__[0]}/{name}.py"):  # noqa: PTH110 -- as pathlib is imported late
            return _import_module(f"{__name__}.{name}")
        from symc.graph.other_libraries import missing

        raise missing("linalg", __name__, name, __dir__)
    value = globals()[name] = _public(getattr(_import_module(module), name), __name__)
    return value


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    return sorted(_catalogue.providers(__name__, __path__[0]))
