"""SciPy's sparse matrices, imported when they are first needed: symc itself needs no SciPy."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


class _Sparse:
    """`scipy.sparse`. Raises ImportError that says who needs it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own questions, such as those of `inspect`
            raise AttributeError(name)
        try:
            module = import_module("scipy.sparse")
        except ImportError as error:
            raise ImportError("theano.sparse needs SciPy: pip install scipy") from error
        return getattr(module, name)


sparse: Any = _Sparse()


def is_sparse(value: object) -> bool:
    """Whether a value is a sparse matrix of SciPy's; nothing is before SciPy is imported."""
    return "scipy.sparse" in sys.modules and bool(sparse.issparse(value))
