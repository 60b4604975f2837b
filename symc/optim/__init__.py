"""`symc.optim`: optimisers as lists of updates, and L-BFGS.

    updates = symc.optim.adam(loss, params, learning_rate=1e-3)
    step = symc.function([x, y], loss, updates=updates)

An optimiser takes a loss, or the gradients of one (clipped, say), and shared variables. It makes
its memory from step to step as shared variables of its own. A learning rate is a number, a
symbolic scalar, or a schedule of `symc.optim.schedules`.
"""

import typing as _typing

from symc.graph.public import publish as _publish
from symc.optim.adam import *
from symc.optim.adaptive import *
from symc.optim.clipping import *
from symc.optim.common import Updates
from symc.optim.descent import *
from symc.optim.lbfgs import *
from symc.optim.schedules import *

__all__ = [
    "LBFGS",
    "Minimum",
    "Schedule",
    "Updates",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "constant_rate",
    "cosine_decay",
    "exponential_decay",
    "global_norm",
    "lbfgs",
    "linear_decay",
    "lion",
    "minimize",
    "piecewise_rate",
    "rmsprop",
    "sgd",
    "step_decay",
    "warmup",
]  # fmt: skip

_publish(globals(), __name__, __all__)


def _late(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("optim", __name__, name, __dir__)


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    return [*__all__]
