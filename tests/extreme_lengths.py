"""Ops that derive lengths, given lengths that 64 bits can hardly hold, against NumPy.

    python -m tests.extreme_lengths default 4

runs all cases in a mode of which the compiled program is called, in the interpreter ("python"), by
that of the loop IR ("ir") or on the simulator, with so many GB of memory at most. It writes a line
before each call, so that one that crashes is known by it, and after all a line ``done``.
"""

from __future__ import annotations

import resource
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import symc
from symc import tensor as T
from symc.codegen.ir import TOO_LARGE
from symc.errors import SymcError, TooLarge

VALUES = (
    2, 0, 1, -1, 2**31, 2**61 + 1, 2**62, 2**63 - 4, 2**63 - 1, -(2**63), -(2**63) + 1
)  # fmt: skip
X = np.arange(3.0)
M = np.arange(6.0).reshape(2, 3)
SMALL = 2


@dataclass(frozen=True)
class Case:
    """One expression of `t` (NumPy, or symc's tensors), a vector, a matrix, and an extreme integer.

    With `bound`, TooLarge is right too for integers of at least that size, though NumPy has a
    result: something on the way to it needs more than 64 bits.
    """

    name: str
    build: Callable[[Any, Any, Any, Any], Any]
    bound: int | None = None
    fewest: int = -(2**63)  # NumPy has another meaning for lower ones
    most: int = 2**63
    virtual: bool = False  # NumPy refuses arrays that are never stored, and the interpreter may


