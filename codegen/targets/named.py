"""Targets by name: the module of one is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symc.codegen.targets.base import Target

_CLASSES = {
    "c": ("symc.codegen.targets.c", "CTarget"),
    "cuda": ("symc.codegen.targets.cuda.target", "CudaTarget"),
}


def announce(name: str, module: str, kind: str) -> None:
    """Enters a target: the class `kind` of a module."""
    _CLASSES[name] = module, kind


def target_named(name: str, **options: Any) -> Target:
    """The target of a name, made with these options. Raises KeyError for others."""
    module, kind = _CLASSES[name]
    made: Target = getattr(import_module(module), kind)(**options)
    return made
