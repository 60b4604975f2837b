"""Parts of neural networks: `T.nnet`, imported at its first use."""

import typing as _typing

from symc.graph.public import publish_package as _publish_package
from symc.tensor.nnet.activations import *
from symc.tensor.nnet.attention import *
from symc.tensor.nnet.conv import *
from symc.tensor.nnet.ctc import *
from symc.tensor.nnet.layers import *
from symc.tensor.nnet.losses import *
from symc.tensor.nnet.normalize import *
from symc.tensor.nnet.pool import *
from symc.tensor.nnet.recurrent import *
from symc.tensor.nnet.units import *

_publish_package(globals(), __name__)


def _late(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("nnet", __name__, name, __dir__)


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    return [*globals()["__all__"]]
