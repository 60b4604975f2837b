"""Tables of functions by name, whose modules are imported when one of their names is asked for.

Of hundreds of functions a program uses a few. Modules that most programs do without are announced
by `provide`; a table that lacks a name imports the module that provides it, which then enters it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from symc.graph.collector import without_collection

_PROVIDERS: dict[str, str] = {}
_ANNOUNCERS: list[Callable[[], object]] = []

_Function = TypeVar("_Function", bound=Callable[..., Any])


def provide(module: str, names: Iterable[str]) -> None:
    """Announce that a module has these names, or enters them into tables when it is imported."""
    _PROVIDERS.update(dict.fromkeys(names, module))


def announce(provide_all: Callable[[], object]) -> None:
    """Have a function that calls `provide` called when a name is first missed.

    Of several threads that miss one at once, each may call it.
    """
    _ANNOUNCERS.append(provide_all)


def provider(name: str) -> str | None:
    """The module that was announced for a name."""
    while waiting := list(_ANNOUNCERS):
        for provide_all in waiting:
            # It goes when it is done: another thread may ask meanwhile, and then calls it, too.
            provide_all()
            with suppress(ValueError):
                _ANNOUNCERS.remove(provide_all)
    return _PROVIDERS.get(name)


def import_all() -> None:
    """Import every module that was announced: for lists of all names."""
    provider("")
    with without_collection(stays=True):
        for module in sorted(set(_PROVIDERS.values())):
            import_module(module)


class Registry(dict[str, _Function]):
    """Functions by name, each entered by the module that defines it.

    >>> table: Registry[Callable[..., Any]] = Registry()
    >>> table["twice"] = lambda x: 2 * x
    >>> table["twice"](3), table.find("thrice")
    (6, None)
    """

    def find(self, name: str) -> _Function | None:
        """The function of a name, or None."""
        found = self.get(name)
        if found is None and (module := provider(name)) is not None:
            _load(module)
            found = self.get(name)
        return found

    def __missing__(self, name: str) -> _Function:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found


class Services:
    """Functions of higher packages that lower ones call by name, such as that for reports.

    Lower packages do not import higher ones. `symc/__init__.py` announces which module has which
    function; the module is imported when the function is called for the first time.

    >>> services = Services()
    >>> services.announce("math", "sqrt")
    >>> services["sqrt"](9.0)
    3.0
    """

    def __init__(self) -> None:
        self._modules: dict[str, str] = {}
        self._functions: dict[str, Callable[..., Any]] = {}

    def announce(self, module: str, names: str) -> None:
        """Announce that a module has functions of these names."""
        self._modules.update(dict.fromkeys(names.split(), module))

    def find(self, name: str) -> Callable[..., Any] | None:
        """The function of a name, or None if no module has been announced for it."""
        return self[name] if name in self._modules else None

    def __getitem__(self, name: str) -> Callable[..., Any]:
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = getattr(_load(self._modules[name]), name)
        return found


SERVICES = Services()


def _load(module: str) -> ModuleType:
    with without_collection(stays=module not in sys.modules):  # asked for again, it makes nothing
        return import_module(module)
