"""The Python part of function() for random elementwise graphs of more and more nodes."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Once, Results, absent_text, check_all, show

from cases.random_graph import UNARY, forward, gradient, program

INPUTS, LENGTH, SEED = 4, 16, 1
COUNTS = (1_000, 2_000, 5_000, 10_000)
LIMIT, EXPONENT = 0.5, 1.15
CHECKED = 1_000  # larger ones are not compiled: gcc's time is no part of this row


def expression(count: int) -> tuple[list[Any], Any]:
    """The inputs and the sum of the last node, in symc."""
    import symc.tensor as T

    plain: dict[str, Callable[[Any, Any], Any]] = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    }  # fmt: skip
    inputs = [T.vector(f"x{k}", dtype="float64") for k in range(INPUTS)]
    values = list(inputs)
    for node in program(count, INPUTS, SEED):
        args = [values[place] for place in node.args]
        known = node.op in UNARY or node.op == "maximum"
        values.append(getattr(T, node.op)(*args) if known else plain[node.op](*args))
    return inputs, values[-1].sum()


def python_part(count: int) -> Once:
    """The stages before the compiler: from the request to the source of the C file."""
    import symc

    start = time.perf_counter()
    inputs, cost = expression(count)
    built = time.perf_counter()
    outputs = [cost, *symc.grad(cost, inputs)]
    derived = time.perf_counter()
    stages = (
        checked_stages(inputs, outputs, count)
        if count <= CHECKED
        else built_stages(inputs, outputs)
    )
    facts: dict[str, Any] = {f"stage {name}": seconds for name, seconds in stages.items()}
    facts |= {"expressions": built - start, "grad": derived - built}
    return Once(sum(v for k, v in stages.items() if k not in ("compile", "load")), facts)


def checked_stages(inputs: list[Any], outputs: list[Any], count: int) -> dict[str, float]:
    """The times of function(), whose results are compared with NumPy's."""
    import symc

    function = symc.function(inputs, outputs)
    assert not function.hit
    rng = np.random.default_rng(0)
    values = [rng.random(LENGTH) for _ in inputs]
    nodes = program(count, INPUTS, SEED)
    wanted = [forward(nodes, values)[-1].sum(), *gradient(nodes, values)]
    check_all(function(*values), wanted, rtol=1e-6, atol=1e-9)
    return function.seconds


def built_stages(inputs: list[Any], outputs: list[Any]) -> dict[str, float]:
    """The times of the same stages alone, as `symc.pipeline.library` runs them."""
    from symc.graph.collector import without_collection
    from symc.graph.request import Request
    from symc.pipeline.compile import Clock, build
    from symc.pipeline.identity import graph_text

    request = Request("function", tuple(inputs), (), tuple(outputs), ())
    clock = Clock()
    graph_text(request)
    clock.lap("key")
    with without_collection():
        build(request, mode="default", clock=clock)
    return clock.seconds


def judge(results: Results) -> list[Line]:
    """Half a second for a thousand nodes, and how the time grows."""
    lines = [_goal(results)]
    known = {
        count: results.times[_name(count)] for count in COUNTS if _name(count) in results.times
    }
    for before, count in itertools.pairwise(COUNTS):
        what = f"{count:,} nodes"
        if before not in known or count not in known:
            lines.append(Line(what, absent_text(results, _name(count))))
            continue
        ratio = known[count].best / known[before].best
        exponent = math.log(ratio) / math.log(count / before)
        text = f"{before:,} nodes {show(known[before].best)}"
        lines.append(Line(what, show(known[count].best), text, f"n^{exponent:.2f}"))
    lines.append(_growth({count: times.best for count, times in known.items()}))
    if COUNTS[0] in known:
        facts = known[COUNTS[0]].facts
        stages = [f"{k.removeprefix('stage ')} {show(v)}" for k, v in facts.items()]
        lines.append(Line(f"stages, {COUNTS[0]:,} nodes", ", ".join(stages)))
    return lines


def _goal(results: Results) -> Line:
    name, target = _name(COUNTS[0]), f"<= {show(LIMIT)}"
    if name not in results.times:
        return Line(name, absent_text(results, name), target=target, reached=False)
    best = results.times[name].best
    return Line(f"{COUNTS[0]:,} nodes", show(best), target=target, reached=best <= LIMIT)


def _growth(best: dict[int, float]) -> Line:
    """The exponent of the straight line through the logarithms."""
    target = f"<= n^{EXPONENT}"
    if len(best) < 2:
        return Line("growth", "not measured", target=target, reached=False)
    x, y = np.log(list(best)), np.log(list(best.values()))
    slope = float(np.polyfit(x, y, 1)[0])
    return Line("growth", f"n^{slope:.2f}", target=target, reached=slope <= EXPONENT)


def _name(count: int) -> str:
    return f"symc {count}"


def _contestant(count: int) -> Contestant:
    most = {1_000: 4, 2_000: 4, 5_000: 3}.get(count, 2)
    return Contestant(lambda: python_part(count), fresh=True, cache="empty", most=most)


CASE = Case(
    "nodes",
    "random elementwise graph with gradient: Python part of function()",
    {_name(count): _contestant(count) for count in COUNTS},
    judge,
)
