"""The example commits of CONTRIBUTING.md: applied to a copy of the tree, they work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COPIED = (
    *("symc", "codegen", "cache", "tests", "benchmarks", "scripts", "docs"),
    *("pyproject.toml", "mkdocs.yml"),
)
NOT_COPIED = shutil.ignore_patterns("__pycache__", "golden", ".*")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMITS: dict[str, str] = dict(
    re.findall(
        r"^### ([^\n]+)\n(?:(?!^###).)*?^```diff\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL
    )
)
FILES = {"An elementwise op with its C function": 1, "A structural op": 1, "A routine in C": 2}
"""How many files a commit touches besides its test."""

# The tests that hold for all ops, routines and names, and so for new ones.
GENERAL = [
    "tests/test_exports.py::test_the_catalogue_reads_what_modules_list",
    "tests/test_exports.py::test_every_public_name_has_a_docstring",
    "tests/test_docs.py::test_the_reference_has_every_public_name",
    "tests/test_layers.py::test_imports_inside_symc_point_down",
    "tests/test_layers.py::test_no_c_in_python_strings",
    "tests/codegen/test_blas.py::test_the_table_says_what_the_header_says",
    "tests/codegen/test_operations.py::test_every_routine_has_a_count",
    "tests/codegen/test_math.py::test_every_symbol_is_defined",
    "tests/codegen/test_runtime.py::test_every_symbol_says_all_that_it_needs",
]


def hunks(commit: str) -> Iterator[tuple[str, str, str]]:
    """The path, the old lines and the new lines of each hunk."""
    for part in re.split(r"^\+\+\+ ", commit, flags=re.MULTILINE)[1:]:
        path, _, text = part.partition("\n")
        for hunk in re.split(r"^@@\n", text, flags=re.MULTILINE):
            lines = hunk.splitlines(keepends=True)
            old = "".join(line[1:] or line for line in lines if not line.startswith("+"))
            new = "".join(line[1:] or line for line in lines if not line.startswith("-"))
            if hunk:
                yield path, old, new


def apply(commit: str, tree: Path) -> None:
    """Make the changes of a commit."""
    for path, old, new in hunks(commit):
        file = tree / path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if old:
            assert text.count(old) == 1, f"{path} has not these lines once:\n{old}"
        file.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with all three commits."""
    folder = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=NOT_COPIED)
        else:
            shutil.copy(ROOT / name, folder / name)
    for commit in COMMITS.values():
        apply(commit, folder)
    return folder


def run(tree: Path, *arguments: str) -> str:
    """The output of Python in the tree."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tree)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def test_the_examples_touch_as_few_files_as_they_say() -> None:
    assert {
        name: len({path for path, _, _ in hunks(commit) if not path.startswith("tests/")})
        for name, commit in COMMITS.items()
    } == FILES


def test_the_examples_work(tree: Path) -> None:
    """Their own tests pass, and those that ask something of every op."""
    assert run(tree, "-c", "import symc; print(symc.__file__)").startswith(str(tree))
    own = {path for c in COMMITS.values() for path, _, _ in hunks(c) if path.startswith("tests/")}
    run(tree, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *sorted(own), *GENERAL)


def test_the_examples_keep_to_the_style(tree: Path) -> None:
    changed = sorted({path for commit in COMMITS.values() for path, _, _ in hunks(commit)})
    python = [path for path in changed if path.endswith(".py")]
    run(tree, "-m", "ruff", "check", *python)
    run(tree, "-m", "ruff", "format", "--check", *python)
    run(tree, "-m", "mypy", *python)
