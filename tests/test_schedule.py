"""Schedules: fused loops and stored values, read from the programs."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.ir import Check, Launch, Routine
from symc.codegen.text import text
from symc.codegen.verify.program import verify
from symc.errors import BadIndex
from symc.graph.node import Tensor
from symc.graph.open_formulas import OpenFormula
from symc.pipeline.compile import Compilation
from symc.schedule.elements import Element, Elements
from symc.schedule.stages import Analysis
from symc.tensor.checked import Checked

F4 = np.float32


def stages(inputs: Any, outputs: Any, updates: Any = ()) -> Compilation:
    """The stages of a function, its programs verified."""
    made = symc.function(inputs, outputs, updates=updates).runner.compilation()
    verify(made.program)
    verify(made.optimised)
    return made


def temps(made: Compilation, rank: int = 0) -> list[str]:
    """The names of the buffers between kernels that have at least `rank` axes."""
    return [b.name for b in made.optimised.buffers if b.role == "temp" and len(b.shape) >= rank]


def steps(made: Compilation, kind: type[Any]) -> int:
    return sum(isinstance(step, kind) for step in made.optimised.steps)


# --- kernels --------------------------------------------------------------------------------------


def softmax() -> Any:
    x = T.fmatrix("x")
    return [x], T.softmax(x, axis=1)


def log_softmax_of_columns() -> Any:
    x = T.fmatrix("x")
    return [x], T.log_softmax(x, axis=-1)


def layer_norm_and_gelu() -> Any:
    x, gain, bias = T.fmatrix("x"), T.fvector("gain"), T.fvector("bias")
    mean = x.mean(axis=1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    return [x, gain, bias], T.gelu((x - mean) / T.sqrt(variance + F4(1e-5)) * gain + bias)


def black_scholes() -> Any:
    s, k, t = T.vector("s"), T.vector("k"), T.vector("t")
    root = 0.2 * T.sqrt(t)
    d1 = (T.log(s / k) + (0.05 + 0.02) * t) / root

    def normal(z: Tensor) -> Tensor:
        return 0.5 * (1 + T.erf(z / np.sqrt(2)))

    call = s * normal(d1) - k * T.exp(-0.05 * t) * normal(d1 - root)
    return [s, k, t], [call, call - s + k * T.exp(-0.05 * t)]


def pairwise_distances() -> Any:
    x, v = T.matrix("x"), T.vector("v")
    return [x, v], (T.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) * v).sum(1)


def elementwise_chain() -> Any:
    x, y = T.matrix("x"), T.vector("y")
    return [x, y], T.tanh(T.exp(x) * y + T.sin(x)) ** 2 / (1 + x * x)


def views_only() -> Any:
    x = T.matrix("x")
    return [x], x.T[::-1][:, None, ::2].reshape((-1,))


def several_folds_of_rows() -> Any:
    x = T.matrix("x")
    return [x], [x.sum(axis=1), (x * x).mean(axis=1), x.prod(axis=1), T.any(x > 3, axis=1)]


@pytest.mark.parametrize(
    "build",
    [softmax, log_softmax_of_columns, layer_norm_and_gelu, black_scholes, pairwise_distances,
     elementwise_chain, views_only, several_folds_of_rows],
)  # fmt: skip
def test_one_kernel_and_nothing_between(build: Any) -> None:
    made = stages(*build())
    assert len(made.program.kernels) == 1
    assert steps(made, Launch) == len(made.optimised.kernels) <= 2  # one may be for short rows
    assert steps(made, Routine) == 0
    assert temps(made) == []


def test_pairwise_distances_need_no_matrix() -> None:
    """Not in any buffer: neither between kernels nor inside one."""
    made = stages(*pairwise_distances())
    (kernel,) = made.optimised.kernels
    assert "alloc" not in str(kernel) or all(
        len(buffer.shape) <= 2 for buffer in made.optimised.buffers
    )
    n = [b for b in made.optimised.buffers if b.role == "output"]
    assert [len(b.shape) for b in n] == [1]


def test_a_logistic_regression_step() -> None:
    x, y = T.fmatrix("x"), T.lvector("y")
    w, b = symc.shared(np.zeros((784, 10), F4), name="w"), symc.shared(np.zeros(10, F4), name="b")
    p = T.softmax(x @ w + b)
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    dw, db = symc.grad(loss, [w, b])
    made = stages([x, y], loss, [(w, w - F4(0.1) * dw), (b, b - F4(0.1) * db)])
    assert steps(made, Routine) == 2  # x @ w and its transpose, nothing transposed by hand
    assert made.in_place == {w, b}
    assert len(made.optimised.kernels) <= 9
    # Of the batch's size there are: the product, the chosen entries, and the gradient.
    assert len(temps(made, 2)) <= 4
    # Conditions come first, the routines and kernels that change something after them.
    kinds = [type(step) for step in made.optimised.steps]
    assert Check not in kinds[kinds.index(Routine) :]


def test_products_are_not_copied() -> None:
    a, b = T.matrix("a"), T.matrix("b")
    made = stages([a, b], a.T @ b.T)
    assert (steps(made, Routine), steps(made, Launch)) == (1, 0)
    assert temps(made) == []
    made = stages([a, b], 3 * (a @ b) + a)
    assert steps(made, Routine) == 1


def code(made: Compilation) -> str:
    """The program without its comments."""
    return "\n".join(line.split("  #")[0] for line in text(made.optimised).split("\n"))


def test_what_is_expensive_is_computed_once() -> None:
    """The exponentials of a row are used in every row: they are stored, not repeated."""
    x, y = T.vector("x"), T.vector("y")
    made = stages([x, y], (T.exp(x)[:, None] * T.sin(y)[None]).sum(axis=0))
    assert temps(made, 2) in ([], temps(made, 1)[:1])  # of length n or n by 1
    assert (code(made).count(" exp("), code(made).count(" sin(")) == (1, 1)
    made = stages([x], T.exp(x)[None, :] * T.arange(1000.0)[:, None])
    assert len(temps(made)) == 1
    made = stages([x], (x + 1)[None, :] * T.arange(1000.0)[:, None])  # cheap: repeated
    assert temps(made) == []


def test_a_matrix_beside_a_vector_is_folded_row_by_row() -> None:
    """Not column by column, because the vector is read along the folded axis."""
    v, w, x = T.vector("v"), T.matrix("w"), T.matrix("x")
    assert " sums" in code(stages([v, w], (v[:, None] + w).max(axis=0)))
    assert " sums" in code(stages([x, w], (x[:, :, None] + w).min(axis=1)))
    assert " sums" not in code(stages([x, w], (x[:, None, :] + w).min(axis=2)))
    made = stages([v, w], (T.exp(v)[:, None] * w).sum(axis=0))
    assert " sums" in code(made)
    assert len(temps(made)) == 1  # exponentials in vector registers, which one per row is not


def test_rotations_take_no_remainder_in_loops() -> None:
    x = T.matrix("x")
    f = symc.function([x], T.roll(x, 1, axis=1) + T.roll(x, -1, axis=0) + T.roll(x, x.shape[1]))
    kernels = f.source.partition("/* ---- kernels ---- */")[2].partition("/* ---- host ---- */")[0]
    assert "for (" in kernels
    assert not any(sign in kernels for sign in ("%", "symc_mod_i64(", "symc_floordiv_i64("))


def test_equal_expressions_are_computed_once() -> None:
    x = T.vector("x")
    made = stages([x], [T.exp(x) + 1, T.exp(x) * 2, T.exp(x)])
    assert len(made.optimised.kernels) == 1
    assert code(made).count(" exp(") == 1


def test_gradients_of_parts_are_written_by_one_loop() -> None:
    """An LSTM reads four parts of its gates; their gradients were four arrays, and their sum."""
    z = T.tensor("float32", (None, 12), name="z")
    i, f, o, g = (z[:, 3 * k : 3 * k + 3] for k in range(4))
    loss = (T.sigmoid(o) * T.tanh(T.sigmoid(i) * T.tanh(g) + T.sigmoid(f))).sum()
    made = stages([z], symc.grad(loss, z))
    assert (steps(made, Launch), temps(made, rank=1)) == (1, [])
    assert text(made.optimised).count("for ") == 2
    values = np.random.default_rng(0).standard_normal((5, 12)).astype(F4)
    found = symc.function([z], symc.grad(loss, z))(values)
    by_hand = symc.function([z], symc.grad(loss, z), mode="python")(values)
    np.testing.assert_allclose(found, by_hand, rtol=1e-5)


def test_many_folds_of_one_array_share_its_loop() -> None:
    """A bug: of three readers of an array, only two shared loops."""
    x = T.matrix("x")
    made = stages([x], [x.sum(axis=1), x.max(axis=1), (x * x).mean(axis=1), (-x).argmin(axis=1)])
    assert [k.name for k in made.optimised.kernels if "x_0" in str(k.sizes)] == ["argmin_kernel"]


def test_schedules_do_not_depend_on_names() -> None:
    """A bug: lengths of an input called ``rows`` counted as folded axes, whose variables were r0,
    r1, ...; so columns were folded one after the other, across memory."""
    programs = []
    for name in ("x", "rows"):
        x = T.matrix(name)
        made = stages([x], T.roll(x, 1, axis=1).sum(axis=0))
        programs.append(text(made.optimised).replace("rows", "x"))
    assert programs[0] == programs[1]
    assert "sums" in programs[0]


def test_shared_parts_are_looked_into_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug: scheduling looked into parts that outputs share once for each, in each round."""
    x = T.vector("x")
    chain = x
    for _ in range(300):
        chain = T.sin(chain) + x
    outputs = [*(chain * number for number in range(2, 12)), T.exp(chain[::-1]).sum()]
    runner = symc.function([x], outputs).runner
    looked: list[Element] = []
    finish = Elements.finish

    def noted(self: Elements, node: Tensor, opened: OpenFormula) -> Element:
        looked.append(finish(self, node, opened))
        return looked[-1]

    monkeypatch.setattr(Elements, "finish", noted)
    made = runner.compilation()
    assert len(made.plan.repeated) == 1  # the chain is stored in a second round
    assert len(looked) < 2.1 * made.nodes_before  # as it is, and backwards


