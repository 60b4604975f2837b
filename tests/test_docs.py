"""The documentation: its pages exist, its blocks run and print the text below them."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import symc
import symc.tensor

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PAGES = sorted(DOCS.rglob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
NAMED = re.compile(r"^ +- [^:\n]+: (\S+\.(?:md|ipynb))$", re.MULTILINE)
DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
MEMBERS = re.compile(r"^::: (\S+)((?:\n    .+)*)", re.MULTILINE)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_navigation_has_every_page_and_notebook() -> None:
    named = NAMED.findall(CONFIG)
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES}
    notebooks = {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert len(named) == len(set(named))
    assert set(named) == pages | notebooks
    for name in named:
        assert (DOCS / name).is_file(), f"the navigation names {name}"


@pytest.mark.parametrize(
    "page", ["index", "how_it_works", "coming_from", "time_and_memory", "dtypes"]
)
def test_blocks_print_what_stands_below_them(page: str) -> None:
    """A block that is not Python shows the output of the one before; `...` stands for anything."""
    names: dict[str, object] = {"__name__": "example"}
    printed = ""
    for language, text in BLOCK.findall(read(DOCS / f"{page}.md")):
        if language == "python":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(text, "example.py", "exec"), names)
            printed = said.getvalue()
            continue
        agrees = doctest.OutputChecker().check_output(
            text.rstrip(), printed.rstrip(), doctest.ELLIPSIS
        )
        assert agrees, f"{page} shows\n{text}\nwhere this is printed\n{printed}"


@every_page
def test_what_is_referred_to_exists(page: Path) -> None:
    text = read(page)
    for name in DIRECTIVE.findall(text):
        assert described(name), f"{page.name} documents {name}, which has no docstring"
    for target in LINK.findall(BLOCK.sub("", text)):
        assert (page.parent / target).exists(), f"{page.name} links {target}"
    for path in re.findall(r"`((?:symc|codegen|cache|tests|scripts)/[^`\s]*)`", text):
        assert (ROOT / path).exists(), f"{page.name} names {path}"
    for prefix, module in (("symc", symc), ("T", symc.tensor)):
        for attribute in set(re.findall(rf"`{prefix}\.(\w+)", BLOCK.sub("", text))):
            known = hasattr(module, attribute) or find_spec(f"{module.__name__}.{attribute}")
            assert known, f"{page.name} names {prefix}.{attribute}"


def described(name: str) -> bool:
    """Whether a dotted name is a module, or something in one, that has a docstring."""
    if is_module(name):
        return bool(importlib.import_module(name).__doc__)
    module, _, attribute = name.rpartition(".")
    return bool(getattr(importlib.import_module(module), attribute).__doc__)


def test_the_reference_has_every_public_name() -> None:
    """Each name that symc exports stands in some page, by itself or with its module."""
    documented = {name for page in PAGES for name in DIRECTIVE.findall(read(page))}
    late = [*vars(symc)["_LATE"], *vars(symc)["_MODULES"]]
    public = {*symc.__all__, *late} - {"tensor"}
    missing = [name for name in sorted(public) if f"symc.{name}" not in documented]
    assert not missing
    covered = {name.rpartition(".")[2] for name in documented}
    for name in documented:
        if is_module(name) and name.startswith("symc.tensor."):
            covered |= set(getattr(importlib.import_module(name), "__all__", ()))
    modules = set(vars(symc.tensor)["_MODULES"])
    assert sorted(set(dir(symc.tensor)) - modules - covered) == []


def test_the_search_has_no_function_twice() -> None:
    """Packages showed the functions that their modules show, too: the search had both."""
    where: dict[tuple[int, str], set[str]] = {}
    for page in PAGES:
        for name, options in MEMBERS.findall(read(page)):
            for shown, value in shown_by(name, options):
                key = id(inspect.unwrap(value)), shown.rpartition(".")[2]
                where.setdefault(key, set()).add(shown)
    assert len(where) > 600
    assert not [sorted(names) for names in where.values() if len(names) > 1]


def shown_by(name: str, options: str) -> Iterator[tuple[str, Any]]:
    """The functions and classes that a directive shows."""
    if not is_module(name):
        package, _, attribute = name.rpartition(".")
        yield name, getattr(importlib.import_module(package), attribute)
        return
    module = importlib.import_module(name)
    chosen = re.search(r"members: (?:\[(.*)\]|false)", options)
    left_out = re.findall(r"\^(\w+)\$", options)
    for each in getattr(module, "__all__", ()) if chosen is None else (chosen[1] or "").split(", "):
        value = getattr(module, each, None)
        if callable(value) and each not in left_out:
            yield f"{name}.{each}", value


def is_module(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True
