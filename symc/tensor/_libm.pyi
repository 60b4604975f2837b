from typing import Any

import numpy.typing as npt

def map(name: str, source: npt.NDArray[Any], target: npt.NDArray[Any], /) -> None: ...
