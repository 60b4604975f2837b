"""NumPy's results of lines, how far rounding could move them, and whether a result agrees.

A program is run several times in NumPy: as it is; with wider numbers; and with every rounding
disturbed by a few units in the last place. Where the runs are far apart, the number is not well
determined, and nothing is asked of it; where all agree, a result must.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.graph.node import Array
from tests.fuzz.lines import Line, Lines, numpy_space
from tests.fuzz.protocol import Compared, Refused, Wrong

ULPS = 4  # how far a rounding is moved; results may be 16 times as far from NumPy's
LOOSE = 16
WIDER = {
    "float16": "float32", "float32": "float64", "float64": "longdouble",
    "complex64": "complex128", "complex128": "clongdouble",
}  # fmt: skip
NONE = (ValueError, IndexError, ArithmeticError)  # NumPy's errors for values, not for types
Disturb = Callable[[Array], Array]


def nominal(program: Lines) -> dict[str, Array]:
    """All values, as NumPy gives them."""
    return values_from(program, program.values())


def values_from(program: Lines, given: Mapping[str, Array]) -> dict[str, Array]:
    """All values, for other values given."""
    return _run(program, given, lambda x: x, wide=False)


@dataclass(frozen=True)
class Expected:
    """One result: as it is, wider, and disturbed."""

    value: Array
    wide: Array
    others: tuple[Array, ...]


class Opinion:
    """All results of a program, for one state of its shared variables."""

    def __init__(self, program: Lines, values: Mapping[str, Array]) -> None:
        self.values = _run(program, values, lambda x: x, wide=False)
        self.wide = _run(program, values, lambda x: x, wide=True)
        self.others = [_run(program, values, disturb, wide=False) for disturb in _disturbances()]

    @property
    def finite(self) -> bool:
        """Whether no NaN or infinity arises anywhere."""
        every = [self.values, *self.others]
        return all(
            bool(np.isfinite(value).all())
            for run in every
            for value in run.values()
            if value.dtype.kind in "fc"
        )

    def of(self, name: str) -> Expected:
        """The right value of a name, and its uncertainty."""
        others = tuple(run[name] for run in self.others)
        return Expected(self.values[name], self.wide[name], others)


def _disturbances() -> list[Disturb]:
    """Roundings down, up, one up after one down, and twice at random: `_moved` by these shares.

    With those in turn, two arguments that are equal differ: what cancels shows its rounding.
    """
    turns = itertools.cycle([-1.0, 1.0])
    shares: list[Callable[[Array], Any]] = [lambda x: -1.0, lambda x: 1.0, lambda x: next(turns)]
    shares += [_random_share(np.random.default_rng(number)) for number in range(2)]
    return [_disturbance(share) for share in shares]


def _random_share(rng: np.random.Generator) -> Callable[[Array], Any]:
    return lambda x: rng.uniform(-1, 1, x.shape)


def _disturbance(share: Callable[[Array], Any]) -> Disturb:
    return lambda x: _moved(x, share)


def _moved(x: Array, share: Callable[[Array], Any]) -> Array:
    """Floats moved by a few units in the last place; zeros, infinities and NaN stay."""
    if x.dtype.kind not in "fc" or not x.size:
        return x
    with np.errstate(all="ignore"):
        size = ULPS * np.finfo(x.dtype).eps
        step = size * share(x) * (1 + 1j) if x.dtype.kind == "c" else size * share(x)
        return np.where(np.isfinite(x), x * (1 + step), x).astype(x.dtype)


def _run(
    program: Lines, given: Mapping[str, Array], disturb: Disturb, *, wide: bool
) -> dict[str, Array]:
    space = numpy_space()
    exact = disturb(np.ones(1))[0] == 1.0
    values: dict[str, Array] = {}
    for name, value in given.items():
        native = value.astype(value.dtype.newbyteorder("="))
        values[name] = _widened(native) if wide else native
    with np.errstate(all="ignore"):
        for line in program.lines:
            args = [values[arg] for arg in line.args]
            if line.kind == "sums" and not exact:
                args = [disturb(arg) for arg in args]
            value = _value_of(line, args, space, wide=wide)
            if line.kind in ("rounds", "sums"):
                value = disturb(value)
            elif line.kind == "unsigned" and not exact and value.dtype.kind == "f":
                value = np.where(value == 0, -value, value)  # a zero of either sign will do
            values[line.name] = value
    return values


def _value_of(line: Line, args: Sequence[Array], space: dict[str, Any], *, wide: bool) -> Array:
    """The value of a line; `Refused` where NumPy has none, as for ``nanargmin`` of NaN alone."""
    try:
        return _meaning_of(line, args, space, wide=wide)
    except NONE as error:
        what = str(error).partition("\n")[0]
        raise Refused(f"NumPy refuses: {type(error).__name__}: {what}") from error


def _meaning_of(line: Line, args: Sequence[Array], space: dict[str, Any], *, wide: bool) -> Array:
    if line.numpy is None:
        return own_meaning(line, args)
    names = [f"_{number}" for number in range(len(args))]
    text = line.numpy.format(*names)
    if wide:
        try:
            known = space | dict(zip(names, args, strict=True))
            return np.asarray(eval(_wider_text(text), known))
        except (TypeError, ValueError, np.linalg.LinAlgError):  # LAPACK has nothing wider
            args = [_narrowed(arg) for arg in args]
    return np.asarray(eval(text, space | dict(zip(names, args, strict=True))))


def own_meaning(line: Line, args: Sequence[Array]) -> Array:
    """The meaning of symc's ops in NumPy, by its own definition."""
    args = [_narrowed(arg) for arg in args]
    names = [f"_{number}" for number in range(len(args))]
    symbols = [T.tensor(a.dtype.name, tuple(n if n == 1 else None for n in a.shape)) for a in args]
    space: dict[str, Any] = {"T": T, "np": np, "nan": np.nan, "inf": np.inf}
    node = eval(line.text.format(*names), space | dict(zip(names, symbols, strict=True)))
    function = symc.function(symbols, node, mode="python")  # which checks lengths
    return np.asarray(function(*args))


