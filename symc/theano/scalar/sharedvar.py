"""Shared variables of numbers: those of `theano.shared` for a number."""

from __future__ import annotations

from typing import Any

from symc.theano.compile.sharedvalue import shared


def __getattr__(name: str) -> Any:
    if name == "ScalarSharedVariable":
        from symc.theano.tensor.sharedvar import ScalarSharedVariable

        return ScalarSharedVariable
    if name == "shared":
        return shared
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
