"""Random typed graphs: every op that takes and gives floats of small arrays, in any combination.

A graph is described by its seed alone. Values stay moderate (every step is squashed now and then),
so that NumPy, the loop IR's interpreter and compiled C can be compared with a tight tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.graph.node import Array, Tensor
from tests.fuzz.opinions import interpreted
from tests.fuzz.protocol import Compared, Refused, Wrong, settings, usual_modes
from tests.ops.harness import called

LENGTHS = (1, 2, 3, 5, 8)


@dataclass
class RandomGraph:
    """Inputs with values, and outputs made from them by `steps` random steps."""

    seed: int
    steps: int = 12
    inputs: list[Tensor] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.dims = [int(d) for d in self.rng.choice(LENGTHS, 3)]
        self.pool: list[tuple[Tensor, tuple[int, ...]]] = []
        for number in range(int(self.rng.integers(1, 4))):
            self._input(number)
        for _ in range(self.steps):
            self._step()
        wanted = int(self.rng.integers(1, 4))
        self.outputs = [node for node, _ in self.pool[-wanted:]]

    def _input(self, number: int) -> None:
        rank = int(self.rng.integers(0, 4))
        shape = tuple(self.dims[:rank])
        static = self.rng.random() < 0.5
        declared = tuple(n if static or n == 1 else None for n in shape)
        node = T.tensor("float64", declared, name=f"x{number}")
        self.inputs.append(node)
        self.values.append(self.rng.standard_normal(shape))
        self.pool.append((node, shape))

    def _pick(self) -> tuple[Tensor, tuple[int, ...]]:
        recent = self.pool[-6:] if self.rng.random() < 0.7 else self.pool
        return recent[int(self.rng.integers(len(recent)))]

    def _step(self) -> None:
        kinds: list[Callable[[], tuple[Tensor, tuple[int, ...]] | None]] = [
            self._unary, self._unary, self._binary, self._binary, self._reduce, self._reduce,
            self._view, self._view, self._index, self._softmax, self._where, self._product,
            self._cumulative, self._join,
        ]  # fmt: skip
        made = kinds[int(self.rng.integers(len(kinds)))]()
        if made is not None and np.prod(made[1]) <= 4096:
            self.pool.append(made)

    def _unary(self) -> Any:
        x, shape = self._pick()
        functions: list[Callable[[Tensor], Tensor]] = [
            T.tanh, T.sigmoid, T.sin, T.cos, lambda a: -a, lambda a: a * a * 0.5, T.softplus,
            lambda a: T.exp(-T.abs(a)), lambda a: T.sqrt(1 + a * a), T.arctan, T.erf,
            lambda a: T.log(1.5 + T.tanh(a)), lambda a: T.relu(a), lambda a: T.gelu(a),
        ]  # fmt: skip
        return functions[int(self.rng.integers(len(functions)))](x), shape

    def _binary(self) -> Any:
        x, a = self._pick()
        y, b = self._pick()
        try:
            shape = np.broadcast_shapes(a, b)
        except ValueError:
            return None
        if not _broadcasts(x, a, shape) or not _broadcasts(y, b, shape):
            return None
        functions: list[Callable[[Tensor, Tensor], Tensor]] = [
            lambda p, q: p + q, lambda p, q: p - q, lambda p, q: T.tanh(p) * q,
            lambda p, q: p / (1 + q * q), T.maximum, T.minimum, lambda p, q: T.hypot(p, q + 2),
        ]  # fmt: skip
        return functions[int(self.rng.integers(len(functions)))](x, y), shape

    def _reduce(self) -> Any:
        x, shape = self._pick()
        if not shape or 0 in shape:
            return None
        count = int(self.rng.integers(1, len(shape) + 1))
        axes = tuple(sorted(int(a) for a in self.rng.choice(len(shape), count, replace=False)))
        keep = bool(self.rng.random() < 0.5)
        functions: list[Callable[..., Tensor]] = [T.mean, T.sum, T.max, T.min, T.logsumexp, T.var]
        result = functions[int(self.rng.integers(len(functions)))](x, axis=axes, keepdims=keep)
        left = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
        return T.tanh(result), left

    def _view(self) -> Any:
        x, shape = self._pick()
        choice = int(self.rng.integers(5))
        if choice == 0 and len(shape) > 1:
            order = tuple(int(a) for a in self.rng.permutation(len(shape)))
            return T.transpose(x, order), tuple(shape[a] for a in order)
        if choice == 1 and len(shape) < 3:
            axis = int(self.rng.integers(len(shape) + 1))
            return T.expand_dims(x, axis), (*shape[:axis], 1, *shape[axis:])
        if choice == 2 and len(shape) > 1:
            return T.reshape(x, (-1,)), (int(np.prod(shape)),)
        if choice == 3 and shape:
            axis = int(self.rng.integers(len(shape)))
            return T.flip(x, axis), shape
        if choice == 4 and len(shape) == 2:
            return x[:, None, ::-1], (shape[0], 1, shape[1])
        return None

    def _index(self) -> Any:
        x, shape = self._pick()
        if not shape or shape[0] < 2:
            return None
        choice = int(self.rng.integers(5))
        n = shape[0]
        if choice == 0:
            return x[1:], (n - 1, *shape[1:])
        if choice == 1:
            return x[::-2], ((n + 1) // 2, *shape[1:])
        if choice == 2:
            return x[-1], shape[1:]
        if choice == 3:
            index = self.rng.integers(-n, n, 4)
            return x[index], (4, *shape[1:])
        return x[1:].set(x[:-1]), shape

    def _softmax(self) -> Any:
        x, shape = self._pick()
        if not shape:
            return None
        axis = int(self.rng.integers(len(shape)))
        function = T.softmax if self.rng.random() < 0.5 else T.log_softmax
        return function(x, axis=axis), shape

    def _where(self) -> Any:
        x, shape = self._pick()
        return T.where(x > 0.1, T.sqrt(T.abs(x)), x * 0.3), shape

    def _product(self) -> Any:
        x, a = self._pick()
        if len(a) != 2:
            return None
        return T.tanh(T.matmul(x, T.transpose(x))), (a[0], a[0])

    def _cumulative(self) -> Any:
        x, shape = self._pick()
        if not shape:
            return None
        axis = int(self.rng.integers(len(shape)))
        return T.tanh(T.cumsum(x, axis=axis)), shape

    def _join(self) -> Any:
        x, shape = self._pick()
        if not shape:
            return None
        return T.concatenate([x, x * 0.5], axis=0), (2 * shape[0], *shape[1:])


def _broadcasts(node: Tensor, shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether every length that must stretch is known to be 1: others would be a ShapeMismatch."""
    pairs = zip(node.type.shape, shape, wanted[len(wanted) - len(shape) :], strict=True)
    return all(dim == 1 or length == full for dim, length, full in pairs)


