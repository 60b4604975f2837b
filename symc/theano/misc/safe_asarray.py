"""`_asarray`: an array of exactly the dtype that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np


def safe_asarray(a: Any, dtype: Any, order: Any = None) -> Any:
    """The array of a value, of a dtype."""
    from symc.theano.configparser import config

    wanted = config.floatX if isinstance(dtype, str) and dtype == "floatX" else dtype
    return np.asarray(a, dtype=np.dtype(wanted), order=order)


_asarray = safe_asarray  # Theano's name
