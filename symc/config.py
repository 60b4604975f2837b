"""Settings that hold for a process. Each can be set in the environment before symc is imported."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class Config:
    """symc's settings: ``symc.config.floatX = "float32"``; for a block, ``with config.set(...)``.

    - `floatX`: dtype of constructors that are given none. Environment: ``SYMC_FLOATX``.
    - `mode`: mode of functions that are given none (see `symc.function`). ``SYMC_MODE``.
    - `device`: device of functions that are given none: "cpu", "cuda", "cuda:1", "cuda:sim".
      ``SYMC_DEVICE``.
    - `cuda_graphs`: whether calls that repeat on a graphics card are recorded, and launched as a
      CUDA graph from then on. ``SYMC_CUDA_GRAPHS=0`` turns it off.
    - `tf32`: whether float32 matrix products on a graphics card may use tensor cores, which keep
      three digits of each factor. Read when a device first multiplies matrices. ``SYMC_TF32=1``.
    - `threads`: how many threads a function may use; 0 means all cores. ``SYMC_THREADS``.
    - `debug_symbols`: whether functions are compiled with ``-g``: gdb then steps through their C,
      which stays in the cache. ``SYMC_DEBUG_SYMBOLS=1``.
    - `on_unused_input`: "raise", "warn" or "ignore". ``SYMC_ON_UNUSED_INPUT``.
    """

    __slots__ = (
        "cuda_graphs", "debug_symbols", "device", "floatX", "mode", "on_unused_input", "tf32",
        "threads",
    )  # fmt: skip

    def __init__(self) -> None:
        self.floatX = os.environ.get("SYMC_FLOATX", "float64")
        self.cuda_graphs = os.environ.get("SYMC_CUDA_GRAPHS", "1") != "0"
        self.debug_symbols = os.environ.get("SYMC_DEBUG_SYMBOLS", "0") == "1"
        self.device = os.environ.get("SYMC_DEVICE", "cpu")
        self.mode = os.environ.get("SYMC_MODE", "default")
        self.tf32 = os.environ.get("SYMC_TF32", "0") == "1"
        self.threads = int(os.environ.get("SYMC_THREADS", "0"))
        self.on_unused_input = os.environ.get("SYMC_ON_UNUSED_INPUT", "raise")

    @contextmanager
    def set(self, **settings: Any) -> Generator[None]:
        """Other settings for a block.

        >>> import symc
        >>> with symc.config.set(floatX="float32"):
        ...     symc.tensor.vector("x").dtype
        float32
        """
        known = self.__slots__
        unknown = set(settings) - set(known)
        if unknown:
            raise AttributeError(f"no setting {sorted(unknown)[0]!r}; there are {sorted(known)}")
        before = {name: getattr(self, name) for name in settings}
        for name, value in settings.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


config = Config()
