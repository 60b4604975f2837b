"""The page in a browser: its script runs, nodes can be clicked, and it asks for nothing.

Needs a Chromium: the one that SYMC_BROWSER names, or one in PATH.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import browser, functions

PROGRAM = browser.find()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium; name one by SYMC_BROWSER")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[browser.Browser, Path]]:
    path = functions.step().report(tmp_path_factory.mktemp("report") / "out.html")
    assert PROGRAM is not None
    with browser.Browser(PROGRAM) as page:
        page.command(
            "Emulation.setDeviceMetricsOverride",
            width=1300, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        yield page, path


@pytest.fixture
def page(shown: tuple[browser.Browser, Path]) -> browser.Browser:
    """The page, loaded anew."""
    found, path = shown
    found.command("Page.navigate", url="about:blank")
    found.open(path)
    return found


def middle(page: browser.Browser, selector: str) -> tuple[float, float]:
    found: Any = page.value(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
        f"(document.querySelector('{selector}').getBoundingClientRect())"
    )
    return found[0], found[1]


def is_shown(page: browser.Browser, identity: str) -> bool:
    found = page.value(f"document.getElementById('{identity}').offsetParent !== null")
    assert isinstance(found, bool)
    return found


def test_nothing_is_asked_for_but_the_page(page: browser.Browser) -> None:
    assert page.value("document.documentElement.className") == "scripted"
    assert page.errors == []
    assert {url.partition(":")[0] for url in page.requests} <= {"file", "about"}
    assert len({url for url in page.requests if url.startswith("file:")}) == 1


def test_a_click_on_a_node_says_what_it_is(page: browser.Browser) -> None:
    assert is_shown(page, "before")
    assert not is_shown(page, "after")
    assert not is_shown(page, "about-before-2")
    page.click(*middle(page, "#before-2"))
    assert is_shown(page, "about-before-2")
    assert page.value("document.querySelector('.node.selected').id") == "before-2"
    assert page.value("document.querySelectorAll('.edge.near').length") >= 2
    page.click(*middle(page, "#before-0"))
    assert is_shown(page, "about-before-0")
    assert not is_shown(page, "about-before-2")


def test_links_lead_to_graphs_and_kernels(page: browser.Browser) -> None:
    page.value("document.querySelector('#task-0 a[href^=\"#after-\"]').click()")
    assert page.value("location.hash").startswith("#after-")
    page.value("new Promise(done => setTimeout(done, 0))")
    assert is_shown(page, "after")
    assert not is_shown(page, "before")
    selected = page.value("document.querySelector('.node.selected').id")
    assert f"#{selected}" == page.value("location.hash")
    kernel = page.value(f"document.querySelector('#about-{selected} a[href^=\"#task-\"]').hash")
    page.value(f"document.querySelector('#about-{selected} a[href=\"{kernel}\"]').click()")
    assert page.value(f"document.querySelector('{kernel}').getBoundingClientRect().top") < 900


def test_the_wheel_zooms_and_dragging_moves(page: browser.Browser) -> None:
    view = "document.querySelector('#before svg').getAttribute('viewBox').split(' ').map(Number)"
    first: Any = page.value(view)
    x, y = middle(page, "#before svg")
    page.command("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100)
    nearer: Any = page.value(view)
    assert nearer[2] == pytest.approx(first[2] / 1.2)
    for kind, dx in (("mousePressed", 0), ("mouseMoved", 40), ("mouseReleased", 40)):
        page.command(
            "Input.dispatchMouseEvent", type=kind, x=x + dx, y=y, button="left", buttons=1,
            clickCount=1,
        )  # fmt: skip
    moved: Any = page.value(view)
    assert moved[0] < nearer[0]
    assert moved[2] == nearer[2]


def test_rewrites_are_stepped_through(page: browser.Browser) -> None:
    page.value("document.getElementById('next-step').click()")
    assert page.value("document.querySelector('#steps .selected').id") == "step-0"
    page.value("document.getElementById('next-step').click()")
    page.value("document.getElementById('previous-step').click()")
    assert page.value("document.querySelector('#steps .selected').id") == "step-0"
    assert page.value("document.querySelector('.node.selected') !== null")


def test_a_huge_graph_opens(
    shown: tuple[browser.Browser, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symc.report.contents.MOST_NODES", 100)
    page, _ = shown
    page.command("Page.navigate", url="about:blank")
    page.open(functions.chain(400).report(tmp_path / "huge.html"))
    assert page.errors == []
    assert page.value("document.querySelectorAll('#before .node').length") == 100
    assert "100 nearest" in str(page.value("document.querySelector('.folded').textContent"))
    assert page.value("document.querySelectorAll('.node.cut').length >= 1")
    last = page.value("[...document.querySelectorAll('#before .node')].at(-1).id")
    page.value(f"document.getElementById('{last}').dispatchEvent(new MouseEvent('click'))")
    assert is_shown(page, f"about-{last}")
