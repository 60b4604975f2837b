"""The mode "SYMC", and making it PyTensor's default."""

from __future__ import annotations

from typing import Any

import pytensor
from pytensor.compile.mode import Mode, predefined_linkers, predefined_modes, register_linker
from pytensor.compile.mode import register_mode as _register_mode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

from symc.pytensor.linker import SymcLinker

_QUERY = RewriteDatabaseQuery(include=["fast_run"])


def register() -> Any:
    """Enters linker and mode into PyTensor's tables, once; gives the mode."""
    if "symc" not in predefined_linkers:
        register_linker("symc", SymcLinker())
    if "SYMC" not in predefined_modes:
        _register_mode("SYMC", Mode(predefined_linkers["symc"], _QUERY))
    return predefined_modes["SYMC"]


def mode(symc_mode: str | None = None) -> Any:
    """The mode "SYMC" with a mode of `symc.function`, such as "fast" or "debug"."""
    return Mode(SymcLinker(symc_mode=symc_mode), _QUERY)


def use(chosen: Any = None) -> None:
    """Makes symc what PyTensor compiles with from now on, in this process."""
    pytensor.config.mode = register() if chosen is None else chosen
