"""The page of a report, read as HTML: links lead somewhere, and everything is there."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.calls.callable import Function
from symc.codegen.cost.work import Works
from symc.codegen.ir import Launch, Routine
from symc.codegen.targets.cuda.target import CudaTarget
from symc.graph.walks import walk
from symc.loops.comparisons import comparisons
from symc.pipeline.compile import Clock, build
from symc.show.report.bundle import unpacked
from symc.show.report.changes import changes
from symc.show.report.contents import Contents, is_drawn
from symc.show.report.correspondence import spans
from symc.show.report.page import page
from symc.tensor.lengths import Length

from . import functions

EXAMPLE = [np.ones((100, 4)), np.zeros(100, "int64")]
VOID = {"meta", "input"}
Said = dict[str, Any]  # of a node, in the data


class Parsed(HTMLParser):
    """The ids, links and texts of a page; elements must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[tuple[str, str]] = []  # the id of the element around, and the target
        self.classes: dict[str, list[str]] = {}
        self.addresses: list[str] = []
        self.texts: dict[str, str] = {}
        self._open: list[tuple[str, str]] = [("", "")]
        self.feed(text)
        assert self._open == [("", "")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        identity = found.get("id", "")
        if identity:
            self.ids.append(identity)
            self.classes[identity] = found.get("class", "").split()
        around = identity or self._open[-1][1]
        for key in ("href", "src", "data", "action", "xlink:href"):
            if key in found:
                self.addresses.append(found[key])
        if tag == "a":
            self.links.append((around, found["href"]))
        if tag not in VOID:
            self._open.append((tag, around))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for around in {identity for _, identity in self._open if identity}:
            self.texts[around] = self.texts.get(around, "") + data


@cache
def made(name: str) -> tuple[Function, str, Parsed]:
    function: Function = getattr(functions, name)()
    text = page(function, EXAMPLE if name == "step" else None)
    return function, text, Parsed(text)


def data(name: str) -> dict[str, Any]:
    """What the script of a page draws from."""
    return unpacked(made(name)[2].texts["bundle"])


def drawn(name: str) -> dict[str, Said]:
    """What the page says of each node, by its place."""
    return {
        f"{graph['key']}-{number}": node
        for graph in data(name)["graphs"]
        for number, node in enumerate(graph["nodes"])
    }


@pytest.mark.parametrize("name", ["step", "loop"])
def test_every_link_leads_to_an_element_or_a_node(name: str) -> None:
    _, _, parsed = made(name)
    assert len(parsed.ids) == len(set(parsed.ids))
    targets = {target.removeprefix("#") for _, target in parsed.links}
    nodes = drawn(name)
    assert targets <= {*parsed.ids, *nodes}
    assert len(targets) > 10
    for said in nodes.values():
        steps = [*said.get("replaced", []), *([said["made"]] if "made" in said else [])]
        assert {f"step-{step}" for step in steps} <= set(parsed.ids)
        assert {f"task-{task}" for task in said.get("tasks", [])} <= set(parsed.ids)
        assert f"line-{said['line']}" in parsed.ids


@pytest.mark.parametrize("name", ["step", "loop"])
def test_nothing_is_asked_for_outside_of_the_page(name: str) -> None:
    _, text, parsed = made(name)
    assert all(address.startswith("#") for address in parsed.addresses)
    assert "://" not in text
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttp|\bimport\(", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("name", ["step", "loop"])
def test_every_node_is_drawn_and_explained(name: str) -> None:
    function, _, _ = made(name)
    contents, said, wheres = Contents(function), drawn(name), data(name)["wheres"]
    for key, roots in (
        ("before", function.request.roots()),
        ("after", contents.compilation.rewritten),
    ):
        nodes = [node for node in walk(roots) if is_drawn(node)]
        for number, node in enumerate(nodes):
            about = said[f"{key}-{number}"]
            assert about["type"] == str(node.type)
            assert wheres[about["line"]] == str(node.where)
            args = [nodes.index(arg) for arg in dict.fromkeys(node.args) if is_drawn(arg)]
            assert about.get("args", []) == args
        assert f"{key}-{len(nodes)}" not in said


def test_bodies_of_loops_are_drawn() -> None:
    function, text, _ = made("loop")
    titles = [graph["title"] for graph in data("loop")["graphs"]]
    assert titles[2].startswith("loop 1, one step (functions.py:")
    assert len(set(titles)) == len(titles)
    inside = [said["inside"] for said in drawn("loop").values() if "inside" in said]
    assert inside
    assert all(keys == ["inside1"] for keys in inside)
    assert "x<&>" not in text
    assert function.request.inputs[0].name == "x<&>"


def test_loops_and_branches_have_names_of_their_own() -> None:
    """Both graphs of a loop and its gradient were named "a step of the loop"."""
    x = T.vector("x")
    rows, _ = symc.scan(lambda a, total: T.tanh(total + a), sequences=x, outputs_info=0.0)
    chosen = symc.ifelse(x.sum() > 0, T.exp(x).sum(), T.sin(x).max())
    f = symc.function([x], [symc.grad(rows[-1], x), chosen], mode="python")
    titles = [graph.title for graph in Contents(f).graphs]
    assert len(set(titles)) == len(titles)
    starts = {title.partition(" (")[0] for title in titles}
    assert {"loop 1, one step", "loop 2, one step", "branch 1, if true"} <= starts


def test_both_sides_of_a_branch_lead_to_their_kernels() -> None:
    """Both write to the buffer of the result, so each must be told from the other."""
    x = T.vector("x")
    chosen = symc.ifelse(x.sum() > 0, T.exp(x).sum(), T.sin(x).max())
    contents = Contents(symc.function([x], chosen, mode="python", name="branch"))
    for graph in contents.graphs[1:]:
        for node in graph.nodes:
            is_length = isinstance(node.op, Length) or comparisons(node, lambda _: True)
            assert not node.args or is_length or node in contents.tasks_of
    labels = [{node.op.label for node in task.nodes} for task in contents.tasks]
    assert [{"exp", "sin"} & found for found in labels if {"exp", "sin"} & found] == [
        {"exp"},
        {"sin"},
    ]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_each_kernel_is_shown_as_it_stands_in_the_source(device: str) -> None:
    """Also those that have another name there: `exp` is a function of C."""
    x, w = T.matrix("x"), T.vector("w")
    rows = T.softmax(x * w, axis=1)
    f = symc.function([x, w], [rows, rows.sum(axis=0), T.exp(x.sum())], name="exp", mode="python")
    target = CudaTarget() if device == "cuda" else None
    made = build(f.request, mode="default", clock=Clock(), target=target)
    source = made.source
    assert source.kernels.keys() == {kernel.name for kernel in made.optimised.kernels}
    for text in source.kernels.values():
        note, line, function = text.partition("*/\n")
        assert note.startswith("/* ")
        assert function.startswith(("static ", 'extern "C" __global__ '))
        assert function in source.text
        assert note + line in source.text
    assert len(set(source.kernels.values())) == len(source.kernels)


def test_kernels_and_nodes_lead_to_each_other() -> None:
    function, _, parsed = made("step")
    contents, said = Contents(function), drawn("step")
    stages = contents.compilation
    launched = [task for task in contents.tasks if isinstance(task.step, Launch)]
    assert {task.step.kernel for task in launched if isinstance(task.step, Launch)} == {
        kernel.name for kernel in stages.optimised.kernels
    }
    for task in contents.tasks:
        assert task.nodes, f"{task.title} computes nothing"
        shown = [node for node in task.nodes if node in contents.places]
        for node in shown:
            for place in contents.places[node]:
                assert task.number in said[place]["tasks"]
        targets = {target[1:] for around, target in parsed.links if around == task.place}
        assert not shown or targets & {contents.places[node][-1] for node in shown}
        if task.kernel is not None:
            assert f"kernel {task.kernel.name}(" in parsed.texts[task.place]  # its loops
    # All that the function computes is computed somewhere.
    computed = [node for node in contents.graphs[1].nodes if node.args]
    assert [node for node in computed if node not in contents.tasks_of] == []


def test_lines_nodes_and_c_belong_together() -> None:
    """Each kernel's C is of the nodes that it computes, and of their lines."""
    function, _, parsed = made("step")
    contents = Contents(function)
    found = spans(contents)
    rows = function.source.split("\n")
    assert all(span.first <= span.last <= len(rows) for span in found)
    assert all(a.last < b.first for a, b in pairwise(found))
    covered = {node for span in found for node in span.nodes}
    computed = {node for task in contents.tasks for node in task.nodes}
    assert computed <= covered
    product = next(node for node in contents.graphs[1].nodes if node.op.label == "matmul")
    texts = ["\n".join(rows[s.first - 1 : s.last]) for s in found if product in s.nodes]
    assert any("gemm" in text for text in texts)
    assert parsed.texts["c1"] == rows[0]
    assert parsed.texts[f"c{len(rows) - 1}"] == rows[-2]


def test_each_instruction_names_a_line_of_the_c() -> None:
    function, _, _ = made("step")
    code: dict[str, Any] = dict(data("step")["code"])
    lines = function.source.count("\n") + 1
    assert {"symc_run", "symc_prepare"} <= set(code)
    for name, rows in code.items():
        assert rows, name
        assert all(0 <= line <= lines and text for line, text in rows)
    kernel = next(span for span in spans(Contents(function)) if span.nodes)
    assert any(kernel.first <= line <= kernel.last for rows in code.values() for line, _ in rows)
    assert "interpreter" in data("loop")["noCode"]


def test_each_pass_is_shown_before_and_after() -> None:
    function, _, parsed = made("step")
    contents = Contents(function)
    found = changes(contents)
    titles = [change.title for change in found]
    assert titles.index("simplify") < titles.index("vectorize") < titles.index("parallel")
    changed = [number for number, change in enumerate(found) if change.rows]
    assert {i for i in parsed.ids if i.startswith("pass-")} == {f"pass-{n}" for n in changed}
    passes = data("step")["passes"]
    simplified = passes[titles.index("simplify")]
    assert any(kind == "~" and old and "let " in old for kind, old, _ in simplified)
    new = [fresh for rows in passes for kind, _, fresh in rows if kind == "~" and fresh]
    assert any("vector(" in line for line in new)


def test_rewrites_lead_to_what_they_made() -> None:
    function, _, parsed = made("step")
    contents, said = Contents(function), drawn("step")
    assert "log(softmax(x, A)) -> log_softmax(x, A)" in parsed.texts["step-0"]
    assert "stability.py:" in parsed.texts["step-0"]
    assert "test" not in parsed.texts["step-0"]
    made_nodes = {n: s for n, s in contents.made_by.items() if n in contents.graphs[1].nodes}
    assert {node.op.label for node in made_nodes} >= {"exp_nonpositive", "max", "log"}
    for node, step in made_nodes.items():
        assert said[contents.places[node][-1]]["made"] == step


def test_lines_memory_and_times() -> None:
    function, _, parsed = made("step")
    source = Path(functions.__file__).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(source, 1) if "T.softmax" in text)
    number = next(k for k, w in enumerate(Contents(function).lines) if w.line == line)
    assert source[line - 1].strip() in parsed.texts[f"line-{number}"]
    assert "matmul: 24*x_0 bytes" in parsed.texts["memory"]
    assert "load" in parsed.texts["compiling"]
    assert "GB/s" in parsed.texts["kernels"]
    assert "memory here" in parsed.texts["calls"]


def test_the_same_function_gives_the_same_data() -> None:
    again = unpacked(Parsed(page(functions.step())).texts["bundle"])
    assert again == data("step")


def test_a_report_of_nothing() -> None:
    f = symc.function([], None, mode="python", name="nothing")
    parsed = Parsed(page(f))
    assert "No rule had anything to improve." in parsed.texts["rewrites"]


def test_of_a_huge_graph_the_nodes_next_to_the_results_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("symc.show.report.contents.MOST_NODES", 100)
    function = functions.chain(400)
    text = page(function)
    parsed = Parsed(text)
    contents = Contents(function)
    after = contents.graphs[1]
    assert len(after.every) > 400 > len(after.nodes) == 100
    assert set(function.runner.compilation().rewritten) <= set(after.nodes)
    found = unpacked(parsed.texts["bundle"])["graphs"][1]
    assert found["folded"] == len(after.every) - 100
    assert len(found["nodes"]) == 100
    cut = [node for node in after.nodes if after.folded(node)]
    assert cut
    assert all(found["nodes"][after.numbers[node]]["cut"] for node in cut)
    line = next(n for n, where in enumerate(contents.lines) if "functions.py" in where.file)
    assert f"line-{line}" in parsed.ids


def test_writing_the_page(tmp_path: Path) -> None:
    function, _, _ = made("loop")
    path = function.report(tmp_path / "out.html")
    assert path.read_text(encoding="utf-8") == page(function)


def test_the_work_of_a_kernel_counts_what_it_does() -> None:
    function, _, _ = made("step")
    program = function.runner.compilation().optimised
    works = Works(program)
    work = {step.kernel: works.of(step) for step in program.steps if isinstance(step, Launch)}
    softmax = work["sub_kernel"]
    sizes = {"x_0": 10}
    assert softmax.read.value(sizes) == 10 * 3 * 8 * 2  # products, and terms
    assert softmax.written.value(sizes) == 10 * (3 + 1 + 1) * 8  # result, maxima and sums
    product = next(step for step in program.steps if isinstance(step, Routine))
    assert str(works.of(product).operations) == "24*x_0"  # 2 * rows * 4 * 3


def test_an_example_is_a_list(tmp_path: Path) -> None:
    function, _, _ = made("loop")
    with pytest.raises(TypeError, match="example must be a list of arguments"):
        function.report(tmp_path / "out.html", example=np.ones(3))  # type: ignore[arg-type]
