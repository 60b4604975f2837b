"""Layouts: lines go down, nothing overlaps, and the same graph is drawn the same way."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from symc.show.report.layout import GAP, LAYER, layout, rising

Graph = tuple[list[float], list[tuple[int, int]]]


def graph(seed: int, count: int) -> Graph:
    chance = random.Random(seed)
    edges = {
        (chance.randrange(max(0, end - 12), end), end)
        for end in range(3, count)
        for _ in range(chance.randint(1, 3))
    }
    return [chance.uniform(20, 150) for _ in range(count)], sorted(edges)


@pytest.mark.parametrize(("seed", "count"), [(0, 1), (1, 5), (2, 40), (3, 300)])
def test_nodes_do_not_overlap_and_lines_go_down(seed: int, count: int) -> None:
    widths, edges = graph(seed, count)
    drawn = layout(widths, edges)
    layers: dict[float, list[tuple[float, float]]] = {}
    for (x, y), width in zip(drawn.places, widths, strict=True):
        assert x - width / 2 >= -1e-6
        assert x + width / 2 <= drawn.width + 1e-6
        assert 0 < y < drawn.height
        layers.setdefault(y, []).append((x - width / 2, x + width / 2))
    for boxes in layers.values():
        boxes.sort()
        for (_, right), (left, _) in pairwise(boxes):
            assert left - right >= GAP - 1e-6
    for (start, end), line in zip(edges, drawn.lines, strict=True):
        assert line[0] == drawn.places[start]
        assert line[-1] == drawn.places[end]
        steps = [lower - upper for (_, upper), (_, lower) in pairwise(line)]
        assert steps == [LAYER] * len(steps)
    assert drawn == layout(widths, edges)


def test_a_tree_is_drawn_without_crossings() -> None:
    # Two sums, the arguments of which come in turn: they must be moved apart.
    edges = [(0, 4), (2, 4), (1, 5), (3, 5), (4, 6), (5, 6)]
    places = layout([40.0] * 7, edges).places
    order = sorted(range(4), key=lambda node: places[node][0])
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}
    assert places[6][0] == pytest.approx((places[4][0] + places[5][0]) / 2)


def test_the_nearest_rising_numbers() -> None:
    assert rising([]) == []
    assert rising([3, 2, 1]) == [2, 2, 2]
    assert rising([1, 2, 3]) == [1, 2, 3]


def test_nothing_is_drawn_of_nothing() -> None:
    assert layout([], []).places == ()