def _widened(value: Array) -> Array:
    return value.astype(WIDER.get(value.dtype.name, value.dtype))


def _narrowed(value: Array) -> Array:
    if value.dtype == np.longdouble:
        return value.astype(np.float64)
    return value.astype(np.complex128) if value.dtype == np.clongdouble else value


def _wider_text(text: str) -> str:
    return re.sub("|".join(WIDER), lambda found: WIDER[found[0]], text)


# --- judging --------------------------------------------------------------------------------------


def judge(got: Array, expected: Expected, what: str, *, signs: bool) -> Compared:
    """Raises `Wrong` for a wrong result; `signs` also asks for zeros'."""
    wanted = expected.value
    if got.dtype != wanted.dtype:
        raise Wrong(f"{what}: dtype {got.dtype}, NumPy's is {wanted.dtype}")
    if any(other.shape != wanted.shape for other in expected.others):
        return Compared(1, wanted.size, wanted.size)
    if got.shape != wanted.shape:
        raise Wrong(f"{what}: shape {got.shape}, NumPy's is {wanted.shape}")
    if not wanted.size:
        return Compared(1)
    wide = expected.wide if expected.wide.shape == wanted.shape else wanted
    if wanted.dtype.kind in "fc":
        right, doubtful = _judge_floats(got, wanted, wide, expected.others, signs=signs)
    else:
        right = got == wanted
        doubtful = np.zeros(wanted.shape, bool)
        for other in (*expected.others, wide):
            doubtful |= other != wanted
    bad = ~right & ~doubtful
    if bad.any():
        place = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(bad)))
        got, wanted = np.atleast_1d(got), np.atleast_1d(wanted)
        raise Wrong(
            f"{what}: {int(bad.sum())} of {wanted.size} are wrong, first at {place}: "
            f"{got[place]!r}, NumPy's is {wanted[place]!r}"
        )
    return Compared(1, wanted.size, int((~right & doubtful).sum()))


def _judge_floats(
    got: Array, wanted: Array, wide: Array, others: Sequence[Array], *, signs: bool
) -> tuple[Array, Array]:
    """Which elements are right, and which could be anything."""
    with np.errstate(all="ignore"):
        spread = np.zeros(wanted.shape, np.float64)
        doubtful = np.zeros(wanted.shape, bool)
        for other in others:
            apart = abs(other - wanted).astype(np.float64)
            spread = np.fmax(spread, np.where(np.isfinite(apart), apart, 0))
            doubtful |= _class(other) != _class(wanted)
        rounded = wide.astype(wanted.dtype)
        limits = np.finfo(wanted.dtype)
        apart = abs(rounded - wanted).astype(np.float64)
        spread = np.fmax(spread, np.where(np.isfinite(apart), apart, 0))
        allowed = LOOSE * (spread + np.where(spread > 0, float(limits.smallest_subnormal), 0))
        right = np.zeros(wanted.shape, bool)
        for target in (wanted, rounded):
            near = abs(got - target).astype(np.float64) <= allowed
            right |= np.where(np.isfinite(target), near, _class(got) == _class(target))
        if wanted.dtype.kind == "c":
            doubtful |= ~np.isfinite(wanted)
        elif signs:
            surely_zero = (wanted == 0) & (rounded == 0) & (spread == 0)
            for other in (*others, rounded):
                surely_zero &= np.signbit(other) == np.signbit(wanted)
            right &= ~surely_zero | (np.signbit(got) == np.signbit(wanted))
    return right, doubtful


def _class(x: Array) -> Array:
    """0 for finite numbers, another number for each kind of others."""
    if x.dtype.kind == "c":
        return np.where(np.isfinite(x), 0, 1)
    return np.where(np.isnan(x), 3, np.where(np.isinf(x), np.sign(x), 0))
