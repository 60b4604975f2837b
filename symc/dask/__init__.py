"""Functions over Dask's arrays, block by block: `symc.dask.map_blocks`.

Needs Dask: ``pip install '.[dask]'`` in a checkout. Functions that are sent to other pools of
processes are `symc.frozen`.
"""

from __future__ import annotations

from symc.dask.blocks import map_blocks
from symc.graph.public import publish as _publish

__all__ = ["map_blocks"]

_publish(globals(), "symc.dask", __all__)


def __dir__() -> list[str]:
    return [*__all__]
