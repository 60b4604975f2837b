"""Discrete Fourier transforms: `T.fft`, with NumPy's names and meaning."""

import typing as _typing

from symc.graph.public import publish_package as _publish_package
from symc.tensor.fft.functions import *
from symc.tensor.fft.helpers import *

_publish_package(globals(), __name__)


def _late(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("fft", __name__, name, __dir__)


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    return [*globals()["__all__"]]
