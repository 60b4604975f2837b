"""Functions in the cache: a second process makes nothing, and other functions are made anew.

Also compilers and cache folders that do not work.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import symc

MAKE = """
import json, sys
import numpy as np, symc, symc.tensor as T
settings = json.loads(sys.argv[1])
dtype, mode, constant = settings.get("dtype", "float64"), settings.get("mode"), settings.get("c", 2)
if settings.get("broken"):
    import symc.pipeline.compile
    def fail(*args, **kwargs):
        raise AssertionError("rewriting, scheduling or emitting although all is in the cache")
    symc.pipeline.compile.build = fail
x = T.tensor(dtype, settings.get("shape", [None]), name=settings.get("name", "x"))
table = T.constant(np.arange(100, dtype=dtype) * constant)
w = symc.shared(np.zeros(3, dtype), name="w")
u = symc.shared(np.zeros(3, dtype), name="u")
updates = [(w, w + x), (u, u[::-1] + w)] if settings.get("updates", True) else []
outputs = [T.exp(-x) * constant, (x * table[:3]).sum()]
if settings.get("op"):
    outputs[0] = T.tanh(x)
f = symc.function([x], outputs, updates=updates, mode=mode, name=settings.get("function"))
for _ in range(2):
    results = f(np.array([0.0, 1.0, 2.0], dtype))
results += [w.get_value(), u.get_value()]
print(json.dumps({"hit": f.hit, "results": [r.tolist() for r in results], "folder": f.folder,
                  "stages": sorted(f.seconds), "facts": f.facts["kernels"]}))
"""


def start(folder: Path, settings: dict[str, Any], **environment: str) -> subprocess.Popen[str]:
    """A process that makes and calls the function above."""
    script = folder / "make.py"
    if not script.exists():  # written again it would be empty for a process that just reads it
        script.write_text(MAKE, encoding="utf-8")
    settings_text = json.dumps(settings)
    return subprocess.Popen(
        [sys.executable, str(script), settings_text],
        env=os.environ | {"SYMC_CACHE_DIR": str(folder / "cache")} | environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    answer: dict[str, Any] = json.loads(output)
    return answer


def make(folder: Path, settings: dict[str, Any], **environment: str) -> dict[str, Any]:
    return finish(start(folder, settings, **environment))


def program(folder: Path, text: str, name: str = "fakecc") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def counting_compiler(folder: Path) -> tuple[str, Path]:
    """A compiler that notes each compilation in a file."""
    log = folder / "log"
    log.touch()
    text = f'[ -e {folder / "broken"} ] && exit 1\n[ "$1" = --version ] || echo "$@" >> {log}'
    cc = program(folder, f'{text}\nexec cc "$@"', "countingcc")
    return cc, log


def test_a_second_process_makes_nothing(tmp_path: Path) -> None:
    """Neither rewriting nor gcc: both are broken for it."""
    cc, log = counting_compiler(tmp_path)
    make(tmp_path, {"op": "tanh"}, SYMC_CC=cc)  # makes the folder
    log.write_text("", encoding="utf-8")
    first = make(tmp_path, {}, SYMC_CC=cc)
    assert not first["hit"]
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1
    assert {"rewrite", "schedule", "lower", "passes", "emit", "compile"} <= set(first["stages"])
    (tmp_path / "broken").touch()  # from now on the compiler fails
    second = make(tmp_path, {"broken": True}, SYMC_CC=cc, PYTHONHASHSEED="1")
    assert second["hit"]
    assert set(second["stages"]) == {"key", "load"}
    assert second["results"] == first["results"]
    assert second["folder"] == first["folder"]
    assert second["facts"] == first["facts"]
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1


def test_the_second_process_of_all_asks_the_compiler_nothing(tmp_path: Path) -> None:
    cc, _ = counting_compiler(tmp_path)
    make(tmp_path, {}, SYMC_CC=cc)
    (tmp_path / "broken").touch()
    assert make(tmp_path, {"broken": True}, SYMC_CC=cc)["hit"]


HIT = """
import sys
import numpy, symc, symc.tensor as T
for name in sys.argv[1:]:
    sys.modules[name] = None  # importing it raises from now on
