"""`theano.compile.profiling`: how often a function was called, and how long that took.

symc's own measurements go deeper: ``f.symc_function.report()`` has the time of each kernel.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from symc.theano.compile.function import Function


class ProfileStats:
    """Times of a function, or of several that were given the same one.

    >>> import symc.theano as theano
    >>> x = theano.tensor.dscalar("x")
    >>> f = theano.function([x], x + 1, profile=True)
    >>> _ = f(1.0), f(2.0)
    >>> f.profile.fct_callcount
    2
    """

    def __init__(
        self, atexit_print: bool = False, flag_time_thunks: Any = None, **kwargs: Any
    ) -> None:
        del flag_time_thunks
        self.compile_time = 0.0
        self.fct_callcount = 0
        self.fct_call_time = self.vm_call_time = 0.0
        self.message: str | None = None
        self.__dict__.update(kwargs)
        if atexit_print:
            import atexit

            atexit.register(self.summary)

    def reset(self) -> None:
        """Starts counting anew."""
        self.fct_callcount = 0
        self.fct_call_time = self.vm_call_time = 0.0

    def summary(
        self, file: Any = None, n_ops_to_print: int = 20, n_apply_to_print: int = 20
    ) -> None:
        """Writes what is known into a file, else to the standard error."""
        del n_ops_to_print, n_apply_to_print  # symc's programs have no nodes to time one by one
        lines = ["Function profiling", "==================", f"  Message: {self.message}"]
        if self.fct_callcount:
            each = self.fct_call_time / self.fct_callcount
            lines.append(
                f"  Time in {self.fct_callcount} calls to Function.__call__: "
                f"{self.fct_call_time:e}s ({each:e}s each)"
            )
        lines.append(f"  Total compile time: {self.compile_time:e}s")
        (sys.stderr if file is None else file).write("\n".join([*lines, "", ""]))


class ProfiledFunction(Function):
    """A function whose calls are counted and timed."""

    def __init__(self, made: Any, containers: Any = None, profile: Any = None) -> None:
        self.profile = profile if isinstance(profile, ProfileStats) else ProfileStats()
        begin = time.perf_counter()
        super().__init__(made, containers)
        self.profile.compile_time += time.perf_counter() - begin
        if self.profile.message is None:
            self.profile.message = self.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        begin = time.perf_counter()
        results = super().__call__(*args, **kwargs)
        stats, taken = self.profile, time.perf_counter() - begin
        stats.fct_callcount += 1
        stats.fct_call_time += taken
        stats.vm_call_time += taken
        return results
