"""Random loops with their inputs, and a cost made of their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor
from tests.fuzz.loops import HEIGHT, WIDTH, Maker, RandomLoop, Shape


@dataclass(frozen=True)
class Asked:
    """A loop, the rows of its outputs, their part in the cost, and how steps are said."""

    loop: RandomLoop
    rows: tuple[Shape, ...]
    uses: tuple[str, ...]
    symbolic_steps: bool


@dataclass
class Case:
    """A random loop with its inputs, and a cost made of its results.

    A part of it may be `asked` for instead of the whole.
    """

    seed: int
    asked: Asked | None = None
    inputs: list[Tensor] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        maker = Maker(self.rng)
        pool: list[tuple[Shape, bool]] = []
        lengths = [int(n) for n in self.rng.integers(3, 9, 4)]
        shapes: list[Shape] = [
            (lengths[0],), (lengths[1], WIDTH), (lengths[2], HEIGHT, WIDTH), (), (WIDTH,),
            (HEIGHT, WIDTH), (3,), (3, WIDTH), (WIDTH, WIDTH), (),
        ]  # fmt: skip
        for number, shape in enumerate(shapes):
            static = maker.chance(0.4)
            declared = tuple(n if static or n == 1 else None for n in shape)
            self.inputs.append(T.tensor("float64", declared, name=f"x{number}"))
            self.values.append(self.rng.standard_normal(shape) * 0.8)
            pool.append((shape, False))
        self.inputs.append(T.lvector("whole"))
        self.values.append(self.rng.integers(-3, 4, lengths[3]))
        pool.append(((lengths[3],), True))
        self.shared: SharedVariable | None = None
        self.args: list[Tensor] = list(self.inputs)
        if maker.chance(0.3):
            shape = maker.pick([(), (WIDTH,)])
            self.shared = symc.shared(self.rng.standard_normal(shape), name="s")
            self.args.append(self.shared)
            pool.append((shape, False))
        place = None if self.shared is None else len(pool) - 1
        loop, rows = maker.loop(pool, 0, place)
        uses = tuple(maker.pick(["all", "last", "tail", "both"]) for _ in rows)
        symbolic_steps = loop.says_steps and maker.chance(0.5)
        self.weights = self.rng.standard_normal(512)
        self.asked = self.asked or Asked(loop, tuple(rows), uses, symbolic_steps)
        self.loop, self.rows, self.uses = self.asked.loop, self.asked.rows, self.asked.uses
        self.symbolic_steps = self.asked.symbolic_steps

    @property
    def given(self) -> list[Any]:
        """The values of all arguments."""
        return self.values + ([] if self.shared is None else [self.shared.get_value()])

    @property
    def wrt(self) -> list[Tensor]:
        """The inputs that have gradients."""
        return [arg for arg in self.args if arg.dtype.is_float]

    def cost(self, outputs: Sequence[Any], after: Any, count: int) -> Any:
        """A number made of the rows of outputs, `count` of each, and of the shared variable."""
        total: Any = 0.0
        for number, (rows, use) in enumerate(zip(outputs, self.uses, strict=True)):
            w = self.weights[10 * number : 10 * number + count]
            for t in range(count):
                if use in ("all", "both") or (use == "tail" and t):
                    total = total + rows[t].sum() * w[t]
            if count and use in ("last", "both"):
                total = total + (rows[count - 1] * rows[count - 1]).sum()
        return total if after is None else total + (after * after).sum()

    def scanned_cost(self, outputs: Sequence[Tensor], after: Any, count: int) -> Tensor:
        """The same of the loop's outputs."""
        total = T.constant(0.0)
        for number, (rows, use) in enumerate(zip(outputs, self.uses, strict=True)):
            w = self.weights[10 * number : 10 * number + count]
            sums = rows.sum(axis=tuple(range(1, rows.ndim))) if rows.ndim > 1 else rows
            if use in ("all", "both"):
                total = total + (sums * w).sum()
            elif use == "tail":
                total = total + (sums[1:] * w[1:]).sum()
            if count and use in ("last", "both"):
                total = total + T.sqr(rows[-1]).sum()
        return total if after is None else total + T.sqr(after).sum()
