"""A random elementwise graph of n nodes, evaluated and differentiated by hand in NumPy too."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# name -> (value, derivatives with respect to each argument, given the arguments and the value)
UNARY: dict[str, tuple[Callable[[Array], Array], Callable[[Array, Array], Array]]] = {
    "tanh": (np.tanh, lambda _, y: 1 - y * y),
    "sin": (np.sin, lambda a, _: np.cos(a)),
    "cos": (np.cos, lambda a, _: -np.sin(a)),
    "arctan": (np.arctan, lambda a, _: 1 / (1 + a * a)),
}
BINARY = ("add", "sub", "mul", "maximum")


@dataclass(frozen=True, slots=True)
class Node:
    """One operation; arguments are positions in the list of inputs and earlier nodes."""

    op: str
    args: tuple[int, ...]


def program(count: int, inputs: int, seed: int) -> list[Node]:
    """`count` operations, of which the last needs all others.

    Each takes the one before it and, if it has two arguments, one of the last 30 or an input.
    Before each of those stands a bounded function, so that values stay moderate.
    """
    rng = random.Random(seed)
    nodes: list[Node] = []
    while len(nodes) < count:
        last = inputs + len(nodes) - 1
        bounded = nodes and nodes[-1].op in UNARY
        op = rng.choice([*UNARY, *BINARY]) if bounded else rng.choice(list(UNARY))
        if op in UNARY:
            nodes.append(Node(op, (last,)))
        else:
            inner = rng.random() < 0.9 and last > inputs
            other = rng.randrange(max(inputs, last - 30), last) if inner else rng.randrange(inputs)
            nodes.append(Node(op, (last, other)))
    return nodes


def forward(nodes: list[Node], inputs: list[Array]) -> list[Array]:
    """The values of inputs and nodes."""
    values = list(inputs)
    for node in nodes:
        args = [values[place] for place in node.args]
        if node.op in UNARY:
            values.append(UNARY[node.op][0](args[0]))
        else:
            function: Callable[[Array, Array], Array] = getattr(
                np, {"add": "add", "sub": "subtract", "mul": "multiply"}.get(node.op, node.op)
            )
            values.append(function(*args))
    return values


def gradient(nodes: list[Node], inputs: list[Array]) -> list[Array]:
    """The derivatives of the sum of the last node with respect to the inputs."""
    values = forward(nodes, inputs)
    bars: list[Array] = [np.zeros_like(value) for value in values]
    bars[-1] = np.ones_like(values[-1])
    for place in range(len(nodes) - 1, -1, -1):
        node, bar = nodes[place], bars[len(inputs) + place]
        args = [values[position] for position in node.args]
        result = values[len(inputs) + place]
        for position, factor in zip(node.args, _factors(node.op, args, result), strict=True):
            bars[position] = bars[position] + bar * factor
    return bars[: len(inputs)]


def _factors(op: str, args: list[Array], value: Array) -> list[Array]:
    match op:
        case "add":
            return [np.ones_like(value), np.ones_like(value)]
        case "sub":
            return [np.ones_like(value), -np.ones_like(value)]
        case "mul":
            return [args[1], args[0]]
        case "maximum":
            first = np.where(args[0] == args[1], 0.5, (args[0] > args[1]).astype(float))
            return [first, 1 - first]
        case _:
            return [UNARY[op][1](args[0], value)]
