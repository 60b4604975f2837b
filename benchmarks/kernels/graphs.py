"""Graphs: searches and trees whose next step waits for an element found at a computed place."""

from __future__ import annotations

from typing import Any

import numpy as np

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

EDGES = 8  # of a node
FAR = 1e9


# --- how many edges away each node is -------------------------------------------------------------


def breadth_first(starts: Any, ends: Any) -> Any:
    n = starts.shape[0] - 1

    def visit(head: Any, tail: Any, far: Any, queue: Any) -> Any:
        node = queue[head]

        def edge(e: Any, tail: Any, far: Any, queue: Any) -> Any:
            end = ends[e]
            seen = [tail + 1, far[end].set(far[node] + 1), queue[tail].set(end)]
            return symc.ifelse(T.lt(far[end], 0), seen, [tail, far, queue])

        return [head + 1, *symc.fori_loop(starts[node], starts[node + 1], edge, [tail, far, queue])]

    first, second = T.constant(0, dtype="int64"), T.constant(1, dtype="int64")
    far = T.full((n,), -1, dtype="int64")[0].set(0)
    state = [first, second, far, T.zeros((n,), dtype="int64")]
    return symc.while_loop(lambda head, tail, *_: T.lt(head, tail), visit, state)[2]


def breadth_first_loops(starts: Any, ends: Any) -> Any:
    far, queue = np.full(len(starts) - 1, -1), np.zeros(len(starts) - 1, np.int64)
    far[0] = 0
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for e in range(starts[node], starts[node + 1]):
            end = ends[e]
            if far[end] < 0:
                far[end] = far[node] + 1
                queue[tail] = end
                tail += 1
    return far


# --- shortest paths, by way of the nearest node that is left --------------------------------------


def shortest(weights: Any) -> Any:
    n = weights.shape[0]

    def settle(_: Any, length: Any, left: Any) -> Any:
        node = T.argmin(T.where(left, length, T.constant(2 * FAR)))
        nearer = T.minimum(length, length[node] + weights[node])
        return [T.where(left, nearer, length), left[node].set(False)]

    length = T.full((n,), FAR)[0].set(0.0)
    return symc.fori_loop(0, n, settle, [length, T.ones((n,), dtype="bool")])[0]


def shortest_numpy(weights: Any) -> Any:
    length, left = np.full(len(weights), FAR), np.ones(len(weights), bool)
    length[0] = 0.0
    for _ in range(len(weights)):
        node = np.argmin(np.where(left, length, 2 * FAR))
        length = np.where(left, np.minimum(length, length[node] + weights[node]), length)
        left[node] = False
    return length


def shortest_loops(weights: Any) -> Any:
    n = len(weights)
    length, left = np.full(n, FAR), np.ones(n, np.bool_)
    length[0] = 0.0
    for _ in range(n):
        node, least = 0, 2 * FAR
        for k in range(n):
            if left[k] and length[k] < least:
                node, least = k, length[k]
        for k in range(n):
            if left[k]:
                length[k] = min(length[k], least + weights[node, k])
        left[node] = False
    return length


# --- which nodes are connected: trees of pointers, whose ways are halved --------------------------


def components(one: Any, other: Any, count: Any) -> Any:
    def root(node: Any, parent: Any) -> Any:
        def climb(node: Any, parent: Any) -> Any:
            above = parent[parent[node]]
            return [above, parent[node].set(above)]

        def is_below(node: Any, parent: Any) -> Any:
            return T.neq(parent[node], node)

        return symc.while_loop(is_below, climb, [node, parent])

    def join(e: Any, parent: Any) -> Any:
        first, parent = root(one[e], parent)
        second, parent = root(other[e], parent)
        return parent[T.maximum(first, second)].set(T.minimum(first, second))

    return symc.fori_loop(0, one.shape[0], join, T.arange(count.shape[0]))


def components_loops(one: Any, other: Any, count: Any) -> Any:
    parent = np.arange(len(count))
    for e in range(len(one)):
        first, second = one[e], other[e]
        while parent[first] != first:
            parent[first] = parent[parent[first]]
            first = parent[first]
        while parent[second] != second:
            parent[second] = parent[parent[second]]
            second = parent[second]
        parent[max(first, second)] = min(first, second)
    return parent


# --- where numbers belong among others that are in order ------------------------------------------


def halving(ordered: Any, wanted: Any) -> Any:
    def place(value: Any) -> Any:
        def halve(low: Any, high: Any) -> list[Any]:
            middle = (low + high) // 2
            is_below = ordered[middle] < value
            return [T.where(is_below, middle + 1, low), T.where(is_below, high, middle)]

        return symc.while_loop(lambda low, high: T.lt(low, high), halve, [0, ordered.shape[0]])[0]

    return symc.map(place, wanted)[0]


def halving_loops(ordered: Any, wanted: Any) -> Any:
    found = np.empty(len(wanted), np.int64)
    for i in range(len(wanted)):
        low, high = 0, len(ordered)
        while low < high:
            middle = (low + high) // 2
            if ordered[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low
    return found


# --- a heap: each number rises as long as the one above it is larger ------------------------------


def heap(x: Any) -> Any:
    def push(k: Any, numbers: Any) -> Any:
        def is_smaller(i: Any, numbers: Any) -> Any:
            return T.logical_and(i > 0, numbers[T.maximum((i - 1) // 2, 0)] > numbers[i])

        def rise(i: Any, numbers: Any) -> list[Any]:
            above = (i - 1) // 2
            lower, higher = numbers[above], numbers[i]
            return [above, numbers[i].set(lower)[above].set(higher)]

        return symc.while_loop(is_smaller, rise, [k, numbers[k].set(x[k])])[1]

    return symc.fori_loop(0, x.shape[0], push, T.zeros_like(x))


def heap_loops(x: Any) -> Any:
    numbers = np.zeros_like(x)
    for k in range(len(x)):
        numbers[k] = x[k]
        i = k
        while i > 0 and numbers[(i - 1) // 2] > numbers[i]:
            above = (i - 1) // 2
            numbers[i], numbers[above] = numbers[above], numbers[i]
            i = above
    return numbers


def _ordered(n: int) -> tuple[Any, ...]:
    return np.sort(numbers(n)), numbers(2 * n, seed=1)


def _graph(n: int) -> tuple[Any, ...]:
    return np.arange(0, n * EDGES + 1, EDGES), places(n, n * EDGES)


def _pairs(n: int) -> tuple[Any, ...]:
    return places(n, n), places(n, n, seed=1), numbers(n)


KERNELS = (
    Kernel("breadth_first", _graph, 2000, 20, breadth_first, None, breadth_first_loops),
    Kernel("shortest", lambda n: (numbers(n, n),), 200, 12,
           shortest, shortest_numpy, shortest_loops),
    Kernel("components", _pairs, 3000, 30, components, None, components_loops),
    Kernel("halving", _ordered, 1000, 20, halving, None, halving_loops),
    Kernel("heap", lambda n: (numbers(n),), 20_000, 30, heap, None, heap_loops),
)  # fmt: skip
