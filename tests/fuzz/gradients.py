"""Gradients of random expressions: against differences of NumPy's values, forward mode, and python.

The cost is a weighted sum of all outputs. Its derivative along a direction is found in four ways:
by the gradient, by `symc.Rop`, by central differences in NumPy, and, for the second order, by
differences of the first. Where two steps of differences disagree, or both sides do (a kink), they
say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.errors import GradientError, LinAlgError
from symc.graph.interpreter import evaluate
from symc.graph.node import Array, Tensor
from tests.fuzz.drawing import Drawing, given_text
from tests.fuzz.expressions import Writer
from tests.fuzz.lines import Given, Lines, tensor_of
from tests.fuzz.oracle import Opinion, values_from
from tests.fuzz.protocol import Compared, Refused, Wrong, settings, usual_modes
from tests.ops.harness import called

STEP = float(np.finfo(np.float64).eps) ** (1 / 3)
ROUNDING = 1e3 * float(np.finfo(np.float64).eps) ** (2 / 3)
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Gradient:
    """Lines, whose outputs are weighed to a cost; `second` asks for the second order, too."""

    lines: Lines
    second: bool

    def run(self, mode: str) -> Compared:
        """All ways to the same derivative."""
        return _Derivation(self.lines, second=self.second).run(mode)

    def smaller(self) -> Iterator[Gradient]:
        """Of the first order; with fewer lines and numbers."""
        if self.second:
            yield replace(self, second=False)
        for lines in self.lines.smaller():
            yield replace(self, lines=lines)

    def script(self, mode: str) -> str:
        """The cost, its gradient in this mode and in mode python, and a difference."""
        rest = ", ".join(f"{key}={value!r}" for key, value in settings(mode).items())
        names = [item.name for item in self.lines.given]
        costs = [f"T.sum({name} * weights({name!r}, {name}_shape))" for name in self.lines.outputs]
        values = self.lines.symbols(self.lines.values())
        lines = [*self.lines.head(), "from tests.fuzz.gradients import weights"]
        for name in self.lines.outputs:
            shape = _shape_of(self.lines, name)
            lines.append(f"{name}_shape = {shape}")
        wrt = ", ".join(name for name in names if values[name].dtype.is_float)
        given = ", ".join(names)
        arguments = ", ".join(f"{name}_value" for name in names)
        lines += [
            f"cost = {' + '.join(costs)}",
            f"results = [cost, *symc.grad(cost, [{wrt}], disconnected='zero')]",
            f"for how in ({{'mode': 'python'}}, dict({rest})):",
            f"    f = symc.function([{given}], results, on_unused_input='ignore', **how)",
            f"    print(f({arguments}))",
            f"# second order: {self.second}",
        ]  # fmt: skip
        return "\n".join(lines)


def weights(name: str, shape: tuple[int, ...]) -> Array:
    """The weight of an output in the cost; also directions."""
    seed = [ord(letter) for letter in name]
    return np.random.default_rng(seed).standard_normal(shape)


def _shape_of(lines: Lines, name: str) -> tuple[int, ...]:
    return values_from(lines, lines.values())[name].shape


class _Derivation:
    """The tensors of a cost and its derivatives, and their values."""

    def __init__(self, lines: Lines, *, second: bool) -> None:
        self.lines = lines
        self.given = lines.values()
        opinion = Opinion(lines, self.given)
        if not opinion.finite:
            raise Refused("derivatives are asked for finite numbers")
        space = lines.symbols(self.given)
        self.symbols: list[Tensor] = [space[item.name] for item in lines.given]
        self.names = [item.name for item in lines.given]
        self.wrt = [name for name in self.names if self.given[name].dtype == np.float64]
        self.along = {name: weights(name, self.given[name].shape) for name in self.wrt}
        self.shapes = {name: opinion.values[name].shape for name in lines.outputs}
        if any(opinion.values[name].dtype != np.float64 for name in lines.outputs):
            raise Refused("the cost is a sum of float64")
        terms = [
            T.sum(tensor_of(space, name) * weights(name, self.shapes[name]))
            for name in lines.outputs
        ]
        self.cost: Tensor = terms[0]
        for term in terms[1:]:
            self.cost = self.cost + term
        targets = [space[name] for name in self.wrt]
        vectors = [T.constant(self.along[name]) for name in self.wrt]
        try:
            self.gradients = list(symc.grad(self.cost, targets, disconnected="zero"))
            forward = symc.Rop(self.cost, targets, vectors, disconnected="zero")
            self.inner: Tensor = T.constant(0.0)
            for gradient, vector in zip(self.gradients, vectors, strict=True):
                self.inner = self.inner + T.sum(gradient * vector)
            results = [self.cost, *self.gradients, forward]
            self.curved = (
                list(symc.grad(self.inner, targets, disconnected="zero")) if second else []
            )
        except GradientError as error:
            raise Refused(str(error).partition("\n")[0]) from None
        self.results: list[Tensor] = [*results, *self.curved]

    def run(self, mode: str) -> Compared:
        """All derivatives, compared. The divisor of one may be singular."""
        wanted, spread = self._by_evaluation()
        total = self._differences(wanted)
        function = symc.function(
            self.symbols, self.results, on_unused_input="ignore", **settings(mode)
        )
        try:
            results = list(called(function, [self.given[name] for name in self.names]))
        except LinAlgError as error:
            if all(bool(np.isfinite(value).all()) for value in wanted):
                raise
            raise Refused(f"no derivative: {str(error).partition(chr(10))[0]}") from None
        for got in results:
            for number, value in enumerate(got):
                what = f"{mode}: {self._title(number)}"
                total += _near(np.asarray(value), wanted[number], spread[number], what)
        return total

    def _title(self, number: int) -> str:
        titles = ["the cost", *(f"the gradient for {name}" for name in self.wrt), "Rop"]
        titles += [f"the second derivative for {name}" for name in self.wrt]
        return titles[number]

    def _at(self, values: Mapping[str, Array]) -> dict[Tensor, Array]:
        return {s: values[name] for s, name in zip(self.symbols, self.names, strict=True)}

    def _by_evaluation(self) -> tuple[list[Array], list[Array]]:
        """The results by the ops' meanings, and how far the last digits of inputs move them."""
        wanted = evaluate(self.results, self._at(self.given))
        spread = [np.zeros(value.shape) for value in wanted]
        rng = np.random.default_rng(1)
        for _ in range(3):
            moved = {
                name: np.asarray(value * (1 + 8 * EPS * rng.uniform(-1, 1, value.shape)))
                if name in self.along else value
                for name, value in self.given.items()
            }  # fmt: skip
            others = evaluate(self.results, self._at(moved))
            for number, (value, other) in enumerate(zip(wanted, others, strict=True)):
                if other.shape == value.shape:
                    with np.errstate(all="ignore"):
                        spread[number] = np.fmax(spread[number], abs(other - value))
        return wanted, spread

    # --- differences ------------------------------------------------------------------------------

    def _moved(self, step: float) -> dict[str, Array]:
        return {
            name: np.asarray(value + step * self.along[name]) if name in self.along else value
            for name, value in self.given.items()
        }

    def _cost_at(self, step: float) -> float:
        """The cost by NumPy; NaN where the shapes have changed."""
        values = values_from(self.lines, self._moved(step))
        if any(values[name].shape != shape for name, shape in self.shapes.items()):
            return float("nan")
        with np.errstate(all="ignore"):
            return float(sum(
                (values[name] * weights(name, shape)).sum() for name, shape in self.shapes.items()
            ))  # fmt: skip

    def _slope_at(self, step: float) -> float:
        return float(evaluate([self.inner], self._at(self._moved(step)))[0])

    def _differences(self, wanted: Sequence[Array]) -> Compared:
        """Rop, the gradient and, by its own differences, the second order, along one direction."""
        gradients = wanted[1 : 1 + len(self.wrt)]
        products = [g * self.along[n] for g, n in zip(gradients, self.wrt, strict=True)]
        slope = float(sum(product.sum() for product in products))
        size = float(sum(abs(product).sum() for product in products))
        forward = float(wanted[1 + len(self.wrt)])
        if np.isfinite(slope) and not abs(forward - slope) <= 1e-9 * (size + abs(slope) + 1e-3):
            raise Wrong(f"Rop gives {forward!r}, the gradient along the same direction {slope!r}")
        judged = [_difference(self._cost_at, slope, "the gradient")]
        if self.curved:
            bars = wanted[2 + len(self.wrt) :]
            pairs = zip(bars, self.wrt, strict=True)
            curve = float(sum((h * self.along[name]).sum() for h, name in pairs))
            judged.append(_difference(self._slope_at, curve, "the second derivative"))
        return Compared(1 + len(judged), 1 + len(judged), judged.count(False))


