"""Targets by name, and by the devices that they compile for: the module of one is imported when it
is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symc.codegen.targets.base import Target

_CLASSES = {
    "c": ("symc.codegen.targets.c", "CTarget"),
    "cuda": ("symc.codegen.targets.cuda.target", "CudaTarget"),
    "opencl": ("symc.codegen.targets.opencl.target", "OpenclTarget"),
}
_DEVICES = {"cpu": "c", "cuda": "cuda", "opencl": "opencl"}
_FULL = {"cuda": "cuda:0", "opencl": "opencl:0:0"}


def announce(name: str, module: str, kind: str) -> None:
    """Enters a target: the class `kind` of a module. Devices that it compiles for have its name."""
    _CLASSES[name] = module, kind
    _DEVICES[name] = name


def target_named(name: str, **options: Any) -> Target:
    """The target of a name, made with these options. Raises KeyError for others."""
    module, kind = _CLASSES[name]
    made: Target = getattr(import_module(module), kind)(**options)
    return made


def target_of_device(device: str) -> str | None:
    """The name of the target that compiles for a device, if there is one.

    >>> target_of_device("cuda:1"), target_of_device("abacus")
    ('cuda', None)
    """
    return _DEVICES.get(device.partition(":")[0])


def full_name(device: str) -> str:
    """The name of a device in full: the first of its kind, where the name says no more.

    >>> full_name("cuda"), full_name("opencl:1"), full_name("cpu")
    ('cuda:0', 'opencl:1:0', 'cpu')
    """
    if device.startswith("opencl:") and device.count(":") == 1:
        return f"{device}:0"
    return _FULL.get(device, device)