x, w = T.matrix("x"), symc.shared(numpy.zeros(3), name="w")
loss = (T.exp(x @ w) * T.constant(numpy.arange(5.0))).sum()
f = symc.function([x], loss, updates=[(w, w - symc.grad(loss, w))])
f(numpy.ones((5, 3)))
assert f.hit == (len(sys.argv) > 1)
"""
SLOW = ("dataclasses", "hashlib", "json", "pathlib", "shlex", "subprocess", "tempfile", "urllib")


@pytest.mark.parametrize("order", ["", "gcc -DNOTHING"], ids=["default", "named"])
def test_a_hit_imports_nothing_slow(tmp_path: Path, order: str) -> None:
    """Nor does building expressions. Each of these would take a tenth of both.

    The classes of the loop IR, which nothing needs that lowers nothing, took 1.5 ms.
    """
    extension = find_spec("symc.calls._call") is not None
    unused = ["symc.codegen.statements", "symc.codegen.values"]
    unused += ["symc.calls.python_call"] if extension else []
    script = tmp_path / "hit.py"
    script.write_text(HIT, encoding="utf-8")
    for arguments in ((), (*SLOW, *unused)):
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            env=os.environ | {"SYMC_CACHE_DIR": str(tmp_path / "cache"), "SYMC_CC": order},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


DIFFERENT: list[dict[str, Any]] = [
    {"name": "z"}, {"dtype": "float32"}, {"mode": "compile"}, {"mode": "fast"}, {"op": "tanh"},
    {"shape": [3]}, {"updates": False}, {"c": 3}, {"function": "g"},
]  # fmt: skip


def test_what_differs_is_made_anew(tmp_path: Path) -> None:
    """Names, dtypes, lengths, modes, ops, constants, updates: each in a process that was warm."""
    first = make(tmp_path, {})
    assert not first["hit"]
    folders = {first["folder"]}
    for settings in DIFFERENT:
        other = make(tmp_path, settings)
        assert not other["hit"], settings
        folders.add(other["folder"])
        if "c" not in settings and "op" not in settings and "dtype" not in settings:
            results = other["results"] if settings.get("updates", True) else other["results"][:2]
            for got, wanted in zip(results, first["results"], strict=False):
                assert got == pytest.approx(wanted), settings
    assert len(folders) == len(DIFFERENT) + 1
    assert make(tmp_path, {})["hit"]


def test_another_compiler_misses(tmp_path: Path) -> None:
    first = make(tmp_path, {})
    other = make(tmp_path, {}, SYMC_CC=program(tmp_path, 'exec cc "$@"'))
    assert [r["hit"] for r in (first, other)] == [False, False]
    for got, wanted in zip(other["results"], first["results"], strict=True):
        assert got == pytest.approx(wanted)


def test_options_of_the_compiler_miss(tmp_path: Path) -> None:
    assert not make(tmp_path, {}, SYMC_CC="cc")["hit"]
    assert not make(tmp_path, {}, SYMC_CC="cc -DNOTHING")["hit"]


def test_two_processes_at_once(tmp_path: Path) -> None:
    """One compiles, all get it; another function is compiled at the same time."""
    cc, log = counting_compiler(tmp_path)
    processes = [start(tmp_path, {}, SYMC_CC=cc) for _ in range(3)]
    processes.append(start(tmp_path, {"op": "tanh"}, SYMC_CC=cc))
    *same, other = [finish(process) for process in processes]
    assert all(answer["results"] == same[0]["results"] for answer in same)
    assert other["results"][0] != same[0]["results"][0]
    assert sum(not answer["hit"] for answer in same) == 1
    assert len(log.read_text(encoding="utf-8").splitlines()) == 2


def test_damaged_entries_are_made_again(tmp_path: Path) -> None:
    first = make(tmp_path, {})
    for path in sorted(Path(first["folder"]).iterdir()):
        content = path.read_bytes()
        if not content:
            continue
        path.chmod(0o600)
        path.write_bytes(content[: len(content) // 2])
        again = make(tmp_path, {})
        assert not again["hit"], path.name
        assert again["results"] == first["results"]
        assert make(tmp_path, {"broken": True})["hit"]


# --- compilers and caches that do not work --------------------------------------------------------

SCRIPT = """
import sys, warnings
import numpy as np, symc, symc.tensor as T
x = T.vector("x")
w = symc.shared(np.zeros(2), name="w")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    try:
        f = symc.function([x], T.exp(x) + 1, updates=[(w, w + x)])
        g = symc.function([x], x * 2)
        assert np.allclose(f([0.0, 1.0]), np.exp([0.0, 1.0]) + 1, 1e-15)
        assert g([3.0]).tolist() == [6.0]
        assert w.get_value().tolist() == [0.0, 1.0]
        print("results are right")
    except BaseException as error:
        print(type(error).__name__, *[c.__name__ for c in type(error).__mro__], error)
