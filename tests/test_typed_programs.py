"""Programs that type checkers are shown: 20 mistakes that they find, and 99 lines without one.

Both are files of `tests/typed/`, which `scripts/check` checks with all others. In `mistakes.py`
each mistake has a comment that says so, about which checkers complain if they do not see it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "typed"
MISTAKE = re.compile(r"^(\w) = .*  # type: ignore\[", re.M)


def test_there_are_twenty_mistakes_which_fail() -> None:
    """Each line is wrong when it runs, as well."""
    text = (FOLDER / "mistakes.py").read_text(encoding="utf-8")
    head, *_ = text.split("\na = ")
    lines = [line for line in text.splitlines() if MISTAKE.match(line)]
    assert len(lines) == 20
    names: dict[str, object] = {}
    exec(head, names)
    for line in lines:
        with pytest.raises((AttributeError, TypeError)):
            exec(line, dict(names))


def test_the_correct_program_runs(tmp_path: Path) -> None:
    program = FOLDER / "correct.py"
    assert 90 <= len(program.read_text(encoding="utf-8").splitlines()) <= 110
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_checkers_find_the_mistakes_and_nothing_else(checker: str, tmp_path: Path) -> None:
    """A mistake without its comment is an error; with it nothing is."""
    tool = Path(sys.executable).with_name(checker)
    if not tool.exists():
        pytest.skip(f"{checker} is not installed")
    bare = tmp_path / "bare.py"
    text = (FOLDER / "mistakes.py").read_text(encoding="utf-8")
    bare.write_text(re.sub(r"  # type: ignore.*", "", text), encoding="utf-8")
    root = FOLDER.parent.parent
    given = ["--strict"] if checker == "mypy" else []
    done = subprocess.run(
        [tool, *given, bare], cwd=root, capture_output=True, text=True, check=False
    )
    found = {int(n) for n in re.findall(r"bare\.py:(\d+):.*error", done.stdout)}
    wanted = {n for n, line in enumerate(text.splitlines(), 1) if MISTAKE.match(line)}
    assert found == wanted, done.stdout
    done = subprocess.run(
        [tool, *given, FOLDER / "correct.py", FOLDER / "mistakes.py"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "typed/" not in done.stdout, done.stdout
