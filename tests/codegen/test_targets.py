"""The C target: finding, describing and running the compiler, and its failures."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symc.cache.notes import Notes
from symc.codegen.emit.program import emit_text
from symc.codegen.errors import CompileFailed, CompilerMissing
from symc.codegen.ir import Kernel, Launch, Program
from symc.codegen.runtime import load
from symc.codegen.targets import abi, compiler, openmp, sim
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.c_language import C as LANG
from tests.codegen.compiled import build, caller
from tests.codegen.programs import elementwise, softmax


def test_users_options_are_linked_with_all_that_they_need(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = CTarget().compiler()
    trial = subprocess.run(
        [*plain.command, "--coverage", "-x", "c", "-", "-o", "trial"], cwd=tmp_path,
        input="int main(void) { return 0; }", text=True, capture_output=True, check=False,
    )  # fmt: skip
    if trial.returncode != 0:
        pytest.skip("this compiler's own --coverage does not link: clang's is a package of its own")
    monkeypatch.setenv("SYMC_CC", f"{plain.command[0]} --coverage")
    made = elementwise(2)
    assert caller(made, build(made))(np.zeros(3))[0].shape == (3,)


def test_a_missing_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SYMC_CC", "no-such-compiler -m64")
    target = CTarget()
    assert not target.available()
    with pytest.raises(CompilerMissing, match="'no-such-compiler -m64'"):
        target.compile_text("", tmp_path)
    monkeypatch.delenv("SYMC_CC")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerMissing, match=r"Install gcc, or .*, or set SYMC_CC"):
        target.describe()


def test_a_compiler_with_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = CTarget().compiler()
    monkeypatch.setenv("SYMC_CC", f"{plain.command[0]} -DSOMETHING=1")
    found = CTarget().compiler()
    assert found.command == (plain.command[0], "-DSOMETHING=1")
    assert found.path == plain.path


def test_code_for_other_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SYMC_MARCH", raising=False)
    assert "-march=native" in CTarget().describe()["flags"].split()
    keys = {CTarget().describe()["flags"], " ".join(sim.flags(CTarget().compiler()))}
    made = elementwise(2)
    monkeypatch.setenv("SYMC_MARCH", "x86-64-v2" if os.uname().machine == "x86_64" else "armv8-a")
    keys |= {CTarget().describe()["flags"], " ".join(sim.flags(CTarget().compiler()))}
    assert len(keys) == 4
    assert caller(made, build(made))(np.zeros(3))[0].shape == (3,)
    monkeypatch.setenv("SYMC_MARCH", "no-such-processor")
    with pytest.raises(CompileFailed, match="no-such-processor"):
        build(made)


def test_what_a_failed_compilation_says(tmp_path: Path) -> None:
    source = "int first;\n" * 30 + "int wrong = ;\n" + "int last;\n" * 30
    with pytest.raises(CompileFailed) as caught:
        CTarget().compile_text(source, tmp_path)
    error = caught.value
    assert error.line == 31
    assert error.source == source
    assert ">    31  int wrong = ;" in str(error)
    assert "     26  int first;" in str(error)
    assert "    25  " not in str(error)
    assert "error: expected expression" in str(error)
    assert compiler.march() in str(error)
    assert not (tmp_path / "function.so").exists()
    assert (tmp_path / "function.c").read_text() == source


def test_a_failed_compilation_names_what_was_computed() -> None:
    source = "\n".join([
        "/* other   user.py:1 */", "void other(void)", "{", "    /* loop   user.py:2 */", "}", "",
        "/* exp(x)   user.py:3", " * sum(x)   user.py:4 */", "void kernel(void)", "{", "    x;",
        "    /* x * 2   user.py:5 */", "    y;", "}", "", "/* ---- host ---- */", "z;", "",
    ])  # fmt: skip

    def failed(line: int) -> CompileFailed:
        return CompileFailed(source, ["cc"], f"function.c:{line}:3: error: wrong")

    assert failed(11).note == "exp(x)   user.py:3\nsum(x)   user.py:4"
    assert failed(13).note == "x * 2   user.py:5"
    assert failed(17).note == ""
    assert "what it failed on\n  exp(x)   user.py:3\n  sum(x)   user.py:4\n" in str(failed(11))
    assert "what it failed on" not in str(failed(17))


def test_a_compiler_without_float16_says_which_have_it() -> None:
    """clang 14 on x86-64, which Debian 12 installs as clang."""
    error = CompileFailed(
        "x;", ["clang"], "function.c:1:1: error: _Float16 is not supported on this"
    )
    assert "float16 needs gcc 12 or clang 15" in str(error)
    assert "float16 needs" not in str(CompileFailed("x;", ["cc"], "function.c:1:1: error: no"))


def test_a_compiler_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "cc"
    fake.write_text("#!/bin/sh\necho no space left; exit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("SYMC_CC", str(fake))
    with pytest.raises(CompileFailed, match="no space left") as caught:
        CTarget().compile_text("int x;", tmp_path)
    assert caught.value.line is None


def test_describe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memo = Notes(tmp_path / "cache")
    target = CTarget(memo)
    first = target.describe()
    assert set(first) - {"team", "beyond"} == {"compiler", "flags", "cpu", "features", "platform"}
    assert all(isinstance(part, str) and part for part in first.values())
    more = "-fexpensive-optimizations" if compiler.is_gcc(target.compiler()) else "-O2"
    assert more in first["flags"].split()
    quick = target.describe(quick=True)["flags"].split()
    assert "-O1" in quick
    assert more not in quick

    def refuse(*_: object) -> str:
        raise AssertionError("a process was started")

    monkeypatch.setattr(compiler, "_version", refuse)
    assert CTarget(memo).describe() == first
    memo.write("compiler", "another compiler 1 2\nversion 3")
    with pytest.raises(AssertionError):
        CTarget(memo).describe()
    (tmp_path / "cache" / "notes" / "compiler").write_bytes(b"\xff\xfe")
    with pytest.raises(AssertionError):
        CTarget(memo).describe()


def test_describe_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    missing = Notes(tmp_path / "file" / "cache")
    assert CTarget(missing).describe() == CTarget().describe()


def test_a_compiler_without_openmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As clang often is: a function could be compiled with -fopenmp, but not loaded."""
    fake, calls = tmp_path / "cc", tmp_path / "calls"
    fake.write_text(
        f"#!/bin/sh\necho call >> {calls}\n"
        'for word; do [ "$word" = -fopenmp ] && { echo no omp.h; exit 1; }; done\n'
        'exec gcc "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("SYMC_CC", str(fake))
    target = CTarget(Notes(tmp_path / "cache"))
    assert "-fopenmp-simd" in target.describe()["flags"].split()
    number = len(calls.read_text().split())
    openmp.has_openmp.cache_clear()
    assert "-fopenmp-simd" in target.describe()["flags"].split()
    assert len(calls.read_text().split()) == number, "tried again"
    (tmp_path / "made").mkdir()
    target.compile_text(target.emit(many_kernels(3)).file("function.c"), tmp_path / "made")
    target.load(tmp_path / "made")


def test_no_process_is_started_at_import() -> None:
    code = (
        "import subprocess\n"
        "def refuse(*a, **k): raise SystemExit('a process was started')\n"
        "subprocess.Popen.__init__ = refuse\n"
        "import symc.codegen.targets.c as c\n"
        "assert c.CTarget().available()\n"
    )
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_the_types_are_up_to_date(tmp_path: Path) -> None:
    made = tmp_path / "_abi.py"
    abi.write(made)
    assert made.read_text() == abi.PLACE.read_text(), "run python -m symc.codegen.targets.abi"


def test_a_call_of_a_device_begins_as_every_call() -> None:
    """`device.h` adds to the struct of `call.h`, but for the function that asks whether to stop."""
    fields: list[list[str]] = []
    for dialect in ("c", "device host"):
        body = load.symbols(dialect)["symc_call"].text.partition("{")[2].partition("}")[0]
        lines = [line.partition("//")[0] for line in body.split("\n")]
        fields.append([" ".join(field.split()) for field in "".join(lines).split(";")])
    plain, device = fields
    shared = plain.index("int64_t (*ask)(void *context)")
    assert plain[:shared] == device[:shared]
    assert shared > 8


def many_kernels(count: int) -> Program:
    """The same elementwise kernel under many names, each in place of the last."""
    made = elementwise(30)
    kernel = made.kernels[0]
    kernels = tuple(
        Kernel(f"k{n}", kernel.params, kernel.sizes, kernel.body, f"number {n}")
        for n in range(count)
    )
    launches = tuple(
        Launch(item.name, step.buffers, step.sizes)
        for item in kernels
        for step in made.steps
        if isinstance(step, Launch)
    )
    return Program("many", made.sizes, made.buffers, kernels, launches)


def test_large_programs_are_compiled_in_units(tmp_path: Path) -> None:
    made = many_kernels(80)
    parts = emit_text(made, LANG)
    units = parts.units(2)
    assert len(units) == 2
    assert abs(len(units[0]) - len(units[1])) < 0.3 * len(parts.text)
    assert len(parts.units(3)) == 3
    assert parts.units(1) == [parts.text]
    target = CTarget()
    target.compile_text(parts, tmp_path, quick=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["function.c", "function.so"]
    assert (tmp_path / "function.c").read_text() == parts.text
    x = np.linspace(-1, 1, 7)
    small = many_kernels(1)
    expected = caller(small, build(small))(x)[0]
    assert np.array_equal(caller(made, target.load(tmp_path))(x)[0], expected, equal_nan=True)


def test_small_programs_are_compiled_whole() -> None:
    parts = emit_text(many_kernels(1), LANG)
    assert parts.units(8) == [parts.text]


def test_a_unit_that_fails(tmp_path: Path) -> None:
    parts = emit_text(many_kernels(80), LANG)
    broken = replace(parts.kernels[77], body="{\n    int oops = ;\n}\n")
    kernels = (*parts.kernels[:77], broken, *parts.kernels[78:])
    with pytest.raises(CompileFailed, match="int oops = ;"):
        CTarget().compile_text(replace(parts, kernels=kernels), tmp_path, quick=True)
    assert [path.name for path in tmp_path.iterdir()] == ["function.c"]


def test_a_child_of_fork_runs_on_one_thread() -> None:
    """OpenMP's threads are not copied by fork: a child that waited for them would hang."""
    made = softmax()
    f = caller(made, build(made), threads=2)
    x = np.random.default_rng(0).standard_normal((4000, 50))
    (expected,) = f(x)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if np.array_equal(f(x)[0], expected) else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert np.array_equal(f(x)[0], expected)


ORDERS = {
    'gcc "x': "'gcc \"x', which SYMC_CC or CC is, cannot be read as a command: "
    "No closing quotation",
    "/": "'/', which SYMC_CC or CC names, is a folder",
    " ": "' ', which SYMC_CC or CC names, is not a program in PATH",
}


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_that_names_no_compiler(monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    """A quote without an end was an error of the module that splits words."""
    monkeypatch.setenv("SYMC_CC", order)
    monkeypatch.setenv("SYMC_CXX", order)
    assert not CTarget().available()
    assert compiler.find_cxx_compiler() is None
    with pytest.raises(CompilerMissing) as caught:
        CTarget().compiler()
    assert str(caught.value) == f"no C compiler: {ORDERS[order]}"
    assert "C++ compiler" in compiler.why_cxx_missing()


@pytest.mark.parametrize("name", ["tcc", "gcc"])
def test_a_compiler_that_is_not_for_symc_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """tcc fails at the first line of the text that each file begins with."""
    fake = tmp_path / name
    fake.write_text("#!/bin/sh\necho \"function.c:9: error: ';' expected\"; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("SYMC_CC", str(fake))
    with pytest.raises(CompileFailed) as caught:
        CTarget().compile_text("int x;\n" * 20, tmp_path)
    hint = "symc's C needs gcc or clang, and this is tcc: set SYMC_CC=gcc"
    assert (hint in str(caught.value)) is (name == "tcc")
    assert caught.value.line == 9
