"""The user's `T`: everything that makes or combines tensors."""

from symc.tensor.elementwise import cast_to as cast
from symc.tensor.logic import *  # noqa: F403
from symc.tensor.math import *  # noqa: F403
from symc.tensor.constructors import *  # noqa: F403
from symc.tensor.lengths import *  # noqa: F403
from symc.tensor.reshape import *  # noqa: F403
from symc.tensor.views import *  # noqa: F403
from symc.tensor.reduce import *  # noqa: F403
from symc.tensor.statistics import *  # noqa: F403
from symc.tensor.sweep import *  # noqa: F403
from symc.tensor.softmax import *  # noqa: F403
from symc.tensor.einsum import *  # noqa: F403
from symc.tensor.products import *  # noqa: F403
