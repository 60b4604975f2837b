"""The mode "SYMC", and making it PyTensor's default."""

from __future__ import annotations

from typing import Any

import pytensor
from pytensor.compile.mode import Mode, predefined_linkers, predefined_modes, register_linker
from pytensor.compile.mode import register_mode as _register_mode

from symc.pytensor.few import query
from symc.pytensor.linker import SymcLinker

_BY_STREAMS = {"numpy": "SYMC", "symc": "SYMC_STREAMS"}


def register() -> Any:
    """Enters linkers and modes into PyTensor's tables, once; gives the mode "SYMC"."""
    for name, random in (("symc", "numpy"), ("symc_streams", "symc")):
        if name not in predefined_linkers:
            register_linker(name, SymcLinker(random=random))
        if name.upper() not in predefined_modes:
            _register_mode(name.upper(), Mode(predefined_linkers[name], query()))
    return predefined_modes["SYMC"]


def mode(symc_mode: str | None = None, *, random: str = "numpy", rewrites: str = "all") -> Any:
    """The mode "SYMC" with a mode of `symc.function`, such as "fast" or "debug".

    With ``random="symc"`` draws are of symc's streams, computed in the compiled function: other
    numbers than PyTensor's own modes draw from the same seed. With ``rewrites="few"`` functions are
    built in less time, as PyTensor rewrites their graphs less: `symc/pytensor/rewrites.py`.
    """
    return Mode(SymcLinker(symc_mode=symc_mode, random=random), query(rewrites))


def use(chosen: Any = None, *, random: str = "numpy") -> None:
    """Makes symc what PyTensor compiles with in this process; `random` as in `mode`."""
    register()
    pytensor.config.mode = predefined_modes[_BY_STREAMS[random]] if chosen is None else chosen
