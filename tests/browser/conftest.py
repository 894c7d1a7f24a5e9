"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright; nothing leaves the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from tests.browser.reports import reports, trees  # noqa: F401 - fixtures
from tests.conftest import missing, need_tool

MERMAID = "11.12.0"
# Opens a file in a page of its own.
Opener = Callable[[Path], Page]
SIZE: ViewportSize = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Give a headless Chromium; while it is there an event loop runs, and the next module may start its own."""
    program = need_tool("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"],
        )
        yield browser
        browser.close()


class Tabs:
    """Pages of one context, used again by one test after another: a new page costs more than a report does to open.

    `wrong` is what a page has logged as an error, and what was asked for besides the files that were opened.
    """

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._all: list[Page] = []
        self._used = 0
        self._addresses: set[str] = set()
        self.wrong: list[str] = []
        context.on("console", lambda said: self.wrong.append(f"console: {said.text}") if said.type == "error" else None)
        context.on("weberror", lambda error: self.wrong.append(f"error: {error.error}"))
        context.on("request", lambda asked: self._asked(asked.url))

    def open(self, path: Path) -> Page:
        """Open a file in a page of its own, as a new one would show it."""
        if self._used == len(self._all):
            self._all.append(self._context.new_page())
        page = self._all[self._used]
        self._used += 1
        address = path.resolve().as_uri()
        self._addresses.add(address)
        page.set_viewport_size(SIZE)
        page.emulate_media(color_scheme="light", media="null")
        page.mouse.move(0, 0)
        page.goto(address)
        return page

    def leave(self) -> list[str]:
        """Empty the pages that were opened; return what went wrong in them."""
        for page in self._all[: self._used]:
            page.goto("about:blank")
        wrong, self.wrong = self.wrong, []
        self._used = 0
        self._addresses.clear()
        return wrong

    def _asked(self, url: str) -> None:
        if url.partition("#")[0] not in (*self._addresses, "about:blank") and not url.startswith("data:"):
            self.wrong.append(url)


@pytest.fixture(scope="module")
def tabs(chromium: Browser) -> Iterator[Tabs]:
    """Give pages without a network."""
    context = chromium.new_context(viewport=SIZE, reduced_motion="reduce", offline=True)
    yield Tabs(context)
    context.close()


@pytest.fixture
def opened(tabs: Tabs) -> Iterator[Opener]:
    """Give what opens a file; afterwards the page must have logged no error and asked for nothing but itself."""
    yield tabs.open
    assert tabs.leave() == []


@pytest.fixture(scope="session")
def mermaid() -> str:
    """Return Mermaid's own code, as its package has it; kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ailb-gen" / "tests"
    kept = cache / f"mermaid-{MERMAID}.min.js"
    if not kept.exists():
        if shutil.which("npm") is None:
            missing("npm is not installed, which fetches Mermaid")
        cache.mkdir(parents=True, exist_ok=True)
        packing = ["npm", "pack", "--silent", f"mermaid@{MERMAID}", "--pack-destination", str(cache)]
        done = subprocess.run(packing, capture_output=True, text=True, check=False)
        if done.returncode:
            missing(f"npm cannot fetch Mermaid: {done.stderr.strip()[-300:]}")
        with tarfile.open(cache / f"mermaid-{MERMAID}.tgz") as archive:
            found = archive.extractfile("package/dist/mermaid.min.js")
            assert found is not None
            kept.write_bytes(found.read())
    return kept.read_text("utf-8")
