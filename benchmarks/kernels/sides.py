"""Branches whose sides read and write arrays: relaxed distances, a machine's memory, merging."""

from __future__ import annotations

from typing import Any

import numpy as np

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

EDGES = 8  # of a node
ROUNDS = 10
CELLS = 16

# --- shortest ways from one node, edge by edge (R. Bellman, L. R. Ford) ---------------------------


def relaxed(starts: Any, ends: Any, lengths: Any, far: Any) -> Any:
    def edge(e: Any, far: Any) -> Any:
        way = far[starts[e]] + lengths[e]
        return symc.ifelse(way < far[ends[e]], far[ends[e]].set(way), far)

    def again(_: Any, far: Any) -> Any:
        return symc.fori_loop(0, starts.shape[0], edge, far)

    return symc.fori_loop(0, ROUNDS, again, far)


def relaxed_loops(starts: Any, ends: Any, lengths: Any, far: Any) -> Any:
    far = far.copy()
    for _ in range(ROUNDS):
        for e in range(len(starts)):
            way = far[starts[e]] + lengths[e]
            if way < far[ends[e]]:
                far[ends[e]] = way
    return far


# --- a machine of five operations, two of which are about its memory ------------------------------


def machine(operations: Any, operands: Any) -> Any:
    def step(i: Any, total: Any, memory: Any) -> Any:
        operation, x = operations[i], operands[i]
        load = symc.ifelse(T.eq(operation, 3), [memory[x], memory], [total ^ x, memory])
        store = symc.ifelse(T.eq(operation, 2), [total, memory[x].set(total)], load)
        less = symc.ifelse(T.eq(operation, 1), [total - x, memory], store)
        return symc.ifelse(T.eq(operation, 0), [total + x, memory], less)

    first = [T.constant(0), T.zeros((CELLS,), dtype="int64")]
    return symc.fori_loop(0, operations.shape[0], step, first)[1]


def machine_loops(operations: Any, operands: Any) -> Any:
    total, memory = 0, np.zeros(CELLS, np.int64)
    for i in range(len(operations)):
        operation, x = operations[i], operands[i]
        if operation == 0:
            total += x
        elif operation == 1:
            total -= x
        elif operation == 2:
            memory[x] = total
        elif operation == 3:
            total = memory[x]
        else:
            total ^= x
    return memory


# --- two sorted arrays as one ---------------------------------------------------------------------


def merged(x: Any, y: Any) -> Any:
    n, m = x.shape[0], y.shape[0]

    def step(k: Any, i: Any, j: Any, out: Any) -> Any:
        is_less = symc.ifelse(j < m, x[i] <= y[j], T.constant(value=True))
        from_x = symc.ifelse(i < n, is_less, T.constant(value=False))
        first, second = out[k].set(x[i]), out[k].set(y[j])
        return symc.ifelse(from_x, [i + 1, j, first], [i, j + 1, second])

    start = [T.constant(0), T.constant(0), T.zeros((n + m,))]
    return symc.fori_loop(0, n + m, step, start)[2]


def merged_loops(x: Any, y: Any) -> Any:
    n, m = len(x), len(y)
    out = np.zeros(n + m)
    i = j = 0
    for k in range(n + m):
        if i < n and (j >= m or x[i] <= y[j]):
            out[k] = x[i]
            i += 1
        else:
            out[k] = y[j]
            j += 1
    return out


def _edges(n: int) -> tuple[Any, ...]:
    far = np.full(n, 1e9)
    far[0] = 0.0
    size = n * EDGES
    return places(n, size), places(n, size, seed=1), numbers(size), far


def _sorted(n: int) -> tuple[Any, ...]:
    return np.sort(numbers(n)), np.sort(numbers(n, seed=1))


KERNELS = (
    Kernel("relaxed", _edges, 1000, 12, relaxed, None, relaxed_loops),
    Kernel("machine", lambda n: (places(5, n), places(CELLS, n, seed=1)), 100_000, 50,
           machine, None, machine_loops),
    Kernel("merged", _sorted, 50_000, 20, merged, None, merged_loops),
)  # fmt: skip
