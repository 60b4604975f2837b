"""The contents of a report: graphs, the steps of the program, and how they correspond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import assert_never

from symc.calls.callable import Function
from symc.codegen import ir
from symc.codegen.blocks import Working, working_steps, written
from symc.codegen.passes.kernels.memory import wholes
from symc.codegen.record import record
from symc.graph.inputs import Constant
from symc.graph.node import Op, Tensor
from symc.graph.provenance import Where
from symc.graph.walks import walk
from symc.loops.branch import Choice
from symc.loops.scan import Scan
from symc.pipeline.compile import Compilation
from symc.rewrite.engine import Rewrite
from symc.schedule.plan import Inside, Invoke, Lone, Nest, Plan, is_source
from symc.show.copies import copies
from symc.show.report.trace import makers
from symc.tensor.notation import described

MOST_NODES = 1_000  # of a graph that are drawn: browsers are slow with more


class Graph:
    """A graph to be drawn. Scalar constants stand in their users and are no nodes.

    Of a huge graph only the nodes nearest to the results are drawn; `every` has all.
    """

    def __init__(self, key: str, title: str, roots: Sequence[Tensor]) -> None:
        self.key = key
        self.title = title
        self.results = tuple(roots)
        self.every = [node for node in walk(roots) if is_drawn(node) or node in roots]
        near = nearest(roots, MOST_NODES)
        self.nodes = [node for node in self.every if node in near]
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.users: dict[Tensor, list[Tensor]] = {}
        for node in self.nodes:
            for arg in dict.fromkeys(node.args):
                self.users.setdefault(arg, []).append(node)

    def place(self, node: Tensor) -> str:
        """The element that a node is drawn as."""
        return f"{self.key}-{self.numbers[node]}"

    def folded(self, node: Tensor) -> int:
        """How many arguments of a node are not drawn because the graph is huge."""
        return sum(is_drawn(arg) and arg not in self.numbers for arg in dict.fromkeys(node.args))


def nearest(roots: Sequence[Tensor], count: int) -> set[Tensor]:
    """So many nodes that are drawn, those with the fewest steps from a root first."""
    found: dict[Tensor, None] = dict.fromkeys(roots)
    for node in (queue := list(found)):  # which grows
        for arg in node.args:
            if len(found) >= count:
                return set(found)
            if arg not in found and is_drawn(arg):
                found[arg] = None
                queue.append(arg)
    return set(found)


@record
class Task:
    """A step that computes: its number among those, and the nodes of the graph that it computes."""

    number: int
    step: Working
    kernel: ir.Kernel | None
    nodes: tuple[Tensor, ...]

    @property
    def place(self) -> str:
        """The element that shows it."""
        return f"task-{self.number}"

    @property
    def title(self) -> str:
        """Its name on the page."""
        match self.step:
            case ir.Launch(kernel):
                return kernel
            case ir.Routine(name):
                return f"routine {name}"
            case ir.PythonCall(name=name):
                return f"{name}, in Python"
            case _:
                assert_never(self.step)


class Contents:
    """All that the page shows of a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.compilation: Compilation = function.runner.compilation()
        self.steps: list[Rewrite] = self.compilation.trace or []
        self.graphs = list(_graphs(function, self.compilation))
        self.tasks = list(_tasks(self.compilation))
        self.places: dict[Tensor, list[str]] = {}
        for graph in self.graphs:
            for node, number in graph.numbers.items():
                self.places.setdefault(node, []).append(f"{graph.key}-{number}")
        self.tasks_of: dict[Tensor, list[Task]] = {}
        for task in self.tasks:
            for node in task.nodes:
                self.tasks_of.setdefault(node, []).append(task)
        given = [node for graph in self.graphs if graph.key == "before" for node in graph.every]
        self.made_by = makers(given, self.steps)
        self.copied = dict(copies(self.compilation.plan))
        self.touched: dict[Tensor, list[int]] = {}
        for number, step in enumerate(self.steps):
            self.touched.setdefault(step.before, []).append(number)
        self.insides = {graph.results: graph.key for graph in self.graphs[2:]}
        self.lines = self._lines()
        self.line_numbers = {where: number for number, where in enumerate(self.lines)}

    def inside(self, node: Tensor) -> list[str]:
        """The keys of the graphs inside a loop or branch."""
        return [self.insides[r] for _, r in _bodies(node.op) if r in self.insides]

    def _lines(self) -> dict[Where, list[Tensor]]:
        """The nodes that each of the user's lines made, lines in order."""
        found: dict[Where, dict[Tensor, None]] = {}
        for graph in self.graphs:
            for node in graph.every:
                found.setdefault(node.where, {})[node] = None
        return {where: list(nodes) for where, nodes in sorted(found.items())}


