"""`theano.tensor.basic`: the names of `theano.tensor`."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module("symc.theano.tensor"), name)
