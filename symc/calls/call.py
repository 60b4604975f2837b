"""The call path: from a compiled function's Python arguments to C and back.

There are two classes `Caller` with one meaning. `_call.c` is an extension that is built where a
compiler is at hand when symc is installed: 0.2 us a call. `PythonCaller`, in `python_call.py`,
needs only cffi: some microseconds a call. ``SYMC_NO_EXTENSION=1`` chooses the latter.

A `Caller` is made from a `CallSpec`, and by name

- ``threads``: how many a call may use, 0 for as many as `config.threads` says (1 in the child of a
  fork where they would be OpenMP's, which are gone; those of ``team`` come back), ``tiny``: whether
  to keep the GIL while running, ``keep``: an object to keep alive, such as the library;
- ``pure``: whether the function does nothing but fill its results: it is not run where these have
  no elements, whose loops over other axes might take hours;
- ``locks``: the locks of the shared variables (`symc/graph/locks.py`) in the order in which they
  are taken, each with whether the call changes the variable;
- ``host(number, arrays, lengths)``: called where the function calls back into Python; for the
  meaning of the numbers see `symc/pipeline/host_calls.py`. An exception of it ends the call.

Arguments are used without a copy where they are C-contiguous arrays of the right type; outputs are
new arrays, or those of arguments that were given away. Two threads may call one `Caller` at the
same time. After an exception all is as before the call, except for shared variables that a function
updates in place and then fails, which a signal does not stop any more by then, and for arguments
that were given away to one that a signal or a lack of memory ends.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symc.calls.spec import FIELDS
from symc.codegen.targets import stamps, team
from symc.config import follow_kept_memory, follow_threads
from symc.graph.locks import PythonLock

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from symc.calls.python_call import PythonCaller

Array: TypeAlias = "npt.NDArray[Any]"
Cell: TypeAlias = "list[Array]"
Form: TypeAlias = Literal["one", "list", "none"]
Locks: TypeAlias = "tuple[tuple[PythonLock, bool], ...]"
"""Those of shared variables in the order in which every call takes them, each with whether the
function changes the variable."""

_USED = (
    "team", "use_threads", "keep_at_most", "before_fork", "after_fork", "stamps", "Lock", "holding",
)  # fmt: skip


def is_of_older_sources(extension: Any) -> bool:
    """Whether an extension that was found knows other arguments than `Caller` is given now."""
    fields = getattr(extension, "FIELDS", "").split()
    return fields != [*FIELDS] or not all(hasattr(extension, name) for name in _USED)


def _extension() -> Any:
    """The extension, where it is built and wanted."""
    if os.environ.get("SYMC_NO_EXTENSION") == "1":
        return None
    try:
        from symc.calls import _call
    except ImportError:  # not built
        return None
    if is_of_older_sources(_call):
        warnings.warn(
            f"{_call.__file__} was built from older sources of symc and is not used: each call "
            "takes some microseconds more. Install symc again (`pip install -e .` in a checkout).",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return _call


def _choose() -> tuple[type[PythonCaller], type[PythonLock], Callable[..., Any]]:
    """The classes that are used, and `holding`."""
    extension = _extension()
    if extension is None:
        from symc.calls.python_call import PythonCaller, python_holding

        return PythonCaller, PythonLock, python_holding
    team.use(extension.team)
    follow_threads(extension.use_threads)
    follow_kept_memory(extension.keep_at_most)
    stamps.use(extension.stamps)
    os.register_at_fork(before=extension.before_fork, after_in_parent=extension.after_fork)
    return extension.Caller, extension.Lock, extension.holding


Caller, Lock, holding = _choose()