def test_deep_networks_need_no_more_rounds_than_shallow_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each round stored something in the last layer only: compiling took a round per layer."""
    rounds: list[int] = []

    def rounds_of(layers: int) -> int:
        x = h = T.matrix("x")
        weights = [T.matrix(f"w{n}") for n in range(layers)]
        for w in weights:
            z = T.tanh(h @ w) - 1
            h = T.exp(z - z.mean(axis=1, keepdims=True)) * (z * z).sum(axis=1, keepdims=True)
        rounds.clear()
        stages([x, *weights], symc.grad(h.sum(), weights))
        return len(rounds)

    found = Analysis.facts

    def counted(*args: Any) -> Any:
        rounds.append(len(rounds))
        return found(*args)

    monkeypatch.setattr(Analysis, "facts", counted)
    assert rounds_of(2) == rounds_of(5)


def test_comparisons_of_lengths_are_no_kernels() -> None:
    """Whether ``x[0]`` is there was computed by a kernel, and stored."""
    x, y = T.vector("x"), T.lvector("y")
    made = stages([x, y], x[0] + x[-2] + x[T.arange(y.shape[0])].sum())
    assert steps(made, Check) == 3
    assert all(b.dtype.name != "bool" for b in made.optimised.buffers)
    function = symc.function([x, y], x[0] + x[-2] + x[T.arange(y.shape[0])].sum())
    assert function([1.0, 2.0], [0]) == 3.0
    for short, numbers in (([], []), ([1.0], [0]), ([1.0, 2.0], [0, 0, 0])):
        with pytest.raises(BadIndex, match="out of bounds for axis 0 with length"):
            function(short, np.array(numbers, np.int64))


def test_lengths_are_no_kernels() -> None:
    """A bug: the lengths of a reshape became a kernel that did nothing."""
    x = T.matrix("x")
    made = stages([x], x.T.reshape((x.shape[0] // 2, -1)))
    assert all(kernel.body for kernel in made.optimised.kernels)
    assert steps(made, Launch) <= 2


# --- the same every time --------------------------------------------------------------------------

PROGRAMS = """
import hashlib, sys
import numpy as np, symc, symc.tensor as T
def show(inputs, outputs, updates=()):
    f = symc.function(inputs, outputs, updates=updates)
    for text in (f.graph, f.explain(), f.program, f.source):
        print(hashlib.sha256(text.encode()).hexdigest())
    print(sorted(s.name for s in f.runner.compilation().in_place), file=sys.stderr)
