"""`Function.export`: the files build with ``make`` and agree with the function."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import CannotSave

MAIN = """\
#include "step.h"
#include <stdio.h>

int main(void)
{
    step_state *state = step_new("data");
    const double x[6] = {1, 2, 3, 4, 5, 6};
    const int64_t good[] = {2, 3}, bad[] = {3, 2};
    double *out;
    int64_t shape[2], w_shape[2];
    int64_t status = step(state, x, bad, &out, shape);
    printf("%s\\n", step_error(status));
    printf("%d\\n", step_new("nowhere") == NULL);
    for (int i = 0; i < 3; i++) {
        status = step(state, x, good, &out, shape);
        printf("%lld: %lld %lld, %.17g\\n", (long long)status, (long long)shape[0],
               (long long)shape[1], step_w(state, w_shape)[0]);
    }
    return 0;
}
"""

PICK = """\
#include "pick.h"
#include <stdio.h>

int main(void)
{
    pick_state *state = pick_new("data");
    const int64_t at[] = {0, 7}, length[] = {2};
    const double w[] = {1, 2};
    double *out;
    int64_t shape[1];
    printf("%s\\n", pick_error(pick(state, at, length, w, length, &out, shape)));
    return 0;
}
"""


def training_step() -> symc.Function:
    x, w = T.matrix("x"), symc.shared(np.full((3, 2), 0.5), name="w")
    p = T.softmax(x @ w + T.constant([0.5, -0.5]))
    return symc.function([x], p, updates=[(w, w - 0.1 * symc.grad((p[:, 0] ** 2).sum(), w))],
                         name="step")  # fmt: skip


def make(folder: Path, *words: str) -> str:
    done = subprocess.run(["make", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_function_that_rounds_is_built_without_fused_operations(tmp_path: Path) -> None:
    """As in symc: its kernels would not agree on which side of a whole number a value is."""
    x = T.vector("x")
    for number, value in enumerate((x * x + 1, x - T.floor(x * x + 1))):
        f = symc.function([x], value, name="rounds", mode="python")
        folder = f.export(tmp_path / str(number))
        option = ("-ffp-contract=fast", "-ffp-contract=off")[number]
        for file in ("Makefile", "CMakeLists.txt"):
            assert option in (folder / file).read_text()


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_an_exported_function_builds_and_passes_its_test(tmp_path: Path) -> None:
    step = training_step()
    before = step.shared[0].get_value()
    folder = step.export(tmp_path / "step", example=[np.linspace(0, 1, 6).reshape(2, 3)])
    np.testing.assert_array_equal(step.shared[0].get_value(), before)
    printed = make(folder, "test")
    assert "out: as expected" in printed
    assert "w: as expected" in printed
    test = (folder / "test.c").read_text()  # leak checkers are to find nothing in it
    read = re.findall(r"\*(\w+) = read_values", test)
    assert sorted(read) == ["example_x", "expected_out", "expected_w"]
    assert all(f"free({name});" in test for name in read)

    # The expected result is data: the test fails when that is another one.
    wrong = folder / "data" / "expected_w.bin"
    wrong.write_bytes((np.frombuffer(wrong.read_bytes()) + 1e-6).tobytes())
    done = subprocess.run(["make", "test"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "w: element 0 is" in done.stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_program_that_calls_it(tmp_path: Path) -> None:
    step = training_step()
    folder = step.export(tmp_path / "step")
    assert not (folder / "test.c").exists()
    done = subprocess.run(["make", "test"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "there is no test: the function was exported without example=" in done.stderr
    make(folder)
    (folder / "main.c").write_text(MAIN)
    command = ["cc", "main.c", "libstep.a", "-fopenmp", "-lm", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    printed = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True)
    error, missing, *calls = printed.stdout.splitlines()
    assert error.startswith("ShapeMismatch in x @ w   test_export.py:")
    assert missing == "1"
    x = np.arange(1.0, 7).reshape(2, 3)
    for line in calls:
        step(x)
        head, value = line.split(", ")
        assert head == "0: 2 2"
        np.testing.assert_allclose(float(value), step.shared[0].get_value()[0, 0], rtol=1e-12)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_lengths_that_are_measured_and_every_kind_of_number(tmp_path: Path) -> None:
    x, flag, count = T.fvector("x"), T.vector("flag", dtype="bool"), T.scalar("n", dtype="int32")
    k = symc.shared(np.arange(4), name="k")
    outputs = [x[x > 0], flag.sum() + count, ~flag, x.sum() * 2]
    f = symc.function([x, flag, count], outputs, name="several",
                      updates=[(k, T.concatenate([k[1:], k[:1]]))])  # fmt: skip
    folder = f.export(tmp_path, [np.array([1, -2, 3], "f4"), np.array([True, False]), 3])
    assert make(folder, "test").count("as expected") == 5


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_condition_in_a_step_has_words(tmp_path: Path) -> None:
    at, w = T.vector("at", dtype="int64"), T.vector("w")
    picked, _ = symc.scan(lambda k, w: w[k], sequences=at, non_sequences=w)
    folder = symc.function([at, w], picked, name="pick").export(tmp_path)
    make(folder)
    (folder / "main.c").write_text(PICK)
    command = ["cc", "main.c", "libpick.a", "-fopenmp", "-lm", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    printed = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True)
    assert "a condition in a step of" in printed.stdout
    assert "test_export.py:" in printed.stdout


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    @symc.op(inputs=["float64[n]"], output="float64[n]")
    def doubled(v: object) -> object:
        return v * 2  # type: ignore[operator]

    x, rows = T.vector("x"), T.matrix("rows")
    in_steps, _ = symc.scan(doubled, sequences=rows)
    for given, output in (x, doubled(x)), (rows, in_steps):
        with pytest.raises(CannotSave, match=r"calls Python"):
            symc.function([given], output).export(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("name", ["named", "exp", "test", "double"])
def test_everything_may_have_any_name(tmp_path: Path, name: str) -> None:
    inputs = [T.vector(each) for each in ("state", "double", "x_shape", "x", "class", "k", "k")]
    new = symc.shared(np.zeros(2), name="new")
    count = symc.shared(0.0, name="named")
    data = symc.shared(1.0, name="expected_new")
    function = symc.function(
        inputs, [sum(inputs[1:], inputs[0]) + new * data], mode="python", name=name,
        updates=[(new, new + inputs[0]), (count, count + 1)],
    )  # fmt: skip
    folder = function.export(tmp_path / "made", example=[[1.0, 2.0 + n] for n in range(7)])
    header = folder / ("named.h" if name == "named" else f"{name}_.h")
    assert "const double *k," in header.read_text()
    assert "new_: as expected" in make(folder, "test")
    command = ["c++", "-x", "c++", "-fsyntax-only", str(header)]
    subprocess.run(command, cwd=folder, check=True)


@pytest.mark.skipif(
    any(shutil.which(each) is None for each in ("make", "qemu-aarch64", "aarch64-linux-gnu-gcc")),
    reason="needs make, qemu-user and gcc-aarch64-linux-gnu",
)
def test_an_exported_function_passes_its_test_on_another_processor(tmp_path: Path) -> None:
    """The options for x86-64 went to whatever compiler CC named, which refused them."""
    example = [np.linspace(0, 1, 6).reshape(2, 3)]
    folder = training_step().export(tmp_path / "step", example=example)
    printed = make(
        folder, "test", "CC=aarch64-linux-gnu-gcc", "AR=aarch64-linux-gnu-ar", "CFLAGS=-O2",
        "RUN=qemu-aarch64 -L /usr/aarch64-linux-gnu",
    )  # fmt: skip
    assert "out: as expected" in printed
    assert "w: as expected" in printed
    machine = (folder / "step_test").read_bytes()[18:20]  # of ELF's header
    assert int.from_bytes(machine, "little") == 183, "AArch64"