for w in seen:
    print("warning:", w.category.__name__, w.message)
    print("place:", w.filename)
"""


def run(folder: Path, **environment: str) -> str:
    """The output of the script above with other settings."""
    script = folder / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if k not in ("CC", "SYMC_CC")}
    kept["SYMC_CACHE_DIR"] = str(folder / "cache")
    done = subprocess.run(
        [sys.executable, str(script)],
        env=kept | environment, capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_compiler(tmp_path: Path) -> None:
    for settings in ({"PATH": str(tmp_path)}, {"SYMC_CC": str(tmp_path / "none")}):
        output = run(tmp_path, **settings)
        assert output.startswith("results are right")
        assert output.count("warning:") == 1
        assert f"place: {tmp_path / 'script.py'}\n" in output
        assert re.search("RuntimeWarning no C compiler.*\n.*interpreter", output)


def test_a_compiler_that_fails(tmp_path: Path) -> None:
    cc = program(tmp_path, 'echo "function.c:12:3: error: no such luck"; exit 1')
    output = run(tmp_path, SYMC_CC=cc)
    assert re.match("CompileFailed .*RuntimeError", output)
    for words in (r">    12  ", r"no such luck", re.escape(cc) + " .*function.c"):
        assert re.search(words, output), words


def test_a_compiler_that_fails_names_the_users_line(tmp_path: Path) -> None:
    text = """n=$(grep -n "for (int64_t" function.c | head -n 1 | cut -d: -f1)
echo "function.c:$n:3: error: no such luck"; exit 1"""
    output = run(tmp_path, SYMC_CC=program(tmp_path, text))
    assert re.search(r"what it failed on\n  exp\(x\) .*   script\.py:9\n", output), output


def test_a_compiler_that_crashes(tmp_path: Path) -> None:
    cc = program(tmp_path, "kill -SEGV $$")
    output = run(tmp_path, SYMC_CC=cc)
    assert re.match("CompileFailed .*RuntimeError", output)
    assert "-11" in output


@pytest.mark.parametrize(
    "text",
    ["exit 0", 'for a in "$@"; do [ "$p" = -o ] && echo garbage > "$a"; p="$a"; done; exit 0'],
    ids=["nothing", "garbage"],
)
def test_a_compiler_that_writes_no_library(tmp_path: Path, text: str) -> None:
    """And with a real compiler afterwards, all is well."""
    output = run(tmp_path, SYMC_CC=program(tmp_path, text))
    assert re.match("CompileFailed .*RuntimeError", output), output
    assert run(tmp_path) == "results are right\n"


def test_a_cache_folder_that_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("precious", encoding="utf-8")
    output = run(tmp_path, SYMC_CACHE_DIR=str(path))
    assert output.startswith("results are right"), output
    assert output.count("warning:") == 1
    assert f"place: {tmp_path / 'script.py'}\n" in output, "a warning is for the user's line"
    assert str(path) in output
    assert path.read_text(encoding="utf-8") == "precious"


def test_a_cache_folder_that_cannot_be_made(tmp_path: Path) -> None:
    output = run(tmp_path, SYMC_CACHE_DIR="/proc/symc")
    assert output.startswith("results are right")
    assert output.count("warning:") == 1
    assert "/proc/symc" in output


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_cache_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = tmp_path / "fixed"
    folder.mkdir(mode=0o500)
    output = run(tmp_path, SYMC_CACHE_DIR=str(folder))
    assert output.startswith("results are right")
    assert output.count("warning:") == 1


def test_every_file_that_compiles_is_part_of_the_key() -> None:
    from symc.pipeline.identity import ONLY_ASK, symc_text

    root = Path(symc.__file__).parent
    listed = {line.split(" ")[0] for line in symc_text().splitlines()}
    assert "codegen/passes/gpu/mapping.py" in listed
    assert "codegen/runtime/cuda/team.cuh" in listed
    for folder in (root, root / "codegen", root / "cache"):  # glob follows no links
        for path in folder.resolve().rglob("*"):
            if (
                path.suffix in (".py", ".h", ".cuh", ".clh", ".table")
                and "__pycache__" not in path.parts
            ):
                below = path.relative_to(folder.resolve())
                name = below if folder == root else Path(folder.name) / below
                assert (name.as_posix() in listed) == (name.parts[0] not in ONLY_ASK)
