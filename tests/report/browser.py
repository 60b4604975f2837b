"""Which Chromium the tests of pages run in, and one page of it, driven by Playwright.

Playwright is told which program to run: it never downloads one.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

OPTIONS = (
    "--no-sandbox",  # refused to root, and in containers
    "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")
HANG = 600_000.0  # milliseconds after which a browser is not waited for any longer


def find() -> str | None:
    """The browser that SYMC_BROWSER names, or one that is installed."""
    named = os.environ.get("SYMC_BROWSER")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def why_missing() -> str | None:
    """The tool that a machine lacks, and how to get it."""
    if find() is None:
        return "no Chromium: apt install chromium, or name one by SYMC_BROWSER"
    if importlib.util.find_spec("playwright") is None:
        return "no Playwright, which has no package for this machine"
    return None


def is_needed() -> bool:
    """Whether tests fail where there is no browser, and are not skipped: in CI."""
    return bool(os.environ.get("SYMC_NEEDS_BROWSER"))


class Page:
    """A page. `requests` has the addresses it asked for, `errors` its script's exceptions."""

    def __init__(self, page: Any) -> None:
        self.mouse = page.mouse
        self.keyboard = page.keyboard
        self.value = page.evaluate
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._page = page
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, path: Path) -> None:
        """Shows a file, and waits until it is loaded."""
        self._page.goto(path.as_uri(), wait_until="load")

    def resize(self, width: int, height: int) -> None:
        """Gives the page so many pixels."""
        self._page.set_viewport_size({"width": width, "height": height})

    def wait_until(self, condition: str) -> None:
        """Waits until an expression in the page is true: events come when the browser has time."""
        # Playwright's own way evaluates texts in the page, which the page forbids.
        while not self.value(condition):
            self.value("new Promise(requestAnimationFrame)")


@contextmanager
def pages() -> Generator[Any]:
    """The function that makes pages of one browser: ``with pages() as new: page = new()``."""
    why = why_missing()
    if why is not None:
        pytest.fail(why, pytrace=False)
    from playwright.sync_api import sync_playwright  # late: it may be missing

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find(), args=list(OPTIONS), timeout=HANG
        )
        context = browser.new_context(viewport={"width": 1300, "height": 900})
        context.set_default_timeout(HANG)
        try:
            yield lambda: Page(context.new_page())
        finally:
            browser.close()