# --- running them ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class GraphProgram:
    """A random graph and the gradients of the sum of its outputs."""

    seed: int
    steps: int

    def run(self, mode: str) -> Compared:
        """Compiled code and the loop IR against the ops' meanings in NumPy."""
        graph = RandomGraph(self.seed, self.steps)
        cost = reduce(add, (output.sum() for output in graph.outputs))
        gradients = symc.grad(cost, graph.inputs, disconnected="zero")
        results = [*graph.outputs, *gradients]
        finite: list[bool] = []
        wanted = evaluate(
            results, dict(zip(graph.inputs, graph.values, strict=True)),
            after=lambda _, value: finite.append(bool(np.isfinite(value).all())),
        )  # fmt: skip
        if mode == "nanguard" and not all(finite):
            raise Refused("nanguard asks for finite numbers")
        function = symc.function(graph.inputs, results, on_unused_input="ignore", **settings(mode))
        opinions: list[tuple[str, Any]] = [
            (mode, results) for results in called(function, graph.values)
        ]
        if mode in ("default", "fast", "compile"):
            optimised = self.seed % 2 == 0
            got = interpreted(function, graph.values, optimised=optimised, backwards=True)
            opinions.append(("IR", got))
        for who, got in opinions:
            for position, (value, expected) in enumerate(zip(got, wanted, strict=True)):
                _close(value, expected, f"{who}: {self} result={position}")
        return Compared(len(opinions) * len(wanted))

    def smaller(self) -> Iterator[GraphProgram]:
        """With fewer steps."""
        for steps in range(self.steps):
            yield replace(self, steps=steps)

    def script(self, mode: str) -> str:
        """Runs it here: a graph has no text of its own."""
        return f"from tests.fuzz.graphs import {type(self).__name__}\n\n{self}.run({mode!r})"


def _close(value: Array, expected: Array, what: str) -> None:
    scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
    try:
        assert value.shape == expected.shape, what
        assert value.dtype == expected.dtype, what
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-10 * scale, err_msg=what)
    except AssertionError as error:
        raise Wrong(str(error)) from None


class Graphs:
    """The generator."""

    name = "graphs"

    def generate(self, seed: int) -> GraphProgram:
        """A graph of 5 to 44 steps."""
        return GraphProgram(seed, 5 + seed % 40)

    def modes(self, seed: int) -> tuple[str, ...]:
        """The usual ones."""
        return usual_modes(seed)


GENERATOR = Graphs()
