"""Linear algebra: `T.linalg`, with NumPy's names, and SciPy's where NumPy has none."""

import typing as _typing

from symc.graph.public import publish_package as _publish_package
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

_publish_package(globals(), __name__)


def _late(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("linalg", __name__, name, __dir__)


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    return [*globals()["__all__"]]
