"""How many threads functions use, and that results do not depend on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.calls.call import Caller
from symc.calls.python_call import PythonCaller
from symc.codegen import processors
from symc.codegen.targets import compiler, openmp
from symc.config import thread_count

has_team = pytest.mark.skipif(
    Caller is PythonCaller or not sys.platform.startswith("linux"),
    reason="symc/calls/_team.c is not built",
)
_found = compiler.find_compiler()
with_gcc = pytest.mark.skipif(
    _found is None or not compiler.is_gcc(_found), reason="symc's own threads are for gcc"
)


def has_threads() -> bool:
    """Whether programs of this compiler have any: clang's need the libomp of LLVM."""
    found = compiler.find_compiler()
    return found is not None and openmp.has_openmp(found)


def run(program: str, **environment: str) -> str:
    """The output of a program in a process of its own."""
    names = ("SYMC_THREADS", "OMP_NUM_THREADS")
    others = {key: value for key, value in os.environ.items() if key not in names}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[1], text=True,
        capture_output=True, check=False, env={**others, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


STARTED = """
import os
import numpy as np
import symc
import symc.tensor as T

def threads():
    return len(os.listdir("/proc/self/task"))

x = T.vector("x")
f = symc.function([x], T.exp(x) + T.tanh(x))
large = np.linspace(0, 1, 1_000_000)
before = threads()
f(large)
print(threads() - before)
"""


@has_team
@pytest.mark.parametrize(
    ("environment", "helpers"),
    [
        ({"OMP_NUM_THREADS": "1"}, 0),
        ({"OMP_NUM_THREADS": "3"}, 2),
        ({"OMP_NUM_THREADS": "4,2"}, 3),
        ({"SYMC_THREADS": "1", "OMP_NUM_THREADS": "3"}, 0),
        ({"SYMC_THREADS": "3", "OMP_NUM_THREADS": "1"}, 2),
        ({"SYMC_THREADS": "many", "OMP_NUM_THREADS": "2"}, 1),
    ],
)
def test_omp_num_threads_is_not_ignored(environment: dict[str, str], helpers: int) -> None:
    assert run(STARTED, **environment) == str(helpers if has_threads() else 0)


SOLVED = """
import os
import numpy as np
import symc
import symc.tensor as T

def threads():
    return len(os.listdir("/proc/self/task"))

a, b = T.matrix("a"), T.matrix("b")
x = np.eye(400)
before = threads()
for value in (T.linalg.solve_triangular(a, b, lower=True), T.linalg.cholesky(a + b)):
    f = symc.function([a, b], value)
    f(x, x)
    print(threads() - before)
"""


@has_team
def test_a_loop_over_a_batch_of_one_matrix_leaves_threads_to_what_is_inside() -> None:
    """Solving, inverting and factorising one matrix was always done by one thread."""
    started = "2" if has_threads() else "0"
    assert run(SOLVED, SYMC_THREADS="3").split() == [started, started]


@has_team
def test_threads_can_be_set_while_functions_exist() -> None:
    more = "symc.config.threads = 3\nf(large)\nprint(threads() - before, f.runner.call.threads)\n"
    started = "2" if has_threads() else "0"
    assert run(STARTED + more, SYMC_THREADS="1").split() == ["0", started, "0"]


@pytest.mark.parametrize(
    ("text", "number", "complains"),
    [
        ("4", 4, False), (" 2 ", 2, False), ("+3", 3, False), ("4,2", 4, False), ("8, 1", 8, False),
        ("", 0, False), ("0", 0, True), ("-1", 0, True), ("two", 0, True), ("1e3", 0, True),
        (",2", 0, True), ("99999999999999999999", 0, True), ("²", 0, True),
    ],
)  # fmt: skip
def test_numbers_of_threads_are_read_as_openmp_does(
    text: str, number: int, complains: bool
) -> None:
    found, wrong = processors.number_in("OMP_NUM_THREADS", {"OMP_NUM_THREADS": text})
    assert (found, bool(wrong)) == (number, complains)
    chosen = processors.find({"OMP_NUM_THREADS": text})
    assert chosen.count == (number or processors.find({}).count)
    assert bool(chosen.ignored) == complains


@pytest.mark.parametrize(
    ("groups", "files", "share"),
    [
        ("0::/", {}, None),
        ("0::/", {"cpu.max": "max 100000"}, None),
        ("0::/a/b", {"a/b/cpu.max": "150000 100000"}, 1.5),
        ("0::/a/b", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000"}, 0.5),
        ("0::/outside/of/the/container", {"cpu.max": "300000 100000"}, 3.0),
        ("0::/../other", {"cpu.max": "nonsense"}, None),
        (
            "4:cpu,cpuacct:/a\n3:memory:/",
            {"cpu,cpuacct/a/cpu.cfs_quota_us": "250000",
             "cpu,cpuacct/a/cpu.cfs_period_us": "100000"},
            2.5,
        ),
        ("2:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ("broken", {}, None),
    ],
)  # fmt: skip
def test_quotas_of_control_groups(
    groups: str, files: dict[str, str], share: float | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        place = tmp_path / "mount" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")
    (tmp_path / "groups").write_text(groups + "\n")
    assert processors.quota(str(tmp_path / "groups"), str(tmp_path / "mount")) == share


def test_a_quota_counts_where_it_is_less_than_the_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "allowed", lambda: 8)
    for share, count in ((None, 8), (0.2, 1), (1.5, 2), (2.0, 2), (20.0, 8)):
        monkeypatch.setattr(processors, "quota", lambda share=share: share)
        assert processors.find({}).count == count


def test_the_doctor_says_how_many_threads_and_why() -> None:
    doctor = "import sys; from symc.__main__ import main; main(['doctor'])"
    if not has_threads():
        assert "one: this compiler has no OpenMP runtime" in run(doctor, OMP_NUM_THREADS="3")
        return
    assert "3: OMP_NUM_THREADS" in run(doctor, OMP_NUM_THREADS="3")
    assert "2: SYMC_THREADS" in run(doctor, OMP_NUM_THREADS="3", SYMC_THREADS="2")
    assert "OMP_NUM_THREADS='x' is not a number" in run(doctor, OMP_NUM_THREADS="x")


def test_llvms_openmp_is_not_used_with_a_number_of_threads_that_it_cannot_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It aborts, or works without end: in the trial of a compiler, too."""
    clang = compiler.Compiler(("clang",), sys.executable)
    monkeypatch.setattr(openmp, "is_gcc", lambda _: False)
    monkeypatch.setattr(openmp, "remembered", lambda *_: "True")
    for given, has in (("x", False), ("3", True)):
        openmp.has_openmp.cache_clear()
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert openmp.has_openmp(clang) is has
    openmp.has_openmp.cache_clear()


def test_zero_threads_are_as_many_as_there_are() -> None:
    with symc.config.set(threads=0):
        assert thread_count() == processors.find().count
    with symc.config.set(threads=7):
        assert thread_count() == 7


def works() -> list[tuple[Any, tuple[Any, ...]]]:
    """Calls that share out their work in every way there is."""
    rng = np.random.default_rng(3)
    x, m = T.vector("x"), T.matrix("m")
    long, wide = rng.standard_normal(700_001), rng.standard_normal((1500, 801))
    heat, _ = symc.scan(
        lambda u: u[1:-1].inc(0.2 * (u[:-2] - 2 * u[1:-1] + u[2:])), outputs_info=[x], n_steps=3
    )
    return [
        (symc.function([x], [T.exp(x).sum(), x.max(), T.tanh(x) * 2]), (long,)),
        (symc.function([m], [T.softmax(m), m.mean(axis=0), T.cumsum(m, axis=1)]), (wide,)),
        (symc.function([x], [T.sort(x), T.argsort(x)]), (long,)),
        (symc.function([m], T.sort(m, axis=1)), (wide,)),
        (symc.function([m], m @ m.T), (wide,)),
        (symc.function([m], T.fft.fft2(m)), (wide,)),
        (symc.function([x], heat[-1]), (long,)),
    ]


def flat(found: Any) -> list[bytes]:
    return [array.tobytes() for array in (found if isinstance(found, list) else [found])]


def test_nothing_depends_on_the_number_of_threads() -> None:
    for f, args in works():
        results = []
        for threads in (1, 2, 3, 8, 40):
            with symc.config.set(threads=threads):
                results.append(flat(f(*args)))
        assert all(result == results[0] for result in results)


@has_team
@with_gcc
def test_no_parallel_region_is_left_to_libgomp() -> None:
    """gcc has several names for the begin of one; half of a region run by libgomp is a crash."""
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    x = T.vector("x")
    kept = symc.function([x], T.zeros_like(x)[1:].set(x[1:] * 2).sum())
    for f in [kept, *(f for f, _ in works())]:
        command = ["nm", "-D", "-u", f"{f.folder}/function.so"]
        wanted = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "GOMP_" not in wanted
        assert "omp_" not in wanted


def test_threads_of_python_share_the_helpers() -> None:
    with symc.config.set(threads=4):
        calls = works()
        wanted = [flat(f(*args)) for f, args in calls]
        wrong: list[int] = []

        def work(first: int) -> None:
            for turn in range(2 * len(calls)):
                number = (first + turn) % len(calls)
                f, args = calls[number]
                if flat(f(*args)) != wanted[number]:
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(first,)) for first in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_a_call_inside_a_call_has_threads_too() -> None:
    x = T.vector("x")
    inner = symc.function([x], T.exp(x) * 2)
    large = np.linspace(0, 1, 600_000)

    @symc.op(inputs=["float64[n]"], output="float64[n]")
    def twice(v: Any) -> Any:
        return inner(v)

    outer = symc.function([x], T.tanh(twice(T.exp(x))).sum())
    with symc.config.set(threads=3):
        assert float(outer(large)) == float(outer(large))
        np.testing.assert_allclose(outer(large), np.tanh(2 * np.exp(np.exp(large))).sum())


FORK = """
import os, threading
symc.config.threads = 3
wanted = f(large).tobytes()
stop = []

def work():
    while not stop:
        f(large)

others = [threading.Thread(target=work) for _ in range(2)]
for other in others:
    other.start()
children = []
for _ in range(8):  # while helpers and locks are in use
    child = os.fork()
    if child == 0:
        ok = f(large).tobytes() == wanted and threads() == 3 and (m @ m)[0, 0] == 300
        os._exit(0 if ok else 1)
    children.append(child)
statuses = [os.waitpid(child, 0)[1] for child in children]
stop.append(1)
for other in others:
    other.join()
print(statuses)
"""


@has_team
@with_gcc
def test_children_of_fork_have_threads_of_their_own() -> None:
    product = "a = T.matrix('a')\ng = symc.function([a], a @ a)\nm = np.ones((300, 300))\n"
    fork = FORK.replace("(m @ m)[0, 0]", "g(m)[0, 0]").replace(
        "        f(large)\n", "        f(large); g(m)\n"
    )
    if not has_threads():
        fork = fork.replace("threads() == 3", "threads() == 1")
    assert run(STARTED + product + "g(m)\n" + fork).splitlines()[-1] == str([0] * 8)
