"""Where the nodes of a graph are drawn: in layers, arguments above users (Sugiyama's method).

    layers      by the longest path from the inputs
    waypoints   where a line passes through layers between its ends
    order       within each layer, so that few lines cross: by the mean of the neighbours' places
    places      as near to the neighbours as the widths allow: least squares in a fixed order

Nothing depends on chance: the same graph is always drawn in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from symc.codegen.record import record

GAP = 24.0  # between neighbours in a layer
LAYER = 64.0  # from one layer to the next
SWEEPS = 8
MOST_WAYPOINTS = 4_000  # lines of graphs that need more are drawn straight

Point = tuple[float, float]


@record
class Layout:
    """The centre of each node, and the points that each line passes through."""

    width: float
    height: float
    places: tuple[Point, ...]
    lines: tuple[tuple[Point, ...], ...]


def layout(widths: Sequence[float], edges: Sequence[tuple[int, int]]) -> Layout:
    """Places for nodes of these widths; edges go from lower to higher numbers.

    >>> layout([10, 10], [(0, 1)]).places
    ((5.0, 32.0), (5.0, 96.0))
    """
    ranks = _ranks(len(widths), edges)
    drawn = _Drawn(list(widths), ranks)
    routes = [drawn.route(start, end) for start, end in edges]
    drawn.sort()
    across = drawn.spread()
    at = [(x, (rank + 0.5) * LAYER) for x, rank in zip(across, drawn.ranks, strict=True)]
    width = max([x + w / 2 for x, w in zip(across, drawn.widths, strict=True)], default=0.0)
    height = (max(ranks, default=-1) + 1) * LAYER
    lines = tuple(tuple(at[stop] for stop in route) for route in routes)
    return Layout(width, height, tuple(at[: len(widths)]), lines)


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each node; inputs stand right above the first that use them."""
    ranks = [0] * count
    fed = [False] * count
    for start, end in sorted(edges, key=lambda edge: edge[1]):
        ranks[end] = max(ranks[end], ranks[start] + 1)
        fed[end] = True
    nearest: dict[int, int] = {}
    for start, end in edges:
        nearest[start] = min(nearest.get(start, ranks[end]), ranks[end])
    return [rank if fed[node] else nearest.get(node, 1) - 1 for node, rank in enumerate(ranks)]


class _Drawn:
    """Nodes and waypoints in their layers."""

    def __init__(self, widths: list[float], ranks: list[int]) -> None:
        self.widths = widths
        self.ranks = ranks
        self.above: list[list[int]] = [[] for _ in widths]
        self.below: list[list[int]] = [[] for _ in widths]
        self.layers: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
        for node, rank in enumerate(ranks):
            self.layers[rank].append(node)

    def route(self, start: int, end: int) -> list[int]:
        """The stops of a line: its ends, and a waypoint in each layer between them."""
        stops = [start]
        if len(self.widths) < MOST_WAYPOINTS:
            for rank in range(self.ranks[start] + 1, self.ranks[end]):
                stops.append(len(self.widths))
                self.widths.append(0.0)
                self.ranks.append(rank)
                self.above.append([])
                self.below.append([])
                self.layers[rank].append(stops[-1])
        stops.append(end)
        for upper, lower in pairwise(stops):
            self.below[upper].append(lower)
            self.above[lower].append(upper)
        return stops

    def sort(self) -> None:
        """Orders each layer by where its neighbours stand, downwards and upwards in turn."""
        position = [0.0] * len(self.widths)
        for layer in self.layers:
            position = _numbered(layer, position)
        for sweep in range(SWEEPS):
            near = self.below if sweep % 2 else self.above
            for layer in reversed(self.layers) if sweep % 2 else self.layers:
                wanted = {node: _mean(near[node], position, position[node]) for node in layer}
                layer.sort(key=lambda node: (wanted[node], position[node]))
                position = _numbered(layer, position)

    def spread(self) -> list[float]:
        """How far from the left each node stands."""
        across = [0.0] * len(self.widths)
        for layer in self.layers:
            edge = 0.0
            for node in layer:
                across[node] = edge + self.widths[node] / 2
                edge += self.widths[node] + GAP
        for sweep in range(SWEEPS):
            near = self.below if sweep % 2 else self.above
            for layer in reversed(self.layers) if sweep % 2 else self.layers:
                wanted = [_mean(near[node], across, across[node]) for node in layer]
                for node, x in zip(layer, self._apart(layer, wanted), strict=True):
                    across[node] = x
        left = min([x - w / 2 for x, w in zip(across, self.widths, strict=True)], default=0.0)
        return [x - left for x in across]

    def _apart(self, layer: Sequence[int], wanted: Sequence[float]) -> list[float]:
        """The places nearest to those wanted that keep the order and the gaps."""
        offsets = [0.0]
        for left, right in pairwise(layer):
            between = (self.widths[left] + self.widths[right]) / 2 + GAP
            offsets.append(offsets[-1] + between)
        flat = rising([w - offset for w, offset in zip(wanted, offsets, strict=False)])
        return [x + offset for x, offset in zip(flat, offsets, strict=False)]


def rising(values: Sequence[float]) -> list[float]:
    """The numbers nearest to `values`, by least squares, that never fall.

    >>> rising([1, 4, 2, 9])
    [1.0, 3.0, 3.0, 9.0]
    """
    pools: list[tuple[float, int]] = []  # sums of neighbours that share their mean
    for value in values:
        total, count = float(value), 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            before, number = pools.pop()
            total, count = total + before, count + number
        pools.append((total, count))
    return [total / count for total, count in pools for _ in range(count)]


def _mean(nodes: Sequence[int], values: Sequence[float], otherwise: float) -> float:
    return sum(values[node] for node in nodes) / len(nodes) if nodes else otherwise


def _numbered(layer: Sequence[int], position: list[float]) -> list[float]:
    """The positions with those of a layer from 0 to 1, so that layers of all lengths compare."""
    for number, node in enumerate(layer):
        position[node] = (number + 0.5) / len(layer)
    return position