x, y, m = T.vector("x"), T.vector("y"), T.matrix("m")
k = T.lvector("k")
w, b = symc.shared(np.ones((4, 3)), name="w"), symc.shared(np.ones(3), name="b")
loss = -T.log(T.softmax(m @ w + b))[T.arange(k.shape[0]), k].mean()
dw, db = symc.grad(loss, [w, b])
show([m, k], loss, [(w, w - 0.1 * dw), (b, b - 0.1 * db)])
xs = [T.vector() for _ in range(6)]
cost = sum(T.exp(p) * T.erf(q) / T.exp(q) for p, q in zip(xs, xs[1:])).sum()
show(xs, [cost, *symc.grad(cost, xs), *[T.exp(p).sum() for p in xs]])
show([x, y, m], [(m * x)[y > 0].sum(), T.cumsum(x)[y < 1], T.concatenate([x, y])])
show([x, m], m.max(axis=0) + x)
show([x, y, m, k], [x[k] + y[k], m[k][:, ::-1], T.roll(x, 2) * y, T.einsum("ij,kj->ik", m, m)])
show([x], symc.hessian((T.tanh(x) ** 3).sum(), x))
def edge(e, far):
    way = far[k[e]] + y[e]
    return symc.ifelse(way < far[e], far[e].set(way), far)
