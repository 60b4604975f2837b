"""The page in a browser: its script runs, nodes can be clicked, and it asks for nothing.

Needs a Chromium: see `browser.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from . import functions
from .browser import Page, is_needed, pages, why_missing

if not is_needed() and (why := why_missing()):
    pytest.skip(why, allow_module_level=True)

NewPage: TypeAlias = Callable[[], Page]


@pytest.fixture(scope="module")
def new_page() -> Iterator[NewPage]:
    with pages() as new:
        yield new


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return functions.step().report(tmp_path_factory.mktemp("report") / "out.html")


@pytest.fixture
def page(new_page: NewPage, report: Path) -> Page:
    """The page of a function, loaded anew."""
    page = new_page()
    page.open(report)
    return page


def middle(page: Page, selector: str) -> tuple[float, float]:
    found: Any = page.value(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
        f"(document.querySelector('{selector}').getBoundingClientRect())"
    )
    return found[0], found[1]


def is_shown(page: Page, identity: str) -> bool:
    found = page.value(f"document.getElementById('{identity}').offsetParent !== null")
    assert isinstance(found, bool)
    return found


def test_nothing_is_asked_for_but_the_page(page: Page) -> None:
    assert page.value("document.documentElement.className") == "scripted"
    assert page.errors == []
    assert {url.partition(":")[0] for url in page.requests} <= {"file", "about"}
    assert len({url for url in page.requests if url.startswith("file:")}) == 1


def test_a_click_on_a_node_says_what_it_is(page: Page) -> None:
    assert is_shown(page, "before")
    assert not is_shown(page, "after")
    assert not is_shown(page, "about-before-2")
    page.mouse.click(*middle(page, "#before-2"))
    assert is_shown(page, "about-before-2")
    assert page.value("document.querySelector('.node.selected').id") == "before-2"
    assert page.value("document.querySelectorAll('.edge.near').length") >= 2
    page.mouse.click(*middle(page, "#before-0"))
    assert is_shown(page, "about-before-0")
    assert not is_shown(page, "about-before-2")


def test_links_lead_to_graphs_and_kernels(page: Page) -> None:
    page.value('document.querySelector(\'[id^="task-"] a[href^="#after-"]\').click()')
    assert page.value("location.hash").startswith("#after-")
    page.value("new Promise(done => setTimeout(done, 0))")
    assert is_shown(page, "after")
    assert not is_shown(page, "before")
    selected = page.value("document.querySelector('.node.selected').id")
    assert f"#{selected}" == page.value("location.hash")
    kernel = page.value(f"document.querySelector('#about-{selected} a[href^=\"#task-\"]').hash")
    page.value(f"document.querySelector('#about-{selected} a[href=\"{kernel}\"]').click()")
    assert page.value(f"document.querySelector('{kernel}').getBoundingClientRect().top") < 900


def test_the_wheel_zooms_and_dragging_moves(page: Page) -> None:
    view = "document.querySelector('#before svg').getAttribute('viewBox').split(' ').map(Number)"
    first: Any = page.value(view)
    x, y = middle(page, "#before svg")
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    page.wait_until(f"{view}[2] !== {first[2]}")
    nearer: Any = page.value(view)
    assert nearer[2] == pytest.approx(first[2] / 1.2)
    page.mouse.down()
    page.mouse.move(x + 40, y)
    page.mouse.up()
    moved: Any = page.value(view)
    assert moved[0] < nearer[0]
    assert moved[2] == nearer[2]


def test_rewrites_are_stepped_through(page: Page) -> None:
    page.value("document.getElementById('next-step').click()")
    assert page.value("document.querySelector('#steps .selected').id") == "step-0"
    page.value("document.getElementById('next-step').click()")
    page.value("document.getElementById('previous-step').click()")
    assert page.value("document.querySelector('#steps .selected').id") == "step-0"
    assert page.value("document.querySelector('.node.selected') !== null")


def test_a_huge_graph_opens(
    new_page: NewPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symc.show.report.contents.MOST_NODES", 100)
    page = new_page()
    page.open(functions.chain(400).report(tmp_path / "huge.html"))
    assert page.errors == []
    assert page.value("document.querySelectorAll('#before .node').length") == 100
    assert "100 nearest" in str(page.value("document.querySelector('.folded').textContent"))
    assert page.value("document.querySelectorAll('.node.cut').length >= 1")
    last = page.value("[...document.querySelectorAll('#before .node')].at(-1).id")
    page.value(f"document.getElementById('{last}').dispatchEvent(new MouseEvent('click'))")
    assert is_shown(page, f"about-{last}")
