"""Settings that hold for a process. Each can be set in the environment before symc is imported."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NoReturn

from symc.codegen.processors import find, number_in

_CHOICES = {
    "floatX": ("float16", "float32", "float64"),
    "on_unused_input": ("raise", "warn", "ignore"),
}


_followers: list[Callable[[int], None]] = []  # of the number of threads
_keepers: list[Callable[[int], None]] = []  # of the bytes of results that are kept
_KEPT = 1 << 28
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class Config:
    """symc's settings: ``symc.config.floatX = "float32"``; for a block, ``with config.set(...)``.

    - `floatX`: dtype of constructors that are given none. Environment: ``SYMC_FLOATX``.
    - `mode`: mode of functions that are given none (see `symc.function`). ``SYMC_MODE``.
    - `background`: whether functions that are not told are compiled in the background (see
      `symc.function`). ``SYMC_BACKGROUND=1``.
    - `device`: device of functions that are given none: "cpu", "cuda", "cuda:1", "cuda:sim",
      "opencl", "opencl:0:1". ``SYMC_DEVICE``.
    - `cuda_graphs`: whether calls that repeat on a graphics card are recorded, and launched as a
      CUDA graph from then on. ``SYMC_CUDA_GRAPHS=0`` turns it off.
    - `kept_memory`: how many bytes of results that nobody has any more are kept for later results,
      which saves the time in which the system makes them new pages. At first 2**28, or a sixteenth
      of the memory that the process may use; 0 keeps none. `symc.free_memory` frees what is kept,
      and so does a machine that runs out of memory. ``SYMC_KEPT_MEMORY``.
    - `tf32`: whether float32 matrix products on a graphics card may use tensor cores, which keep
      three digits of each factor. Read when a function is compiled. ``SYMC_TF32=1``.
    - `compile_timeout`: seconds that a compiler may take (600), then it is stopped and
      `CompileTimeout` raised. NVRTC, a function of a library, cannot be stopped: it goes on in a
      thread. After 10 seconds a line of the logger ``symc`` names the compiler waited for.
      ``SYMC_COMPILE_TIMEOUT``.
    - `threads`: how many threads functions may use, those that exist already too. 0, as at first:
      the number in ``OMP_NUM_THREADS``, else the processors that the process may use, by its
      affinity and the quota of its control group. ``SYMC_THREADS``.
    - `debug_symbols`: whether functions are compiled with ``-g``: gdb then steps through their C,
      which stays in the cache. ``SYMC_DEBUG_SYMBOLS=1``.
    - `on_unused_input`: "raise", "warn" or "ignore". ``SYMC_ON_UNUSED_INPUT``.

    In the environment alone, read when a function is compiled: ``SYMC_CC`` and ``SYMC_CXX`` name
    the compilers (else ``CC`` and ``CXX``), ``SYMC_MARCH`` the processors that code is for, such
    as "x86-64-v3" (else this machine's).
    """

    __slots__ = (
        "background", "compile_timeout", "cuda_graphs", "debug_symbols", "device", "floatX",
        "kept_memory", "mode", "on_unused_input", "tf32", "threads",
    )  # fmt: skip

    floatX: str  # noqa: N815 -- Theano's name
    background: bool
    compile_timeout: float
    cuda_graphs: bool
    debug_symbols: bool
    device: str
    kept_memory: int
    mode: str
    tf32: bool
    threads: int
    on_unused_input: str

    def __init__(self) -> None:
        self.floatX = os.environ.get("SYMC_FLOATX", "float64")
        self.background = os.environ.get("SYMC_BACKGROUND", "0") == "1"
        self.compile_timeout = _number("SYMC_COMPILE_TIMEOUT", "600")
        self.cuda_graphs = os.environ.get("SYMC_CUDA_GRAPHS", "1") != "0"
        self.debug_symbols = os.environ.get("SYMC_DEBUG_SYMBOLS", "0") == "1"
        self.device = os.environ.get("SYMC_DEVICE", "cpu")
        self.kept_memory = _kept_memory()
        self.mode = os.environ.get("SYMC_MODE", "default")
        self.tf32 = os.environ.get("SYMC_TF32", "0") == "1"
        self.threads = number_in("SYMC_THREADS", os.environ)[0]
        self.on_unused_input = os.environ.get("SYMC_ON_UNUSED_INPUT", "raise")

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises AttributeError for no setting, TypeError or ValueError for no value of it."""
        if name not in self.__slots__:
            raise self._missing(name)
        choices = _CHOICES.get(name)
        if choices is not None and value not in choices:
            from symc.graph.other_libraries import meant

            near = meant(value, choices)
            raise ValueError(f"config.{name} is one of {', '.join(choices)}, not {value!r}{near}")
        if name == "threads" and (
            not isinstance(value, int) or isinstance(value, bool) or value < 0
        ):
            raise ValueError(f"config.threads is a number from 0 (automatic) on, not {value!r}")
        if name == "kept_memory" and (
            not isinstance(value, int) or isinstance(value, bool) or value < 0
        ):
            raise ValueError(f"config.kept_memory is a number of bytes, not {value!r}")
        if name == "compile_timeout" and not (isinstance(value, int | float) and value > 0):
            raise ValueError(f"config.compile_timeout is a number of seconds, not {value!r}")
        object.__setattr__(self, name, value)
        if name == "threads":
            for follow in _followers:
                follow(thread_count())
        if name == "kept_memory":
            for keep in _keepers:
                keep(self.kept_memory)

    def __getattr__(self, name: str) -> NoReturn:
        raise self._missing(name)

    def _missing(self, name: str) -> AttributeError:
        from symc.graph.other_libraries import instead  # late: only for errors

        advice = instead("config", name, self.__slots__)
        text = f"no setting {name!r}; there are {sorted(self.__slots__)}{advice}"
        return AttributeError(text, obj=None)

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


def _number(variable: str, usual: str) -> float:
    """A number from the environment."""
    given = os.environ.get(variable, usual)
    try:
        return float(given)
    except ValueError:
        raise ValueError(f"{variable} is a number of seconds, not {given!r}") from None


def _kept_memory() -> int:
    """The bytes of dead results to keep: what the environment says, or what the memory allows."""
    given = os.environ.get("SYMC_KEPT_MEMORY", "")
    if given:
        if not given.isdecimal():
            raise ValueError(f"SYMC_KEPT_MEMORY is a number of bytes, not {given!r}")
        return int(given)
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for place in _LIMITS:
        try:
            with open(place, encoding="utf-8") as file:  # noqa: PTH123 -- pathlib takes 5 ms
                limit = file.read().strip()
        except OSError:
            continue
        if limit.isdecimal():
            most = min(most, int(limit))
    return min(_KEPT, most // 16)


config = Config()


def thread_count() -> int:
    """How many threads a function may use now."""
    return config.threads or find().count


def follow_threads(follow: Callable[[int], None]) -> None:
    """Tell `follow` how many threads there are to be, now and whenever that is set."""
    _followers.append(follow)
    follow(thread_count())


def follow_kept_memory(keep: Callable[[int], None]) -> None:
    """Tell `keep` how many bytes of dead results may be kept, now and whenever that is set."""
    _keepers.append(keep)
    keep(config.kept_memory)
