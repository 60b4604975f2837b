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
    return opened(new_page(), report)


def opened(page: Page, path: Path) -> Page:
    page.open(path)
    page.wait_until("document.documentElement.classList.contains('ready')")
    return page


def middle(page: Page, selector: str) -> tuple[float, float]:
    found: Any = page.value(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
        f"(document.querySelector('{selector}').getBoundingClientRect())"
    )
    return found[0], found[1]


def lit(page: Page, pane: str) -> int:
    """How many elements of a pane are lit."""
    found = page.value(f"document.querySelectorAll('#{pane} .lit').length")
    assert isinstance(found, int)
    return found


def first_in_view(page: Page, pane: str, row: str) -> tuple[float, float]:
    """A place in the first such row that is not scrolled out of its pane."""
    place = (
        f"[...document.querySelectorAll('#{pane} {row}')].map(row => row.getBoundingClientRect())"
        f".map(r => [r.x + 60, r.y + r.height / 2])"
        f".find(([x, y]) => document.elementFromPoint(x, y)?.closest('#{pane} {row}'))"
    )
    page.wait_until(place)  # panes scroll to what is lit when the browser draws next
    found: Any = page.value(place)
    return found[0], found[1]


PANES = ("graph", "lines", "source", "assembly")


def test_nothing_is_asked_for_but_the_page(page: Page) -> None:
    assert page.errors == []
    assert {url.partition(":")[0] for url in page.requests} <= {"file", "about", "blob"}
    assert len({url for url in page.requests if url.startswith("file:")}) == 1


def test_all_four_panes_are_linked_from_each(page: Page) -> None:
    """Pointing at what is drawn of a product lights it up in the other three, too."""
    node = page.value(
        "document.querySelector('#graph [id^=after-][aria-label^=matmul]')?.id ?? "
        "[...document.querySelectorAll('#graph [id^=after-]')].at(-1).id"
    )
    page.mouse.move(*middle(page, f"#{node}"))
    assert all(lit(page, pane) for pane in PANES)
    for pane, row in (("lines", ".row.lit"), ("source", "p.lit"), ("assembly", "p.lit")):
        page.mouse.move(*first_in_view(page, pane, row))
        assert {other for other in PANES if not lit(page, other)} == set(), pane
    page.mouse.move(5, 5)
    assert not any(lit(page, pane) for pane in PANES)


def test_a_click_says_what_a_node_is_and_keys_walk_on(page: Page) -> None:
    page.value("location.hash = '#before-2'")
    page.wait_until("document.querySelector('.node.selected')?.id === 'before-2'")
    facts = str(page.value("document.getElementById('facts').textContent"))
    assert "type" in facts
    assert "functions.py:" in facts
    page.value("document.querySelector('.node.selected').focus()")
    page.keyboard.press("ArrowUp")
    above = page.value("document.querySelector('.node.selected').id")
    assert above in ("before-0", "before-1")
    assert page.value("document.activeElement.id") == above
    page.keyboard.press("Escape")
    assert not lit(page, "source")
    kernel = page.value("document.querySelector('#kernels tr[id]').id")
    page.value(f"location.hash = '#{kernel}'")
    assert page.value(f"document.getElementById('{kernel}').getBoundingClientRect().top") < 900


def test_the_wheel_scrolls_the_page_and_zooms_with_control(page: Page) -> None:
    width = "document.querySelector('.canvas svg').getBoundingClientRect().width"
    first: Any = page.value(width)
    page.mouse.move(*middle(page, ".canvas"))
    page.mouse.wheel(0, 100)
    page.wait_until("scrollY > 0")
    assert page.value(width) == first
    turned = "{deltaY: -1, ctrlKey: true, cancelable: true}"
    page.value(
        f"document.querySelector('.canvas').dispatchEvent(new WheelEvent('wheel', {turned}))"
    )
    assert page.value(width) > first


def test_rewrites_passes_and_search(page: Page) -> None:
    page.value("document.getElementById('next-step').click()")
    assert page.value("document.querySelector('#steps .selected').id") == "step-0"
    page.value("document.getElementById('next-step').click()")
    page.value("document.getElementById('previous-step').click()")
    assert page.value("document.querySelector('#steps .selected').id") == "step-0"
    assert page.value("document.querySelector('.node.selected') !== null")
    page.value("document.querySelector('.pass').open = true")
    page.wait_until("document.querySelectorAll('.sides .old').length > 0")
    page.keyboard.press("/")
    page.keyboard.type("softmax")
    page.wait_until("document.querySelectorAll('#found a').length > 2")
    page.keyboard.press("Enter")
    page.wait_until("document.querySelector('.node.selected text').textContent.includes('softmax')")


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_the_whole_graph_is_in_the_first_view(new_page: NewPage, report: Path, width: int) -> None:
    """On a phone it was 0 pixels wide; nothing sticks out of the page."""
    page = new_page()
    page.resize(width, 900)
    opened(page, report)
    box: Any = page.value(
        "(r => [r.left, r.top, r.right, r.bottom])"
        "(document.querySelector('.canvas svg').getBoundingClientRect())"
    )
    assert 0 <= box[0] < box[2] <= width
    assert 0 <= box[1] < box[3] <= 900
    assert box[2] - box[0] > 0.4 * width
    assert page.value("document.documentElement.scrollWidth") == width


def test_a_long_graph_is_collapsed_and_opened(
    new_page: NewPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symc.show.report.contents.MOST_NODES", 100)
    page = opened(new_page(), functions.chain(400).report(tmp_path / "huge.html"))
    assert page.errors == []
    assert "100 nodes nearest" in str(
        page.value("document.querySelector('.graph-note').textContent")
    )
    collapsed: Any = page.value("document.querySelectorAll('.node').length")
    assert collapsed < 20
    page.value(
        "(how => { how.value = 'node'; how.dispatchEvent(new Event('change')); })"
        "(document.querySelectorAll('.tools select')[1])"
    )
    assert page.value("document.querySelectorAll('.node').length") == 100
    assert page.value("document.querySelectorAll('.node.cut').length >= 1")
