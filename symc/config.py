"""Settings that hold for a process. Each can be set in the environment before symc is imported."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

_CHOICES = {
    "floatX": ("float16", "float32", "float64"),
    "on_unused_input": ("raise", "warn", "ignore"),
}


class Config:
    """symc's settings: ``symc.config.floatX = "float32"``; for a block, ``with config.set(...)``.

    - `floatX`: dtype of constructors that are given none. Environment: ``SYMC_FLOATX``.
    - `mode`: mode of functions that are given none (see `symc.function`). ``SYMC_MODE``.
    - `device`: device of functions that are given none: "cpu", "cuda", "cuda:1", "cuda:sim".
      ``SYMC_DEVICE``.
    - `cuda_graphs`: whether calls that repeat on a graphics card are recorded, and launched as a
      CUDA graph from then on. ``SYMC_CUDA_GRAPHS=0`` turns it off.
    - `tf32`: whether float32 matrix products on a graphics card may use tensor cores, which keep
      three digits of each factor. Read when a function is compiled. ``SYMC_TF32=1``.
    - `threads`: how many threads a function may use; 0 means all cores. ``SYMC_THREADS``.
    - `debug_symbols`: whether functions are compiled with ``-g``: gdb then steps through their C,
      which stays in the cache. ``SYMC_DEBUG_SYMBOLS=1``.
    - `on_unused_input`: "raise", "warn" or "ignore". ``SYMC_ON_UNUSED_INPUT``.
    """

    __slots__ = (
        "cuda_graphs", "debug_symbols", "device", "floatX", "mode", "on_unused_input", "tf32",
        "threads",
    )  # fmt: skip

    floatX: str  # noqa: N815 -- Theano's name
    cuda_graphs: bool
    debug_symbols: bool
    device: str
    mode: str
    tf32: bool
    threads: int
    on_unused_input: str

    def __init__(self) -> None:
        self.floatX = os.environ.get("SYMC_FLOATX", "float64")
        self.cuda_graphs = os.environ.get("SYMC_CUDA_GRAPHS", "1") != "0"
        self.debug_symbols = os.environ.get("SYMC_DEBUG_SYMBOLS", "0") == "1"
        self.device = os.environ.get("SYMC_DEVICE", "cpu")
        self.mode = os.environ.get("SYMC_MODE", "default")
        self.tf32 = os.environ.get("SYMC_TF32", "0") == "1"
        self.threads = int(os.environ.get("SYMC_THREADS", "0"))
        self.on_unused_input = os.environ.get("SYMC_ON_UNUSED_INPUT", "raise")

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises AttributeError for no setting, TypeError or ValueError for no value of it."""
        if name not in self.__slots__:
            raise AttributeError(f"no setting {name!r}; there are {sorted(self.__slots__)}")
        choices = _CHOICES.get(name)
        if choices is not None and value not in choices:
            raise ValueError(f"config.{name} is one of {', '.join(choices)}, not {value!r}")
        if name == "threads" and (not isinstance(value, int) or value < 0):
            raise ValueError(f"config.threads is a number from 0 (all cores) on, not {value!r}")
        object.__setattr__(self, name, value)

    @contextmanager
    def set(self, **settings: Any) -> Generator[None]:
        """Other settings for a block.

        >>> import symc
        >>> with symc.config.set(floatX="float32"):
        ...     symc.tensor.vector("x").dtype
        float32
        """
        known = self.__slots__
        before = {name: getattr(self, name) for name in settings if name in known}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


config = Config()
