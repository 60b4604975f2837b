"""Random loops run against loops in Python, as one generator of the campaign."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.graph.node import Array, Tensor
from tests.fuzz.loop_cases import Asked, Case
from tests.fuzz.loop_parts import smaller, text
from tests.fuzz.loops import RandomLoop, Scanned, Written
from tests.fuzz.opinions import interpreted
from tests.fuzz.protocol import Compared, Wrong, settings, usual_modes
from tests.ops.harness import called


def agree(seed: int, mode: str, *, second: bool = False, asked: Asked | None = None) -> Compared:
    """All that a loop gives, and the gradients of a cost made of it, against the loop in Python."""
    case, what = Case(seed, asked), f"seed={seed} mode={mode}"
    counts: list[int] = []
    rows, after = Written(np, counts).run(case.loop, case.given)
    steps = len(rows[0])
    number = T.lscalar("steps") if case.symbolic_steps else None
    outputs, updated = Scanned().run(case.loop, case.args, number)
    written, written_after = Written(T, counts).run(case.loop, case.args)
    costs = [
        case.scanned_cost(outputs, updated, steps),
        T.constant(0.0) + case.cost(written, written_after, steps),
    ]
    # The oracle cuts a truncated loop where it computes rows. The loop itself cuts its gradient
    # alone, as Theano's, so that derivatives of that see all rows.
    second = second and not any(loop.truncate != -1 for loop in loops_of(case.loop))
    found, wanted = (derived(cost, case, second=second) for cost in costs)
    results = [*outputs, *([] if updated is None else [updated]), *found]
    inputs = [*case.inputs, *([] if number is None else [number])]
    values = [*case.values, *([] if number is None else [np.array(case.loop.steps)])]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="a loop changes")  # it is an output here
        function = symc.function(inputs, results, on_unused_input="ignore", **settings(mode))
    expected = [
        np.stack(own) if own else np.zeros((0, *shape))
        for own, shape in zip(rows, case.rows, strict=True)
    ]
    expected += [] if updated is None else [after]
    expected += symc.function(case.inputs, wanted, mode="python", on_unused_input="ignore")(
        *case.values
    )
    opinions = list(called(function, values))
    if mode in ("default", "fast", "compile") and seed % 2:
        opinions.append(interpreted(function, values, optimised=seed % 4 == 1, backwards=True))
    for got in opinions:
        for position, (value, other) in enumerate(zip(got, expected, strict=True)):
            close(np.asarray(value), np.asarray(other), f"{what} result={position}")
    return Compared(len(opinions) * len(expected))


def loops_of(loop: RandomLoop) -> Iterator[RandomLoop]:
    """A loop and those inside it."""
    yield loop
    for made in loop.code:
        if made.loop is not None:
            yield from loops_of(made.loop)


def derived(cost: Tensor, case: Case, *, second: bool) -> list[Tensor]:
    """The gradients of a cost; also their product with a vector, and the gradients of that."""
    wrt = case.wrt
    gradients = symc.grad(cost, wrt, disconnected="zero")
    if not second:
        return gradients
    rng = np.random.default_rng(case.seed)
    values = [v for v, arg in zip(case.given, case.args, strict=True) if arg.dtype.is_float]
    vectors = [T.constant(rng.standard_normal(np.shape(value))) for value in values]
    product: Any = sum((g * v).sum() for g, v in zip(gradients, vectors, strict=True))
    forward = symc.Rop(cost, wrt, vectors, disconnected="zero")
    return [*gradients, forward, *symc.grad(product, wrt, disconnected="zero")]


def close(value: Array, expected: Array, what: str) -> None:
    scale = float(np.abs(expected).max(initial=1.0))
    try:
        assert value.shape == expected.shape, what
        np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-9 * scale, err_msg=what)
    except AssertionError as error:
        raise Wrong(str(error)) from None


@dataclass(frozen=True)
class LoopProgram:
    """A loop, by the seed of its inputs; of what that seed asks for perhaps only a part."""

    seed: int
    second: bool
    asked: Asked | None = None

    def run(self, mode: str) -> Compared:
        """Everything that it gives, and gradients."""
        return agree(self.seed, mode, second=self.second, asked=self.asked)

    def smaller(self) -> Iterator[LoopProgram]:
        """Without derivatives of second order; with less of the loop."""
        if self.second:
            yield replace(self, second=False)
        asked = self.asked or Case(self.seed).asked
        assert asked is not None
        for part in smaller(asked):
            yield replace(self, asked=part)

    def script(self, mode: str) -> str:
        """The loop as Python, its outputs in this mode and in mode python, and their gradients."""
        case = Case(self.seed, self.asked)
        names = [node.name for node in case.inputs]
        names += ["steps"] if case.symbolic_steps else []
        wrt = ", ".join(node.name or "s" for node in case.wrt)
        given, values = ", ".join(map(str, names)), ", ".join(f"{name}_value" for name in names)
        rest = ", ".join(f"{key}={value!r}" for key, value in settings(mode).items())
        lines = ["import numpy as np", "import symc", "from symc import tensor as T", *text(case)]
        lines += [
            "cost = sum(T.sqr(output).sum() for output in outputs)",
            f"results = [*outputs, *symc.grad(cost, [{wrt}], disconnected='zero')]",
            f"for how in ({{'mode': 'python'}}, dict({rest})):",
            f"    f = symc.function([{given}], results, on_unused_input='ignore', **how)",
            f"    print(*f({values}), sep='\\n')",
            f"# second order: {self.second}",
        ]
        return "\n".join(lines)


class Loops:
    """The generator."""

    name = "loops"

    def generate(self, seed: int) -> LoopProgram:
        """A loop; with derivatives of second order for some seeds."""
        return LoopProgram(seed, seed % 4 == 0)

    def modes(self, seed: int) -> tuple[str, ...]:
        """Those that do not mind NaN."""
        return tuple(mode for mode in usual_modes(seed) if mode != "nanguard")


GENERATOR = Loops()
