"""Kernels in Oclgrind, which finds races, bounds and barriers that threads do not share.

It has no shared virtual memory, so `oclgrind-kernel` runs each kernel alone, on buffers of its own.
Bugs that are planted show that it looks.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import symc
import symc.tensor as T
from symc.codegen.runtime import load
from symc.codegen.targets.opencl.target import OpenclTarget
from symc.pipeline.compile import Clock, build
from tests.opencl.launches import launches

pytestmark = pytest.mark.skipif(
    shutil.which("oclgrind-kernel") is None, reason="no Oclgrind (apt install oclgrind)"
)
ROWS, COLUMNS = 5, 40
ARRAY = ROWS * COLUMNS * 4
OF_SOFTMAX = [
    "<size=512>", f"<size=8 fill={COLUMNS * 4} long>", f"<size={ARRAY} float range=0:1:199>",
    f"<size={ARRAY} float fill=0>", f"<size=4 fill={ROWS} int>", f"<size=4 fill={COLUMNS} int>",
]  # fmt: skip
LOOP = "i += get_num_groups(0)) {\n"


def said(
    folder: Path, text: str, kernel: str, threads: str, group: str, arguments: Sequence[str]
) -> str:
    """What Oclgrind says of one launch of a kernel; nothing if it found nothing."""
    (folder / "kernels.cl").write_text(text)
    lines = ["kernels.cl", kernel, threads, group, *arguments, ""]
    (folder / "launch.sim").write_text("\n".join(lines))
    command = ["oclgrind-kernel", "--data-races", "--max-errors", "3", "--build-options", "-w"]
    done = subprocess.run(
        [*command, "launch.sim"], cwd=folder, capture_output=True, text=True, check=False
    )
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if line and "generated." not in line)


def softmax() -> str:
    x = T.fmatrix("x")
    f = symc.function([x], T.nnet.softmax(x), mode="python")
    made = build(f.request, mode="default", clock=Clock(), target=OpenclTarget())
    return made.source.file("function.cl")


def run_softmax(folder: Path, text: str) -> str:
    return said(folder, text, "div_kernel", "64 1 1", "32 1 1", OF_SOFTMAX)


def test_a_softmax_has_no_mistakes(tmp_path: Path) -> None:
    assert run_softmax(tmp_path, softmax()) == ""


def planted(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def test_a_missing_barrier_is_a_race(tmp_path: Path) -> None:
    text = planted(softmax(), "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", "(void)0")
    assert "data race" in run_softmax(tmp_path, text)


def test_elements_beyond_an_array_are_found(tmp_path: Path) -> None:
    text = planted(softmax(), "out[i * x_1 + j_4] =", "out[i * x_1 + j_4 + 1] =")
    assert "Invalid write of size 4" in run_softmax(tmp_path, text)


def test_a_barrier_that_a_thread_leaves_out_is_found(tmp_path: Path) -> None:
    text = planted(softmax(), LOOP, f"{LOOP}        if (get_local_id(0) == 3) continue;\n")
    assert "divergence detected (barrier)" in run_softmax(tmp_path, text)


X, V = T.tensor("float32", (5, 40), "x"), T.tensor("float32", (1025,), "v")
D, B = T.tensor("float64", (5, 40), "d"), T.tensor("bool", (33,), "b")
AT, N = T.tensor("int32", (33,), "at"), T.tensor("int64", (70,), "n")
PROGRAMS: dict[str, Callable[[], list[Any]]] = {
    "rows": lambda: [X.sum(axis=1), X.argmin(axis=1), X.var(axis=1), T.logsumexp(X, axis=1)],
    "columns": lambda: [D.sum(axis=0), D.argmax(axis=0), T.cumsum(D, axis=0), T.cumsum(D, axis=1)],
    "whole arrays": lambda: [V.sum(), V.var(), T.cumsum(V), V.argmax(), T.prod(V)],
    "many sums": lambda: [(V * float(k)).sum() for k in range(12)],
    "places": lambda: [X[AT % 5].sum(), T.zeros((9,), "int64")[AT % 9].inc(1)],
    "bools and integers": lambda: [B.sum(), T.all(B), T.cumsum(N), T.concatenate([N, N[::-2]])],
    "slopes": lambda: [symc.grad(T.ptp(D, axis=1).sum(), D), symc.grad(T.softmax(X)[0, 0], X)],
    "pairs": lambda: [((X[:, None] - X[None]) ** 2).sum(-1), (X[:, None] * X[None]).max(-1)],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_have_no_mistakes(name: str, tmp_path: Path) -> None:
    inputs, outputs = [X, V, D, B, AT, N], PROGRAMS[name]()
    f = symc.function(inputs, outputs, mode="python", on_unused_input="ignore")
    made = build(f.request, mode="default", clock=Clock(), target=OpenclTarget())
    text = made.source.file("function.cl")
    found = [*launches(made.optimised, text)]
    assert found
    for kernel, threads, arguments in found:
        assert said(tmp_path, text, kernel, threads, "64 1 1", arguments) == "", kernel


def numbers(*values: float) -> list[str]:
    """Arguments: whole numbers of 64 bits, and floats."""
    return [
        f"<size=8 fill={value} long>" if isinstance(value, int) else f"<size=4 fill={value} float>"
        for value in values
    ]


@pytest.mark.slow
def test_products_of_matrices_have_no_mistakes(tmp_path: Path) -> None:
    """Tiles with edges, rows that are no multiple of a team, columns in pieces, a long vector."""
    names = [f"symc_{name}_kernel_f32" for name in ("gemm", "gemv", "columns", "dot", "ger")]
    text = load.base("opencl") + load.source_of(names, "opencl")
    m, n, k = 65, 70, 20
    a, b, c = (f"<size={length * 4} float fill=1>" for length in (m * k, k * n, m * n))
    product = [
        *numbers(1, m, n, k, k), a, *numbers(k, 1, 0), b, *numbers(n, 1, 0), c,
        *numbers(n, 0, 1.0, 1.0),
    ]  # fmt: skip
    assert said(tmp_path, text, names[0], "512 1 1", "256 1 1", product) == ""
    x, y = (f"<size={length * 4} float fill=1>" for length in (k, m))
    rows = [*numbers(m, k, k, m), a, x, y, *numbers(1.0, 0.0)]
    assert said(tmp_path, text, names[1], "64 8 1", "32 8 1", rows) == ""
    columns = [*numbers(m, k, k, 33), a, y, f"<size={2 * k * 4} float fill=0>", *numbers(1.0, 0.0)]
    assert said(tmp_path, text, names[2], "32 32 1", "32 16 1", columns) == ""
    dot = [*numbers(m, 33), y, y, "<size=8 float fill=0>"]
    assert said(tmp_path, text, names[3], "512 1 1", "256 1 1", dot) == ""
    outer = [*numbers(m, k, 1.0), y, x, a, *numbers(k)]
    assert said(tmp_path, text, names[4], "256 3 1", "256 1 1", outer) == ""
