"""Sparse matrices: `T.sparse`, symbolic ones whose values are those of `scipy.sparse`."""

import typing as _typing

from symc.graph.public import publish_package as _publish_package
from symc.tensor.sparse.making import *
from symc.tensor.sparse.matrices import *

_publish_package(globals(), __name__)


def _late(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("sparse", __name__, name, __dir__)


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    return [*globals()["__all__"]]
