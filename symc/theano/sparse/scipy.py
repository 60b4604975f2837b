"""SciPy's sparse matrices, imported when they are first needed: symc itself needs no SciPy."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Sparse:
    """`scipy.sparse`. Raises ImportError that says who needs it."""

    def __getattr__(self, name: str) -> Any:
        try:
            module = import_module("scipy.sparse")
        except ImportError as error:
            raise ImportError("theano.sparse needs SciPy: pip install scipy") from error
        return getattr(module, name)


sparse: Any = _Sparse()