def _difference(function: Any, slope: float, what: str) -> bool:
    """Whether differences determine the slope; raises `Wrong` if it is another."""
    middle = function(0.0)
    found: list[float] = []
    for step in (STEP, 3 * STEP):
        high, low = function(step), function(-step)
        size = max(abs(high), abs(low), abs(middle), 1e-3)
        if not np.isfinite([high, low, middle, slope]).all():
            return False
        one, other = (high - middle) / step, (middle - low) / step
        if abs(one - other) > 1e-3 * (abs(one) + abs(other)) + ROUNDING * size / STEP * 1e-2:
            return False  # a kink, or much curvature
        found.append((high - low) / (2 * step))
    apart = abs(found[0] - found[1])
    if apart > 1e-3 * abs(found[0]) + ROUNDING * size:
        return False
    if abs(slope - found[0]) > 20 * apart + 10 * ROUNDING * (size + abs(slope)):
        raise Wrong(f"{what} is {slope!r} along a direction, differences of NumPy's give {found}")
    return True


def _near(value: Array, expected: Array, spread: Array, what: str) -> Compared:
    if value.shape != expected.shape or value.dtype != expected.dtype:
        raise Wrong(f"{what}: {value.dtype}{value.shape}, not {expected.dtype}{expected.shape}")
    ordinary = np.isfinite(expected)
    scale = float(np.abs(expected[ordinary]).max(initial=1.0))
    with np.errstate(all="ignore"):
        allowed = 1e-9 * np.abs(expected) + 1e-10 * scale + 32 * np.where(ordinary, spread, 0)
        right = np.where(ordinary, np.abs(value - expected) <= allowed, True)
    if not right.all():
        raise Wrong(f"{what}:\n{value}\nwhere mode python gives\n{expected}")
    return Compared(1, value.size, int((~ordinary).sum()))


