"""`theano.gof.link`: Theano's ways to run a graph, of which symc has its own.

The names are here for programs that name a linker in a `Mode`; all of them run symc's program.
"""

from __future__ import annotations

from typing import Any

from symc.theano.compile.sharedvalue import Container as Container


class Linker:
    """The name of a way to run a graph."""

    name = "vm"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args
        self.allow_gc = kwargs.pop("allow_gc", None)
        self.options = kwargs

    def clone(self, allow_gc: Any = None) -> Any:
        """Another of this kind."""
        made = type(self)(**self.options)
        made.allow_gc = self.allow_gc if allow_gc is None else allow_gc
        return made

    def __str__(self) -> str:
        return self.name


class LocalLinker(Linker):
    """Op by op."""


class PerformLinker(LocalLinker):
    """Op by op in Python."""

    name = "py"


class CLinker(Linker):
    """All in C."""

    name = "c"


class OpWiseCLinker(LocalLinker):
    """Op by op in C, or in Python where there is none."""

    name = "c|py"


class DualLinker(Linker):
    """Both in C and in Python, compared."""

    name = "c&py"


class VM_Linker(LocalLinker):
    """Op by op, as needed."""

    name = "cvm"


class WrapLinker(Linker):
    """Another one with something done at each op."""


class WrapLinkerMany(WrapLinker):
    """Several with something done at each op."""