again = lambda _, far: symc.fori_loop(0, k.shape[0], edge, far)
show([k, y, x], symc.fori_loop(0, 10, again, x))
"""


def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """Nothing may depend on hashes of strings or addresses of objects: the cache would miss."""
    script = tmp_path / "programs.py"
    script.write_text(PROGRAMS, encoding="utf-8")
    texts: list[str] = []
    for number, hashes in enumerate(("0", "1", "2")):
        environment = os.environ | {
            "PYTHONHASHSEED": hashes, "SYMC_CACHE_DIR": str(tmp_path / f"cache{number}"),
            # other addresses too:
            "PYTHONMALLOC": ("pymalloc", "malloc")[number % 2],
        }  # fmt: skip
        command = [sys.executable, str(script)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout + done.stderr)
    assert texts[2] == texts[1] == texts[0]
    assert len(set(texts[0].split("\n"))) > 20


def test_the_same_text_twice_in_one_process() -> None:
    """Nor on graphs made before. A bug: lengths without names were numbered through."""
    texts: set[str] = set()
    for _ in range(3):
        x, y, w, u = T.vector(), T.vector("y"), symc.shared(np.arange(5.0), name="w"), T.matrix()
        outputs = [T.exp(x + y).sum(), x[x > 0] * 2, T.concatenate([y, y, u[0]])]
        f = symc.function([x, y, u], outputs, updates=[(w, w + x)])
        texts.add("\n".join([f.graph, f.explain(), f.program, f.source]))
    assert len(texts) == 1


def test_conditions_that_one_condition_waits_for_do_not_wait_for_each_other() -> None:
    """The inputs of each of two conditions had to come after the other: "groups form a cycle"."""
    x, y = T.vectors("x", "y")
    low, high = (Checked("not finite")(v.min(), T.isfinite(v.min())) for v in (x, y))
    places = T.cast(x - low, "int64") + T.cast(y - high, "int64")
    f = symc.function([x, y], T.zeros(5)[places].inc(1.0))
    assert f([1.0, 2.0], [0.0, 1.0]).tolist() == [1.0, 0.0, 1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="not finite"):
        f([np.nan, 1.0], [0.0, 1.0])
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        f([0.0, 9.0], [0.0, 0.0])


GATHERED: dict[str, Callable[..., Any]] = {
    "sum": lambda m, x, i, w: x[i].sum(axis=1),
    "all rows": lambda m, x, i, w: x[i[:, 0]].sum(axis=0),
    "weighted": lambda m, x, i, w: (w[:, :, None] * x[i]).sum(axis=1),
    "differences": lambda m, x, i, w: (x[: i.shape[0], None, :] - x[i]).sum(axis=1),
    "max": lambda m, x, i, w: x[i].max(axis=1),
    "argmax": lambda m, x, i, w: x[i].argmax(axis=1),
    "mean of squares": lambda m, x, i, w: m.exp(-(x[i] ** 2).mean(axis=1)),
}


@pytest.mark.parametrize("name", GATHERED)
def test_sums_of_chosen_rows_go_along_the_rows(name: str) -> None:
    """They went down each column, and gathered single elements: up to eight times numba's time."""
    formula = GATHERED[name]
    x, i, w = T.matrix("x"), T.lmatrix("i"), T.matrix("w")
    f = symc.function([x, i, w], formula(T, x, i, w), on_unused_input="ignore")
    assert "reduction(+" not in f.source
    assert "reduction(max" not in f.source
    rng = np.random.default_rng(1)
    for rows, columns, count in ((9, 1, 4), (9, 3, 5), (40, 17, 8), (12, 300, 3), (9, 5, 0)):
        if count == 0 and "max" in name:
            continue
        values = rng.standard_normal((rows, columns))
        places = rng.integers(-rows, rows, (7, max(count, int(name == "all rows"))))
        weights = rng.standard_normal((7, places.shape[1]))
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = formula(np, values, places, weights)
        np.testing.assert_allclose(f(values, places, weights), wanted, rtol=1e-12, atol=1e-13)
        with pytest.raises(BadIndex):
            f(values[:3], np.full((3, 2), 3), np.ones((3, 2)))