class Gradients:
    """The generator."""

    name = "gradients"

    def generate(self, seed: int) -> Gradient:
        """A program of 1 to 20 lines over float64, and some integers and conditions."""
        rng = np.random.default_rng([seed, 2])
        draw = Drawing(rng)
        writer = Writer(rng, 300, dtypes=("float64", "complex128", "int64", "bool"))
        lengths = [int(n) for n in rng.choice((1, 2, 3, 3, 4, 5), 3)]
        for number in range(int(rng.integers(1, 4))):
            shape = tuple(lengths[: int(rng.integers(0, 4))])
            dtype = "float64" if not number else draw.pick(["float64", "float64", "int64", "bool"])
            known = tuple(draw.chance(0.4) for _ in shape)
            writer.give(Given(f"x{number}", given_text(rng, dtype, shape, 0.0), known))
        steps, tries = int(rng.integers(1, 21)), 0
        while len(writer.lines) < steps and tries < 12 * steps:
            tries += 1
            writer.draw()
        usable = [
            line.name for line in writer.lines if writer.values[line.name].dtype == np.float64
        ]
        outputs = tuple(usable[-int(rng.integers(1, 4)) :]) or ("x0",)
        lines = Lines(tuple(writer.given), tuple(writer.lines), outputs).needed()
        return Gradient(lines, seed % 3 == 0)

    def modes(self, seed: int) -> tuple[str, ...]:
        """Those that compile."""
        return tuple(m for m in usual_modes(seed) if m not in ("python", "nanguard", "debug"))


GENERATOR = Gradients()
