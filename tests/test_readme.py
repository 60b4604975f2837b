"""README.md and CONTRIBUTING.md are true: their blocks run, files they name exist."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

import symc
import symc.tensor
from symc.codegen.targets import sim

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def blocks(language: str) -> list[str]:
    """The blocks in a language; those on the simulator only where there is a C++ compiler."""
    found = [text for name, text in FENCE.findall(README) if name == language]
    return [text for text in found if sim.available() or "cuda:sim" not in text]


def test_python_blocks_run_one_after_the_other() -> None:
    """Each block may use names of those before it; a block in >>> form is checked, too."""
    names: dict[str, object] = {"__name__": "readme"}
    assert blocks("python")
    for block in blocks("python"):
        if block.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, names, "README.md", "README.md", 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            said = io.StringIO()
            runner.run(test, out=said.write, clear_globs=False)
            assert runner.failures == 0, said.getvalue()
            names.update(test.globs)
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, "example.py", "exec"), names)


def test_the_example_is_short() -> None:
    code = [line for line in blocks("python")[0].splitlines() if line.strip()]
    assert len(code) <= 20


def test_the_excerpt_is_what_symc_generates() -> None:
    """Every line of the C block, `...` aside, stands in the source, in this order."""
    names: dict[str, object] = {"__name__": "readme"}
    for block in blocks("python"):
        if not block.lstrip().startswith(">>>"):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, "example.py", "exec"), names)
    assert isinstance(names["step"], symc.Function)
    source = names["step"].source
    (excerpt,) = blocks("c")
    position = 0
    for line in excerpt.splitlines():
        if line.strip() == "...":
            continue
        found = source.find(line, position)
        assert found >= 0, f"not in the generated source, or not in this order: {line}\n{source}"
        position = found + len(line)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_and_paths_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    prose = FENCE.sub("", text)
    for target in LINK.findall(prose):
        assert (ROOT / target).exists(), f"{name} links {target}"
    named = re.findall(
        r"`((?:symc|codegen|cache|tests|scripts|notebooks|docs|benchmarks|\.ci)/[^`\s]*)`", prose
    )
    assert named
    for path in named:
        assert (ROOT / path).exists(), f"{name} names {path}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_names_of_symc_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for prefix, module in (("symc", symc), ("T", symc.tensor)):
        for attribute in set(re.findall(rf"`{prefix}\.(\w+)", text)):
            assert hasattr(module, attribute), f"{name} names {prefix}.{attribute}"
