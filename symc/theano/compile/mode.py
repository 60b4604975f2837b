"""Modes: how functions are compiled."""

from __future__ import annotations

from typing import Any

from symc.theano.compile.watching import Watch, guarding
from symc.theano.configparser import config
from symc.theano.gof.optdb import Query
from symc.theano.gof.optdb import optdb as optdb

# The mode of symc's for each of Theano's.
_SYMC = {
    "Mode": "default", "FAST_RUN": "default", "FAST_COMPILE": "compile", "NanGuardMode": "default",
    "DebugMode": "python", "DEBUG_MODE": "python", "MonitorMode": "default",
    "ProfileMode": "default", "PROFILE_MODE": "default", "STABILIZE": "default",
}  # fmt: skip


class Mode:
    """A way of compiling, by the names of a linker and an optimizer.

    symc has one compiler; the names choose between its modes. An optimizer that is a rewrite of
    Theano's kind, or a query for such, is applied to the graph before that, and tags choose among
    those that programs registered (`symc.theano.gof.optdb`).
    """

    def __init__(self, linker: Any = None, optimizer: Any = "default", name: str = "Mode") -> None:
        self.provided_linker = config.linker if linker is None else linker
        self.provided_optimizer = optimizer
        self.linker, self.optimizer, self.name = self.provided_linker, optimizer, name
        self.tags: tuple[Any, ...] = ()

    def _with(self, *tags: Any) -> Mode:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.tags = (*self.tags, *tags)
        return made

    def including(self, *tags: str) -> Mode:
        """The mode with rewrites added."""
        return self._with(*(("including", tag) for tag in tags))

    def excluding(self, *tags: str) -> Mode:
        """The mode without rewrites."""
        return self._with(*(("excluding", tag) for tag in tags))

    def requiring(self, *tags: str) -> Mode:
        """The mode with rewrites that have to be there."""
        return self._with(*(("requiring", tag) for tag in tags))

    def register(self, *optimizations: Any) -> Mode:
        """The mode with further rewrites, pairs of a rewrite and a position."""
        return self._with(("register", *optimizations))

    def clone(self, link_kwargs: Any = None, optimizer: Any = "", **kwargs: Any) -> Mode:
        """The mode with other settings."""
        made = self._with()
        if optimizer:
            made.optimizer = made.provided_optimizer = optimizer
        return made

    @property
    def watch(self) -> Watch | None:
        """Who looks at every node, None if nobody does."""
        return None

    @property
    def symc_mode(self) -> str:
        """The name of symc's mode."""
        return _SYMC.get(self.name, "default")

    def __str__(self) -> str:
        return f"{type(self).__name__}(linker = {self.linker}, optimizer = {self.optimizer})"


class NanGuardMode(Mode):
    """Raises at the first NaN or infinity."""

    def __init__(
        self, nan_is_error: bool | None = None, inf_is_error: bool | None = None,
        big_is_error: bool | None = None, optimizer: Any = "default", linker: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(linker, optimizer, "NanGuardMode")
        self.nan_is_error, self.inf_is_error = nan_is_error, inf_is_error
        self.big_is_error = big_is_error

    @property
    def watch(self) -> Watch | None:
        return guarding(self.nan_is_error, self.inf_is_error, self.big_is_error)


class DebugMode(Mode):
    """Computed node by node by the interpreter, which checks each."""

    def __init__(self, optimizer: Any = "fast_run", **kwargs: Any) -> None:
        super().__init__(None, optimizer, "DebugMode")
        self.__dict__.update(kwargs)


class MonitorMode(Mode):
    """Calls `pre_func` and `post_func` before and after each node: of number, node and thunk.

    The thunk has `inputs` and `outputs`, lists of one-element lists of the values.
    """

    def __init__(
        self, pre_func: Any = None, post_func: Any = None, optimizer: Any = "default",
        linker: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(linker, optimizer, "MonitorMode")
        self.pre_func, self.post_func = pre_func, post_func

    @property
    def watch(self) -> Watch | None:
        return Watch(self.pre_func, self.post_func)


class AddFeatureOptimizer:
    """A feature of Theano's graphs, of which symc has none."""

    def __init__(self, feature: Any) -> None:
        self.feature = feature


FAST_RUN = Mode("cvm", "fast_run", "FAST_RUN")
FAST_COMPILE = Mode("vm", "fast_compile", "FAST_COMPILE")
predefined_modes: dict[str, Mode] = {"FAST_RUN": FAST_RUN, "FAST_COMPILE": FAST_COMPILE}
predefined_linkers = {"py": None, "c": None, "c|py": None, "vm": None, "cvm": None}
predefined_optimizers = {"fast_run": None, "fast_compile": None, "None": None}


def get_mode(orig_string: Any) -> Any:
    """The mode of a name; None: that of the configuration."""
    name = config.mode if orig_string is None else orig_string
    if not isinstance(name, str):
        return name
    if name in predefined_modes:
        return predefined_modes[name]
    if name == "Mode":
        return Mode(config.linker, config.optimizer)
    if name in ("DebugMode", "DEBUG_MODE"):
        return DebugMode()
    if name == "NanGuardMode":
        return NanGuardMode()
    if name in _SYMC or name in predefined_linkers:
        return Mode(name=name)
    raise Exception(f"No predefined mode exist for string: {name}")


def get_default_mode() -> Any:
    """The mode of the configuration."""
    return get_mode(None)


def register_mode(name: str, mode: Mode) -> None:
    """Enters a mode under a name."""
    if name in predefined_modes:
        raise ValueError(f"Mode name already taken: {name}")
    predefined_modes[name] = mode


def register_optimizer(name: str, opt: Any) -> None:
    """Enters a rewrite under a name that modes can have."""
    if name in predefined_optimizers:
        raise ValueError(f"Optimizer name already taken: {name}")
    predefined_optimizers[name] = opt


def __getattr__(name: str) -> Any:
    if name in ("OPT_FAST_RUN", "OPT_FAST_COMPILE", "OPT_STABILIZE", "OPT_MERGE"):
        return Query([name.removeprefix("OPT_").lower()])
    if name == "register_linker":
        raise AttributeError(
            f"symc.theano has no theano.compile.mode.{name}: symc has one compiler, whose rewrites "
            "are of its own expressions (symc.rewrite)"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
