"""Special functions of extreme arguments, against mpmath.

Arguments are near and beyond where formulas change: tiny, denormal, huge, half and whole, large
negative. A number is judged by the digits that its own arguments determine: zeros of oscillating
functions by the size of the oscillation.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import symc
import symc.tensor as T
from symc.errors import NotFinite
from tests.fuzz.protocol import Compared, Refused, Wrong, usual_modes

mp: Any = importlib.import_module("mpmath")  # it has no types


@dataclass(frozen=True)
class Kind:
    """A function: mpmath's meaning, how each argument is drawn, and the digits asked for."""

    meaning: Callable[..., Any]
    args: str
    """A letter an argument: x any, p positive, v an order, s above 1, q often negative."""
    rtol: float = 1e-10


def _bessel(name: str, sign: int = 0) -> Callable[..., Any]:
    """By exp(sign |x|); where mpmath's series needs many terms, it gives up."""
    bessel = getattr(mp, name)

    def meaning(v: Any, x: Any) -> Any:
        mirrored = v < 0 and v == mp.floor(v)  # where mpmath takes limits, which may not end
        turn = -1 if mirrored and name in ("besselj", "bessely") and v % 2 else 1
        order = -v if mirrored else v
        return turn * bessel(order, x, maxterms=5000) * mp.exp(sign * abs(x))

    return meaning


def _log_beta(a: Any, b: Any) -> Any:
    return mp.log(abs(mp.beta(a, b)))


def _binomial(n: Any, k: Any) -> Any:
    """With digits enough to tell a tiny `n` from the pole of the gamma function beside it."""
    with mp.workdps(400):
        return mp.binomial(n, k)


KINDS: dict[str, Kind] = {
    "iv": Kind(_bessel("besseli"), "vp"), "ive": Kind(_bessel("besseli", -1), "vp"),
    "jv": Kind(_bessel("besselj"), "vp"), "yv": Kind(_bessel("bessely"), "vp"),
    "kv": Kind(_bessel("besselk"), "vp"), "kve": Kind(_bessel("besselk", 1), "vp"),
    "i0e": Kind(lambda x: _bessel("besseli", -1)(0, x), "x"),
    "i1e": Kind(lambda x: _bessel("besseli", -1)(1, x), "x"),
    "beta": Kind(mp.beta, "qp"), "betaln": Kind(_log_beta, "qp"),
    "binom": Kind(_binomial, "qp"), "zeta": Kind(mp.zeta, "sp"),
    "expi": Kind(mp.ei, "x"), "exp1": Kind(mp.e1, "p"),
    "erfcx": Kind(lambda x: mp.exp(x * x) * mp.erfc(x), "p"),
    "digamma": Kind(mp.digamma, "p"), "loggamma": Kind(mp.loggamma, "p"),
    "rel_entr": Kind(lambda x, y: x * mp.log(x / y), "pp"),
    "xlogy": Kind(lambda x, y: x * mp.log(y), "xp"),
}  # fmt: skip


def _draw(rng: np.random.Generator, letter: str) -> float:
    small = float(10.0 ** rng.uniform(-3, 2.5))
    extreme = float(10.0 ** rng.uniform(-307, 5))
    half = float(rng.integers(1, 120)) / 2
    if letter == "v":
        return float(rng.choice([-1, 1])) * float(rng.choice([half, small, 0.0]))
    if letter == "s":
        return 1 + float(rng.choice([half, small]))
    if letter == "q" and rng.random() < 0.6:
        return -float(rng.choice([small, math.floor(small) + 0.5]))
    value = float(rng.choice([small, small, half, extreme, 5e-324, 1e-300]))
    return -value if letter == "x" and rng.random() < 0.4 else value


def _true(kind: Kind, point: tuple[float, ...]) -> float | None:
    """The value, None where mpmath gives up or the arguments do not determine it.

    Some of its series keep digits behind the point, of which a small value needs more.
    """
    try:
        with mp.workdps(50):
            value = kind.meaning(*map(mp.mpf, point))
        if 0 < abs(value) < 1e-20:
            with mp.workdps(50 - max(-330, math.floor(mp.log10(abs(value))))):
                value = kind.meaning(*map(mp.mpf, point))
    except (ValueError, ZeroDivisionError, OverflowError, mp.libmp.NoConvergence):
        return None
    return float(value) if mp.im(value) == 0 and not mp.isnan(value) else None


def _tolerance(name: str, kind: Kind, point: tuple[float, ...], true: float) -> float:
    size = abs(true)
    if name in ("jv", "yv") and point[1] > abs(point[0]) and math.isfinite(true):
        size = max(size, math.sqrt(2 / math.pi / point[1]))
    return kind.rtol * size + 1e-300


@dataclass(frozen=True)
class SpecialProgram:
    """A function and the points to apply it to."""

    name: str
    points: tuple[tuple[float, ...], ...]

    def run(self, mode: str) -> Compared:
        """Values at all points."""
        kind = KINDS[self.name]
        inputs = [T.vector(letter + str(k)) for k, letter in enumerate(kind.args)]
        value = getattr(T, self.name)(*inputs)
        chosen: dict[str, Any] = {"device": mode} if mode == "cuda:sim" else {"mode": mode}
        if mode == "default":
            chosen = {}
        columns = [np.array(column) for column in zip(*self.points, strict=True)]
        try:
            found = symc.function(inputs, value, **chosen)(*columns)
        except NotFinite as error:  # an infinity may be right: this mode does not know
            raise Refused(str(error)) from error
        unjudged = 0
        for point, got in zip(self.points, found, strict=True):
            true = _true(kind, point)
            if true is None:
                unjudged += 1
            elif got != true and not abs(got - true) <= _tolerance(self.name, kind, point, true):
                arguments = ", ".join(map(repr, point))
                raise Wrong(f"T.{self.name}({arguments}) is {got}, and not {true}, in {mode}")
        return Compared(1, len(self.points), unjudged)

    def smaller(self) -> Iterator[SpecialProgram]:
        """Each point alone."""
        if len(self.points) > 1:
            for point in self.points:
                yield SpecialProgram(self.name, (point,))

    def script(self, mode: str) -> str:
        """The calls, beside mpmath's values."""
        chosen = f"device={mode!r}" if mode == "cuda:sim" else f"mode={mode!r}"
        option = "" if mode == "default" else ", " + chosen
        lines = ["import symc", "import symc.tensor as T", ""]
        for point in self.points:
            arguments = ", ".join(f"T.as_tensor({value!r})" for value in point)
            call = f"symc.function([], T.{self.name}({arguments}){option})()"
            lines.append(f"print({call}, {_true(KINDS[self.name], point)!r})")
        return "\n".join(lines) + "\n"


class Special:
    """The generator."""

    name = "special"

    def generate(self, seed: int) -> SpecialProgram:
        """Twelve points of one function."""
        rng = np.random.default_rng([seed, 28])
        name = sorted(KINDS)[seed % len(KINDS)]
        points = tuple(tuple(_draw(rng, letter) for letter in KINDS[name].args) for _ in range(12))
        return SpecialProgram(name, points)

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones."""
        return usual_modes(seed)


GENERATOR = Special()
