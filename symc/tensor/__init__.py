"""The user's `T`: everything that makes or combines tensors."""

from symc.tensor.along import *  # noqa: F403
from symc.tensor.assign import *  # noqa: F403
from symc.tensor.build import *  # noqa: F403
from symc.tensor.constructors import *  # noqa: F403
from symc.tensor.diagonal import *  # noqa: F403
from symc.tensor.einsum import *  # noqa: F403
from symc.tensor.elementwise import cast_to as cast
from symc.tensor.index import *  # noqa: F403
from symc.tensor.lengths import *  # noqa: F403
from symc.tensor.logic import *  # noqa: F403
from symc.tensor.math import *  # noqa: F403
from symc.tensor.pad import *  # noqa: F403
from symc.tensor.products import *  # noqa: F403
from symc.tensor.reduce import *  # noqa: F403
from symc.tensor.reshape import *  # noqa: F403
from symc.tensor.select import *  # noqa: F403
from symc.tensor.shape import *  # noqa: F403
from symc.tensor.softmax import *  # noqa: F403
from symc.tensor.specify import *  # noqa: F403
from symc.tensor.statistics import *  # noqa: F403
from symc.tensor.sweep import *  # noqa: F403
from symc.tensor.views import *  # noqa: F403
