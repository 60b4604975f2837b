"""Looking inside: graphs and stages as text."""

from __future__ import annotations

import io
import re

import numpy as np

import symc
from symc import tensor as T
from symc.debug import dprint, dprint_text, pprint, stages


def test_a_graph_as_text() -> None:
    x = T.vector("x")
    y = T.exp(x) + T.exp(x) * 2
    y.name = "y"
    text = dprint_text(y)
    lines = text.split("\n")
    assert len(lines) == 4  # equal expressions stand there once
    assert re.match(r"%0 = input x +float64\[x\.shape\[0\]\] +test_debug\.py:\d+$", lines[0])
    assert re.match(r"%1 = exp\(%0\) ", lines[1])
    assert re.match(r"%2 = mul\(%1, 2\.0\) ", lines[2])
    assert re.match(r"%3 = add\(%1, %2\) y ", lines[3])
    several = dprint_text([x + 1, x * 2])
    assert several.endswith("return %1, %2")
    file = io.StringIO()
    dprint(y, file)
    assert file.getvalue() == text + "\n"


def test_long_chains_need_no_deep_stack() -> None:
    x = T.vector("x")
    y = x
    for _ in range(20_000):
        y = T.sin(y)
    assert len(dprint_text(y).split("\n")) == 20_001


def test_an_expression_as_people_write_it() -> None:
    x, y = T.matrix("x"), T.vector("y")
    for node, text in [
        (x * 2 + y, "x * 2.0 + y"), ((x + y) * 2, "(x + y) * 2.0"), (x - y - x, "x - y - x"),
        ((x - (y - x)) / y, "(x - (y - x)) / y"), (x > y, "x > y"),
        (T.exp(-x).sum(), "sum(exp(-x))"),
    ]:  # fmt: skip
        assert pprint(node) == text


def test_every_stage() -> None:
    x, w = T.matrix("x"), symc.shared(np.ones(3), name="w")
    f = symc.function([x], T.softmax(x * w), updates=[(w, w * 2)], name="shown")
    text = stages(f)
    order = [
        "=== graph, rewritten ===", "%0 = ", "=== plan ===", "kernel,", "updated in place: w",
        "=== program ===", "program shown", "=== program after the passes ===", "=== source ===",
        "shown",
    ]  # fmt: skip
    position = 0
    for words in order:
        position = text.index(words, position)
    # The user's line is on the way everywhere.
    for part in text.split("=== ")[1:]:
        assert "test_debug.py:" in part


def test_stages_of_interpreted_functions() -> None:
    x = T.vector("x")
    f = symc.function([x], x + 1, mode="python")
    assert "program function" in f.program
    assert f.folder is None
    assert not f.hit


def test_explain_says_what_was_decided() -> None:
    a, b, v = T.matrix("a"), T.matrix("b"), T.vector("v")
    f = symc.function([a, b, v], (a @ b)[v > 0])
    text = f.explain()
    for words in ("library call", "matmul(a, b)", "becomes known", "run-time condition", "kernel"):
        assert words in text
    g = symc.function([v], T.exp(v)[None, :] * T.arange(1000.0)[:, None])
    assert "is stored" in g.explain()
