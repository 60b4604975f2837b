"""Looking inside: graphs and stages as text."""

from __future__ import annotations

import io
import re
import shutil
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.errors import CompilerMissing
from symc.debug import dprint, dprint_text, pprint, stages
from symc.graph.walks import walk
from symc.tensor.notation import expression


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
    for words in ("library call", "a @ b", "becomes known", "check, else ShapeMismatch:", "kernel"):
        assert words in text
    g = symc.function([v], T.exp(v)[None, :] * T.arange(1000.0)[:, None])
    assert "is stored" in g.explain()


def test_explain_counts_bytes_and_operations() -> None:
    x = T.matrix("x")
    text = symc.function([x], (2 * x + 1).sum(0), mode="python").explain()
    assert "reads 8*x_0*x_1 bytes, writes 8*x_1, 3*x_0*x_1 operations" in text


def test_expressions_in_latex() -> None:
    x, a = T.matrix("x"), T.scalar("alpha")
    x2, new = T.vector("x2"), T.exp(a)
    new.name = "a_new"
    for node, text in [
        (T.exp(x) / (1 + x), r"\frac{e^{x}}{1 + x}"),
        ((x + 1) ** 2, r"\left(x + 1\right)^{2}"),
        (-(x + 1), r"-\left(x + 1\right)"),
        ((x - (x2 - a)) * a, r"\left(x - \left(x_{2} - \alpha\right)\right) \, \alpha"),
        ((x.T @ x).sum(), r"\sum x^{\top} \, x"),
        (x.sum(0), r"\sum_{0} x"),
        (T.where(a > 0, a, 0),
         r"\begin{cases} \alpha & \alpha > 0 \\ 0 & \text{otherwise} \end{cases}"),
        (T.sqrt(a) ** 3, r"\left(\sqrt{\alpha}\right)^{3}"),
        (x[2:, 0], r"x_{2:,0}"),
        (a + 1e-5, r"\alpha + 1 \cdot 10^{-5}"),
        (new + 1, r"a_{\mathrm{new}} + 1"),
        (T.softplus(a), r"\operatorname{softplus}\left(\alpha\right)"),
    ]:  # fmt: skip
        assert pprint(node, latex=True) == text
    shown = r"$\displaystyle a_{\mathrm{new}} = e^{\alpha} \qquad \texttt{float64[]}$"
    assert new._repr_latex_() == shown  # pyright: ignore[reportPrivateUsage] -- IPython's name


def test_latex_of_what_doubles_at_each_step_stays_short() -> None:
    x = T.scalar("x")
    for _ in range(100):
        x = x * x + T.sin(x)
    assert len(pprint(x, latex=True)) < 10_000


def test_public_names_for_looking() -> None:
    x = T.vector("x")
    assert symc.pprint(x + 1) == "x + 1.0"
    file = io.StringIO()
    symc.dprint(x + 1, file)
    assert "add(%0, 1.0)" in file.getvalue()


def test_functions_in_notebooks() -> None:
    x = T.vector("x")
    shared = symc.shared(np.zeros(3), name="w")
    f = symc.function([x], (x < 1).sum(), updates=[(shared, shared + 1)], mode="python")
    text = f._repr_html_()  # pyright: ignore[reportPrivateUsage] -- IPython's name
    assert "sum(x &lt; 1.0)" in text
    assert "w = w + 1.0" in text
    assert "mode</dt><dd>python, on cpu" in text


def test_machine_code_stands_below_what_it_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    x = T.vector("x")
    f = symc.function([x], T.exp(x) * 2, name="doubled")
    with pytest.raises(TypeError, match="interpreter"):
        symc.function([x], x, mode="python").assembly()
    if shutil.which("objdump") is not None:
        text = f.assembly()
        place = text.index("# exp(x) * 2.0   test_debug.py:")
        assert re.match(r"[^\n]*\nmul_kernel\w*:\n +1[0-9a-f]+:\t\w+", text[place:])
        assert "symc_run:" in text
        assert not re.search(r"\bplt\b", re.sub(r"<[^>]*>", "", text))  # but vcmpltpd
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "symc_run:" in f.assembly()  # the compiler prints it
    monkeypatch.setenv("SYMC_CC", "no-such-compiler")
    with pytest.raises(CompilerMissing, match="binutils"):
        f.assembly()


X, W, V = T.matrix("x"), T.matrix("w"), T.vector("v")
K = T.lscalar("k")


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (X.sum(1), "sum(x, axis=1)"),
        (X.sum(), "sum(x)"),
        (T.tensor3("t").max((0, 2)), "max(t, axis=(0, 2))"),
        (T.softmax(X + 1.0, axis=0), "softmax(x + 1.0, axis=0)"),
        (X[:, 1:K], "x[:, 1:k]"),
        ((X + 1.0)[0, ::-1], "(x + 1.0)[0, ::-1]"),
        (X[V.argmax()], "x[argmax(v), :]"),
        (X[:, [0, 1]], "x[:, constant]"),
        (X.T @ W, "x.T @ w"),
        (X @ (W @ V), "x @ (w @ v)"),
        (X * V[:, None], "x * v[:, None]"),
        (T.set_subtensor(X[1:], 0.5), "set_subtensor(x[1:, :], 0.5)"),
        (T.inc_subtensor(X[:, K], V), "inc_subtensor(x[:, k], v)"),
        (symc.grad(X[0].sum(), X), "set_subtensor(zeros[0, :], 1.0)"),
        (X.shape[1] * 2, "x.shape[1] * 2"),
        (T.concatenate([X, W], 1), "concatenate(x, w, axis=1)"),
    ],
)
def test_pprint_says_which_axes_and_elements(tensor: Any, text: str) -> None:
    assert symc.pprint(tensor) == text


def test_comments_are_short() -> None:
    def step(x: Any, h: Any) -> Any:
        return T.tanh(T.dot(x, W) + T.dot(h, W))

    h, _ = symc.scan(step, T.tensor3("xs"), T.zeros_like(X))
    for node in walk([symc.grad(h[-1].sum(), W)]):
        assert len(expression(node)) < 150


def test_the_graph_of_a_function_is_printed() -> None:
    x = T.vector("x")
    f = symc.function([x], T.exp(x) * 1, mode="python")
    file = io.StringIO()
    symc.dprint(f, file)
    assert file.getvalue() == f.graph + "\n"
    with pytest.raises(TypeError, match=r"symc\.debug\.stages needs a function"):
        symc.debug.stages(x)  # type: ignore[arg-type]


def test_a_graph_says_which_matrices_of_a_product_are_transposed() -> None:
    """It showed ``matmul(%0, %1)`` for all four products."""
    a, b, v = T.matrix("a"), T.matrix("b"), T.vector("v")
    graph = symc.function([a, b, v], [a @ b.T, T.exp(a).T @ v], mode="python").graph
    assert "matmul(%0, %1.T)" in graph
    assert re.search(r"matvec\(%\d+\.T, %\d+\)", graph)
