"""`install`: from then on ``import theano`` and its submodules give those of `symc.theano`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

OWN = "symc.theano"


class _Loader(Loader):
    """Gives a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system put its own there


class Finder(MetaPathFinder):
    """Answers ``theano`` and everything below it; a Theano that is installed is never asked."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        first, _, rest = fullname.partition(".")
        if first != "theano":
            return None
        name = f"{OWN}.{rest}" if rest else OWN
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise ModuleNotFoundError(
                f"symc.theano has no {fullname}; its documentation says what it has",
                name=fullname,
            )
        module = importlib.import_module(name)
        if fullname == "theano":
            importlib.import_module(f"{OWN}.configparser").take_flags()
        return ModuleSpec(fullname, _Loader(module), is_package=hasattr(module, "__path__"))


def install() -> None:
    """Makes ``import theano`` give symc's. Raises ImportError if another Theano is loaded."""
    loaded = sys.modules.get("theano")
    if loaded is not None and loaded.__name__ != OWN:
        raise ImportError("theano is imported already; call symc.theano.install() before that")
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder())