class Exact:
    """NumPy, but with Python's integers where it is itself wrong with such numbers."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def arange(*bounds: int) -> Any:
        """``np.arange(2**63 - 1)`` is empty, and ``np.arange(-5, 2**62, 2**62)`` has 1 element."""
        numbers = range(*bounds)
        if numbers and (numbers[-1] - numbers[0]) // numbers.step >= 1 << 20:
            raise MemoryError
        return np.array(list(numbers), np.int64)

    @staticmethod
    def repeat(x: Any, count: int, axis: int | None = None) -> Any:
        """NumPy reads memory that is not its own for some negative counts."""
        if count < 0:
            raise ValueError("repeats may not contain negative values.")
        return np.repeat(x, count, axis)

    @staticmethod
    def take(x: Any, index: Any, mode: Literal["raise", "wrap", "clip"] = "raise") -> Any:
        """With ``mode="wrap"`` NumPy adds the length until the index is in range."""
        return x[index % len(x)] if mode == "wrap" else np.take(x, index, mode=mode)

    @staticmethod
    def tri(n: int, m: int, k: int = 0) -> Any:
        """OverflowError for the least numbers, and for the greatest no columns."""
        if m >= 1 << 40:
            raise MemoryError
        return np.tri(n, m, max(k, -100))

    @staticmethod
    def tril(x: Any, k: int) -> Any:
        """As `tri`."""
        return np.tril(x, max(k, -100))

    @staticmethod
    def triu(x: Any, k: int) -> Any:
        """As `tri`."""
        return np.triu(x, max(k, -100))


def both(t: Any, n: Any) -> Any:
    """A vector of the number and 1."""
    return t.stack([t.asarray(n), t.asarray(1)])


WIDE = 2**61  # where bounds are differences and sums of such numbers

CASES = [
    Case("pad", lambda t, x, m, n: t.pad(x, (n, n))),
    Case("pad one side", lambda t, x, m, n: t.pad(x, (0, n))),
    Case("pad wrap", lambda t, x, m, n: t.pad(x, (n, 0), mode="wrap")),
    Case("pad edge", lambda t, x, m, n: t.pad(x, (0, n), mode="edge")),
    Case("pad matrix", lambda t, x, m, n: t.pad(m, ((n, 0), (0, n)))),
    Case("zeros", lambda t, x, m, n: t.zeros(n)),
    Case("zeros int8", lambda t, x, m, n: t.zeros((n,), "int8") + x[0].astype("int8"), bound=2**31),
    Case("zeros square", lambda t, x, m, n: t.zeros((n, n))),
    Case("zeros and a length", lambda t, x, m, n: t.zeros((n, x.shape[0])) + x),
    Case("zeros ravel", lambda t, x, m, n: (t.zeros((n, x.shape[0])) + x).ravel()),
    Case("full none", lambda t, x, m, n: t.full((n, 0), 2.0)),
    Case("tile", lambda t, x, m, n: t.tile(x, n), fewest=0),
    Case("tile matrix", lambda t, x, m, n: t.tile(m, (n, 2)), fewest=0),
    Case("repeat", lambda t, x, m, n: t.repeat(x, n)),
    Case("repeat axis", lambda t, x, m, n: t.repeat(m, n, axis=0)),
    Case("concatenate", lambda t, x, m, n: t.concatenate([t.zeros(n), t.zeros(n), x])),
    Case("stack", lambda t, x, m, n: t.stack([t.zeros(n), t.ones(n)])),
    Case("kron", lambda t, x, m, n: t.kron(x, t.ones(n))),
    Case("outer", lambda t, x, m, n: t.outer(x, t.ones(n))),
    Case("arange", lambda t, x, m, n: t.arange(n)),
    Case("arange start", lambda t, x, m, n: t.arange(n, 5)),
    Case("arange start and stop", lambda t, x, m, n: t.arange(n, n + 2), most=2**63 - 3),
    Case("arange long step", lambda t, x, m, n: t.arange(0, n, 2**62)),
    Case("arange long step back", lambda t, x, m, n: t.arange(0, n, -(2**62))),
    Case("arange step", lambda t, x, m, n: t.arange(-5, 7, n), bound=WIDE),
    Case("arange step and stop", lambda t, x, m, n: t.arange(-5, n, n), bound=WIDE),
    Case("arange odd", lambda t, x, m, n: t.arange(n, 0, 2**60 + 1), bound=WIDE),
    Case("arange length", lambda t, x, m, n: t.arange(x.shape[0], n)),
    Case("linspace", lambda t, x, m, n: t.linspace(0.0, 1.0, n)),
    Case("eye", lambda t, x, m, n: t.eye(n, 3), fewest=0),
    Case("eye k", lambda t, x, m, n: t.eye(2, 3, n)),
    Case("tri", lambda t, x, m, n: t.tri(3, n), fewest=0),
    Case("tri k", lambda t, x, m, n: t.tri(3, 3, n)),
    Case("tril", lambda t, x, m, n: t.tril(m, n)),
    Case("triu", lambda t, x, m, n: t.triu(m, n)),
    Case("broadcast", lambda t, x, m, n: t.broadcast_to(x, (n, 3)) + x),
    Case(
        "broadcast sum",  # of which nothing is stored
        lambda t, x, m, n: t.broadcast_to(x, (n if t is T else min(n, 5), 3))[:2].sum(),
        virtual=True,
    ),
    Case("reshape", lambda t, x, m, n: m.reshape((n, -1)), fewest=0),
    Case("reshape lengths", lambda t, x, m, n: m.reshape((n, 3)), fewest=0),
    Case("slice from", lambda t, x, m, n: x[n:]),
    Case("slice to", lambda t, x, m, n: x[:n]),
    Case("slice step", lambda t, x, m, n: x[::n]),
    Case("slice from, step", lambda t, x, m, n: x[n::n]),
    Case("slice to, step", lambda t, x, m, n: x[:n:n]),
    Case("slice all", lambda t, x, m, n: x[n:n:n]),
    Case("slice back from", lambda t, x, m, n: x[n::-1]),
    Case("slice back to", lambda t, x, m, n: x[:n:-1]),
    Case("slice back by 2", lambda t, x, m, n: x[1:n:-2]),
    Case("slice by 2 from", lambda t, x, m, n: x[n::2]),
    Case("slice from 1 by n", lambda t, x, m, n: x[1::n]),
    Case("slice between", lambda t, x, m, n: x[n : n + 2], bound=WIDE),
    Case("slice before", lambda t, x, m, n: x[n - 1 : n], bound=WIDE),
    Case("slice of both", lambda t, x, m, n: m[n:, :n]),
    Case("index", lambda t, x, m, n: x[n]),
    Case("index of rows", lambda t, x, m, n: m[n]),
    Case("take", lambda t, x, m, n: t.take(x, n)),
    Case("take wrap", lambda t, x, m, n: t.take(x, both(t, n), mode="wrap")),
    Case("take clip", lambda t, x, m, n: t.take(x, both(t, n), mode="clip")),
    Case("roll", lambda t, x, m, n: t.roll(x, n)),
    Case("roll axis", lambda t, x, m, n: t.roll(m, n, axis=1)),
    Case("roll flat", lambda t, x, m, n: t.roll(m, n)),
    Case("cumsum", lambda t, x, m, n: t.cumsum(t.ones(n))),
    Case("cumsum none", lambda t, x, m, n: t.cumsum(t.ones((n, 0)), axis=0)),
    Case("diff", lambda t, x, m, n: t.diff(t.ones(n)), fewest=0),
    Case("bincount", lambda t, x, m, n: t.bincount(x.astype("int64"), minlength=n), fewest=0),
    Case("sort", lambda t, x, m, n: t.sort(t.ones(n))),
    Case("where", lambda t, x, m, n: t.where(t.arange(n) > 0, 1.0, 2.0)),
    Case("matmul", lambda t, x, m, n: t.ones((n, 2)) @ m),
    Case(
        "part of what is endless",
        lambda t, x, m, n: (
            T.ones((n, n, 2**33))[:1, :1, :2].sum() if t is T else np.ones((min(n, 1), 2)).sum()
        ),
        virtual=True,
    ),
]  # fmt: skip

# Functions that NumPy lacks: the right result for small numbers, for others an error or that of
# NumPy.
OWN = [
    Case("alloc", lambda t, x, m, n: T.alloc(1.5, n, 2) if t is T else np.full((n, 2), 1.5)),
    Case(
        "one_hot",
        lambda t, x, m, n: (
            T.one_hot(x.astype("int64"), n)
            if t is T
            else (t.arange(n) == x.astype("int64")[:, None]).astype("float64")
        ),
        fewest=3,
    ),
    Case(
        "convolution with padding",
        lambda t, x, m, n: (
            T.nnet.conv1d(x[None, None], T.ones((1, 1, 1)), padding=n)
            if t is T
            else np.pad(x, (n, n))[None, None]
        ),
    ),
]
# The interpreter of the loop IR lacks their routines.
ROUTINES = frozenset({"sort", "convolution with padding"})
CASES_ON_DEVICE = frozenset(
    {
        "pad", "zeros ravel", "tile", "repeat", "arange", "arange long step", "slice from, step",
        "slice all", "tril", "roll flat", "take", "broadcast sum",
    }
)  # fmt: skip


def expected(case: Case, value: int) -> Any:
    """NumPy's result, or its exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(case.build(Exact(), X, M, value))
    except Exception as error:
        return error


