"""``import theano`` after `install`, the command, and modules that `import symc` does not load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import theano
import theano.tensor as T
from theano.tensor.nnet import conv2d
from theano.sandbox.rng_mrg import MRG_RandomStreams
x = T.vector("x")
assert theano.__name__ == "symc.theano"
assert sys.modules["theano.tensor"] is sys.modules["symc.theano.tensor"]
print(theano.function([x], x.sum())([1.0, 2.0]), *sys.argv[1:])
"""


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Python with these arguments."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_symc_loads_none_of_it() -> None:
    text = "import sys, symc, symc.tensor; print([n for n in sys.modules if 'theano' in n])"
    assert run("-c", text).stdout.strip() == "[]"


def test_a_script_runs_unchanged(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    done = run("-m", "symc", "theano", str(script), "first", "--second")
    assert done.stdout == "3.0 first --second\n", done.stderr
    done = run("-m", "symc", "theano", "-m", "program", cwd=tmp_path)
    assert done.stdout == "3.0\n", done.stderr


FLAGS = """
import os
os.environ["THEANO_FLAGS"] = "floatX=float32,openmp=True"
import theano.tensor as T
from theano import config
print(T.vector().dtype, config.openmp, config.on_unused_input)
"""


def test_a_script_sets_flags_before_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were read when the command began, and what the script said was passed over.

    As in Theano the script's flags replace those of the shell.
    """
    monkeypatch.setenv("THEANO_FLAGS", "on_unused_input=warn,floatX=float16")
    script = tmp_path / "program.py"
    script.write_text(FLAGS, encoding="utf-8")
    done = run("-m", "symc", "theano", str(script))
    assert done.stdout == "float32 True raise\n", done.stderr


def test_install_answers_all_submodules_and_names_what_is_missing() -> None:
    text = "import symc.theano; symc.theano.install(); import theano.nothing.at_all"
    done = run("-c", text)
    assert "symc.theano has no theano.nothing" in done.stderr


def test_another_theano_is_not_mixed_in() -> None:
    text = (
        "import sys, types; sys.modules['theano'] = types.ModuleType('theano')\n"
        "import symc.theano; symc.theano.install()"
    )
    assert "theano is imported already" in run("-c", text).stderr