def is_drawn(node: Tensor) -> bool:
    """Whether a node is drawn as one."""
    return not isinstance(node.op, Constant) or bool(node.type.shape)


def _graphs(function: Function, compilation: Compilation) -> Iterable[Graph]:
    yield Graph("before", "before rewriting", function.request.roots())
    after = Graph("after", "after rewriting", compilation.rewritten)
    yield after
    pending, known, counts = [after], set[object](), Counter[str]()
    while pending:
        for node in pending.pop(0).every:
            fresh = [(part, results) for part, results in _bodies(node.op) if results not in known]
            if not fresh:
                continue
            kind = "loop" if isinstance(node.op, Scan) else "branch"
            counts[kind] += 1
            for part, results in fresh:
                known.add(results)
                title = f"{kind} {counts[kind]}, {part} ({node.where})"
                inside = Graph(f"inside{len(known)}", title, results)
                pending.append(inside)
                yield inside


def _bodies(op: Op) -> Sequence[tuple[str, tuple[Tensor, ...]]]:
    """The graphs inside a loop or branch, by purpose."""
    match op:
        case Scan(body):
            return [("one step", body.results)]
        case Choice(then, otherwise):
            return [("if true", then.results), ("if not", otherwise.results)]
        case _:
            return []


# --- which kernel computes which node -------------------------------------------------------------


def _tasks(compilation: Compilation) -> Iterable[Task]:
    together = dict(_together(compilation.plan))
    whole = wholes(compilation.optimised)
    for number, (step, kernel) in enumerate(working_steps(compilation.optimised)):
        found: dict[Tensor, None] = {}
        for buffer in written(step, kernel):
            held = [
                *compilation.holds.get(buffer, ()),
                *compilation.holds.get(whole.get(buffer, ""), ()),
            ]
            for node in _meant(held, kernel):
                found.update(dict.fromkeys(together.get(node, (node,))))
        yield Task(number, step, kernel, tuple(found))


def _meant(nodes: Sequence[Tensor], kernel: ir.Kernel | None) -> Sequence[Tensor]:
    """Of the nodes that a buffer is for, those whose values a kernel stores there.

    Several kernels store there for a loop or branch and for the steps inside.
    """
    if kernel is None or len(nodes) == 1:
        return nodes
    notes = kernel.note.splitlines()
    around = [node for node in nodes if _bodies(node.op)]
    own = [node for node in nodes if described(node) in notes]
    return [*around, *own] if own else nodes


def _together(plan: Plan) -> Iterable[tuple[Tensor, tuple[Tensor, ...]]]:
    """For each stored node all nodes that are computed with it: where it is, and for it."""
    for unit in plan.units:
        match unit:
            case Nest(stages, _) | Invoke(stages):
                roots = [stage.node for stage in stages]
            case Lone(stage):
                roots = [stage.node]
            case Inside(stages, plans):
                roots = [stage.node for stage in stages]
                for inner in plans:
                    yield from _together(inner)
            case _:
                continue
        nodes = tuple(_computed(roots, plan))
        for root in roots:
            yield root, nodes


def _computed(roots: Sequence[Tensor], plan: Plan) -> Iterable[Tensor]:
    """The roots and the nodes computed on the way from stored nodes to them."""
    own = set(roots)

    def given(node: Tensor) -> bool:
        return node not in own and (node in plan.stored or is_source(node))

    return [node for node in walk(roots, stop=given) if not given(node) and is_drawn(node)]