class Refused(SymcError):
    """The interpreter of the loop IR ended with a status."""


def interpreter(function: Any) -> Callable[..., Any]:
    """A call of a function's loops by their interpreter."""
    from tests.fuzz.opinions import interpreted

    def call(*args: Any) -> Any:
        try:
            return interpreted(function, [np.asarray(arg) for arg in args], optimised=True)[0]
        except AssertionError as error:
            if "check" not in str(error):
                raise
            raise (TooLarge if str(TOO_LARGE) in str(error) else Refused)(str(error)) from None
        except MemoryError as error:
            raise TooLarge(str(error)) from None
        except ValueError as error:  # from making an array of the result
            if "array is too big" not in str(error):
                raise
            raise TooLarge(str(error)) from None

    return call


def run(case: Case, how: str) -> list[str]:
    """The faults of a case."""
    x, m, n = T.vector("x"), T.matrix("m"), T.lscalar("n")
    state = symc.shared(1.0)
    device, mode = ("cuda:sim", "default") if how == "cuda:sim" else (None, how)
    function = symc.function(
        [x, m, n], case.build(T, x, m, n), updates=[(state, state + 1)], on_unused_input="ignore",
        mode="default" if how == "ir" else mode, device=device,
    )  # fmt: skip
    call = interpreter(function) if how == "ir" else function
    wrong: list[str] = []
    for value in (*VALUES, SMALL):
        if not case.fewest <= value <= case.most:
            continue
        if how == "ir" and value == 2**31:
            continue  # a loop in Python that is as long as this
        print(f"  {case.name}, n = {value}", flush=True)
        before, wanted = float(state.get_value()), expected(case, value)
        try:
            found: Any = call(X, M, value)
        except SymcError as error:
            found = error
        except ValueError as error:
            if "extreme_lengths.py:" not in str(error):  # it is not a condition of ours
                raise
            found = error
        text = f"{case.name}, n = {value}: {_shown(found)}, not {_shown(wanted)}"
        counted = how == "ir" or float(state.get_value()) == before + 1
        if isinstance(found, Exception):
            refuses = case.bound is not None and abs(value) >= case.bound
            refuses = refuses or (case.virtual and how == "python")
            right = isinstance(wanted, Exception) or (refuses and isinstance(found, TooLarge))
            if not right or (how != "ir" and float(state.get_value()) != before):
                wrong.append(text)
        elif isinstance(wanted, Exception) or not counted or not _same(found, wanted):
            wrong.append(text)
    return wrong


def _same(found: Any, wanted: Any) -> bool:
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-12, atol=0)


def _shown(value: Any) -> str:
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {str(value)[:160]!r}"
    return f"{value.shape} {value.ravel()[:4]}"


def main(how: str, gigabytes: int) -> None:
    """Run the cases and print their faults."""
    symc.function([], T.ones(2), device="cuda:sim" if how == "cuda:sim" else None)()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + (gigabytes << 30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for case in [*CASES, *OWN]:
        if how == "ir" and case.name in ROUTINES:
            continue
        if how != "cuda:sim" or case.name in CASES_ON_DEVICE:
            for line in run(case, how):
                print("wrong:", line, flush=True)
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
