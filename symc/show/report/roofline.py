"""How near each kernel comes to the limits of this machine (Williams' roofline).

A kernel that does few operations for each byte is bound by memory, one that does many by
arithmetic: no point lies above the roof, unless its arrays come from a cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import ceil, floor, log10

import numpy as np

from symc.codegen.record import record
from symc.show.report.markup import Html, link, tag

WIDTH, HEIGHT, LEFT, BOTTOM = 620.0, 300.0, 60.0, 30.0
LETTER, LINE = 6.8, 11.0  # of names
COPIED = 1 << 22  # numbers: more than caches hold
MATRIX = 768


@record
class Machine:
    """The limits of this machine: bytes and operations a second."""

    bandwidth: float
    operations: float


@record
class RooflinePoint:
    """A kernel: its operations a byte, and a second."""

    title: str
    place: str
    intensity: float
    rate: float


def measured_machine() -> Machine:
    """NumPy's figures here: copying a long array, and multiplying matrices."""
    source, target = np.ones(COPIED), np.empty(COPIED)
    copying = _best(lambda: np.copyto(target, source))
    matrix = np.ones((MATRIX, MATRIX))
    multiplying = _best(lambda: matrix @ matrix)
    return Machine(2 * source.nbytes / copying, 2 * MATRIX**3 / multiplying)


def _best(call: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def roofline(points: Sequence[RooflinePoint], machine: Machine) -> Html:
    """The points below the roof; both axes are logarithmic.

    Names stand where there is room, those of the first points before others.
    """
    ridge = machine.operations / machine.bandwidth
    across = _Axis([ridge / 100, ridge * 4, *(p.intensity for p in points)], LEFT, WIDTH - 20)
    rates = [machine.operations, machine.operations / 1000, *(p.rate for p in points)]
    up = _Axis(rates, HEIGHT - BOTTOM, 20)
    first = 10.0**across.first
    corners = [
        (across(first), up(max(first * machine.bandwidth, 10.0**up.first))),
        (across(ridge), up(machine.operations)),
        (across(10.0**across.last), up(machine.operations)),
    ]
    roof = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
    drawn = [
        *_grid(across, up),
        tag("path", d=roof, class_="roof"),
        *_dots(points, across, up),
    ]
    return tag(
        "svg", *drawn, viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}", class_="roofline", role="group",
        aria_label="roofline: operations a second of each kernel over its operations a byte",
    )  # fmt: skip


class _Axis:
    """From numbers to places on the page, powers of ten at even distances."""

    def __init__(self, numbers: Sequence[float], begin: float, end: float) -> None:
        self.first, self.last = floor(log10(min(numbers))), ceil(log10(max(numbers)))
        self._begin, self._unit = begin, (end - begin) / (self.last - self.first)

    def __call__(self, number: float) -> float:
        return self._begin + (log10(number) - self.first) * self._unit


def _grid(across: _Axis, up: _Axis) -> list[Html]:
    lines: list[Html] = []
    for power in range(across.first, across.last + 1):
        x = across(10.0**power)
        lines.append(tag("path", d=f"M{x:.1f} 20V{HEIGHT - BOTTOM}", class_="edge"))
        lines.append(tag("text", f"{10.0**power:g}", x=x - 8, y=HEIGHT - 16))
    for power in range(up.first, up.last + 1):
        y = up(10.0**power)
        lines.append(tag("path", d=f"M{LEFT} {y:.1f}H{WIDTH - 20}", class_="edge"))
        lines.append(tag("text", f"1e{power}", x=20, y=y + 4))
    lines.append(tag("text", "operations a byte", x=WIDTH / 2 - 60, y=HEIGHT - 2))
    lines.append(tag("text", "operations a second", x=0, y=12))
    return lines


def _dots(points: Sequence[RooflinePoint], across: _Axis, up: _Axis) -> list[Html]:
    drawn: list[Html] = []
    taken: list[tuple[float, float, float]] = []  # where names stand: left, right, height
    for point in points:
        x, y = across(point.intensity), up(point.rate)
        words = tag("title", f"{point.title}: {point.rate / 1e9:.3g} G operations/s")
        parts = [tag("circle", words, cx=x, cy=y, r=5, class_="dot")]
        width = LETTER * len(point.title)
        for left, anchor in ((x + 8, "start"), (x - 8 - width, "end")):
            inside = left > LEFT and left + width < WIDTH
            if inside and not any(
                left < right and begin < left + width and abs(y - height) < LINE
                for begin, right, height in taken
            ):
                taken.append((left, left + width, y))
                at = left if anchor == "start" else left + width
                parts.append(tag("text", point.title, x=at, y=y + 4, text_anchor=anchor))
                break
        drawn.append(link(point.place, *parts))
    return drawn
